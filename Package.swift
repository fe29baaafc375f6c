// swift-tools-version: 6.2
import PackageDescription

// Tools 6.2: `treatAllWarnings` and `strictMemorySafety`. (The sources need a compiler of 6.2.3, for `@nonexhaustive`.)
let package = Package(
  name: "heirloom",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: [
    .library(name: "Heirloom", targets: ["Heirloom"]),
    .library(name: "HeirloomSupport", targets: ["HeirloomSupport"]),
    .library(name: "HeirloomTesting", targets: ["HeirloomTesting"]),
    .library(name: "HeirloomSalvage", targets: ["HeirloomSalvage"]),
    // Installed as `heirloom`; a product of that name would have folders that differ from the library's by case alone.
    .executable(name: "heirloom-tool", targets: ["HeirloomMain"]),
    .plugin(name: "HeirloomSnapshot", targets: ["HeirloomSnapshot"]),
    .plugin(name: "HeirloomCheck", targets: ["HeirloomCheck"]),
    .plugin(name: "HeirloomGenerate", targets: ["HeirloomGenerate"]),
  ],
  traits: [
    .trait(name: "SystemSQLite", description: "Links the system's SQLite; without it, the app links one of its own."),
    .trait(name: "GeneratedTypes", description: "Lets the plugin HeirloomGenerate build the tool for this machine."),
    .default(enabledTraits: ["SystemSQLite"]),
  ],
  targets: [
    .systemLibrary(
      name: "CHeirloomSQLite",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]
    ),
    .systemLibrary(
      name: "CHeirloomZlib",
      providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
    ),
    .systemLibrary(name: "CHeirloomFiles"),
    .target(name: "CHeirloomPages", publicHeadersPath: "."),
    .target(name: "HeirloomModel"),
    .target(name: "HeirloomMapping", dependencies: ["HeirloomModel"]),
    .target(
      name: "HeirloomFormats",
      dependencies: ["HeirloomModel", "HeirloomMapping", "CHeirloomZlib"]
    ),
    .target(
      name: "HeirloomStore",
      dependencies: ["HeirloomModel", "HeirloomFormats", "CHeirloomSQLite", "CHeirloomPages"],
      // Not in the module map, where no trait reaches it.
      linkerSettings: [.linkedLibrary("sqlite3", .when(traits: ["SystemSQLite"]))]
    ),
    .target(
      name: "HeirloomVault",
      dependencies: ["HeirloomModel", "HeirloomFormats", "HeirloomStore", "CHeirloomFiles"]
    ),
    .target(
      name: "HeirloomMigration",
      dependencies: ["HeirloomModel", "HeirloomMapping", "HeirloomFormats", "HeirloomStore", "HeirloomVault"]
    ),
    .target(
      name: "HeirloomSalvage",
      dependencies: ["HeirloomModel", "HeirloomFormats", "HeirloomStore", "HeirloomVault"],
      path: "Sources/Products/HeirloomSalvage"
    ),
    .target(
      name: "Heirloom",
      dependencies: [
        "HeirloomModel", "HeirloomMapping", "HeirloomFormats", "HeirloomStore", "HeirloomVault", "HeirloomMigration",
      ],
      // What an app that has this in it says to Apple's store: the calls that need a reason.
      resources: [.copy("PrivacyInfo.xcprivacy")]
    ),
    .target(
      name: "HeirloomSupport",
      dependencies: [
        "Heirloom", "HeirloomMigration", "HeirloomVault", "HeirloomStore", "HeirloomFormats", "HeirloomModel",
      ],
      path: "Sources/Products/HeirloomSupport"
    ),
    .target(
      name: "HeirloomTesting",
      dependencies: [
        "Heirloom", "HeirloomSupport", "HeirloomMigration", "HeirloomVault", "HeirloomStore", "HeirloomFormats",
        "HeirloomMapping",
        "HeirloomModel", "HeirloomSwiftSource",
      ],
      path: "Sources/Products/HeirloomTesting"
    ),
    .target(
      name: "HeirloomSwiftSource", dependencies: ["HeirloomModel", "HeirloomFormats"],
      path: "Sources/Tools/HeirloomSwiftSource"),
    .target(
      name: "HeirloomCompare", dependencies: ["HeirloomModel", "HeirloomMapping", "HeirloomFormats"],
      path: "Sources/Tools/HeirloomCompare"),
    .target(
      name: "HeirloomOutput", dependencies: ["Heirloom", "HeirloomCompare"], path: "Sources/Tools/HeirloomOutput"),
    .target(
      name: "HeirloomDiagram", dependencies: ["Heirloom", "HeirloomCompare", "HeirloomOutput"],
      path: "Sources/Tools/HeirloomDiagram"),
    .target(
      name: "HeirloomStories", dependencies: ["Heirloom", "HeirloomCompare", "HeirloomOutput"],
      path: "Sources/Tools/HeirloomStories"),
    .target(
      name: "HeirloomCommands",
      dependencies: [
        "Heirloom", "HeirloomSupport", "HeirloomSalvage", "HeirloomTesting", "HeirloomCompare", "HeirloomOutput",
        "HeirloomDiagram", "HeirloomStories", "HeirloomSwiftSource",
      ],
      path: "Sources/Tools/HeirloomCommands"
    ),
    // The tool is no part of an app: it has the system's SQLite also for an app that has one of its own.
    .executableTarget(
      name: "HeirloomMain", dependencies: ["HeirloomCommands"], path: "Sources/Tools/HeirloomMain",
      linkerSettings: [.linkedLibrary("sqlite3")]),
    // The plugins ask for the tool when they run: as a dependency, every build of the package would make a second one for the host.
    .plugin(
      name: "HeirloomSnapshot",
      capability: .command(
        intent: .custom(verb: "heirloom-snapshot", description: "Fix the current version of each model as shipped."),
        permissions: [.writeToPackageDirectory(reason: "Snapshots and lock.json are written beside the models.")]),
      path: "Sources/Tools/Plugins/HeirloomSnapshot"
    ),
    .plugin(
      name: "HeirloomCheck",
      capability: .command(
        intent: .custom(verb: "heirloom-check", description: "Migrate every version of each model to the current one.")),
      path: "Sources/Tools/Plugins/HeirloomCheck"
    ),
    // A plugin that runs in a build can't ask for the tool. Only packages that apply it enable the trait, and get the second tool.
    .plugin(
      name: "HeirloomGenerate", capability: .buildTool(),
      dependencies: [.target(name: "HeirloomMain", condition: .when(traits: ["GeneratedTypes"]))],
      path: "Sources/Tools/Plugins/HeirloomGenerate"
    ),
    .target(name: "CSyncCounter", path: "Sources/Tools/CSyncCounter"),
    .executableTarget(name: "SmallestApp", dependencies: ["Heirloom"], path: "Tests/SmallestApp"),
    .executableTarget(
      name: "HeirloomBenchmarks",
      dependencies: ["Heirloom", "HeirloomCompare", "HeirloomCommands", "CHeirloomSQLite", "CSyncCounter"],
      path: "Sources/Tools/HeirloomBenchmarks"),
    .target(
      name: "TestSupport",
      dependencies: [
        "Heirloom", "HeirloomTesting", "HeirloomVault", "HeirloomStore", "HeirloomFormats", "HeirloomMapping",
        "HeirloomModel", "CHeirloomSQLite", "CHeirloomFiles",
      ],
      path: "Tests/TestSupport"
    ),
    .target(
      name: "HeirloomFuzzing",
      dependencies: [
        "HeirloomCommands", "HeirloomCompare", "Heirloom", "HeirloomMigration", "HeirloomVault", "HeirloomStore",
        "HeirloomFormats", "HeirloomMapping", "HeirloomModel", "HeirloomSwiftSource",
      ],
      path: "Tests/HeirloomFuzzing"
    ),
    .executableTarget(name: "HeirloomFuzzer", dependencies: ["HeirloomFuzzing"], path: "Tests/HeirloomFuzzer"),
    .testTarget(name: "HeirloomFuzzingTests", dependencies: ["HeirloomFuzzing"]),
    .target(name: "CCrashVFS", path: "Tests/CCrashVFS", linkerSettings: [.linkedLibrary("sqlite3")]),
    .testTarget(
      name: "HeirloomCrashTests",
      dependencies: [
        "CCrashVFS", "Heirloom", "HeirloomSupport", "HeirloomSalvage", "HeirloomMigration", "HeirloomVault",
        "HeirloomStore", "HeirloomFormats", "HeirloomModel", "TestSupport",
      ]
    ),
    // The accountant shares no code with what it judges: the product carries migrations out and tells their losses.
    .testTarget(
      name: "HeirloomAccountTests",
      dependencies: [
        "Heirloom", "HeirloomMigration", "HeirloomStore", "HeirloomFormats", "HeirloomMapping", "TestSupport",
        "CHeirloomSQLite",
      ]
    ),
    .testTarget(name: "HeirloomBenchmarksTests", dependencies: ["HeirloomBenchmarks"]),
    .testTarget(name: "HeirloomModelTests", dependencies: ["HeirloomModel", "TestSupport"]),
    .testTarget(
      name: "HeirloomMappingTests",
      dependencies: ["HeirloomMapping", "HeirloomFormats", "HeirloomModel", "TestSupport"]
    ),
    .testTarget(
      name: "HeirloomCompareTests",
      dependencies: [
        "HeirloomCompare", "HeirloomTesting", "HeirloomMapping", "HeirloomFormats", "HeirloomModel", "TestSupport",
      ]
    ),
    .testTarget(
      name: "HeirloomFormatsTests",
      dependencies: ["HeirloomFormats", "HeirloomCompare", "HeirloomMapping", "HeirloomModel", "TestSupport"],
      exclude: ["Snapshot/Goldens"]
    ),
    .testTarget(
      name: "HeirloomSwiftSourceTests",
      dependencies: ["HeirloomSwiftSource", "HeirloomTesting", "HeirloomModel", "TestSupport"]
    ),
    .testTarget(
      name: "HeirloomStoreTests",
      dependencies: [
        "HeirloomSupport", "HeirloomStore", "HeirloomFormats", "HeirloomModel", "TestSupport", "CHeirloomSQLite",
      ]
    ),
    .testTarget(
      name: "HeirloomVaultTests",
      dependencies: ["HeirloomVault", "HeirloomStore", "HeirloomFormats", "HeirloomModel", "TestSupport"]
    ),
    .testTarget(
      name: "HeirloomMigrationTests",
      dependencies: [
        "HeirloomMigration", "HeirloomVault", "HeirloomStore", "HeirloomFormats", "HeirloomMapping", "HeirloomModel",
        "TestSupport",
      ]
    ),
    .testTarget(
      name: "HeirloomSalvageTests",
      dependencies: [
        "HeirloomSalvage", "HeirloomSupport", "Heirloom", "HeirloomVault", "HeirloomFormats", "HeirloomStore",
        "HeirloomModel", "TestSupport", "CHeirloomFiles",
      ]
    ),
    .testTarget(
      name: "HeirloomTests",
      dependencies: [
        "Heirloom", "HeirloomSupport", "HeirloomSalvage", "HeirloomVault", "HeirloomFormats", "HeirloomStore",
        "TestSupport",
      ]
    ),
    .testTarget(
      name: "HeirloomSupportTests",
      dependencies: [
        "HeirloomSupport", "Heirloom", "HeirloomMigration", "HeirloomVault", "HeirloomStore", "HeirloomFormats",
        "HeirloomModel", "TestSupport", "CHeirloomSQLite",
      ]
    ),
    .testTarget(
      name: "HeirloomTestingTests",
      dependencies: ["HeirloomSupport", "HeirloomTesting", "Heirloom", "HeirloomStore", "HeirloomModel", "TestSupport"]
    ),
    .testTarget(
      name: "HeirloomCommandsTests",
      dependencies: [
        "HeirloomCommands", "HeirloomCompare", "HeirloomOutput", "HeirloomStories", "Heirloom", "HeirloomSupport",
        "HeirloomSalvage", "HeirloomMigration", "HeirloomVault", "HeirloomStore", "HeirloomMapping", "HeirloomModel",
        "HeirloomFormats", "HeirloomFuzzing", "TestSupport",
      ],
      exclude: ["Screens", "Typed/Shelf.xcdatamodeld"]
    ),
  ]
)

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
]

// Xcode and swiftbuild silence the warnings of dependencies, and their driver refuses both settings: .ci/run asks for errors.
let strictSettings: [SwiftSetting] =
  Context.environment["HEIRLOOM_WARNINGS_ARE_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

// Modules of pure values promise that they hold no unsafe code.
let pureModules: Set<String> = ["HeirloomModel", "HeirloomMapping"]

// Most of what an app links, and of what the tool has besides, is called once and says much, so it is made small.
// (Packages of tools 6.2 may have such flags, also where others depend on them.)
let linkedTargets: Set<String> = [
  "Heirloom", "HeirloomFormats", "HeirloomMapping", "HeirloomMigration", "HeirloomModel", "HeirloomSalvage",
  "HeirloomStore", "HeirloomSupport", "HeirloomSwiftSource", "HeirloomVault",
]
let toolTargets: Set<String> = [
  "HeirloomCommands", "HeirloomCompare", "HeirloomDiagram", "HeirloomMain", "HeirloomOutput", "HeirloomStories",
]
// The linker leaves out the functions that nobody calls. On Linux they would all stay, for they lie in one section, and
// those that other modules may call are kept as if somebody asked for them by name.
let stripping: [String] = ["-function-sections", "-internalize-at-link"].flatMap { ["-Xfrontend", $0] }

// Optimising the tests themselves takes three times as long as compiling them, and what they try is optimised without.
// The exception works as hard as what it tries.
let hardWorkingTests: Set<String> = ["HeirloomCrashTests"]

for target in package.targets where target.type != .system && target.type != .plugin {
  target.swiftSettings = settings + strictSettings + (pureModules.contains(target.name) ? [.strictMemorySafety()] : [])
  if linkedTargets.union(toolTargets).contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(["-Osize"], .when(configuration: .release)))
  }
  if linkedTargets.contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(stripping, .when(platforms: [.linux], configuration: .release)))
  }
  if target.type == .test, !hardWorkingTests.contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
  }
}
