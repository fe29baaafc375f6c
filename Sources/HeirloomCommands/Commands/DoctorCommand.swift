import Foundation
import Heirloom

extension Command {
  /// Tells on one screen how a store is.
  static let doctor = Command(
    name: "doctor", usage: "STORE [--model MODEL]…",
    summary: "one screen: what it is, which model fits, what is kept, what to run next",
    details: [
      "Runs the checks of heirloom verify and shows the worst findings in short. Nothing is written and no lock is taken; a store"
        + " that is gone or can't be read is looked for among what is kept. The exit code is 0 whatever is found."
    ],
    options: [.model], example: "heirloom doctor Journal.sqlite", positionals: ["STORE"], requiredCount: 1,
    run: DoctorCommand.run)
}

/// Tells on one screen how a store is.
enum DoctorCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = console.path(arguments.positionals[0])
    do {
      return try StoreDiagnosis(of: path, models: arguments.all("--model"), console: console).report(console.style)
    } catch {
      throw CommandFailure(error).aboutStore(at: path)
    }
  }
}
