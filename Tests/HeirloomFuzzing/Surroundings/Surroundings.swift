import Foundation
import HeirloomMigration
import HeirloomStore
import HeirloomVault

/// The surroundings of a store, made from a recipe: any bytes are one.
///
/// The first byte of each action decides its kind, and the next ones its choices. So a changed byte changes one choice,
/// and the result stays a journal, a log or a folder.
struct Surroundings {
  let place: URL
  /// Somebody else's: nothing may change it.
  let foreign: URL
  let store: URL
  /// True when only the companion folder and the support folder were filled: all rows of the store can then be found.
  private(set) var leavesStoreAlone = true
  private var recipe: Recipe

  /// Zeros follow its end.
  private struct Recipe {
    var rest: ArraySlice<UInt8>

    mutating func byte() -> Int { Int(rest.popFirst() ?? 0) }
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[byte() % elements.count] }
    mutating func once(in count: Int) -> Bool { byte() % count == 0 }
  }

  init(_ bytes: [UInt8], place: URL, foreign: URL, store: URL) {
    (self.place, self.foreign, self.store) = (place, foreign, store)
    recipe = Recipe(rest: bytes[...])
  }

  /// Recipes with one action of each kind, with which mutations begin.
  static func samples() -> [[UInt8]] {
    [[]] + (0..<6).map { kind in [kind] + (0..<24).map { UInt8(truncatingIfNeeded: Int($0) * 7 + Int(kind)) } }
  }

  mutating func make() throws {
    for _ in 0..<4 where !recipe.rest.isEmpty {
      switch recipe.byte() % 6 {
      case 0: try makeJournal()
      case 1: try makeLog()
      case 2: try makeEntry(in: URL(fileURLWithPath: store.path + ".heirloom"), Self.companionNames)
      case 3: try makeVersion()
      case 4: try makeRecord()
      default:
        let support = place.appendingPathComponent(".Done_SUPPORT")
        if recipe.once(in: 3) {
          try makeEntry(in: place, [".Done_SUPPORT"])
        } else {
          try makeEntry(in: support, ["_EXTERNAL_DATA", "note", "0A1B", "é", "x"])
        }
      }
    }
  }

  // MARK: SQLite's side files

  private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

  private mutating func makeJournal() throws {
    leavesStoreAlone = false
    let content = [UInt8](try Data(contentsOf: store))
    let pageSize = 4096
    let pageCount = content.count / pageSize
    let nonce: UInt32 = 77
    let recordCount = recipe.pick([0, 1, 2, pageCount])
    let numbers: [UInt32] = [
      recipe.pick([UInt32(recordCount), 0, 1, .max]), nonce,
      recipe.pick([UInt32(pageCount), 0, 1, 2, UInt32(pageCount) + 5, .max]), recipe.pick([512, 4096, 0, 1 << 20]),
      recipe.pick([UInt32(pageSize), 512, 65_536, 0, 3]),
    ]
    var bytes = recipe.once(in: 8) ? [UInt8](repeating: 1, count: 8) : Self.magic
    bytes += numbers.flatMap(Self.bigEndian)
    bytes += [UInt8](repeating: 0, count: 512 - bytes.count)
    for index in 0..<recordCount {
      let number = recipe.pick([index, index, 0, pageCount + 1])
      var page = Array(content[(index % pageCount) * pageSize..<(index % pageCount + 1) * pageSize])
      if recipe.once(in: 3) { page = [UInt8](repeating: recipe.pick([0, 0x5a]), count: pageSize) }
      let sum = stride(from: pageSize - 200, to: 0, by: -200).reduce(nonce) { $0 &+ UInt32(page[$1]) }
      bytes += Self.bigEndian(UInt32(number + 1)) + page + Self.bigEndian(recipe.once(in: 6) ? sum &+ 1 : sum)
    }
    let list = store.path + "-mj00ABCD9EF"
    let name = recipe.pick([
      nil, nil, foreign.appendingPathComponent("letter.txt").path, store.path, list, list, "relative",
      String(repeating: "/a", count: 400),
    ])
    if let name {
      if name == list, recipe.once(in: 2) {
        let listed = recipe.pick([store.path + "-journal", foreign.path + "/letter.txt", ""])
        put(Data((listed + "\0").utf8), at: list)
      }
      let sum = name.utf8.reduce(UInt32(0)) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }
      bytes += Self.bigEndian(UInt32(0x4000_0000 / pageSize + 1)) + Array(name.utf8)
      bytes += Self.bigEndian(UInt32(name.utf8.count)) + Self.bigEndian(sum) + Self.magic
    }
    if recipe.once(in: 6) { bytes.removeLast(min(bytes.count, recipe.byte() * 4)) }
    put(Data(bytes), at: store.path + "-journal")
  }

  private mutating func makeLog() throws {
    leavesStoreAlone = false
    let content = [UInt8](try Data(contentsOf: store))
    let pageSize = 4096
    let salts = (0..<8).map { _ in UInt8(recipe.byte()) }
    let isBigEndian = recipe.once(in: 2)
    var sum = LogSum(isBigEndian: isBigEndian)
    let numbers: [UInt32] = [
      0x377f_0682 | (isBigEndian ? 1 : 0), 3_007_000, recipe.pick([UInt32(pageSize), 512, 0, 65_536]), 0,
    ]
    let header = numbers.flatMap(Self.bigEndian) + salts
    sum.add(header)
    var bytes = header + sum.bytes
    if recipe.once(in: 5) { bytes[recipe.byte() % 32] ^= 1 }
    for index in 0..<recipe.pick([1, 2, 4, 8]) {
      let page = recipe.pick([index, 0, content.count / pageSize + 1])
      let start = min(page, content.count / pageSize - 1) * pageSize
      var frame = Self.bigEndian(UInt32(page + 1))
      frame += Self.bigEndian(recipe.pick([0, UInt32(content.count / pageSize), 1, .max]))
      let image =
        recipe.once(in: 4)
        ? [UInt8](repeating: recipe.pick([0, 0x33]), count: pageSize) : Array(content[start..<start + pageSize])
      sum.add(frame)
      sum.add(image)
      frame += recipe.once(in: 5) ? salts.reversed() : salts
      frame += sum.bytes
      if recipe.once(in: 6) { frame[23] ^= 1 }
      bytes += frame + image
    }
    if recipe.once(in: 6) { bytes.removeLast(min(bytes.count, recipe.byte() * 8)) }
    put(Data(bytes), at: store.path + "-wal")
  }

  /// Replaces whatever lies there: a pipe would wait for a reader, and a link lead to another's
  /// file.
  private func put(_ bytes: Data, at path: String) {
    try? FileManager.default.removeItem(atPath: path)
    try? bytes.write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
  }

  // MARK: Folders

  private static let companionNames = [
    "previous", "incoming", "incompatible", "quarantine", "manifest.json", "manifest.json.tmp", "lock", "model.json.gz",
    "model.json.gz.0123456789abcdef0123456789abcdef.tmp", "wal.unread", "wal.unread.tmp",
    "incoming/0123456789abcdef0123456789abcdef", "incoming/new-0123456789abcdef0123456789abcdef",
    "previous/.pruned-20200101T000000Z-01234567", "previous/20990101T000000Z-01234567",
    "incompatible/2026-01-02-03-04-05-01234567", "incompatible/2026-01-02-03-04-05-01234567/notice.json",
  ]

  private mutating func makeEntry(in folder: URL, _ names: [String]) throws {
    let path = folder.appendingPathComponent(recipe.pick(names)).path
    let manager = FileManager.default
    try? manager.createDirectory(
      at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
    if recipe.once(in: 2) { try? manager.removeItem(atPath: path) }
    let letter = foreign.appendingPathComponent("letter.txt").path
    switch recipe.byte() % 10 {
    case 0: put(Data((0..<recipe.byte()).map { _ in UInt8(recipe.byte()) }), at: path)
    case 1: put(Data(), at: path)
    case 2: try? manager.createSymbolicLink(atPath: path, withDestinationPath: foreign.path)
    case 3: try? manager.createSymbolicLink(atPath: path, withDestinationPath: letter)
    case 4: try? manager.createSymbolicLink(atPath: path, withDestinationPath: path)
    case 5: _ = mkfifo(path, 0o644)
    case 6: _ = link(letter, path)
    case 7:
      // A folder in a folder, deeper than any of ours.
      let depth = recipe.pick([3, 40, 120])
      let inner = path + String(repeating: "/d", count: depth)
      try? manager.createDirectory(atPath: inner, withIntermediateDirectories: true)
      try? manager.createSymbolicLink(atPath: inner + "/out", withDestinationPath: foreign.path)
    case 8:
      try? manager.createDirectory(atPath: path, withIntermediateDirectories: true)
      for name: [UInt8] in [[0xff, 0x41], [0x41, 0x0a, 0x42], [0x1b, 0x5b, 0x32, 0x4a]] {
        let bytes = (Array(path.utf8) + [UInt8(ascii: "/")] + name + [0]).map { CChar(bitPattern: $0) }
        let descriptor = open(bytes, O_CREAT | O_WRONLY, mode_t(0o644))
        if descriptor >= 0 { _ = close(descriptor) }
      }
    default:
      try? manager.createDirectory(atPath: path, withIntermediateDirectories: true)
      try? manager.createSymbolicLink(atPath: path + "/file", withDestinationPath: letter)
      _ = link(letter, path + "/other")
    }
  }

  /// A version that nobody kept, with a description whose checksum is right.
  private mutating func makeVersion() throws {
    let identifier = recipe.pick(["0123456789abcdef0123456789abcdef", "ffffffffffffffffffffffffffffffff"])
    let time: Int64 = recipe.pick([0, 1_000_000_000, 4_102_444_800, 253_402_300_799])
    let name = VersionName(time: time, identifier: recipe.once(in: 3) ? "deadbeef" : identifier).text
    let folder = store.path + ".heirloom/previous/" + name
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let kept = URL(fileURLWithPath: folder).appendingPathComponent("Done.sqlite")
    let letter = foreign.appendingPathComponent("letter.txt").path
    switch recipe.byte() % 7 {
    case 0: try? FileManager.default.copyItem(at: store, to: kept)
    case 1: put(Data("garbage".utf8), at: kept.path)
    case 2: try? FileManager.default.createSymbolicLink(atPath: kept.path, withDestinationPath: letter)
    case 3: _ = link(letter, kept.path)
    case 4: _ = link(store.path, kept.path)
    case 5: try? FileManager.default.createDirectory(at: kept, withIntermediateDirectories: false)
    default: _ = mkfifo(kept.path, 0o644)
    }
    let manifest = PreviousVersionManifest(
      identifier: identifier, time: time, storeName: recipe.pick(["Done.sqlite", "Done.sqlite", "lock"]),
      storeByteCount: recipe.pick([0, 4096, .max, -1]), supportFileCount: recipe.pick([0, .max]),
      supportByteCount: recipe.pick([0, .max, -1]), versionChecksum: recipe.pick([nil, "", "x\n\u{1B}[2J"]),
      generation: nil, mode: recipe.once(in: 2) ? .wal : .rollback,
      operation: recipe.pick([.migration, .adoption, .restoration, .settingAside, .undoing]))
    if let bytes = try? manifest.encoded() { put(Data(bytes), at: folder + "/manifest.json") }
    if recipe.once(in: 2) {
      try? FileManager.default.createSymbolicLink(
        atPath: folder + "/.Done_SUPPORT", withDestinationPath: foreign.path)
    }
  }

  /// The record of an operation that nobody began, whose checksum is right.
  private mutating func makeRecord() throws {
    let companion = store.path + ".heirloom"
    try? FileManager.default.createDirectory(atPath: companion, withIntermediateDirectories: true)
    let identifier = recipe.pick(["0123456789abcdef0123456789abcdef", "ffffffffffffffffffffffffffffffff", "../.."])
    let names = (try? FileManager.default.contentsOfDirectory(atPath: companion + "/previous")) ?? []
    let made = VersionName(time: 1_000_000_000, identifier: identifier).text
    let operation: VaultManifest.Operation = recipe.pick([.migration, .restoration, .adoption, .settingAside, .undoing])
    let record = VaultManifest(
      identifier: identifier, operation: operation, phase: recipe.pick([.linking, .copying, .removing]),
      storeName: recipe.pick(["Done.sqlite", "lock", "../Done.sqlite"]),
      keptFolder: recipe.pick([made, names.sorted().first, nil, ".."]), oldGeneration: recipe.pick([nil, "a"]),
      newGeneration: recipe.pick([nil, "b"]), time: 1_000_000_000,
      adoptedSet: operation == .adoption ? "2026-01-02-03-04-05-01234567" : nil)
    if let bytes = try? record.encoded() { put(Data(bytes), at: companion + "/manifest.json") }
  }

  private static func bigEndian(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  /// The sum of a log's frames, by the rules of the file format.
  private struct LogSum {
    let isBigEndian: Bool
    var first: UInt32 = 0
    var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func add(_ bytes: [UInt8]) {
      func number(_ offset: Int) -> UInt32 {
        let four = bytes[offset..<offset + 4]
        return (isBigEndian ? Array(four) : four.reversed()).reduce(0) { $0 << 8 | UInt32($1) }
      }
      for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
        first &+= number(offset) &+ second
        second &+= number(offset + 4) &+ first
      }
    }

    var bytes: [UInt8] { Surroundings.bigEndian(first) + Surroundings.bigEndian(second) }
  }
}
