import Heirloom
import HeirloomOutput

extension CheckedHistory {
  /// With the entity and property names of the step's later version.
  private struct Fitting {
    let source: Version
    let destination: Version
    let decision: DataDecision
  }

  /// Matches each decision to the steps that have rows for it.
  ///
  /// A step that is decided already keeps its decision if another matching step is undecided,
  /// because it may have been shipped. Names may be those of a step's later version or of the last
  /// version. Throws `UsageError` if no step has such rows, or if the decision can't be carried out
  /// there.
  func decisions(_ decided: [DataDecision], mappings: GivenMappings) throws(UsageError) -> [VersionLock.Decision] {
    guard !decided.isEmpty else { return [] }
    let versions = migratedVersions
    let steps = zip(versions, versions.dropFirst()).map { source, destination in
      let path = try? LossReview.path(through: [source, destination], mappings)
      let obstacles = MappingInference(from: source.model, to: destination.model).obstacles
      return (
        source: source, destination: destination,
        effects: (path?.effects ?? []).filter { $0.kind.severity == .blocker }, obstacles: obstacles
      )
    }
    let trail = LossTrail(through: versions.map(\.model), losses: [])
    var decisions: [VersionLock.Decision] = []
    for decision in decided {
      let fitting = steps.enumerated().compactMap { place, step -> Fitting? in
        let answered = step.effects.map { decision.at($0.entity, $0.properties) }.filter { answer in
          step.effects.contains { $0.isAnswered(by: answer) }
        }
        // A second decision about the attribute may apply to rows for which the expression has no
        // value.
        let computed = mappings.decisions(step.source.model, step.destination.model).filter {
          $0.isComputed && $0.isAboutNewAttribute(from: step.source.model, to: step.destination.model)
        }
        let besides = [.fill, .quarantine].contains(decision.choice.option) ? computed : []
        let converted = decision.isComputed ? step.obstacles.filter { $0.kind == .incompatibleTypes } : []
        let places =
          answered + besides.map { decision.at($0.entity, $0.properties) }
          + converted.map { decision.at($0.entity, [$0.property].compactMap(\.self)) }
        let named =
          places.first { $0.isAtPlace(of: decision) }
          ?? places.first { trail.isNamed($0, as: decision, in: place + 1) }
        return named.map { Fitting(source: step.source, destination: step.destination, decision: $0) }
      }
      if fitting.isEmpty {
        for (place, obstacle) in steps.enumerated().flatMap({ place, step in step.obstacles.map { (place, $0) } }) {
          let about = decision.at(obstacle.entity, [obstacle.property].compactMap(\.self))
          guard about.isAtPlace(of: decision) || trail.isNamed(about, as: decision, in: place + 1) else { continue }
          throw .invalidValue(
            option: DecisionArgument.option, value: "\(decision)",
            expected: (obstacle.optionText.map { "an expression for each value, such as \($0)" } ?? "a mapping model")
              + ", since the step can't be inferred")
        }
        let places = Set(steps.flatMap(\.effects).map { "\($0.entity).\($0.properties.joined(separator: ","))" })
        throw .invalidValue(
          option: DecisionArgument.option, value: "\(decision)",
          expected: places.isEmpty
            ? steps.allSatisfy(\.obstacles.isEmpty)
              ? "nothing: every row fits the next version"
              : "nothing there: a step can't be inferred for another reason"
            : "a choice for one of \(listText(places.ordered()))")
      }
      if decision.isComputed,
        !fitting.contains(where: { $0.decision.mayCompute(from: $0.source.model, to: $0.destination.model) })
      {
        throw .invalidValue(
          option: DecisionArgument.option, value: "\(decision)",
          expected:
            "an expression over properties that all objects of \"\(decision.entity)\" have in the version before")
      }
      if decision.choice.option == .new,
        let reason = fitting.compactMap({ $0.decision.objection(in: $0.destination.model) }).first
      {
        throw .invalidValue(
          option: DecisionArgument.option, value: "\(decision)",
          expected: "an entity of which an object can be made there, but \(reason)")
      }
      let undecided = fitting.filter { !isDecided($0) }
      decisions += (undecided.isEmpty ? Array(fitting.suffix(1)) : undecided).map {
        VersionLock.Decision(
          $0.decision, at: VersionLock.Step(source: $0.source.name, destination: $0.destination.name))
      }
    }
    return decisions
  }

  private func isDecided(_ fitting: Fitting) -> Bool {
    let standing = history?.standingDecisions(from: fitting.source.model, to: fitting.destination.model) ?? []
    let isMistaken = standing.contains {
      $0.isAtPlace(of: fitting.decision) && $0.mistake(in: fitting.destination.model) != nil
    }
    return !isMistaken
      && (lock?.content.namedDecisions ?? []).contains { known in
        known.step == VersionLock.Step(source: fitting.source.name, destination: fitting.destination.name)
          && known.entity == fitting.decision.entity && Set(known.properties) == Set(fitting.decision.properties)
          && (known.choice == VersionLock.Decision.computed) == fitting.decision.isComputed
      }
  }
}

extension LossTrail {
  /// `later` uses the last version's names.
  fileprivate func isNamed(_ decision: DataDecision, as later: DataDecision, in version: Int) -> Bool {
    lastNames(of: decision.properties, of: decision.entity, in: version).map {
      later.isAtPlace(of: decision.at($0.entity, $0.properties))
    } ?? false
  }
}

extension DataDecision {
  fileprivate func at(_ entity: String, _ properties: [String]) -> DataDecision {
    DataDecision(entity: entity, constraint: properties, choice)
  }

  /// True if the expression can have a value for some or, if the attribute is required, all mapped
  /// entities.
  fileprivate func mayCompute(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> Bool {
    let functions = MigrationAssistant.Configuration().policies.evaluatorFunctions
    let computable = MappingInference(from: source, to: destination).draft.entityMappings.compactMap { mapping in
      mapping.destinationEntityName.flatMap { name -> Bool? in
        guard let start = mapping.sourceEntityName, destination.isEntity(name, kindOf: entity),
          source.entity(named: start)?.isAbstract == false
        else { return nil }
        return canBeComputed(from: start, to: name, in: source, functions)
      }
    }
    // An optional attribute is left empty for entities without the properties that the expression
    // reads.
    let mayLack = destination.attributeTarget(properties.first ?? "", of: entity)?.isOptional ?? false
    return mayLack ? computable.contains(true) : !computable.isEmpty && !computable.contains(false)
  }
}
