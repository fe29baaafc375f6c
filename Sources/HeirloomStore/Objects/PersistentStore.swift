public import Foundation
public import HeirloomModel

/// An open store, with the model it was made with.
///
/// It belongs to one task.
public final class PersistentStore {
  /// The store's file.
  public let url: URL
  /// The model.
  public let model: ManagedObjectModel
  /// The configuration whose entities the store holds; `nil` for all.
  public let configuration: String?
  /// The store's metadata.
  public package(set) var metadata: StoreMetadata
  /// True if nothing can be written.
  public let isReadOnly: Bool
  package let path: String
  package let schema: PhysicalSchema
  /// With the functions that triggers call.
  package let connection: Connection
  package let statements: StatementCache
  /// `main`, or the schema name of an attached database.
  package let database: String
  @exclusivity(unchecked) private var plans: [EntityPlan?]
  private let entityNames: NameTable
  /// Another object owns the connection.
  package let isView: Bool

  init(
    url: URL, schema: PhysicalSchema, configuration: String?, metadata: StoreMetadata, isReadOnly: Bool,
    connection: Connection, database: String = "main", isView: Bool = false
  ) {
    self.url = url
    path = url.path
    self.database = database
    self.isView = isView
    plans = Array(repeating: nil, count: schema.entities.count)
    entityNames = NameTable(schema.entities.map { ($0.name, $0.number) })
    model = schema.model
    self.configuration = configuration
    self.metadata = metadata
    self.isReadOnly = isReadOnly
    self.schema = schema
    self.connection = connection
    statements = StatementCache(connection: connection)
  }

  /// SQLite can't notice other connections' changes in a folder that can't be written to.
  package static func open(
    at url: URL, model: ManagedObjectModel, configuration: String? = nil, isReadOnly: Bool = false
  ) throws(StoreError) -> PersistentStore {
    try checkConfiguration(configuration, of: model, path: url.path)
    func store(_ connection: Connection) throws(StoreError) -> PersistentStore {
      try PersistentStore(
        url: url, model: model, configuration: configuration, isReadOnly: isReadOnly, connection: connection)
    }
    if isReadOnly {
      // The connection stays open as long as the store that the closure returns.
      return try StoreReading.withConnection(toStoreAt: url.path, store)
    }
    try StoreReading.checkFile(url.path)
    try StoreReading.checkJournal(url.path)
    try StoreReading.checkLog(besideStoreAt: url.path)
    let connection = try storeErrors(url.path) { () throws(SQLiteError) in
      var options = Connection.Options()
      options.resolvesViews = false
      return try Connection(path: url.path, mode: .readWrite, options: options)
    }
    let opened = try store(connection)
    // No view has been read so far, but triggers of the app may read the app's views.
    try storeErrors(url.path) { () throws(SQLiteError) in try connection.setResolvesViews(true) }
    return opened
  }

  private convenience init(
    url: URL, model: ManagedObjectModel, configuration: String?, isReadOnly: Bool, connection: Connection
  ) throws(StoreError) {
    let path = url.path
    let metadata = try StoreMetadata(connection: connection, path: path)
    guard metadata.isCompatible(with: model, configuration: configuration) else {
      let entities = metadata.differingEntities(from: model, configuration: configuration)
      throw StoreError(path: path, problem: .incompatible(entities: entities))
    }
    let schema = try Self.checkedSchema(connection, model: model, configuration: configuration, path: path)
    try storeErrors(path) { () throws(SQLiteError) in try Self.prepare(connection, for: schema) }
    self.init(
      url: url, schema: schema, configuration: configuration, metadata: metadata, isReadOnly: isReadOnly,
      connection: connection)
  }

  /// A view through a connection that another object owns; nothing is checked or closed.
  ///
  /// The view's prepared statements keep the connection from closing, until ``close()`` or until
  /// the view and its contexts are released. For triggers to run, the connection must have the
  /// functions that they call. External data is in a folder beside `path`.
  package convenience init(
    viewing connection: Connection, database: String, path: String, schema: PhysicalSchema, metadata: StoreMetadata,
    isReadOnly: Bool = false
  ) {
    self.init(
      url: URL(fileURLWithPath: path), schema: schema, configuration: nil, metadata: metadata, isReadOnly: isReadOnly,
      connection: connection, database: database, isView: true)
  }

  /// Closes the store and reports any error; a view only finalizes its statements.
  ///
  /// Without this call, the store closes when the last reference to it and its contexts is released.
  ///
  /// - Throws: ``StoreError``; the store stays open then.
  public func close() throws(StoreError) {
    statements.removeAll()
    for plan in plans { plan?.writer.removeAll() }
    guard !isView else { return }
    try storeErrors(path) { () throws(SQLiteError) in try connection.close() }
  }

  func plan(named name: String) -> EntityPlan? {
    plan(numbered: entityNames.number(of: name))
  }

  /// For objects of exactly one entity; a composite's element is named by its path, `place.city`.
  package func noteReads(
    of properties: Set<String>, ofEntity entity: String, in sets: ObjectSets
  ) -> PropertyReads? {
    guard let plan = plan(named: entity) else { return nil }
    let reads = PropertyReads(of: properties, among: plan.propertyNames, in: sets)
    plan.reads = reads
    return reads
  }

  /// For objects of exactly one entity.
  package func noteEdits(
    of watched: Set<String>, ofEntity entity: String, in sets: ObjectSets
  ) -> ObjectEdits? {
    guard let plan = plan(named: entity) else { return nil }
    let edits = ObjectEdits(watched, columns: plan.columns, in: sets)
    plan.edits = edits
    return edits
  }

  func plan(numbered number: Int) -> EntityPlan? {
    guard number >= 1, number <= plans.count else { return nil }
    if let plan = plans[number - 1] { return plan }
    guard let name = schema.entity(numbered: number)?.name else { return nil }
    let plan = EntityPlan(name, of: self)
    plans[number - 1] = plan
    return plan
  }

  package func qualified(_ table: String) -> String {
    "\(quote(database)).\(quote(table))"
  }

  // MARK: Parts of opening

  static func checkConfiguration(
    _ configuration: String?, of model: ManagedObjectModel, path: String
  ) throws(StoreError) {
    guard let configuration, model.entities(inConfiguration: configuration) == nil else { return }
    throw StoreError(path: path, problem: .unknownConfiguration(configuration))
  }

  private static func checkedSchema(
    _ connection: Connection, model: ManagedObjectModel, configuration: String?, path: String
  ) throws(StoreError) -> PhysicalSchema {
    let (actual, numbers) = try storeErrors(path) { () throws(SQLiteError) in
      (try ActualSchema(of: connection), try entityNumbers(connection))
    }
    let schema = PhysicalSchema(model: model, configuration: configuration, actual: actual)
    var missing: [String] = []
    for drift in actual.tableDrift(from: schema) {
      switch drift {
      case .missingTable(let table): missing.append("table \(table)")
      case .missingColumn(let table, let column): missing.append("column \(table).\(column)")
      default: continue
      }
    }
    // Rows refer to their entity by number. Names may be older than the model's, so numbers and parents are compared.
    for entity in schema.entities where numbers[Int64(entity.number)] != Int64(entity.superentityNumber) {
      missing.append("entity \(entity.name) under number \(entity.number)")
    }
    guard missing.isEmpty else { throw StoreError(path: path, problem: .differentSchema(missing: missing)) }
    return schema
  }

  private static func entityNumbers(_ connection: Connection) throws(SQLiteError) -> [Int64: Int64] {
    var numbers: [Int64: Int64] = [:]
    let statement = try connection.prepare(
      "SELECT \(quote(PhysicalName.entity)), \(quote(PhysicalName.superentity))"
        + " FROM \(quote(PhysicalName.primaryKeyTable))")
    try statement.forEachRow { row throws(SQLiteError) in numbers[row.integer(at: 0)] = row.integer(at: 1) }
    return numbers
  }

  package static func prepare(_ connection: Connection, for schema: PhysicalSchema) throws(SQLiteError) {
    try connection.registerCoreDataFunctions()
    let hasRTree = schema.indexes.contains { index in
      if case .rTree = index.kind { true } else { false }
    }
    if hasRTree { try connection.setTrustsSchema(true) }
  }
}

/// A store is used by one task at a time, as its connection is.
@available(*, unavailable)
extension PersistentStore: Sendable {}

func storeErrors<Value>(
  _ path: String, _ body: () throws(SQLiteError) -> Value
) throws(StoreError) -> Value {
  do throws(SQLiteError) {
    return try body()
  } catch {
    throw StoreError(error, path: path)
  }
}
