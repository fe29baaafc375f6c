extension Command {
  /// In the order of their use.
  static var all: [Command] {
    [
      .inspect, .doctor, .verify, .compare, .plan, .rehearse, .migrate, .versions, .restore, .repair, .salvage,
      .newVersion, .snapshot, .freeze, .history, .check, .squash, .merge, .diagram, .report, .generate, .demo,
      .completions,
    ]
  }
}
