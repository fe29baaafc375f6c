#!/usr/bin/env python3
"""Makes the goldens of c3c5765: python3 make.py TOOL MAKE KILL.so HISTORY STRANGE OUTPUT (see README.md)."""
import glob, json, os, shutil, sqlite3, subprocess, sys, tempfile

tool, make, shim, history, strange, output = sys.argv[1:]
M = [f"{history}/Journal.xcdatamodeld/{n}.xcdatamodel" for n in ("Journal", "Journal 2", "Journal 3", "Journal 4")]

def run(*args, ok=(0,), env=None):
    r = subprocess.run(args, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if ok is not None and r.returncode not in ok:
        sys.exit(f"{args}: {r.returncode}\n{r.stdout}{r.stderr}")
    return r

QUERIES = {
    "notes": "SELECT COUNT(*) FROM ZNOTE", "bodies": "SELECT COUNT(ZBODY) FROM ZNOTE",
    "moods": "SELECT COUNT(ZMOOD) FROM ZNOTE", "tags": "SELECT COUNT(*) FROM ZTAG",
    "colors": "SELECT COUNT(ZCOLOR) FROM ZTAG", "links": "SELECT COUNT(*) FROM Z_1TAGS",
}

def numbers(folder):
    """The rows of each file that is a whole store, by plain SQL, and the lines of quarantine files."""
    found = {}
    for path in sorted(glob.glob(folder + "/**/*", recursive=True, include_hidden=True)):
        if not os.path.isfile(path): continue
        name = os.path.relpath(path, folder)
        if path.endswith(".jsonl"):
            found[name] = {"lines": sum(1 for _ in open(path))}
            continue
        with open(path, "rb") as f:
            if f.read(16) != b"SQLite format 3\0": continue
        with tempfile.TemporaryDirectory() as t:
            for s in ("", "-wal", "-journal"):
                if os.path.exists(path + s): shutil.copy(path + s, t + "/s" + s)
            c = sqlite3.connect(t + "/s")
            counts = {}
            for key, sql in QUERIES.items():
                try: counts[key] = c.execute(sql).fetchone()[0]
                except sqlite3.DatabaseError: pass
            c.close()
            found[name] = counts
    return found

def state(folder):
    """The form of a stopped migration: files without the parts of names that differ between runs."""
    lines = []
    for root, dirs, files in os.walk(folder):
        for f in files:
            rel = os.path.relpath(os.path.join(root, f), folder)
            parts = [p for p in rel.split("/")]
            if len(parts) > 2 and parts[1] in ("previous", "incoming", "incompatible"): parts[2] = "ID"
            if parts[-1].startswith("model.json.gz.") and parts[-1].endswith(".tmp"): parts[-1] = "model.json.gz.tmp"
            phase = ""
            if f == "manifest.json" and len(parts) == 2:
                try: phase = str(json.load(open(os.path.join(root, f))).get("phase"))
                except Exception as e: phase = "damaged"
            lines.append("/".join(parts) + phase)
        for d in dirs:
            rel = os.path.relpath(os.path.join(root, d), folder)
            if rel.count("/") < 2: lines.append(rel + "/")
    return tuple(sorted(lines))

work = tempfile.mkdtemp()
os.makedirs(output, exist_ok=True)
noted = {}

def keep(name, folder):
    for f in glob.glob(folder + "/*-shm"): os.remove(f)
    noted[name] = numbers(folder)
    run("tar", "-czf", f"{output}/{name}.tar.gz", "--sort=name", "--owner=0", "--group=0", "-C", folder, ".")

def fresh(name):
    folder = f"{work}/{name}"
    os.makedirs(folder)
    run(make, "create", folder + "/Journal.sqlite", M[0])
    return folder, folder + "/Journal.sqlite"

first, _ = fresh("start")
def started(name):
    folder = f"{work}/{name}"
    shutil.copytree(first, folder)
    return folder, folder + "/Journal.sqlite"

folder, store = started("pinned")
run(make, "migrate", store, *M[:2])
keep("pinned", folder)
folder = shutil.copytree(folder, f"{work}/released"); store = folder + "/Journal.sqlite"
version = json.loads(run(tool, "versions", store, "--json").stdout)["versions"][0]["id"]
run(tool, "versions", store, "--release", version)
keep("released", folder)
folder = shutil.copytree(f"{work}/pinned", f"{work}/replaced"); store = folder + "/Journal.sqlite"
c = sqlite3.connect(store); c.execute("UPDATE ZNOTE SET ZBODY = 'written later' WHERE Z_PK = 1"); c.commit(); c.close()
run(tool, "restore", store, "--version", version)
keep("replaced", folder)
folder, store = started("aside")
run(make, "aside", store, M[0], strange + "/Strange.xcdatamodeld/Strange.xcdatamodel")
keep("aside", folder)
folder, store = started("quarantine")
run(make, "migrate", store, *M[:3])
run(tool, "migrate", store, "--to", M[3], "--decide", "Note.title=quarantine")
keep("quarantine", folder)
folder, store = started("deferred")
run(tool, "migrate", store, "--to", M[1], "--accept-losses", "--defer")
keep("deferred", folder)

folder, store = started("log")
c = sqlite3.connect(store)
c.execute("PRAGMA journal_mode=WAL")
for key in 1, 2, 3:
    c.execute("UPDATE ZNOTE SET ZBODY = ? WHERE Z_PK = ?", (f"late {key} " + "x" * 3000, key))
    c.commit()
# The connection stays open: its end would put the log into the store.
shutil.copy(store + "-wal", store + ".log")
c.close()
log = bytearray(open(store + ".log", "rb").read())
frame = 24 + int.from_bytes(log[8:12], "big")
commits = [n for n in range((len(log) - 32) // frame) if log[32 + n * frame + 4:32 + n * frame + 8] != bytes(4)]
log[32 + commits[1] * frame + 1000] ^= 1
shutil.copytree(first, folder, dirs_exist_ok=True)
os.remove(store + ".log")
c = sqlite3.connect(store); c.execute("PRAGMA journal_mode=WAL"); c.close()
open(store + "-wal", "wb").write(log)
run(tool, "migrate", store, "--to", M[1], "--accept-losses")
keep("log", folder)

def stop(name, prepare, *args):
    """Stops a command before each call that changes files, and keeps one of each form."""
    seen, number = set(), 1
    while True:
        folder, store = prepare(f"{name}{number}")
        command = [a.replace("STORE", store) for a in args]
        r = run(*command, ok=None, env={"LD_PRELOAD": shim, "HEIRLOOM_KILL": str(number)})
        if r.returncode == 0: break
        if r.returncode != -9: sys.exit(f"{name} {number}: {r.returncode} {r.stderr}")
        form = state(folder)
        if form not in seen:
            seen.add(form)
            keep(f"{name}-{len(seen):02d}", folder)
        number += 1
    print(f"{name}: {number - 1} calls, {len(seen)} forms")

def replaced(name):
    folder = shutil.copytree(f"{work}/pinned", f"{work}/{name}")
    return folder, folder + "/Journal.sqlite"

stop("migrating", started, tool, "migrate", "STORE", "--to", M[1], "--accept-losses")
stop("restoring", replaced, tool, "restore", "STORE", "--version", version)
stop("setting-aside", started, make, "aside", "STORE", M[0], strange + "/Strange.xcdatamodeld/Strange.xcdatamodel")

folder = output + "/history"
shutil.copytree(history, folder)
bundle = folder + "/Journal.xcdatamodeld"
for n in ("Journal", "Journal 2", "Journal 3", "Journal 4"):
    run(tool, "snapshot", f"{bundle}/{n}.xcdatamodel", "--history", folder)
for loss in ("Note.mood", "Tag.color"):
    run(tool, "check", folder, "--acknowledge", loss, "--objects", "2", ok=(0, 6))
run(tool, "check", folder, "--by-app", "Journal 3", "--objects", "2", ok=(0, 6))
run(tool, "squash", bundle, "--floor", "Journal 2")
for f in glob.glob(folder + "/Journal*.json"): os.remove(f)
json.dump(noted, open(output + "/rows.json", "w"), indent=1, sort_keys=True)
