package import Foundation
package import HeirloomModel
package import HeirloomVault

/// The settings by which a run plans, builds and proves.
package struct RunSettings {
  /// The policies and functions that mappings may name.
  package var policies: MigrationPolicyRegistry
  /// The choice of the candidate's builder.
  package var builder: BuilderChoice
  /// The thoroughness of the proof.
  package var proof: ProofLevel
  /// The decisions about rows that don't fit, for all hops.
  package var decisions: [DataDecision]
  /// Reads all known versions, since a decision may be for another hop's; `nil` if one can't be read.
  package var otherVersions: () -> [ManagedObjectModel]? = { [] }
  /// Returns the lock's decisions for a hop, by its source and destination; all other decisions take precedence.
  package var standingDecisions: (ManagedObjectModel, ManagedObjectModel) -> [DataDecision] = { _, _ in [] }
  /// The lock's expressions for any hop, since a decision may be about rows that another hop's expression leaves.
  package var standingExpressions: () -> [DataDecision] = { [] }
  /// True if the last hop may defer clean-up.
  package var defers: Bool
  /// The progress, which counts the rows written; cancelling it stops the run.
  package var progress: Progress?
  /// The file system, which tests replace.
  package let files: any FileOperations
  /// The function that is given the data for an account of the store; `nil` to count only changes and losses.
  package var account: ((AccountSources) throws -> Void)?
  /// The damage that a copy of the store would keep, a sentence each; if there is any, the candidate is rebuilt.
  package var damage: [String] = []
  /// True if entity numbers that can be derived from other rows are corrected first, in a copy of the store.
  ///
  /// Planning sets it if such numbers contradict the model.
  package var correctsNumbers = false
  /// The parts of other stores' plans that can be reused.
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
