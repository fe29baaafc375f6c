import Foundation
import Heirloom

/// Sums that must be equal for all ways to migrate a store.
struct StoreSums: Hashable {
  private var rows: [String: [[SQLiteValue]]] = [:]

  private static let earlierQueries = [
    "SELECT COUNT(*), SUM(ZAUTHOR), TOTAL(ZCREATEDAT), SUM(LENGTH(ZBODY)), SUM(LENGTH(ZTITLE)), SUM(Z_PK % 97 * LENGTH(ZTITLE)),"
      + " MIN(ZBODY), MAX(ZTITLE), SUM(Z_ENT), SUM(Z_OPT) FROM ZNOTE",
    "SELECT COUNT(*), SUM(ZAGE), TOTAL(ZCREATEDAT), TOTAL(ZSCORE), SUM(LENGTH(ZEMAIL)), SUM(LENGTH(ZNAME)), MAX(ZNAME),"
      + " SUM(LENGTH(ZAVATAR)), MAX(ZAVATAR), SUM(Z_ENT) FROM ZPERSON",
    "SELECT COUNT(*), SUM(LENGTH(ZNAME)), MAX(ZNAME), SUM(Z_ENT) FROM ZTAG",
    "SELECT COUNT(*), SUM(Z_1NOTES), SUM(Z_3TAGS), SUM(Z_1NOTES % 97 * Z_3TAGS) FROM Z_1TAGS",
    "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT <= 3 ORDER BY Z_ENT",
    "SELECT COUNT(*) FROM ZPERSON INDEXED BY Z_Person_byEmail WHERE ZEMAIL > 'user2'",
    "PRAGMA quick_check",
  ]

  /// Throws if the metadata doesn't fit `model`; `workload` is `nil` before the migration.
  init(of path: String, model: ManagedObjectModel, after workload: MigrationWorkload? = nil) throws {
    let metadata = try StoreMetadata(contentsOf: URL(fileURLWithPath: path))
    try BenchmarkError.require(
      metadata.isCompatible(with: model), "the model of \(path)", expected: "\(model.versionIdentifiers)",
      found: "\(metadata.versionIdentifiers)")
    let connection = try Connection(path: path, mode: .readOnly, options: .inspecting)
    for query in workload?.sumQueries ?? Self.earlierQueries { rows[query] = try connection.rows(query) }
    try connection.close()
  }

  /// Compares the sums that both stores have, and throws for the first one that differs.
  func check(against expected: StoreSums) throws(BenchmarkError) {
    for query in rows.keys.sorted() {
      guard let other = expected.rows[query], let own = rows[query], own != other else { continue }
      throw .differentContents(subject: query, expected: "\(other)", found: "\(own)")
    }
  }

  var rowCount: Int64 {
    Self.earlierQueries.prefix(4).reduce(0) { $0 + (rows[$1]?.first?.first?.integer ?? 0) }
  }
}
