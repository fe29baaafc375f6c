import Heirloom

// Two versions whose entities change in different ways; stores give each its share of rows.
extension BenchmarkModels {
  enum Fate: String, Codable, CaseIterable {
    case kept = "Kept"
    /// A value changes in each row; in place if the candidate is a copy.
    case changed = "Changed"
    /// Two attributes are removed, so the rows are rewritten by either builder.
    case anew = "Anew"
    /// It sorts last, because no other entity's number must change.
    case gone = "Removed"
  }

  static func fates(isLater: Bool) throws -> ManagedObjectModel {
    let fates = Fate.allCases.filter { !isLater || $0 != .gone }
    let entities = fates.map { fate in
      var entity = EntityDescription(name: fate.rawValue)
      var weight = attribute("weight", .integer32)
      if fate == .changed, isLater {
        weight.isOptional = false
        weight.defaultValue = .integer(7)
      }
      entity.attributes = [
        attribute("body", .string), attribute("createdAt", .date), attribute("title", .string), weight,
      ]
      if fate == .anew, !isLater { entity.attributes += [attribute("first", .string), attribute("second", .string)] }
      entity.indexes = [
        FetchIndexDescription(name: "byTitle", elements: [FetchIndexElementDescription(property: "title")])
      ]
      return entity
    }
    return try ManagedObjectModel(entities: entities, versionIdentifiers: [isLater ? "fates2" : "fates"])
  }
}

extension StoreGenerator {
  /// `shares` are percents of all rows; the rest is kept rows.
  ///
  /// The rows have neither weights nor values of the removed attributes.
  func makeStore(shares: [BenchmarkModels.Fate: Int], at path: String) throws {
    let model = try BenchmarkModels.fates(isLater: false)
    let schema = PhysicalSchema(model: model)
    try Self.makeStore(of: model, at: path) { connection in
      var random = RandomSource(seed: seed)
      let rest = 100 - shares.values.reduce(0, +)
      for fate in BenchmarkModels.Fate.allCases {
        let rows = notes * (shares[fate] ?? (fate == .kept ? rest : 0)) / 100
        guard rows > 0, let entity = schema.entities.first(where: { $0.name == fate.rawValue }) else { continue }
        let statement = try connection.prepare(
          "INSERT INTO \(quote(entity.table)) (Z_PK, Z_ENT, Z_OPT, ZCREATEDAT, ZBODY, ZTITLE) VALUES (?1, ?2, 1, ?3, ?4, ?5)",
          isPersistent: true)
        for key in 1...rows {
          try statement.bind(Int64(key), at: 1)
          try statement.bind(Int64(entity.number), at: 2)
          try statement.bind(Self.date(&random), at: 3)
          try statement.bind(Self.body(&random), at: 4)
          try statement.bind("\(random.element(of: SampleWords.words)) \(random.below(1_000_000))", at: 5)
          try statement.run()
        }
        try connection.execute(
          "UPDATE \(quote(PhysicalName.primaryKeyTable)) SET \(PhysicalName.maximum) = ?1 WHERE \(PhysicalName.name) = ?2",
          [.integer(Int64(rows)), .text(entity.name)])
      }
    }
  }
}
