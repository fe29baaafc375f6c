import Foundation
import Heirloom
import HeirloomOutput

struct BatchOptions {
  let jobs: Int
  /// As given; `-` for standard input.
  private let list: String?
  private let isNullSeparated: Bool

  init?(_ arguments: Arguments) throws(UsageError) {
    list = arguments.value("--files-from")
    isNullSeparated = arguments.has("--null")
    if isNullSeparated, list == nil { throw .missingOption("--files-from", value: "LIST") }
    guard let text = arguments.value("--jobs") else {
      guard list != nil else { return nil }
      jobs = 1
      return
    }
    guard let count = Int(text), (1...Self.mostJobs).contains(count) else {
      throw .invalidValue(
        option: "--jobs", value: text, expected: "how many stores to migrate at a time, from 1 to \(Self.mostJobs)")
    }
    jobs = count
  }

  /// More stores at a time don't speed up the run, and each keeps files open.
  private static let mostJobs = 64

  /// The user may cancel while the tool waits for a list.
  func stores(besides named: [String], console: Console) throws -> StorePaths {
    guard list != nil || !named.isEmpty else { throw UsageError.missingArgument("STORE") }
    return try console.reading("Reading the list of stores", nil) {
      var paths = StorePaths(named)
      if let list { try add(list, to: &paths, console: console) }
      try StoreList.checkDistinct(paths)
      return paths
    }
  }

  private func add(_ list: String, to paths: inout StorePaths, console: Console) throws {
    var (listed, kept) = (0, Int64(0))
    let name = list == "-" ? "standard input" : list
    let handle = try list == "-" ? .standardInput : StoreList.open(console.path(list))
    try StoreList.read(handle, separator: isNullSeparated ? .null : .lineFeed, name: name) { path in
      listed += 1
      // A search for files by name also finds kept stores.
      if StoreLocation.keptFolder(of: path) != nil { kept += 1 } else { paths.append(try console.path(path)) }
    }
    guard listed > 0, paths.count > 0 else { throw StoreListError.empty(list: name) }
    guard kept > 0 else { return }
    console.log(
      "note: \(counted(kept, "store")) of the list \(verb("lie", kept)) where migrations keep earlier versions, and"
        + " \(verb("are", kept)) skipped")
  }
}
