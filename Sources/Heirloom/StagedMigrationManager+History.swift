import HeirloomFormats
public import HeirloomMigration

extension StagedMigrationManager {
  /// Creates a manager whose stages are checked against all versions that an app has shipped.
  ///
  /// - Parameters:
  ///   - stages: The stages in the order of the versions.
  ///   - history: The versions; those after the current one are ignored.
  /// - Throws: ``StagedMigrationError`` with every rule that the stages break, or ``ModelReadingError`` for a version
  ///   that can't be read.
  public convenience init(_ stages: [StoreMigrationStage], history: ModelHistory) throws {
    var versions: [(name: String, checksum: String)] = []
    for name in history.versionNames {
      let model = name == history.currentName ? history.current : try history.model(named: name)
      if let model { versions.append((name, model.versionChecksum())) }
      if name == history.currentName { break }
    }
    try self.init(stages, versions: versions)
  }
}
