/// Known traps in a plan as a whole: order, identifiers, stages and shared types.
struct SwiftDataPlanReview {
  private(set) var findings: [HistoryFinding] = []

  private let plan: SwiftDataSchemas.Plan
  private let versions: [SwiftDataVersion]
  private let source: SwiftDataSource

  /// The plan's list of schemas must be known completely.
  init(_ plan: SwiftDataSchemas.Plan, _ known: [String: SwiftDataVersion], in source: SwiftDataSource) {
    (self.plan, self.source) = (plan, source)
    versions = plan.schemas.compactMap { known[$0] }
    reviewIdentifiers()
    reviewChecksums()
    if plan.hasAllStages, !plan.stages.isEmpty { reviewStages() }
    reviewLiveTypes()
  }

  // MARK: - Identifiers

  private mutating func reviewIdentifiers() {
    var known: [(name: String, identifier: String, numbers: [Int])] = []
    for version in versions {
      guard let identifier = version.schema.identifier else { continue }
      let numbers = identifier.split(separator: ".").compactMap { Int($0) }
      let place =
        source.sharedProperty(
          "versionIdentifier", of: ["Self"], from: version.name.split(separator: ".").map(String.init))?
        .property.place ?? version.schema.place
      if let other = known.first(where: { $0.numbers == numbers }) {
        findings.append(
          HistoryFinding(
            .reusedIdentifier, .error, at: place, version: version.name,
            "\(version.name) and \(other.name) both have the version identifier \(identifier).",
            remedy: "Give the later one a number of its own."))
      } else if let before = known.last, numbers.lexicographicallyPrecedes(before.numbers) {
        findings.append(
          HistoryFinding(
            .fallingIdentifier, .warning, at: place, version: version.name,
            "\(version.name) has the version identifier \(identifier), and \(before.name) before it the higher "
              + "\(before.identifier).",
            remedy: "Let the numbers rise in the order of the plan."))
      }
      known.append((version.name, identifier, numbers))
    }
  }

  // MARK: - Checksums

  private mutating func reviewChecksums() {
    for (index, version) in versions.enumerated() {
      guard let other = versions[..<index].first(where: { $0.equals(version) }) else { continue }
      let (cause, remedy): (String, String)
      let changes = version.differences(from: other)
      if Self.haveSameClasses(version, other) {
        (cause, remedy) = (
          "both list the same classes.", "Freeze the classes of \(other.name) within it as they were released."
        )
      } else if changes.isEmpty {
        (cause, remedy) = ("they don't differ in stored content.", "Remove one of them from the plan.")
      } else {
        (cause, remedy) = (
          "their differences aren't hashed (\(NameList.text(changes))).",
          "They need no new version: remove one of the two from the plan."
        )
      }
      findings.append(
        HistoryFinding(
          .equalChecksums, .error, at: version.schema.place, version: version.name,
          "\(version.name) and \(other.name) have the same hashes, and SwiftData crashes the app at the first store"
            + " that it migrates: \(cause)", remedy: remedy))
    }
  }

  private static func haveSameClasses(_ version: SwiftDataVersion, _ other: SwiftDataVersion) -> Bool {
    Set(version.classes.values.map(\.place)) == Set(other.classes.values.map(\.place))
  }

  // MARK: - Stages

  private mutating func reviewStages() {
    var pairs: Set<[String]> = []
    for stage in plan.stages {
      let (words, pair) = ("\(stage.source) to \(stage.destination)", [stage.source, stage.destination])
      let positions = pair.compactMap { plan.schemas.firstIndex(of: $0) }
      var fault: (words: String, remedy: String)?
      if positions.count < 2 {
        let stranger = pair.first { !plan.schemas.contains($0) } ?? ""
        fault = (
          "isn't about this plan's versions, since the plan doesn't list \(stranger).",
          "Add it to the plan's schemas."
        )
      } else if positions[1] < positions[0] {
        fault = ("goes backwards.", "Swap its versions.")
      } else if positions[1] != positions[0] + 1 {
        fault = ("skips a version.", "Write one stage for each pair of neighbours.")
      } else if pairs.contains(pair) {
        fault = ("is declared twice.", "Remove one of them.")
      }
      pairs.formUnion([pair, pair.reversed()])
      guard let fault else { continue }
      findings.append(
        HistoryFinding(
          .strayStage, .error, at: stage.place, version: stage.destination, "The stage from \(words) \(fault.words)",
          remedy: fault.remedy))
    }
    for (old, new) in zip(plan.schemas, plan.schemas.dropFirst()) where !pairs.contains([old, new]) {
      findings.append(
        HistoryFinding(
          .missingStage, .error, at: plan.place, version: new,
          "\(plan.name) has no stage from \(old) to \(new), so no store of \(old) can be migrated.",
          remedy: "Add one, lightweight if no code is needed."))
    }
  }

  // MARK: - Live types

  /// Types of the current app that versions other than the last one depend on.
  private mutating func reviewLiveTypes() {
    guard let last = versions.last, last.name == plan.schemas.last else { return }
    let today = Set(last.dependencies.map(\.type.place))
    for (index, version) in versions.dropLast().enumerated() where !Self.isRepeated(version, among: versions) {
      let listed = Set(version.schema.roots.map(\.place))
      var seen: Set<SwiftPlace> = []
      var shared: [SwiftDataVersion.Dependency] = []
      var hasEscaped = false
      for dependency in version.dependencies {
        let type = dependency.type
        guard seen.insert(type.place).inserted else { continue }
        let home = home(of: type)
        if let home, home > index {
          findings.append(
            HistoryFinding(
              .liveType, .error, at: dependency.place ?? version.schema.place, version: version.name,
              entity: type.has("Model") ? type.name : nil,
              "\(version.name) depends on \(type.path.joined(separator: ".")), a type of a newer version.",
              remedy: "Freeze a copy of \(type.name) within \(version.name)."))
        } else if home == nil, today.contains(type.place) {
          // A class in a schema's list is shared on purpose; one that a frozen class refers to was
          // overlooked.
          let isFrozen = dependency.owner.map { self.home(of: $0) != nil } ?? false
          guard isFrozen, type.has("Model") else {
            shared.append(dependency)
            continue
          }
          hasEscaped = true
          findings.append(
            HistoryFinding(
              .liveType, .error, at: dependency.place, version: version.name, entity: type.name,
              "A frozen class of \(version.name) refers to \(type.name), which isn't frozen: \(last.name) uses it too,"
                + " so editing it changes \(version.name).",
              remedy: "Freeze a copy of \(type.name) within \(version.name)."))
        }
      }
      // Freezing the overlooked class also resolves the types it refers to.
      if hasEscaped {
        shared.removeAll { dependency in
          dependency.owner.map { home(of: $0) == nil && !listed.contains($0.place) } ?? false
        }
      }
      guard !shared.isEmpty else { continue }
      let names = NameList.text(shared.map(\.type.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
      findings.append(
        HistoryFinding(
          .liveType, .warning, at: version.schema.place, version: version.name,
          "\(version.name) shares \(names) with \(last.name), the newest version: an edit changes \(version.name) too,"
            + " and its stores can't be opened any more.",
          remedy: "Freeze copies within \(version.name) before the edit."))
    }
  }

  /// True for a version with the same classes as another one, which is reported already.
  private static func isRepeated(_ version: SwiftDataVersion, among all: [SwiftDataVersion]) -> Bool {
    all.contains { $0.name != version.name && $0.equals(version) && haveSameClasses($0, version) }
  }

  private func home(of type: SwiftDeclaration) -> Int? {
    let around = (1..<max(type.path.count, 1)).map { type.path.prefix($0).joined(separator: ".") }
    return around.reversed().lazy.compactMap { name in versions.firstIndex { $0.name == name } }.first
  }
}
