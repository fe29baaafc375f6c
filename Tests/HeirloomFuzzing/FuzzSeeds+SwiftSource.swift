extension FuzzSeeds {
  /// Sources of every form, each with a schema that is certain.
  static let swiftSources = [
    """
    import SwiftData

    @Model final class Crate {
      @Attribute(.unique) var code: String = ""
      var size: Int = 1_000 // in mm
      var label: Label?
      init() {}
    }
    @Model final class Label {
      @Relationship(deleteRule: .cascade, inverse: \\Crate.label) var crates: [Crate]
      @Transient var isShown = false
      init() { crates = [] }
    }
    let container = try ModelContainer(for: Crate.self, Label.self)

    """,
    """
    import Foundation
    import SwiftData

    enum V1: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [Crate.self] }
      @Model final class Crate { var code: String; var made: Date?; init() { code = "" } }
    }
    enum V2: VersionedSchema {
      static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
      static var models: [any PersistentModel.Type] { first + [Label.self] as [any PersistentModel.Type] }
      static let first: [any PersistentModel.Type] = [Crate.self]
      @Model final class Crate {
        #Unique<Crate>([\\.code], [\\.code, \\.made])
        #Index<Crate>([\\.made])
        var code: String
        @Attribute(originalName: "made") var madeOn: Date?
        var made: Date = Date(timeIntervalSince1970: 0) { didSet { print("\\(made) {") } }
        @Relationship(inverse: \\Label.crate) var labels: [Label]
        init() { (code, labels) = ("", []) }
      }
      @Model final class Label { var crate: Crate?; var text = #"a "b""#; init() {} }
    }
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
      static var stages: [MigrationStage] { [step] }
      static let step = MigrationStage.custom(fromVersion: V1.self, toVersion: V2.self) { context in
        try context.delete(model: V1.Crate.self, where: #Predicate { $0.code == "" })
        try context.save()
      } didMigrate: { context in
        for crate in try context.fetch(FetchDescriptor<V2.Crate>()) { crate.code = "x" }
        try context.save()
      }
    }
    func open() throws -> ModelContainer {
      let schema = Schema(versionedSchema: V2.self)
      return try ModelContainer(for: schema, migrationPlan: Plan.self, configurations: [])
    }

    """,
    """
    import SwiftData

    typealias Crate = V1.Crate
    enum V1 {}
    extension V1: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 0, 0)
      static let models: [any PersistentModel.Type] = [Crate.self]
    }
    extension V1 {
      @Model
      public final class Crate: Identifiable {
        @Attribute(.externalStorage, .ephemeral) private(set) var picture: Data?
        var kind: Kind = .small, size: Size?
        var names: [String] = []
        var sizes: [String: Size] = [:]
        var colour: Color.Resolved
        @Attribute(.transformable(by: "Shades")) var shade: UIColor?
        weak var parent: V1.Crate?
        @Relationship(inverse: \\V1.Crate.parent) var kids: [V1.Crate]?
        let id = UUID()
        var isBig: Bool { get { size?.width ?? 0 > 0b11 } set {} }
        static let limit = 5
        init(colour: Color.Resolved) { self.colour = colour }
      }
      enum Kind: String, Codable, CaseIterable { case small, big = "large" }
      enum Side: Codable { case left; case right }
      struct Size: Codable, Hashable { var width: Double; let unit: Side?; var area: Double { width * width } }
    }

    """,
    """
    #if canImport(SwiftData)
    import SwiftData
    @Model
    #endif
    final class Crate<T: Codable>: Base where T: Hashable {
      #if DEBUG
      var note: String /* of /* one */ day */ = \"\"\"
        a \\(note + "\\(1)")
        \"\"\"
      #else
      var note: Int! = /a[b)]/.count
      #endif
      @Wrapped(1) lazy var list: [[Crate<Int>]] = makeList { $0 < 1 }
      var (a, b) = (1, 2); var pair = Pair<Int, String>(1, "")
      var `class`: (any Codable & Sendable)?
      func encode(to encoder: any Encoder) throws {}
      init?(from decoder: Decoder) throws { nil }
    }
    extension Array<Int> { var all: [Int.Type] { [] } }
    @Model final class Label { var text: String? = nil }
    struct Store: App { var body: some Scene { WindowGroup { Text("") }.modelContainer(for: [Label.self]) } }

    """,
  ]
}
