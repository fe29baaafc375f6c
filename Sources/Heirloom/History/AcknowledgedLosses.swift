package import HeirloomFormats
package import HeirloomMapping
package import HeirloomModel
import HeirloomMigration

/// The losses that a lock acknowledges between two versions, by name and kind.
///
/// An entry without a kind takes the kinds of the losses of its name that inference finds between the two models. If it
/// finds none, the entry was made with a mapping that was given, or with a path over other versions, and takes the
/// kinds of that. If that has none either and is the app's code, the entry is about content that the code doesn't read.
package struct AcknowledgedLosses {
  private let entries: [VersionLock.Acknowledgement.Loss]
  private let inferred: [DataEffect]
  private let mapped: [DataEffect]
  private let hasCode: Bool

  /// Creates the losses between two versions.
  ///
  /// - Parameters:
  ///   - entries: What the lock acknowledges.
  ///   - source: The source version's model.
  ///   - destination: The destination version's model.
  ///   - mapped: The effects of the mapping between them.
  ///   - hasCode: True if that mapping was given, so that code may be part of it.
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

  /// Returns true if a loss of a kind is acknowledged.
  package func contains(_ name: String, _ kind: LossKind) -> Bool {
    entries.contains { entry in
      guard entry.covers(name) else { return false }
      return entry.kind.map { $0 == kind } ?? kinds(impliedBy: entry).contains(kind)
    }
  }

  /// Returns true if a possible loss is acknowledged.
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

  /// Returns the kinds that an entry of a name takes if it has none.
  package static func kinds(
    impliedBy name: String, from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> Set<LossKind> {
    kinds(
      of: VersionLock.Acknowledgement.Loss(name: name, kind: nil),
      among: MappingInference(from: source, to: destination).effects)
  }
}

/// A path through versions with the losses that were acknowledged for its hops.
struct AcknowledgedTrail {
  let trail: LossTrail
  /// The acknowledged losses of each hop.
  let hops: [AcknowledgedLosses]
  /// The losses that are acknowledged for the whole path.
  let direct: AcknowledgedLosses

  /// Returns true for a loss that is acknowledged for the whole path, or at each hop that loses something of it.
  func acknowledges(_ loss: MigrationLoss) -> Bool { acknowledges(loss.kind, loss.property, of: loss.entity) }

  /// Returns true for a possible loss that is acknowledged for the whole path, or at each hop that loses some of it.
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
  /// Returns the ways from one model to another through the versions, with the losses that the lock acknowledges for
  /// each hop.
  ///
  /// A version may have been shipped again after others, and a store may fit both. Then a loss is consented to only if
  /// the way of each acknowledges it.
  ///
  /// - Parameters:
  ///   - source: A model of the history.
  ///   - names: The names of the versions that may be the source; none for all that the model may be of.
  ///   - destination: A later model of the history.
  ///   - isInferred: True if no code and no given mapping is part of the path.
  ///   - mapped: The effects of the path's mapping.
  /// - Returns: At least one way; it acknowledges nothing if the lock doesn't.
  func lossTrails(
    from source: ManagedObjectModel, named names: [String] = [], to destination: ManagedObjectModel, isInferred: Bool,
    mapped: [DataEffect]
  ) -> [AcknowledgedTrail] {
    let order = versionNames
    let starts = acknowledgements.isEmpty ? [] : names.isEmpty ? self.names(of: source) : names
    // Where the destination was shipped again, the longer way has all causes of the shorter one.
    let last = destination == current ? currentName : self.names(of: destination).last
    guard let last, let end = order.firstIndex(of: last), !starts.isEmpty else {
      return [
        AcknowledgedTrail(
          trail: LossTrail(through: [], losses: []), hops: [],
          direct: AcknowledgedLosses([], from: source, to: destination))
      ]
    }
    // A later version with the same content didn't make the store that goes to this one.
    let earlier = starts.filter { name in order.firstIndex(of: name).map { $0 < end } ?? false }
    return (earlier.isEmpty ? starts : earlier).map { first in
      lossTrail(
        from: source, named: first, to: destination, named: last, isInferred: isInferred, mapped: mapped)
    }
  }

  /// Returns the way from one version to another.
  ///
  /// A step that the lock leaves to code has none without code; with code, its losses are not known.
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
    // Versions with the hashes of the last one are the last one to a store.
    let all = namedVersionsBetween(first, and: last)
    let hashes = all.isEmpty ? [:] : destination.versionHashes()
    let ends = Set([last] + all.reversed().prefix { $0.model.versionHashes() == hashes }.map(\.name))
    let between = all.filter { !ends.contains($0.name) }
    let names = [first] + between.map(\.name) + [last]
    let models = [source] + between.map(\.model) + [destination]
    var losses: [[DataEffect]] = []
    var hops: [AcknowledgedLosses] = []
    for hop in models.indices.dropLast() {
      // A store can't tell versions of equal hashes apart: losses acknowledged for the last of them count for the first.
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

  /// Returns true unless the lock notes another model for a version: what it acknowledges there is not this one's.
  func isAsLocked(_ name: String, _ model: ManagedObjectModel) -> Bool {
    lock?.entry(named: name)?.editedEntities(in: model.versionHashes()) == nil
  }

  /// Returns the names of the versions from one of them to a later one, which they leave out, that have its hashes.
  private func twins(of model: ManagedObjectModel, from name: String, before later: String) -> Set<String> {
    let order = versionNames
    guard let start = order.firstIndex(of: name), let end = order.firstIndex(of: later), start < end else {
      return [name]
    }
    let hashes = model.versionHashes()
    return Set(order[start..<end].filter { $0 == name || (try? self.model(named: $0))?.versionHashes() == hashes })
  }
}
