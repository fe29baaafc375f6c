"""Packages outside of the checkout: made in a folder of their own, built with what the checkout has built, and run."""
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "Tests/Outside"
DEBUG = ROOT / ".build/debug"
TOOL = DEBUG / "heirloom-tool"
RECIPES = ROOT / "Sources/Heirloom/Heirloom.docc/Recipes"
# The checkout's build is used again, which needs its own path. (Alone, a script builds all first.)
ENVIRONMENT = dict(os.environ, SWIFTPM_BUILD_DIR=str(ROOT / ".build"), NO_COLOR="1", COLUMNS="100")

MANIFEST = """// swift-tools-version: %s
import PackageDescription

let package = Package(
  name: "App", platforms: [.macOS(.v13)], dependencies: [.package(%s)],
  targets: [%s])
"""


def fail(text):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {text}")


@contextlib.contextmanager
def temporary_folder():
    with tempfile.TemporaryDirectory() as folder:
        yield pathlib.Path(folder).resolve()


def target(name, products=("Heirloom",), kind="executableTarget", needs="", more=""):
    """A target of a manifest: its products of Heirloom, its needs besides, and what follows them."""
    needed = needs + "".join(f'.product(name: "{product}", package: "heirloom"), ' for product in products)
    return f'.{kind}(name: "{name}", dependencies: [{needed}]{more}), '


def write_package(folder, name, *targets, dependency=f'name: "heirloom", path: "{ROOT}"', tools="6.2"):
    """Writes a package's manifest; without targets, it has a program. Returns the folder of sources with a name."""
    sources = folder / "Sources" / name
    sources.mkdir(parents=True, exist_ok=True)
    text = MANIFEST % (tools, dependency, "".join(targets) or target(name))
    (folder / "Package.swift").write_text(text, encoding="utf-8")
    return sources


def run(*command, where=None, code=0, says=(), lacks=(), shows=False, environment=None):
    """Runs a program, or a line of a shell, and returns its output; ends with that and a reason if another is expected.

    `code` is its exit code or several, `says` and `lacks` are what must and must not be in its output. It is quiet
    unless it fails; with `shows`, it is a step of a transcript, with its time.
    """
    line = " ".join(map(str, command))
    began = time.monotonic()
    words = ["bash", "-c", line] if len(command) == 1 else list(map(str, command))
    done = subprocess.run(
        words, cwd=where, env=environment or ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)
    wrong = [f"not in the output: {text}" for text in says if text not in done.stdout]
    wrong += [f"in the output: {text}" for text in lacks if text in done.stdout]
    if done.returncode not in (code if isinstance(code, tuple) else (code,)):
        wrong.append(f"exit code {done.returncode} instead of {code}")
    if shows:
        print(f"\n$ {line}\n{done.stdout}# {time.monotonic() - began:.1f} s", flush=True)
    if wrong:
        fail("\n".join(([] if shows else [line, done.stdout]) + wrong))
    return done.stdout


def build(folder, *options, environment=None):
    """Builds a package outside, or the checkout, and says how it goes."""
    if subprocess.run(["swift", "build", *map(str, options)], cwd=folder, env=environment or ENVIRONMENT).returncode:
        fail(f"{folder} isn't built")


def build_tool():
    # (In the environment of packages outside, the package manager would take its plan for that of the next package.)
    build(ROOT, "--product", "heirloom-tool", environment=os.environ)


def compiler_flags():
    """What a compiler needs to import the modules of the checkout's debug build."""
    maps = [f"-fmodule-map-file={file}" for file in sorted(ROOT.glob("Sources/*/module.modulemap"))]
    return ["-I", DEBUG / "Modules", *(word for map_ in maps for word in ("-Xcc", map_))]


def install_tool(folder):
    """Links the tool into a folder by the name that it has where it is installed; returns the environment with it."""
    (folder / "bin").mkdir()
    (folder / "bin/heirloom").symlink_to(TOOL)
    return dict(ENVIRONMENT, PATH=f"{folder}/bin:{os.environ['PATH']}")


def set_version(models, name):
    """Makes a version of a bundle of models the current one."""
    version = f"<key>_XCCurrentVersionName</key><string>{name}.xcdatamodel</string>"
    (models / ".xccurrentversion").write_text(f'<plist version="1.0"><dict>{version}</dict></plist>\n')


def edit(file, old, new):
    """Replaces a text of a file, which has to be there."""
    text = file.read_text(encoding="utf-8")
    if old not in text:
        fail(f"{file} has no {old}")
    file.write_text(text.replace(old, new), encoding="utf-8")


def section(article, heading):
    """A section of an article."""
    text = article.read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(heading)}\n.*?(?=^## |\Z)", text, re.M | re.S)
    return found[0] if found else fail(f"{article} has no section {heading}")


def blocks(text):
    """The code of an article in its order: language, number of the first line, text."""
    return [(match[1], text[:match.start(2)].count("\n") + 1, match[2])
            for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)]


def recipe(path):
    """The code of a recipe, which says what its programs print and ends with the data."""
    text = path.read_text(encoding="utf-8")
    last = "## Where the data are afterwards"
    if re.findall(r"^## .*", text, re.M)[-1:] != [last]:
        fail(f'{path}: the last section is not "{last}"')
    found = blocks(text)
    if not any(language == "" for language, _, _ in found):
        fail(f"{path}: nothing is expected")
    return found
