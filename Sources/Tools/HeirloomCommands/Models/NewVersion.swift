import Foundation
import Heirloom
import HeirloomOutput

/// The next version of a model bundle: a copy of the current one that becomes current.
struct NewVersion {
  /// The versions of the bundle before this one is made.
  let list: ModelVersionList
  private let current: ModelVersionList.Version
  private let bundle: VersionBundle
  /// The folder with snapshots and lock.
  private let folder: String
  private let console: Console

  /// Finds the bundle at the path of a bundle or of a folder with one.
  ///
  /// Fails for a model that isn't a bundle of sources.
  init(at path: String, console: Console) throws {
    let file = try ModelFile(path)
    self.console = console
    switch file.kind {
    case .sourceBundle where file.path.hasSuffix(Self.bundleExtension):
      bundle = VersionBundle(path: file.path)
    case .snapshotFolder:
      let names = try FileManager.default.contentsOfDirectory(atPath: file.path)
      // A folder with several bundles is rejected here.
      guard try SnapshotFolder(file.path).sources != nil,
        let name = names.first(where: { $0.hasSuffix(Self.bundleExtension) && !$0.hasPrefix(".") })
      else { throw Self.refusal("\(path) holds no model bundle (.xcdatamodeld)", "Name the bundle that is edited.") }
      bundle = VersionBundle(path: file.path + "/" + name)
    case .source, .sourceBundle:
      throw Self.refusal(
        "\(path) is no bundle (.xcdatamodeld), in which versions of a model lie",
        path.contains(Self.bundleExtension + "/")
          ? "Name the bundle around it."
          : "Make a folder whose name ends in .xcdatamodeld, move the model there, and name that folder.")
    case .compiled, .compiledBundle, .snapshot, .inMemory:
      throw Self.refusal(
        "\(path) was written by a tool, and is no model that is edited", "Name the .xcdatamodeld that it is made from.")
    }
    folder = ModelFile.folder(of: bundle.path)
    list = try ModelVersionList(bundle.path)
    guard let current = list.currentVersion else {
      throw ModelReadingError(path: bundle.path, problem: .notModel(.bundleWithoutVersions))
    }
    self.current = current
  }

  private static let bundleExtension = ".xcdatamodeld"

  /// Makes the version, unless the current one is still an unedited copy.
  ///
  /// `name` is `nil` for the next name in the sequence.
  ///
  /// Fails without changes, for example if a shipped version was edited.
  func make(named name: String?) throws -> CommandReport {
    let content = try bundle.content(of: current.name)
    // An unreadable version would be copied with its fault.
    _ = try current.file.read()
    if let unfinished = try unfinished(content), name == nil || name == unfinished {
      try bundle.makeCurrent(unfinished, content: nil)
      return report(
        made: unfinished, locked: nil,
        lines: ["An earlier run made \"\(unfinished)\", a copy of \"\(current.name)\", and was interrupted."])
    }
    if let state = try untouchedState(content) {
      let message = "\"\(current.name)\" \(state): edit it first"
      guard name == nil || name == current.name else {
        throw Self.refusal(message, "Nobody needs a second version of the same content.")
      }
      return report(made: nil, locked: nil, lines: ["\(message). Nothing was made."])
    }
    let next = try nextName(name)
    // The version that was current is locked first, because later versions may be edited.
    let locked = try lockCurrent()
    try bundle.makeCurrent(next, content: content)
    return report(made: next, locked: locked, lines: locked == nil ? orderWarning(next) : [])
  }

  /// Returns the version that an interrupted run made after the current one; `nil` if there is none.
  private func unfinished(_ content: [String: [UInt8]]) throws -> String? {
    let next = VersionNaming.next(after: current.name, among: list.versions.map(\.name)) { _ in false }
    guard let version = list.version(named: next), version.entry == nil else { return nil }
    return try bundle.content(of: next) == content ? next : nil
  }

  /// Returns a sentence if the current version was neither edited nor shipped yet; otherwise `nil`.
  private func untouchedState(_ content: [String: [UInt8]]) throws -> String? {
    guard current.entry == nil, let position = list.versions.firstIndex(of: current) else { return nil }
    let model = try current.file.read().model
    guard position > 0 else {
      return model.entities.isEmpty
        ? "has no entities yet" : content["contents"] == Array(Self.exampleModel.utf8) ? "is still the example" : nil
    }
    let before = list.versions[position - 1]
    return (try? before.file.read().model) == model ? "is still as \"\(before.name)\" is" : nil
  }

  // MARK: - Names

  private func nextName(_ name: String?) throws -> String {
    // A locked version has stores, even if its folder is missing.
    let taken = Set((list.versions.map(\.name) + (list.lock?.versions ?? []).map(\.name)).map { $0.lowercased() })
    guard let name else {
      return VersionNaming.next(after: current.name, among: list.versions.map(\.name)) {
        taken.contains($0.lowercased())
      }
    }
    if let objection = Self.objection(to: name) { throw objection }
    guard !taken.contains(name.lowercased()) else {
      throw Self.refusal(
        "\"\(name)\" is the name of a version of \(bundle.path) already", "Choose another, or leave --name out.")
    }
    return name
  }

  /// Returns a warning if a name sorts before others and no lock records the order.
  private func orderWarning(_ name: String) -> [String] {
    let later = list.versions.map(\.name).filter { !list.precedes($0, name) }
    guard list.lock == nil, !later.isEmpty else { return [] }
    return [
      "\(console.style.yellow("warning:")) \"\(name)\" sorts before \(listText(later.map { "\"\($0)\"" })). Without a lock the"
        + " names tell the order, so stores of \(later.count == 1 ? "that version" : "those versions") count as newer than the app."
    ]
  }

  /// Returns the error for an invalid version name; `nil` if it is valid.
  static func objection(to name: String) -> UsageError? {
    let isPlain = name.unicodeScalars.allSatisfy { scalar in
      !["/", ":", "\\"].contains(scalar)
        && ![.control, .format, .lineSeparator].contains(scalar.properties.generalCategory)
    }
    guard isPlain, !name.hasPrefix("."), !name.hasSuffix(" "), !name.hasPrefix(" "), name.utf8.count <= 200,
      !name.hasSuffix(".xcdatamodel"), name.lowercased() != "lock", !name.lowercased().hasSuffix(".lock")
    else {
      return .invalidValue(
        option: "--name", value: name,
        expected: "a version's name such as \"Journal 3\", without a path, an extension or a dot in front")
    }
    return nil
  }

  // MARK: - The lock

  /// Locks the current version as shipped if the bundle has a lock or snapshots.
  private func lockCurrent() throws -> CommandReport? {
    let snapshots = (try? SnapshotFolder(folder).snapshots) ?? [:]
    guard list.lock != nil || list.versions.contains(where: { snapshots[$0.name] != nil }) else { return nil }
    var history = try SnapshotHistory(at: folder, for: bundle.path, console: console)
    return try history.add(before: nil, date: Date(timeIntervalSince1970: 0))
  }

  // MARK: - Telling

  private func report(made: String?, locked: CommandReport?, lines: [String]) -> CommandReport {
    var lines = lines
    let style = console.style
    if let made {
      lines.append(
        "\(style.bold(bundle.path)): \"\(made)\" is the current version now, a copy of \"\(current.name)\". Edit it, then:"
          + " heirloom history \(shellWord(bundle.path))")
      lines += locked?.lines ?? []
      if locked == nil, list.lock == nil {
        lines.append(
          "No lock fixes what was shipped: if \"\(current.name)\" was, heirloom snapshot \(shellWord(current.file.path)) --history"
            + " \(shellWord(folder)) makes one."
        )
      }
    }
    return CommandReport(
      lines: lines,
      members: [
        ("path", .text(bundle.path)), ("made", .optional(made)), ("from", .text(current.name)),
        ("current", .text(made ?? current.name)), ("lock", locked?.members["lock"] ?? .null),
        ("fixed", locked?.members["fixed"] ?? .texts([])),
      ])
  }

  private static func refusal(_ message: String, _ suggestion: String) -> CommandFailure {
    CommandFailure(
      exitCode: .failed, code: "noNewVersion", coreDataCode: nil, message: message + ". Nothing was made.",
      suggestion: suggestion)
  }

  // MARK: - The first version

  /// Makes a bundle with one example version at an unused path.
  ///
  /// `name` is `nil` for the bundle's name. Fails for a path without the bundle's extension.
  static func makeBundle(at path: String, named name: String?) throws -> CommandReport {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    let own = path.split(separator: "/").last.map { String($0.dropLast(bundleExtension.count)) } ?? ""
    guard path.hasSuffix(bundleExtension), !own.isEmpty else {
      throw refusal(
        "\(path) is not there, and is no name of a bundle",
        "A new bundle's name ends in .xcdatamodeld: Journal.xcdatamodeld")
    }
    let name = name ?? own
    if let objection = objection(to: name) { throw objection }
    try VersionBundle(path: path).make(first: name, content: ["contents": Array(exampleModel.utf8)])
    return CommandReport(
      lines: ["\(path) was made, with one version, \"\(name)\", an example to edit."] + packageLines(path),
      members: [
        ("path", .text(path)), ("made", .text(name)), ("from", .null), ("current", .text(name)), ("lock", .null),
        ("fixed", .texts([])),
      ])
  }

  /// Returns the lines that SwiftPM needs for a bundle in a target's folder; empty outside packages.
  private static func packageLines(_ path: String) -> [String] {
    var folder = ModelFile.folder(of: path)
    while folder.count > 1, !FileManager.default.fileExists(atPath: folder + "/Package.swift") {
      folder = ModelFile.folder(of: folder)
    }
    let names = path.dropFirst(folder.count).split(separator: "/")
    guard folder.count > 1, names.count > 2, names[0] == "Sources" || names[0] == "Tests" else { return [] }
    let line =
      "Package.swift, target \"\(names[1])\": resources: [.copy(\"\(names[2])\")] puts it beside the program, or exclude:"
      + " [\"\(names[2])\"] leaves it out."
    let advice = "In a folder of its own, such as Models, one such line takes its lock and snapshots too."
    return names.count > 3 ? [line] : [line, advice]
  }

  /// A model with the usual parts, to be edited; the article on writing models by hand explains it.
  private static let exampleModel = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="1" \
    systemVersion="11A491" minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
        <entity name="Note">
            <attribute name="title" attributeType="String" defaultValueString=""/>
            <attribute name="created" optional="YES" attributeType="Date"/>
            <attribute name="isDone" attributeType="Boolean" defaultValueString="NO"/>
            <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Tag" \
    inverseName="notes" inverseEntity="Tag"/>
            <fetchIndex name="byCreated">
                <fetchIndexElement property="created" type="Binary" order="descending"/>
            </fetchIndex>
        </entity>
        <entity name="Tag">
            <attribute name="name" attributeType="String"/>
            <relationship name="notes" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Note" \
    inverseName="tags" inverseEntity="Note"/>
            <uniquenessConstraints>
                <uniquenessConstraint>
                    <constraint value="name"/>
                </uniquenessConstraint>
            </uniquenessConstraints>
        </entity>
    </model>
    """
}
