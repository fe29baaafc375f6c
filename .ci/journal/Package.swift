// swift-tools-version: 6.2
import PackageDescription

// An app with a store for the commands of the tool's article: `.ci/newcomer` copies it out of the checkout and sets the checkout's path.
let package = Package(
  name: "Journal",
  platforms: [.macOS(.v13)],
  dependencies: [.package(path: "../heirloom")],
  targets: [
    .executableTarget(name: "Journal", dependencies: [.product(name: "Heirloom", package: "heirloom")])
  ]
)
