import Heirloom
import HeirloomMigration
import TestSupport

/// An act of a life; each has a source of random numbers, so that a life without some of its acts goes on as before.
struct LifeAct: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case migrate, write, writeObjects, restore, launch, release, finishDeferred, bringBack
    case damageFiles, damageVersion
  }

  let kind: Kind
  let random: SplitMix64

  /// As often as they come between those of a plot.
  private static let drawn: [Kind] = [
    .migrate, .migrate, .write, .write, .write, .writeObjects, .restore, .launch, .launch, .release, .finishDeferred,
    .bringBack, .damageFiles, .damageVersion,
  ]
  /// The beginnings of lives, between which other acts come.
  private static let plots: [[Kind]] = [
    [.migrate, .write, .restore, .migrate, .launch, .launch], [.write, .migrate, .write, .restore, .write, .launch],
    [.write, .migrate, .launch, .migrate, .launch], [.migrate, .restore, .write, .restore, .launch, .launch],
    [.migrate, .write, .restore, .write, .migrate, .restore, .migrate, .launch],
    [.migrate, .damageFiles, .restore, .launch, .launch], [.migrate, .migrate, .damageVersion, .launch, .launch],
    [.write, .migrate, .finishDeferred, .launch],
  ]

  static func all(using random: inout SplitMix64) -> [LifeAct] {
    var acts: [LifeAct] = []
    for kind in plots[random.below(plots.count)] {
      for _ in 0..<(random.below(3) == 0 ? 1 : 0) { acts.append(LifeAct(using: &random)) }
      acts.append(LifeAct(kind, using: &random))
    }
    return acts
  }

  private init(_ kind: Kind? = nil, using random: inout SplitMix64) {
    self.kind = kind ?? Self.drawn[random.below(Self.drawn.count)]
    self.random = SplitMix64(seed: random.next())
  }
}

final class LifeDelegate: MigrationAssistantDelegate {
  private var random: SplitMix64

  init(random: SplitMix64) { self.random = random }

  func migrationAssistant(_ assistant: MigrationAssistant, shouldMigrate plan: MigrationPlan) -> MigrationDecision {
    if plan.blockers.isEmpty { return .automatic }
    let decisions = plan.blockers.compactMap { blocker -> DataDecision? in
      guard let option = blocker.choices.randomElement(using: &random) else { return nil }
      let properties = (blocker.property ?? "").split(separator: ",").map { String($0.trimming(" ")) }
      let choice: DataDecision.Choice =
        switch option {
        case .fill: .fill(plan.value(for: blocker.entity, properties.first ?? ""))
        case .newest: .keepNewest(by: nil)
        case .merge: .merge(by: nil)
        case .new, .quarantine: .quarantine
        @unknown default: .quarantine
        }
      return properties.count > 1
        ? DataDecision(entity: blocker.entity, constraint: properties, choice)
        : DataDecision(entity: blocker.entity, property: properties.first, choice)
    }
    return .proceed(
      deciding: decisions, consentingToLosses: random.below(3) == 0, acceptingUnknownVersion: random.below(3) == 0)
  }
}

extension MigrationPlan {
  fileprivate func value(for entity: String, _ attribute: String) -> AttributeValue {
    switch destination.attributes(of: entity).first(where: { $0.name == attribute })?.type {
    case .string: .string("filled")
    case .double, .float: .double(7)
    case .date: .date(7)
    case .decimal: .decimal("7")
    case .uri: .uri("https://example.invalid/")
    case .binary, .transformable: .binary([7])
    case .uuid: .uuid([UInt8](repeating: 7, count: 16))
    default: .integer(7)
    }
  }
}

extension Substring {
  fileprivate func trimming(_ character: Character) -> Substring {
    drop { $0 == character }
  }
}
