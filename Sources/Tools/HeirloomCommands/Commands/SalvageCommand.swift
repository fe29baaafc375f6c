import Foundation
import Heirloom
import HeirloomOutput
import HeirloomSalvage

extension Command {
  static let salvage = Command(
    name: "salvage", summary: "copy everything readable of a damaged store into a new one",
    details: [
      "The damaged store stays as it is: it is copied with its \"-wal\" and \"-journal\", and never opened itself. What SQLite can't read is read page by"
        + " page: rows on an intact page are found even if the pages that point to it are lost, including the header and the schema."
        + " Keys are kept. Links to lost objects are removed; everything that was cut is in"
        + " FILE.cuts.jsonl, one JSON object per line. Deleted rows don't come back.",
      "The model is one of those given by --model, the snapshot beside the store, or the store's own copy: one that the"
        + " store's metadata name, or the nearest. The new store appears whole at the end, or not at all; the store and the files"
        + " beside it stay as they are. Keep them: a later version may read more.",
      "The exit code is 0 when everything was read, 6 when something is lost or was cut, and 1 when there is no new store.",
    ],
    options: [
      Option(name: "--output", value: "FILE", isRequired: true, summary: "the new store, which must not exist"), .model,
      .exclude,
      Option(
        name: "--include-uncertain",
        summary: "also read pages whose rows may have been deleted; such rows may come back"),
    ],
    example: "heirloom salvage Journal.sqlite --model Journal.xcdatamodeld --output Salvaged.sqlite",
    positionals: ["STORE"], requiredCount: 1, run: SalvageCommand.run)
}

enum SalvageCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let path = try console.path(arguments.positionals[0])
    let output = try console.outputPath(arguments.required("--output", "FILE"))
    let candidates = try NamedModel.likeliestFirst(at: arguments.all("--model"), console: console).candidates
    var salvage = StoreSalvage(storeURL: URL(fileURLWithPath: path), candidates: candidates)
    let interruption = console.interruption
    salvage.isCancelled = { interruption.isInterrupted }
    salvage.includesUncertainPages = arguments.has("--include-uncertain")
    console.progress.begin("Reading the damaged store")
    do throws(SalvageError) {
      let report = try salvage.run(to: URL(fileURLWithPath: output))
      return SalvageText(report: report, style: console.style).commandReport
    } catch {
      throw CommandFailure(error).aboutStore(at: path)
    }
  }
}

extension CommandFailure {
  init(_ error: SalvageError) {
    guard error.problem != .cancelled else {
      self = .cancelled(storeAt: error.storePath)
      return
    }
    self.init(
      exitCode: error.problem == .inUse ? .storeInUse : .failed, code: error.code, coreDataCode: error.coreDataCode,
      message: error.description, suggestion: error.recoverySuggestion, remedies: error.remedies,
      storeAt: error.problem == .missing ? nil : error.storePath)
    switch error.problem {
    case .notDatabase, .notStore, .noModel:
      if case .file = PathKind(error.storePath), let kind = FileStart(error.storePath).kind {
        describe(kind, at: error.storePath)
      }
    default: break
    }
  }
}

struct SalvageText {
  let report: SalvageReport
  let style: TextStyle

  var commandReport: CommandReport {
    CommandReport(lines: lines, members: members, failure: failure, printsFailure: false)
  }

  private var lines: [String] {
    let objects = report.objects.values.reduce(0, +)
    var lines = [
      "\(style.bold(report.outputPath)) holds \(counted(objects, "object")) of \(report.storePath), read with"
        + " \(report.modelSource)."
    ]
    if report.isComplete {
      lines.append(style.green("Everything was read.") + " The store \(report.storePath) was not changed.")
      lines += report.notes.map { "  \(style.faint("note"))  \($0)" }
      return lines + placing
    }
    lines += report.notes.map { "  \(style.faint("note"))  \($0)" }
    lines += report.tables.compactMap(line)
    if report.unreadablePageCount > 0 {
      let numbers = listText(report.unreadablePages.map(String.init))
      lines.append(
        "  \(style.red("lost"))  \(counted(Int64(report.unreadablePageCount), "page")) with data can't be read (\(numbers))."
      )
    }
    if report.unassignedPageCount > 0 {
      lines.append(
        "  \(style.red("lost"))  \(counted(Int64(report.unassignedPageCount), "page")) with rows of an unknown"
          + " table.")
    }
    if report.uncertainPageCount > 0 {
      lines.append(
        "  \(style.yellow("left out"))  \(counted(Int64(report.uncertainPageCount), "page")) of rows that may have been"
          + " deleted: --include-uncertain reads them.")
    }
    lines += report.cuts.map { "  \(style.yellow("cut"))  \($0.description)" }
    if !report.missingFiles.isEmpty {
      let number = Int64(report.missingFiles.count)
      let count = "\(counted(number, "file")) of external data \(verb("are", number))"
      lines.append(
        "  \(style.red("lost"))  \(count) missing or empty: \(listText(report.missingFiles))")
    }
    lines += report.leftOut.map { "  \(style.yellow("left out"))  \($0)" }
    if let path = report.cutsPath { lines.append("What was cut is in \(path), one JSON object per line.") }
    lines.append("The store \(report.storePath) was not changed. Keep it: a later version may read more.")
    return lines + placing
  }

  /// Commands that replace the damaged store with the new one, and move the damaged one with all
  /// its files into a folder: SQLite would apply a log or journal left behind to the new store.
  private var placing: [String] {
    let files = POSIXFileOperations()
    guard StoreLocation.keptFolder(of: report.storePath) == nil,
      let store = try? StoreLocation(resolving: report.storePath, files: files),
      let output = try? StoreLocation(resolving: report.outputPath, files: files)
    else { return [] }
    func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
    let folder = (1...).lazy.map { "\(store.path).damaged\($0 == 1 ? "" : "-\($0)")" }.first { !isThere($0) } ?? ""
    func line(_ source: String, to target: String, copies: Bool = false) -> String? {
      isThere(source) ? "  \(copies ? "cp -R" : "mv") \(shellWord(source)) \(shellWord(target))" : nil
    }
    // Another store's files stay where they are; names of external files are never reused.
    let isShared = StorePlace(store.path).sharesSupport
    return ["To use it in the store's place, while no app has the store open:", "  mkdir \(shellWord(folder))"]
      + ([store.path] + store.sideFiles).compactMap { line($0, to: folder) }
      + [
        line(store.support, to: folder, copies: isShared), line(output.path, to: store.path),
        line(isShared ? output.support + "/." : output.support, to: store.support, copies: isShared),
      ].compactMap(\.self)
  }

  private func line(_ table: SalvageReport.Table) -> String? {
    guard !table.isWhole || table.rowsFoundApart > 0 else { return nil }
    var parts = [counted(table.rows, table.isLinks ? "link" : "object") + " read"]
    if table.rowsFoundApart > 0 { parts.append("\(grouped(table.rowsFoundApart)) of them found apart") }
    if table.rowsLost > 0 { parts.append("at least \(grouped(table.rowsLost)) lost") }
    if table.unreadableRows > 0 { parts.append("\(counted(Int64(table.unreadableRows), "row")) unreadable") }
    if table.unreadablePages > 0 { parts.append("\(counted(Int64(table.unreadablePages), "page")) unreadable") }
    if !table.isPresent { parts.append("the table is missing") }
    let title = table.isWhole ? style.faint("read") : style.red("lost")
    return "  \(title)  \(style.bold(table.name)): \(parts.joined(separator: ", "))."
  }

  private var members: OutputMembers {
    let tables = report.tables.map { table in
      OutputValue.object([
        ("name", .text(table.name)), ("table", .text(table.table)), ("links", .boolean(table.isLinks)),
        ("rows", .integer(table.rows)), ("rowsFoundApart", .integer(table.rowsFoundApart)),
        ("rowsLost", .integer(table.rowsLost)), ("lostKeys", .list(table.lostKeys.map { .integer($0) })),
        ("unreadableRows", .integer(Int64(table.unreadableRows))),
        ("unreadablePages", .integer(Int64(table.unreadablePages))), ("present", .boolean(table.isPresent)),
      ])
    }
    let entities = report.objects.sorted { $0.key < $1.key }.map { name, count in
      OutputValue.object([("name", .text(name)), ("rows", .integer(count))])
    }
    let cuts = report.cuts.map { cut in
      OutputValue.object([
        ("kind", .text(cut.kind.rawValue)), ("subject", .text(cut.subject)), ("count", .integer(cut.count)),
      ])
    }
    return [
      ("output", .text(report.outputPath)), ("complete", .boolean(report.isComplete)),
      ("modelSource", .text(report.modelSource)),
      ("modelFits", report.isModelFit.map { .boolean($0) } ?? .null),
      ("structureSound", .boolean(report.isStructureSound)), ("entities", .list(entities)), ("tables", .list(tables)),
      ("cuts", .list(cuts)), ("cutsPath", .optional(report.cutsPath)),
      ("unreadablePages", .integer(Int64(report.unreadablePageCount))),
      ("uncertainPages", .integer(Int64(report.uncertainPageCount))),
      ("unassignedPages", .integer(Int64(report.unassignedPageCount))),
      ("missingFiles", .texts(report.missingFiles)), ("leftOut", .texts(report.leftOut)),
      ("notes", .texts(report.notes)),
    ]
  }

  private var failure: CommandFailure? {
    guard !report.isComplete else { return nil }
    return CommandFailure(
      exitCode: .findings, code: "findings", coreDataCode: nil,
      message: "Not everything of \(report.storePath) could be read.",
      suggestion: "The new store \(report.outputPath) can be opened; the damaged one was not changed. Keep it.",
      storeAt: report.storePath)
  }
}
