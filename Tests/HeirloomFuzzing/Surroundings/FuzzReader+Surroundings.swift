import Foundation
import HeirloomStore

extension FuzzReader {
  /// Does what the tool does with a store in odd surroundings, the writing commands last.
  ///
  /// A folder of somebody else is beside it: nothing in it may be changed, removed, or get a further name.
  func surroundings(_ bytes: [UInt8]) throws -> FuzzStage {
    let place = folder.appendingPathComponent("place")
    let foreign = folder.appendingPathComponent("foreign")
    func clear() {
      for path in [place.path, foreign.path] { Self.removeTree(path) }
    }
    clear()
    defer { clear() }
    for folder in [place, foreign] {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    let letter = foreign.appendingPathComponent("letter.txt")
    try Data("dear diary".utf8).write(to: letter)
    // A folder of the same user behind a link is a place to which an app moved its external data.
    if geteuid() == 0 { for path in [letter.path, foreign.path] { _ = chown(path, 54_321, 54_321) } }
    let url = place.appendingPathComponent("Done.sqlite")
    let original = Data(try FuzzSeeds.inputs(for: .store, folder: folder)[0])
    try original.write(to: url)
    let models = FuzzSeeds.snapshots.appendingPathComponent("Done").path
    let model = FuzzSeeds.snapshots.appendingPathComponent("Done/Done.json").path
    var company = Surroundings(bytes, place: place, foreign: foreign, store: url)
    try company.make()
    Self.giveAwayLinks(in: place.path)
    // Through a link, the recipe itself may have filled the other folder.
    let before = Self.picture(of: foreign.path)
    let writing: [[String]] = [
      ["migrate", url.path, "--to", models, "--accept-losses", "--accept-version"], ["restore", url.path],
      ["salvage", url.path, "--model", model, "--output", place.appendingPathComponent("New.sqlite").path],
    ]
    // Each command meets the untouched surroundings in one input of three.
    let first = (bytes.last.map(Int.init) ?? 0) % writing.count
    var isDone = false
    for words in [
      ["inspect", url.path, "--json"], ["doctor", url.path], ["verify", url.path, "--json"], ["versions", url.path],
      ["plan", url.path, "--to", models],
    ] + writing[first...] + writing[..<first] {
      let code = try run(words, in: place)
      if words[0] == "migrate", code == 0 { isDone = true }
      let after = Self.picture(of: foreign.path)
      let changed = Set(before.keys).union(after.keys).filter { name in
        // A name in the store's folder may go.
        before[name] != after[name]
          && before[name]?.replacingOccurrences(of: ", names,", with: ", one name,") != after[name]
      }.sorted()
      if let name = changed.first {
        let (old, new) = (before[name] ?? "nothing", after[name] ?? "nothing")
        throw FuzzFinding("\(words[0]) reached a folder of somebody else: \(name) was \(old) and is \(new)")
      }
    }
    if company.leavesStoreAlone, try !Self.holdsRows(in: place) {
      throw FuzzFinding("the rows of the store are nowhere any more")
    }
    return isDone ? .accepted : .content
  }

  /// Gives the links to the other folder's owner: through the caller's own link, external data may
  /// be anywhere.
  private static func giveAwayLinks(in folder: String) {
    guard geteuid() == 0 else { return }
    for name in FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? [] {
      var status = stat()
      let path = folder + "/" + name
      if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { _ = lchown(path, 54_321, 54_321) }
    }
  }

  /// Foundation's removal fails at names that are not text.
  private static func removeTree(_ path: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/rm")
    process.arguments = ["-rf", path]
    try? process.run()
    process.waitUntilExit()
  }

  /// The modes of everything, and for files the content and whether they have a single name.
  ///
  /// A file to which the recipe gave a name in the store's folder may have further names there.
  private static func picture(of folder: String) -> [String: String] {
    var picture: [String: String] = [:]
    for name in [""] + (FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []) {
      let path = folder + "/" + name
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      let isFile = status.st_mode & S_IFMT == S_IFREG
      let content = isFile ? (try? Data(contentsOf: URL(fileURLWithPath: path)).hashValue) ?? 0 : 0
      picture[name] =
        "mode \(String(status.st_mode, radix: 8)), \(status.st_size) bytes, \(isFile && status.st_nlink == 1 ? "one name" : "names"), content \(content)"
    }
    return picture
  }

  /// True if the store, a previous version or a set-aside store has the six items.
  private static func holdsRows(in place: URL) throws -> Bool {
    let paths = FileManager.default.enumerator(atPath: place.path)?.allObjects as? [String] ?? []
    return paths.filter { $0.hasSuffix("Done.sqlite") }.contains { path in
      let file = place.appendingPathComponent(path).path
      var status = stat()
      guard lstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
      let connection = try? Connection(path: file, mode: .readOnly)
      let count = try? connection?.firstInteger("SELECT COUNT(*) FROM ZITEM WHERE ZNAME LIKE 'item _'")
      return count == 6
    }
  }
}
