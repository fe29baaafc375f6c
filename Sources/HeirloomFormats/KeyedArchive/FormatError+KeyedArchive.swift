extension FormatError {
  package static let notKeyedArchive = FormatError(
    "The property list is not a keyed archive: it lacks a table of objects and a root.")

  static func missingClass(object: Int) -> FormatError {
    FormatError("Object \(object) of the archive has no class.")
  }

  static func tooDeep(limit: Int) -> FormatError {
    FormatError("Objects of the archive are nested more than \(limit) levels deep, or contain themselves.")
  }

  /// Objects that can be read but are invalid.
  static func senseless(_ reason: String) -> FormatError {
    FormatError("In the archive \(reason).")
  }
}
