"""The mistakes that Tests/Mutants lists, and how they get into a file's text. CONTRIBUTING.md says how they are written."""
import re
import sys

from checkout import ROOT

FOLDER = ROOT / "Tests/Mutants"
# Which check finds a mistake, by the letter before its number.
TESTS, APPLE, DARWIN = "", "A", "D"

VARIABLE = "HEIRLOOM_MUTANT"
# What tells a process which mistake it makes: a file of a copy, in the module that every other one can import.
SWITCH = "Sources/HeirloomModel/Mutant.swift", f'''
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The planted mistake that this process makes.
package enum Mutant {{
  private static let number: Int = unsafe getenv("{VARIABLE}").flatMap {{ Int(unsafe String(cString: $0)) }} ?? 0

  /// Returns true if the process makes the mistake with a number.
  package static func isOn(_ number: Int) -> Bool {{ Mutant.number == number }}
}}
'''.lstrip()


class Mutant:
    """A mistake of the list."""

    def __init__(self, letter, number, module, file, breaks):
        self.letter, self.number, self.module, self.file, self.breaks = letter, int(number), module, file, breaks
        self.text, self.replacement, self.reason, self.finding = [], [], "", ""

    def __str__(self):
        return f"{self.letter}{self.number}"

    @property
    def title(self):
        return f"{self!s:>4} {self.module}/{self.file}: {self.breaks}" + (" (equivalent)" if self.reason else "")

    def span(self, source):
        """Where the file's text has the mistake's."""
        text = "\n".join(self.text)
        if source.count(text) != 1:
            sys.exit(f"mutant {self}: its text is in {self.place} {source.count(text)} times, not once:\n{text}")
        return source.index(text), source.index(text) + len(text)


def planted(source, mutants):
    """A file's text with mistakes, each of which waits for its number, if it can; they must not overlap."""
    text, ends = source, len(source)
    for (start, end), mutant in sorted(((mutant.span(source), mutant) for mutant in mutants), key=lambda pair: pair[0], reverse=True):
        if end > ends:
            sys.exit(f"mutant {mutant}: its text overlaps with that of another in {mutant.place}")
        replacement = re.sub(r"\bMUTANT\b", f"Mutant.isOn({mutant.number})", "\n".join(mutant.replacement))
        text, ends = text[:start] + replacement + text[end:], start
    if "Mutant.isOn(" in text and not re.search(r"^(\w+ )?import HeirloomModel$", text, re.MULTILINE):
        text = "import HeirloomModel\n" + text
    return text


def planted_files(mutants):
    """The texts of all files that have mistakes, with them, by their places in the checkout."""
    return {
        place: planted((ROOT / place).read_text(encoding="utf-8"), [mutant for mutant in mutants if mutant.place == place])
        for place in sorted({mutant.place for mutant in mutants})}


def read(letter=None):
    """The mistakes that one check finds, or all. Ends with a reason unless every one of them can be planted and none is gone."""
    mutants = [mutant for file in sorted(FOLDER.glob("*.txt")) for mutant in read_file(file)]
    check_numbers([str(mutant) for mutant in mutants])
    places = {}
    for file in [file for folder in ("Sources", "Tests") for file in (ROOT / folder).rglob("*.swift")]:
        place = file.relative_to(ROOT)
        module = next(part for part in place.parts[1:] if part not in ("Products", "Tools"))
        places.setdefault((module, place.name), []).append(str(place))
    for mutant in mutants:
        found = places.get((mutant.module, mutant.file), [])
        if len(found) != 1:
            sys.exit(f"mutant {mutant}: {mutant.module} has {len(found)} files with the name {mutant.file}, not one" + "".join(f"\n{place}" for place in found))
        mutant.place = found[0]
        waits = re.search(r"\bMUTANT\b", "\n".join(mutant.replacement))
        if not mutant.text or not mutant.replacement or bool(waits) == (mutant.letter == APPLE) or bool(mutant.finding) != (mutant.letter == APPLE):
            sys.exit(f"mutant {mutant}: it needs lines with \"-\" and \"+\", and MUTANT in the latter; of those with {APPLE}, \"~\" and no MUTANT")
    for kind in (TESTS, DARWIN):
        planted_files([mutant for mutant in mutants if mutant.letter == kind])
    for mutant in mutants:
        if mutant.letter == APPLE:
            planted_files([mutant])
    return [mutant for mutant in mutants if letter in (None, mutant.letter)]


def read_file(file):
    mutants = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        head = re.match(rf"({APPLE}|{DARWIN}|)(\d+) (\S+\.swift): (.+)$", line)
        if head:
            mutants.append(Mutant(head[1], head[2], file.stem, head[3], head[4]))
        elif mutants and line[:2] in ("- ", "+ "):
            (mutants[-1].text if line[0] == "-" else mutants[-1].replacement).append(line[2:])
        elif mutants and line[:2] == "= ":
            mutants[-1].reason = f"{mutants[-1].reason} {line[2:]}".strip()
        elif mutants and line[:2] == "~ ":
            mutants[-1].finding = line[2:]
        elif line and not line.startswith("#"):
            sys.exit(f"{file.relative_to(ROOT)}, line {number}: {line}")
    return mutants


def check_numbers(numbers):
    """Ends with a reason unless the numbers are those that are recorded, each once."""
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        sys.exit(f"several mutants have the number {', '.join(twice)}")
    recorded = set()
    for line in (FOLDER / "numbers").read_text(encoding="utf-8").split():
        if not (ends := re.fullmatch(rf"({APPLE}|{DARWIN}|)(\d+)-(\d+)", line)):
            sys.exit(f"Tests/Mutants/numbers: \"{line}\" isn't a first and a last number, as in A1-41")
        recorded.update(f"{ends[1]}{number}" for number in range(int(ends[2]), int(ends[3]) + 1))
    if gone := sorted(recorded - set(numbers)):
        sys.exit(f"mutant {', '.join(gone)} is gone: plant the same fault in the code that came instead, under the same number")
    if new := sorted(set(numbers) - recorded):
        sys.exit(f"Tests/Mutants/numbers has no line for mutant {', '.join(new)}: add it, so that the mutant can't get lost")
