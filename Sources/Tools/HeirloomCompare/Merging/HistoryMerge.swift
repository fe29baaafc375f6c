import HeirloomFormats
import HeirloomModel

/// The merge of a file in a model's history that two branches changed.
package struct HistoryMerge {
  package enum Kind: Hashable, Sendable {
    /// The file `contents` of a model source.
    case source
    case currentVersion
    case lock
    /// In the readable layout.
    case snapshot

    /// `path` is that in the repository; `nil` for another file.
    package init?(path: String) {
      let name = FileNames.base(path)
      if name == FileNames.currentVersion {
        self = .currentVersion
      } else if name == FileNames.lock || name.hasSuffix(FileNames.bundleLock) {
        self = .lock
      } else if name == FileNames.source {
        self = .source
      } else if name.hasSuffix(".json") {
        self = .snapshot
      } else {
        return nil
      }
    }
  }

  /// With conflicts, a file with conflict markers around each branch's version.
  package private(set) var bytes: [UInt8]
  package private(set) var conflicts: [MergeConflict] = []
  /// Sentences about choices made in the merge.
  package private(set) var notes: [String] = []

  /// A file that can't be read is a conflict; `base` is empty if the branches had none in common.
  package init(_ kind: Kind, base: [UInt8], ours: [UInt8], theirs: [UInt8]) {
    bytes = ours == base ? theirs : ours
    if ours == theirs || theirs == base || ours == base { return }
    do throws(ModelReadingError) {
      switch kind {
      case .currentVersion: try mergeCurrentVersion(base, ours, theirs)
      case .lock: try mergeLock(base, ours, theirs)
      case .source: try mergeSource(base, ours, theirs)
      case .snapshot: try mergeSnapshot(base, ours, theirs)
      }
    } catch {
      conflict("\(error)", ours, theirs)
    }
  }

  /// Makes the whole file a conflict, because this branch's version was shipped.
  package mutating func refuseShipped(_ ours: [UInt8], _ theirs: [UInt8]) {
    conflict(
      "this branch's version was shipped and must not change; make the other edits in a new version", ours, theirs)
  }

  package mutating func note(_ sentence: String) { notes.append(sentence) }

  private mutating func conflict(_ reason: String, _ ours: [UInt8], _ theirs: [UInt8]) {
    conflicts.append(MergeConflict(place: "the file", reason: reason))
    markWhole(ours, theirs)
  }

  private mutating func markWhole(_ ours: [UInt8], _ theirs: [UInt8]) {
    func lines(_ bytes: [UInt8]) -> [UInt8] { bytes.last == UInt8(ascii: "\n") ? bytes : bytes + [UInt8(ascii: "\n")] }
    bytes = Array("<<<<<<< ours\n".utf8) + lines(ours) + Array("=======\n".utf8) + lines(theirs)
    bytes += Array(">>>>>>> theirs\n".utf8)
  }

  // MARK: - Kinds

  private mutating func mergeCurrentVersion(
    _ base: [UInt8], _ ours: [UInt8], _ theirs: [UInt8]
  ) throws(ModelReadingError) {
    guard let mine = CurrentVersionFile.versionName(in: ours), let other = CurrentVersionFile.versionName(in: theirs)
    else { throw ModelReadingError(problem: .malformed(reason: "it names no current version")) }
    let old = CurrentVersionFile.versionName(in: base)
    // The branches differ only in the file's form, or one branch alone changed the current version.
    if mine == other || other == old {
      bytes = ours
    } else if mine == old {
      bytes = theirs
    } else {
      let isOurs = NaturalOrder.precedes(other, mine)
      bytes = isOurs ? ours : theirs
      let (name, passed) = isOurs ? (mine, other) : (other, mine)
      notes.append(
        "Both branches made another version current; \"\(name)\" was chosen, the later one by name. It doesn't contain"
          + " the changes of \"\(passed)\": make a version with both.")
    }
  }

  private mutating func mergeLock(
    _ base: [UInt8], _ ours: [UInt8], _ theirs: [UInt8]
  ) throws(ModelReadingError) {
    let before = base.isEmpty ? VersionLock() : try VersionLock(bytes: base)
    let (lock, found) = VersionLock.merged(before, try VersionLock(bytes: ours), try VersionLock(bytes: theirs))
    conflicts = found.map { conflict in
      [VersionLock.floorPlace, VersionLock.decisionsPlace].contains(conflict.place)
        ? conflict
        : MergeConflict(
          place: conflict.place, reason: conflict.reason + "; two versions that were shipped must differ in name")
    }
    if conflicts.isEmpty { bytes = lock.encoded() } else { markWhole(ours, theirs) }
  }

  private mutating func mergeSource(
    _ base: [UInt8], _ ours: [UInt8], _ theirs: [UInt8]
  ) throws(ModelReadingError) {
    guard !base.isEmpty else { return conflict("both branches add it, and it was in neither before", ours, theirs) }
    var merge = ThreeWayMerge()
    var documents: [SourceMerge.Document] = []
    do throws(FormatError) {
      for bytes in [base, ours, theirs] { documents.append(try SourceMerge.document(bytes)) }
    } catch {
      throw ModelReadingError(problem: .malformed(reason: error.description))
    }
    guard let root = merge.merged(documents[0].root, documents[1].root, documents[2].root) else { return }
    func chosen(_ part: (SourceMerge.Document) -> String) -> String {
      part(documents[1]) == part(documents[0]) ? part(documents[2]) : part(documents[1])
    }
    let document = SourceMerge.Document(
      start: chosen(\.start), root: root, end: chosen(\.end), lineEnd: chosen(\.lineEnd))
    bytes = Array(SourceMerge.text(document).utf8)
    conflicts = merge.conflicts
    guard conflicts.isEmpty else { return }
    let result: ManagedObjectModel
    do throws(ModelReadingError) {
      result = try ModelSourceReader.read(bytes).model
    } catch {
      return conflict("the two branches' edits are inconsistent: \(error)", ours, theirs)
    }
    checkInverses(result, [ours, theirs].compactMap { try? ModelSourceReader.read($0).model }, ours, theirs)
  }

  private mutating func mergeSnapshot(
    _ base: [UInt8], _ ours: [UInt8], _ theirs: [UInt8]
  ) throws(ModelReadingError) {
    guard !base.isEmpty else { return conflict("both branches add it, and it was in neither before", ours, theirs) }
    var snapshots: [ModelSnapshot] = []
    var trees: [MergeNode] = []
    for bytes in [base, ours, theirs] {
      let snapshot = try ModelSnapshot(bytes: bytes)
      snapshots.append(snapshot)
      do throws(FormatError) {
        trees.append(
          ContentMerge.node(try JSONReader.value(of: ModelSnapshot.canonicalModelBytes(of: snapshot.model))))
      } catch {
        throw ModelReadingError(problem: .malformed(reason: error.description))
      }
    }
    var merge = ThreeWayMerge()
    let root = merge.merged(trees[0], trees[1], trees[2])
    conflicts = merge.conflicts
    guard conflicts.isEmpty, let root else { return markWhole(ours, theirs) }
    do throws(ModelReadingError) {
      let model = try ModelContentReader.model(ContentMerge.value(root))
      let isLater = snapshots[1].archivedAt < snapshots[2].archivedAt
      let later = snapshots[isLater ? 2 : 1]
      bytes = try ModelSnapshot(
        model: model, applicationVersion: later.applicationVersion, archivedAt: later.archivedAt
      ).bytes(.readable)
      checkInverses(model, snapshots.dropFirst().map(\.model), ours, theirs)
    } catch {
      conflict("the two branches' edits are inconsistent: \(error)", ours, theirs)
    }
  }

  /// Finds inverses that are consistent in both branches but not in the merged model.
  private mutating func checkInverses(
    _ model: ManagedObjectModel, _ branches: [ManagedObjectModel], _ ours: [UInt8], _ theirs: [UInt8]
  ) {
    let known = Set(branches.flatMap(\.relationshipsWithoutWayBack))
    let new = model.relationshipsWithoutWayBack.filter { !known.contains($0) }
    guard let first = new.first else { return }
    conflict(
      "the two branches' edits are inconsistent: the inverse of \(first) doesn't name it as its"
        + " inverse", ours, theirs)
  }
}

extension ManagedObjectModel {
  /// Those whose inverse is missing or has another inverse.
  fileprivate var relationshipsWithoutWayBack: [String] {
    let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return entities.flatMap { entity in
      entity.relationships.filter { relationship in
        guard let name = relationship.inverseRelationship else { return false }
        var owner: String? = relationship.destinationEntity
        var steps = 0
        while let current = owner.flatMap({ byName[$0] }), steps < 100 {
          if let inverse = current.relationships.first(where: { $0.name == name }) {
            return inverse.inverseRelationship != relationship.name
          }
          (owner, steps) = (current.superentity, steps + 1)
        }
        return true
      }.map { "\(entity.name).\($0.name)" }
    }
  }
}
