import HeirloomModel

extension ManagedObject {
  // MARK: To-one

  /// Returns the destination of a to-one relationship.
  ///
  /// - Parameter name: The relationship's name.
  /// - Returns: `nil` if there is none, or if its row doesn't exist.
  /// - Throws: ``ManagedObjectError``.
  public func object(forRelationship name: String) throws(ManagedObjectError) -> ManagedObject? {
    let relationship = try relationship(name, isToMany: false)
    noteRead(relationship: name)
    return try object(along: relationship)
  }

  private func object(along relationship: PlannedRelationship) throws(ManagedObjectError) -> ManagedObject? {
    let context = try openContext()
    guard relationship.slot >= 0 else { throw unknown(relationship.description.name) }
    context.closeLists(of: relationship)
    if let object = pendingReference(relationship.slot) { return object.isDeleted ? nil : object }
    guard case .integer(let key) = try storedValue(relationship.slot) else { return nil }
    let object = try context.object(inTreeOf: relationship.description.destinationEntity, key: key)
    return object?.isDeleted == true ? nil : object
  }

  /// Sets the destination of a to-one relationship and updates the inverse.
  ///
  /// - Parameters:
  ///   - object: The destination; `nil` for none.
  ///   - name: The relationship's name.
  /// - Throws: ``ManagedObjectError`` if the object can't be a destination of the relationship.
  public func setObject(_ object: ManagedObject?, forRelationship name: String) throws(ManagedObjectError) {
    try checkChangeable()
    if isStreaming, setPlainKey(name, to: object) { return }
    let relationship = try relationship(name, isToMany: false)
    if let object { try check(object, for: relationship) }
    let context = context
    context.closeLists(of: relationship)
    guard case .key(_, let column, _) = relationship.storage else { throw unknown(name) }
    switch relationship.inverse?.storage {
    case .key(_, let inverseColumn, _):
      let old = try self.object(along: relationship)
      if old === object { return }
      if let old { context.setReference(to: nil, column: inverseColumn, of: old) }
      if let object, let inverse = relationship.inverse {
        if let other = try object.relatedObjects(byRelationship: inverse.name).first, other !== self {
          context.setReference(to: nil, column: column, of: other)
        }
        context.setReference(to: self, column: inverseColumn, of: object)
      }
      context.setReference(to: object, column: column, of: self)
    case .inverseKey(let table, _, _, let orderColumn?):
      // A new member of an ordered list comes last.
      if let object {
        if try self.object(along: relationship) === object { return }
        let place = try context.nextPlace(
          table: table, keyColumn: column, orderColumn: orderColumn, owner: object)
        setPlace(place, orderColumn)
      } else {
        setPlace(nil, orderColumn)
      }
      context.setReference(to: object, column: column, of: self)
    default:
      context.setReference(to: object, column: column, of: self)
    }
  }

  /// The destination of a to-one relationship, without throwing.
  ///
  /// If it can't be read or set, it is `nil`, and the context's next save throws the error.
  public subscript(toOne name: String) -> ManagedObject? {
    get { deferring { () throws(ManagedObjectError) in try object(forRelationship: name) } ?? nil }
    set { deferring { () throws(ManagedObjectError) in try setObject(newValue, forRelationship: name) } }
  }

  // MARK: To-many

  /// Returns the destinations of a to-many relationship.
  ///
  /// - Parameter name: The relationship's name.
  /// - Returns: The objects in the relationship's order; if it has none, saved objects by primary key, then new ones.
  /// - Throws: ``ManagedObjectError``.
  public func objects(forRelationship name: String) throws(ManagedObjectError) -> [ManagedObject] {
    let relationship = try relationship(name, isToMany: true)
    noteRead(relationship: name)
    return try objects(along: relationship)
  }

  private func noteRead(relationship name: String) {
    if plan.reads != nil { noteRead(plan.attributes.count + plan.relationshipPosition(name)) }
  }

  package func relatedObjects(byRelationship name: String) throws(ManagedObjectError) -> [ManagedObject] {
    guard let relationship = plan.relationships.first(where: { $0.description.name == name }) else {
      throw unknown(name)
    }
    if relationship.description.isToMany { return try objects(along: relationship) }
    return try object(along: relationship).map { [$0] } ?? []
  }

  private func objects(along relationship: PlannedRelationship) throws(ManagedObjectError) -> [ManagedObject] {
    let context = try openContext()
    context.closeLists(of: relationship)
    let name = relationship.description.name
    switch relationship.storage {
    case .key:
      throw unknown(name)
    case .inverseKey(let table, let column, _, let orderColumn),
      .inverselessKey(let table, let column, let orderColumn):
      return try context.members(
        of: self, table: table, keyColumn: column, orderColumn: orderColumn
      ).map(\.object)
    case .join:
      return try linkedObjects(name, relationship, context)
    }
  }

  /// Sets the destinations of a to-many relationship and updates the inverse.
  ///
  /// - Parameters:
  ///   - objects: The destinations, in their order for an ordered relationship; duplicates are ignored.
  ///   - name: The relationship's name.
  /// - Throws: ``ManagedObjectError`` if an object can't be a destination of the relationship.
  public func setObjects(_ objects: [ManagedObject], forRelationship name: String) throws(ManagedObjectError) {
    let context = try changeableContext()
    let relationship = try relationship(name, isToMany: true)
    context.closeLists(of: relationship)
    var seen: Set<ManagedObject> = []
    let objects = objects.filter { seen.insert($0).inserted }
    for object in objects { try check(object, for: relationship) }
    switch relationship.storage {
    case .key:
      throw unknown(name)
    case .inverseKey(let table, let column, _, let orderColumn),
      .inverselessKey(let table, let column, let orderColumn):
      let current = try context.members(
        of: self, table: table, keyColumn: column, orderColumn: orderColumn)
      for member in current where !seen.contains(member.object) {
        context.setReference(to: nil, column: column, of: member.object)
        if let orderColumn { member.object.setPlace(nil, orderColumn) }
      }
      let kept = Set(current.map(\.object))
      var place = OrderedPlace.first - OrderedPlace.step
      var isPrefix = true
      for (index, object) in objects.enumerated() {
        if !kept.contains(object) { context.setReference(to: self, column: column, of: object) }
        guard let orderColumn else { continue }
        // Members at the start of the list that didn't move keep their places.
        isPrefix = isPrefix && index < current.count && current[index].object === object
        if isPrefix, let known = current[index].place, known > place {
          place = known
        } else {
          isPrefix = false
          place = OrderedPlace.after(place)
          object.setPlace(place, orderColumn)
          context.noteChange(of: object)
        }
      }
      if let orderColumn { context.forgetPlaces(table: table, orderColumn: orderColumn, owner: self) }
      context.noteChange(of: self)
    case .join:
      let current = try linkedObjects(name, relationship, context)
      for object in current where !seen.contains(object) { unlink(object, relationship, context) }
      let kept = Set(current)
      for object in objects where !kept.contains(object) { link(object, relationship, context) }
      if relationship.storage.orderColumn != nil, objects != current {
        linkChanges[name, default: PendingLinks()].list = objects
        context.hasOnlyInsertions = false
        context.noteChange(of: self)
      }
    }
  }

  /// The destinations of a to-many relationship, without throwing.
  ///
  /// If they can't be read or set, the list is empty, and the context's next save throws the error. Appending an object
  /// in place takes a time that doesn't depend on the length of the list.
  public subscript(toMany name: String) -> [ManagedObject] {
    get { deferring { () throws(ManagedObjectError) in try objects(forRelationship: name) } ?? [] }
    set { deferring { () throws(ManagedObjectError) in try setObjects(newValue, forRelationship: name) } }
    _modify {
      let list = beginEdit(ofList: name)
      // An edit that throws keeps its changes.
      defer { endEdit(list) }
      yield &list.objects
    }
  }

  // MARK: Links of many-to-many relationships

  func linkedObjects(
    _ name: String, _ relationship: PlannedRelationship, _ context: ManagedObjectContext
  ) throws(ManagedObjectError) -> [ManagedObject] {
    let changes = linkChanges[name]
    if let list = changes?.list { return list.filter { !$0.isDeleted } }
    let stored = try context.linkedObjects(of: self, relationship)
    guard let changes else { return stored.filter { !$0.isDeleted } }
    let kept = stored.filter { !changes.removed.contains($0) }
    let known = Set(kept)
    return (kept + changes.added.filter { !known.contains($0) }).filter { !$0.isDeleted }
  }

  /// If `isLast` is true, this side's list is known not to contain the object.
  func link(
    _ object: ManagedObject, _ relationship: PlannedRelationship, _ context: ManagedObjectContext, isLast: Bool = false
  ) {
    noteLink(to: object, name: relationship.description.name, context, isLast: isLast)
    if let inverse = relationship.inverse { object.noteLink(to: self, name: inverse.name, context) }
  }

  private func unlink(
    _ object: ManagedObject, _ relationship: PlannedRelationship, _ context: ManagedObjectContext
  ) {
    noteUnlink(from: object, name: relationship.description.name, context)
    if let inverse = relationship.inverse { object.noteUnlink(from: self, name: inverse.name, context) }
  }

  private func noteLink(
    to object: ManagedObject, name: String, _ context: ManagedObjectContext, isLast: Bool = false
  ) {
    linkChanges[name, default: PendingLinks()].add(object, isLast: isLast)
    context.hasOnlyInsertions = false
    context.noteChange(of: self)
  }

  private func noteUnlink(from object: ManagedObject, name: String, _ context: ManagedObjectContext) {
    linkChanges[name, default: PendingLinks()].remove(object)
    context.hasOnlyInsertions = false
    context.noteChange(of: self)
  }

  // MARK: Checks

  func relationship(
    _ name: String, isToMany: Bool
  ) throws(ManagedObjectError) -> PlannedRelationship {
    guard let relationship = plan.relationship(name), relationship.description.isToMany == isToMany else {
      throw unknown(name)
    }
    return relationship
  }

  /// False if more than the key must change; a streaming context writes before it reads members.
  @inline(__always)
  private func setPlainKey(_ name: String, to target: ManagedObject?) -> Bool {
    let position = plan.relationshipPosition(name)
    guard position >= 0 else { return false }
    let key = plan.keys[position]
    guard key.isPlain else { return false }
    guard let target else {
      change(key.slot, to: .null)
      if key.entitySlot >= 0 { change(key.entitySlot, to: .null) }
      return true
    }
    let number = target.plan.entity.number
    guard target.contextReference.toOpaque() == contextReference.toOpaque(), !target.isDeleted, number >= key.first,
      number <= key.last
    else { return false }
    change(key.slot, to: .integer(target.key))
    if key.entitySlot >= 0 { change(key.entitySlot, to: .integer(Int64(number))) }
    return true
  }

  /// Doesn't register the object as changed.
  func setPlace(_ place: Int64?, _ column: String) {
    guard let slot = plan.slot(ofColumn: column) else { return }
    setPending(slot, to: place.map { .integer($0) } ?? .null)
  }

  func check(_ object: ManagedObject, for relationship: PlannedRelationship) throws(ManagedObjectError) {
    guard object.contextReference.toOpaque() == contextReference.toOpaque() else {
      throw .otherContext(entity: object.entityName)
    }
    guard !object.isDeleted else { throw .deleted(entity: object.entityName) }
    guard relationship.destinationNumbers.contains(object.plan.entity.number) else {
      throw .wrongDestination(
        entity: entityName, relationship: relationship.name,
        expected: relationship.description.destinationEntity, found: object.entityName)
    }
  }
}

package enum OrderedPlace {
  package static let first: Int64 = 2048
  package static let step: Int64 = 1024

  package static func after(_ place: Int64) -> Int64 {
    let (next, overflow) = place.addingReportingOverflow(step)
    return overflow ? .max : next
  }
}
