import HeirloomModel
import HeirloomStore

/// The entities that links may refer to, and those of them that the destination still allows.
struct LinkTargets {
  let sourceTable: String
  let surviving: [EntityRoute]
  /// True when no object of another entity can be related.
  let isComplete: Bool
  /// Numbers of entities outside the relationship's tree whose objects leave its table.
  let strangers: [Int]
  /// True when an object's entity has to be read from its own row; see ``Crossing/misleadingKeys``.
  let areReadByKey: Bool
  /// True when several tables of the source fill the destination's table.
  ///
  /// A dangling key must not be copied then: it may be the new key of another object.
  let isMerged: Bool
  private let keys: KeyPlan
  private let roots: (source: String, destination: String)

  /// `entity` has or inherits the source relationship.
  init(
    from source: RelationshipDescription, of entity: String, to destination: RelationshipDescription,
    in crossing: Crossing
  ) {
    let (old, new, routing) = (crossing.source, crossing.destination.model, crossing.routing)
    let candidates = old.model.entityTree(from: source.destinationEntity)
    // A key is valid in one table only: all targets must stay in the destination entity's tree.
    let root = new.rootEntity(of: destination.destinationEntity)?.name
    surviving = candidates.compactMap { routing.bySource[$0.name] }.filter {
      new.isEntity($0.destination, kindOf: destination.destinationEntity)
        && new.rootEntity(of: $0.destination)?.name == root
    }
    isMerged = root.map { routing.sourceRoots(ofTree: $0).count > 1 } ?? false
    keys = routing.keys
    roots = (old.model.rootEntity(of: source.destinationEntity)?.name ?? "", root ?? "")
    let survivingNames = Set(surviving.map(\.source))
    let names = Set(candidates.map(\.name))
    strangers = old.model.entityTree(from: roots.source).compactMap { other in
      guard !names.contains(other.name), crossing.counts.byEntity[other.name, default: 0] > 0 else { return nil }
      let stays = routing.bySource[other.name].map { new.rootEntity(of: $0.destination)?.name == root } ?? false
      return stays ? nil : old.entity(named: other.name)?.number
    }
    areReadByKey =
      isMerged || old.storage(ofRelationship: source.name, in: entity).map(crossing.misleadingKeys.contains) ?? false
    isComplete =
      !areReadByKey
      && candidates.allSatisfy {
        survivingNames.contains($0.name) || crossing.counts.byEntity[$0.name, default: 0] == 0
      }
    sourceTable = old.table(ofEntity: source.destinationEntity)?.name ?? ""
  }

  func moved(_ key: String) -> String { keys.moved(key, from: roots.source, to: roots.destination) }

  func isNarrowed(from source: RelationshipDescription, in model: ManagedObjectModel) -> Bool {
    model.entityTree(from: source.destinationEntity).count > surviving.count
  }

  var numbers: [Int: Int] {
    Dictionary(surviving.map { ($0.sourceNumber, $0.destinationNumber) }, uniquingKeysWith: { first, _ in first })
  }
}
