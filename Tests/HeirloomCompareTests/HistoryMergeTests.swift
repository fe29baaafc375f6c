import Foundation
import HeirloomCompare
import HeirloomCompare
import HeirloomFormats
import HeirloomModel
import HeirloomTesting
import TestSupport
import Testing

struct HistoryMergeTests {
  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static func merge(
    _ kind: HistoryMerge.Kind, _ base: String, _ ours: String, _ theirs: String
  ) -> HistoryMerge {
    HistoryMerge(kind, base: bytes(base), ours: bytes(ours), theirs: bytes(theirs))
  }

  // MARK: - Real models

  @Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
  struct RealModels {
    static let texts: [String] = Corpus.modelPaths.compactMap {
      try? String(contentsOf: Corpus.folder.appendingPathComponent($0 + "/contents"), encoding: .utf8)
    }
    static let models = texts.filter { $0.utf8.count < 9_000 }.map(ModelEdits.init)
      .filter { $0.attributes.count > 5 && $0.entities.count > 1 }

    @Test func `what Xcode wrote is written as Xcode wrote it`() throws {
      #expect(Self.texts.count > 400)
      // One file is not Xcode's own work: it has other margins.
      let texts = Self.texts.filter { !$0.contains("\n<entity") }
      #expect(texts.count + 1 == Self.texts.count)
      for text in LongTests.selection(of: texts, every: 13) {
        let added = text.replacing("</model>", with: "    <stranger kept=\"1\"/>\n</model>")
        let setting = text.replacing("<model ", with: "<model unknown=\"1\" ", maxReplacements: 1)
        // Both ends of the file are edited, so that all of it is taken apart and written.
        let merged = HistoryMergeTests.merge(.source, text, added, setting)
        let expected = added.replacing("<model ", with: "<model unknown=\"1\" ", maxReplacements: 1)
        #expect(String(decoding: merged.bytes, as: UTF8.self) == expected)
      }
    }

    @Test(.slow("200 merges of real models"))
    func `two branches' edits are merged, and contradict each other where both edit one property`() throws {
      let seeds = RandomSeeds.parts(quick: 80, long: 20_000).flatMap(\.self)
      #expect(Self.models.count > 40)
      var (contradicting, fitting) = (0, 0)
      for seed in seeds {
        var random = SplitMix64(seed: seed &* 0x9e37_79b9 &+ 11)
        let model = Self.models[random.below(Self.models.count)]
        var pool = (0..<3 + random.below(6)).map { _ in model.attributes[random.below(model.attributes.count)] }
        if let target = model.relationships.first, random.below(2) == 0 { pool.append(target) }
        pool.append(model.entities[random.below(model.entities.count)])
        for number in 0..<2 {
          let entity = model.entities[random.below(model.entities.count)].entity
          pool.append(ModelEdits.Target(entity: entity, property: "fresh\(number)"))
        }
        // Half of the branches keep out of each other's way.
        let isApart = random.below(2) == 0
        let (left, right) =
          isApart
          ? (Array(pool[..<3]), Array(Set(pool[3...]).subtracting(pool[..<3])).sorted { $0.place < $1.place })
          : (pool, pool)
        let ours = model.edits(1 + random.below(4), among: left, &random)
        let theirs = model.edits(1 + random.below(4), among: right, &random)
        let expected = ModelEdits.contradictions(ours, theirs)
        let all = ours.merging(theirs) { mine, _ in mine }
        try check(
          base: model.text(with: [:], height: 0), ours: model.text(with: ours, height: 1),
          theirs: model.text(with: theirs, height: 2), both: model.text(with: all, height: 3), expected, seed)
        if expected.isEmpty { fitting += 1 } else { contradicting += 1 }
      }
      #expect(
        seeds.count < 100 || contradicting > seeds.count / 8 && fitting > seeds.count / 3,
        "\(contradicting), \(fitting)")
    }

    private func check(
      base: String, ours: String, theirs: String, both: String, _ expected: Set<String>, _ seed: UInt64
    ) throws {
      let merged = HistoryMergeTests.merge(.source, base, ours, theirs)
      let turned = seed.isMultiple(of: 2) ? HistoryMergeTests.merge(.source, base, theirs, ours) : merged
      #expect(Set(merged.conflicts.map(\.place)) == expected, "seed \(seed)")
      #expect(Set(turned.conflicts.map(\.place)) == expected, "seed \(seed)")
      let isSnapshotTurn = seed.isMultiple(of: 3)
      let models = try [both, base, ours, theirs].prefix(isSnapshotTurn ? 4 : 1).map {
        try ModelSourceReader.read(Array($0.utf8)).model
      }
      let snapshots = try models.prefix(isSnapshotTurn ? 4 : 0).map {
        try ModelSnapshot(model: $0, archivedAt: Date(timeIntervalSince1970: 0)).bytes(.readable)
      }
      if isSnapshotTurn {
        let snapshot = HistoryMerge(.snapshot, base: snapshots[1], ours: snapshots[2], theirs: snapshots[3])
        #expect(Set(snapshot.conflicts.map(\.place)) == expected, "seed \(seed): \(snapshot.conflicts)")
        if expected.isEmpty { #expect(snapshot.bytes == snapshots[0], "seed \(seed)") }
      }
      for (branch, other) in [(ours, base), (theirs, base)] {
        #expect(HistoryMergeTests.merge(.source, other, branch, branch).bytes == Array(branch.utf8))
        #expect(HistoryMergeTests.merge(.source, other, other, branch).bytes == Array(branch.utf8))
        #expect(HistoryMergeTests.merge(.source, other, branch, other).bytes == Array(branch.utf8))
      }
      guard expected.isEmpty else {
        #expect(String(decoding: merged.bytes, as: UTF8.self).contains("<<<<<<< ours\n"))
        return
      }
      #expect(try ModelSourceReader.read(merged.bytes).model == models[0], "seed \(seed)")
      #expect(merged.bytes == turned.bytes, "seed \(seed)")
    }
  }

  // MARK: - Single cases

  private static func source(_ inside: String) -> String {
    "<?xml version=\"1.0\"?>\n<model documentVersion=\"1.0\">\n\(inside)</model>"
  }

  private static func item(_ properties: String...) -> String {
    source("    <entity name=\"Item\">\n" + properties.map { "        \($0)\n" }.joined() + "    </entity>\n")
  }

  private static let note = "<attribute name=\"note\" optional=\"YES\" attributeType=\"String\"/>"
  private static let date = "<attribute name=\"date\" optional=\"YES\" attributeType=\"Date\"/>"

  @Test func `a conflict is named, and both edits stand between markers`() {
    let merged = Self.merge(
      .source, Self.item(Self.note), Self.item(Self.note.replacing("String", with: "Date")),
      Self.item(Self.note.replacing("YES", with: "NO"), Self.date))
    #expect(merged.conflicts == [MergeConflict(place: "entity \"Item\", attribute \"note\"", reason: "both change it")])
    #expect(
      String(decoding: merged.bytes, as: UTF8.self)
        == Self.source(
          """
              <entity name="Item">
          <<<<<<< ours
                  <attribute name="note" optional="YES" attributeType="Date"/>
          =======
                  <attribute name="note" optional="NO" attributeType="String"/>
          >>>>>>> theirs
                  \(Self.date)
              </entity>

          """))
  }

  @Test func `two names for one property, and a new name for a removed one, are conflicts`() {
    func renamed(_ name: String) -> String {
      Self.note.replacing("name=\"note\"", with: "name=\"\(name)\" elementID=\"note\"")
    }
    let base = Self.item(Self.note)
    for (ours, theirs) in [(renamed("text"), renamed("body")), (renamed("text"), ""), ("", renamed("text"))] {
      let merged = Self.merge(.source, base, Self.item(ours), Self.item(theirs))
      #expect(merged.conflicts.map(\.place) == ["entity \"Item\", attribute \"note\""])
      #expect(merged.conflicts.first?.reason.contains("renames it to \"text\"") == true)
    }
    #expect(Self.merge(.source, base, Self.item(renamed("text")), Self.item(renamed("text"))).conflicts.isEmpty)
  }

  @Test func `edits that each fit alone and not together are a conflict`() throws {
    let other = "    <entity name=\"Tag\">\n        \(Self.note)\n    </entity>\n"
    let base = Self.source("    <entity name=\"Item\">\n        \(Self.note)\n    </entity>\n" + other)
    let ours = base.replacing(other, with: "")
    let link = "<relationship name=\"tags\" optional=\"YES\" toMany=\"YES\" destinationEntity=\"Tag\"/>"
    let theirs = base.replacing("<entity name=\"Item\">\n", with: "<entity name=\"Item\">\n        \(link)\n")
    let merged = Self.merge(.source, base, ours, theirs)
    #expect(merged.conflicts.map(\.place) == ["the file"])
    #expect(merged.conflicts.first?.reason.contains("are inconsistent") == true)
    // One branch moves a relationship up to the parent, the other gives the entity another parent.
    let moved =
      "<relationship name=\"r\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"D\" inverseName=\"back\" inverseEntity=\"C\"/>"
    func family(parent: String, inParent: Bool) -> String {
      Self.source(
        """
            <entity name="C" parentEntity="\(parent)">
                \(inParent ? Self.note : moved)
            </entity>
            <entity name="D">
                <relationship name="back" optional="YES" maxCount="1" destinationEntity="C" inverseName="r" inverseEntity="C"/>
            </entity>
            <entity name="P">
                \(inParent ? moved : Self.date)
            </entity>
            <entity name="Q">
                \(Self.date)
            </entity>

        """)
    }
    let torn = Self.merge(
      .source, family(parent: "P", inParent: false), family(parent: "P", inParent: true),
      family(parent: "Q", inParent: false))
    #expect(torn.conflicts.map(\.place) == ["the file"])
    #expect(
      torn.conflicts.first?.reason.contains("the inverse of D.back doesn't name it as its inverse") == true,
      "\(torn.conflicts)")
  }

  @Test func `line ends, comments and what nobody knows are kept`() {
    let base = Self.item(Self.note).replacing("\n", with: "\r\n")
    let ours = base.replacing("<entity name=\"Item\">", with: "<entity name=\"Item\" future='a\"b'>")
    let theirs = base.replacing(
      "    </entity>", with: "        <!-- kept -->\r\n        <future>text &amp; more</future>\r\n    </entity>")
    let merged = Self.merge(.source, base, ours, theirs)
    #expect(merged.conflicts.isEmpty)
    let expected = theirs.replacing("<entity name=\"Item\">", with: "<entity name=\"Item\" future=\"a&quot;b\">")
    #expect(String(decoding: merged.bytes, as: UTF8.self) == expected)
  }

  @Test func `what can't be read is a conflict of the whole file`() {
    for text in ["", "no model", "<model", "<model><entity name=\"A\"/>", "<!DOCTYPE a [<!ENTITY b \"c\">]><model/>"] {
      for kind in [HistoryMerge.Kind.source, .snapshot, .lock, .currentVersion] {
        let merged = Self.merge(kind, "{}", text, Self.item(Self.note))
        #expect(merged.conflicts.map(\.place) == ["the file"])
        #expect(String(decoding: merged.bytes, as: UTF8.self).contains(">>>>>>> theirs\n"))
      }
    }
    let added = Self.merge(.source, "", Self.item(Self.note), Self.item(Self.date))
    #expect(added.conflicts.first?.reason.contains("both branches add it") == true)
  }

  @Test func `a file of many parts is merged in a moment`() {
    let names = (0..<6_000).map { "p\($0)" }
    func model(_ names: [String]) -> String {
      Self.source(
        "    <entity name=\"Item\">\n"
          + names.map { "        <attribute name=\"\($0)\" elementID=\"o\($0)\" attributeType=\"Date\"/>\n" }.joined()
          + "    </entity>\n")
    }
    let started = ContinuousClock.now
    let merged = Self.merge(
      .source, model(names), model(names.map { $0 + "x" }), model(names.map { $0 + "y" }))
    #expect(merged.conflicts.isEmpty)
    // Unoptimized; comparing each with each takes minutes.
    #expect(ContinuousClock.now - started < .seconds(20))
  }

  /// The floor of base, ours and theirs, and of the merged lock; a conflict where there is none of that name.
  @Test(
    arguments: [
      (nil, nil, nil, nil), (nil, "B", nil, "B"), (nil, nil, "B", "B"), (nil, "B", "B", "B"), ("B", "C", "B", "C"),
      ("B", "B", nil, nil), (nil, "B", "C", "conflict"), ("B", "C", nil, "conflict"),
    ] as [(String?, String?, String?, String?)])
  func `a lock has the floor that a branch has set`(_ floors: (String?, String?, String?, String?)) throws {
    let (base, ours, theirs) = (floors.0, floors.1, floors.2)
    func lock(_ floor: String?) -> [UInt8] {
      var lock = VersionLock(versions: ["A", "B", "C"].map { VersionLock.Entry(name: $0, checksum: $0) })
      lock.floor = floor
      return lock.encoded()
    }
    let merged = HistoryMerge(.lock, base: lock(base), ours: lock(ours), theirs: lock(theirs))
    guard floors.3 != "conflict" else {
      #expect(merged.conflicts.map(\.place) == ["floor"])
      return
    }
    #expect(merged.conflicts.isEmpty && merged.bytes == lock(floors.3))
  }

  @Test func `a lock has the versions of both branches, and no name twice`() throws {
    func lock(_ names: (String, String)..., acknowledged: [String] = []) -> [UInt8] {
      var lock = VersionLock(versions: names.map { VersionLock.Entry(name: $0.0, checksum: $0.1) })
      for loss in acknowledged { lock.acknowledge(loss, from: "A", to: "B") }
      return lock.encoded()
    }
    let base = lock(("V1", "1"), ("V2", "2"), acknowledged: ["Item.old"])
    let ours = lock(("V1", "1"), ("V2", "2"), ("V10", "10"), acknowledged: ["Item.old", "Item.a"])
    let theirs = lock(("V1", "1"), ("V2", "2"), ("V9", "9"), acknowledged: ["Item.b"])
    let merged = HistoryMerge(.lock, base: base, ours: ours, theirs: theirs)
    #expect(merged.conflicts.isEmpty)
    let expected = lock(("V1", "1"), ("V2", "2"), ("V9", "9"), ("V10", "10"), acknowledged: ["Item.a", "Item.b"])
    #expect(merged.bytes == expected)
    #expect(HistoryMerge(.lock, base: base, ours: theirs, theirs: ours).bytes == expected)
    let twin = HistoryMerge(.lock, base: base, ours: ours, theirs: lock(("V1", "1"), ("V2", "2"), ("V10", "other")))
    #expect(twin.conflicts.map(\.place) == ["version \"V10\""])
    #expect(twin.conflicts.first?.reason.contains("must differ in name") == true)
    // What a later release wrote is not dropped.
    let text = String(decoding: theirs, as: UTF8.self).replacing("\"format\"", with: "\"later\": 1, \"format\"")
    let strange = HistoryMerge(.lock, base: base, ours: ours, theirs: Array(text.utf8))
    #expect(strange.conflicts.first?.reason.contains("\"later\"") == true)
  }

  /// Versions of base, ours and theirs in the order in which they were shipped, and in the merged lock.
  @Test(
    arguments: [
      // By name alone, "Autumn" would come before "Spring".
      ([], ["Spring", "Autumn"], ["Spring", "Winter", "Autumn"], ["Spring", "Winter", "Autumn"]),
      (["V1"], ["V1", "Z", "B"], ["V1", "B", "C"], ["V1", "Z", "B", "C"]),
      (["V1"], ["V1", "W", "V2"], ["V1", "V3"], ["V1", "V3", "W", "V2"]),
      (["B", "A"], ["B", "A", "D"], ["B", "A", "C"], ["B", "A", "C", "D"]),
      (["V1"], ["V1", "Z", "A", "Y"], ["V1", "A", "B", "Y"], ["V1", "Z", "A", "B", "Y"]),
    ] as [([String], [String], [String], [String])])
  func `merged locks keep the order in which a branch has shipped versions`(
    _ versions: ([String], [String], [String], [String])
  ) {
    func lock(_ names: [String]) -> [UInt8] {
      VersionLock(versions: names.map { VersionLock.Entry(name: $0, checksum: $0) }).encoded()
    }
    let (base, ours, theirs) = (lock(versions.0), lock(versions.1), lock(versions.2))
    let merged = HistoryMerge(.lock, base: base, ours: ours, theirs: theirs)
    #expect(merged.conflicts.isEmpty && merged.bytes == lock(versions.3))
    #expect(HistoryMerge(.lock, base: base, ours: theirs, theirs: ours).bytes == merged.bytes)
  }

  @Test func `of two current versions the later one by name is current, and it is said`() {
    func note(_ name: String) -> [UInt8] { CurrentVersionFile.bytes(naming: name) }
    for (ours, theirs) in [("A 9", "A 10"), ("A 10", "A 9")] {
      let merged = HistoryMerge(.currentVersion, base: note("A 8"), ours: note(ours), theirs: note(theirs))
      #expect(CurrentVersionFile.versionName(in: merged.bytes) == "A 10")
      #expect(merged.notes.first?.contains("\"A 9\"") == true && merged.conflicts.isEmpty)
    }
    let one = HistoryMerge(.currentVersion, base: note("A 8"), ours: note("A 8"), theirs: note("A & <B>"))
    #expect(CurrentVersionFile.versionName(in: one.bytes) == "A & <B>")
  }
}
