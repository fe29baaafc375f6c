package enum DiagramFormat: String, CaseIterable {
  case svg
  case mermaid
  case dot

  package var fileExtensions: [String] {
    switch self {
    case .svg: ["svg"]
    case .mermaid: ["mmd", "mermaid"]
    case .dot: ["dot", "gv"]
    }
  }

  /// Marks a file made by this command.
  package var mark: String {
    switch self {
    case .svg: SVGDiagram.mark
    case .mermaid: MermaidDiagram.mark
    case .dot: DOTDiagram.mark
    }
  }

  package func text(of diagram: ModelDiagram) -> String {
    switch self {
    case .svg: SVGDiagram(diagram).file
    case .mermaid: MermaidDiagram(diagram: diagram).file
    case .dot: DOTDiagram(diagram: diagram).file
    }
  }
}
