/// Every identifier in SQL text is quoted by this function.
package func quote(_ identifier: String) -> String {
  // This searches bytes, since it runs for each column of each statement.
  guard identifier.utf8.contains(0x22) else { return "\"\(identifier)\"" }
  var result = "\""
  for character in identifier.unicodeScalars {
    if character == "\"" { result.unicodeScalars.append("\"") }
    result.unicodeScalars.append(character)
  }
  return result + "\""
}

/// Where a value can't be bound: in the bodies of triggers.
package func quoteLiteral(_ text: String) -> String {
  var result = "'"
  for character in text.unicodeScalars {
    if character == "'" { result.unicodeScalars.append("'") }
    result.unicodeScalars.append(character)
  }
  return result + "'"
}

extension [String] {
  /// SQLite allows 1,000 levels, and each term of `a OR b OR c` adds one.
  package func chained(by operation: String) -> String {
    groups(of: 100, joinedBy: " \(operation) ") { "(\($0))" }
  }

  /// SQLite allows 500 queries in one compound.
  package func united() -> String {
    groups(of: 400, joinedBy: " UNION ALL ") { "SELECT * FROM (\($0))" }
  }

  private func groups(of width: Int, joinedBy separator: String, _ nested: (String) -> String) -> String {
    guard count > width else { return joined(separator: separator) }
    let groups = stride(from: 0, to: count, by: width).map { start in
      nested(self[start..<Swift.min(start + width, count)].joined(separator: separator))
    }
    return groups.groups(of: width, joinedBy: separator, nested)
  }
}

package func databaseURI(path: String, parameters: String? = nil) -> String {
  var uri = "file:"
  for byte in path.utf8 {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      uri.unicodeScalars.append(Unicode.Scalar(byte))
    default:
      let digits = Array("0123456789ABCDEF".unicodeScalars)
      uri.unicodeScalars.append("%")
      uri.unicodeScalars.append(digits[Int(byte >> 4)])
      uri.unicodeScalars.append(digits[Int(byte & 15)])
    }
  }
  // Two slashes at the start would name a host.
  if uri.hasPrefix("file://") { uri = "file:///" + uri.dropFirst("file:".count) }
  if let parameters { uri += "?" + parameters }
  return uri
}
