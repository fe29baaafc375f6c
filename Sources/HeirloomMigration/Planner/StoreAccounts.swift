package import HeirloomModel
import HeirloomStore

/// The planner's data about a store and its candidate, from which an account is made.
package final class AccountSources {
  /// The whole models of the hop: its source and its destination.
  let models: [ManagedObjectModel]
  let account: Account
  let parts: CandidateParts
  /// The parts that are changed, decided or lost.
  let entries: [CountedEntry]
  let connection: Connection

  init(
    of models: [ManagedObjectModel], _ account: Account, _ parts: CandidateParts, entries: [CountedEntry],
    connection: Connection
  ) {
    (self.models, self.account, self.parts) = (models, account, parts)
    (self.entries, self.connection) = (entries, connection)
  }
}

package final class StoreAccounts: Sendable {
  /// The account of the store before a hop.
  package struct Hop: Sendable {
    package let source: ManagedObjectModel
    package let destination: ManagedObjectModel
    package let lines: [Line]
  }

  private struct Found {
    /// The store's own model, which is the source of the first hop.
    var first: ManagedObjectModel?
    /// The latest for each source.
    var bySource: [ManagedObjectModel: Hop] = [:]
  }

  private let found = Locked(Found())

  package init() {}

  package func add(_ sources: AccountSources) throws {
    let lines = try StoreAccount.lines(of: sources)
    let hop = Hop(source: sources.models[0], destination: sources.models[1], lines: lines)
    found.withLock { found in
      found.first = found.first ?? hop.source
      found.bySource[hop.source] = hop
    }
  }

  package var hops: [Hop] {
    found.withLock { found in
      var hops: [Hop] = []
      var next = found.first
      while let source = next, let hop = found.bySource[source], !hops.contains(where: { $0.source == source }) {
        hops.append(hop)
        next = hop.destination
      }
      return hops
    }
  }
}
