import Foundation
import Heirloom
import HeirloomCompare
import HeirloomOutput

extension MigrationPage {
  // MARK: Losses, obstacles, warnings

  var losses: Markup? {
    guard let plan else { return nil }
    guard !plan.losses.isEmpty else {
      return section("losses", "What is lost", .tag("p", text: "Nothing is lost."))
    }
    let items = plan.losses.map { loss -> (count: String?, text: String, advice: String?) in
      (loss.amount, loss.reason, PlanText.words(loss.consent).map(sentence))
    }
    return section(
      "losses", "What is lost", findings(.bad, sign: "−", items),
      .tag("p", text: "The previous version is kept beside the store, with all of it."))
  }

  /// Also blockers and failures that prevent a migration.
  var obstacles: Markup? {
    let blockers =
      plan.map { plan in
        plan.blockers.map { blocker -> (count: String?, text: String, advice: String?) in
          (counted(blocker.rows, "row"), blocker.reason, blocker.optionText(in: plan))
        }
      } ?? []
    let obstacles = plan == nil ? difference?.difference.obstacles ?? [] : []
    let others = obstacles.map { obstacle -> (count: String?, text: String, advice: String?) in
      (nil, obstacle.reason, obstacle.suggestion)
    }
    var failures: [(count: String?, text: String, advice: String?)] = []
    if blockers.isEmpty, others.isEmpty, let objection {
      failures = [(nil, objection, failure?.suggestion)]
    }
    if case .failed(let found) = rehearsal { failures.append((nil, found.message, found.suggestion)) }
    let items = blockers + others + failures
    return items.isEmpty ? nil : section("obstacles", "What stands in the way", findings(.bad, items))
  }

  var decisions: Markup? {
    guard let outcomes = plan?.decisions, !outcomes.isEmpty else { return nil }
    return section("decisions", "What was decided", list(outcomes.map(\.words)))
  }

  var renamed: Markup? {
    guard let changes = difference?.renamed, !changes.isEmpty else { return nil }
    return section("renamed", "What is renamed", list(changes.map { "\($0.subject): \($0.sentence)" }))
  }

  /// Suspected renames, which the plan treats as removals and additions.
  var renames: Markup? {
    guard let text = difference, !text.difference.renames.isEmpty else { return nil }
    let items = text.difference.renames.map { suspicion -> (count: String?, text: String, advice: String?) in
      let entity = suspicion.kind == .entity ? "" : "\(suspicion.entity): "
      return (nil, entity + sentence(suspicion.question), text.advice(on: suspicion).joined(separator: " "))
    }
    return section(
      "renames", "Perhaps renamed", findings(.warning, sign: "?", items),
      .tag("p", text: "Nothing is done about it unless the model says so."))
  }

  /// Warnings, and irregularities in the models and the store.
  var surprises: Markup? {
    var measured: Double?
    if case .passed(let report) = rehearsal { measured = report.seconds }
    let odd = (difference?.difference.diagnostics ?? []).filter { $0.kind != .suspectedRename }
    let items =
      (plan.map { LaunchTime($0, seconds: measured).words } ?? [])
      + (plan?.warnings ?? []).map(sentence) + odd.map(\.description) + store.notes.map(sentence)
    guard !items.isEmpty else { return nil }
    return section("surprises", "What may surprise", findings(.warning, items.map { (nil, $0, nil) }))
  }

  // MARK: The store

  /// As in `heirloom doctor`.
  var findingSection: Markup? {
    let lists = [true, false].compactMap { isError -> Markup? in
      let items = store.findings.filter { $0.isError == isError }
      return items.isEmpty ? nil : findings(isError ? .bad : .warning, items.map { (nil, $0.text, nil) })
    }
    return section(
      "findings", "What heirloom doctor finds", .tag("p", text: sentence(store.findingCounts)), .group(lists))
  }

  var storeSection: Markup? {
    var items = [
      (name: "Store", text: store.path),
      (name: "Version", text: (store.versionName ?? "unknown") + (store.origin.map { "; " + $0 } ?? "")),
      (name: "To be brought to", text: destinationName),
    ]
    if let difference { items.append((name: "Difference", text: difference.verdictWords)) }
    if let configuration = store.configuration { items.append((name: "Configuration", text: configuration)) }
    items.append((name: "Entities", text: grouped(Int64(store.entityCount))))
    items.append((name: "Objects", text: grouped(store.rowCount)))
    if !store.deferred.isEmpty {
      items.append((name: "Left by a deferred migration", text: listText(store.deferred)))
    }
    return section("store", "The store", definitions(items))
  }

  var objects: Markup? {
    guard let plan else { return nil }
    let shown = plan.rows.filter { $0.before ?? 0 > 0 || $0.after ?? 0 > 0 }
    let empty = plan.rows.count - shown.count
    let rest = empty > 0 ? "\(counted(Int64(empty), "entity")) without objects." : "Every entity has objects."
    guard !shown.isEmpty else { return section("objects", "Objects", .tag("p", text: "There are none.")) }
    return section(
      "objects", "Objects",
      table(
        rest, header: [("Entity", false), ("before", true), ("after", true)],
        rows: shown.map { [$0.entity, $0.before.map(grouped) ?? "–", $0.after.map(grouped) ?? "–"] }))
  }

  var costs: Markup? {
    guard let plan else { return nil }
    let way =
      switch plan.builder {
      case .rebuild: "in a new file, table by table"
      case .cloneAndAlter: "in a copy of the store, in which only what differs is changed"
      }
    var items = [
      (name: "Rewritten rows", text: grouped(plan.rowsRewritten)), (name: "Built", text: way),
      (name: "Estimated time", text: "about \(durationText(plan.estimatedDuration / .seconds(1)))"),
      (name: "Space", text: PlanText(plan: plan).spaceWords),
    ]
    switch rehearsal {
    case .none: items.append((name: "Rehearsal", text: "none; heirloom report --rehearse makes one on a copy"))
    case .passed(let report):
      items.append((name: "Rehearsal", text: "on a copy, the proof passed"))
      items.append((name: "Measured time", text: durationText(report.seconds)))
    case .failed: items.append((name: "Rehearsal", text: "failed"))
    }
    if !plan.deferred.items.isEmpty {
      items.append((name: "Deferred clean-up", text: listText(plan.deferred.items)))
    }
    return section("costs", "Time and space", definitions(items))
  }

  // MARK: The models

  var changes: Markup? {
    guard let changes = difference?.difference.changes, !changes.isEmpty else { return nil }
    var pieces: [Markup] = [.tag("h2", ["id": "changes-title"], text: "What changes")]
    var rest = changes[...]
    while let first = rest.first {
      let run = rest.prefix { $0.entity == first.entity }
      rest = rest.dropFirst(run.count)
      pieces.append(.tag("h3", text: first.entity ?? "The model as a whole"))
      pieces.append(
        list(
          run.map { change in
            let subject = change.property.map { "\($0): " } ?? ""
            return "\(subject)\(change.sentence)" + (change.effect == .nothing ? "" : "; \(change.effect.sentence)")
          }))
    }
    return .tag("section", ["id": "changes", "aria-labelledby": "changes-title"], all: pieces)
  }

  var picture: Markup? {
    guard let difference = difference?.difference else { return nil }
    let title = "\(store.versionName ?? name) → \(destinationName)"
    let diagram = DiagramBuilder.diagram(of: difference, title: title).changesOnly
    guard !diagram.boxes.isEmpty else { return nil }
    return section(
      "picture", "The difference as a picture",
      .tag(
        "figure", [:],
        .tag(
          "div",
          ["class": "picture", "role": "group", "tabindex": "0", "aria-label": "A picture that scrolls: \(title)"],
          SVGDiagram(diagram).inline),
        .tag(
          "figcaption",
          text:
            "Changed entities, and those that a line connects to them. Signs mean the same as colours: + added, − removed,"
            + " ~ changed, → renamed.")))
  }

  var steps: Markup? {
    guard let plan, !plan.steps.isEmpty else { return nil }
    let later = plan.hops.count - 1
    let following = later == 0 ? [] : ["Then on to \(destinationName) in \(later) more."]
    return section("steps", "Steps", list(PlanText(plan: plan).stepTexts + following, name: "ol"))
  }
}
