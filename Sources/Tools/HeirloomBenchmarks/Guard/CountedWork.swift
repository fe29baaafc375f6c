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

  var title: String {
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
  var repetitions: (fewer: Int, more: Int) {
    switch self {
    case .firstLaunch: (0, 1)
    case .laterLaunch: (1, 11)
    case .readSource, .readArchive, .readSnapshot, .inferMapping: (1, 3)
    }
  }

  /// `folder` was filled by ``prepare(in:)``.
  ///
  /// The process start, and caches that fill once, are in both counts and cancel out.
  static func count(with counter: InstructionCounter, in folder: String) throws -> [CountedWork: Double] {
    func run(_ work: CountedWork, _ repetitions: Int) -> InstructionCounter.Run {
      InstructionCounter.Run(name: childName, words: [work.rawValue, String(repetitions), folder])
    }
    let counts = try counter.count(
      allCases.flatMap { [run($0, $0.repetitions.fewer), run($0, $0.repetitions.more)] })
    return Dictionary(
      uniqueKeysWithValues: allCases.map { work in
        let (fewer, more) = work.repetitions
        let difference = (counts[run(work, more)] ?? .nan) - (counts[run(work, fewer)] ?? .nan)
        return (work, difference / Double(more - fewer))
      })
  }

  /// `folder` must be empty; the files made in it are checked to be read back equal.
  static func prepare(in folder: String) throws {
    let model = try BenchmarkModels.large()
    try LaunchBenchmark.prepare(Self.path(.store, in: folder), model: model)
    let files: [(File, [UInt8])] = [
      (.source, BenchmarkModels.source(of: model)), (.archive, try ModelArchiveWriter.archive(model)),
      (.snapshot, try ModelSnapshot(model: model, archivedAt: Date(timeIntervalSince1970: 0)).bytes(.compressed)),
    ]
    for (file, bytes) in files {
      let path = Self.path(file, in: folder)
      try POSIXFileOperations().writeNewFile(path, bytes: bytes, attributes: FileAttributes(mode: 0o644))
      let read = try ModelFile.read(path)
      guard read.model.versionHashes() == model.versionHashes(), read.warnings.isEmpty else {
        throw BenchmarkError.differentContents(
          subject: path, expected: "the large model", found: "another, with \(read.warnings.count) warnings")
      }
    }
  }

  private enum File: String {
    case store = "Large.sqlite"
    case source = "Large.xml"
    case archive = "Large.mom"
    case snapshot = "Large.json.gz"
  }

  private static func path(_ file: File, in folder: String) -> String { PathText.join(folder, file.rawValue) }

  /// The words are the work, the number of repetitions and the prepared folder.
  ///
  /// Whatever a repetition needs is prepared even if the number is 0.
  static func runChild(_ words: [String]) throws {
    guard words.count == 3, let work = CountedWork(rawValue: words[0]), let count = Int(words[1]), count >= 0 else {
      throw BenchmarkError.usage("The run \(childName) needs a work, a number and a folder.")
    }
    let folder = words[2]
    let model = try BenchmarkModels.large()
    switch work {
    case .firstLaunch, .laterLaunch:
      let url = URL(fileURLWithPath: path(.store, in: folder))
      let history = ModelHistory(current: model)
      for _ in 0..<count {
        let (outcome, isWritten) = try LaunchBenchmark.launch(url, history: history, files: POSIXFileOperations())
        guard case .upToDate = outcome, !isWritten else {
          throw BenchmarkError.unexpectedOutcome(expected: "up to date", found: "\(outcome), \(isWritten)")
        }
      }
    case .readSource: try read(.source, count, in: folder)
    case .readArchive: try read(.archive, count, in: folder)
    case .readSnapshot: try read(.snapshot, count, in: folder)
    case .inferMapping:
      let earlier = try BenchmarkModels.large(attributeCount: BenchmarkModels.largeAttributeCount - 1)
      for _ in 0..<count {
        let difference = ModelDifference(from: earlier, to: model)
        let mapping = try difference.inference.mappingModel()
        guard !difference.changes.isEmpty, mapping.entityMappings.count == BenchmarkModels.largeEntityCount else {
          throw BenchmarkError.unexpectedOutcome(
            expected: "changes and a whole mapping", found: "\(difference.changes.count) changes")
        }
      }
    }
  }

  private static func read(_ file: File, _ count: Int, in folder: String) throws {
    for _ in 0..<count {
      let model = try ModelFile.read(path(file, in: folder)).model
      guard model.entities.count == BenchmarkModels.largeEntityCount else {
        throw BenchmarkError.unexpectedOutcome(expected: "the large model", found: "\(model.entities.count) entities")
      }
    }
  }
}
