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
  /// True when the destination's table draws from several tables of the source.
  ///
  /// Then a key that leads nowhere must not be taken over: it may be the new key of another object.
  let isMerged: Bool
  private let keys: KeyPlan
  private let roots: (source: String, destination: String)

  /// Compares the target entities of a source relationship with those of the destination's relationship.
  ///
  /// An entity without objects needs no condition.
  init(from source: RelationshipDescription, to destination: RelationshipDescription, in crossing: Crossing) {
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
    isComplete =
      !isMerged
      && candidates.allSatisfy {
        survivingNames.contains($0.name) || crossing.counts.byEntity[$0.name, default: 0] == 0
      }
    sourceTable = old.table(ofEntity: source.destinationEntity)?.name ?? ""
  }

  /// Returns the key of a surviving object as it is in the destination.
  func moved(_ key: String) -> String { keys.moved(key, from: roots.source, to: roots.destination) }

  /// The source numbers of surviving entities, with their destination numbers.
  var numbers: [Int: Int] {
    Dictionary(surviving.map { ($0.sourceNumber, $0.destinationNumber) }, uniquingKeysWith: { first, _ in first })
  }
}
