import Heirloom
import HeirloomCompare
import HeirloomOutput
import HeirloomSwiftSource

/// Checks that each store kept as a fixture fits a version of the history.
struct FixtureCheck {
  private(set) var findings: [HistoryFinding] = []
  /// With the versions that each fits, the likeliest first.
  private(set) var stores: [(path: String, versions: [String])] = []

  /// Throws `StoreError` for a file that isn't a readable store.
  init(_ paths: [String], list: ModelVersionList?) throws {
    // A fixture may be of any readable version, also of one after the current version.
    let known = (list?.versions ?? []).compactMap { version in
      (try? version.file.read().model).map { (name: version.name, model: $0) }
    }
    let history = known.last.map { ModelHistory(current: $0.model, name: $0.name, earlier: Array(known.dropLast())) }
    for path in paths {
      let inspection = try StoreInspection(at: path) { history?.versions(withHashes: $0) ?? [] }
      let names = history?.versions(withHashes: inspection.metadata.versionHashes).compactMap(\.name) ?? []
      stores.append((path, names))
      guard names.isEmpty else { continue }
      if let history {
        findings.append(Self.finding(on: inspection, history, list))
      } else {
        findings.append(
          HistoryFinding(
            .notTried, .warning, file: path,
            "The store \(path) isn't compared with anything: no version could be determined."))
      }
    }
  }

  private static func finding(
    on inspection: StoreInspection, _ history: ModelHistory, _ list: ModelVersionList?
  ) -> HistoryFinding {
    let path = inspection.path
    // The nearest version has the store's version number, else the fewest differences; of two equal
    // ones, the later.
    let all = history.nearestVersions(to: inspection.metadata.versionHashes, ofStoreAt: path).map { near in
      let version = list?.version(named: near.name)
      let model = try? history.model(named: near.name)
      let isNumbered = model?.versionIdentifiers == inspection.metadata.versionIdentifiers
      let differences = version.flatMap { Self.differences(of: inspection, from: $0) } ?? []
      return (near: near, version: version, differences: differences, isNumbered: isNumbered)
    }
    let best = all.min {
      ($0.isNumbered ? 0 : 1, $0.near.differingEntities.count, $0.differences.count)
        < ($1.isNumbered ? 0 : 1, $1.near.differingEntities.count, $1.differences.count)
    }
    var (words, remedy): (String, String?) = ("", nil)
    if let (near, version, differences, _) = best {
      words = " The nearest is \"\(near.name)\""
      words +=
        differences.isEmpty
        ? ", which differs in \(listText(near.differingEntities))." : ": \(listText(differences, limit: 6))."
      if let version {
        remedy = "heirloom compare \(shellWord(path)) \(shellWord(version.file.path)) shows all of it."
      }
    }
    // An ambiguous version could be the one that made the store.
    let doubtful = list?.versions.filter { version in
      if case .inMemory(let held) = version.file.kind, case .doubtful = held.reading { true } else { false }
    }
    let others = doubtful.map { $0.isEmpty ? "" : ", unless it is of \(listText($0.map { "\"\($0.name)\"" }))" } ?? ""
    return HistoryFinding(
      .unknownStore, others.isEmpty ? .error : .warning, version: best?.near.name, file: path,
      "The store \(path) fits no version of the history\(others): its version was edited, or is missing."
        + words, remedy: remedy)
  }

  private static func differences(
    of inspection: StoreInspection, from version: ModelVersionList.Version
  ) -> [String]? {
    guard let model = inspection.model, let other = try? version.file.read().model else { return nil }
    let places = if case .inMemory(let held) = version.file.kind { held.places } else { [String: String]() }
    return ModelDifference(from: model, to: other).changes.filter(\.isHashed).map { change in
      let place = InMemoryModel.place(of: change.entity, change.property, in: places)
      return "\(change.subject): \(change.sentence)\(place.map { " (\($0))" } ?? "")"
    }
  }
}
