import Foundation
import Heirloom
import Testing
import HeirloomSalvage

struct ErrorWordsTests {
  /// The modules whose errors reach an app.
  private static let modules = [
    "Heirloom", "HeirloomModel", "HeirloomMapping", "HeirloomFormats", "HeirloomStore", "HeirloomVault",
    "HeirloomMigration", "Products/HeirloomSalvage",
  ]
  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Sources")

  @Test func `every public error is told in words, with what to do`() throws {
    for sample in try ErrorSamples.all() {
      let error = try #require(sample.error as? any LocalizedError, "\(sample.name) is no LocalizedError")
      let description = error.errorDescription ?? ""
      let suggestion = error.recoverySuggestion ?? ""
      for text in [description, suggestion, error.failureReason ?? "As above."] {
        #expect(text.count > 8 && (text.hasSuffix(".") || text.hasSuffix("\"?")), "\(sample.name): \(text)")
        #expect(text.first?.isLowercase == false, "\(sample.name): \(text)")
        for wrong in ["..", ". .", ".;", " . ", "  ", ": .", ".:"] where text.contains(wrong) {
          Issue.record("\(sample.name) has \"\(wrong)\": \(text)")
        }
        for word in ["Optional(", "file://", "Error(", "Error Domain", "could not be completed", "nil"]
        where text.contains(word) {
          Issue.record("\(sample.name) has \"\(word)\": \(text)")
        }
        #expect(!text.contains(ErrorSamples.secret), "\(sample.name) tells a value: \(text)")
        #expect(!Self.hasLongNumber(text.replacing(sample.path ?? "-", with: "")), "\(sample.name): \(text)")
      }
      #expect(Self.sentenceCount(description) == 1, "\(sample.name): \(description)")
      #expect(suggestion != description, "\(sample.name): \(suggestion)")
      let name = "\(type(of: sample.error))"
      #expect(!description.contains(name) && !suggestion.contains(name), "\(sample.name): \(description)")
      if let path = sample.path {
        #expect((description + suggestion).contains(path), "\(sample.name): \(description) \(suggestion)")
      }
    }
  }

  private static let withoutData = [
    "ModelReadingError", "MappingReadingError", "SalvageError.missing", "SalvageError.notFile",
  ]

  @Test func `every public error is data: the cause, where the data are, what to do`() throws {
    for sample in try ErrorSamples.all() {
      let error = try #require(sample.error as? any ExplainedError, "\(sample.name) is no ExplainedError")
      #expect(!error.cause.isEmpty && !error.advice.isEmpty, "\(sample.name)")
      #expect(
        (error.dataLocation == nil) == Self.withoutData.contains { sample.name.hasPrefix($0) }, "\(sample.name)")
      let suggestion = try #require(error.recoverySuggestion)
      #expect(suggestion.hasPrefix(error.dataLocation?.sentence ?? ""), "\(sample.name): \(suggestion)")
      #expect(suggestion.hasSuffix(error.advice), "\(sample.name): \(suggestion)")
      #expect(Set(error.remedies).count == error.remedies.count, "\(sample.name)")
      if sample.path == ErrorSamples.path { #expect(error.filePath == sample.path, "\(sample.name)") }
    }
    // The outer error knows the store and gives its path; the rest is the inner error's.
    let full = MigrationError.diskFull(reason: "no page is left")
    let outer = MigrationAssistantError.failed(storePath: "/a/b", full)
    #expect(full.dataLocation == .store(path: nil) && outer.dataLocation == .store(path: "/a/b"))
    // A damaged store may no longer hold all data.
    let failure = MigrationError.damaged(.store, reason: "page 7 is torn")
    let damaged = MigrationAssistantError.failed(storePath: "/a/b", failure)
    #expect(
      failure.dataLocation == .damagedStore(path: nil) && damaged.dataLocation == .damagedStore(path: "/a/b"))
    #expect(damaged.advice == failure.advice && damaged.remedies == [.previousVersions, .salvage])
    #expect(damaged.recoverySuggestion?.contains("all data") == false)
  }

  @Test func `no sentence of the library names a command of the tool, or has curly quotes`() throws {
    let command = try Regex(
      "heirloom (check|compare|demo|diagram|doctor|help|inspect|migrate|plan|rehearse|repair|report|restore|salvage"
        + "|snapshot|verify|versions)\\b")
    for (file, text) in try Self.sourceTexts() {
      var code = text.split(separator: "\n").filter { $0.firstMatch(of: /^ *\/\//) == nil }.joined(separator: "\n")
      // A sentence may go over several lines.
      code.replace(/"\s*\+ "/, with: "")
      for match in code.matches(of: command) { Issue.record("\(file) names \"\(code[match.range])\"") }
      #expect(!code.contains { "“”‘’".contains($0) }, "\(file) has curly quotes")
    }
  }

  @Test func `Foundation gets the same words, and Core Data's domain and code where there is one`() throws {
    for sample in try ErrorSamples.all() {
      let words = sample.error as? any LocalizedError
      let bridged = sample.error as NSError
      #expect(bridged.localizedDescription == words?.errorDescription, "\(sample.name)")
      #expect(bridged.localizedRecoverySuggestion == words?.recoverySuggestion, "\(sample.name)")
      // If we have none, Foundation has one for its own codes.
      if let reason = words?.failureReason { #expect(bridged.localizedFailureReason == reason, "\(sample.name)") }
      #expect(sample.error.localizedDescription == words?.errorDescription, "\(sample.name)")
      guard let code = (sample.error as? any ExplainedError)?.coreDataCode else { continue }
      #expect(bridged.domain == NSCocoaErrorDomain && bridged.code == code, "\(sample.name): \(bridged)")
    }
    let path = ErrorSamples.path
    let failure = MigrationError.appFailed(ErrorSamples.AppError())
    let error = MigrationAssistantError.failed(storePath: path, failure) as NSError
    #expect(error.userInfo[NSFilePathErrorKey] as? String == path)
    let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
    #expect(cause.code == 134_110)
    #expect((cause.userInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription == "The template is missing.")
  }

  @Test func `no public error, and no case of one, is without words`() throws {
    let declared = try Self.declaredCases()
    let samples = Set(try ErrorSamples.all().map(\.name))
    #expect(declared.count > 150 && declared.contains("StoreError.missing") && declared.contains("StageFailure"))
    #expect(samples.subtracting(declared).sorted() == [], "samples of what isn't declared")
    #expect(declared.subtracting(samples).sorted() == [], "cases that ErrorSamples has no error of")
  }

  @Test func `the label of a sample is the case of its error`() throws {
    for sample in try ErrorSamples.all() {
      let parts = sample.name.split(separator: ".").map(String.init)
      #expect(parts[0] == "\(type(of: sample.error))")
      let mirror = Mirror(reflecting: sample.error)
      guard mirror.displayStyle == .enum, let label = mirror.children.first?.label else { continue }
      #expect(parts.last == label)
    }
  }

  @Test(
    arguments: [
      (0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567"), (Int64.min, "-9,223,372,036,854,775,808"),
    ] as [(Int64, String)])
  func `numbers have a comma before each three digits`(number: Int64, text: String) {
    #expect(CountText.grouped(number) == text)
  }

  @Test(
    arguments: [
      (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"),
      (2_549_000_000, "2.5 GB"), (UInt64.max, "18.4 EB"),
    ] as [(UInt64, String)])
  func `sizes are told in units of a thousand`(bytes: UInt64, text: String) {
    #expect(CountText.size(bytes) == text)
  }

  // MARK: Reading texts

  /// Counts full stops that a new sentence follows; text after a colon belongs to the sentence.
  private static func sentenceCount(_ text: String) -> Int {
    1 + text.matches(of: /[.!?] [A-Z"]/).count
  }

  private static func hasLongNumber(_ text: String) -> Bool {
    text.matches(of: /[0-9]{6,}/).contains { !$0.output.isEmpty }
  }

  // MARK: Reading the sources

  /// Returns the cases of public errors as `Type.case`, and errors that are structures without cases as `Type`.
  private static func declaredCases() throws -> Set<String> {
    var names: Set<String> = []
    for (_, text) in try sourceTexts() { names.formUnion(cases(in: text)) }
    return names
  }

  private static func sourceTexts() throws -> [(file: String, text: String)] {
    try modules.flatMap { module in
      let folder = sources.appendingPathComponent(module)
      let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
      return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map {
        ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8))
      }
    }
  }

  private static func cases(in text: String) -> Set<String> {
    var names: Set<String> = []
    var type: (name: String, hasCases: Bool)?
    var isInEnum = false
    for line in text.split(separator: "\n") {
      // (A regular expression takes long, and most lines are of none of these.)
      let word = line.drop { $0 == " " }.prefix { $0 != " " }
      guard ["public", "package", "case", "}"].contains(word) else { continue }
      if let match = line.firstMatch(of: /^public (?:indirect )?(enum|struct|final class) (\w+):.*\bError\b.*\{/) {
        type = (String(match.2), match.1 == "enum")
        isInEnum = match.1 == "enum"
      } else if line == "}" {
        // A structure without an enumeration of its own has a single kind.
        if let type, !type.hasCases { names.insert(type.name) }
        type = nil
      } else if line.firstMatch(of: /^  (public|package) enum \w+.*\{/) != nil {
        isInEnum = true
        type?.hasCases = true
      } else if isInEnum, let type, let match = line.firstMatch(of: /^ +case (\w+)/) {
        names.insert("\(type.name).\(match.1)")
      }
    }
    return names
  }
}
