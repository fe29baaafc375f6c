import Foundation
import Heirloom
import HeirloomCompare
import HeirloomFormats
import HeirloomMapping

/// The cost of reading two models and comparing them.
enum ModelBenchmark {
  /// For each part, in seconds.
  static let goal = 0.03

  private static let rounds = 31

  /// The model files may be of any kind.
  static func run(_ sourcePath: String, _ destinationPath: String) throws -> String {
    let source = try ModelFile.read(sourcePath).model
    let destination = try ModelFile.read(destinationPath).model
    let archive = try ModelArchiveWriter.archive(destination)
    let ways: [(name: String, work: () throws -> Void)] = [
      ("read \(name(sourcePath))", { _ = try ModelFile.read(sourcePath) }),
      ("read \(name(destinationPath))", { _ = try ModelFile.read(destinationPath) }),
      ("read it as an archive", { _ = try ModelArchiveReader.read(archive) }),
      ("list what changed", { _ = ModelDifference(from: source, to: destination) }),
      ("infer a mapping", { _ = MappingInference(from: source, to: destination) }),
    ]
    var lines = [
      "\(destination.entities.count) entities; medians of \(rounds) runs, each to be under \(goal * 1000) ms"
    ]
    for way in ways {
      var seconds: [Double] = []
      for _ in 0..<rounds {
        let watch = Stopwatch()
        try way.work()
        seconds.append(watch.seconds)
      }
      let milliseconds = String(format: "%8.2f ms", seconds.median * 1000)
      lines.append("  \(milliseconds)  \(way.name)\(seconds.median < goal ? "" : "  (over the goal)")")
    }
    return lines.joined(separator: "\n")
  }

  private static func name(_ path: String) -> String {
    let parts = path.split(separator: "/")
    return parts.last(where: { $0 != "contents" }).map(String.init) ?? path
  }
}
