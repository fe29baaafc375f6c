import HeirloomFormats

/// A comparison of two keyed archives, object by object and key by key; the order of tables doesn't count.
struct ArchiveComparison {
  private let left: KeyedArchive
  private let right: KeyedArchive
  private var visited: Set<[Int]> = []
  private(set) var differences: [String] = []

  init(_ left: [UInt8], _ right: [UInt8]) throws {
    self.left = try KeyedArchive(left)
    self.right = try KeyedArchive(right)
    try compare(self.left.rootReference, self.right.rootReference, "model")
  }

  private mutating func compare(_ a: Int, _ b: Int, _ place: String) throws {
    guard visited.insert([a, b]).inserted else { return }
    switch (try left.node(a), try right.node(b)) {
    case (.null, .null): break
    case (.scalar(let one), .scalar(let other)):
      if one != other { differences.append("\(place): \(one) <> \(other)") }
    case (.object(let one), .object(let other)): try compare(one, other, place)
    case (let one, let other): differences.append("\(place): \(kind(one)) <> \(kind(other))")
    }
  }

  private mutating func compare(_ one: ArchivedObject, _ other: ArchivedObject, _ place: String) throws {
    let classes = (
      try left.classNames(ofClass: one.classReference()), try right.classNames(ofClass: other.classReference())
    )
    guard classes.0 == classes.1 else {
      differences.append("\(place): \(classes.0[0]) <> \(classes.1[0])")
      return
    }
    var place = place
    if classes.0[0] == "NSEntityDescription" { place = try text(left, one.reference) }
    if try one.member("NS.keys") != nil || classes.0[0].hasPrefix("NSKnownKeysDictionary") {
      var first = KeyedArchiveDecoder(left)
      var second = KeyedArchiveDecoder(right)
      let entries = try first.entries(of: one) ?? []
      let others = Dictionary(uniqueKeysWithValues: try second.entries(of: other) ?? [])
      if Set(entries.map(\.key)) != Set(others.keys) {
        differences.append("\(place): keys \(entries.map(\.key).sorted()) <> \(others.keys.sorted())")
      }
      for entry in entries {
        if let value = others[entry.key] { try compare(entry.value, value, "\(place).\(entry.key)") }
      }
      // The strategy behind a dictionary of known keys is an object like any other.
      guard classes.0[0].hasPrefix("NSKnownKeysDictionary") else { return }
    }
    if classes.0.contains("NSSet"), case .references(let one)? = try one.member("NS.objects"),
      case .references(let other)? = try other.member("NS.objects")
    {
      let contents = (Set(try one.map { try text(left, $0) }), Set(try other.map { try text(right, $0) }))
      if contents.0 != contents.1 { differences.append("\(place): \(contents.0) <> \(contents.1)") }
      return
    }
    let keys = (Set(try one.keyNames()), Set(try other.keyNames()))
    if keys.0 != keys.1 {
      differences.append("\(place): \(keys.0.subtracting(keys.1).sorted()) <> \(keys.1.subtracting(keys.0).sorted())")
    }
    for key in keys.0.intersection(keys.1).sorted() {
      switch (try one.member(key), try other.member(key)) {
      case (.reference(let a)?, .reference(let b)?): try compare(a, b, "\(place).\(key)")
      case (.scalar(let a)?, .scalar(let b)?):
        if a != b { differences.append("\(place).\(key): \(a) <> \(b)") }
      case (.references(let a)?, .references(let b)?):
        if a.count != b.count { differences.append("\(place).\(key): \(a.count) <> \(b.count) elements") }
        for (index, pair) in zip(a, b).enumerated() { try compare(pair.0, pair.1, "\(place)[\(index)]") }
      default: differences.append("\(place).\(key): members of different kinds")
      }
    }
  }

  /// Returns the text that identifies an element of a set: its own text, or its name.
  private func text(_ archive: KeyedArchive, _ reference: Int) throws -> String {
    var decoder = KeyedArchiveDecoder(archive)
    if let text = try decoder.string(reference) { return text }
    guard let object = try decoder.object(reference) else { return "null" }
    return try decoder.string("NSEntityName", of: object) ?? "?"
  }

  private func kind(_ node: KeyedArchive.Node) -> String {
    switch node {
    case .null: "null"
    case .scalar(let value): "\(value)"
    case .object: "object"
    }
  }
}
