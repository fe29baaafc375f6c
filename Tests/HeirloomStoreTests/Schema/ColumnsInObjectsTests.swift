import Foundation
import HeirloomStore
import TestSupport
import Testing

/// The use of a column by an index or a trigger, as SQLite shows it once the column is dropped.
struct ColumnsInObjectsTests {
  @Test(arguments: [
    "CREATE INDEX X ON ZA (ZOLD)", "CREATE INDEX X ON ZA (\"zold\")", "CREATE INDEX X ON ZA (ZB) WHERE [ZOLD] > 1",
    "CREATE INDEX X ON ZA (ZB, length(/* it's */ ZOLD))", "CREATE INDEX X ON ZA (ZB) -- ZOLD",
    "CREATE INDEX X ON ZA (-ZOLD)", "CREATE INDEX X ON ZA (ZB, ~+ ZOLD)",
    "CREATE TRIGGER X AFTER UPDATE ON ZA BEGIN UPDATE ZA SET ZOLD = 1 WHERE Z_PK = NEW.Z_PK AND ZOLD <> 1; END",
    "CREATE TRIGGER X AFTER UPDATE ON ZA BEGIN INSERT INTO LOG SELECT ZOLD FROM ZA; END",
    "CREATE TRIGGER X AFTER UPDATE ON ZA BEGIN INSERT INTO LOG VALUES (NEW.'ZOLD'); END",
    "CREATE INDEX ZOLD ON ZA (ZB)", "CREATE INDEX X ON ZA (ZB) WHERE ZB <> 'ZOLD'",
    "CREATE TRIGGER X AFTER UPDATE ON ZA BEGIN INSERT INTO LOG VALUES (NEW.ZOLD); END",
    "CREATE TRIGGER X AFTER UPDATE ON ZA BEGIN -- don't\n INSERT INTO LOG VALUES (old . ZOLD); END",
    "CREATE TRIGGER X AFTER UPDATE ON ZA BEGIN /* it's ' */ INSERT INTO LOG VALUES (NEW.`ZOLD`); END",
    "CREATE TRIGGER X AFTER UPDATE ON ZA WHEN NEW.\"ZOLD\" > 1 BEGIN SELECT 'it''s'; END",
    "CREATE TRIGGER X AFTER UPDATE ON ZA BEGIN INSERT INTO LOG VALUES ('NEW.ZOLD'); END",
    "CREATE TRIGGER X AFTER UPDATE ON ZA BEGIN INSERT INTO LOG (ZOLD) VALUES (1); END",
    "CREATE TRIGGER X AFTER UPDATE ON ZA BEGIN SELECT 1; -- NEW.ZOLD\n END",
    "CREATE TRIGGER X AFTER UPDATE OF ZB, ZOLD ON ZA BEGIN SELECT 1; END",
    "CREATE TRIGGER X AFTER UPDATE OF ZB ON ZA BEGIN SELECT ZOLD FROM LOG; END",
  ])
  func `what SQLite misses after a column was dropped was known to use it`(sql: String) throws {
    let directory = try TemporaryDirectory()
    let connection = try Connection(path: directory.file("A.sqlite").path, mode: .createExclusively())
    try connection.executeScript(
      "CREATE TABLE ZA (Z_PK INTEGER PRIMARY KEY, ZB, ZOLD); CREATE TABLE LOG (ZOLD); INSERT INTO ZA VALUES (1, 2, 3)")
    try connection.execute(sql)
    let object = try #require(
      try ActualSchema(of: connection).objects.first { $0.name == "X" || $0.name == "ZOLD" })
    let isUsed: Bool
    do {
      try connection.executeScript(
        "PRAGMA legacy_alter_table = ON; ALTER TABLE ZA DROP COLUMN ZOLD; UPDATE ZA SET ZB = 3;"
          + " INSERT INTO ZA (ZB) VALUES (4)"
      )
      // A list of columns may name one that is gone: SQLite then never runs the trigger for it.
      isUsed = sql.contains("UPDATE OF ZB, ZOLD")
    } catch {
      isUsed = true
    }
    #expect(object.speaks(ofColumn: "ZOLD") == isUsed)
    #expect(!object.speaks(ofColumn: "Z_OLD"))
    try connection.close()
  }
}
