/// A file format for diagrams.
package enum DiagramFormat: String, CaseIterable {
  case svg
  case mermaid
  case dot

  /// The file name extensions of the format.
  package var fileExtensions: [String] {
    switch self {
    case .svg: ["svg"]
    case .mermaid: ["mmd", "mermaid"]
    case .dot: ["dot", "gv"]
    }
  }

  /// The text that marks a file made by this command.
  package var mark: String {
    switch self {
    case .svg: SVGDiagram.mark
    case .mermaid: MermaidDiagram.mark
    case .dot: DOTDiagram.mark
    }
  }

  /// Returns the content of a diagram's file.
  package func text(of diagram: ModelDiagram) -> String {
    switch self {
    case .svg: SVGDiagram(diagram).file
    case .mermaid: MermaidDiagram(diagram: diagram).file
    case .dot: DOTDiagram(diagram: diagram).file
    }
  }
}
