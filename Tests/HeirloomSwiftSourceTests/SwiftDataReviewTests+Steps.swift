import Testing

// What lies between two versions: the changes of a step, and the code of a stage.
extension SwiftDataReviewTests {
  // MARK: - Steps

  static let steps: [Trap] = [
    Trap(
      "a required property", change("", "var size: Int // error: missingDefault"),
      mends: change("", "var size: Int = 0"), change("", "var size: Int?"),
      change("var width = 0", "@Attribute(originalName: \"width\") var size: Int")),
    Trap(
      "a required property in a custom stage", change("", "var size: Int // warning: missingDefault", custom),
      mends: change("", "var size: Int = 0", custom)),
    Trap(
      "a property that becomes required", change("var size: Int?", "var size: Int // warning: missingDefault"),
      mends: change("var size: Int?", "var size: Int = 0"), change("var size: Int?", "var size: Int", prepared)),
    Trap(
      "a former name that no property had",
      change("", "@Attribute(originalName: \"width\") var size: Int // error: missingDefault"),
      mends: change("", "@Attribute(originalName: \"width\") var size: Int = 0")),
    Trap(
      "a required unique property", change("", "@Attribute(.unique) var id: UUID // error: missingDefault"),
      mends: change("", "@Attribute(.unique) var id: UUID?"), change("", "@Attribute(.unique) var id: UUID? = nil")),
    Trap(
      "a class that may inherit properties isn't judged",
      step("@Model class Crate: Stored { var code = \"\" } // note: uncertain", crate("var size: Int")),
      mends: change("", "var size = 0")),
    Trap(
      "a property under a condition isn't judged",
      change("", "#if DEBUG\nvar size: Int // note: uncertain\n#endif"),
      mends: change("", "@Attribute(.ephemeral) var size: Int; var note = \"\"")),
    Trap(
      "a name under a condition isn't judged",
      change("#if DEBUG\nvar width: Int? // note: uncertain\n#endif", "var breadth: Int?"),
      mends: change("var width: Int?", "@Transient var breadth: Int? = nil; var note = \"\"")),
    Trap(
      "a type under a condition isn't judged",
      change("var size = 0", "#if DEBUG\nvar size = \"\" // note: uncertain\n#endif"),
      mends: change("var size = 0", "var size = 0; var note = \"\"")),
    Trap(
      "versions that are equal as far as they are certain",
      change("var size: Measured // note: uncertain", "var size: Weighed // note: uncertain"),
      mends: change("var size = 0", "var size = 0.5")),
    Trap(
      "a list that only the compiler knows",
      schema("V1", "1, 0, 0", crate())
        + schema("V2", "2, 0, 0", crate(name: "CrateBox"), models: "CrateBox.self] + make( // note: uncertain\n) + [")
        + plan("V1.self, V2.self", lightweight),
      mends: good),
    Trap(
      "an unclear property isn't judged", change("", "var size: Measured // note: uncertain"),
      mends: change("", "var size = 0")),
    Trap(
      "a former name that is gone in the version after the rename",
      change(
        "@Attribute(originalName: \"width\") var size = 0", "var size = 0 // warning: lostFormerName\nvar note = \"\""),
      mends: change(
        "@Attribute(originalName: \"width\") var size = 0",
        "@Attribute(originalName: \"width\") var size = 0; var note = \"\"")),
    Trap(
      "a property that is renamed twice",
      change(
        "@Attribute(originalName: \"a\") var b = 0",
        "@Attribute(originalName: \"b\") var c = 0 // warning: lostFormerName"),
      mends: change(
        "@Attribute(originalName: \"a\") var b = 0", "@Attribute(originalName: \"a\") var c = 0; var note = \"\"")),
    Trap(
      "the only property that is gone",
      change("var width: Int?", "var breadth: Int? // warning: suspectedRename"),
      mends: change("var width: Int?", "@Attribute(originalName: \"width\") var breadth: Int?; var size = 0"),
      change("var width: Int?", "var breadth: Double?"),
      change("var width: Int?", "var breadth: Int?; var depth: Int?"),
      change("var width: Int?; var depth: Int?", "var breadth: Int?"),
      change("var x: Int?; var z: Int?", "var xy: Int?; var note: Bool?"),
      change("var date: Date?; var end: Date?", "var dateEnd: Date?; var note: Bool?")),
    Trap(
      "near names among several",
      change(
        "var date: Date?; var text: String?",
        "var createdDate: Date? // warning: suspectedRename\nvar end: Date?; var note: String?"),
      mends: change(
        "var date: Date?; var text: String?",
        "@Attribute(originalName: \"date\") var createdDate: Date?; var end: Date?; var note: Bool?"
      )),
    Trap(
      "a suspected rename in a custom stage",
      change("var width: Int?", "var breadth: Int? // note: suspectedRename", custom),
      mends: change("var width: Int?", "var breadth: Int?; var depth: Int?", custom)),
    Trap(
      "a renamed relationship",
      step(
        crate("var label: Label?") + "\n" + label,
        crate("var tag: Label? // warning: suspectedRename") + "\n" + label),
      mends: step(
        crate("var label: Label?") + "\n" + label,
        crate("@Relationship(originalName: \"label\") var tag: Label?; var size = 0") + "\n" + label)),
    Trap(
      "a constraint over rows",
      change("var size = 0", "@Attribute(.unique) var size = 0 // warning: newConstraint"),
      mends: change("var size = 0", "@Attribute(.unique) var size = 0", prepared),
      change("@Attribute(.unique) var size = 0", "@Attribute(.unique) var size = 0; var note = \"\"")),
    Trap(
      "a constraint over rows without code before",
      change("var size = 0", "#Unique<Crate>([\\.size, \\.code])\nvar size = 0", custom)
        .replacing("var code = \"\"; #Unique", with: "var code = \"\" // warning: newConstraint\n#Unique"),
      mends: change("var size = 0", "#Unique<Crate>([\\.size, \\.code])\nvar size = 0", prepared),
      change("#Unique<Crate>([\\.size])\nvar size = 0", "#Unique<Crate>([\\.size], [\\.size, \\.code])\nvar size = 0")),
    Trap(
      "a constraint on a renamed property",
      change(
        "var width = 0", "@Attribute(.unique, originalName: \"width\") var size = 0 // warning: newConstraint"),
      mends: change(
        "@Attribute(.unique) var width = 0",
        "@Attribute(.unique, originalName: \"width\") var size = 0; var note = \"\"")),
    Trap(
      "a constraint whose old property isn't certain",
      change(
        "@Attribute(.unique) var size: Measured // note: uncertain", "@Attribute(.unique) var size: String = \"\""),
      mends: change("@Attribute(.unique) var size = 0", "@Attribute(.unique) var size: Double = 0")),
    Trap(
      "one identifier for all rows",
      change(
        "",
        "@Attribute(.unique) var id = UUID() // error: constantUnique\n"
          + "@Attribute(.unique) var other: UUID? = UUID() // error: constantUnique"),
      mends: change("", "var id = UUID()"), change("", "@Attribute(.unique) var id: UUID?")),
    Trap(
      "one identifier for all rows of a custom stage",
      change("", "@Attribute(.unique) var id: UUID = UUID() // warning: constantUnique", custom),
      mends: change("", "@Attribute(.unique) var id: UUID?", custom)),
    Trap(
      "another type", change("var size = 0", "var size = \"\" // error: changedType"),
      mends: change("var size = 0", "var size = 0.5"), change("var size = 0", "var size: Int?")),
    Trap(
      "a number of a truth value", change("var size = true", "var size = 1 // warning: changedType"),
      mends: change("var size = true", "var size = true; var count = 1")),
    Trap(
      "a former name from a step before",
      change(
        "@Attribute(originalName: \"a\") var b = 0; var a = 0",
        "@Attribute(originalName: \"a\") var b = 0; var a = \"\" // error: changedType"),
      mends: change(
        "@Attribute(originalName: \"a\") var b = 0; var a = \"\"",
        "@Attribute(originalName: \"a\") var b = 0; var a = \"\"; var c = 0")),
    Trap(
      "a list of structures",
      step(
        crate("var tags: [String] = []"),
        crate("var tags: [String: Tag] = [:] // error: changedType") + "\nstruct Tag: Codable { var text = \"\" }"),
      mends: step(
        crate("var tags: [String] = []"),
        crate("var tags: [String] = []; var marks: [String: Tag] = [:]")
          + "\nstruct Tag: Codable { var text = \"\" }")),
    Trap(
      "another type under a former name",
      change("var width = 0", "@Attribute(originalName: \"width\") var size = \"\" // error: changedType"),
      mends: change("var width = 0", "@Attribute(originalName: \"width\") var size: Int16 = 0")),
    Trap(
      "a raw value that is gone",
      step(
        crate("var size: Size?") + "\nenum Size: String, Codable { case small, large }",
        crate("var size: Size?; var note = \"\"")
          + "\nenum Size: String, Codable { case small } // warning: narrowedEnum"),
      mends: step(
        crate("var size: Size?") + "\nenum Size: String, Codable { case small, large }",
        crate("var size: Size?; var note = \"\"")
          + "\nenum Size: String, Codable { case tiny, small, big = \"large\" }"),
      step(
        crate("var size: Size?") + "\nenum Size: String, Codable { case small, large }",
        crate("var size: Size?; var note = \"\"") + "\nenum Size: String, Codable { case small }", prepared)),
    Trap(
      "a case under a condition isn't judged",
      step(
        crate("var size: Size?")
          + "\nenum Size: String, Codable { case small\n#if DEBUG\ncase large\n#endif\n}",
        crate("var size: Size?; var id: UUID // error: missingDefault")
          + "\nenum Size: String, Codable { case small }"),
      mends: step(
        crate("var size: Size?") + "\nenum Size: Int, Codable { case small = 9223372036854775807, large }",
        crate("var size: Size?; var note = \"\"") + "\nenum Size: Int, Codable { case large }")),
    Trap(
      "a number that is gone",
      step(
        crate("var size: Size?") + "\nenum Size: Int, Codable { case small = 1, large }",
        crate("var size: Size?; var note = \"\"")
          + "\nenum Size: Int, Codable { case small, large } // warning: narrowedEnum"),
      mends: step(
        crate("var size: Size?") + "\nenum Size: Int, Codable { case small = 1, large }",
        crate("var size: Size?; var note = \"\"") + "\nenum Size: Int, Codable { case none, small, large }")),
  ]

  @Test(arguments: steps)
  func `a step that loses rows or values, or stops, is found`(_ trap: Trap) { check(trap) }

  // MARK: - Code of stages

  static func code(_ will: String, _ did: String) -> String {
    change(
      "", "var size = 0",
      ".custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: \(will), didMigrate: \(did))")
      + "@Model final class Crate { var size = \"\" }\ntypealias Newest = V2.Crate\n"
  }

  static let codes: [Trap] = [
    Trap(
      "a live class",
      code(
        "{ context in\nlet all = try context.fetch(FetchDescriptor<Crate>()) // error: foreignTypeInStage\n}", "nil"),
      mends: code("{ context in\nlet all = try context.fetch(FetchDescriptor<V1.Crate>())\n}", "nil"),
      code("{ context in\nlet limit = Crate.limit\nlet kind: Kind = .Crate }", "nil")),
    Trap(
      "the classes of a list that only the compiler knows",
      code("{ context in _ = try context.fetch(FetchDescriptor<Crate>()) }", "nil").replacing(
        "{ [Crate.self] }\n  @Model final class Crate { var code = \"\"; \ninit() {} }",
        with: "{ [Crate.self] + make() } // note: uncertain\n@Model final class Crate { var code = \"\"; init() {} }"),
      mends: code("nil", "nil")),
    Trap(
      "an alias of the newest class",
      code(
        "{ context in\ntry context.delete(model: Newest.self) // error: foreignTypeInStage\ntry context.save() }", "nil"
      ),
      mends: code("nil", "{ context in\ntry context.delete(model: Newest.self)\ntry context.save() }")),
    Trap(
      "an object of the old version",
      code("nil", "{ context in context.insert(V1.Crate()) // error: foreignTypeInStage\ntry context.save() }"),
      mends: code("nil", "{ context in context.insert(V2.Crate())\ntry context.save() }")),
    Trap(
      "a key path",
      code("nil", "{ context in _ = SortDescriptor(\\Crate.size) } // error: foreignTypeInStage\n"),
      mends: code("nil", "{ context in _ = SortDescriptor(\\V2.Crate.size) }")),
    Trap(
      "a trailing closure",
      change(
        "", "var size = 0",
        ".custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: nil) { context in\n"
          + "context.insert(V1.Crate()); try context.save() } // error: foreignTypeInStage\n"),
      mends: change(
        "", "var size = 0",
        ".custom(fromVersion: V1.self, toVersion: V2.self) { context in\ncontext.insert(V1.Crate()); "
          + "try context.save() } didMigrate: { context in context.insert(V2.Crate()); try context.save() }")),
    Trap(
      "a change that isn't saved",
      code(
        "{ context in\nfor one in try context.fetch(FetchDescriptor<V1.Crate>()) {\n"
          + "context.delete(one) // warning: missingSave\n} }",
        "nil"),
      mends: code("{ context in\ntry context.delete(model: V1.Crate.self)\ntry context.save() }", "nil"),
      code("{ context in\ntry context.transaction { context.insert(V1.Crate()) } }", "nil"),
      code("{ context in context.insert(V1.Crate())\ntry finish(context) }", "nil")
        + "func finish(_ context: ModelContext) throws { try context.save() }",
      code("{ context in array.insert(V1.Crate()) }", "nil"),
      code("{ context in try context.delete(model: V1.Crate.self) }", "nil")),
    Trap(
      "code that stands elsewhere",
      code("nil", "Self.fill // note: uncertain\n"), mends: code("nil", "{ _ in }"),
      code("nil", "Self.fill")
        + "extension Plan { static func fill(_ context: ModelContext) throws { try context.save() } }"),
    Trap(
      "a live class in a function of the plan",
      code("nil", "{ context in\ntry Self.fill(context, more: 1)\n}")
        + "extension Plan { static func fill(_ c: ModelContext, more: Int) throws { try finish(c) }\n"
        + "static func finish(_ c: ModelContext) throws { c.insert(Crate()) } } // error: foreignTypeInStage\n",
      mends: code("nil", "{ context in\ntry Self.fill(context, more: 1)\n}")
        + "extension Plan { static func fill(_ c: ModelContext, more: Int) throws { c.insert(V2.Crate()) } }\n"
        + "enum Other { static func fill(_ c: ModelContext, more: Int) throws { c.insert(Crate()) } }\n"),
    Trap(
      "a live class in a function of everybody",
      code("{ try fill($0) }", "nil")
        + "func fill(_ c: ModelContext) throws { _ = Crate() } // error: foreignTypeInStage\n",
      mends: code("{ try $0.save(); [1].map { fill($0) } }", "nil") + "func fill(_ c: Int) { _ = Crate() }\n"),
    Trap(
      "a live class behind a context that is written in another way",
      code("nil", "{ [weak self] context in\ntry fill(context)\n}")
        + "func fill(_ c: borrowing SwiftData.ModelContext) throws { try finish(c) }\n"
        + "func finish(_ c: ModelContext) throws { c.insert(Crate()) } // error: foreignTypeInStage\n",
      mends: code("nil", "{ [weak self] context in\ntry fill(context)\n}")
        + "func fill(_ c: borrowing SwiftData.ModelContext) throws { c.insert(V2.Crate()) }\n"),
    Trap(
      "a context whose parameter isn't recognized",
      code("nil", "{ context in\ntry fill(context) // note: uncertain\n}") + "func fill(_ c: Context) throws {}\n",
      mends: code("nil", "{ context in\ntry fill(context)\n}") + "func fill(_ c: ModelContext) throws {}\n"),
    Trap(
      "more functions than are followed",
      code("nil", "{ context in\ntry f0(context)\n}")
        + (0..<60).map { "func f\($0)(_ c: ModelContext) { f\($0 + 1)(c) }\($0 == 48 ? " // note: uncertain" : "")\n" }
        .joined(),
      mends: code("nil", "{ context in\ntry f0(context)\n}")
        + (0..<40).map { "func f\($0)(_ c: ModelContext) { \($0 == 39 ? "" : "f\($0 + 1)(c)") }\n" }.joined()),
    Trap(
      "a context that goes where nobody looks",
      code("nil", "{ context in\ntry Filler(context).fill() // note: uncertain\n}"),
      mends: code("nil", "{ context in\nlog(context.name)\ntry context.save()\n}")),
    Trap(
      "two functions of one name",
      code("nil", "{ context in\ntry fill(context) // note: uncertain\n}")
        + "func fill(_ c: ModelContext) throws {}\nfunc fill(_ c: Int) {}\n"
        + "func fill(_ c: ModelContext, _ more: Int = 0) {}\n",
      mends: code("nil", "{ context in\ntry fill(context)\n}")
        + "func fill(_ c: ModelContext) throws { try fill(c) }\nprotocol P { func fill(_ c: Int)\nvar x: Int { get } }\n"
    ),
  ]

  @Test(arguments: codes)
  func `code of a stage uses the classes that it sees, and saves`(_ trap: Trap) { check(trap) }
}
