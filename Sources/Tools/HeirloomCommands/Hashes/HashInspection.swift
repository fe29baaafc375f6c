import Foundation
import Heirloom
import HeirloomOutput

/// Searches for the versions whose hashes are in a log or on the command line.
struct HashInspection {
  static let options = [
    Command.Option(
      name: "--hash", value: "HASH", isRepeatable: true,
      summary:
        "of models: which versions have this hash; ENTITY=HASH or a hash alone, hexadecimal or base64, whole or its first"
        + " 4 bytes at least"),
    Command.Option(
      name: "--from-log", value: "FILE",
      summary: "of models: which versions have the hashes in a crash log or console output; - reads standard input"),
  ]

  static func isWanted(_ arguments: Arguments) -> Bool {
    !arguments.all("--hash").isEmpty || arguments.value("--from-log") != nil
  }

  /// Of a log, in bytes.
  private static let limit = 64 << 20
  private static let shownDifferences = 40

  private let path: String
  private let log: String?
  private let lookup: HashLookup
  private let models: [NamedModel]
  private var places: [HashesInText.Place] = []
  private var hasMore = false

  /// Versions that can't be read are noted on the console.
  init(at path: String, _ arguments: Arguments, _ console: Console) throws {
    self.path = path
    var models: [NamedModel] = []
    var locks: [VersionLock.Entry] = []
    for path in try ([path] + arguments.all("--model").map(console.path)).flatMap(Console.modelPaths) {
      let list = try console.versions(at: path)
      models += try NamedModel.likeliestFirst(in: list, at: path, console: console, needsCurrent: false)
      locks += list.lock?.versions ?? []
    }
    lookup = HashLookup(models, locks: locks)
    self.models = models
    let entries = try arguments.all("--hash").map { [lookup] in try Self.entry($0, in: lookup) }
    if !entries.isEmpty {
      places = [HashesInText.Place(hashes: ShownHashes(owner: .arguments, entries: entries), lines: [])]
    }
    log = arguments.value("--from-log")
    if let log { try addHashes(of: log, console) }
  }

  /// Such as `Note=268efc74`.
  private static func entry(_ word: String, in lookup: HashLookup) throws -> ShownHashes.Entry {
    if !lookup.entities.contains(word), let hash = KnownHash(argument: word) {
      let entities = lookup.entities(having: hash)
      guard entities.count <= 1 else {
        throw UsageError.invalidValue(
          option: "--hash", value: word, expected: "more bytes, since \(listText(entities)) have such hashes")
      }
      return ShownHashes.Entry(entity: entities.first, hash: hash)
    }
    let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2, let hash = KnownHash(argument: parts[1]) else {
      throw UsageError.invalidValue(
        option: "--hash", value: word,
        expected: "ENTITY=HASH or a hash, hexadecimal or base64: \(VersionHash.byteCount) bytes, or at least the first"
          + " \(KnownHash.fewestBytes)")
    }
    return ShownHashes.Entry(entity: parts[0], hash: hash)
  }

  private mutating func addHashes(of word: String, _ console: Console) throws {
    let name = word == "-" ? "Standard input" : try console.path(word)
    if word != "-", case .missing = PathKind(name) {
      throw CommandFailure(
        exitCode: .failed, code: CommandFailure.missingCode, coreDataCode: 260,
        message: "There is nothing at \(name); expected a crash log or the console's output.",
        suggestion: "Check the path.")
    }
    let text = HashesInText(
      word == "-" ? try Self.standardInput() : try POSIXFileOperations().readFile(name, limit: Self.limit),
      of: lookup.entities)
    guard !text.places.isEmpty else { throw withoutHashes(name, text.others) }
    places += text.places.map { place in
      var place = place
      if place.hashes.owner == .lines {
        place.hashes.entries.removeAll { !lookup.entities.contains($0.entity ?? "") }
      }
      return place
    }
    hasMore = text.hasMore
  }

  /// `names` have 32 bytes, but aren't entities.
  private func withoutHashes(_ name: String, _ names: [String]) -> CommandFailure {
    let found =
      names.isEmpty
      ? "has no version hashes"
      : "has no store's metadata, and none of what has a hash in it (\(listText(names))) is an entity of \(path)"
    return CommandFailure(
      exitCode: .failed, code: "noHashes", coreDataCode: nil,
      message: "\(name) \(found); expected the hashes that Core Data prints with a store's metadata or a model.",
      suggestion:
        "The metadata are part of the errors 134100 and 134130; 134140 prints models, which are without hashes."
        + " A device's log may have <private> in their place.")
  }

  private static func standardInput() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let chunk = try FileHandle.standardInput.read(upToCount: 1 << 16), !chunk.isEmpty {
      bytes += chunk
      guard bytes.count <= limit else {
        throw FileError(.read, "standard input", code: EFBIG, reason: "it has more than \(limit) bytes")
      }
    }
    return bytes
  }

  // MARK: Reporting

  func report(_ console: Console) -> CommandReport {
    let answers = places.map { lookup.answer(to: $0.hashes) }
    var report = CommandReport()
    report.members = [
      ("kind", .text("versionHashes")), ("path", .text(path)), ("log", .optional(log)),
      ("hashes", .list(zip(places, answers).map(Self.output))), ("hasMore", .boolean(hasMore)),
    ]
    for (place, answer) in zip(places, answers) { report.lines += lines(place, answer, console.style) }
    if hasMore {
      report.lines.append(
        "The log has more than \(HashesInText.limit) different dictionaries of hashes; these are the first.")
    }
    let named = Set(answers.flatMap { $0.fitting + $0.merged + $0.nearest }.map(\.name))
    for model in models where named.contains(model.name) {
      for warning in model.warnings { console.log("note: \(model.name): \(warning)") }
    }
    let unknown = zip(places, answers).filter { !$0.1.isFound }.map { Self.placeWords($0.0) }
    guard !unknown.isEmpty else { return report }
    report.failure = CommandFailure(
      exitCode: .unknownVersion, code: "unknownVersion", coreDataCode: 134_100,
      message: "No version of \(path) has the hashes of \(listText(unknown)).",
      suggestion: "Their version was edited since, or is not among these models. --model names further models.")
    return report
  }

  private static func placeWords(_ place: HashesInText.Place) -> String {
    place.lines.first.map { "line \($0)" } ?? "--hash"
  }

  private func lines(_ place: HashesInText.Place, _ answer: HashLookup.Answer, _ style: TextStyle) -> [String] {
    let shown = place.hashes
    var head = style.bold(sentenceStart(Self.placeWords(place)))
    switch shown.owner {
    case .store: head += ", a store's metadata"
    case .dictionary(let words?): head += ", \"\(words)\""
    case .dictionary(nil), .lines, .arguments: break
    }
    let others = place.lines.dropFirst().map { "\($0)" }
    head += ": \(Self.contents(of: shown))"
    if !others.isEmpty { head += "; again in line \(listText(others))" }
    return [head] + found(shown, answer, style).map { "  " + $0 }
  }

  private func sentenceStart(_ words: String) -> String { words.prefix(1).uppercased() + words.dropFirst() }

  private static func contents(of shown: ShownHashes) -> String {
    var parts: [String] = []
    if !shown.entries.isEmpty {
      let counts = Set(shown.entries.map(\.hash.byteCount))
      let bytes =
        switch (counts.count, counts.first ?? 0) {
        case (1, VersionHash.byteCount): ""
        case (1, 0): ", the names alone"
        case (1, let count): ", \(count) of \(VersionHash.byteCount) bytes of each"
        default: ", not all of them whole"
        }
      parts.append("hashes of \(counted(Int64(shown.entries.count), "entity"))\(bytes)")
    }
    if !shown.isWhole, !shown.entries.isEmpty, shown.owner != .arguments {
      parts.append("others may be missing")
    }
    if shown.needsChecksum, let checksum = shown.checksum { parts.append("checksum \(checksum)") }
    if shown.needsChecksum, let digest = shown.digest { parts.append("digest \(digest)") }
    if !shown.identifiers.isEmpty { parts.append("version identifiers \(listText(shown.identifiers))") }
    return parts.joined(separator: "; ")
  }

  private func found(_ shown: ShownHashes, _ answer: HashLookup.Answer, _ style: TextStyle) -> [String] {
    let count = shown.entries.count
    let all =
      count == 1 || shown.entries.isEmpty ? "it" : shown.isWhole ? "all \(grouped(Int64(count)))" : "all that are shown"
    func have(_ versions: [HashLookup.Candidate]) -> String {
      let number = Int64(versions.count)
      return "\(style.bold(listText(versions.map(\.words)))) \(verb("have", number))"
    }
    if !answer.fitting.isEmpty { return ["\(have(answer.fitting)) \(all)\(Self.entities(of: shown))."] }
    if !answer.merged.isEmpty {
      return [
        "\(style.bold(listText(answer.merged.map(\.words)))) together have \(all): a model merged of them."
      ]
    }
    guard let nearest = answer.nearest.first else {
      return [style.red(count > 1 ? "No version has one of them." : "No version has it.")] + table(answer, nil)
    }
    guard !answer.differences.isEmpty else {
      let name = shown.digest == nil ? "checksum" : "digest"
      return ["\(style.red("No version has the \(name).")) \(have(answer.nearest)) \(all)."]
    }
    let equal = count - answer.differences.count { $0.hash != nil }
    return [
      "\(style.red("No version has \(all).")) The nearest is \(style.bold(nearest.words)), with \(grouped(Int64(equal))) of them:"
    ] + table(answer, nearest)
  }

  private static func entities(of shown: ShownHashes) -> String {
    shown.owner == .arguments ? ": \(listText(shown.entries.compactMap(\.entity)))" : ""
  }

  private func table(_ answer: HashLookup.Answer, _ nearest: HashLookup.Candidate?) -> [String] {
    var table = TextTable(header: ["Entity", "Difference"], alignments: [.left, .left])
    for difference in answer.differences.prefix(Self.shownDifferences) {
      table.add([difference.entity ?? difference.hash?.words ?? "", words(difference, nearest?.words ?? "")])
    }
    let rest = answer.differences.count - Self.shownDifferences
    return table.lines(indent: 0) + (rest > 0 ? ["and \(grouped(Int64(rest))) more: --json lists all"] : [])
  }

  private func words(_ difference: HashLookup.Difference, _ nearest: String) -> String {
    guard difference.hash != nil else { return "only in \(nearest)" }
    guard let entity = difference.entity else { return "no entity of a version has this hash" }
    guard difference.others.isEmpty else {
      let others = listText(difference.others, limit: 3)
      return difference.isInVersion ? "as in \(others)" : "not in \(nearest); as in \(others)"
    }
    return lookup.entities.contains(entity) ? "another hash, which no version has" : "in no version"
  }

  // MARK: JSON

  private static func output(_ place: HashesInText.Place, _ answer: HashLookup.Answer) -> OutputValue {
    let shown = place.hashes
    let (owner, words): (String, String?) =
      switch shown.owner {
      case .store: ("store", nil)
      case .dictionary(let words): ("dictionary", words)
      case .lines: ("lines", nil)
      case .arguments: ("arguments", nil)
      }
    return .object([
      ("owner", .text(owner)), ("words", .optional(words)),
      ("lines", .list(place.lines.map { .integer(Int64($0)) })), ("isWhole", .boolean(shown.isWhole)),
      (
        "entities",
        .list(
          shown.entries.map { entry in
            .object([
              ("name", .optional(entry.entity)), ("hashStart", .text(entry.hash.prefix.hexadecimal)),
              ("hashEnd", .text(entry.hash.suffix.hexadecimal)),
            ])
          })
      ),
      ("versionIdentifiers", .texts(shown.identifiers)), ("storedChecksum", .optional(shown.checksum)),
      ("storedDigest", .optional(shown.digest)), ("versions", .list(answer.fitting.map(output))),
      ("merged", .list(answer.merged.map(output))), ("nearest", .list(answer.nearest.map(output))),
      (
        "differences",
        .list(
          answer.differences.map { difference in
            .object([
              ("entity", .optional(difference.entity)),
              (
                "kind",
                .text(difference.hash == nil ? "onlyInVersion" : difference.isInVersion ? "hash" : "notInVersion")
              ),
              ("others", .texts(difference.others)),
            ])
          })
      ),
    ])
  }

  private static func output(_ version: HashLookup.Candidate) -> OutputValue {
    .object([
      ("versionName", .text(version.name)), ("configuration", .optional(version.configuration)),
      ("isLocked", .boolean(version.isLocked)),
    ])
  }
}
