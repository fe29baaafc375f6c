"""The recipes' articles, and the package outside of the checkout that runs their code."""
import os
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent.parent
folder = root / "Sources/Heirloom/Heirloom.docc/Recipes"
last = "## Where the data are afterwards"
build = dict(os.environ, SWIFTPM_BUILD_DIR=str(root / ".build"))
package = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "App", platforms: [.macOS(.v13)], dependencies: [.package(path: "%s")],
  targets: [.executableTarget(name: "%s", dependencies: [
    .product(name: "Heirloom", package: "%s"), .product(name: "HeirloomTesting", package: "%s"),
  ])])
"""


def write_package(work, target):
    """Makes a package with one program and returns the folder of its sources."""
    sources = work / "App/Sources" / target
    sources.mkdir(parents=True)
    (work / "App/Package.swift").write_text(package % (root, target, root.name, root.name))
    return sources


def blocks(path):
    """The code of an article in its order: language, number of the first line, text."""
    text = path.read_text(encoding="utf-8")
    headings = re.findall(r"^## .*", text, re.M)
    if not headings or headings[-1] != last:
        sys.exit(f'{path}: the last section is not "{last}"')
    found = [(m[1], text[: m.start(2)].count("\n") + 1, m[2]) for m in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)]
    if not any(language == "" for language, _, _ in found):
        sys.exit(f"{path}: nothing is expected")
    return found
