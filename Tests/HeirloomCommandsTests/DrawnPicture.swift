import Foundation
import Heirloom
import HeirloomModel
import Testing

/// The visible content of an SVG that the tool drew.
struct DrawnPicture {
  struct Frame {
    let x: Double
    let y: Double
    let width: Double
    let height: Double

    var right: Double { x + width }
    var bottom: Double { y + height }

    /// False on the border.
    func holds(_ point: Point) -> Bool {
      point.x > x + 0.5 && point.x < right - 0.5 && point.y > y + 0.5 && point.y < bottom - 0.5
    }

    /// True on the left or right border.
    func touches(_ point: Point) -> Bool {
      (point.x == x || point.x == right) && point.y >= y && point.y <= bottom
    }
  }

  struct Point {
    let x: Double
    let y: Double
  }

  struct Row {
    let property: String
    let kind: String
    let mark: String
    /// The vertical middle of its text.
    let middle: Double
    let texts: [String]
  }

  struct Box {
    let entity: String
    let mark: String
    let frame: Frame
    let rows: [Row]
  }

  struct Line {
    let kind: String
    let mark: String
    let from: String
    let to: String
    /// Points on the line, close to each other; the first and the last are its ends.
    let points: [Point]
  }

  let root: MarkupElement
  let width: Double
  let height: Double
  let boxes: [Box]
  let lines: [Line]

  init(_ svg: String) throws {
    root = try MarkupReader.rootElement(of: Array(svg.utf8))
    width = try Self.number(root, "width")
    height = try Self.number(root, "height")
    boxes = try root.children.filter { $0["data-entity"] != nil }.map(Self.box)
    lines = try root.children.filter { $0["class"] == "edges" }.flatMap(\.children).map(Self.line)
  }

  private static func number(_ element: MarkupElement, _ name: String) throws -> Double {
    try #require(element[name].flatMap { Double($0) }, "\(element.name) has no \(name)")
  }

  private static func box(_ element: MarkupElement) throws -> Box {
    let frame = try #require(element.children.first { $0["class"] == "frame" })
    let mark = element["class"]?.split(separator: " ").last.map(String.init)
    return Box(
      entity: try #require(element["data-entity"]), mark: try #require(mark),
      frame: Frame(
        x: try number(frame, "x"), y: try number(frame, "y"), width: try number(frame, "width"),
        height: try number(frame, "height")),
      rows: try element.children.filter { $0["data-property"] != nil }.map { row in
        let texts = row.children(named: "text")
        return Row(
          property: try #require(row["data-property"]), kind: try #require(row["data-kind"]),
          mark: try #require(row["class"]?.split(separator: " ").last.map(String.init)),
          middle: try number(try #require(texts.first), "y") - 4, texts: texts.map(\.text))
      })
  }

  private static func line(_ element: MarkupElement) throws -> Line {
    let words = (element["class"] ?? "").split(separator: " ").map(String.init)
    try #require(words.count == 3)
    let path = try #require(element.children.first { $0["class"] == "line" }?["d"])
    return Line(
      kind: words[1], mark: words[2], from: try #require(element["data-from"]), to: try #require(element["data-to"]),
      points: try points(of: path))
  }

  /// The path has straight pieces and cubic curves.
  private static func points(of path: String) throws -> [Point] {
    var points: [Point] = []
    var numbers: [Double] = []
    for word in path.split(separator: " ") {
      numbers.append(try #require(Double(word.drop { $0.isLetter })))
    }
    let commands = path.split(separator: " ").compactMap { $0.first }.filter(\.isLetter)
    var next = 0
    func point() throws -> Point {
      try #require(next + 1 < numbers.count)
      next += 2
      return Point(x: numbers[next - 2], y: numbers[next - 1])
    }
    for command in commands {
      switch command {
      case "M": points = [try point()]
      case "L": points += try steps(from: points.last, to: [point()], count: 12)
      case "C": points += try steps(from: points.last, to: [point(), point(), point()], count: 24)
      default: Issue.record("\(command) in \(path)")
      }
    }
    #expect(next == numbers.count)
    return points
  }

  private static func steps(from start: Point?, to more: [Point], count: Int) throws -> [Point] {
    let start = try #require(start)
    return (1...count).map { step in
      let t = Double(step) / Double(count)
      if step == count { return more[more.count - 1] }
      // De Casteljau: a point on any curve is found by interpolating between interpolated points.
      var points = [start] + more
      while points.count > 1 {
        points = zip(points, points.dropFirst()).map { a, b in
          Point(x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t)
        }
      }
      return points[0]
    }
  }
}

extension DrawnPicture {
  /// Expects the rules for every picture: boxes apart and inside, lines from border to border and through no box.
  func expectOrder(_ name: Comment) {
    #expect(disorder == [], name)
  }

  /// Elements that overlap, lead nowhere or stick out.
  private var disorder: [String] {
    var found: [String] = []
    for (index, box) in boxes.enumerated() {
      let frame = box.frame
      if frame.x < 0 || frame.y < 0 || frame.right > width || frame.bottom > height {
        found.append("\(box.entity) sticks out")
      }
      for other in boxes[(index + 1)...] {
        let theirs = other.frame
        let isApart =
          frame.right + 8 <= theirs.x || theirs.right + 8 <= frame.x || frame.bottom + 8 <= theirs.y
          || theirs.bottom + 8 <= frame.y
        if !isApart { found.append("\(box.entity) is over \(other.entity)") }
      }
    }
    for line in lines {
      guard let first = line.points.first, let last = line.points.last else { return found + ["a line without points"] }
      // Another box may have the same name, if one entity went and one came.
      if !boxes.contains(where: { $0.entity == line.from && $0.frame.touches(first) })
        || !boxes.contains(where: { $0.entity == line.to && $0.frame.touches(last) })
      {
        found.append("the line from \(line.from) to \(line.to) ends at no border")
      }
      for box in boxes where line.points.contains(where: { box.frame.holds($0) }) {
        found.append("the line from \(line.from) to \(line.to) goes through \(box.entity)")
      }
    }
    return found
  }

  func hasLine(at row: Row, of box: Box) -> Bool {
    lines.contains { line in
      [line.points.first, line.points.last].contains { end in
        guard let end else { return false }
        return box.frame.touches(end) && end.y == row.middle
      }
    }
  }
}
