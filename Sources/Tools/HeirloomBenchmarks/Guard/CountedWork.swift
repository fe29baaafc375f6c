import Foundation
import Heirloom
import HeirloomCompare
import HeirloomFormats
import HeirloomMapping

/// Deterministic work whose instructions are counted in a process of its own.
enum CountedWork: String, CaseIterable {
  case firstLaunch
  case laterLaunch
  case readSource
  case readArchive
  case readSnapshot
  case inferMapping

  static let childName = "counted"

  private var title: String {
    switch self {
    case .firstLaunch: "first launch of a process, nothing to do"
    case .laterLaunch: "later launch, nothing to do"
    case .readSource: "read a large model's source"
    case .readArchive: "read a large compiled model"
    case .readSnapshot: "read a large model's snapshot"
    case .inferMapping: "compare two large models, infer the mapping"
    }
  }

  /// Two numbers of repetitions; the difference of their counts gives the cost of one repetition.
  private var repetitions: (fewer: Int, more: Int) {
    switch self {
    case .firstLaunch: (0, 1)
    case .laterLaunch: (1, 11)
    case .readSource, .readArchive, .readSnapshot, .inferMapping: (1, 3)
    }
  }

  private var file: String {
    switch self {
    case .firstLaunch, .laterLaunch, .inferMapping: "Large.sqlite"
    case .readSource: "Large.xml"
    case .readArchive: "Large.mom"
    case .readSnapshot: "Large.json.gz"
    }
  }

  /// `folder` must be empty.
  ///
  /// The process start, and caches that fill once, are in both counts and cancel out.
  static func figures(with counter: InstructionCounter, in folder: String) throws -> [GuardedFigure] {
    try prepare(in: folder)
    let differences = try counter.differences(allCases, of: childName) { work in
      [work.repetitions.fewer, work.repetitions.more].map { [work.rawValue, String($0), folder] }
    }
    return allCases.map { work in
      let count = (differences[work] ?? .nan) / Double(work.repetitions.more - work.repetitions.fewer)
      return GuardedFigure(work.title, count, atMost: GuardCeilings.instructions(work) * 1e6, .instructions)
    }
  }

  /// The files are checked to be read back equal.
  private static func prepare(in folder: String) throws {
    let model = try BenchmarkModels.large()
    try LaunchBenchmark.prepare(PathText.join(folder, CountedWork.firstLaunch.file), model: model)
    let files: [(CountedWork, [UInt8])] = [
      (.readSource, BenchmarkModels.source(of: model)), (.readArchive, try ModelArchiveWriter.archive(model)),
      (.readSnapshot, try ModelSnapshot(model: model, archivedAt: Date(timeIntervalSince1970: 0)).bytes(.compressed)),
    ]
    for (work, bytes) in files {
      let path = PathText.join(folder, work.file)
      try POSIXFileOperations().writeNewFile(path, bytes: bytes, attributes: FileAttributes(mode: 0o644))
      let read = try ModelFile.read(path)
      try BenchmarkError.require(
        read.model.versionHashes() == model.versionHashes() && read.warnings.isEmpty, path,
        expected: "the large model", found: "another, with \(read.warnings.count) warnings")
    }
  }

  /// The words are the work, the number of repetitions and the prepared folder.
  ///
  /// Whatever a repetition needs is prepared even if the number is 0.
  static func runChild(_ words: [String]) throws {
    guard words.count == 3, let work = CountedWork(rawValue: words[0]), let count = Int(words[1]), count >= 0 else {
      throw BenchmarkError.usage("The run \(childName) needs a work, a number and a folder.")
    }
    let path = PathText.join(words[2], work.file)
    let model = try BenchmarkModels.large()
    switch work {
    case .firstLaunch, .laterLaunch:
      let url = URL(fileURLWithPath: path)
      let history = ModelHistory(current: model)
      for _ in 0..<count { try LaunchBenchmark.launchUpToDate(url, history: history, files: POSIXFileOperations()) }
    case .readSource, .readArchive, .readSnapshot:
      for _ in 0..<count {
        let count = try ModelFile.read(path).model.entities.count
        try BenchmarkError.require(
          count == BenchmarkModels.largeEntityCount, expected: "the large model", found: "\(count) entities")
      }
    case .inferMapping:
      let earlier = try BenchmarkModels.large(attributeCount: BenchmarkModels.largeAttributeCount - 1)
      for _ in 0..<count {
        let difference = ModelDifference(from: earlier, to: model)
        let mapping = try difference.inference.mappingModel()
        try BenchmarkError.require(
          !difference.changes.isEmpty && mapping.entityMappings.count == BenchmarkModels.largeEntityCount,
          expected: "changes and a whole mapping", found: "\(difference.changes.count) changes")
      }
    }
  }
}
