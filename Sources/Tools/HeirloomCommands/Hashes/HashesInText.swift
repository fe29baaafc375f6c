/// The version hashes in any text: a crash log, console output, a property list, JSON or source.
///
/// It finds names with 32 bytes in dictionaries instead of parsing one format, because a log may be
/// cut off, wrapped, escaped several times or part of other text. The time is linear in the text's
/// length.
package struct HashesInText {
  package struct Place {
    package var hashes: ShownHashes
    /// Lines, from 1, in which the hashes start; several if they are repeated.
    package var lines: [Int]
  }

  package static let limit = 100

  /// In text order, without repetitions, even truncated ones.
  package private(set) var places: [Place] = []
  /// The text has more places than ``limit``.
  package private(set) var hasMore = false
  /// Some names, sorted, that were left out because no entity has them.
  package private(set) var others: [String] = []

  /// `entities` limits the names, since outside a store's metadata other values such as tokens have
  /// 32 bytes too; `nil` allows any name.
  package init(_ bytes: [UInt8], of entities: Set<String>? = nil) {
    var parser = HashParser(LogText.plain(bytes))
    var known: [ShownHashes: Int] = [:]
    var others: Set<String> = []
    for (hashes, line) in parser.parse() {
      let names = hashes.entries.compactMap(\.entity)
      if hashes.owner != .store, entities?.isDisjoint(with: names) == true {
        others.formUnion(names.prefix(max(0, Self.limit - others.count)))
        continue
      }
      let place =
        known[hashes] ?? (hashes.isWhole ? nil : places.firstIndex { hashes.isPart(of: $0.hashes) })
        ?? places.firstIndex { $0.hashes.isPart(of: hashes) }
      if let place {
        if !hashes.isPart(of: places[place].hashes) { places[place].hashes = hashes }
        if places[place].lines.last != line { places[place].lines.append(line) }
        known[hashes] = place
      } else if places.count < Self.limit {
        known[hashes] = places.count
        places.append(Place(hashes: hashes, lines: [line]))
      } else {
        hasMore = true
      }
    }
    self.others = others.sorted()
  }
}

private struct HashParser {
  /// An open bracket.
  private struct Frame {
    /// The name before it.
    var key: Key?
    /// Directly in it, with details from the store's metadata.
    var hashes: ShownHashes
    /// Of the first hash.
    var line = 0
    var names: Set<String> = []
    /// The text ends within one of the hashes.
    var isCut = false
    /// The index in the result of the hashes in the last inner bracket.
    var child: Int?
  }

  /// A name before `=` or `:`.
  private struct Key {
    let name: String
    /// The words up to and including the name.
    let words: String
    /// A metadata key about the model that made the store.
    let isOfModel: Bool
    /// Until another word follows.
    var isDirect = true
  }

  /// Deeper brackets are only counted.
  private static let depthLimit = 1000
  private static let isOutsideTexts = {
    var table = [Bool](repeating: false, count: 256)
    for byte in "\"\n{}[]()<>;:,=".utf8 + [LogText.lineEnd] { table[Int(byte)] = true }
    return table
  }()
  private static let hashesKey = "NSStoreModelVersionHashes"
  private static let identifiersKey = "NSStoreModelVersionIdentifiers"

  private let bytes: [UInt8]
  private let notation: HashNotation
  private var position = 0
  private var line = 1
  private var frames = [Frame(hashes: ShownHashes(owner: .lines))]
  private var depthBeyond = 0
  private var key: Key?
  /// The last word or text, which is a key if a separator follows.
  private var word: Range<Int>?
  /// The start of the words that a separator would end.
  private var phrase = 0
  /// Version identifiers of an open list.
  private var listed: [String]?
  private var parentheses = 0
  private var found: [(hashes: ShownHashes, line: Int)] = []

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    notation = HashNotation(bytes: bytes)
  }

  /// In text order, including repetitions.
  mutating func parse() -> [(hashes: ShownHashes, line: Int)] {
    while position < bytes.count {
      let byte = bytes[position]
      switch byte {
      case UInt8(ascii: "\n"), LogText.lineEnd:
        if byte == UInt8(ascii: "\n") { line += 1 }
        position += 1
        phrase = position
      case UInt8(ascii: "\""): readText()
      case UInt8(ascii: "<"): readAngle()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        if key != nil, let hash = notation.brace(at: position) ?? number() { take(hash) } else { open() }
      case UInt8(ascii: "}"), UInt8(ascii: "]"): close()
      case UInt8(ascii: "("):
        if listed != nil {
          parentheses += 1
        } else if key?.name == Self.identifiersKey || frames[frames.count - 1].key?.name == Self.identifiersKey {
          listed = []
        }
        position += 1
      case UInt8(ascii: ")"):
        if parentheses > 0 { parentheses -= 1 } else { endList() }
        position += 1
      case UInt8(ascii: "="), UInt8(ascii: ":"): separate()
      case UInt8(ascii: ";"), UInt8(ascii: ","): terminate()
      case _ where byte.isNameByte: readWord()
      default: position += 1
      }
    }
    endList()
    while frames.count > 1 { pop(isWhole: false) }
    finish(isWhole: false)
    return found
  }

  private func number() -> HashNotation.Found? {
    bytes[position] == UInt8(ascii: "[") ? notation.numbers(at: position) : nil
  }

  // MARK: Words and values

  private mutating func readText() {
    if let key, listed == nil, !key.isOfModel, let hash = notation.quoted(at: position) { return take(hash) }
    // Names don't contain such characters: this quotation mark ends a text, or is in a description
    // that quotes text itself.
    var end = position + 1
    while end < bytes.count, end < position + 300, !Self.isOutsideTexts[Int(bytes[end])] { end += 1 }
    let digits = end
    while notation[end] == UInt8(ascii: "="), end < digits + 2, digits > position + 1 { end += 1 }
    guard notation[end] == UInt8(ascii: "\"") else {
      // The bracket belongs to the text of another dictionary, where other texts may have more of
      // the hashes.
      if !frames[frames.count - 1].hashes.entries.isEmpty { frames[frames.count - 1].isCut = true }
      position += 1
      return
    }
    add(position + 1..<end)
    position = end + 1
  }

  private mutating func readWord() {
    if key?.isDirect == true, listed == nil, let hash = notation.bare(at: position) ?? notation.base64(at: position) {
      return take(hash)
    }
    if key != nil, notation.has("32", at: position), case let unit = notation.skipSpace(position + 2),
      unit > position + 2,
      notation.has("bytes", at: unit)
    {
      return take(HashNotation.Found(hash: KnownHash(), end: unit + 5))
    }
    let start = position
    while position < bytes.count, bytes[position].isNameByte { position += 1 }
    // `AnyHashable("1.0")` is just its text, and `//` begins a comment.
    if listed != nil, notation[position] == UInt8(ascii: "(") { return }
    if bytes[start..<position].contains(where: { $0 != UInt8(ascii: "/") }) { add(start..<position) }
  }

  /// A list element, the value of a metadata key, or possibly the next key.
  private mutating func add(_ range: Range<Int>) {
    word = range
    key?.isDirect = false
    guard listed != nil || key?.isOfModel == true else { return }
    let text = String(decoding: bytes[range].prefix(300), as: UTF8.self)
    if listed != nil {
      if !text.isEmpty { listed?.append(text) }
      return
    }
    let length = HashNotation.decoded(bytes[range]).count
    switch key?.name {
    case "NSStoreModelVersionChecksumKey" where length == 32: note(\.checksum, text)
    case "NSStoreModelVersionHashesDigest" where length == 64: note(\.digest, text)
    default: break
    }
  }

  private mutating func readAngle() {
    let next = position + 1
    if key != nil, let hash = notation.angle(at: position) { return take(hash) }
    if notation.has("key>", at: next) {
      let start = next + 4
      guard let end = bytes[start...].prefix(300).firstIndex(of: UInt8(ascii: "<")) else { return move(to: start) }
      word = start..<end
      phrase = start
      move(to: end)
      setKey(endingAt: end)
    } else if notation.has("data>", at: next) {
      if let hash = notation.data(at: next + 5) { take(hash) } else { position = next + 5 }
    } else if notation.has("dict>", at: next) {
      open(length: 6)
    } else if notation.has("/dict>", at: next) {
      close(length: 7)
    } else if notation.has("array>", at: next) {
      if key?.name == Self.identifiersKey { listed = [] }
      position += 7
    } else if notation.has("/array>", at: next) {
      endList()
      position += 8
    } else if notation.has("string>", at: next), let end = bytes[next...].prefix(300).firstIndex(of: UInt8(ascii: "<"))
    {
      add(next + 7..<end)
      move(to: end)
    } else {
      // Other tags, and notes such as `<private>`, are no words.
      let rest = bytes[next...].prefix(64).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "<") }
      position = rest.firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? next
    }
  }

  private mutating func take(_ value: HashNotation.Found) {
    defer {
      move(to: value.end)
      (word, key, phrase) = (nil, nil, position)
    }
    guard let name = key?.name, depthBeyond == 0 else { return }
    append(name, value.hash)
    if value.isCut { frames[frames.count - 1].isCut = true }
  }

  private mutating func move(to end: Int) {
    line += bytes[position..<end].count { $0 == UInt8(ascii: "\n") }
    position = end
  }

  private mutating func append(_ name: String, _ hash: KnownHash) {
    // A repeated name belongs to a second dictionary; the brackets between them are missing.
    if frames[frames.count - 1].names.contains(name) { restart() }
    let last = frames.count - 1
    if frames[last].hashes.entries.isEmpty { frames[last].line = line }
    frames[last].hashes.entries.append(ShownHashes.Entry(entity: name, hash: hash))
    frames[last].names.insert(name)
  }

  // MARK: Keys

  private mutating func separate() {
    setKey(endingAt: position)
    position += 1
  }

  private mutating func setKey(endingAt end: Int) {
    defer { (word, phrase) = (nil, end + 1) }
    guard let word else { return }
    if listed != nil {
      // `plutil` numbers the elements of a list. Any other name before the separator means that the
      // list was cut off.
      let isNumber = bytes[word].allSatisfy(\.isDigit)
      _ = listed?.popLast()
      if isNumber { return }
      endList()
    }
    let name = String(decoding: bytes[word].prefix(300), as: UTF8.self)
    // The closing bracket of the hashes is missing.
    if name.hasPrefix("NSStore") || name.hasPrefix("NSPersistence"), frames.count > 1,
      frames[frames.count - 1].key?.name == Self.hashesKey, !frames[frames.count - 1].hashes.entries.isEmpty
    {
      pop(isWhole: true)
    }
    key = Key(name: name, words: words(before: end), isOfModel: name.hasPrefix("NSStoreModelVersion"))
  }

  private func words(before end: Int) -> String {
    let words = bytes[max(min(phrase, end), end - 80)..<end].split(whereSeparator: \.isSpace).map { word in
      word.filter { $0 != UInt8(ascii: "\"") }
    }
    let last = words.reversed().prefix(4).prefix { word in
      word.allSatisfy { $0.isASCIILetter || $0.isDigit || $0 == UInt8(ascii: "_") || $0 >= 0x80 }
    }
    return last.reversed().map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
  }

  private mutating func terminate() {
    endValue()
    if bytes[position] == UInt8(ascii: ";") { endList() }
    position += 1
    (word, phrase) = (nil, position)
  }

  /// In a store's hashes, a name without a value is still an entity's: the hash was private, or was
  /// taken for an HTML tag.
  private mutating func endValue() {
    defer { if listed == nil { key = nil } }
    guard let key, key.isDirect, depthBeyond == 0, frames[frames.count - 1].key?.name == Self.hashesKey else { return }
    append(key.name, KnownHash())
  }

  private mutating func endList() {
    guard let list = listed else { return }
    (listed, key, parentheses) = (nil, nil, 0)
    note(\.identifiers, list)
  }

  // MARK: Brackets

  private mutating func open(length: Int = 1) {
    if key?.name == Self.identifiersKey, bytes[position] == UInt8(ascii: "[") { listed = [] }
    defer {
      position += length
      (word, phrase) = (nil, position)
      if listed == nil { key = nil }
    }
    guard frames.count < Self.depthLimit else {
      depthBeyond += 1
      return
    }
    let isOfStore = key?.name == Self.hashesKey
    let words = key.flatMap { $0.words.isEmpty ? nil : $0.words }
    frames.append(Frame(key: key, hashes: ShownHashes(owner: isOfStore ? .store : .dictionary(words))))
  }

  private mutating func close(length: Int = 1) {
    endValue()
    defer {
      position += length
      phrase = position
    }
    guard depthBeyond == 0 else {
      depthBeyond -= 1
      return
    }
    if frames.count > 1 {
      pop(isWhole: true)
    } else if !frames[0].hashes.entries.isEmpty {
      // The beginning of the dictionary is missing.
      frames[0].hashes.owner = .dictionary(nil)
      restart()
    }
    endList()
  }

  private mutating func pop(isWhole: Bool) {
    let frame = frames[frames.count - 1]
    guard let index = finish(isWhole: isWhole) else {
      // `[0x3ea0b48]` is no value: the name belongs to the text that follows.
      if frame.child == nil, frame.hashes.entries.isEmpty { key = frame.key }
      frames.removeLast()
      return
    }
    frames.removeLast()
    adopt(index)
  }

  /// Ends the hashes of the innermost open bracket before it closes.
  private mutating func restart() {
    let last = frames.count - 1
    let index = finish(isWhole: false)
    let owner: ShownHashes.Owner = last == 0 ? .lines : frames[last].hashes.owner
    frames[last].hashes = ShownHashes(owner: owner)
    (frames[last].names, frames[last].isCut) = ([], false)
    if let index { adopt(index) }
  }

  /// Adds the hashes of the innermost bracket, if any, to the result and returns their index.
  @discardableResult
  private mutating func finish(isWhole: Bool) -> Int? {
    let frame = frames[frames.count - 1]
    var hashes = frame.hashes
    guard !hashes.entries.isEmpty || hashes.checksum != nil || hashes.digest != nil else { return nil }
    if hashes.entries.isEmpty { hashes.owner = .store }
    hashes.isWhole = isWhole && !frame.isCut && !hashes.entries.isEmpty
    found.append((hashes, frame.line))
    return found.count - 1
  }

  /// Adds preceding metadata of the surrounding bracket to the hashes of an inner one.
  private mutating func adopt(_ index: Int) {
    let last = frames.count - 1
    frames[last].child = index
    let own = frames[last].hashes
    guard own.entries.isEmpty else { return }
    if found[index].hashes.checksum == nil { found[index].hashes.checksum = own.checksum }
    if found[index].hashes.digest == nil { found[index].hashes.digest = own.digest }
    if found[index].hashes.identifiers.isEmpty { found[index].hashes.identifiers = own.identifiers }
    frames[last].hashes = ShownHashes(owner: own.owner)
  }

  /// Adds a metadata value to the last hashes in the same bracket, or else to the next ones.
  private mutating func note<Value>(_ path: WritableKeyPath<ShownHashes, Value>, _ value: Value) {
    let last = frames.count - 1
    guard let child = frames[last].child else {
      if frames[last].line == 0 { frames[last].line = line }
      frames[last].hashes[keyPath: path] = value
      return
    }
    found[child].hashes[keyPath: path] = value
    found[child].hashes.owner = .store
  }
}
