import Foundation
public import Heirloom
import HeirloomFormats
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import HeirloomSupport

/// The trial migration of a store with sample objects of one version to the current one.
public final class VersionTrial: Sendable {
  /// The version's name.
  public let version: String
  /// The number of sample objects.
  public let objects: Int
  /// The gaps of the sample, one sentence each: an entity without objects, or an attribute without values.
  public let notes: [String]
  /// The report of the migration; `nil` if stores of the version need none.
  public let report: MigrationReport?

  init(version: String, objects: Int, notes: [String], report: MigrationReport?) {
    (self.version, self.objects, self.notes, self.report) = (version, objects, notes, report)
  }
}

extension ModelHistory {
  /// Migrates sample objects of every version to the current one, by the app's own steps, delegate and decisions.
  ///
  /// ```
  /// @Test func everyVersionMigrates() throws {
  ///   try history.expectMigrations(configuration: options.migration, delegate: AppDelegate())
  /// }
  /// ```
  ///
  /// It is `heirloom check` with the app's own code. Each store must reach the current version, keep everything that
  /// the plan promised, lose nothing that the history's lock doesn't acknowledge, and be sound. Some rows have no
  /// values, others have edge cases; if such rows don't fit the current model, the decisions about them are tried. The
  /// results of code can't be predicted: check them in the test with a store of your own. Objects that code may have
  /// created are skipped, and `except` names what handlers of stages change in others.
  ///
  /// - Parameters:
  ///   - configuration: The app's settings: mappings, policies, decisions. Losses without consent are always findings,
  ///     whatever the configuration accepts.
  ///   - delegate: The app's delegate.
  ///   - except: The entities, such as `Item`, or properties, such as `Item.title`, that may differ, named as after the
  ///     migration.
  ///   - objectsPerEntity: The number of objects of each entity.
  ///   - seed: The seed; another one gives other objects.
  /// - Returns: The trials, in the order of the versions. Stores before the history's floor are not tried.
  /// - Throws: ``MigrationNotKept`` with the findings of all versions; `ModelReadingError` for a version that can't be
  ///   read; or the error if sample stores can't be made.
  @discardableResult
  public func expectMigrations(
    configuration: MigrationAssistant.Configuration = MigrationAssistant.Configuration(),
    delegate: (any MigrationAssistantDelegate)? = nil, except: Set<String> = [], objectsPerEntity: Int = 12,
    seed: UInt64 = 1
  ) throws -> [VersionTrial] {
    var configuration = configuration
    configuration.proof = .full
    configuration.losses = .keepVersion
    // A store that is set aside was not migrated.
    configuration.incompatibleStore = .throw
    var (trials, findings): ([VersionTrial], [MigrationFinding]) = ([], [])
    let start = floor.flatMap(versionNames.firstIndex) ?? 0
    let names = versionNames[start...].prefix { $0 != currentName }
    for name in names {
      guard let model = try model(named: name) else { continue }
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("heirloom-trial-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let url = folder.appendingPathComponent("Sample.sqlite")
      let assistant = MigrationAssistant(
        storeURL: url, modelController: ModelController(storeURL: url), history: self, configuration: configuration)
      assistant.delegate = delegate
      let samples = SampleObjects(of: model, objectsPerEntity: objectsPerEntity, seed: seed)
      try samples.makeStore(at: url)
      let before = try StoreContents(of: url, model: model)
      var found: [MigrationFinding] = []
      var report: MigrationReport?
      do {
        if case .migrated(let made) = try assistant.migrateStore() {
          report = made
          found = try self.findings(in: url, before: before, after: made).filter { !$0.isAbout(except) }
        }
      } catch let error as any ExplainedError {
        let words = "\(ErrorWords.clause(error.cause)). \(ErrorWords.clause(error.help.advice))"
        found = [MigrationFinding(.notMigrated, "", words)]
      } catch {
        found = [MigrationFinding(.notMigrated, "", ErrorWords.clause(ErrorWords.words(of: error)))]
      }
      trials.append(VersionTrial(version: name, objects: before.count, notes: samples.notes, report: report))
      findings += found.map { $0.prefixed("\"\(name)\" → \"\(currentName)\"") }
    }
    guard findings.isEmpty else { throw MigrationNotKept(findings: findings) }
    return trials
  }

  private func findings(
    in url: URL, before: StoreContents, after report: MigrationReport
  ) throws -> [MigrationFinding] {
    let lost = report.plan.unconsentedLosses.map { loss in
      MigrationFinding(
        .lossWithoutConsent, loss.entity, property: loss.property,
        "\(ErrorWords.clause(loss.reason)), and the history's lock doesn't acknowledge it")
    }
    let verification = try StoreVerification.report(
      onStoreAt: url.path, candidates: [StoreModelCandidate(source: .file(currentName), model: current)])
    let unsound = verification.findings.filter { $0.severity < .note }.map { finding in
      MigrationFinding(
        .unsoundStore, finding.entity ?? "", "the migrated store is not sound: \(ErrorWords.clause(finding.message))")
    }
    return try before.findings(in: url, after: report.plan) + lost + unsound
  }
}
