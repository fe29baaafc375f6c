package import HeirloomModel
import HeirloomStore

/// All that a planner knows of a store and its candidate when the losses are counted.
package final class AccountSources {
  /// The whole models of the hop.
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

/// The accounts of a store, hop by hop, as the plans are made.
package final class StoreAccounts: Sendable {
  /// The account of the store before a hop.
  package struct Hop: Sendable {
    package let source: ManagedObjectModel
    package let destination: ManagedObjectModel
    package let lines: [Line]
  }

  private struct Found {
    /// The model of the store itself, about which the first plan is.
    var first: ManagedObjectModel?
    /// The last account that was made of a store of each model.
    var bySource: [ManagedObjectModel: Hop] = [:]
  }

  private let found = Locked(Found())

  package init() {}

  /// Makes the account of the store before a hop.
  ///
  /// - Throws: `SQLiteError`.
  package func add(_ sources: AccountSources) throws {
    let lines = try StoreAccount.lines(of: sources)
    let hop = Hop(source: sources.models[0], destination: sources.models[1], lines: lines)
    found.withLock { found in
      found.first = found.first ?? hop.source
      found.bySource[hop.source] = hop
    }
  }

  /// The hops from the store on, as far as they were planned.
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
