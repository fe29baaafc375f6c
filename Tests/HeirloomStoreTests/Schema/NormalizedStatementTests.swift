import HeirloomStore
import Testing

struct NormalizedStatementTests {
  @Test(arguments: [
    ("CREATE TABLE ZA ( Z_PK INTEGER )", "CREATE TABLE ZA ( Z_PK INTEGER )"),
    ("  CREATE\tTABLE\r\n\"ZA\"\u{B}(\u{C} \"Z_PK\"   INTEGER)\n", "CREATE TABLE ZA ( Z_PK INTEGER)"),
    // A quote that stands alone is a word of its own, of which nothing is left.
    ("a \" b", "a  b"), ("\"", ""), (" \"\" a", " a"), ("", ""), (" \n", ""), ("a\u{1F}b", "a\u{1F}b"),
    // Some spaces and letters are not ASCII.
    ("a\u{A0}b\u{3000}\"ü\"", "a b ü"), ("\"é\"\r\n x", "é x"),
  ])
  func `has single spaces and no quotes`(_ statement: String, _ expected: String) {
    #expect(normalizedStatement(statement) == expected)
    // The letter keeps the code for plain bytes from running: both must agree.
    #expect(normalizedStatement(statement + " é") == normalizedStatement(statement + " e").dropLast() + "é")
  }
}
