import Foundation
import Heirloom
import HeirloomMigration
import HeirloomStore
import TestSupport

/// A migration by the product: what it told, if it migrated.
enum AccountedMigration {
  case migrated([ToldLoss], account: [ListedLine])
  /// Both versions have the same hashes.
  case upToDate
  /// The versions or the rows need somebody's decision first, or there is a value that code can't read or hold.
  case refused

  init(
    _ url: URL, from source: ModelFolder, to destination: ModelFolder, by builder: BuilderChoice,
    mappings: [MappingModel] = []
  ) throws {
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = mappings
    let accounts = StoreAccounts()
    configuration.account = accounts.add
    let assistant = MigrationAssistant(
      url,
      ModelHistory(
        current: destination.model, name: destination.name, earlier: [(source.name, source.model)]), configuration,
      builder: builder)
    do {
      guard case .migrated(let report) = try assistant.migrateStore() else {
        self = .upToDate
        return
      }
      self = .migrated(
        report.plan.losses.map(ToldLoss.init),
        account: report.plan.hops.count == 1 ? accounts.hops.flatMap(\.lines).map(ListedLine.init) : [])
    } catch MigrationAssistantError.mappingNeeded {
      self = .refused
    } catch MigrationAssistantError.decisionNeeded {
      self = .refused
    } catch MigrationAssistantError.failed(_, .mappingFailed(let failure)) where failure.isOfValue {
      self = .refused
    }
  }

  var told: [ToldLoss]? { if case .migrated(let told, _) = self { told } else { nil } }
  var account: [ListedLine] { if case .migrated(_, let account) = self { account } else { [] } }
}

extension EntityMappingFailure {
  /// True if a value is of another kind than its attribute, or out of its range.
  fileprivate var isOfValue: Bool {
    switch underlying {
    case MigrationManagerError.unfitValue, ManagedObjectError.undecodableValue: true
    default: false
    }
  }
}

extension ListedLine {
  init(_ line: Line) {
    self.init(
      kind: line.kind.rawValue, name: line.name, count: Int(line.count),
      parts: line.parts.map { Part(fate: $0.fate.rawValue, count: Int($0.count), places: $0.places) })
  }
}

extension ToldLoss {
  init(_ loss: MigrationLoss) {
    let kind: Kind =
      switch loss.kind {
      case .objects: .objects
      case .values: .values
      case .unknownContent: .unknownContent
      case .changedValues: .changedValues
      case .links, .linksWithoutRoom: .links
      case .order: .order
      }
    self.init(kind: kind, entity: loss.entity, property: loss.property, amount: Int(loss.links ?? loss.rows))
  }
}
