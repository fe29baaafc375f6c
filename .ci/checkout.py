"""The checkout as scripts see it: its files and copies of them, its manifest, the branches of `#if`."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(command, **options):
    """What a command prints; ends with that and the command if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, **options)
    if done.returncode:
        sys.exit(f"{done.stdout[-8000:]}exit code {done.returncode}: {' '.join(map(str, command))}")
    return done.stdout


def copy_files(checkout, changed, change=lambda name, text: text):
    """Copies the files that git knows or would; what is right already is left, so that it need not be compiled again.

    `changed` has other texts, by their places, and `change` makes the text of each Swift file of its name and its text.
    """
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT).split("\0")
    files = {name: (ROOT / name).read_bytes() for name in listed if name and (ROOT / name).is_file()}
    files |= {place: text.encode() for place, text in changed.items()}
    for name, content in files.items():
        file = checkout / name
        if name.endswith(".swift"):
            content = change(name, content.decode()).encode()
        if not file.is_file() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        if (ROOT / name).is_file():
            shutil.copymode(ROOT / name, file)
    # A file that is gone would be compiled.
    for folder in ("Sources", "Tests", "Snapshots"):
        for file in (checkout / folder).rglob("*"):
            if file.is_file() and str(file.relative_to(checkout)) not in files:
                file.unlink()


def manifest(*options):
    return json.loads(run(["swift", "package", *options, "dump-package"], cwd=ROOT))


def settings(target):
    """The manifest's settings of a target, as the compiler takes them."""
    options = []
    for setting in target["settings"]:
        if setting["tool"] != "swift" or setting.get("condition"):
            continue
        for kind, value in setting["kind"].items():
            if kind == "swiftLanguageMode":
                options += ["-swift-version", value["_0"]]
            elif kind == "treatAllWarnings":
                options += ["-warnings-as-errors"] if value["_0"] == "error" else []
            elif kind == "enableUpcomingFeature":
                options += ["-enable-upcoming-feature", value["_0"]]
            elif kind == "strictMemorySafety":
                options += ["-strict-memory-safety"]
            else:
                sys.exit(f"no script knows the manifest's setting {kind}")
    return options


def holds(condition, conditions):
    """True if a condition of `#if` holds on a system; the compiler is the newest, and a word of its own isn't set."""

    def value(match):
        word = match[0].replace(" ", "")
        return str(word in conditions or word.startswith(("compiler(", "swift(")))

    text = re.sub(r"\b\w+ ?\([^()]*\)|\b[A-Za-z_]\w*\b", value, re.sub(r"//.*", "", condition))
    return bool(eval(text.replace("&&", " and ").replace("||", " or ").replace("!", " not ").strip()))


def branches(lines, conditions):
    """For each line, the number of the branch it is in, 0 outside of any; `None` if a system doesn't compile it."""
    found, states, count = [], [], 0
    for line in lines:
        word = re.match(r"\s*#(if|elseif|else|endif)\b(.*)", line)
        if word is None:
            found.append((states[-1][2] if states else 0) if all(state[0] for state in states) else None)
            continue
        found.append(None)
        if word[1] == "endif":
            states.pop()
            continue
        count += 1
        if word[1] == "if":
            value = holds(word[2], conditions)
            states.append([value, value, count])
        else:
            value = not states[-1][1] and (word[1] == "else" or holds(word[2], conditions))
            states[-1] = [value, states[-1][1] or value, count]
    return found
