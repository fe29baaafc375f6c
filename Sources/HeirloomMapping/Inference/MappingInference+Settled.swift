import HeirloomModel

extension MappingInference {
  /// Without effects on properties that need a mapping, since it may keep their values.
  package var settledEffects: [DataEffect] {
    effects.filter { effect in !obstacles.contains { $0.isAbout(effect, from: source, to: destination) } }
  }
}

extension MappingObstacle {
  /// True if the lost property is the source of the one that needs a mapping.
  fileprivate func isAbout(
    _ effect: DataEffect, from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> Bool {
    guard let property, let lost = effect.lossProperty,
      let after = destination.entities.first(where: { $0.name == entity }),
      let before = source.entities.first(where: { $0.name == effect.entity }),
      before.name == after.name || before.canonicalIdentifier == after.canonicalIdentifier
    else { return false }
    let (old, new) = (
      source.attribute(named: lost, of: effect.entity)?.canonicalIdentifier,
      destination.attribute(named: property, of: entity)?.canonicalIdentifier
    )
    return property == lost || old != nil && old == new
  }
}
