import Heirloom

/// A migration of the store of notes, with what a person would write for it by hand.
enum MigrationWorkload: String, Codable, CaseIterable {
  /// Two attributes, an index, and an entity that sorts last: no row changes.
  case additive = "W1"
  /// The same with an entity that sorts first: every row gets another entity number.
  case renumbering = "W1first"
  /// A rename, an attribute dropped, NULL filled with a default, a to-one relationship made to-many.
  case reshaping = "W2"
  /// A name split in two and the length of a text, by expressions.
  case computing = "W3"
  /// A policy makes several objects of each note, of bytes that nobody copies.
  case splitting = "W4"
  /// The same with Swift's own types.
  case splittingTyped = "W4typed"
  /// The same with values that may be of any kind.
  case splittingBoxed = "W4boxed"
  /// Fifty additive versions in one jump.
  case fiftyVersions = "W5"

  /// What it is, in a few words.
  var title: String {
    switch self {
    case .additive: "two attributes, an index, an entity that sorts last"
    case .renumbering: "two attributes, an index, an entity that sorts first"
    case .reshaping: "rename, attribute dropped, NULL to default, to-one to to-many"
    case .computing: "a name split in two, the length of a text, by expressions"
    case .splitting: "a policy splits each note's body into about four objects, bytes borrowed"
    case .splittingTyped: "a policy splits each note's body into about four objects, typed values"
    case .splittingBoxed: "a policy splits each note's body into about four objects, boxed values"
    case .fiftyVersions: "50 additive versions in one jump"
    }
  }

  /// The highest ratio to the proven limit that the design allows.
  var goalRatio: Double {
    switch self {
    case .additive, .renumbering: 1.15
    case .reshaping, .computing, .splitting, .fiftyVersions: 1.2
    case .splittingTyped: 1.45
    case .splittingBoxed: 2.1
    }
  }

  /// The model that the store gets.
  func destination() throws -> ManagedObjectModel {
    switch self {
    case .additive: try BenchmarkModels.notesWithAdditions()
    case .renumbering: try BenchmarkModels.notesWithAdditions(entity: "Album")
    case .reshaping: try BenchmarkModels.notesReshaped()
    case .computing: try BenchmarkModels.notesWithComputedValues()
    case .splitting, .splittingTyped, .splittingBoxed: try BenchmarkModels.notesWithVerses()
    case .fiftyVersions: try BenchmarkModels.notesAfterFiftyVersions()
    }
  }

  /// The highest peak of the process's memory that the design allows, in bytes.
  var goalPeakBytes: Int64 {
    switch self {
    case .splitting, .splittingTyped: 40 << 20
    case .splittingBoxed: 48 << 20
    default: 32 << 20
    }
  }

  /// The policy that makes verses; `nil` for a migration without code.
  var policy: VersePolicy.Type? {
    switch self {
    case .splitting: VersePolicy.self
    case .splittingTyped: TypedVersePolicy.self
    case .splittingBoxed: BoxedVersePolicy.self
    default: nil
    }
  }

  /// The mappings that an app would give; none where they are inferred.
  func mappings() throws -> [MappingModel] {
    if self == .computing { return [try BenchmarkModels.computedValuesMapping()] }
    guard let policy else { return [] }
    let (earlier, later) = (try BenchmarkModels.notes(), try destination())
    var mapping = try MappingModel.inferred(from: earlier, to: later)
    mapping.entityMappings.removeAll { $0.destinationEntityName == "Verse" }
    mapping.entityMappings.append(EntityMapping(from: "Note", to: "Verse", policy: policy))
    return [mapping.completed(from: earlier, to: later)]
  }

  // MARK: By hand

  /// The statements that change a clone, those of the metadata left out.
  var statements: String {
    switch self {
    case .additive:
      Self.additions + Self.newEntity("WORKSPACE", number: 4, name: "Workspace")
    case .renumbering:
      Self.additions + """
        UPDATE ZNOTE SET Z_ENT = 2;
        UPDATE ZPERSON SET Z_ENT = 3;
        UPDATE ZTAG SET Z_ENT = 4;
        ALTER TABLE Z_1TAGS RENAME COLUMN Z_1NOTES TO Z_2NOTES;
        ALTER TABLE Z_1TAGS RENAME COLUMN Z_3TAGS TO Z_4TAGS;
        ALTER TABLE Z_1TAGS RENAME TO Z_2TAGS;
        UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT + 100;
        UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT - 99;
        """ + Self.newEntity("ALBUM", number: 1, name: "Album")
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
    case .fiftyVersions:
      (1...50).map { version in
        switch BenchmarkModels.addition(ofVersion: version) {
        case .attribute(let entity, let attribute, let type):
          "ALTER TABLE Z\(entity.uppercased()) ADD COLUMN Z\(attribute.uppercased()) \(type);\n"
        case .entity(let name, let number): Self.newEntity(name.uppercased(), number: number, name: name)
        }
      }.joined() + "CREATE INDEX Z_Note_byTitle ON ZNOTE (ZTITLE COLLATE BINARY ASC);\nDELETE FROM Z_MODELCACHE;\n"
    }
  }

  private static let additions = """
    ALTER TABLE ZNOTE ADD COLUMN ZPRIORITY INTEGER;
    ALTER TABLE ZPERSON ADD COLUMN ZNICKNAME VARCHAR;
    CREATE INDEX Z_Note_byTitle ON ZNOTE (ZTITLE COLLATE BINARY ASC);
    DELETE FROM Z_MODELCACHE;

    """

  private static func newEntity(_ table: String, number: Int, name: String) -> String {
    """

    CREATE TABLE Z\(table) ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
    INSERT INTO Z_PRIMARYKEY VALUES (\(number), '\(name)', 0, 0);

    """
  }

  // MARK: The proof by hand

  /// Tables before and after whose rows must be as many.
  var tables: [(before: String, after: String)] {
    let objects = ["ZNOTE", "ZPERSON", "ZTAG"].map { ($0, $0) }
    return objects + [("Z_1TAGS", self == .renumbering ? "Z_2TAGS" : "Z_1TAGS")]
  }

  /// The column of links to tags that leads to notes; the relationship of authors takes the shorter name.
  private var noteColumn: String {
    switch self {
    case .additive, .computing, .splitting, .splittingTyped, .splittingBoxed, .fiftyVersions: "Z_1NOTES"
    case .renumbering: "Z_2NOTES"
    case .reshaping: "Z_1NOTES1"
    }
  }

  /// Queries over the clone that must count nothing.
  var zeroes: [String] {
    let first = self == .renumbering ? 2 : 1
    let highest = zip(["ZNOTE", "ZPERSON", "ZTAG"], first...).map { table, number in
      "SELECT COUNT(*) FROM main.Z_PRIMARYKEY WHERE Z_ENT = \(number) AND Z_MAX < (SELECT MAX(Z_PK) FROM main.\(table))"
    }
    let links = "Z_\(first)TAGS"
    var zeroes =
      highest + [
        Self.danglingKeys(links, noteColumn, leadingTo: "ZNOTE"),
        Self.danglingKeys(links, "Z_\(first + 2)TAGS", leadingTo: "ZTAG"),
      ]
    if self == .reshaping {
      zeroes += [
        Self.danglingKeys("Z_1AUTHORS", "Z_1NOTES", leadingTo: "ZNOTE"),
        Self.danglingKeys("Z_1AUTHORS", "Z_2AUTHORS", leadingTo: "ZPERSON"),
      ]
    } else {
      zeroes.append(Self.danglingKeys("ZNOTE", "ZAUTHOR", leadingTo: "ZPERSON"))
    }
    // Rows of another entity, where the numbers are not compared below.
    if policy != nil { zeroes.append(Self.danglingKeys("ZVERSE", "ZNOTE", leadingTo: "ZNOTE")) }
    switch self {
    case .computing:
      zeroes.append("SELECT COUNT(*) FROM main.ZTAG WHERE Z_ENT IS NOT 3")
    case .additive, .splitting, .splittingTyped, .splittingBoxed, .fiftyVersions:
      zeroes += zip(["ZNOTE", "ZPERSON", "ZTAG"], first...).map {
        "SELECT COUNT(*) FROM main.\($0) WHERE Z_ENT IS NOT \($1)"
      }
    case .reshaping:
      zeroes += zip(["ZNOTE", "ZTAG"], [1, 3]).map { "SELECT COUNT(*) FROM main.\($0) WHERE Z_ENT IS NOT \($1)" }
    case .renumbering: break
    }
    return zeroes
  }

  /// Queries over the old store and the clone that must give the same: sums of the values that were changed.
  var sums: [(before: String, after: String)] {
    func sum(_ value: String, _ table: String) -> String {
      "SELECT COUNT(\(value)), TOTAL((\(value)) * (1 + Z_PK % 127)) FROM \(table)"
    }
    switch self {
    case .additive, .splitting, .splittingTyped, .splittingBoxed, .fiftyVersions: return []
    case .renumbering:
      return ["ZNOTE", "ZPERSON", "ZTAG"].map { (sum("Z_ENT + 1", "old.\($0)"), sum("Z_ENT", "main.\($0)")) }
    case .computing:
      let first = "substr(ZNAME, 1, instr(ZNAME, ' ') - 1)"
      let last = "substr(ZNAME, instr(ZNAME, ' ') + 1)"
      func lengths(_ first: String, _ last: String, _ table: String) -> String {
        "SELECT COUNT(\(first)), TOTAL(LENGTH(\(first)) * (1 + Z_PK % 127)), COUNT(\(last)),"
          + " TOTAL(LENGTH(\(last)) * (1 + Z_PK % 127)) FROM \(table)"
      }
      return [
        (lengths(first, last, "old.ZPERSON"), lengths("ZFIRSTNAME", "ZLASTNAME", "main.ZPERSON")),
        (sum("length(ZBODY)", "old.ZNOTE"), sum("ZBODYLENGTH", "main.ZNOTE")),
      ]
    case .reshaping:
      return [
        (sum("COALESCE(ZAGE, 18)", "old.ZPERSON"), sum("ZAGE", "main.ZPERSON")),
        ("SELECT COUNT(ZAUTHOR) FROM old.ZNOTE", "SELECT COUNT(*) FROM main.Z_1AUTHORS"),
      ]
    }
  }

  /// Counts the keys that lead nowhere, each once: by the key's index, without looking at the rows.
  private static func danglingKeys(_ table: String, _ column: String, leadingTo target: String) -> String {
    "SELECT COUNT(*) FROM (SELECT DISTINCT \(column) AS k FROM main.\(table) WHERE \(column) IS NOT NULL)"
      + " WHERE k NOT IN (SELECT Z_PK FROM main.\(target))"
  }

  // MARK: What all ways must agree on

  /// Queries over a migrated store.
  var sumQueries: [String] {
    let links = self == .renumbering ? ("Z_2TAGS", noteColumn, "Z_4TAGS") : ("Z_1TAGS", noteColumn, "Z_3TAGS")
    var queries = [
      "SELECT COUNT(*), SUM(\(links.1)), SUM(\(links.2)), SUM(\(links.1) % 97 * \(links.2)) FROM \(links.0)",
      // Where the keys of objects begin that a policy makes is Heirloom's affair.
      "SELECT Z_ENT, Z_NAME, Z_SUPER\(policy == nil ? ", Z_MAX" : "") FROM Z_PRIMARYKEY ORDER BY Z_ENT",
      "SELECT COUNT(*), SUM(LENGTH(ZNAME)), MAX(ZNAME), SUM(Z_ENT) FROM ZTAG",
      "SELECT COUNT(*), SUM(ZAGE), TOTAL(ZCREATEDAT), SUM(LENGTH(ZEMAIL)), SUM(LENGTH(ZAVATAR)), SUM(Z_ENT) FROM ZPERSON",
    ]
    let title = self == .reshaping ? "ZHEADING" : "ZTITLE"
    let body = policy == nil ? "SUM(LENGTH(ZBODY))" : "MAX(ZTITLE)"
    queries.append(
      "SELECT COUNT(*), TOTAL(ZCREATEDAT), \(body), SUM(Z_PK % 97 * LENGTH(\(title))), MAX(\(title)), SUM(Z_ENT),"
        + " SUM(Z_OPT) FROM ZNOTE")
    switch self {
    case .additive, .renumbering:
      queries += ["SELECT SUM(ZPRIORITY IS NULL) FROM ZNOTE", "SELECT SUM(ZNICKNAME IS NULL) FROM ZPERSON"]
      queries.append("SELECT COUNT(*), SUM(LENGTH(ZTITLE)) FROM ZNOTE INDEXED BY Z_Note_byTitle WHERE ZTITLE > 's'")
    case .reshaping:
      queries.append("SELECT COUNT(*), SUM(Z_1NOTES % 97 * Z_2AUTHORS) FROM Z_1AUTHORS")
      queries.append("SELECT name FROM pragma_table_info('ZPERSON') ORDER BY name")
    case .computing:
      queries.append("SELECT SUM(ZBODYLENGTH), SUM(Z_PK % 97 * ZBODYLENGTH) FROM ZNOTE")
      queries.append(
        "SELECT SUM(LENGTH(ZFIRSTNAME)), SUM(LENGTH(ZLASTNAME)), MAX(ZFIRSTNAME), MAX(ZLASTNAME),"
          + " SUM(Z_PK % 97 * LENGTH(ZLASTNAME)) FROM ZPERSON")
    case .splitting, .splittingTyped, .splittingBoxed:
      queries.append("SELECT name FROM pragma_table_info('ZNOTE') ORDER BY name")
      queries.append(
        "SELECT COUNT(*), SUM(ZPOSITION), SUM(ZNOTE % 97 * ZPOSITION), SUM(LENGTH(ZTEXT)), MAX(ZTEXT), SUM(Z_ENT),"
          + " SUM(Z_OPT), SUM((Z_PK - (SELECT MIN(Z_PK) FROM ZVERSE)) % 97 * LENGTH(ZTEXT)) FROM ZVERSE")
    case .fiftyVersions:
      queries.append("SELECT name FROM pragma_table_info('ZNOTE') ORDER BY name")
      queries.append("SELECT name FROM pragma_table_info('ZPERSON') ORDER BY name")
    }
    return queries + ["PRAGMA quick_check"]
  }
}
