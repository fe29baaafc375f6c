// swift-tools-version: 6.2
import PackageDescription

// An app of a newcomer, outside of the checkout: `.ci/newcomer` copies it away and sets the checkout's path.
let package = Package(
  name: "Journal",
  platforms: [.macOS(.v13)],
  dependencies: [.package(path: "../heirloom")],
  targets: [
    .executableTarget(name: "Journal", dependencies: [.product(name: "Heirloom", package: "heirloom")])
  ]
)
