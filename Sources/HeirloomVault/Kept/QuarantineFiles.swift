import HeirloomModel

/// The files with the rows that migrations left out, one or more to a previous version.
struct QuarantineFiles: VaultPart {
  let place: StorePlace

  /// Their names contain the previous version's name, so the operation's manifest identifies them.
  func publish(from work: WorkFolder, name: VersionName) throws(VaultError) {
    let drafts = try VaultError.wrapping { () throws(FileError) in
      try files.names(in: work.path).compactMap { draft in
        StoreLocation.quarantinePart(ofDraft: draft).map { (name: draft, part: $0) }
      }.ordered { $0.part < $1.part }
    }
    guard !drafts.isEmpty else { return }
    try tree.ensure(location.quarantine, like: try place.companionStatus())
    try VaultError.wrapping { () throws(FileError) in
      try files.synchronizeDirectory(location.companion)
      for draft in drafts {
        let path = PathText.join(location.quarantine, StoreLocation.quarantineName(name, part: draft.part))
        if try files.status(of: path) != nil {
          throw FileError(.rename, path, code: 0, reason: "there is a file of that name")
        }
        try files.rename(PathText.join(work.path, draft.name), to: path)
      }
      try files.synchronizeDirectory(location.quarantine)
    }
  }

  /// For an operation that did not reach its commit point.
  func remove(of folder: String) throws(FileError) {
    guard try files.status(of: location.quarantine)?.kind == .directory else { return }
    for name in try files.names(in: location.quarantine) where name.hasPrefix(folder + ".") {
      try files.unlink(PathText.join(location.quarantine, name))
    }
    // Also if no file is there: an earlier run may have died between a removal and its sync.
    try files.synchronizeDirectory(location.quarantine)
  }

  func paths(of id: String? = nil) throws(VaultError) -> [String] {
    try VaultError.wrapping { () throws(FileError) in
      guard try files.status(of: location.quarantine)?.kind == .directory else { return [] }
      return try files.names(in: location.quarantine).filter { name in
        name.hasSuffix(".jsonl") && (id.map { name.hasPrefix($0 + ".") } ?? true)
      }.map { PathText.join(location.quarantine, $0) }
    }
  }
}

extension StoreLocation {
  private static let draftStart = "quarantine-"
  private static let ending = ".jsonl"

  package var quarantine: String { PathText.join(companion, "quarantine") }

  package static func quarantineDraftName(part: Int) -> String { "\(draftStart)\(part)\(ending)" }

  package static func quarantinePart(ofDraft name: String) -> Int? {
    guard name.hasPrefix(draftStart), name.hasSuffix(ending) else { return nil }
    return Int(name.dropFirst(draftStart.count).dropLast(ending.count))
  }

  static func quarantineName(_ version: VersionName, part: Int) -> String {
    version.text + (part == 1 ? "" : ".\(part)") + ending
  }
}

extension VaultPart {
  var quarantine: QuarantineFiles { QuarantineFiles(place: place) }
}
