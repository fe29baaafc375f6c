package import Foundation
package import HeirloomModel
package import HeirloomVault

/// The choices that a run plans, builds and proves by.
package struct RunSettings {
  /// The policies and functions that mappings may name.
  package var policies: MigrationPolicyRegistry
  /// The rule by which candidates are made.
  package var builder: BuilderChoice
  /// The thoroughness of the proof.
  package var proof: ProofLevel
  /// The decisions about rows that don't fit, in whichever hop.
  package var decisions: [DataDecision]
  /// Reads all versions that are known, besides those of a hop: a decision may be about another one.
  ///
  /// `nil` if one of them can't be read.
  package var otherVersions: () -> [ManagedObjectModel]? = { [] }
  /// Returns the decisions about the rows of a hop, by its source and destination, that count after all others:
  /// those of the lock.
  package var standingDecisions: (ManagedObjectModel, ManagedObjectModel) -> [DataDecision] = { _, _ in [] }
  /// The lock's expressions for the rows of any hop: a decision may be about what one of another hop leaves.
  package var standingExpressions: () -> [DataDecision] = { [] }
  /// True if the last hop may leave clean-up for later.
  package var defers: Bool
  /// The progress, which counts the rows written; cancelling it stops the run.
  package var progress: Progress?
  /// The file system.
  package let files: any FileOperations
  /// The function that gets all that an account of the store is made of; `nil` to count only what is changed or lost.
  package var account: ((AccountSources) throws -> Void)?
  /// The damage that a copy of the store would have too, a sentence each: the candidate is a new file if there is any.
  package var damage: [String] = []
  /// True if entity numbers that follow from other rows are corrected first, in a copy of the store.
  ///
  /// Planning sets it where such rows contradict the model.
  package var correctsNumbers = false
  /// The parts of other stores' plans that hold for this one, too.
  package var memory = PlanningMemory()

  /// Creates settings.
  package init(
    policies: MigrationPolicyRegistry = MigrationPolicyRegistry(), builder: BuilderChoice = .automatic,
    proof: ProofLevel = .standard, decisions: [DataDecision] = [], defers: Bool = false, progress: Progress? = nil,
    files: any FileOperations = POSIXFileOperations()
  ) {
    self.policies = policies
    self.builder = builder
    self.proof = proof
    self.decisions = decisions
    self.defers = defers
    self.progress = progress
    self.files = files
  }
}
