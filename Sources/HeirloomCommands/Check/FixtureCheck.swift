import Heirloom
import HeirloomOutput

/// The check of stores that are kept as fixtures: each has to be of a version of the history.
struct FixtureCheck {
  /// The findings, one for each store that is of no version.
  private(set) var findings: [CheckFinding] = []
  /// The stores, each with the names of its versions, the likeliest first.
  private(set) var stores: [(path: String, versions: [String])] = []

  /// Holds stores against all versions.
  ///
  /// - Parameters:
  ///   - paths: The stores.
  ///   - list: The versions with their places; `nil` where nothing tells them.
  /// - Throws: `StoreError` for a file that is no readable store.
  init(_ paths: [String], list: ModelVersionList?) throws {
    // A store may be of any version that can be read, whatever the current one is.
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
          CheckFinding(
            severity: .warning, kind: .notTried, file: path,
            message: "The store \(path) is held against nothing: no version is known for sure."))
      }
    }
  }

  private static func finding(
    on inspection: StoreInspection, _ history: ModelHistory, _ list: ModelVersionList?
  ) -> CheckFinding {
    let path = inspection.path
    // The version of the store's own number is meant, else the one with the fewest differences, the later of two.
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
    var words = ""
    if let (near, version, differences, _) = best {
      words = " The nearest is \"\(near.name)\""
      words +=
        differences.isEmpty
        ? ", which differs in \(listText(near.differingEntities))." : ": \(listText(differences, limit: 6))."
      if let version {
        words += " heirloom compare \(shellWord(path)) \(shellWord(version.file.path)) shows all of it."
      }
    }
    // One that isn't certain may have made it.
    let doubtful = list?.versions.filter { version in
      if case .held(let held) = version.file.kind, case .doubtful = held.reading { true } else { false }
    }
    let others = doubtful.map { $0.isEmpty ? "" : ", unless it is of \(listText($0.map { "\"\($0.name)\"" }))" } ?? ""
    return CheckFinding(
      severity: others.isEmpty ? .error : .warning, kind: .unknownStore, version: best?.near.name, file: path,
      message: "The store \(path) is of no version of the history\(others): its version was edited, or is missing."
        + words)
  }

  /// Returns the differences of a version from the model that made a store, with their places.
  private static func differences(
    of inspection: StoreInspection, from version: ModelVersionList.Version
  ) -> [String]? {
    guard let model = inspection.model, let other = try? version.file.read().model else { return nil }
    let places = if case .held(let held) = version.file.kind { held.places } else { [String: String]() }
    return ModelDifference(from: model, to: other).changes.filter(\.isHashed).map { change in
      let place = HeldModel.place(of: change.entity, change.property, in: places)
      return "\(change.subject): \(change.sentence)\(place.map { " (\($0))" } ?? "")"
    }
  }
}
