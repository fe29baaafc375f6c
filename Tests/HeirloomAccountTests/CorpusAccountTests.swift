import Foundation
import HeirloomMigration
import TestSupport
import Testing

/// Real versions on real stores and on made ones, each step balanced by the accountant.
///
/// `HEIRLOOM_STEP=…` runs the steps whose description contains the text.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct CorpusAccountTests {
  private static let made = selection(of: CorpusStep.consecutive, every: 47)
  private static let real = selection(of: CorpusStep.real, every: 13)

  private static func selection(of steps: [CorpusStep], every place: Int) -> [CorpusStep] {
    guard let text = ProcessInfo.processInfo.environment["HEIRLOOM_STEP"] else {
      return LongTests.selection(of: steps, every: place)
    }
    return steps.filter { $0.testDescription.contains(text) }
  }

  private static let damage: Set<SeededDamage.Kind> = [.unknownColumns, .unknownColumnsOfLinks, .oneSidedLinks]

  @Test func `there are steps of every app`() {
    #expect(CorpusStep.consecutive.count > 350)
    #expect(CorpusStep.real.count > 40)
  }

  @Test(.slow("real models"), arguments: zip(made.indices, made))
  func `whatever a made store has is in the new one, or told`(number: Int, step: CorpusStep) throws {
    for (turn, builder) in SeededAccountTests.builders.enumerated() where LongTests.areOn || turn == number % 2 {
      let directory = try TemporaryDirectory()
      let url = directory.file("Store.sqlite")
      let source = try ModelFolder(path: step.source.path, named: "source")
      try source.makeEmptyStore(at: url)
      var random = SplitMix64(seed: UInt64(number))
      let store = try SeededStore(source.xml, emptyStoreAt: url.path, rows: 4, isDistinct: true, random: random)
      try SeededDamage(
        path: url.path, model: source.xml, kinds: Self.damage
      )
      .make(store, using: &random)
      try balance(step, url, source, builder)
      withExtendedLifetime(directory) {}
    }
  }

  @Test(.slow("real stores"), arguments: zip(real.indices, real))
  func `whatever a real store has is in the new one, or told`(number: Int, step: CorpusStep) throws {
    for (turn, builder) in SeededAccountTests.builders.enumerated() where LongTests.areOn || turn == number % 2 {
      try Corpus.withCopy(of: step.store ?? "") { url in
        try balance(step, url, ModelFolder(path: step.source.path, named: "source"), builder)
      }
    }
  }

  private func balance(_ step: CorpusStep, _ url: URL, _ source: ModelFolder, _ builder: BuilderChoice) throws {
    let before = try Contents(of: url.path)
    let destination = try ModelFolder(path: step.destination.path, named: "destination")
    let migration = try AccountedMigration(url, from: source, to: destination, by: builder)
    guard let told = migration.told else { return }
    let accountant = try Accountant(
      from: source.xml, before, to: destination.xml, Contents(of: url.path), told: told)
    let imbalances = accountant.imbalances() + accountant.imbalances(of: migration.account)
    #expect(imbalances.map(\.description) == [], "\(step.testDescription), \(builder)")
  }
}
