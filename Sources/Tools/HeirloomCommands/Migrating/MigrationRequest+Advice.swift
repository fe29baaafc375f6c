import Heirloom
import HeirloomOutput

extension MigrationRequest {
  var advice: MigrationAdvice {
    MigrationAdvice(skeleton: skeletonCommand, acknowledgement: acknowledgement)
  }

  private func skeletonCommand(forStoreAt store: String) -> String? {
    // The command compares with one model.
    guard let path = paths.first, paths.count == 1 else { return nil }
    let known = try? console.history(at: path)
    let sources = [store] + otherPaths
    for source in sources {
      guard let model = try? NamedModel(at: source, console: console, known: known?.versions ?? { _ in [] }).model
      else {
        continue
      }
      // If there are several steps, the first one without a mapping is to be written.
      let ends = openStep(at: path, from: model) ?? (source, path)
      return "heirloom compare \(shellWord(ends.0)) \(shellWord(ends.1)) --skeleton"
    }
    return nil
  }

  /// Paths of the two versions of the history's first step that has an unconsented loss or can't be
  /// inferred; `nil` if there is none.
  private func openStep(at path: String, from source: ManagedObjectModel) -> (String, String)? {
    guard let check = try? CheckedHistory(at: path, console: console), let byApp = try? check.versionsByCode([]) else {
      return nil
    }
    let versions = Array(check.migratedVersions)
    guard let start = versions.lastIndex(where: { $0.model.versionHashes() == source.versionHashes() }),
      start < versions.count - 2
    else { return nil }
    let review = LossReview(of: versions, acknowledged: check.acknowledgements, mappings: mappings, byApp: byApp)
    let open = Set(review.losses.filter { !$0.isAcknowledged }.map { [$0.source.name, $0.destinationName] })
    return zip(versions, versions.dropFirst()).dropFirst(start).first { earlier, later in
      guard !byApp.contains(earlier.name) else { return false }
      if open.contains([earlier.name, later.name]) { return true }
      do throws(MappingInferenceError) {
        _ = try LossReview.path(through: [earlier, later], mappings)
        return false
      } catch {
        return true
      }
    }.map { ($0.path, $1.path) }
  }

  /// The lock uses the names of each step, in which a store's property may have had another name.
  private func acknowledgement(of plan: MigrationPlan) -> String? {
    guard !history.parts.isEmpty else { return paths.first.flatMap { acknowledgement(of: plan, $0, plan.source) } }
    // One command acknowledges losses of one part only.
    let versions = history.versions(havingAllOf: plan.source.versionHashes()).versions
    for (path, (part, name)) in zip(paths, zip(history.parts, versions)) {
      guard let name, let model = try? part.model(named: name) else { continue }
      if let command = acknowledgement(of: plan, path, model) { return command }
    }
    return nil
  }

  private func acknowledgement(of plan: MigrationPlan, _ path: String, _ source: ManagedObjectModel) -> String? {
    guard let check = try? CheckedHistory(at: path, console: console), check.lock != nil,
      let byApp = try? check.versionsByCode([])
    else { return nil }
    let versions = Array(check.migratedVersions)
    guard let position = versions.lastIndex(where: { $0.model.versionHashes() == source.versionHashes() }),
      position < versions.count - 1
    else { return nil }
    let review = LossReview(of: versions, acknowledged: check.acknowledgements, mappings: mappings, byApp: byApp)
    let open = review.losses.filter { !$0.isAcknowledged }
    let steps = zip(versions, versions.dropFirst()).map { source, destination in
      review.losses.filter { $0.source.name == source.name && $0.destinationName == destination.name }.map(\.effect)
    }
    let trail = LossTrail(through: versions.map(\.model), losses: steps).starting(at: position)
    var names: [String] = []
    for loss in plan.unconsentedLosses {
      let causes = trail.causes(of: loss.kind, losing: loss.property, of: loss.entity)
      let step = open.filter { open in
        causes.contains { versions[position + $0.hop].name == open.source.name && $0.effect == open.effect }
      }
      let long = open.filter {
        $0.source.name == versions[position].name && $0.name == loss.name && $0.effect.kind.lossKind == loss.kind
      }
      let found = (step.isEmpty ? long : step).map(\.name)
      guard !found.isEmpty else { return nil }
      for name in found where !names.contains(name) { names.append(name) }
    }
    guard !names.isEmpty else { return nil }
    return "heirloom check \(shellWord(path))" + names.map { " --acknowledge \(shellWord($0))" }.joined()
  }
}
