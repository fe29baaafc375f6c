/// The traps of a stage's code, as far as its own text shows them.
struct SwiftDataStageReview {
  private(set) var findings: [SwiftDataFinding] = []

  private let stage: SwiftDataSchemas.Stage
  private let source: SwiftDataSource
  private let tokens: SwiftTokens

  /// The most types within each other that a name is sought in.
  private static let depthLimit = 8

  /// Reviews the code of a stage between two versions.
  init(
    _ stage: SwiftDataSchemas.Stage, from old: SwiftDataVersion, to new: SwiftDataVersion, in source: SwiftDataSource
  ) {
    (self.stage, self.source, tokens) = (stage, source, source.tokens(stage.place))
    for (label, version) in [("willMigrate", old), ("didMigrate", new)] {
      guard let code = stage.code[label] else { continue }
      guard tokens.has("{", at: code.lowerBound) else {
        findings.append(
          SwiftDataFinding(
            .uncertain, .note, at: place(code.lowerBound), schema: new.name,
            "\(label) of the stage to \(new.name) is \"\(tokens.text(code))\", whose code isn't read here. "
              + "Let it use the classes of \(version.name) only, and save."))
        continue
      }
      let body = tokens.inside(code.lowerBound)
      reviewTypes(body, label, version, of: new)
      reviewSaving(body, label, of: new)
    }
  }

  private func place(_ token: Int) -> SwiftPlace { SwiftPlace(file: stage.place.file, line: tokens.line(token)) }

  // MARK: - Classes

  /// Finds the classes that aren't of the version which the code sees.
  private mutating func reviewTypes(
    _ body: Range<Int>, _ label: String, _ version: SwiftDataVersion, of new: SwiftDataVersion
  ) {
    guard version.schema.faults.isEmpty else { return }
    let known = Set(version.classes.values.map(\.place)).union(version.namesakes.map(\.place))
    var seen: Set<SwiftPlace> = []
    var index = body.lowerBound
    while index < body.upperBound {
      guard tokens.isWord(at: index), !isMember(index) else {
        index += 1
        continue
      }
      let start = index
      var names = [tokens.text(index)]
      index += 1
      while tokens.has(".", at: index), tokens.isWord(at: index + 1) {
        names.append(tokens.text(index + 1))
        index += 2
      }
      guard let (found, rest) = model(names, isKeyPath: tokens.has("\\", at: start - 1)), rest,
        !known.contains(found.place), seen.insert(found.place).inserted
      else { continue }
      let full = found.path.joined(separator: ".")
      let written = tokens.text(start..<index)
      let named = written.hasPrefix(full) ? full : "\(written), which is \(full),"
      findings.append(
        SwiftDataFinding(
          .foreignTypeInStage, .error, at: place(start), schema: new.name, entity: found.name,
          "\(label) uses \(named) but sees the classes of \(version.name) only, and SwiftData ends the app there. "
            + (version.classes[found.name].map { "Use \($0.path.joined(separator: "."))." }
              ?? "Do this in the other part of the stage, or without the class.")))
    }
  }

  /// Returns true for a word after a point that follows an expression, or a point that begins one.
  private func isMember(_ index: Int) -> Bool { tokens.has(".", at: index - 1) }

  /// Returns the class that the first of some names stand for.
  ///
  /// - Parameters:
  ///   - names: The parts of the name with the members after it.
  ///   - isKeyPath: True for names after a backslash, of which the last ones are properties.
  /// - Returns: The class, and whether it is used as a class of a store; a static member of it may be anything.
  private func model(_ names: [String], isKeyPath: Bool) -> (SwiftDeclaration, isUsed: Bool)? {
    for length in stride(from: min(names.count, Self.depthLimit), to: 0, by: -1) {
      guard let found = source.declaration(of: Array(names.prefix(length)), in: stage.scope) else { continue }
      guard found.has("Model") else { return nil }
      let rest = names.dropFirst(length)
      return (found, isKeyPath || rest.isEmpty || rest.first == "self" || rest.first == "init")
    }
    return nil
  }

  // MARK: - Saving

  /// Finds code that inserts or deletes objects and nowhere saves.
  private mutating func reviewSaving(_ body: Range<Int>, _ label: String, of new: SwiftDataVersion) {
    let first = body.lowerBound
    // `{ context in`, `{ (context: ModelContext) in` or `{ $0.…`
    let name =
      tokens.isWord(at: first) && tokens.has("in", at: first + 1)
      ? tokens.text(first) : tokens.has("(", at: first) ? tokens.text(first + 1) : nil
    guard let name else { return }
    var change: Int?
    for index in body where tokens.isWord(at: index) {
      // Whoever has the context, or the word, may save.
      if ["save", "transaction"].contains(tokens.text(index)) { return }
      guard tokens.text(index) == name, !isMember(index), index > first + 1 else { continue }
      guard tokens.has(".", at: index + 1) else { return }
      // (What `delete(model:)` deletes is no object of the context.)
      let isChange = ["insert", "delete"].contains(tokens.text(index + 2)) && !tokens.has("model", at: index + 4)
      if change == nil, isChange { change = index }
    }
    guard let change else { return }
    findings.append(
      SwiftDataFinding(
        .missingSave, .warning, at: place(change), schema: new.name,
        "\(label) changes its context and doesn't save it, so that the change may be lost. "
          + "End it with try \(name).save()."))
  }
}
