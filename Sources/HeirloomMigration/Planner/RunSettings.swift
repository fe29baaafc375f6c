package import Foundation
package import HeirloomModel
package import HeirloomVault

package struct RunSettings {
  package var policies: MigrationPolicyRegistry
  package var builder: BuilderChoice
  package var proof: ProofLevel
  /// For all hops.
  package var decisions: [DataDecision]
  /// Reads all known versions, since a decision may be for another hop's; `nil` if one can't be read.
  package var otherVersions: () -> [ManagedObjectModel]? = { [] }
  /// Returns the lock's decisions for a hop, by its source and destination; all other decisions take precedence.
  package var standingDecisions: (ManagedObjectModel, ManagedObjectModel) -> [DataDecision] = { _, _ in [] }
  /// The lock's expressions for any hop, since a decision may be about rows that another hop's expression leaves.
  package var standingExpressions: () -> [DataDecision] = { [] }
  /// True if the last hop may defer clean-up.
  package var defers: Bool
  /// Counts the rows written; cancelling it stops the run.
  package var progress: Progress?
  /// Tests replace it.
  package let files: any FileOperations
  /// The function that is given the data for an account of the store; `nil` to count only changes and losses.
  package var account: ((AccountSources) throws -> Void)?
  /// The damage that a copy of the store would keep, a sentence each; if there is any, the candidate is rebuilt.
  package var damage: [String] = []
  /// True if entity numbers that can be derived from other rows are corrected first, in a copy of
  /// the store; planning sets it if such numbers contradict the model.
  package var correctsNumbers = false
  /// The parts of other stores' plans that can be reused.
  package var memory = PlanningMemory()

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
