import Foundation
import TestSupport
import Testing

/// The version hashes of a store or model, for the dialects below to print.
struct PrintedHashes {
  /// The 32 bytes by entity.
  var hashes: [String: [UInt8]]
  var identifiers = ["Journal 2"]
  var checksum: String?
  var digest: String?

  var names: [String] { hashes.keys.sorted() }

  func bytes(_ name: String) -> [UInt8] { hashes[name] ?? [] }
}

/// A form in which frameworks and tools print the hashes of a store, each as in a log or document that shows it.
///
/// The printers share no code with the reader.
struct HashDialect: Sendable, CustomTestStringConvertible {
  let name: String
  /// The bytes of each hash that it shows: of its start and of its end.
  var shown = (start: 32, end: 0)
  /// True if brackets show that there are no other entities.
  var isWhole = true
  var hasIdentifiers = true
  /// True if names are printed as they are, whatever they contain.
  var takesAnyName = true
  let print: @Sendable (PrintedHashes) -> String

  var testDescription: String { name }

  // MARK: Data

  static func hex(_ bytes: some Collection<UInt8>) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

  /// `268efc74 82cc1b79`: groups of four bytes, as `-[NSData description]` has them.
  static func groups(_ bytes: some Collection<UInt8>) -> String {
    let bytes = Array(bytes)
    return stride(from: 0, to: bytes.count, by: 4).map { hex(bytes[$0..<min($0 + 4, bytes.count)]) }.joined(
      separator: " ")
  }

  /// Until iOS 12.
  static func oldData(_ bytes: [UInt8]) -> String { "<\(groups(bytes))>" }

  /// Since iOS 13: at most 24 bytes.
  static func newData(_ bytes: [UInt8]) -> String {
    "{length = \(bytes.count), bytes = 0x\(groups(bytes.prefix(16))) ... \(groups(bytes.suffix(8))) }"
  }

  // MARK: -[NSDictionary description]

  /// Returns a text as a description has it: in quotation marks unless it is one word of letters and digits, and with
  /// `\U` for what isn't ASCII.
  static func described(_ text: String) -> String {
    let isWord =
      !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) }
    guard !isWord else { return text }
    let escaped = text.utf16.map { $0 < 0x80 ? String(UnicodeScalar(UInt8($0))) : String(format: "\\U%04x", $0) }
    return "\"" + escaped.joined() + "\""
  }

  static func metadata(_ printed: PrintedHashes, indent: Int, _ data: ([UInt8]) -> String) -> String {
    let space = String(repeating: " ", count: indent)
    var lines = ["{", "    NSPersistenceFrameworkVersion = 1244;"]
    if let checksum = printed.checksum { lines.append("    NSStoreModelVersionChecksumKey = \"\(checksum)\";") }
    lines.append("    NSStoreModelVersionHashes =     {")
    for name in printed.names { lines.append("        \(described(name)) = \(data(printed.bytes(name)));") }
    lines.append("    };")
    if let digest = printed.digest { lines.append("    NSStoreModelVersionHashesDigest = \"\(digest)\";") }
    lines += ["    NSStoreModelVersionHashesVersion = 3;", "    NSStoreModelVersionIdentifiers =     ("]
    lines += [printed.identifiers.map { "        " + described($0) }.joined(separator: ",\n")]
    lines += ["    );", "    NSStoreType = SQLite;", "    NSStoreUUID = \"8D4CF709-34BB-4E8A-B02C-F97582AC80C6\";"]
    lines += ["    \"_NSAutoVacuumLevel\" = 2;", "}"]
    return lines.joined(separator: "\n" + space)
  }

  /// Core Data's own message, with the metadata in the error and in its user info, and what follows.
  private static func error(_ printed: PrintedHashes, _ data: ([UInt8]) -> String) -> String {
    """
    CoreData: error: -addPersistentStoreWithType:SQLite configuration:(null) URL:file:///var/mobile/Journal.sqlite options:{
        NSInferMappingModelAutomaticallyOption = 1;
        NSSQLitePragmasOption =     {
            "journal_mode" = WAL;
        };
    } ... returned error Error Domain=NSCocoaErrorDomain Code=134100 "(null)" UserInfo={metadata=\(metadata(printed, indent: 0, data)), reason=The model used to open the store is incompatible with the one used to create the store} with userInfo dictionary {
        metadata =     \(metadata(printed, indent: 4, data));
        reason = "The model used to open the store is incompatible with the one used to create the store";
    }
    """
  }

  private static func json(_ printed: PrintedHashes, escapesSlashes: Bool, _ data: ([UInt8]) -> String) throws -> String
  {
    var metadata: [String: Any] = [
      "NSStoreModelVersionHashes": printed.hashes.mapValues(data), "NSPersistenceFrameworkVersion": 1244,
      "NSStoreModelVersionIdentifiers": printed.identifiers,
    ]
    metadata["NSStoreModelVersionChecksumKey"] = printed.checksum
    metadata["NSStoreModelVersionHashesDigest"] = printed.digest
    let options: JSONSerialization.WritingOptions =
      escapesSlashes ? [.sortedKeys] : [.prettyPrinted, .withoutEscapingSlashes]
    return String(decoding: try JSONSerialization.data(withJSONObject: metadata, options: options), as: UTF8.self)
  }

  private static func swift(_ printed: PrintedHashes, _ data: ([UInt8]) -> String) -> String {
    let hashes = printed.names.map { "\"\($0)\": \(data(printed.bytes($0)))" }.joined(separator: ", ")
    let identifiers = printed.identifiers.map { "\"\($0)\"" }.joined(separator: ", ")
    return "Optional([\"NSStoreType\": SQLite, \"NSStoreModelVersionHashes\": [\(hashes)],"
      + " \"NSStoreModelVersionIdentifiers\": [\(identifiers)], \"_NSAutoVacuumLevel\": 2])"
  }

  // MARK: All of them

  static let all: [HashDialect] = [
    HashDialect(name: "an error until iOS 12") { error($0, oldData) },
    HashDialect(name: "an error since iOS 13", shown: (16, 8)) { error($0, newData) },
    HashDialect(name: "userInfo of an error in Swift", shown: (16, 8)) { printed in
      "Error: [AnyHashable(\"reason\"): The model used to open the store is incompatible, AnyHashable(\"metadata\"): "
        + metadata(printed, indent: 0, newData) + "]"
    },
    HashDialect(name: "metadata as a Swift dictionary of NSData", shown: (16, 8)) { swift($0, newData) },
    HashDialect(name: "metadata as a Swift dictionary of optional NSData") { swift($0) { "Optional(\(oldData($0)))" } },
    HashDialect(name: "metadata as a Swift dictionary of Data", shown: (0, 0)) { swift($0) { "\($0.count) bytes" } },
    HashDialect(name: "AnyHashable keys and base64 text") { printed in
      let hashes = printed.names.map { "AnyHashable(\"\($0)\"): \(Data(printed.bytes($0)).base64EncodedString())" }
      return "[AnyHashable(\"NSStoreModelVersionHashes\"): [\(hashes.joined(separator: ", "))],"
        + " AnyHashable(\"NSStoreModelVersionIdentifiers\"): Set([AnyHashable(\"\(printed.identifiers[0])\")])]"
    },
    HashDialect(name: "a description of a CFDictionary", shown: (16, 8), hasIdentifiers: false) { printed in
      let entries = printed.names.enumerated().map { number, name in
        "\t\(number) : <CFString 0x6b1d6f0 [0x3ea0b48]>{contents = \"\(name)\"} = <CFData 0x6b1d7\(number % 10)0 [0x3ea0b48]>{length = 32,"
          + " capacity = 32, bytes = 0x\(hex(printed.bytes(name).prefix(16))) ... \(hex(printed.bytes(name).suffix(8)))}"
      }
      return """
        UserInfo=0xb32a1b0 {metadata={type = immutable dict, count = 2,
        entries =>
        \t1 : <CFString 0x101 [0x3ea0b48]>{contents = "NSStoreModelVersionHashes"} = <CFBasicHash 0x6b1 [0x3ea0b48]>{type = immutable dict, count = \(entries.count),
        entries =>
        \(entries.joined(separator: "\n"))
        }

        \t2 : <CFString 0x102 [0x3ea0b48]>{contents = "NSStoreType"} = <CFString 0x103 [0x3ea0b48]>{contents = "SQLite"}
        }
        , reason=x}
        """
    },
    HashDialect(name: "a property list") { printed in
      var metadata: [String: Any] = [
        "NSStoreModelVersionHashes": printed.hashes.mapValues { Data($0) },
        "NSStoreModelVersionIdentifiers": printed.identifiers, "NSPersistenceFrameworkVersion": 1244,
      ]
      metadata["NSStoreModelVersionChecksumKey"] = printed.checksum
      metadata["NSStoreModelVersionHashesDigest"] = printed.digest
      let data = try? PropertyListSerialization.data(fromPropertyList: metadata, format: .xml, options: 0)
      return String(decoding: data ?? Data(), as: UTF8.self)
    },
    HashDialect(name: "plutil -p", shown: (16, 8)) { printed in
      let hashes = printed.names.map { "    \"\($0)\" => \(newData(printed.bytes($0)))" }.joined(separator: "\n")
      return """
        {
          "NSStoreModelVersionHashes" => {
        \(hashes)
          }
          "NSStoreModelVersionHashesVersion" => 3
          "NSStoreModelVersionIdentifiers" => [
            0 => "\(printed.identifiers[0])"
          ]
        }
        """
    },
    HashDialect(name: "JSON with base64 text") { printed in
      (try? json(printed, escapesSlashes: false) { Data($0).base64EncodedString() }) ?? ""
    },
    HashDialect(name: "JSON on a line, with escaped slashes") { printed in
      (try? json(printed, escapesSlashes: true) { Data($0).base64EncodedString() }) ?? ""
    },
    HashDialect(name: "JSON with hexadecimal digits") { printed in
      (try? json(printed, escapesSlashes: false) { hex($0) }) ?? ""
    },
    HashDialect(name: "JSON with descriptions", shown: (16, 8)) { printed in
      (try? json(printed, escapesSlashes: false) { newData($0) }) ?? ""
    },
    HashDialect(name: "a version lock of CoreStore", hasIdentifiers: false) { printed in
      let entries = printed.names.map { name in
        let words = stride(from: 0, to: 32, by: 8).map { start in
          "0x" + hex(printed.bytes(name)[start..<start + 8].reversed()).drop { $0 == "0" }
        }
        return "    \"\(name)\": [\(words.joined(separator: ", "))]"
      }
      return "Actual lock values: [\n" + entries.joined(separator: ",\n") + "\n]"
    },
    HashDialect(name: "arrays of bytes", hasIdentifiers: false) { printed in
      "[" + printed.names.map { "\"\($0)\": \(printed.bytes($0))" }.joined(separator: ", ") + "]"
    },
    HashDialect(name: "entityVersionHashesByName in a debugger", shown: (16, 8), hasIdentifiers: false) { printed in
      "{\n" + printed.names.map { "    \(described($0)) = \(newData(printed.bytes($0)));" }.joined(separator: "\n")
        + "\n}"
    },
    HashDialect(name: "lines of an app", isWhole: false, hasIdentifiers: false, takesAnyName: false) { printed in
      printed.names.map { "model has \($0): \(hex(printed.bytes($0)))" }.joined(separator: "\n")
    },
  ]
}

/// The changes that consoles, mail and documents make to a text before it is pasted.
struct HashWrapping: Sendable, CustomTestStringConvertible {
  let name: String
  /// True if it breaks texts at their spaces.
  var breaksTexts = false
  let wrap: @Sendable (String) -> String

  var testDescription: String { name }

  private static func eachLine(_ text: String, _ change: (String) -> String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { change(String($0)) }.joined(separator: "\n")
  }

  private static func quoted(_ text: String) -> String {
    String(decoding: (try? JSONEncoder().encode(text)) ?? Data(), as: UTF8.self)
  }

  static let all: [HashWrapping] = [
    HashWrapping(name: "as it is") { $0 },
    HashWrapping(name: "as a text of JSON") { "{\"asi\":{\"CoreData\":[\(quoted($0))]},\"threads\":[]}" },
    HashWrapping(name: "as JSON in JSON") { "{\"payload\":\(quoted("{\"message\":\(quoted($0))}"))}" },
    HashWrapping(name: "with NSLog's prefix") { "2016-02-12 21:13:32.873 Journal[1067:83737] " + $0 },
    HashWrapping(name: "with a prefix on each line") { text in
      eachLine(text) { "2023-04-04 18:00:09.435082+0100 Journal[55139:20316810] [error] " + $0 }
    },
    HashWrapping(name: "as the system log of a device") { text in
      eachLine(text) { "Apr  4 18:00:09 iPhone Journal(CoreData)[812] <Error>: " + $0 }
    },
    HashWrapping(name: "with Console's columns") { text in
      eachLine(text) { "error\t18:00:09.435082+0100\tJournal\t" + $0 }
    },
    HashWrapping(name: "with the columns of the tool log") { text in
      eachLine(text) {
        "2022-12-24 15:29:05.393994+0200 0x383e     Error       0x0                  302    0    Journal: (CoreData) [com.apple.coredata:error] "
          + $0
      }
    },
    HashWrapping(name: "quoted in mail") { text in eachLine(text) { "> > " + $0 } },
    HashWrapping(name: "in bold") { text in eachLine(text) { "**\($0)**" } },
    HashWrapping(name: "as a comment") { text in eachLine(text) { "    // " + $0 } },
    HashWrapping(name: "with references of HTML") {
      $0.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing(
        "\"", with: "&quot;")
    },
    HashWrapping(name: "with curly quotation marks") { text in
      text.replacing(/"([^"\n]*)"/) { "\u{201C}\($0.1)\u{201D}" }.replacing("...", with: "…").replacing(
        "    ", with: "\u{A0}   ")
    },
    HashWrapping(name: "with line ends of Windows") { $0.replacing("\n", with: "\r\n") },
    HashWrapping(name: "broken at 60 columns", breaksTexts: true) { text in
      eachLine(text) { line in
        var (lines, current) = ([String](), "")
        for word in line.split(separator: " ", omittingEmptySubsequences: false) {
          if current.count + word.count > 60, !current.isEmpty { (lines, current) = (lines + [current], "") }
          current += current.isEmpty ? String(word) : " \(word)"
        }
        return (lines + [current]).joined(separator: "\n")
      }
    },
    HashWrapping(name: "among other messages") { text in
      "Options: <UIWindow: 0x7fa; frame = (0 0; 320 480)>\n[foo(1) bar] 10:53:13 deviceToken = <none>\n" + text
        + "\n*** First throw call stack:\n(\n\t0   CoreFoundation   0x000000018cc0ee80 __exceptionPreprocess + 176\n)\n"
    },
  ]
}
