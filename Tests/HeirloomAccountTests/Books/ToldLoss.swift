struct ToldLoss: Hashable, Sendable, CustomStringConvertible {
  enum Kind: String, Sendable {
    case objects, values, unknownContent, changedValues, links, order
  }

  var kind: Kind
  var entity: String
  var property: String?
  /// In rows, or in links.
  var amount: Int

  var description: String { "\(kind) \(entity)\(property.map { "." + $0 } ?? ""): \(amount)" }
}

/// A line of the account that the product lists before a migration.
struct ListedLine: Hashable, Sendable {
  struct Part: Hashable, Sendable {
    let fate: String
    let count: Int
    let places: [String]
  }

  let kind: String
  let name: String
  let count: Int
  let parts: [Part]

  func count(of fates: String...) -> Int { parts.filter { fates.contains($0.fate) }.reduce(0) { $0 + $1.count } }
}

/// A line of the books that doesn't balance.
struct Imbalance: Hashable, Sendable, CustomStringConvertible {
  let line: String
  let lost: Int
  let told: Int
  let kind: String

  var description: String { "\(line): \(lost) \(kind) lost, \(told) told" }
}
