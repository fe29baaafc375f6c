import Foundation
import Heirloom
import HeirloomSalvage

/// The first bytes of a file that was given as a store.
struct FileStart {
  /// A kind of file that isn't an SQLite database.
  enum Kind {
    case xmlStore, binaryStore, realm, archive, encrypted, model, mappingModel, log

    var words: String {
      switch self {
      case .xmlStore:
        "XML: a store of Core Data's XML type, which only Core Data on a Mac reads; migratePersistentStore makes an SQLite store of it"
      case .binaryStore:
        "a property list: a store of Core Data's binary type, which only Core Data reads; migratePersistentStore makes an SQLite"
          + " store of it"
      case .realm: "a Realm database, which only Realm reads"
      case .archive: "a packed archive: unpack it, and look for the store in it"
      case .encrypted:
        "bytes without any order: encrypted, such as by SQLCipher, and nothing reads it without the key; or overwritten"
      case .model: "a model; give the file of a store, such as Journal.sqlite"
      case .mappingModel: "a mapping model; give the file of a store, such as Journal.sqlite"
      case .log: "the log of a store, which holds pages that the store's own file lacks"
      }
    }

    /// Completes a sentence that begins with the kind's command.
    var action: String { self == .log ? "reads it with its store" : "shows it" }

    func command(at path: String) -> String? {
      switch self {
      case .model, .mappingModel: "heirloom inspect \(shellWord(path))"
      case .log:
        path.hasSuffix("-wal") ? "heirloom doctor \(shellWord(String(path.dropLast("-wal".count))))" : nil
      case .xmlStore, .binaryStore, .realm, .archive, .encrypted: nil
      }
    }
  }

  private let path: String
  let bytes: [UInt8]?

  init(_ path: String) {
    self.path = path
    let handle = FileHandle(forReadingAtPath: path)
    bytes = (try? handle?.read(upToCount: 4096)).map { Array($0) }
    try? handle?.close()
  }

  var kind: Kind? {
    guard let bytes, !bytes.isEmpty else { return nil }
    // Model readers come first: an XML store and a mapping model's source are both Core Data
    // documents with a `database` root.
    if MappingModelFile.isMappingModel(path) { return .mappingModel }
    if (try? ModelFile(path).read()) != nil { return .model }
    let text = String(decoding: bytes, as: UTF8.self)
    if let root = Self.rootElement(of: text) { return ["database": .xmlStore, "model": .model][root] }
    if bytes.starts(with: Array("bplist".utf8)) { return .binaryStore }
    // https://www.sqlite.org/fileformat2.html#walformat
    if [0x82, 0x83].contains(where: { bytes.starts(with: [0x37, 0x7F, 0x06, $0]) }) { return .log }
    if bytes.count >= 20, bytes[16..<20].elementsEqual("T-DB".utf8) { return .realm }
    if bytes.starts(with: [0x1F, 0x8B]) || bytes.starts(with: Array("PK".utf8)) { return .archive }
    // A store whose first bytes alone were overwritten still has its other pages.
    return isWithoutOrder && !StoreSalvage.holdsPages(path) ? .encrypted : nil
  }

  private static func rootElement(of text: String) -> Substring? {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines.union(["\u{FEFF}"]))
    guard text.hasPrefix("<") else { return nil }
    return text.replacing(/<!--.*?-->/.dotMatchesNewlines(), with: "").firstMatch(of: /<(\w[^\s\/>]*)/)?.1
  }

  /// True if all byte values occur about equally often, as only in encrypted or compressed data.
  private var isWithoutOrder: Bool {
    guard let bytes, bytes.count >= 1024 else { return false }
    var counts = [Int](repeating: 0, count: 256)
    for byte in bytes { counts[Int(byte)] += 1 }
    let expected = Double(bytes.count) / 256
    let deviation = counts.reduce(0.0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
    // Chi-square with 255 degrees of freedom: random bytes exceed 400 once in many millions of
    // files.
    return deviation < 400
  }
}
