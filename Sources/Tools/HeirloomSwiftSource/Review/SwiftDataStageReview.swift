/// Known traps in a stage's code, as far as its text shows them.
struct SwiftDataStageReview {
  private(set) var findings: [HistoryFinding] = []

  private let source: SwiftDataSource

  private static let depthLimit = 8

  init(
    _ stage: SwiftDataSchemas.Stage, from old: SwiftDataVersion, to new: SwiftDataVersion, in source: SwiftDataSource
  ) {
    self.source = source
    for (label, version) in [("willMigrate", old), ("didMigrate", new)] {
      guard let range = stage.code[label] else { continue }
      let code = SwiftStageCode(range, file: stage.place.file, in: stage.scope, of: source)
      for part in code.unread {
        findings.append(
          HistoryFinding(
            .uncertain, .note, at: part.place, version: new.name,
            "\(label) of the stage to \(new.name) calls \"\(part.text)\", whose code can't be checked.",
            remedy: "Let it use only the classes of \(version.name), and save."))
      }
      for piece in code.pieces { reviewTypes(piece, label, version, of: new) }
      // Any function with the context may save.
      if code.pieces.count == 1, code.unread.isEmpty { reviewSaving(code.pieces[0], label, of: new) }
    }
  }

  private func place(_ token: Int, _ piece: SwiftStageCode.Piece) -> SwiftPlace {
    SwiftPlace(file: piece.file, line: source.files[piece.file].tokens.line(token))
  }

  private mutating func reviewTypes(
    _ piece: SwiftStageCode.Piece, _ label: String, _ version: SwiftDataVersion, of new: SwiftDataVersion
  ) {
    guard version.schema.faults.isEmpty else { return }
    let (tokens, body) = (source.files[piece.file].tokens, piece.body)
    let known = Set(version.classes.values.map(\.place)).union(version.namesakes.map(\.place))
    var seen: Set<SwiftPlace> = []
    var index = body.lowerBound
    while index < body.upperBound {
      guard tokens.isWord(at: index), !tokens.has(".", at: index - 1) else {
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
      guard let (found, rest) = model(names, in: piece.scope, isKeyPath: tokens.has("\\", at: start - 1)), rest,
        !known.contains(found.place), seen.insert(found.place).inserted
      else { continue }
      let full = found.path.joined(separator: ".")
      let written = tokens.text(start..<index)
      let named = written.hasPrefix(full) ? full : "\(written), which is \(full),"
      findings.append(
        HistoryFinding(
          .foreignTypeInStage, .error, at: place(start, piece), version: new.name, entity: found.name,
          "\(label) \(piece.function.map { "calls \($0), which uses" } ?? "uses") \(named) but can use only the classes"
            + " of \(version.name), so SwiftData crashes the app.",
          remedy: version.classes[found.name].map { "Use \($0.path.joined(separator: "."))." }
            ?? "Do this in the other part of the stage, or without the class."))
    }
  }

  /// `isUsed` is true where the class is used as a model class; a static member of it may be
  /// anything.
  ///
  /// In a key path, the names after the class are properties.
  private func model(
    _ names: [String], in scope: [String], isKeyPath: Bool
  ) -> (SwiftDeclaration, isUsed: Bool)? {
    for length in stride(from: min(names.count, Self.depthLimit), to: 0, by: -1) {
      guard let found = source.declaration(of: Array(names.prefix(length)), in: scope) else { continue }
      guard found.has("Model") else { return nil }
      let rest = names.dropFirst(length)
      return (found, isKeyPath || rest.isEmpty || rest.first == "self" || rest.first == "init")
    }
    return nil
  }

  /// Code that inserts or deletes objects and never saves.
  private mutating func reviewSaving(_ piece: SwiftStageCode.Piece, _ label: String, of new: SwiftDataVersion) {
    guard let name = piece.context, name != "$0" else { return }
    let (tokens, first) = (source.files[piece.file].tokens, piece.body.lowerBound)
    var change: Int?
    for index in piece.body where tokens.isWord(at: index) {
      // Code that gets the context, or any call with this name, may save.
      if ["save", "transaction"].contains(tokens.text(index)) { return }
      guard tokens.text(index) == name, !tokens.has(".", at: index - 1), index > first + 1 else { continue }
      guard tokens.has(".", at: index + 1) else { return }
      // `delete(model:)` deletes in the store, not objects of the context.
      let isChange = ["insert", "delete"].contains(tokens.text(index + 2)) && !tokens.has("model", at: index + 4)
      if change == nil, isChange { change = index }
    }
    guard let change else { return }
    findings.append(
      HistoryFinding(
        .missingSave, .warning, at: place(change, piece), version: new.name,
        "\(label) changes its context and doesn't save it, so the change may be lost.",
        remedy: "End it with try \(name).save()."))
  }
}
