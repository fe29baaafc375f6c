package import Foundation
import HeirloomStore

/// The names that earlier versions of Heirloom gave tables of links: the other side's, if it has the lower number.
///
/// Only the statements in the file decide: `Z_<a><R>(Z_<a><S>, Z_<b><R>)` becomes `Z_<b><S>(Z_<b><R>, Z_<a><S>)`.
package enum OtherJoinNames {
  /// Returns the new names by the old ones.
  ///
  /// `relationships` are the model's names: digits at the end of a column may belong to one.
  package static func give(to url: URL, relationships: Set<String>) throws -> [String: String] {
    let connection = try Connection(path: url.path, mode: .readWrite)
    let known = Set(relationships.map { $0.uppercased() })
    var names: [String: String] = [:]
    for row in try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'Z_[0-9]*'") {
      guard let table = row[0].text else { continue }
      let columns = try connection.rows("SELECT name FROM pragma_table_info(?1) ORDER BY cid", [.text(table)])
        .compactMap { $0[0].text }
      let keys = columns.filter { !$0.hasPrefix("Z_FOK_") }
      guard keys.count == 2, let own = keys.first(where: { number(of: $0) == number(of: table) }),
        let other = keys.first(where: { $0 != own }), number(of: own) != number(of: other)
      else { continue }
      var inverse = String(own.drop { !$0.isNumber }.drop { $0.isNumber })
      while !known.contains(inverse), inverse.last?.isNumber == true { inverse.removeLast() }
      let name = "Z_\(number(of: other))\(inverse)"
      let orders = [other, own].map { "Z_FOK_" + $0.dropFirst(2) }.filter(columns.contains)
      let list = ([other, own] + orders).joined(separator: ", ")
      try connection.executeScript(
        """
        CREATE TABLE \(name) ( \(([other, own] + orders).map { "\($0) INTEGER" }.joined(separator: ", ")), \
        PRIMARY KEY (\(other), \(own)) );
        INSERT INTO \(name) (\(list)) SELECT \(list) FROM \(table);
        DROP TABLE \(table);
        CREATE INDEX \(name)_\(own)_INDEX ON \(name) (\(own), \(other));
        """)
      names[table] = name
    }
    try connection.close()
    return names
  }

  private static func number(of name: String) -> Substring {
    name.dropFirst(2).prefix { $0.isNumber }
  }
}
