extension MigrationWorkload {
  /// Those that must have equal numbers of rows before and after.
  var tables: [(before: String, after: String)] {
    let objects = ["ZNOTE", "ZPERSON", "ZTAG"].map { ($0, $0) }
    return objects + [("Z_1TAGS", "Z_\(1 + shift)TAGS")]
  }

  /// After reshaping, the relationship of authors has the shorter name.
  private var noteColumn: String { self == .reshaping ? "Z_1NOTES1" : "Z_\(1 + shift)NOTES" }

  /// Queries over the clone whose counts must be 0.
  var zeroes: [String] {
    let first = 1 + shift
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
    // The rows of verses are checked here, because their numbers aren't compared below.
    if policy != nil { zeroes.append(Self.danglingKeys("ZVERSE", "ZNOTE", leadingTo: "ZNOTE")) }
    switch self {
    case .computing:
      zeroes.append("SELECT COUNT(*) FROM main.ZTAG WHERE Z_ENT IS NOT 3")
    case .additive, .plain, .splitting, .splittingTyped, .splittingBoxed, .fiftyVersions:
      zeroes += zip(["ZNOTE", "ZPERSON", "ZTAG"], first...).map {
        "SELECT COUNT(*) FROM main.\($0) WHERE Z_ENT IS NOT \($1)"
      }
    case .reshaping:
      zeroes += zip(["ZNOTE", "ZTAG"], [1, 3]).map { "SELECT COUNT(*) FROM main.\($0) WHERE Z_ENT IS NOT \($1)" }
    case .renumbering, .fiftyVersionsFirst: break
    }
    return zeroes
  }

  /// Sums of the changed values, in the old store and in the clone, which must be equal.
  var sums: [(before: String, after: String)] {
    func sum(_ value: String, _ table: String) -> String {
      "SELECT COUNT(\(value)), TOTAL((\(value)) * (1 + Z_PK % 127)) FROM \(table)"
    }
    switch self {
    case .additive, .plain, .splitting, .splittingTyped, .splittingBoxed, .fiftyVersions: return []
    case .renumbering, .fiftyVersionsFirst:
      return ["ZNOTE", "ZPERSON", "ZTAG"].map { (sum("Z_ENT + \(shift)", "old.\($0)"), sum("Z_ENT", "main.\($0)")) }
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

  /// Counts each dangling key once, in the key's index, without reading the rows.
  private static func danglingKeys(_ table: String, _ column: String, leadingTo target: String) -> String {
    "SELECT COUNT(*) FROM (SELECT DISTINCT \(column) AS k FROM main.\(table) WHERE \(column) IS NOT NULL)"
      + " WHERE k NOT IN (SELECT Z_PK FROM main.\(target))"
  }

  var sumQueries: [String] {
    let links = ("Z_\(1 + shift)TAGS", noteColumn, "Z_\(3 + shift)TAGS")
    var queries = [
      "SELECT COUNT(*), SUM(\(links.1)), SUM(\(links.2)), SUM(\(links.1) % 97 * \(links.2)) FROM \(links.0)",
      // Heirloom chooses the first key of a policy's objects.
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
    case .additive, .plain, .renumbering:
      queries += ["SELECT SUM(ZPRIORITY IS NULL) FROM ZNOTE", "SELECT SUM(ZNICKNAME IS NULL) FROM ZPERSON"]
      guard self != .plain else { break }
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
    case .fiftyVersions, .fiftyVersionsFirst:
      queries.append("SELECT name FROM pragma_table_info('ZNOTE') ORDER BY name")
      queries.append("SELECT name FROM pragma_table_info('ZPERSON') ORDER BY name")
      queries.append("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'ZNOTE' ORDER BY name")
    }
    return queries + ["PRAGMA quick_check"]
  }
}
