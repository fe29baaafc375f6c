package import Foundation
package import Heirloom
import HeirloomCompare
package import HeirloomOutput

/// Has the content of `heirloom plan`, and no values of rows.
package final class MigrationPage {
  package enum Rehearsal {
    /// Not requested.
    case none
    case passed(MigrationReport)
    /// The rehearsal failed or couldn't be made.
    case failed(Failure)
  }

  package struct Failure {
    /// One sentence.
    let message: String
    /// One or more sentences.
    let suggestion: String?

    package init(message: String, suggestion: String?) {
      self.message = message
      self.suggestion = suggestion
    }
  }

  let store: StoreFacts
  /// `nil` if the store's model is unknown.
  let difference: DifferenceText?
  /// The rehearsal's plan if it passed; `nil` if the store is up to date or no plan can be made.
  package let plan: MigrationPlan?
  /// The failure that a migration would end with.
  let failure: Failure?
  let destinationName: String
  package let rehearsal: Rehearsal
  let date: Date
  /// Files in them are shown by name only.
  let hiddenFolders: [String]

  /// If the rehearsal passed, its plan replaces `plan`.
  package init(
    of store: StoreFacts, difference: DifferenceText?, plan: MigrationPlan?, failure: Failure?,
    destinationName: String, rehearsal: Rehearsal, date: Date, hiddenFolders: [String]
  ) {
    self.store = store
    self.difference = difference
    self.plan = if case .passed(let report) = rehearsal { report.plan } else { plan }
    self.failure = failure
    self.destinationName = destinationName
    self.rehearsal = rehearsal
    self.date = date
    self.hiddenFolders = hiddenFolders
  }

  /// Marks a file made by this command.
  package static let mark = "heirloom report"

  /// Without the folder.
  var name: String { URL(fileURLWithPath: store.path).lastPathComponent }

  package var file: String {
    let title = "Migration of \(name) to \(destinationName)"
    let head = Markup.tag(
      "head", [:], .tag("meta", ["charset": "utf-8"]),
      .tag("meta", ["name": "generator", "content": "\(Self.mark), Heirloom \(HeirloomRelease.version)"]),
      .tag("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
      .tag("meta", ["name": "color-scheme", "content": "light dark"]), .tag("title", text: title),
      .style(ReportStyle.rules))
    let (tone, sentence) = verdict
    let sections = [
      losses, renamed, renames, obstacles, decisions, surprises, findingSection, storeSection, objects, costs, changes,
      picture, steps,
    ].compactMap(\.self)
    let body = Markup.tag(
      "body", [:],
      .tag(
        "header", ["class": "page-header"], .tag("h1", text: title),
        .tag("p", ["class": "verdict \(tone.rawValue)"], tone.signMarkup, .text(sentence))),
      .tag("main", all: sections), footer)
    let page = "<!DOCTYPE html>\n" + Markup.tag("html", ["lang": "en"], head, body).string
    // The longest first, since a folder may contain another.
    return hiddenFolders.sorted { $0.utf8.count > $1.utf8.count }.reduce(page, Self.hiding)
  }

  /// Removes a folder's path in front of its files' names.
  private static func hiding(_ page: String, _ folder: String) -> String {
    let folder = Markup.escaped(folder.hasSuffix("/") ? folder : folder + "/")
    let parts = page.components(separatedBy: folder)
    return parts.dropFirst().reduce(parts[0]) { text, part in
      // The folder's path is only the end of a longer path.
      let isInside = text.last.map { $0.isLetter || $0.isNumber || "._-/".contains($0) } ?? false
      return text + (isInside ? folder : "") + part
    }
  }

  private var footer: Markup {
    .tag(
      "footer", ["class": "page-footer"],
      .tag(
        "p",
        text: "Made on \(date.formatted(.iso8601)) by Heirloom \(HeirloomRelease.version) (heirloom report)."
          + " Nothing was changed in the store, and no value of any row is in this page."))
  }

  // MARK: Verdict

  /// Shown by colour and symbol.
  enum Tone: String {
    case good
    case warning
    case bad

    fileprivate var signMarkup: Markup {
      switch self {
      case .good: Self.markup(sign: "✓")
      case .warning: Self.markup(sign: "!")
      case .bad: Self.markup(sign: "✗")
      }
    }

    fileprivate static func markup(sign: String) -> Markup {
      .tag("span", ["class": "sign", "aria-hidden": "true"], text: sign)
    }
  }

  private var verdict: (Tone, String) {
    if plan == nil, failure == nil { return (.good, "The store has this model already: there is nothing to do.") }
    if case .failed(let failure) = rehearsal { return (.bad, "The rehearsal failed: \(failure.message)") }
    guard let plan else {
      let count = difference?.difference.obstacles.count ?? 0
      let things = count == 1 ? "one thing stands" : "\(count) things stand"
      return (
        .bad,
        count > 0
          ? "The store can't be migrated yet: \(things) in the way." : failure?.message ?? "No plan can be made."
      )
    }
    let losses = Self.words(plan.losses)
    let count = plan.blockers.count
    if count > 0 {
      let things = count == 1 ? "one thing has" : "\(count) things have"
      let lost = losses.isEmpty ? "" : " It would lose \(losses)."
      return (.bad, "The store can't be migrated yet: \(things) to be decided first.\(lost)")
    }
    if let objection { return (.bad, objection) }
    let tried = if case .passed = rehearsal { "was tried on a copy and works" } else { "can be made" }
    if losses.isEmpty { return (.good, "The migration \(tried); nothing is lost.") }
    return (.warning, "The migration \(tried), and loses \(losses); the previous version is kept with all of it.")
  }

  /// One sentence; `nil` if the plan isn't refused.
  var objection: String? {
    let open = plan.map { Self.words($0.unconsentedLosses) } ?? ""
    guard failure != nil, !open.isEmpty else { return failure?.message }
    return "The store can't be migrated yet: losing \(open) needs consent."
  }

  private static func words(_ losses: [MigrationLoss]) -> String {
    listText(losses.map { "\($0.amount) of \($0.name)" }, limit: 3)
  }

  // MARK: Pieces

  func section(_ identifier: String, _ title: String, _ content: Markup...) -> Markup {
    let heading = "\(identifier)-title"
    return .tag(
      "section", ["id": identifier, "aria-labelledby": heading],
      all: [.tag("h2", ["id": heading], text: title)] + content)
  }

  func findings(_ tone: Tone, sign: String? = nil, _ items: [(count: String?, text: String, advice: String?)]) -> Markup
  {
    .tag(
      "ul", ["class": "findings"],
      all: items.map { item in
        let count = item.count.map { [Markup.tag("span", ["class": "count"], text: $0 + ": ")] } ?? []
        let advice = item.advice.map { [Markup.tag("p", ["class": "advice"], text: $0)] } ?? []
        return .tag(
          "li", ["class": tone.rawValue],
          all: [.tag("p", all: [sign.map(Tone.markup) ?? tone.signMarkup] + count + [.text(item.text)])] + advice)
      })
  }

  /// In a box that scrolls on narrow screens.
  func table(_ caption: String, header: [(title: String, isNumber: Bool)], rows: [[String]]) -> Markup {
    let head = header.map { column in
      Markup.tag("th", ["scope": "col", "class": column.isNumber ? "number" : "text"], text: column.title)
    }
    let body = rows.map { row in
      Markup.tag(
        "tr",
        all: zip(row, header).map { text, column in
          .tag("td", ["class": column.isNumber ? "number" : "text"], text: text)
        })
    }
    return .tag(
      "div", ["class": "scroll"],
      .tag(
        "table", [:], .tag("caption", text: caption), .tag("thead", [:], .tag("tr", all: head)),
        .tag("tbody", all: body)))
  }

  func definitions(_ items: [(name: String, text: String)]) -> Markup {
    .tag("dl", all: items.flatMap { [Markup.tag("dt", text: $0.name), .tag("dd", text: $0.text)] })
  }

  func list(_ texts: [String], name: String = "ul") -> Markup {
    .tag(name, all: texts.map { .tag("li", text: $0) })
  }
}
