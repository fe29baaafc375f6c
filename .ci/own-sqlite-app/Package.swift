// swift-tools-version: 6.2
import PackageDescription

// An app with a SQLite of its own, outside of the checkout: `.ci/own-sqlite` copies it away, adds SQLite's source and
// sets the checkout's path.
let package = Package(
  name: "App",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "heirloom", path: "../heirloom", traits: [])],
  targets: [
    .target(name: "COwnSQLite", cSettings: [.define("SQLITE_THREADSAFE", to: "2"), .unsafeFlags(["-w"])]),
    .executableTarget(name: "App", dependencies: ["COwnSQLite", .product(name: "Heirloom", package: "heirloom")]),
  ]
)
