import HeirloomModel

/// The list of a to-many relationship that code edits in place.
///
/// After an edit that only appended objects, the list stays open in the context, and the next edit
/// links only the appended objects. Reading or comparing the whole list each time would take a time
/// proportional to its length. Other changes are looked for when the list is closed: before
/// anything else reads or changes links at the same place, and before the context fetches, deletes
/// or saves.
final class OpenList {
  /// A shorter list is quick to read again.
  static let leastCount: Int = 16
  static let limit: Int = 64

  let owner: ManagedObject
  let name: String
  @exclusivity(unchecked) var objects: [ManagedObject] = []
  /// `nil` if the list has to be set as a whole.
  var relationship: PlannedRelationship?
  var positions: [ManagedObject: Int] = [:]
  /// Only if the relationship is ordered by a column.
  var lastPlace: Int64 = OrderedPlace.first - OrderedPlace.step
  var state: [SQLiteValue]?
  var accesses: Int = 0
  var isFresh: Bool = true

  init(of owner: ManagedObject, _ name: String) {
    (self.owner, self.name) = (owner, name)
  }

  func beginsAsLinked() -> Bool {
    objects.count >= positions.count
      && zip(objects, 0..<positions.count).allSatisfy { object, position in positions[object] == position }
  }

  /// Sets the list as a whole if an edit changed more than its end; returns true if none did.
  func close() -> Bool {
    guard objects.count != positions.count || !beginsAsLinked() else { return true }
    set()
    return false
  }

  func set() {
    owner.deferring { () throws(ManagedObjectError) in try owner.setObjects(objects, forRelationship: name) }
  }
}

extension ManagedObjectContext {
  /// Differs after any write to the store; `nil` if it can't be read.
  ///
  /// The first counts the changes of the store's connection; the second changes with commits of
  /// other connections.
  func writtenState() -> [SQLiteValue]? {
    try? store.statements.withStatement("PRAGMA \(quote(store.database)).data_version") { row throws(SQLiteError) in
      try row.step() ? [.integer(store.connection.totalChanges), row.value(at: 0)] : nil
    }
  }

  func takeList(of owner: ManagedObject, _ name: String) -> OpenList? {
    openLists.firstIndex { $0.owner === owner && $0.name == name }.map { openLists.remove(at: $0) }
  }

  /// Called before links are read or changed; without a relationship, closes all lists.
  ///
  /// Returns true if no edit had changed more than the end of its list.
  @discardableResult
  func closeLists(of relationship: PlannedRelationship? = nil) -> Bool {
    linkAccesses &+= 1
    return openLists.isEmpty || close(at: relationship?.linkPlace)
  }

  @inline(never)
  private func close(at place: String?) -> Bool {
    func isClosed(_ list: OpenList) -> Bool { place == nil || list.relationship?.linkPlace == place }
    let closed = openLists.filter(isClosed)
    guard !closed.isEmpty else { return true }
    openLists.removeAll(where: isClosed)
    return closed.reduce(true) { $1.close() && $0 }
  }
}

extension ManagedObject {
  /// A list that can't be read is empty, and the next save throws the error.
  func beginEdit(ofList name: String) -> OpenList {
    let context = context
    let new = OpenList(of: self, name)
    guard !isStreaming, let relationship = plan.relationship(name), relationship.description.isToMany else {
      new.objects = self[toMany: name]
      return new
    }
    let state = context.writtenState()
    if let list = context.takeList(of: self, name) {
      list.accesses = context.linkAccesses
      if state != nil, list.state == state { return list }
      _ = list.close()
    }
    new.state = state
    deferring { () throws(ManagedObjectError) in try read(new, relationship) }
    new.accesses = context.linkAccesses
    return new
  }

  private func read(_ list: OpenList, _ relationship: PlannedRelationship) throws(ManagedObjectError) {
    let context = try openContext()
    switch relationship.storage {
    case .key:
      throw unknown(relationship.name)
    case .inverseKey(let table, let column, _, let orderColumn),
      .inverselessKey(let table, let column, let orderColumn):
      let members = try context.members(
        of: self, table: table, keyColumn: column, orderColumn: orderColumn)
      list.objects = members.map(\.object)
      for member in members where orderColumn != nil {
        // Unless the places ascend, all members get new ones.
        guard let place = member.place, place > list.lastPlace else { return }
        list.lastPlace = place
      }
    case .join:
      list.objects = try linkedObjects(relationship.name, relationship, context)
    }
    guard list.objects.count >= OpenList.leastCount, list.state != nil, (try? checkChangeable()) != nil,
      list.objects.allSatisfy({ (try? check($0, for: relationship)) != nil })
    else { return }
    list.positions = Dictionary(zip(list.objects, 0...)) { first, _ in first }
    if list.positions.count == list.objects.count { list.relationship = relationship }
  }

  func endEdit(_ list: OpenList) {
    let context = context
    guard let relationship = list.relationship, context.linkAccesses == list.accesses,
      context.openLists.count < OpenList.limit || context.closeLists(), append(list, relationship)
    else { return list.set() }
    list.isFresh = false
    // An enclosing edit must notice this one.
    context.linkAccesses &+= 1
    context.openLists.append(list)
  }

  /// Returns false, and links nothing, if it isn't certain that this is enough.
  private func append(_ list: OpenList, _ relationship: PlannedRelationship) -> Bool {
    let context = context
    let count = list.positions.count
    let added = list.objects.dropFirst(count)
    guard !added.isEmpty, list.positions[list.objects[count - 1]] == count - 1,
      !list.isFresh || list.beginsAsLinked(), Set(added).count == added.count,
      added.allSatisfy({ list.positions[$0] == nil && isUnlinked($0, relationship) }),
      (Int64.max - list.lastPlace) / OrderedPlace.step > added.count
    else { return false }
    switch relationship.storage {
    case .key:
      return false
    case .inverseKey(let table, let column, _, let orderColumn),
      .inverselessKey(let table, let column, let orderColumn):
      // A saved object may move here from another open list.
      if added.contains(where: { !$0.isNew }), !context.closeLists(of: relationship) { return false }
      for object in added {
        context.setReference(to: self, column: column, of: object)
        guard let orderColumn else { continue }
        list.lastPlace = OrderedPlace.after(list.lastPlace)
        object.setPlace(list.lastPlace, orderColumn)
        context.noteChange(of: object)
      }
      if let orderColumn { context.forgetPlaces(table: table, orderColumn: orderColumn, owner: self) }
      context.noteChange(of: self)
    case .join:
      if let inverse = relationship.inverse {
        for object in added {
          if let other = context.takeList(of: object, inverse.name), !other.close() { return false }
        }
      }
      for object in added { link(object, relationship, context, isLast: true) }
      if relationship.storage.orderColumn != nil, linkChanges[relationship.name]?.list == nil {
        linkChanges[relationship.name, default: PendingLinks()].list = list.objects
      }
    }
    for (object, position) in zip(added, count...) { list.positions[object] = position }
    return true
  }

  /// Linking an object that a list doesn't contain is certain to append it.
  private func isUnlinked(_ object: ManagedObject, _ relationship: PlannedRelationship) -> Bool {
    guard (try? check(object, for: relationship)) != nil else { return false }
    switch relationship.storage {
    case .key: return false
    case .inverseKey(_, let column, _, _), .inverselessKey(_, let column, _):
      return object.plan.slot(ofColumn: column).map { object.pendingValue($0).isUnchanged } ?? false
    case .join: return linkChanges[relationship.name]?.removed.contains(object) != true
    }
  }
}
