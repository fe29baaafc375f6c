import HeirloomMapping
import HeirloomModel

final class DifferenceBuilder {
  let inference: MappingInference
  let flows: RowFlows
  private var changes: [ModelChange] = []
  private var known: Set<ModelChange> = []

  init(inference: MappingInference) {
    self.inference = inference
    flows = RowFlows(of: inference.draft.entityMappings, from: inference.source, to: inference.destination)
  }

  var correspondence: ModelCorrespondence { inference.correspondence }
  var source: ManagedObjectModel { inference.source }
  var destination: ManagedObjectModel { inference.destination }

  func build() -> [ModelChange] {
    addModelChanges()
    let ambiguous = correspondence.entityAmbiguities
    for entity in destination.entities {
      if let pair = correspondence.pair(ofDestination: entity.name) {
        addEntityChanges(of: pair)
      } else {
        let isRefused = ambiguous.contains { $0.destinations.contains(entity.name) }
        add(.entityAdded, entity.name, effect: isRefused ? .refused : .nothing, isHashed: true)
      }
      addProperties(of: entity)
    }
    for entity in source.entities {
      if correspondence.pair(ofSource: entity.name) == nil {
        let isRefused = ambiguous.contains { $0.sources.contains(entity.name) }
        let effect: ModelChange.Effect = entity.isAbstract ? .nothing : .dropped
        add(.entityRemoved, entity.name, effect: isRefused ? .refused : effect, isHashed: true)
      }
      addRemovedProperties(of: entity)
    }
    return changes.enumerated().ordered { left, right in
      if left.element.sortKey != right.element.sortKey {
        return left.element.sortKey.utf16Precedes(right.element.sortKey)
      }
      let positions = (ModelChange.Kind.positions[left.element.kind], ModelChange.Kind.positions[right.element.kind])
      return positions.0 == positions.1 ? left.offset < right.offset : (positions.0 ?? 0) < (positions.1 ?? 0)
    }.map(\.element)
  }

  func add(
    _ kind: ModelChange.Kind, _ entity: String?, _ property: String? = nil, before: String? = nil, after: String? = nil,
    effect: ModelChange.Effect = .nothing, isHashed: Bool = false
  ) {
    let change = ModelChange(
      kind, entity: entity, property: property, before: before, after: after, effect: effect, isHashed: isHashed)
    // A property that comes from several entities may have the same change for each.
    if known.insert(change).inserted { changes.append(change) }
  }

  /// The change has no effect on rows.
  func compare<Value: Equatable>(
    _ kind: ModelChange.Kind, _ entity: String?, _ property: String?, _ before: Value, _ after: Value,
    isHashed: Bool = false, text: (Value) -> String? = { _ in nil }
  ) {
    guard before != after else { return }
    add(kind, entity, property, before: text(before), after: text(after), isHashed: isHashed)
  }

  // MARK: - The model

  private func addModelChanges() {
    compare(.versionIdentifiersChanged, nil, nil, source.versionIdentifiers, destination.versionIdentifiers) {
      $0.isEmpty ? nil : $0.joined(separator: ", ")
    }
    let configurations = (old: source.configurations, new: destination.configurations)
    for configuration in configurations.new {
      guard let old = configurations.old.first(where: { $0.name == configuration.name }) else {
        add(.configurationAdded, nil, configuration.name, after: configuration.entityNames.joined(separator: ", "))
        continue
      }
      compare(.configurationChanged, nil, configuration.name, old.entityNames, configuration.entityNames) {
        $0.joined(separator: ", ")
      }
    }
    for old in configurations.old where !configurations.new.contains(where: { $0.name == old.name }) {
      add(.configurationRemoved, nil, old.name)
    }
    let requests = (old: source.fetchRequestTemplates, new: destination.fetchRequestTemplates)
    for request in requests.new {
      guard let old = requests.old.first(where: { $0.name == request.name }) else {
        add(.fetchRequestAdded, nil, request.name)
        continue
      }
      compare(.fetchRequestChanged, nil, request.name, old, request)
    }
    for old in requests.old where !requests.new.contains(where: { $0.name == old.name }) {
      add(.fetchRequestRemoved, nil, old.name)
    }
  }

  // MARK: - Entities

  private func addEntityChanges(of pair: EntityCorrespondence) {
    let (old, new) = (pair.source, pair.destination)
    let name = new.name
    if old.name != name { add(.entityRenamed, name, before: old.name, after: name, effect: .kept, isHashed: true) }
    let oldParent = old.superentity.flatMap { correspondence.pair(ofSource: $0)?.destination.name }
    if (old.superentity == nil) != (new.superentity == nil) || oldParent != new.superentity {
      let isRefused = inference.obstacles.contains {
        $0.kind == .mergedHierarchies && $0.entity == destination.rootEntity(of: name)?.name
      }
      add(
        .parentChanged, name, before: old.superentity ?? "none", after: new.superentity ?? "none",
        effect: isRefused ? .refused : .kept, isHashed: true)
    }
    if !old.isAbstract && new.isAbstract { add(.becameAbstract, name, effect: .rowsDecide, isHashed: true) }
    if old.isAbstract && !new.isAbstract { add(.becameConcrete, name, isHashed: true) }
    addConstraints(of: pair)
    addIndexes(of: pair)
    compare(.entityClassChanged, name, nil, old.managedObjectClassName, new.managedObjectClassName) { $0 }
    compare(
      .spotlightNameChanged, name, nil, old.coreSpotlightDisplayNameExpression, new.coreSpotlightDisplayNameExpression)
    // Only model sources contain the code generation setting.
    if let before = old.codeGenerationType, let after = new.codeGenerationType {
      compare(.codeGenerationChanged, name, nil, before, after) { $0 }
    }
    compare(.hashModifierChanged, name, nil, old.versionHashModifier, new.versionHashModifier, isHashed: true) { $0 }
    compare(.renamingIdentifierChanged, name, nil, old.renamingIdentifier, new.renamingIdentifier) { $0 }
    compare(.userInfoChanged, name, nil, old.userInfo, new.userInfo)
  }

  private func addConstraints(of pair: EntityCorrespondence) {
    let old = pair.source.uniquenessConstraints.map { $0.joined(separator: ", ") }
    let new = pair.destination.uniquenessConstraints.map { $0.joined(separator: ", ") }
    let name = pair.destination.name
    for constraint in pair.destination.uniquenessConstraints {
      let text = constraint.joined(separator: ", ")
      guard !old.contains(text) else { continue }
      let needsProof = inference.effects.contains {
        $0.kind == .duplicate && $0.entity == name && $0.properties == constraint
      }
      add(.constraintAdded, name, after: text, effect: needsProof ? .rowsDecide : .kept, isHashed: true)
    }
    for constraint in old where !new.contains(constraint) {
      add(.constraintRemoved, name, before: constraint, isHashed: true)
    }
  }

  private func addIndexes(of pair: EntityCorrespondence) {
    let name = pair.destination.name
    for index in pair.destination.indexes {
      guard let old = pair.source.indexes.first(where: { $0.name == index.name }) else {
        add(.indexAdded, name, after: index.name)
        continue
      }
      if old != index { add(.indexChanged, name, after: index.name) }
    }
    for old in pair.source.indexes where !pair.destination.indexes.contains(where: { $0.name == old.name }) {
      add(.indexRemoved, name, before: old.name)
    }
  }
}

extension ModelChange {
  fileprivate var sortKey: [String] { [entity ?? "", property ?? ""] }
}

extension ModelChange.Kind {
  fileprivate static let positions: [ModelChange.Kind: Int] = Dictionary(
    uniqueKeysWithValues: allCases.enumerated().map { ($1, $0) })
}
