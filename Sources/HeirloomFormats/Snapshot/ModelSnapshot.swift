package import Foundation
package import HeirloomModel

/// A model as an app last used it, in a file beside the store or in version control.
///
/// The file is JSON, plain or in a gzip container: `gunzip -c model.json.gz | jq` shows it. It contains the whole
/// model, including the parts that are not hashed, such as renaming identifiers and defaults. Files of format 1 stay
/// readable forever.
package struct ModelSnapshot: Hashable, Sendable {
  package static let format = 1

  package let model: ManagedObjectModel
  package let applicationVersion: String?
  package let archivedAt: Date
  package let versionHashes: [String: VersionHash]
  package let versionChecksum: String
  /// The version checksums of earlier versions in the app's history.
  ///
  /// They are in the gzip container's comment, as format 1 is fixed: a plain file has none.
  package var earlierVersions: [String] = []

  package enum Layout: Hashable, Sendable {
    /// Indented JSON, one value per line, for version control.
    case readable
    /// Compact JSON in a gzip container, for the file beside a store.
    case compressed
  }

  /// The time is kept in whole seconds, in the years 1 to 9999.
  package init(model: ManagedObjectModel, applicationVersion: String? = nil, archivedAt: Date = Date()) {
    self.model = model
    self.applicationVersion = applicationVersion
    self.archivedAt = Self.wholeSeconds(archivedAt)
    versionHashes = model.versionHashes()
    versionChecksum = ManagedObjectModel.versionChecksum(of: versionHashes)
  }

  package init(contentsOf url: URL) throws(ModelReadingError) {
    let path = url.path
    let bytes = try FileContents.bytes(path)
    do throws(ModelReadingError) {
      self = try ModelSnapshot(bytes: bytes)
    } catch {
      throw error.inFile(path)
    }
  }

  /// Throws ``ModelReadingError`` also for hashes that don't match the model.
  package init(bytes: [UInt8]) throws(ModelReadingError) {
    let json = try Self.json(in: bytes)
    let value = try ModelReadingError.wrapping { () throws(FormatError) in try JSONReader.value(of: json) }
    guard case .object(let members) = value, case .integer(let format)? = members["format"], members["model"] != nil
    else { throw ModelReadingError(problem: .notModel(.otherJSON)) }
    guard format == Int64(Self.format) else {
      throw ModelReadingError(problem: .unsupportedSnapshotFormat(Int(exactly: format) ?? 0))
    }
    var object = try SnapshotObject(value, place: "the snapshot")
    _ = object.take("format")
    let model = try ModelContentReader.model(try object.required("model"))
    let applicationVersion = try object.string("applicationVersion")
    let time = try object.requiredString("archivedAt")
    guard let date = Self.date(time) else { throw SnapshotObject.unexpected("a time", "archivedAt") }
    self.init(model: model, applicationVersion: applicationVersion, archivedAt: date)
    let hashes = try object.dictionary("hashes")
    let checksum = try object.requiredString("checksum")
    try object.finish()
    let own = versionHashes.mapValues(\.description)
    let differing = Set(own.keys).union(hashes.keys).filter { own[$0] != hashes[$0] }.ordered()
    guard differing.isEmpty, checksum == versionChecksum else {
      throw ModelReadingError(problem: .hashMismatch(entities: differing))
    }
    guard let comment = Compression.comment(ofGzip: bytes), comment.hasPrefix(Self.earlierPrefix) else { return }
    earlierVersions = comment.dropFirst(Self.earlierPrefix.count).split(separator: " ").map(String.init)
  }

  private static let earlierPrefix = "earlier versions: "

  /// Equal snapshots give equal bytes, in the compressed layout only with the same zlib.
  ///
  /// Throws ``ModelReadingError`` if expressions are nested too deeply to be read again.
  package func encoded(_ layout: Layout) throws(ModelReadingError) -> Data {
    Data(try bytes(layout))
  }

  package func bytes(_ layout: Layout) throws(ModelReadingError) -> [UInt8] {
    let isReadable = layout == .readable
    var content = ModelContentWriter(isIndented: isReadable, depth: isReadable ? 1 : 0)
    content.model(model)
    guard content.json.depth < JSONReader.depthLimit else {
      throw ModelReadingError(problem: .malformed(reason: "its expressions are nested too deeply for a snapshot"))
    }
    var json = CanonicalJSONWriter(isIndented: isReadable)
    json.beginObject()
    if let applicationVersion {
      json.key("applicationVersion")
      json.string(applicationVersion)
    }
    json.key("archivedAt")
    json.string(CivilCalendar.text(of: Int64(archivedAt.timeIntervalSince1970)))
    json.key("checksum")
    json.string(versionChecksum)
    json.key("format")
    json.integer(Int64(Self.format))
    json.key("hashes")
    json.beginObject()
    for entity in model.entities {
      guard let hash = versionHashes[entity.name] else { continue }
      json.key(entity.name)
      json.string(hash.description)
    }
    json.endObject()
    json.key("model")
    json.raw(content.json.bytes)
    json.endObject()
    guard layout == .compressed else { return json.bytes + [UInt8(ascii: "\n")] }
    do throws(FormatError) {
      let file = try Compression.gzip(json.bytes, for: .standard)
      guard !earlierVersions.isEmpty else { return file }
      return Compression.commented(Self.earlierPrefix + earlierVersions.joined(separator: " "), file)
    } catch {
      throw ModelReadingError(error)
    }
  }

  // MARK: - Comparing content

  /// Equal models, and only those, have equal bytes.
  package static func canonicalModelBytes(of model: ManagedObjectModel) -> [UInt8] {
    var writer = ModelContentWriter(isIndented: false)
    writer.model(model)
    return writer.json.bytes
  }

  /// True for exactly the model's content, unhashed parts included; the file isn't parsed.
  package static func file(_ bytes: [UInt8], holds model: ManagedObjectModel) -> Bool {
    guard let json = try? json(in: bytes) else { return false }
    // The model is the last member of a snapshot, so the file ends with its content and a brace.
    let isReadable = !Compression.isGzip(bytes)
    var content = ModelContentWriter(isIndented: isReadable, depth: isReadable ? 1 : 0)
    content.json.reserveCapacity(json.count)
    content.model(model)
    let formatMember = isReadable ? "\n  \"format\": 1,\n" : "\"format\":1,"
    let prefix = isReadable ? "\n  \"model\": " : ",\"model\":"
    let suffix = isReadable ? "\n}\n" : "}"
    // Every launch runs this code, so pieces are compared in place and as a whole.
    var rest = json[...]
    for piece in [Array(suffix.utf8), content.json.bytes, Array(prefix.utf8)] {
      guard rest.count > piece.count, isEqual(rest.suffix(piece.count), piece) else { return false }
      rest = rest.dropLast(piece.count)
    }
    let member = Array(formatMember.utf8)
    return rest.indices.contains { rest[$0] == member.first && rest[$0...].starts(with: member) }
  }

  private static func isEqual(_ bytes: ArraySlice<UInt8>, _ others: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { bytes in
      others.withUnsafeBytes { others in
        guard bytes.count == others.count, let start = bytes.baseAddress, let other = others.baseAddress else {
          return bytes.count == others.count
        }
        return memcmp(start, other, bytes.count) == 0
      }
    }
  }

  private static func json(in bytes: [UInt8]) throws(ModelReadingError) -> [UInt8] {
    guard !bytes.isEmpty else { throw ModelReadingError(problem: .notModel(.emptyFile)) }
    guard Compression.isGzip(bytes) else { return bytes }
    return try ModelReadingError.wrapping { () throws(FormatError) in try Compression.gunzip(bytes) }
  }

  private static func date(_ text: String) -> Date? {
    if let seconds = CivilCalendar.seconds(of: text) { return Date(timeIntervalSince1970: Double(seconds)) }
    // Other tools may have written another form.
    return try? Date.ISO8601FormatStyle(timeZone: .gmt).parse(text)
  }

  /// Seconds since 2001-01-01 UTC, for the years 1 to 9999.
  private static let secondRange = -63_113_904_000.0...252_423_993_599.0

  private static func wholeSeconds(_ date: Date) -> Date {
    let seconds = date.timeIntervalSinceReferenceDate.rounded(.down)
    let bounded = seconds.isNaN ? 0 : min(max(seconds, secondRange.lowerBound), secondRange.upperBound)
    return Date(timeIntervalSinceReferenceDate: bounded)
  }
}
