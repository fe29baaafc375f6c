package import HeirloomFormats
import HeirloomMapping
package import HeirloomMigration
package import HeirloomModel

extension ModelHistory {
  var hasDecisions: Bool { !(lock?.namedDecisions ?? []).isEmpty }

  /// Under the names that the destination has.
  package func standingDecisions(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [DataDecision]
  {
    let decisions = lock?.namedDecisions ?? []
    guard !decisions.isEmpty, let (first, last) = nearestNames(of: source, destination) else { return [] }
    let between = namedVersionsBetween(first, and: last)
    let names = [first] + between.map(\.name) + [last]
    let models = [source] + between.map(\.model) + [destination]
    let trail = LossTrail(through: models, losses: [])
    return decisions.compactMap { decision in
      guard let place = names.dropFirst().firstIndex(of: decision.step.destination),
        isAsLocked(decision.step.destination, models[place]),
        let choice = DataDecision.Choice(decision),
        let now = trail.lastNames(of: decision.properties, of: decision.entity, in: place)
      else { return nil }
      return DataDecision(entity: now.entity, constraint: now.properties, choice)
    }
  }

  /// Under the names that each step's destination has.
  package var standingExpressions: [DataDecision] {
    (lock?.namedDecisions ?? []).filter { $0.choice == VersionLock.Decision.computed }.compactMap { decision in
      DataDecision.Choice(decision).map { DataDecision(entity: decision.entity, constraint: decision.properties, $0) }
    }
  }

  /// The source comes before the destination; of consecutive destinations with equal hashes, the
  /// last.
  private func nearestNames(of source: ManagedObjectModel, _ destination: ManagedObjectModel) -> (String, String)? {
    let order = versionNames
    func places(_ model: ManagedObjectModel) -> [Int] { names(of: model).compactMap(order.firstIndex) }
    let ends =
      places(destination) + (destination == current ? [order.firstIndex(of: currentName)].compactMap(\.self) : [])
    let pairs = places(source).flatMap { start in ends.filter { $0 > start }.map { (start, $0) } }
    guard let (start, end) = pairs.min(by: { $0.1 - $0.0 < $1.1 - $1.0 }) else { return nil }
    let row = order[end...].indices.prefix { ends.contains($0) }
    return (order[start], order[row.last ?? end])
  }
}

extension DataDecision.Choice {
  fileprivate init?(_ decision: VersionLock.Decision) {
    switch DataDecision.Option(rawValue: decision.choice) {
    case .fill:
      guard let value = decision.value else { return nil }
      self = .fill(value)
    case .new:
      guard case .string(let entity)? = decision.value else { return nil }
      self = .link(newObjectOf: entity)
    case .newest: self = .keepNewest(by: decision.age)
    case .merge: self = .merge(by: decision.age)
    case .quarantine: self = .quarantine
    case nil:
      guard decision.choice == VersionLock.Decision.computed, case .string(let expression)? = decision.value else {
        return nil
      }
      self = .compute(expression)
    }
  }
}

extension VersionLock.Decision {
  package init(_ decision: DataDecision, at step: VersionLock.Step) {
    var (choice, value) = (decision.choice.option.rawValue, nil as AttributeValue?)
    switch decision.choice {
    case .fill(let given): value = given
    case .compute(let expression): (choice, value) = (Self.computed, .string(expression))
    case .link(let entity): value = .string(entity)
    case .keepNewest, .merge, .quarantine: break
    }
    self.init(
      step: step, entity: decision.entity, properties: decision.properties, choice: choice, value: value,
      age: decision.choice.age)
  }
}
