public import Foundation
public import HeirloomFormats
public import HeirloomMapping
public import HeirloomModel
package import HeirloomStore

/// The versions of an app's model: the current one and those that were shipped before.
///
/// Only the current version is read at once. The others are read when a store needs them, and a few are cached for the
/// next store.
public struct ModelHistory: Sendable {
  /// The model that the app is built for.
  public let current: ManagedObjectModel
  /// The name of the current version.
  public let currentName: String
  /// The warnings about the list of versions and the current version's file, one sentence each.
  public let warnings: [String]

  package let currentHashes: [String: VersionHash]
  package private(set) var lock: VersionLock?
  var steps: [GivenHop] = []
  /// According to the versions' source, besides those of the lock.
  var plannedStepsByCode: [VersionLock.Step] = []
  private(set) var versions: [Version]
  var memory = HistoryMemory()
  /// Of a merged model; empty for a history of one model.
  package internal(set) var parts: [ModelHistory] = []
  var merger: Merger?

  struct Version: Sendable {
    let name: String
    let source: Source
    /// For a merged model, the file of the part that differs from the version before.
    var file: ModelFile?
    /// False if the version's place in the order is only guessed from names.
    var isPlaced: Bool = true
    var lockedChecksum: String?
    /// Given explicitly for the stores to be migrated, as by `--model`.
    var isGiven: Bool = false
  }

  indirect enum Source: Sendable {
    case model(ManagedObjectModel)
    case file(ModelFile)
    case merged(@Sendable () throws(ModelReadingError) -> ManagedObjectModel)

    func read() throws(ModelReadingError) -> ManagedObjectModel {
      switch self {
      case .model(let model): model
      case .file(let file): try file.read().model
      case .merged(let merge): try merge()
      }
    }
  }

  /// Reads a history from files.
  ///
  /// - Parameter url: An `.xcdatamodeld` or `.momd`, with its current version; one model (`.xcdatamodel`, `.mom`, a
  ///   snapshot), which is current, with the others in its bundle; or a folder of snapshots.
  /// - Throws: ``ModelReadingError`` if there is no readable current model.
  public init(contentsOf url: URL) throws(ModelReadingError) {
    try self.init(ModelVersionList(url.path), path: url.path)
  }

  package init(_ list: ModelVersionList, path: String) throws(ModelReadingError) {
    guard let version = list.currentVersion else {
      throw ModelReadingError(path: path, problem: .notModel(.bundleWithoutVersions))
    }
    let read = try version.file.read()
    self.init(
      current: read.model, name: version.name, warnings: list.warnings + read.warnings.map(\.description),
      versions: list.versions.map { other in
        Version(
          name: other.name, source: other.name == version.name ? .model(read.model) : .file(other.file),
          file: other.file,
          // Only the current version may be unshipped, while it is being developed: it comes last.
          isPlaced: other.entry != nil || other.isPlanned
            || list.lock != nil && other == list.versions.last && other.name == version.name
              && list.versions.dropLast().allSatisfy { $0.entry != nil },
          lockedChecksum: other.lockedChecksum)
      }, lock: list.lock)
    plannedStepsByCode = list.stepsByCode
  }

  /// Creates a history of models that an app holds in memory.
  ///
  /// - Parameters:
  ///   - current: The model that the app is built for.
  ///   - name: Its name.
  ///   - earlier: The models shipped before, the oldest first, with their names.
  ///   - later: The models that come after the current one, such as those of a beta, with their names.
  public init(
    current: ManagedObjectModel, name: String = "current", earlier: [(name: String, model: ManagedObjectModel)] = [],
    later: [(name: String, model: ManagedObjectModel)] = []
  ) {
    self.init(
      current: current, name: name, warnings: [],
      versions: earlier.map { Version(name: $0.name, source: .model($0.model)) } + [
        Version(name: name, source: .model(current))
      ] + later.map { Version(name: $0.name, source: .model($0.model)) })
  }

  init(
    current: ManagedObjectModel, name: String, warnings: [String], versions: [Version], lock: VersionLock? = nil
  ) {
    self.lock = lock
    self.current = current
    currentName = name
    self.warnings = warnings
    self.versions = versions
    currentHashes = current.versionHashes()
  }

  /// For an app whose models are not known.
  package static let unknown: ModelHistory = ModelHistory(current: .empty)

  package var isKnown: Bool { !current.entities.isEmpty }

  package var acknowledgements: [VersionLock.Acknowledgement] { lock?.namedAcknowledgements ?? [] }

  var stepsByCode: [VersionLock.Step] { (lock?.namedStepsByCode ?? []) + plannedStepsByCode }

  func stepsByCode(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [VersionLock.Step] {
    // Finding names requires reading versions, which few histories need.
    guard !stepsByCode.isEmpty, let first = name(of: source), let last = name(of: destination) else { return [] }
    return stepsByCode(from: first, to: last)
  }

  func stepsByCode(from first: String, to last: String) -> [VersionLock.Step] {
    let names = versionNames
    guard let start = names.firstIndex(of: first), let end = names.firstIndex(of: last), start < end else { return [] }
    return stepsByCode.filter { step in
      guard let from = names.firstIndex(of: step.source), let to = names.firstIndex(of: step.destination) else {
        return false
      }
      return start <= from && to <= end
    }
  }

  /// Only among the versions that were read so far.
  var editedVersions: [(entry: VersionLock.Entry, entities: [String])] {
    var edited = (lock?.versions ?? []).compactMap { entry in
      let hashes = entry.name == currentName ? currentHashes : nil
      return memory.editedEntities(since: entry, hashes: hashes).map { (entry: entry, entities: $0) }
    }
    for part in parts { edited += part.editedVersions }
    return edited
  }

  /// The name of the oldest version whose stores are still migrated, from `lock.json`; `nil` if all are.
  public var floor: String? { lock?.floorName }

  /// The names of all versions in their order: that of `lock.json`, else the natural order of names.
  public var versionNames: [String] { versions.map(\.name) }

  /// Reads the version of the given name.
  ///
  /// - Parameter name: One of ``versionNames``.
  /// - Returns: `nil` for an unknown name.
  /// - Throws: ``ModelReadingError`` if the version's file can't be read.
  public func model(named name: String) throws(ModelReadingError) -> ManagedObjectModel? {
    guard let version = versions.first(where: { $0.name == name }) else { return nil }
    if case .model(let model) = version.source { return model }
    return try memory.model(named: name) { () throws(ModelReadingError) in try version.source.read() }
  }

  /// Returns the name of a model's version.
  ///
  /// - Parameter model: A model, such as one passed to a delegate.
  /// - Returns: The name of the version that is equal, else of the last one with the same version hashes; `nil` if
  ///   there is none.
  public func name(of model: ManagedObjectModel) -> String? {
    if model == current { return currentName }
    let hashes = model.versionHashes()
    return versionNames.first { (try? self.model(named: $0)) == model } ?? version(withHashes: hashes)?.name
  }

  /// Of equal versions, else of those with the same version hashes.
  func names(of model: ManagedObjectModel) -> [String] {
    let candidates = versions(withHashes: model.versionHashes())
    let equal = candidates.filter { $0.model == model }
    let found = Set((equal.isEmpty ? candidates : equal).compactMap(\.name))
    return versionNames.filter(found.contains)
  }

  /// In a merged history, each is added to the part with which it shares the most entity names.
  package func adding(_ models: [(name: String, model: ManagedObjectModel)]) -> ModelHistory {
    var history = self
    for index in parts.indices {
      let own = models.filter { model in
        let shared = parts.map { part in model.model.entities.count { part.current.entity(named: $0.name) != nil } }
        return shared.firstIndex(of: shared.max() ?? 0) == index
      }
      history.parts[index] = parts[index].adding(own)
    }
    history.versions = models.map { Version(name: $0.name, source: .model($0.model), isPlaced: false) } + versions
    history.memory = HistoryMemory()
    return history
  }

  /// They come first among those with a store's hashes: they were given for it, as by `--model`.
  package func trusting(_ names: Set<String>) -> ModelHistory {
    var history = self
    for index in versions.indices { history.versions[index].isGiven = names.contains(versions[index].name) }
    history.parts = parts.map { $0.trusting(names) }
    return history
  }

  package func locked(by lock: VersionLock?) -> ModelHistory {
    var history = self
    history.lock = lock
    return history
  }

  /// From the same file, so the version need not be read.
  package func lists(_ version: ModelVersionList.Version) -> Bool {
    versions.contains { $0.name == version.name && $0.file == version.file } || parts.contains { $0.lists(version) }
  }

  /// Empty without `lock.json`: names don't define the order.
  package func versionsBetween(_ name: String, and laterName: String? = nil) -> [ManagedObjectModel] {
    namedVersionsBetween(name, and: laterName ?? currentName).map(\.model)
  }

  /// `isByName` allows the order of names where no lock defines it.
  func namedVersionsBetween(
    _ name: String, and laterName: String, isByName: Bool = false
  ) -> [(name: String, model: ManagedObjectModel)] {
    guard let position = versions.firstIndex(where: { $0.name == name }),
      let later = versions.firstIndex(where: { $0.name == laterName }), position < later,
      versions[position...later].allSatisfy({ $0.isPlaced || isByName && $0.file != nil })
    else { return [] }
    var models: [(name: String, model: ManagedObjectModel)] = []
    for version in versions[(position + 1)..<later] {
      guard let model = try? model(named: version.name) else { return [] }
      models.append((version.name, model))
    }
    // A store never migrates to a version with its own hashes, so renames in that version don't apply to it.
    let start = (try? model(named: name))?.versionHashes()
    return Array(models.drop { $0.model.versionHashes() == start })
  }

  /// All versions if the place of one isn't known, or if the path goes back to an earlier one; else
  /// none.
  func versionsByMapping(from name: String?) -> [(name: String, model: ManagedObjectModel)] {
    guard !versions.allSatisfy(\.isPlaced) || name.map(isNewer) ?? false else { return [] }
    return versions.compactMap { version in (try? model(named: version.name)).map { (version.name, $0) } }
  }

  /// Reads a mapping model for two versions of this history.
  ///
  /// An `.xcmappingmodel` names its versions but has no version hashes. If the history has versions of those names,
  /// the hashes of these versions are added, and the mapping model fits them only.
  ///
  /// - Parameter url: The URL of an `.xcmappingmodel`, or of a compiled `.cdm`.
  /// - Returns: The mapping model, for ``MigrationAssistant/Configuration/mappings``.
  /// - Throws: ``MappingReadingError`` if no mapping model can be read, or if it doesn't fit the versions that it
  ///   names.
  public func mappingModel(contentsOf url: URL) throws(MappingReadingError) -> MappingModel {
    let read = try MappingModelFile.read(url.path).read
    return try bound(read, path: url.path) ?? read.mappingModel
  }

  /// `nil` if a version that the mapping model names is not in the history.
  package func bound(_ read: ReadMappingModel, path: String) throws(MappingReadingError) -> MappingModel? {
    if read.mappingModel.carriesHashes { return read.mappingModel }
    for part in parts {
      if let bound = try part.bound(read, path: path) { return bound }
    }
    guard let from = read.sourceModelName, let to = read.destinationModelName, let source = try? model(named: from),
      let destination = try? model(named: to)
    else { return nil }
    let mismatches = read.mismatches(from: source, to: destination)
    guard mismatches.isEmpty else {
      throw MappingReadingError(path: path, problem: .unfit(source: from, destination: to, mismatches: mismatches))
    }
    return read.mappingModel.completed(from: source, to: destination)
  }

  package func isNewer(_ name: String) -> Bool {
    guard let position = versions.firstIndex(where: { $0.name == name }),
      let currentPosition = versions.firstIndex(where: { $0.name == currentName })
    else { return false }
    return position > currentPosition
  }

  /// `nil` also for a version below the floor that was shipped again, with the same hashes, from
  /// the floor on.
  package func versionBelowFloor(withHashes hashes: [String: VersionHash]) -> String? {
    guard let lock, lock.floor != nil, hashes != currentHashes else { return nil }
    let checksum = ManagedObjectModel.versionChecksum(of: hashes)
    let below = lock.versionsBelowFloor
    guard !lock.versions[below.endIndex...].contains(where: { $0.checksum == checksum }) else { return nil }
    return below.last { $0.checksum == checksum }?.name
  }

  /// The lock has the current version and not the model, which then must be later.
  func wasShippedBefore(_ model: ManagedObjectModel) -> Bool {
    guard let lock else { return false }
    let shipped = Set(lock.versions.map(\.checksum))
    return shipped.contains(ManagedObjectModel.versionChecksum(of: currentHashes))
      && !shipped.contains(model.versionChecksum())
  }

  /// Leaves out models that were given explicitly, which may be later.
  func checksums(before name: String, of model: ManagedObjectModel) -> [String] {
    memory.checksums(before: name) {
      let own = model.versionChecksum()
      let shipped = lock.map { $0.versions.prefix { $0.name != name }.compactMap(\.checksum) } ?? []
      let listed = versions.prefix { $0.name != name }.compactMap(checksum)
      var checksums: [String] = []
      for checksum in shipped + listed where checksum != own && !checksums.contains(checksum) {
        checksums.append(checksum)
      }
      return checksums
    }
  }

  private func checksum(of version: Version) -> String? {
    guard version.isPlaced || version.file != nil else { return nil }
    if let locked = version.lockedChecksum { return locked }
    return hashes(of: version).map(ManagedObjectModel.versionChecksum)
  }

  func hashes(of version: Version) -> [String: VersionHash]? {
    if case .model(let model) = version.source { return model.versionHashes() }
    return memory.hashes(ofVersionNamed: version.name) { () throws(ModelReadingError) in try version.source.read() }
  }

  package var hasLaterVersions: Bool { versions.last.map { $0.name != currentName } ?? false }

  package func version(withHashes hashes: [String: VersionHash]) -> (name: String, model: ManagedObjectModel)? {
    if hashes == currentHashes { return (currentName, current) }
    if let way = merger?.findWay(self, hashes) { return way.version(withHashes: hashes) }
    return candidates(withHashes: hashes, isOneEnough: true).first.map { ($0.name, $0.model) }
  }

  /// The likeliest first.
  package func versions(withHashes hashes: [String: VersionHash]) -> [VersionCandidate] {
    if let way = merger?.findWay(self, hashes) { return way.versions(withHashes: hashes) }
    return candidates(withHashes: hashes, isOneEnough: false).map {
      VersionCandidate(name: $0.name, model: $0.model, isGiven: $0.isGiven)
    }
  }

  /// Backwards from the current one, since a store is most often one version behind; later ones
  /// last, since a version may have been shipped again.
  var likelyVersions: [Version] {
    let position = versions.firstIndex { $0.name == currentName }.map { $0 + 1 } ?? versions.count
    return versions[..<position].reversed() + versions[position...]
  }

  private func candidates(
    withHashes hashes: [String: VersionHash], isOneEnough: Bool
  ) -> [(name: String, model: ManagedObjectModel, isGiven: Bool)] {
    var found: [(name: String, model: ManagedObjectModel, isGiven: Bool)] = []
    let checksum = isOneEnough ? "" : ManagedObjectModel.versionChecksum(of: hashes)
    for version in likelyVersions {
      if isOneEnough, !found.isEmpty { break }
      guard let model = self.model(of: version, ifItHas: hashes, isNext: found.isEmpty, checksum) else { continue }
      found.append((version.name, model, version.isGiven))
    }
    return found
  }

  /// `isNext` is true if no version was found yet: this one may then be on the store's path, and is
  /// cached.
  private func model(
    of version: Version, ifItHas hashes: [String: VersionHash], isNext: Bool, _ checksum: String
  ) -> ManagedObjectModel? {
    if case .model(let model) = version.source { return model.versionHashes() == hashes ? model : nil }
    if memory.isKnownToDiffer(versionNamed: version.name, from: hashes) { return nil }
    // Once a version is found, the lock's checksum is enough to rule out other shipped versions.
    if !isNext, let locked = version.lockedChecksum, locked != checksum { return nil }
    let model = try? memory.model(named: version.name, keptIfOf: isNext ? nil : hashes) {
      () throws(ModelReadingError) in try version.source.read()
    }
    return model?.versionHashes() == hashes ? model : nil
  }

  /// Of versions with as many differences, those with columns like the store's come first.
  package func nearestVersions(to hashes: [String: VersionHash], ofStoreAt path: String) -> [NearVersion] {
    let actual = try? StoreReading.withQuietConnection(toStoreAt: path) { connection throws(StoreError) in
      do throws(SQLiteError) {
        return try ActualSchema(of: connection)
      } catch {
        throw StoreError(error, path: path)
      }
    }
    var near: [(likeness: Int, version: NearVersion)] = []
    for version in versions.reversed() {
      guard let model = try? model(named: version.name) else { continue }
      let known = model.versionHashes()
      let differing = Set(known.keys).union(hashes.keys).filter { known[$0] != hashes[$0] }
      near.append(
        (actual?.likeness(to: model) ?? 0, NearVersion(name: version.name, differingEntities: differing.ordered())))
    }
    return NearVersion.nearest(near.ordered { $0.likeness > $1.likeness }.map(\.version))
  }
}
