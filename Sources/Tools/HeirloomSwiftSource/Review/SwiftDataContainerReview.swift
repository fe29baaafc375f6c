/// Known traps in containers with a migration plan.
struct SwiftDataContainerReview {
  private(set) var findings: [HistoryFinding] = []

  private let schemas: SwiftDataSchemas
  private let versions: [String: SwiftDataVersion]

  private var source: SwiftDataSource { schemas.source }

  private enum Opened {
    case version(String)
    case classes([Range<Int>])
  }

  /// Positions of `let` and `var` by variable name, in the file under review.
  private var variables: [String: [Int]] = [:]

  init(_ schemas: SwiftDataSchemas, _ versions: [String: SwiftDataVersion]) {
    (self.schemas, self.versions) = (schemas, versions)
    for file in source.files.indices {
      let tokens = source.files[file].tokens
      let containers = tokens.tokens.indices.filter {
        tokens.has("ModelContainer", at: $0) && tokens.has("(", at: $0 + 1)
      }
      guard !containers.isEmpty else { continue }
      let declared = tokens.tokens.indices.filter { tokens.has("let", at: $0) || tokens.has("var", at: $0) }
      variables = Dictionary(grouping: declared) { tokens.text($0 + 1) }
      for index in containers { review(index, file, tokens) }
    }
  }

  private mutating func review(_ index: Int, _ file: Int, _ tokens: SwiftTokens) {
    let items = tokens.items(tokens.inside(index + 1)).map(tokens.labelled)
    let scope = source.path(around: index, in: file)
    guard let position = items.firstIndex(where: { $0.label == "for" }),
      let value = items.first(where: { $0.label == "migrationPlan" })?.value,
      let plan = type(value, tokens, scope).flatMap({ name in schemas.plans.first { $0.name == name } }),
      plan.hasAllSchemas, let last = plan.schemas.last.flatMap({ versions[$0] }),
      let opened = opened(
        [items[position].value] + items[(position + 1)...].prefix { $0.label.isEmpty }.map(\.value), tokens, scope)
    else { return }
    let place = SwiftPlace(file: file, line: tokens.line(index))
    switch opened {
    case .version(let name):
      guard name != last.name else { return }
      findings.append(
        HistoryFinding(
          .containerSchema, .error, at: place, version: last.name,
          "The container opens \(name), and its plan \(plan.name) ends with \(last.name).",
          remedy: "Let it open \(last.name), or list \(name) last."))
    case .classes(let values):
      var schema = SwiftDataSchemas.Schema(kind: .modelContainer, name: "ModelContainer", place: place)
      for value in values {
        let list = SwiftDataTypeList(value, file: file, in: scope, of: source)
        let found = list.items.compactMap { source.declaration(of: $0.names, in: $0.scope) }
        guard list.unread.isEmpty, found.count == list.items.count else { return }
        schema.roots += found
      }
      let version = SwiftDataVersion(schema, in: source)
      guard version.isCertain, last.isCertain, version.hashes != last.hashes else { return }
      let names = Set(version.hashes.keys).union(last.hashes.keys).filter { version.hashes[$0] != last.hashes[$0] }
      let text = NameList.text(names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
      findings.append(
        HistoryFinding(
          .containerSchema, .error, at: place, version: last.name,
          "The container's classes aren't those of \(last.name), with which its plan \(plan.name) ends: \(text) "
            + "\(names.count == 1 ? "differs" : "differ").",
          remedy: "Let it open Schema(versionedSchema: \(last.name).self)."))
    }
  }

  /// The full name of `A` in `A.self`.
  private func type(_ range: Range<Int>, _ tokens: SwiftTokens, _ scope: [String]) -> String? {
    guard let names = tokens.path(range), names.count > 1, names.last == "self" else { return nil }
    return source.declaration(of: names.dropLast(), in: scope)?.path.joined(separator: ".")
  }

  private func opened(_ values: [Range<Int>], _ tokens: SwiftTokens, _ scope: [String]) -> Opened? {
    guard let first = values.first else { return nil }
    guard let names = tokens.path(first) else { return schema(first, tokens, scope) ?? .classes(values) }
    if names.last == "self" { return .classes(values) }
    guard names.count == 1 || names.count == 2 && ["self", "Self"].contains(names[0]), let name = names.last else {
      return nil
    }
    return schema(ofVariable: name, tokens, scope)
  }

  private func schema(_ range: Range<Int>, _ tokens: SwiftTokens, _ scope: [String]) -> Opened? {
    let opening = range.lowerBound + 1
    guard tokens.has("Schema", at: range.lowerBound), tokens.has("(", at: opening),
      tokens.partner(opening) == range.upperBound - 1
    else { return nil }
    let items = tokens.items(tokens.inside(opening)).map(tokens.labelled)
    if let value = items.first(where: { $0.label == "versionedSchema" })?.value {
      return type(value, tokens, scope).map(Opened.version)
    }
    return items.first.map { $0.label.isEmpty ? .classes([$0.value]) : nil } ?? nil
  }

  private func schema(ofVariable name: String, _ tokens: SwiftTokens, _ scope: [String]) -> Opened? {
    guard let found = variables[name], found.count == 1, let declared = found.first else { return nil }
    var index = declared + 2
    if tokens.has(":", at: index), tokens.has("Schema", at: index + 1) { index += 2 }
    guard tokens.has("=", at: index), tokens.has("(", at: index + 2) else { return nil }
    return schema(index + 1..<tokens.next(index + 2), tokens, scope)
  }
}
