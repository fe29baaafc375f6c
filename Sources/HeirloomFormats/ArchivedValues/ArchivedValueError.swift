import HeirloomModel

/// A failure to decode or encode an archived value.
@nonexhaustive
public enum ArchivedValueError: Error, Hashable, Sendable {
  /// Bytes that are not a keyed archive; `found` says what they are, as the end of a sentence.
  case notArchive(found: String)
  /// An archive that is damaged or incomplete.
  case malformed(reason: String)
  /// An object of a known class with a missing or unexpected member.
  case malformedObject(className: String)
  /// An object that contains itself.
  case cyclic
  /// Values that are nested too deeply.
  case tooDeep(limit: Int)
  /// An archive with more bytes than the limit.
  case tooLarge(byteCount: Int, limit: Int)
  /// An archive with more values than the limit; shared values count each time.
  case tooManyValues(limit: Int)
  /// An archive with more text and data than the limit; shared values count each time.
  case tooMuchContent(limit: Int)
  /// A dictionary with two entries for the same key.
  case duplicateKey
  /// A class whose objects can be decoded but not encoded.
  case unsupportedClass(String)
  /// A value that can't be archived.
  case unencodable(reason: String)
}

extension ArchivedValueError: ExplainedError {
  /// The bytes or the value, and what was expected.
  public var cause: String {
    switch self {
    case .notArchive(let found): "The value is \(found); an archive of NSKeyedArchiver was expected."
    case .malformed(let reason):
      "The archived value is damaged: \(ErrorWords.ended(reason))"
    case .malformedObject(let name):
      "An object of the class \"\(name.prefix(80))\" in the archived value lacks a member, or has an invalid one."
    case .cyclic: "The archived value contains an object that contains itself."
    case .tooDeep(let limit): "The archived value is nested more than \(limit) levels deep."
    case .tooLarge(let byteCount, let limit):
      "The archived value has \(CountText.counted(byteCount, "byte")); at most \(CountText.grouped(limit)) are accepted."
    case .tooManyValues(let limit):
      "The archived value has more values than the limit of \(CountText.grouped(limit))."
    case .tooMuchContent(let limit):
      "Texts and data in the archived value have more than the \(CountText.grouped(limit)) bytes that are accepted."
    case .duplicateKey: "A dictionary in the archived value has a key twice."
    case .unsupportedClass(let name):
      "An object of the class \"\(name.prefix(80))\" can't be archived; expected values of Foundation's own classes."
    case .unencodable(let reason): "The value can't be archived: \(ErrorWords.ended(reason))"
    }
  }

  /// The way to read or write the value; the row is unchanged.
  public var help: ErrorHelp {
    let kept = DataLocation.described("The value in the store was not changed.")
    return switch self {
    case .notArchive: ErrorHelp(kept, "Read the attribute in its actual format, or skip the object.")
    case .malformed, .malformedObject, .cyclic, .duplicateKey:
      ErrorHelp(
        kept,
        "Skip it or give another in its place; a previous version of the store may have an undamaged"
          + " one.")
    case .tooDeep, .tooLarge, .tooManyValues, .tooMuchContent:
      ErrorHelp(kept, "It exceeds the limits for data from a file; copy its bytes unchanged.")
    case .unsupportedClass, .unencodable:
      ErrorHelp(
        .described("Nothing was written."),
        "Make the value from texts, numbers, dates, data, arrays, sets and dictionaries.")
    }
  }
}
