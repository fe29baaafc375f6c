extension FormatError {
  static func truncated(offset: Int) -> FormatError {
    FormatError(.byte(offset), "The property list ends at byte \(offset), in the middle of an object.")
  }

  static func invalidTrailer(offset: Int) -> FormatError {
    FormatError(
      .byte(offset), "The property list's trailer at byte \(offset) contradicts the file; the data is damaged.")
  }

  static func tooManyObjects(limit: Int) -> FormatError {
    FormatError("The property list has more than \(limit) objects or references, far more than any real one.")
  }

  static func unknownMarker(_ marker: UInt8, offset: Int) -> FormatError {
    FormatError(
      .byte(offset), "The object at byte \(offset) has the marker \(marker), which no property list uses.")
  }

  static func invalidLength(offset: Int) -> FormatError {
    FormatError(.byte(offset), "The object at byte \(offset) has no valid length.")
  }

  static func invalidString(offset: Int) -> FormatError {
    FormatError(.byte(offset), "The string at byte \(offset) is not valid in its encoding.")
  }

  static func invalidReference(_ reference: Int, offset: Int) -> FormatError {
    FormatError(.byte(offset), "The object at byte \(offset) refers to object \(reference), which doesn't exist.")
  }

  static func tooDeep(limit: Int, offset: Int) -> FormatError {
    FormatError(
      .byte(offset), "The object at byte \(offset) is nested more than \(limit) levels deep, or contains itself.")
  }

  static func tooExpansive(limit: Int, offset: Int) -> FormatError {
    FormatError(
      .byte(offset),
      "From byte \(offset) on the property list expands beyond \(limit) bytes, more than its size justifies.")
  }
}
