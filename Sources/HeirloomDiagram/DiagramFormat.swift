/// A language that diagrams are written in.
package enum DiagramFormat: String, CaseIterable {
  case svg
  case mermaid
  case dot

  /// How names of files end that hold it.
  package var fileExtensions: [String] {
    switch self {
    case .svg: ["svg"]
    case .mermaid: ["mmd", "mermaid"]
    case .dot: ["dot", "gv"]
    }
  }

  /// The words by which a file of ours is known.
  package var mark: String {
    switch self {
    case .svg: SVGDiagram.mark
    case .mermaid: MermaidDiagram.mark
    case .dot: DOTDiagram.mark
    }
  }

  /// Writes a diagram.
  package func text(of diagram: ModelDiagram) -> String {
    switch self {
    case .svg: SVGDiagram(diagram).file
    case .mermaid: MermaidDiagram(diagram: diagram).file
    case .dot: DOTDiagram(diagram: diagram).file
    }
  }
}
