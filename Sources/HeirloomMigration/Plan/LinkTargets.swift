import HeirloomModel
import HeirloomStore

/// The entities that a relationship's links may lead to, and which of them the destination still allows.
struct LinkTargets {
  /// The table of the source that holds the related objects.
  let sourceTable: String
  /// The routes of entities whose objects may still be related.
  let surviving: [EntityRoute]
  /// Whether no object of another entity can be related.
  let isComplete: Bool
  /// Whether the destination's table draws from several of the source.
  ///
  /// A key that leads nowhere must not be taken over then: it may be the new key of another object.
  let isMerged: Bool
  private let keys: KeyPlan
  private let roots: (source: String, destination: String)

  /// Compares what a source relationship leads to with what the destination's leads to.
  ///
  /// `counts` are the objects of each source entity; one without objects needs no condition.
  init(
    from source: RelationshipDescription, to destination: RelationshipDescription, routing: EntityRouting,
    source sourceSchema: PhysicalSchema, destination destinationSchema: PhysicalSchema, counts: [String: Int64]
  ) {
    let candidates = sourceSchema.model.entityTree(from: source.destinationEntity)
    // A key means nothing in another table, so all targets must stay in the tree that the destination leads to.
    let root = destinationSchema.model.rootEntity(of: destination.destinationEntity)?.name
    surviving = candidates.compactMap { routing.bySource[$0.name] }.filter {
      destinationSchema.model.isEntity($0.destination, kindOf: destination.destinationEntity)
        && destinationSchema.model.rootEntity(of: $0.destination)?.name == root
    }
    isMerged = root.map { routing.sourceRoots(ofTree: $0).count > 1 } ?? false
    keys = routing.keys
    roots = (sourceSchema.model.rootEntity(of: source.destinationEntity)?.name ?? "", root ?? "")
    let survivingNames = Set(surviving.map(\.source))
    isComplete =
      !isMerged
      && candidates.allSatisfy { survivingNames.contains($0.name) || counts[$0.name, default: 0] == 0 }
    sourceTable = sourceSchema.table(ofEntity: source.destinationEntity)?.name ?? ""
  }

  /// Returns the key of a surviving object as it is in the destination.
  func moved(_ key: String) -> String { keys.moved(key, from: roots.source, to: roots.destination) }

  /// Source numbers of surviving entities and what they become.
  var numbers: [Int: Int] {
    Dictionary(surviving.map { ($0.sourceNumber, $0.destinationNumber) }, uniquingKeysWith: { first, _ in first })
  }
}
