/// A failure to read or write a property list.
///
/// Offsets count bytes from the start of the input.
package enum PropertyListError: Error, Hashable, Sendable {
  /// Input that doesn't start with `bplist0`.
  case notBinaryPropertyList
  /// Input that exceeds a reader's limit.
  case tooLarge(byteCount: Int, limit: Int)
  /// Input that ends prematurely.
  case truncated(offset: Int)
  /// An inconsistent trailer, the last 32 bytes.
  case invalidTrailer(offset: Int)
  /// Too many objects, or references between them.
  case tooManyObjects(limit: Int)
  /// An object with an unknown marker.
  case unknownMarker(UInt8, offset: Int)
  /// An object whose length is negative or not a number.
  case invalidLength(offset: Int)
  /// A string that is not valid in its encoding.
  case invalidString(offset: Int)
  /// A reference to an object that doesn't exist.
  case invalidReference(Int, offset: Int)
  /// A key of a dictionary that is not a string.
  case invalidKey(offset: Int)
  /// A duplicate key of a dictionary.
  case duplicateKey(String, offset: Int)
  /// Lists and dictionaries that are nested too deeply or contain themselves.
  case tooDeep(limit: Int, offset: Int)
  /// Objects that expand to more content than the input's size justifies.
  case tooExpansive(limit: Int, offset: Int)
  /// An XML element without a valid value of its kind; lines count from 1.
  case unexpectedElement(String, line: Int)
  /// An XML document that is not well-formed.
  case markup(MarkupError)
}

extension PropertyListError: CustomStringConvertible {
  /// One sentence with the problem and what was expected.
  package var description: String {
    switch self {
    case .notBinaryPropertyList:
      "The data is not a binary property list: it doesn't start with \"bplist0\"."
    case .tooLarge(let byteCount, let limit):
      "The property list has \(byteCount) bytes; at most \(limit) are accepted."
    case .truncated(let offset):
      "The property list ends at byte \(offset), in the middle of an object."
    case .invalidTrailer(let offset):
      "The property list's trailer at byte \(offset) contradicts the file; the data is damaged."
    case .tooManyObjects(let limit):
      "The property list has more than \(limit) objects or references, far more than any real one."
    case .unknownMarker(let marker, let offset):
      "The object at byte \(offset) has the marker \(marker), which no property list uses."
    case .invalidLength(let offset):
      "The object at byte \(offset) has no valid length."
    case .invalidString(let offset):
      "The string at byte \(offset) is not valid in its encoding."
    case .invalidReference(let reference, let offset):
      "The object at byte \(offset) refers to object \(reference), which doesn't exist."
    case .invalidKey(let offset):
      "The dictionary at byte \(offset) has a key that is not a string."
    case .duplicateKey(let key, let offset):
      "The dictionary at byte \(offset) has the key \"\(key.prefix(80))\" twice."
    case .tooDeep(let limit, let offset):
      "The object at byte \(offset) is nested more than \(limit) levels deep, or contains itself."
    case .tooExpansive(let limit, let offset):
      "From byte \(offset) on the property list expands beyond \(limit) bytes, more than its size justifies."
    case .unexpectedElement(let name, let line):
      "The element <\(name.prefix(80))> in line \(line) has no place or no valid content there in a property list."
    case .markup(let error):
      error.description
    }
  }
}
