import HeirloomModel
import HeirloomStore

/// The entities that a relationship's links may lead to, and which of them the destination still allows.
struct LinkTargets {
  /// The table of the source that holds the related objects.
  let sourceTable: String
  /// The routes of entities whose objects may still be related.
  let surviving: [EntityRoute]
  /// True when no object of another entity can be related.
  let isComplete: Bool
  /// The numbers of entities outside the relationship's tree whose objects are in its table and leave it.
  let strangers: [Int]
  /// True when the entity of a key's object has to be read in the object's own row; see ``Crossing/misleadingKeys``.
  let areReadByKey: Bool
  /// True when the destination's table draws from several tables of the source.
  ///
  /// Then a key that leads nowhere must not be taken over: it may be the new key of another object.
  let isMerged: Bool
  private let keys: KeyPlan
  private let roots: (source: String, destination: String)

  /// Compares the target entities of a source relationship with those of the destination's relationship.
  ///
  /// An entity without objects needs no condition.
  ///
  /// - Parameters:
  ///   - source: The relationship of the source.
  ///   - entity: The entity that has or inherits it.
  ///   - destination: The relationship of the destination.
  ///   - crossing: The source and the destination.
  init(
    from source: RelationshipDescription, of entity: String, to destination: RelationshipDescription,
    in crossing: Crossing
  ) {
    let (old, new, routing) = (crossing.source, crossing.destination.model, crossing.routing)
    let candidates = old.model.entityTree(from: source.destinationEntity)
    // A key means nothing in another table, so all targets must stay in the tree that the destination leads to.
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

  /// Returns the key of a surviving object as it is in the destination.
  func moved(_ key: String) -> String { keys.moved(key, from: roots.source, to: roots.destination) }

  /// True if objects of an entity in the source relationship's tree can't be related any more, should there be any.
  func isNarrowed(from source: RelationshipDescription, in model: ManagedObjectModel) -> Bool {
    model.entityTree(from: source.destinationEntity).count > surviving.count
  }

  /// The source numbers of surviving entities, with their destination numbers.
  var numbers: [Int: Int] {
    Dictionary(surviving.map { ($0.sourceNumber, $0.destinationNumber) }, uniquingKeysWith: { first, _ in first })
  }
}
