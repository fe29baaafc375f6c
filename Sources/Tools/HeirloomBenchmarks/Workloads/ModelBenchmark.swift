import Heirloom
import HeirloomCompare
import HeirloomFormats
import HeirloomMapping

/// The cost of reading two models and comparing them.
enum ModelBenchmark {
  private static let rounds = 31

  static func run(_ sourcePath: String, _ destinationPath: String) throws -> ReportTable {
    let source = try ModelFile.read(sourcePath).model
    let destination = try ModelFile.read(destinationPath).model
    let archive = try ModelArchiveWriter.archive(destination)
    func step(_ title: String, _ work: @escaping () throws -> Void) -> ModelStep {
      ModelStep(title: title) {
        try work()
        return { true }
      }
    }
    let steps = [
      step("read \(name(sourcePath))") { _ = try ModelFile.read(sourcePath) },
      step("read \(name(destinationPath))") { _ = try ModelFile.read(destinationPath) },
      step("read it as an archive") { _ = try ModelArchiveReader.read(archive) },
      step("list what changed") { _ = ModelDifference(from: source, to: destination) },
      step("infer a mapping") { _ = MappingInference(from: source, to: destination) },
    ]
    return ModelStep.table(
      title: "\(destination.sizeText); \(rounds) runs of each, in turns", steps,
      processes: [try ModelStep.measure(steps, rounds: rounds)])
  }

  private static func name(_ path: String) -> String {
    let parts = path.split(separator: "/")
    return parts.last(where: { $0 != "contents" }).map(String.init) ?? path
  }
}
