import Foundation
import Heirloom
import HeirloomCompare
import HeirloomDiagram
import HeirloomOutput

extension Command {
  static let diagram = Command(
    name: "diagram", usage: "MODEL [--to MODEL [--changes]] [--output FILE | --format FORMAT] [--exclude FOLDER]…",
    summary: "draw a model as SVG, Mermaid or Graphviz; with --to what differs, in colour",
    details: [
      "MODEL is a model of any kind, or a store, whose own model is used. The name of the file that --output"
        + " names ends in .svg, .mmd or .dot; without it the drawing goes to standard output, as SVG unless --format says another.",
      "An earlier drawing is replaced, any other file is left alone.",
    ],
    options: [
      .exclude,
      Option(name: "--to", value: "MODEL", summary: "draw what differs between the two"),
      Option(name: "--changes", summary: "show only changes and the entities they refer to"),
      Option(name: "--output", value: "FILE", summary: "the file to write"),
      Option(
        name: "--format", value: "FORMAT", choices: ["svg", "mermaid", "dot"],
        summary: "what standard output gets, svg unless given"),
    ],
    example: "heirloom diagram Journal.xcdatamodeld --output Journal.svg", positionals: ["MODEL"], requiredCount: 1,
    run: DiagramCommand.run)
}

enum DiagramCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let output = arguments.value("--output")
    let format = try format(arguments, output: output)
    if arguments.has("--changes"), arguments.value("--to") == nil {
      throw UsageError.missingOption("--to", value: "MODEL")
    }
    let diagram = try diagram(arguments, console)
    let text = format.text(of: diagram)
    let members: OutputMembers = [
      ("format", .text(format.rawValue)), ("entities", .integer(Int64(diagram.boxes.count))),
      ("lines", .integer(Int64(diagram.edges.count))),
    ]
    guard let output else {
      return CommandReport(
        source: text.hasSuffix("\n") ? text : text + "\n",
        members: [("path", .null)] + members + [("diagram", .source(text))])
    }
    let path = try console.outputPath(output)
    let isNew = try OutputFile(path: path, mark: format.mark).write(text)
    return CommandReport(
      lines: ["\(path) was \(isNew ? "written" : "rewritten"): \(diagram.summary)."],
      members: [("path", .text(path))] + members)
  }

  private static func diagram(_ arguments: Arguments, _ console: Console) throws -> ModelDiagram {
    let source = try NamedModel(at: console.path(arguments.positionals[0]), console: console, acceptsDoubts: true)
    for warning in source.warnings { console.log("note: \(warning)") }
    guard let word = arguments.value("--to") else {
      return DiagramBuilder.diagram(of: source.model, title: source.name)
    }
    let destination = try NamedModel(at: console.path(word), console: console, acceptsDoubts: true)
    for warning in destination.warnings { console.log("note: \(warning)") }
    let difference = ModelDifference(from: source.model, to: destination.model)
    let diagram = DiagramBuilder.diagram(of: difference, title: "\(source.name) → \(destination.name)")
    return arguments.has("--changes") ? diagram.changesOnly : diagram
  }

  private static func format(_ arguments: Arguments, output: String?) throws(UsageError) -> DiagramFormat {
    let named = arguments.value("--format")
    let format = try named.map { name throws(UsageError) in
      guard let format = DiagramFormat(rawValue: name) else {
        throw .invalidValue(option: "--format", value: name, expected: "svg, mermaid or dot")
      }
      return format
    }
    guard let output else { return format ?? .svg }
    let fileExtension = (output as NSString).pathExtension.lowercased()
    guard let byName = DiagramFormat.allCases.first(where: { $0.fileExtensions.contains(fileExtension) }),
      format == nil || format == byName
    else {
      let expected = (format.map { [$0] } ?? DiagramFormat.allCases).flatMap(\.fileExtensions).map { ".\($0)" }
      throw .invalidValue(
        option: "--output", value: output, expected: "a name that ends in \(expected.joined(separator: ", "))")
    }
    return byName
  }
}
