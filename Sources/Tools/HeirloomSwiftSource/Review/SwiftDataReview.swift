/// Known traps in the source of SwiftData's versions and plans.
///
/// No finding depends on facts that only the compiler knows; what can't be checked is reported as a
/// note.
package struct SwiftDataReview {
  /// Errors first, then by file and line.
  package let findings: [HistoryFinding]

  private let schemas: SwiftDataSchemas
  private let versions: [SwiftDataVersion]
  /// Those with a unique name.
  private let versionsByName: [String: SwiftDataVersion]

  private var source: SwiftDataSource { schemas.source }

  /// `shipped` has the full name of each released versioned schema, and the version hash of each
  /// entity in hexadecimal.
  package init(_ schemas: SwiftDataSchemas, shipped: [(name: String, hashes: [String: String])] = []) {
    self.schemas = schemas
    let source = schemas.source
    versions = schemas.schemas.filter { $0.kind == .versionedSchema }.map { SwiftDataVersion($0, in: source) }
    versionsByName = Dictionary(grouping: versions, by: \.name).filter { $0.value.count == 1 }.compactMapValues(\.first)
    var findings: [HistoryFinding] = []
    for version in versions where versionsByName[version.name] != nil { findings += Self.review(version, in: schemas) }
    findings += Self.repeatedSchemas(versions, in: source)
    findings += Self.outsiders(versions, in: schemas)
    for plan in schemas.plans { findings += Self.review(plan, versionsByName, in: source) }
    findings += SwiftDataContainerReview(schemas, versionsByName).findings
    for release in shipped { findings += Self.review(release.name, release.hashes, versions, in: source) }
    findings += Self.unversioned(schemas)
    // Two plans may share a pair of versions.
    var seen: Set<HistoryFinding> = []
    self.findings = findings.filter { seen.insert($0).inserted }.sorted { Self.order($0) < Self.order($1) }
  }

  private static func order(_ finding: HistoryFinding) -> (HistoryFinding.Severity, Int, Int, String) {
    (finding.severity, finding.place?.file ?? -1, finding.place?.line ?? 0, finding.rule.rawValue)
  }

  // MARK: - Schemas

  private static func review(_ version: SwiftDataVersion, in schemas: SwiftDataSchemas) -> [HistoryFinding] {
    var findings = version.namesakes.map { namesake in
      let other = version.classes[namesake.name].map { schemas.source.text($0.place) } ?? ""
      return HistoryFinding(
        .sharedClassName, .error, at: namesake.place, version: version.name, entity: namesake.name,
        "\(version.name) has two classes called \(namesake.name), the other one at \(other): the entity may come from"
          + " either.",
        remedy: "Let the types of \(version.name) refer to one of them.")
    }
    var reasons = version.namesakes.isEmpty ? version.reasons : []
    if version.schema.identifier == nil, schemas.plans.contains(where: { $0.schemas.contains(version.name) }) {
      reasons.append(
        SwiftDataSchemas.Fault(
          place: version.schema.place, reason: "its version identifier isn't written as Schema.Version(1, 0, 0)"))
    }
    if let note = uncertain(reasons, about: version.name) { findings.append(note) }
    return findings
  }

  private static func uncertain(_ reasons: [SwiftDataSchemas.Fault], about name: String) -> HistoryFinding? {
    guard let first = reasons.first else { return nil }
    let count = reasons.count == 1 ? "one thing" : "\(reasons.count) things"
    return HistoryFinding(
      .uncertain, .note, at: first.place, version: name,
      "\(name) has \(count) that the source doesn't determine, and checks that depend on it are skipped:"
        + " \(first.reason)."
    )
  }

  private static func repeatedSchemas(
    _ versions: [SwiftDataVersion], in source: SwiftDataSource
  ) -> [HistoryFinding] {
    Dictionary(grouping: versions, by: \.name).values.filter { $0.count > 1 }.map { all in
      let places = NameList.text(all.compactMap { $0.schema.place.map(source.text) })
      return HistoryFinding(
        .repeatedSchema, .warning, at: all[1].schema.place, version: all[1].name,
        "\(all[1].name) is declared \(all.count) times, at \(places): an edit of one leaves the others behind.",
        remedy: "Let all targets share one file, or exclude the copies here.")
    }
  }

  /// A schema without any entity of a plan's versions belongs to another store.
  private static func outsiders(_ versions: [SwiftDataVersion], in schemas: SwiftDataSchemas) -> [HistoryFinding] {
    guard schemas.plans.allSatisfy(\.hasAllSchemas), schemas.source.faults.isEmpty else {
      return []
    }
    let listed = Set(schemas.plans.flatMap(\.schemas))
    let entities = Set(versions.filter { listed.contains($0.name) }.flatMap(\.entities.keys))
    return versions.filter { !listed.contains($0.name) && !entities.isDisjoint(with: $0.entities.keys) }.map {
      version in
      HistoryFinding(
        .schemaOutsidePlan, .warning, at: version.schema.place, version: version.name,
        "No plan lists \(version.name), so no store of this version can be migrated.",
        remedy: "Add it to the plan, or delete it if no store ever had it.")
    }
  }

  private static func unversioned(_ schemas: SwiftDataSchemas) -> [HistoryFinding] {
    // Versioned schemas come first.
    guard let first = schemas.schemas.first, first.kind != .versionedSchema, schemas.plans.isEmpty,
      schemas.source.faults.isEmpty
    else { return [] }
    return [
      HistoryFinding(
        .unversionedModels, .note, at: first.place,
        "These classes are in no versioned schema, so SwiftData infers every migration.",
        remedy: "A first plan has to begin with copies of the released classes, not with the current ones.")
    ]
  }

  // MARK: - Releases

  private static func review(
    _ name: String, _ hashes: [String: String], _ versions: [SwiftDataVersion], in source: SwiftDataSource
  ) -> [HistoryFinding] {
    let hashes = hashes.mapValues { $0.lowercased() }
    guard let version = versions.first(where: { $0.name == name }) else {
      let type = source.declaration(of: name.split(separator: ".").map(String.init), in: [])
      guard source.faults.isEmpty, type == nil else {
        let reason = type == nil ? "not every file can be read" : "its type isn't declared as a VersionedSchema itself"
        return [
          HistoryFinding(
            .uncertain, .note, at: type?.place, version: name, "\(name) was released and isn't checked: \(reason).")
        ]
      }
      if let heir = versions.first(where: { $0.isCertain && $0.hashes == hashes }) {
        return [
          HistoryFinding(
            .missingVersion, .warning, at: heir.schema.place, version: name,
            "\(name) was released and isn't in the source, and \(heir.name) has its hashes.",
            remedy: "If it was renamed, give the release its new name.")
        ]
      }
      return [
        HistoryFinding(
          .missingVersion, .error, at: nil, version: name,
          "\(name) was released and isn't in the source, so SwiftData can't open its stores.",
          remedy: "Restore it from the commit of the release, and list it in the plan.")
      ]
    }
    var changes: [(entity: String, change: String)] = []
    for entity in Set(hashes.keys).union(version.entities.keys) {
      let known = version.hashes[entity]
      if let old = hashes[entity], let known {
        if old != known { changes.append((entity, "edited")) }
      } else if version.isCertain {
        changes.append((entity, known == nil ? "removed" : "added"))
      }
    }
    guard !changes.isEmpty else { return [] }
    changes.sort { $0.entity.utf8.lexicographicallyPrecedes($1.entity.utf8) }
    let single = changes.count == 1 ? changes[0].entity : nil
    return [
      HistoryFinding(
        .editedAfterRelease, .error, at: single.flatMap { version.classes[$0]?.place } ?? version.schema.place,
        version: name,
        entity: single,
        "\(name) differs from the release: \(NameList.text(changes.map { "\($0.entity) was \($0.change)" }))."
          + " SwiftData can't open stores of the release.",
        remedy: "Undo the change in \(name), and make it in a new version.")
    ]
  }

  // MARK: - Plans

  private static func review(
    _ plan: SwiftDataSchemas.Plan, _ versions: [String: SwiftDataVersion], in source: SwiftDataSource
  ) -> [HistoryFinding] {
    var findings: [HistoryFinding] = []
    let strangers = plan.schemas.filter { versions[$0] == nil }.map { name in
      SwiftDataSchemas.Fault(place: plan.place, reason: "\(name) isn't declared as a VersionedSchema itself")
    }
    if let note = uncertain(plan.faults + strangers, about: plan.name) { findings.append(note) }
    // Without the whole list, it isn't known which versions are neighbours.
    guard plan.hasAllSchemas else { return findings }
    let order = SwiftDataPlanReview(plan, versions, in: source)
    findings += order.findings
    for (old, new) in zip(plan.schemas, plan.schemas.dropFirst()) {
      guard let old = versions[old], let new = versions[new] else { continue }
      findings += SwiftDataStepReview(from: old, to: new, plan: plan).findings
    }
    for stage in plan.stages {
      guard let old = versions[stage.source], let new = versions[stage.destination] else { continue }
      findings += SwiftDataStageReview(stage, from: old, to: new, in: source).findings
    }
    return findings
  }
}
