import HeirloomModel

/// The messages about a search: the given mapping models that it didn't use, and where it stopped.
struct PathWords {
  private let search: PathSearch
  private let labels: [String]
  private let name: (ManagedObjectModel) -> String?

  init(search: PathSearch, labels: [String], name: @escaping (ManagedObjectModel) -> String?) {
    self.search = search
    self.name = name
    self.labels = search.mappings.indices.map { index in
      if labels.indices.contains(index) { return labels[index] }
      let names = search.mappings[index].entityMappings.map { "\"\($0.name)\"" }
      let more = names.count > 3 ? " and \(names.count - 3) more" : ""
      return "mapping model \(index + 1) (\(names.prefix(3).joined(separator: ", "))\(more))"
    }
  }

  private func title(_ position: Int) -> String {
    if let name = name(search.models[position]) { return "\"\(name)\"" }
    switch position {
    case 0: return "the source"
    case search.lastOrdered: return "the destination"
    default: return "version \(position + 1)"
    }
  }

  private func subject(_ index: Int) -> String {
    let label = labels[index]
    return label.hasPrefix("mapping model") ? "M" + label.dropFirst() : label
  }

  private var ends: String { "\(title(0)) and \(title(search.lastOrdered))" }

  // MARK: - Where there is a path

  var unused: [MigrationPath.UnusedMapping] {
    let used = Set(search.used.flatMap(\.parts))
    let way = search.way(to: search.lastOrdered)
    return search.mappings.indices.filter { !used.contains($0) }.map { index in
      MigrationPath.UnusedMapping(index: index, reason: "\(subject(index)) \(reason(index, way: way))")
    }
  }

  private func reason(_ index: Int, way: [Int]) -> String {
    if let mismatch = search.misfits[index]?.first { return "is not for this migration: \(mismatch.description)" }
    func step(_ steps: [PathSearch.Step: PathSearch.Given]) -> PathSearch.Step? {
      steps.filter { $0.value.parts.contains(index) }.keys.min { ($0.start, $0.end) < ($1.start, $1.end) }
    }
    guard let step = step(search.given) else {
      guard let step = step(search.back) else { return "is not for this migration." }
      return "is not used: it goes backwards, from \(title(step.start)) to \(title(step.end))."
    }
    let (start, end) = (title(step.start), title(step.end))
    if step.start == search.lastOrdered { return "is not for this migration: it starts at \(start)." }
    if way.contains(step.start) {
      return "is not used: from \(start) the path continues with another given mapping model, not to \(end)."
    }
    if step.start < search.lastOrdered {
      return "is not used: the path bypasses \(start), where it starts, by other given mapping models."
    }
    if search.isOutside(step) {
      return
        "is not for this migration: it goes from \(start) to \(end), which by name are not between \(ends)."
    }
    return orderUnknown(step)
  }

  private func orderUnknown(_ step: PathSearch.Step) -> String {
    "is not used: it goes from \(title(step.start)) to \(title(step.end)), and no lock.json says whether they are"
      + " between \(ends)."
  }

  var conflict: String? {
    for given in search.used {
      let names = Set(given.mapping.entityMappings.map(\.name))
      for mapping in given.mapping.entityMappings {
        for property in mapping.attributeMappings + mapping.relationshipMappings {
          guard case .linksThroughMapping(let name, _) = property.form, !names.contains(name) else { continue }
          let all = given.parts.map { labels[$0] }.joined(separator: ", ")
          return
            "The entity mapping \"\(mapping.name)\" of \(all) links \"\(property.name)\" to objects of \"\(name)\", an"
            + " entity mapping that is given for other versions only"
        }
      }
    }
    guard let overlap = search.used.compactMap(\.overlap).first else { return nil }
    let what =
      switch overlap.overlap {
      case .source(let entity): "have the source entity \"\(entity)\""
      case .destination(let entity): "have the destination entity \"\(entity)\""
      case .name(let name): "have an entity mapping with the name \"\(name)\""
      }
    return "\(subject(overlap.first)) and \(labels[overlap.second]) are for the same versions, and both \(what)"
  }

  // MARK: - Where there is no path

  var obstacles: [MappingObstacle] {
    var obstacles: [MappingObstacle] = []
    for (index, mismatches) in search.misfits.ordered(by: { $0.key < $1.key }) {
      obstacles += mismatches.map {
        MappingObstacle(
          $0, in: search.mappings[index], suggestion: "Create the mapping model for the existing versions.")
      }
    }
    if let circle {
      obstacles.append(circle)
    }
    for (step, given) in search.given.ordered(by: { ($0.key.start, $0.key.end) < ($1.key.start, $1.key.end) }) {
      if search.reached.contains(step.start) {
        obstacles += search.whole(given, from: step.start, to: step.end).obstacles
      } else if step.start > search.lastOrdered, !search.isOutside(step) {
        obstacles += given.parts.map { part in
          obstacle(
            part, "\(subject(part)) \(orderUnknown(step))",
            suggestion: "Make the order of the versions known: add a snapshot of each to the history.")
        }
      }
    }
    return obstacles
  }

  private var circle: MappingObstacle? {
    for position in search.reached {
      let way = search.way(to: position)
      let steps = search.given.merging(search.back) { first, _ in first }.filter { $0.key.start == position }
      for (step, given) in steps.ordered(by: { $0.key.end < $1.key.end }) {
        guard let start = way.firstIndex(of: step.end), let part = given.parts.first else { continue }
        let names = way[start...].map(title).joined(separator: ", ")
        return obstacle(
          part,
          "Given mapping models form a circle, from \(names) back to its start, without reaching the destination.",
          suggestion: "Give a mapping model for the step that is missing.")
      }
    }
    return nil
  }

  /// The error that names the given mappings before or after which the path can't continue.
  var deadEnds: MappingInferenceError {
    var found: [MappingObstacle] = []
    var skeleton: String?
    for position in search.reached where !search.bound.contains(position) {
      let next = search.nextStart(after: position)
      guard let inference = search.inference(from: position, to: next), !inference.obstacles.isEmpty else { continue }
      let (start, end) = (title(position), title(next))
      let suggestion = "Give a mapping model from \(start) to \(end) as well."
      let way = search.way(to: position)
      let last = zip(way, way.dropFirst()).compactMap { search.given[PathSearch.Step(start: $0, end: $1)] }.last
      if let part = last?.parts.first, search.isReachedByGiven(position) {
        found.append(
          obstacle(
            part,
            "\(subject(part)) ends at \(start), where the path stops: from there to \(end), no mapping can be"
              + " inferred.",
            suggestion: suggestion))
      } else if let part = search.given.filter({ $0.key.start == next }).values.flatMap(\.parts).min() {
        found.append(
          obstacle(
            part, "\(subject(part)) starts at \(end), and from \(start) to there no mapping can be inferred.",
            suggestion: suggestion))
      }
      found += inference.obstacles
      skeleton =
        skeleton
        ?? MappingSkeleton(inference, from: name(search.models[position]), to: name(search.models[next]))?.source
    }
    return MappingInferenceError(obstacles: found + obstacles, skeleton: skeleton)
  }

  private func obstacle(_ index: Int, _ reason: String, suggestion: String) -> MappingObstacle {
    let mapping = search.mappings[index].entityMappings.first
    return MappingObstacle(
      kind: .invalidMapping, entity: mapping?.sourceEntityName ?? mapping?.destinationEntityName ?? "", reason: reason,
      suggestion: suggestion)
  }
}
