import Heirloom
import HeirloomOutput

/// The diagram of a model or of a difference.
package struct ModelDiagram: Hashable {
  enum Mark: String, CaseIterable {
    case unchanged
    case added
    case removed
    case changed
    case renamed

    /// Shows the mark without colours.
    var sign: String {
      switch self {
      case .unchanged: ""
      case .added: "+"
      case .removed: "−"
      case .changed: "~"
      case .renamed: "→"
      }
    }
  }

  /// A property, or an element of a composite attribute.
  struct Row: Hashable {
    enum Kind: String {
      case attribute
      case element
      case relationship
      case fetchedProperty
    }

    let kind: Kind
    let name: String
    /// Or the destination of a relationship: `String?`, `[Post]`.
    var type: String
    /// `unique`, `derived`, `transient`, `ordered`.
    var features: [String] = []
    /// The number of composites around the row.
    var depth = 0
    var mark = Mark.unchanged
    var formerName: String?
    /// The changes, as phrases.
    var details: [String] = []
    /// The names from the property down to the element.
    var path: [String]
  }

  package struct Box: Hashable {
    let name: String
    var superentity: String?
    var isAbstract = false
    var mark = Mark.unchanged
    var formerName: String?
    /// The changes of the entity itself, as phrases.
    var details: [String] = []
    var rows: [Row] = []
    /// Those that the diagram leaves out.
    var hiddenRows = 0

    var notes: [String] {
      (formerName.map { ["was \($0)"] } ?? []) + (isAbstract ? ["abstract"] : [])
        + (superentity.map { ["is a \($0)"] } ?? [])
    }
  }

  enum Cardinality: String {
    case zeroOrOne
    case exactlyOne
    case zeroOrMore
    case oneOrMore
  }

  struct End: Hashable {
    let box: Int
    /// `nil` for the box as a whole.
    let row: Int?
    /// This box's objects for one object of the other box; `nil` if the model doesn't limit them.
    let cardinality: Cardinality?
  }

  package struct Edge: Hashable {
    enum Kind: String {
      /// Drawn with its inverse if it has one.
      case relationship
      /// From the parent to the subentity.
      case inheritance
    }

    let kind: Kind
    let start: End
    let end: End
    var mark = Mark.unchanged
  }

  let title: String
  let isDifference: Bool
  package var boxes: [Box] = []
  package var edges: [Edge] = []

  package var summary: String {
    guard isDifference else {
      let relationships = edges.count { $0.kind == .relationship }
      let inheritances = edges.count - relationships
      return
        ([counted(Int64(boxes.count), "entity"), counted(Int64(relationships), "relationship")]
        + (inheritances > 0 ? [counted(Int64(inheritances), "subentity")] : [])).joined(separator: ", ")
    }
    let words: [String] = Mark.allCases.dropFirst().compactMap { mark in
      let entities = Int64(boxes.count { $0.mark == mark })
      // Rows of an added or removed entity are not counted separately.
      let rows = Int64(boxes.reduce(0) { $0 + $1.rows.count { $0.mark == mark } })
      let parts = (entities > 0 ? [counted(entities, "entity")] : []) + (rows > 0 ? [counted(rows, "property")] : [])
      return parts.isEmpty ? nil : "\(mark.rawValue): \(parts.joined(separator: " and "))"
    }
    return words.isEmpty ? "no difference that a picture shows" : words.joined(separator: "; ")
  }
}

extension ModelDiagram {
  /// Without unchanged rows, except those of added or removed entities, and those that a visible
  /// line or element needs.
  package var changesOnly: ModelDiagram {
    let differing = Set(
      boxes.indices.filter { index in
        boxes[index].mark != .unchanged || boxes[index].rows.contains { $0.mark != .unchanged }
      })
    var shown = differing
    var rows = boxes.map { box in
      Set(box.rows.indices.filter { box.mark == .added || box.mark == .removed || box.rows[$0].mark != .unchanged })
    }
    // An element needs its composite as context.
    for (index, box) in boxes.enumerated() {
      for row in Array(rows[index]) where box.rows[row].depth > 0 {
        for (other, candidate) in box.rows.enumerated()
        where candidate.path.count < box.rows[row].path.count && box.rows[row].path.starts(with: candidate.path) {
          rows[index].insert(other)
        }
      }
    }
    for edge in edges {
      let isRelevant = [edge.start, edge.end].contains { end in
        end.row.map { rows[end.box].contains($0) } ?? false
      }
      guard isRelevant || edge.mark != .unchanged || edge.kind == .inheritance && differing.contains(edge.end.box)
      else {
        continue
      }
      for end in [edge.start, edge.end] {
        shown.insert(end.box)
        if let row = end.row { rows[end.box].insert(row) }
      }
    }
    var result = ModelDiagram(title: title, isDifference: isDifference)
    var positions: [Int: Int] = [:]
    var rowPositions: [[Int: Int]] = []
    for (index, box) in boxes.enumerated() {
      rowPositions.append([:])
      guard shown.contains(index) else { continue }
      positions[index] = result.boxes.count
      var copy = box
      copy.rows = []
      for (row, value) in box.rows.enumerated() where rows[index].contains(row) {
        rowPositions[index][row] = copy.rows.count
        copy.rows.append(value)
      }
      copy.hiddenRows = box.rows.count - copy.rows.count
      result.boxes.append(copy)
    }
    for edge in edges {
      guard let start = positions[edge.start.box], let end = positions[edge.end.box] else { continue }
      let startRow = edge.start.row.map { rowPositions[edge.start.box][$0] }
      let endRow = edge.end.row.map { rowPositions[edge.end.box][$0] }
      // A line to a hidden row is hidden too.
      if case .some(.none) = startRow { continue }
      if case .some(.none) = endRow { continue }
      result.edges.append(
        Edge(
          kind: edge.kind, start: End(box: start, row: startRow ?? nil, cardinality: edge.start.cardinality),
          end: End(box: end, row: endRow ?? nil, cardinality: edge.end.cardinality), mark: edge.mark))
    }
    return result
  }
}
