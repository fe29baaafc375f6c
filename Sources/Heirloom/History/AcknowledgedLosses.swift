package import HeirloomFormats
package import HeirloomMapping
package import HeirloomModel
import HeirloomMigration

/// The losses that a lock acknowledges between two versions, by name and kind.
///
/// An entry without a kind covers the kinds of loss that inference finds under its name between the two models. If it
/// finds none, the entry was made for a given mapping or for a path over other versions, and covers the kinds that
/// occur there. If that mapping is code and loses nothing of that name, the entry is about content that the code
/// doesn't read.
package struct AcknowledgedLosses {
  private let entries: [VersionLock.Acknowledgement.Loss]
  private let inferred: [DataEffect]
  private let mapped: [DataEffect]
  private let hasCode: Bool

  /// `hasCode` is true if the mapping between the versions was given, and so may run code.
  package init(
    _ entries: [VersionLock.Acknowledgement.Loss], from source: ManagedObjectModel, to destination: ManagedObjectModel,
    mapped: [DataEffect] = [], hasCode: Bool = false
  ) {
    self.entries = entries
    self.hasCode = hasCode
    let needsKinds = entries.contains { $0.kind == nil }
    inferred = needsKinds ? MappingInference(from: source, to: destination).effects : []
    self.mapped = mapped
  }

  package func contains(_ name: String, _ kind: LossKind) -> Bool {
    entries.contains { entry in
      guard entry.covers(name) else { return false }
      return entry.kind.map { $0 == kind } ?? kinds(impliedBy: entry).contains(kind)
    }
  }

  package func contains(_ effect: DataEffect) -> Bool {
    effect.kind.lossKind.map { contains(effect.lossName, $0) } ?? false
  }

  private func kinds(impliedBy entry: VersionLock.Acknowledgement.Loss) -> Set<LossKind> {
    for effects in [inferred, mapped] {
      let kinds = Self.kinds(of: entry, among: effects)
      if !kinds.isEmpty { return kinds }
    }
    // A property has either values or links.
    return !hasCode ? [] : entry.name.contains(".") ? [.values, .links] : [.objects]
  }

  private static func kinds(
    of entry: VersionLock.Acknowledgement.Loss, among effects: [DataEffect]
  ) -> Set<LossKind> {
    Set(effects.filter { entry.covers($0.lossName) }.compactMap(\.kind.lossKind))
  }

  package static func kinds(
    impliedBy name: String, from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> Set<LossKind> {
    kinds(
      of: VersionLock.Acknowledgement.Loss(name: name, kind: nil),
      among: MappingInference(from: source, to: destination).effects)
  }
}

struct AcknowledgedTrail {
  let trail: LossTrail
  let hops: [AcknowledgedLosses]
  let direct: AcknowledgedLosses

  /// Acknowledged for the whole path, or at each hop that contributes to the loss.
  func acknowledges(_ loss: MigrationLoss) -> Bool { acknowledges(loss.kind, loss.property, of: loss.entity) }

  func acknowledges(_ effect: DataEffect) -> Bool {
    effect.kind.lossKind.map { acknowledges($0, effect.lossProperty, of: effect.entity) } ?? false
  }

  private func acknowledges(_ kind: LossKind, _ property: String?, of entity: String) -> Bool {
    if direct.contains(property.map { "\(entity).\($0)" } ?? entity, kind) { return true }
    let causes = trail.causes(of: kind, losing: property, of: entity)
    return !causes.isEmpty && causes.allSatisfy { hops[$0.hop].contains($0.effect) }
  }
}

extension ModelHistory {
  /// A version may have been shipped again after others, and a store may fit both: a loss is then
  /// consented to only if each path acknowledges it.
  ///
  /// Without `names`, every version with the source model may be the source. Returns at least one
  /// path.
  func lossTrails(
    from source: ManagedObjectModel, named names: [String] = [], to destination: ManagedObjectModel, isInferred: Bool,
    mapped: [DataEffect]
  ) -> [AcknowledgedTrail] {
    let order = versionNames
    let starts = acknowledgements.isEmpty ? [] : names.isEmpty ? self.names(of: source) : names
    // If the destination was shipped again, the longer path includes all causes of the shorter one.
    let last = destination == current ? currentName : self.names(of: destination).last
    guard let last, let end = order.firstIndex(of: last), !starts.isEmpty else {
      return [
        AcknowledgedTrail(
          trail: LossTrail(through: [], losses: []), hops: [],
          direct: AcknowledgedLosses([], from: source, to: destination))
      ]
    }
    // A later version with the same content did not create a store that migrates to this one.
    let earlier = starts.filter { name in order.firstIndex(of: name).map { $0 < end } ?? false }
    return (earlier.isEmpty ? starts : earlier).map { first in
      lossTrail(
        from: source, named: first, to: destination, named: last, isInferred: isInferred, mapped: mapped)
    }
  }

  /// If the lock assigns a hop to code, nothing is acknowledged for it without code; with code, its
  /// losses are unknown.
  private func lossTrail(
    from source: ManagedObjectModel, named first: String, to destination: ManagedObjectModel, named last: String,
    isInferred: Bool, mapped: [DataEffect]
  ) -> AcknowledgedTrail {
    let acknowledgements = acknowledgements
    let byCode = stepsByCode(from: first, to: last)
    func entries(
      _ earlier: Set<String>, _ source: ManagedObjectModel, _ later: Set<String>, _ destination: ManagedObjectModel
    ) -> [VersionLock.Acknowledgement.Loss] {
      acknowledgements.filter { earlier.contains($0.source) && later.contains($0.destination) }
        .filter { isAsLocked($0.source, source) && isAsLocked($0.destination, destination) }.flatMap(\.losses)
    }
    // Versions with the hashes of the last one can't be distinguished from it in a store.
    let all = namedVersionsBetween(first, and: last)
    let hashes = all.isEmpty ? [:] : destination.versionHashes()
    let ends = Set([last] + all.reversed().prefix { $0.model.versionHashes() == hashes }.map(\.name))
    let between = all.filter { !ends.contains($0.name) }
    let names = [first] + between.map(\.name) + [last]
    let models = [source] + between.map(\.model) + [destination]
    var losses: [[DataEffect]] = []
    var hops: [AcknowledgedLosses] = []
    for hop in models.indices.dropLast() {
      // The same holds for the first one: losses acknowledged for the last version with its hashes count for it.
      let earlier = hop == 0 ? twins(of: source, from: first, before: names[1]) : [names[hop]]
      let later = hop == models.count - 2 ? ends : [names[hop + 1]]
      let isByCode = byCode.contains { earlier.contains($0.source) && later.contains($0.destination) }
      let effects = MappingInference(from: models[hop], to: models[hop + 1]).settledEffects
      losses.append(isByCode && !isInferred ? [] : effects)
      hops.append(
        AcknowledgedLosses(
          isByCode && isInferred ? [] : entries(earlier, models[hop], later, models[hop + 1]),
          from: models[hop], to: models[hop + 1], mapped: models.count == 2 ? mapped : [],
          hasCode: models.count == 2 && !isInferred))
    }
    let isWithoutCode = isInferred && !byCode.isEmpty
    let direct = AcknowledgedLosses(
      isWithoutCode ? [] : entries([first], source, ends, destination), from: source, to: destination, mapped: mapped,
      hasCode: !isInferred)
    return AcknowledgedTrail(
      trail: LossTrail(through: models, losses: losses), hops: hops, direct: models.count == 2 ? hops[0] : direct)
  }

  /// Acknowledgements for another model of that name don't apply to this one.
  func isAsLocked(_ name: String, _ model: ManagedObjectModel) -> Bool {
    lock?.entry(named: name)?.editedEntities(in: model.versionHashes()) == nil
  }

  /// The versions with the model's hashes, from one of them up to, but without, a later version.
  private func twins(of model: ManagedObjectModel, from name: String, before later: String) -> Set<String> {
    let order = versionNames
    guard let start = order.firstIndex(of: name), let end = order.firstIndex(of: later), start < end else {
      return [name]
    }
    let hashes = model.versionHashes()
    return Set(order[start..<end].filter { $0 == name || (try? self.model(named: $0))?.versionHashes() == hashes })
  }
}
