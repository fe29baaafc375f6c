import Foundation
import Heirloom
import TestSupport
import Testing
import HeirloomSalvage

/// An error of the library with the name of its case, spelled as in the sources: `StoreError.missing`.
struct ErrorSample: CustomTestStringConvertible {
  let name: String
  let error: any Error
  /// The file that the error must name; `nil` if it concerns no file.
  var path: String?

  var testDescription: String { name }

  init(_ name: String, _ error: any Error, path: String? = nil) {
    self.name = name
    self.error = error
    self.path = path
  }
}

/// At least one error for every case of every public error.
enum ErrorSamples {
  static let path = "/Users/ada/Diary.sqlite"
  /// The substitute for the content of a row.
  static let secret = "SECRET-VALUE"

  struct AppError: LocalizedError {
    var errorDescription: String? { "The template is missing." }
  }

  static func all() throws -> [ErrorSample] {
    let migration = try migration()
    return models + expressions + formats + stores + objects + salvage + deferred + staged + migration
      + (try assistant(migration: migration)) + (try steps())
  }

  private static func steps() throws -> [ErrorSample] {
    var history = try ModelHistory(current: model { _ in }, name: "2", earlier: [("1", converted())])
    try history.step(from: "1", to: "2") {}
    return try [("1", "3"), ("1", "1"), ("1", "2")].map { from, to in
      let error = try #require(throws: MigrationStepError.self) { try history.step(from: from, to: to) {} }
      return ErrorSample("MigrationStepError", error)
    }
  }

  // MARK: Pure values

  private static var models: [ErrorSample] {
    let errors: [(String, ModelError)] = [
      ("invalidName", .invalidName("")), ("duplicateEntity", .duplicateEntity("Note")),
      ("unequalEntities", .unequalEntities(entity: "Note", models: ["Diary", "Diary 2"])),
      ("duplicateProperty", .duplicateProperty(entity: "Note", property: "text")),
      ("missingSuperentity", .missingSuperentity(entity: "Note", superentity: "Item")),
      ("inheritanceCycle", .inheritanceCycle(entity: "Note")),
      ("missingDestination", .missingDestination(entity: "Note", relationship: "tags", destination: "Tag")),
      ("missingConstraintProperty", .missingConstraintProperty(entity: "Note", property: "text")),
      ("missingIndexProperty", .missingIndexProperty(entity: "Note", index: "byText", property: "text")),
      ("missingConfigurationEntity", .missingConfigurationEntity(configuration: "Cloud", entity: "Note")),
      ("invalidComposite", .invalidComposite(entity: "Note", attribute: "colors")),
      ("duplicateElement", .duplicateElement(entity: "Note", attribute: "colors", element: "red")),
      ("nestedTooDeeply", .nestedTooDeeply(entity: "Note", attribute: "colors")),
      ("undefinedType", .undefinedType(entity: "Note", attribute: "text")),
    ]
    return errors.map { ErrorSample("ModelError.\($0.0)", $0.1) }
  }

  private static var expressions: [ErrorSample] {
    let evaluation: [(String, EvaluationError)] = [
      ("unparsed", .unparsed("a +")), ("unknownFunction", .unknownFunction(selector: "f:", known: ["sum:"])),
      ("unknownVariable", .unknownVariable(name: "X", known: [])), ("unknownKey", .unknownKey("text")),
      ("wrongKind", .wrongKind(operation: "+", found: "a text", expected: "a number")),
      ("wrongArgumentCount", .wrongArgumentCount(selector: "sum:", found: 0, expected: 1)),
      ("overflow", .overflow(operation: "*")), ("divisionByZero", .divisionByZero),
      ("indexOutOfRange", .indexOutOfRange(index: 4, count: 2)),
      ("invalidPattern", .invalidPattern(pattern: "(", reason: "a parenthesis is not closed")),
      ("unsupported", .unsupported("SUBQUERY")), ("tooDeep", .tooDeep(limit: 100)),
    ]
    let texts: [(String, ExpressionError)] = [
      ("tooLong", .tooLong(limit: 1_000_000)), ("tooDeep", .tooDeep(offset: 3, limit: 100)),
      ("unexpected", .unexpected(found: "\")\"", offset: 2, expected: "a value")),
      ("unexpectedEnd", .unexpectedEnd(offset: 2, expected: "a value")),
      ("unterminatedString", .unterminatedString(offset: 0)), ("invalidEscape", .invalidEscape(offset: 1)),
      ("invalidNumber", .invalidNumber(text: "1e999", offset: 0)),
      ("reservedWord", .reservedWord(word: "IN", offset: 0)), ("unknownOption", .unknownOption(text: "x", offset: 3)),
      ("formatArgument", .formatArgument(offset: 0)), ("argumentCount", .argumentCount(found: 1, expected: 2)),
      ("argumentKind", .argumentKind(offset: 0, found: "a text", expected: "a number")),
    ]
    return evaluation.map { ErrorSample("EvaluationError.\($0.0)", $0.1) }
      + texts.map { ErrorSample("ExpressionError.\($0.0)", $0.1) }
  }

  // MARK: Files

  private static var formats: [ErrorSample] {
    let path = "/Users/ada/Diary.mom"
    let models: [(String, ModelReadingError.Problem)] = [
      ("missing", .missing), ("unreadable", .unreadable(reason: "permission denied")),
      ("tooLarge", .tooLarge(byteCount: 1_234_567_890, limit: 67_108_864)), ("notModel", .notModel(.sqliteStore)),
      ("malformed", .malformed(reason: "the archive ends too early.")),
      ("inconsistent", .inconsistent(.duplicateEntity("Note"))),
      ("undecided", .undecided(reason: "its containers list different classes", advice: "Name the intended one.")),
      ("notLock", .notLock(reason: "it is empty")), ("laterLock", .laterLock(reason: "it has format 3")),
      ("unsupportedSnapshotFormat", .unsupportedSnapshotFormat(7)), ("hashMismatch", .hashMismatch(entities: ["Note"])),
    ]
    let contents: [(String, ModelReadingError.Content)] = [
      ("emptyFile", .emptyFile), ("text", .text), ("unknownData", .unknownData), ("sqliteStore", .sqliteStore),
      ("xmlStore", .xmlStore), ("mappingModel", .mappingModel), ("optimizedModel", .optimizedModel),
      ("oldBinaryModel", .oldBinaryModel),
      ("otherPropertyList", .otherPropertyList), ("otherXML", .otherXML(rootElement: "svg")), ("otherJSON", .otherJSON),
      ("folder", .folder), ("bundleWithoutVersions", .bundleWithoutVersions), ("specialFile", .specialFile),
    ]
    let strange = MappingModel(entityMappings: [EntityMapping(from: "Absent", to: "Note", mappingType: .copy)])
    let mismatches = (try? model { _ in }).map { strange.mismatches(from: $0, to: $0) } ?? []
    let mappings: [(String, MappingReadingError.Problem)] = [
      ("missing", .missing), ("unreadable", .unreadable(reason: "permission denied")),
      ("tooLarge", .tooLarge(byteCount: 1_234_567_890, limit: 67_108_864)),
      ("notMappingModel", .notMappingModel(found: "a text file")),
      ("malformed", .malformed(reason: "the archive ends too early.")),
      ("unfit", .unfit(source: "Diary", destination: "Diary 2", mismatches: mismatches)),
    ]
    let archives: [(String, ArchivedValueError)] = [
      ("notArchive", .notArchive(found: "a JPEG picture")), ("malformed", .malformed(reason: "it has no root")),
      ("malformedObject", .malformedObject(className: "NSDate")), ("cyclic", .cyclic),
      ("tooDeep", .tooDeep(limit: 100)),
      ("tooLarge", .tooLarge(byteCount: 1_000_000, limit: 1000)), ("tooManyValues", .tooManyValues(limit: 10_000)),
      ("tooMuchContent", .tooMuchContent(limit: 10_000)), ("duplicateKey", .duplicateKey),
      ("unsupportedClass", .unsupportedClass("NSColor")), ("unencodable", .unencodable(reason: "it holds a function")),
    ]
    return models.map {
      ErrorSample("ModelReadingError.\($0.0)", ModelReadingError(path: path, problem: $0.1), path: path)
    }
      + contents.map {
        ErrorSample(
          "ModelReadingError.\($0.0)", ModelReadingError(path: path, problem: .notModel($0.1)), path: path)
      }
      + mappings.map {
        ErrorSample("MappingReadingError.\($0.0)", MappingReadingError(path: path, problem: $0.1), path: path)
      } + archives.map { ErrorSample("ArchivedValueError.\($0.0)", $0.1) }
  }

  // MARK: Stores

  static var storeProblems: [(String, StoreError.Problem)] {
    [
      ("missing", .missing), ("notFile", .notFile), ("empty", .empty), ("notDatabase", .notDatabase),
      ("truncated", .truncated(byteCount: 4096, expectedByteCount: 8192)),
      ("damaged", .damaged(reason: "page 7 is torn")),
      ("tooDemanding", .tooDemanding(reason: "its schema takes too long to read")),
      ("notStore", .notStore(tables: ["people"])), ("metadataRowCount", .metadataRowCount(2)),
      ("invalidMetadata", .invalidMetadata(reason: "they are empty")), ("missingVersionHashes", .missingVersionHashes),
      ("inUse", .inUse), ("protected", .protected), ("needsRecovery", .needsRecovery),
      ("unreadableLog", .unreadableLog),
      ("unreadable", .unreadable(reason: "permission denied")), ("readOnly", .readOnly),
      ("unusableSideFile", .unusableSideFile(path + "-wal", found: "a folder")),
      ("refusedJournal", .refusedJournal(reason: "rolling it back in a copy left something that is not a store")),
      ("diskFull", .diskFull),
      ("alreadyExists", .alreadyExists), ("straySideFile", .straySideFile(path + "-wal")),
      ("invalidModelCache", .invalidModelCache(reason: "it is no archive.")),
      ("incompatible", .incompatible(entities: ["Note"])), ("unknownConfiguration", .unknownConfiguration("Cloud")),
      ("differentSchema", .differentSchema(missing: ["ZNOTE.ZTEXT"])),
      ("database", .database(code: 1, message: "no such table: ZNOTE")),
    ]
  }

  private static var stores: [ErrorSample] {
    storeProblems.map { ErrorSample("StoreError.\($0.0)", StoreError(path: path, problem: $0.1), path: path) }
  }

  private static var objects: [ErrorSample] {
    let id = ManagedObjectID(storeIdentifier: "A-1", entityName: "Note", primaryKey: 7)
    let file = "/Users/ada/.Diary_SUPPORT/_EXTERNAL_DATA/F-1"
    let inUse = StoreError(path: path, problem: .inUse)
    let errors: [(String, ManagedObjectError)] = [
      ("unknownEntity", .unknownEntity("Note", nearest: nil)), ("abstractEntity", .abstractEntity("Item")),
      ("unknownProperty", .unknownProperty(entity: "Note", property: "mood", nearest: "moods")),
      ("readOnlyProperty", .readOnlyProperty(entity: "Note", property: "count")),
      ("wrongKind", .wrongKind(entity: "Note", property: "mood", expected: "a text")),
      ("unstorableValue", .unstorableValue(entity: "Note", property: "rating")),
      ("wrongDestination", .wrongDestination(entity: "Note", relationship: "tag", expected: "Tag", found: "Note")),
      ("wrongEntity", .wrongEntity(expected: "Note", found: "Tag")),
      ("otherContext", .otherContext(entity: "Note")), ("deleted", .deleted(entity: "Note")),
      ("missingRow", .missingRow(id)),
      ("undecodableValue", .undecodableValue(id, property: "mood")),
      ("missingExternalFile", .missingExternalFile(id, property: "photo", path: file)),
      ("missingValue", .missingValue(entity: "Note", property: "title")),
      ("invalidValue", .invalidValue(entity: "Note", property: "title", rule: "at least 3 characters")),
      ("tooFewObjects", .tooFewObjects(entity: "Note", relationship: "tags", found: 0, minimum: 1)),
      ("tooManyObjects", .tooManyObjects(entity: "Note", relationship: "tags", found: 9, maximum: 5)),
      ("notUnique", .notUnique(entity: "Tag", properties: ["name"])),
      ("deletionDenied", .deletionDenied(entity: "Tag", relationship: "notes")), ("conflict", .conflict(id)),
      ("store", .store(inUse)),
    ]
    let fetches: [(String, FetchError)] = [
      ("unknownEntity", .unknownEntity("Note", nearest: nil)),
      ("unknownProperty", .unknownProperty(entity: "Note", property: "mood", nearest: "moods")),
      ("condition", .condition(entity: "Note", .divisionByZero)),
      ("unsortable", .unsortable(entity: "Note", keyPath: "tags")), ("otherContext", .otherContext(entity: "Note")),
      ("functionFailed", .functionFailed(entity: "Note", underlying: AppError())), ("object", .object(.store(inUse))),
    ]
    return errors.map {
      ErrorSample("ManagedObjectError.\($0.0)", $0.1, path: $0.0 == "store" ? path : nil)
    } + fetches.map { ErrorSample("FetchError.\($0.0)", $0.1, path: $0.0 == "object" ? path : nil) }
  }

  private static var salvage: [ErrorSample] {
    let problems: [(String, SalvageError.Problem)] = [
      ("missing", .missing), ("notFile", .notFile(found: "folder")), ("empty", .empty), ("notDatabase", .notDatabase),
      ("noModel", .noModel), ("notStore", .notStore), ("sameFile", .sameFile(output: path)),
      ("outputExists", .outputExists(path: path + "-new")),
      ("notEnoughSpace", .notEnoughSpace(folder: "/Users/ada", needed: 2_500_000_000, available: 1_200_000)),
      ("inUse", .inUse), ("failed", .failed(reason: "the volume went away")), ("cancelled", .cancelled),
    ]
    return problems.map {
      ErrorSample(
        "SalvageError.\($0.0)", SalvageError(storePath: path, problem: $0.1), path: $0.0 == "outputExists" ? nil : path)
    }
  }

  private static var deferred: [ErrorSample] {
    let problems: [(String, DeferredMigrationError.Problem)] = [
      ("inUse", .inUse), ("readOnly", .readOnly), ("unlisted", .unlisted), ("otherVersion", .otherVersion),
      ("usedByApp", .usedByApp(object: "byMood", column: "ZNOTE.ZMOOD")),
      ("store", .store(StoreError(path: path, problem: .diskFull))),
    ]
    return problems.map {
      ErrorSample(
        "DeferredMigrationError.\($0.0)",
        DeferredMigrationError(path: path, pending: DeferredMigration(tables: ["ZNOTE"]), problem: $0.1), path: path)
    }
  }

  private static var staged: [ErrorSample] {
    let violations: [(String, StagedMigrationError.Violation)] = [
      ("noStages", .noStages), ("emptyStage", .emptyStage(stage: "stage 1")),
      ("standstill", .standstill(stage: "stage 1")),
      ("duplicateVersion", .duplicateVersion(checksum: "kx", stages: ["stage 1", "stage 2"])),
      ("gap", .gap(after: "stage 1", before: "stage 2")), ("wrongOrder", .wrongOrder(stage: "stage 2")),
      ("missingVersion", .missingVersion(checksum: "kx", name: "Diary 2")),
      ("unknownVersion", .unknownVersion(checksum: "kx")), ("backward", .backward(from: "stage 2", to: "stage 1")),
      ("unsupportedMetadata", .unsupportedMetadata(reason: "the metadata of the store have hashes of version 2")),
      ("unreadableModel", .unreadableModel("Diary 2", reason: "the file is empty.")),
      ("editedModel", .editedModel("Diary 2", expected: "kx", found: "ky")),
    ]
    return violations.map { ErrorSample("StagedMigrationError.\($0.0)", StagedMigrationError([$0.1])) }
      + [
        ErrorSample("StageHandlerError.unsavedChanges", StageHandlerError.unsavedChanges),
        ErrorSample(
          "StageHandlerError.ofOtherVersion",
          StageHandlerError.ofOtherVersion("entity \"Note\"", handler: .willMigrate, model: "the model \"A\" in Models")
        ),
      ]
  }

  // MARK: Migrations

  static func migration() throws -> [ErrorSample] {
    let expression = InvalidExpression(
      mapping: "NoteToNote", entity: "Note", property: "mood",
      problem: .unknownProperty(entity: "Note", property: "temper", nearest: nil))
    let failure = EntityMappingFailure(
      mapping: "NoteToNote", hook: .createDestinationInstances, entity: "Note",
      object: ManagedObjectID(storeIdentifier: "A-1", entityName: "Note", primaryKey: 7), underlying: AppError())
    let stage = StageFailure(stage: "stage 1", handler: .willMigrate, underlying: AppError())
    let duplicates = DuplicateObjects(
      entity: "Tag", properties: ["name"], rows: 1234, examples: [.init(values: [secret], primaryKeys: [1, 2])])
    let missing = CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: "/Users/ada/template.txt"])
    let errors: [(String, MigrationError)] = [
      ("unsupportedMapping", .unsupportedMapping(reason: "two entity mappings share the entity \"Note\"")),
      ("unknownPolicies", .unknownPolicies(names: ["App.NotePolicy"], known: [])),
      ("invalidExpression", .invalidExpression(expression)), ("mappingFailed", .mappingFailed(failure)),
      ("notUnique", .notUnique(duplicates)),
      ("storeContradictsModel", .storeContradictsModel(reason: "the table ZNOTE is missing.")),
      ("unfitConfiguration", .unfitConfiguration("Cloud", reason: "\"Note\" leads out of it")),
      ("unfitStages", .unfitStages(StagedMigrationError([.noStages]))), ("stageFailed", .stageFailed(stage)),
      ("unexpectedRowCount", .unexpectedRowCount(step: "Copy the rows of ZNOTE", expected: 1_234_567, written: 1)),
      ("proofFailed", .proofFailed(findings: ["ZNOTE has 3 rows, expected 4."])),
      ("database", .database(reason: "SQLite reports \"disk I/O error\" (code 10)", coreDataCode: 134_080)),
      ("damaged", .damaged(.store, reason: "SQLite reports \"malformed\" (code 11).")),
      ("damaged", .damaged(.candidate, reason: "SQLite reports \"malformed\" (code 11)")),
      ("diskFull", .diskFull(reason: "SQLite reports \"full\" (code 13).")), ("appFailed", .appFailed(AppError())),
      ("appFailed", .appFailed(missing)),
      (
        "unfitDecision",
        .unfitDecision(DataDecision(entity: "Note", property: "mood", .quarantine), reason: "no row needs it")
      ),
      ("cancelled", .cancelled),
    ]
    let manager: [(String, MigrationManagerError)] = [
      ("unknownEntityMapping", .unknownEntityMapping("X", known: [])),
      ("notAssociated", .notAssociated(entity: "Note", made: 1)),
      ("associatedTwice", .associatedTwice(source: 1, destination: 2)),
      ("foreignObject", .foreignObject(entity: "Note")),
      ("unfitValue", .unfitValue(property: "mood", expected: "a text")),
      ("expressionFailed", .expressionFailed(property: "mood", reason: "the function f: is not known")),
      ("missingValue", .missingValue(entity: "Note", property: "title", primaryKey: 7)),
    ]
    let problems: [(String, InvalidExpression.Problem)] = [
      ("unknownProperty", .unknownProperty(entity: "Note", property: "temper", nearest: nil)),
      ("evaluation", .evaluation(.divisionByZero)),
      ("syntax", .syntax(.unterminatedString(offset: 3))),
    ]
    var samples = errors.map { ErrorSample("MigrationError.\($0.0)", $0.1) }
    samples += manager.map { ErrorSample("MigrationManagerError.\($0.0)", $0.1) }
    samples += problems.map {
      ErrorSample(
        "InvalidExpression.\($0.0)",
        InvalidExpression(mapping: "NoteToNote", entity: "Note", property: nil, problem: $0.1))
    }
    samples += [ErrorSample("EntityMappingFailure", failure), ErrorSample("StageFailure", stage)]
    do {
      _ = try MappingInference(from: model { _ in }, to: converted()).mappingModel()
    } catch {
      samples.append(ErrorSample("MappingInferenceError", error))
    }
    return samples
  }

  /// Returns the assistant's errors: its own, and those of its parts in its words.
  private static func assistant(migration: [ErrorSample]) throws -> [ErrorSample] {
    let (path, plan) = try blockedPlan()
    let version = try MappingInference(from: model { _ in }, to: converted())
    let newer = NewerStore(storePath: path, versionName: "Diary 9", versionChecksum: "kx", fittingVersions: [])
    let space = SpaceShortage(
      storePath: path, folder: "/Users/ada", fileSystem: "ext4", neededBytes: 2_500_000_000,
      previousVersionBytes: 1_000_000,
      availableBytes: 12_345)
    let near = NearVersion(name: "Diary 3", differingEntities: ["Note", "Tag"])
    let unfit = MigrationAssistantError(
      wrapping: VaultError.hardLinked(path: path, linkCount: 2), storePath: path)
    let errors: [(String, MigrationAssistantError)] = [
      ("noModel", .noModel(storePath: path, nearest: [near])), ("noModel", .noModel(storePath: path, nearest: [])),
      ("unknownVersion", .unknownVersion(storePath: path, plan: plan, obstacles: [])),
      ("unknownVersion", .unknownVersion(storePath: path, plan: nil, obstacles: version.obstacles)),
      ("unknownVersion", .unknownVersion(storePath: path, plan: nil, obstacles: [])),
      ("partsMissing", .partsMissing(storePath: path, versions: ["Diary 3"], entities: ["Tag"], plan: plan)),
      ("partsMissing", .partsMissing(storePath: path, versions: ["Diary", "Tags"], entities: ["Place"], plan: nil)),
      ("newerVersion", .newerVersion(newer)),
      ("belowFloor", .belowFloor(storePath: path, versionName: "Diary", floor: "Diary 3")),
      (
        "mappingNeeded",
        .mappingNeeded(storePath: path, obstacles: version.obstacles, skeleton: MappingSkeleton(version)?.source)
      ), ("mappingNeeded", .mappingNeeded(storePath: path, obstacles: [], skeleton: nil)),
      ("decisionNeeded", .decisionNeeded(storePath: path, plan: plan)),
      ("lossesNotConsented", .lossesNotConsented(storePath: path, plan: plan)),
      ("refused", .refused(storePath: path, plan: plan)),
      ("storeNotMigrated", .storeNotMigrated(storePath: path)),
      ("storeInUse", .storeInUse(storePath: path, reason: "another process writes to it")), ("unfitLocation", unfit),
      ("notEnoughSpace", .notEnoughSpace(space)),
      ("outcomeUnknown", .outcomeUnknown(storePath: path, reason: "could not sync the folder")),
      ("noSuchVersion", .noSuchVersion(storePath: path, reason: "no version begins with \"2026\"")),
    ]
    var samples = errors.map { ErrorSample("MigrationAssistantError.\($0.0)", $0.1, path: path) }
    samples += storeProblems.map {
      ErrorSample(
        "MigrationAssistantError.unreadableStore",
        MigrationAssistantError.unreadableStore(StoreError(path: path, problem: $0.1)), path: path)
    }
    samples += migration.compactMap { sample in
      (sample.error as? MigrationError).map {
        ErrorSample("MigrationAssistantError.failed", MigrationAssistantError.failed(storePath: path, $0), path: path)
      }
    }
    samples += vault(path).map {
      let error = MigrationAssistantError(wrapping: $0, storePath: path)
      return ErrorSample("MigrationAssistantError.\(error.code)", error, path: path)
    }
    return samples
  }

  private static func vault(_ path: String) -> [VaultError] {
    let full = FileError(.write, path + ".heirloom/incoming", code: ENOSPC)
    let denied = FileError(.makeDirectory, path + ".heirloom", code: EACCES)
    return [
      .storeMissing(path: path, previousVersions: ["2026-11-22-a1"]),
      .storeMissing(path: path, previousVersions: [], isAnotherAwaited: true),
      .sideFilesWithoutStore(path: path, sideFiles: [path + "-wal"]),
      .unusableSideFile(path: path + "-wal", reason: "it is a folder"), .notAFile(path: path, found: "folder"),
      .keptStore(path: path, folder: "previous"),
      .foreignOwner(path: path + ".heirloom", owner: 1001),
      .mountedStore(path: path), .unsafeVolume(path: path, fileSystem: "nfs"),
      .unusableFolder(path: path + ".heirloom", reason: "it is a file"),
      .folderNotWritable(denied), .vaultInUse(path: path + ".heirloom/lock"),
      .storeInUse(path: path, reason: "a reader"),
      .unreadableStore(path: path, underlying: SQLiteError(extendedCode: 11, message: "malformed")),
      .refusedJournal(path: path, .emptiesDatabase), .refusedJournal(path: path, .namesAnother("/etc/motd")),
      .damagedManifest(path: path + ".heirloom/manifest.json", reason: "its checksum is wrong"),
      .unfitCandidate(path: path, reason: "it lies on another volume"),
      .unknownVersion(prefix: "2026", candidates: []), .unusableVersion(id: "2026", reason: "it is empty"),
      .unusableSetAsideStore(id: "2026", reason: "it is empty"), .outcomeUnknown(path: path, underlying: full),
      .file(full),
      .file(FileError(.read, path, code: EIO)), .file(FileError(.write, path, code: EROFS)),
    ]
  }

  // MARK: A store with something to lose

  private static func model(_ change: (inout EntityDescription) -> Void) throws -> ManagedObjectModel {
    var note = EntityDescription(name: "Note")
    let mood = Make.attribute("mood")
    note.attributes = [AttributeDescription(name: "title", type: .string), mood]
    change(&note)
    return try ManagedObjectModel(entities: [note])
  }

  private static func converted() throws -> ManagedObjectModel {
    try model {
      $0.attributes[0].type = .integer64
      $0.attributes[1].type = .date
    }
  }

  private static func blockedPlan() throws -> (path: String, plan: MigrationPlan) {
    let directory = try TemporaryDirectory()
    let url = directory.file("Diary.sqlite")
    let first = try model { _ in }
    try PersistentStore.make(at: url, model: first) { context in
      for _ in 0..<3 {
        let note = try context.insert("Note")
        try note.setValue(.string(secret), forAttribute: "title")
        try note.setValue(.string(secret), forAttribute: "mood")
      }
    }
    let second = try model {
      $0.attributes[1] = AttributeDescription(name: "author", type: .string)
      $0.uniquenessConstraints = [["title"]]
    }
    let assistant = MigrationAssistant(url, from: first, to: second)
    guard let plan = try assistant.plan() else { throw AppError() }
    return (url.path, plan)
  }
}
