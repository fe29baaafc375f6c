/// A store's place: where the store is, how its files are reached, and under which settings.
struct StorePlace {
  let location: StoreLocation
  let configuration: VaultConfiguration
  let files: any FileOperations
  private let handler: (VaultEvent) throws -> Void

  init(
    _ location: StoreLocation, files: any FileOperations, configuration: VaultConfiguration,
    events: @escaping (VaultEvent) throws -> Void
  ) {
    self.location = location
    // The links in the store's path were resolved when it was located.
    self.files = files.withoutLinks
    self.configuration = configuration
    handler = events
  }

  func moved(
    to location: StoreLocation, _ change: (inout VaultConfiguration) -> Void = { _ in }
  ) -> StorePlace {
    var settings = configuration
    change(&settings)
    return StorePlace(location, files: files, configuration: settings, events: handler)
  }

  /// An error of the receiver ends the operation.
  func emit(_ event: VaultEvent) throws {
    try handler(event)
  }

  func report(_ event: VaultEvent) {
    try? handler(event)
  }

  var tree: FolderTree { FolderTree(files: files) { reportLeftOut($1, of: $0) } }
  var trust: Trust { Trust(location: location, files: files) }

  func companionStatus() throws(VaultError) -> FileStatus {
    let companion = try VaultError.wrapping { () throws(FileError) in try files.status(of: location.companion) }
    guard let companion else { throw .unusableFolder(path: location.companion, reason: "it vanished") }
    return companion
  }

  func supportFolder() throws(FileError) -> SupportFolder {
    try trust.supportFolder()
  }

  func reportPassedOver(_ names: PassedOver) {
    guard let first = names.first else { return }
    report(.passedOver(count: names.count, first: first))
  }

  func reportLeftOut(_ attributes: PassedOver, of path: String) {
    guard let first = attributes.first else { return }
    report(.attributesLeftOut(path: path, count: attributes.count, first: first))
  }
}

protocol VaultPart {
  var place: StorePlace { get }
}

extension VaultPart {
  var location: StoreLocation { place.location }
  var files: any FileOperations { place.files }
  var tree: FolderTree { place.tree }
}
