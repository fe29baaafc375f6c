import Heirloom

extension MigrationWorkload {
  /// Those that change a clone, except its metadata.
  var statements: String {
    switch self {
    case .additive:
      Self.columns + Self.index + Self.newEntity("WORKSPACE", number: 4, name: "Workspace")
    case .plain: Self.columns
    case .renumbering:
      Self.columns + Self.index + renumberedRows + Self.newEntity("ALBUM", number: 1, name: "Album")
    case .reshaping:
      """
      ALTER TABLE ZNOTE RENAME COLUMN ZTITLE TO ZHEADING;
      ALTER TABLE Z_1TAGS RENAME COLUMN Z_1NOTES TO Z_1NOTES1;
      CREATE TABLE Z_1AUTHORS ( Z_1NOTES INTEGER, Z_2AUTHORS INTEGER, PRIMARY KEY (Z_1NOTES, Z_2AUTHORS) );
      INSERT INTO Z_1AUTHORS SELECT Z_PK, ZAUTHOR FROM ZNOTE WHERE ZAUTHOR IS NOT NULL ORDER BY Z_PK;
      DROP INDEX ZNOTE_ZAUTHOR_INDEX;
      ALTER TABLE ZNOTE DROP COLUMN ZAUTHOR;
      UPDATE ZPERSON SET ZAGE = 18 WHERE ZAGE IS NULL;
      ALTER TABLE ZPERSON DROP COLUMN ZSCORE;
      CREATE INDEX Z_1AUTHORS_Z_2AUTHORS_INDEX ON Z_1AUTHORS (Z_2AUTHORS, Z_1NOTES);
      DELETE FROM Z_MODELCACHE;
      """
    case .computing:
      """
      ALTER TABLE ZPERSON RENAME COLUMN ZNAME TO ZFIRSTNAME;
      ALTER TABLE ZPERSON ADD COLUMN ZLASTNAME VARCHAR;
      UPDATE ZPERSON SET ZFIRSTNAME = substr(ZFIRSTNAME, 1, instr(ZFIRSTNAME, ' ') - 1),
        ZLASTNAME = substr(ZFIRSTNAME, instr(ZFIRSTNAME, ' ') + 1);
      ALTER TABLE ZNOTE ADD COLUMN ZBODYLENGTH INTEGER;
      UPDATE ZNOTE SET ZBODYLENGTH = length(ZBODY);
      DELETE FROM Z_MODELCACHE;
      """
    case .splitting, .splittingTyped, .splittingBoxed:
      """
      ALTER TABLE ZNOTE DROP COLUMN ZBODY;
      CREATE INDEX ZVERSE_ZNOTE_INDEX ON ZVERSE (ZNOTE);
      INSERT INTO Z_PRIMARYKEY SELECT 4, 'Verse', 0, MAX(Z_PK) FROM ZVERSE;
      DELETE FROM Z_MODELCACHE;
      """
    case .fiftyVersions, .fiftyVersionsFirst:
      renumberedRows + (1...50).map(additions).joined() + Self.index(of: "title") + "DELETE FROM Z_MODELCACHE;\n"
    }
  }

  /// Changes the entity numbers of all rows; empty if no new entity sorts before the old ones.
  private var renumberedRows: String {
    guard shift > 0 else { return "" }
    return """
      UPDATE ZNOTE SET Z_ENT = \(1 + shift);
      UPDATE ZPERSON SET Z_ENT = \(2 + shift);
      UPDATE ZTAG SET Z_ENT = \(3 + shift);
      ALTER TABLE Z_1TAGS RENAME COLUMN Z_1NOTES TO Z_\(1 + shift)NOTES;
      ALTER TABLE Z_1TAGS RENAME COLUMN Z_3TAGS TO Z_\(3 + shift)TAGS;
      ALTER TABLE Z_1TAGS RENAME TO Z_\(1 + shift)TAGS;
      UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT + 100;
      UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT - \(100 - shift);

      """
  }

  private static let columns = """
    ALTER TABLE ZNOTE ADD COLUMN ZPRIORITY INTEGER;
    ALTER TABLE ZPERSON ADD COLUMN ZNICKNAME VARCHAR;
    DELETE FROM Z_MODELCACHE;

    """

  private static let index = index(of: "title")

  private static func index(of property: String) -> String {
    "CREATE INDEX \(indexName(of: property)) ON ZNOTE (Z\(property.uppercased()) COLLATE BINARY ASC);\n"
  }

  private static func indexName(of property: String) -> String {
    "Z_Note_by" + property.prefix(1).uppercased() + property.dropFirst()
  }

  private func additions(ofVersion version: Int) -> String {
    switch BenchmarkModels.addition(ofVersion: version) {
    case .attribute(let entity, let attribute, let type):
      "ALTER TABLE Z\(entity.uppercased()) ADD COLUMN Z\(attribute.uppercased()) \(type);\n"
    case .entity(let place):
      if shift > 0 {
        Self.newEntity("AREA\(place)", number: place, name: BenchmarkModels.firstEntity(place))
      } else {
        Self.newEntity("ZONE\(place)", number: 3 + place, name: BenchmarkModels.lastEntity(place))
      }
    }
  }

  private static func newEntity(_ table: String, number: Int, name: String) -> String {
    """

    CREATE TABLE Z\(table) ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
    INSERT INTO Z_PRIMARYKEY VALUES (\(number), '\(name)', 0, 0);

    """
  }

  struct Step {
    /// Without those for the metadata.
    let statements: String
    let model: ManagedObjectModel
  }

  func lastStep() throws -> Step { Step(statements: statements, model: try destination()) }

  /// As for users who installed every version; only one hop if there are no others.
  func steps() throws -> [Step] {
    guard self == .fiftyVersions else { return [try lastStep()] }
    return try (1...50).map { version in
      var sql = additions(ofVersion: version)
      let before = BenchmarkModels.indexedProperty(ofVersion: version - 1)
      let now = BenchmarkModels.indexedProperty(ofVersion: version)
      if before != now {
        if let before { sql += "DROP INDEX \(Self.indexName(of: before));\n" }
        if let now { sql += Self.index(of: now) }
      }
      return Step(
        statements: sql + "DELETE FROM Z_MODELCACHE;\n", model: try BenchmarkModels.notes(ofVersion: version))
    }
  }
}
