#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: shared
"""A Perfetto file that is written while its trace is recorded is in the end what an export afterwards is; it opens
at any time, also when recorder and writer are killed. Parts open alone and together. `kymo open` says what to do."""
import contextlib
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_reader
from lib_test import BUILD, KYMO, SHARED, kymo, private, run, skip, until

CYCLIC = os.path.join(BUILD, "cyclic", "cyclic")
ALL = "select ts, dur, name, category from slice order by 1, 2, 3"
COUNTS = ("select count(*), sum(dur), (select count(*) from flow), (select count(*) from counter) from slice "
          "where coalesce(category, '') != 'lifecycle'")
STATES = "select count(*) from slice where category = 'lifecycle'"


def size(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


def followed(check, reader, scratch, environment):
    trace, live, later = (os.path.join(scratch, name) for name in ("trace", "live.pftrace", "later.pftrace"))
    kymo("record", "-q", "-o", trace, "--perfetto", live, "--", CYCLIC, "--seconds", "0.5", env=environment)
    kymo("export", "-q", trace, "-o", later)
    got, want = reader.query(live, ALL)[0], reader.query(later, ALL)[0]
    check.ok(f"{len(want)} slices while recording as afterwards", got == want and len(want) > 100,
             f"{len(got)} and {len(want)}")
    return trace


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as text:
        return [int(word) for word in text.read().split()]


def name_of(pid):
    with open(f"/proc/{pid}/comm") as text:
        return text.read().strip()


def killed(check, reader, scratch, environment):
    """First a copy while it grows, then recorder and writer die at once."""
    live, copy = os.path.join(scratch, "killed.pftrace"), os.path.join(scratch, "copy.pftrace")
    recorder = subprocess.Popen([KYMO, "record", "-q", "-o", os.path.join(scratch, "killed"), "--perfetto", live,
                                 "--", CYCLIC, "--seconds", "120"], env=environment, stdout=subprocess.DEVNULL,
                                start_new_session=True)
    try:
        until("file", lambda: size(live) > 4000)
        family = children(recorder.pid)
        check.ok("there is a writer and a program", sorted(map(name_of, family)) == ["cyclic", "kymo"])
        shutil.copy(live, copy)
        before = size(live)
        until("growth", lambda: size(live) > before + 4000)
    finally:
        os.killpg(recorder.pid, signal.SIGKILL)
        recorder.wait()
    (first,), = reader.query(copy, "select count(*) from slice")
    (last,), = reader.query(live, "select count(*) from slice")
    check.ok("the file opens while it grows, and after all died", 0 < first[0] < last[0], (first, last))


def parts(check, reader, scratch):
    trace, out = os.path.join(SHARED, "data", "ros2-traces", "discarded", "ctf"), os.path.join(scratch, "p.pftrace")
    kymo("export", "-q", trace, "-o", out)
    kymo("export", "-q", trace, "--split", "100K", "-o", out)
    names = [os.path.join(scratch, f"p.{number}.pftrace") for number in (1, 2)]
    check.ok("parts", all(map(os.path.exists, names)), os.listdir(scratch))
    with open(os.path.join(scratch, "all"), "wb") as together:
        for name in names:
            with open(name, "rb") as part:
                shutil.copyfileobj(part, together)
    (whole, alone, joined), (states, _, joined_states) = zip(*(
        [rows[0] for rows in reader.query(path, COUNTS, STATES)] for path in (out, names[1], together.name)))
    check.ok("the second part opens alone", 0 < alone[0] < whole[0], alone)
    check.equal("parts behind each other are the whole", joined, whole)
    check.equal("the lifecycle state that goes on is in both", joined_states[0], states[0] + 1)


@contextlib.contextmanager
def serving(scratch, *words, path=""):
    """kymo open, and what it says, up to the line that says what to do."""
    environment = dict(os.environ, PATH=path + os.environ["PATH"], TMPDIR=scratch)
    environment.pop("DISPLAY", None)
    environment.pop("WAYLAND_DISPLAY", None)
    with subprocess.Popen([KYMO, "open", *words], stdout=subprocess.PIPE, text=True, cwd=scratch, env=environment) as program:
        lines = [""]
        while not lines[-1].startswith("Then:") and (line := program.stdout.readline()):
            lines.append(line)
        try:
            yield "".join(lines)
        finally:
            program.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(300)
            if program.poll() is None:		# the thread sanitizer may hold a signal back until the next one
                program.send_signal(signal.SIGINT)


def opened(check, scratch, trace):
    with serving(scratch, "--perfetto", trace) as said:
        check.ok("where it is shown", "UI:    https://ui.perfetto.dev\n" in said and "Page:  http://127.0.0.1:" in said and
                 "File:" not in said, said)
        check.equal("nothing is left in a directory", [name for name in os.listdir(scratch) if "kymo-open" in name], [])
    kept = os.path.join(scratch, "kept.pftrace")
    with serving(scratch, "--perfetto", trace, "-o", kept) as said:
        check.ok("a file is kept", os.path.realpath(kept) in said, said)
    first = os.stat(kept)
    with serving(scratch, "--perfetto", trace, "-o", kept):
        check.ok("what is there is taken", os.stat(kept).st_mtime_ns == first.st_mtime_ns)
    programs = os.path.join(scratch, "bin")
    os.mkdir(programs)
    with open(os.path.join(programs, "xdg-open"), "w") as script:
        script.write(f"#!/bin/sh\necho \"$*\" >{scratch}/asked\n")
    os.chmod(script.name, 0o755)
    with serving(scratch, "--perfetto", "--browser", trace, path=programs + ":") as said:
        until("the browser", lambda: size(os.path.join(scratch, "asked")))
        with open(os.path.join(scratch, "asked")) as asked:
            check.ok("the browser gets the page's address", f"Page:  {asked.read()}" in said, said)
    done = run(KYMO, "open", "--perfetto", trace, "--wait", "1ms", status=None, env={key: value for key, value in os.environ.items() if "DISPLAY" not in key})
    check.ok("without a display: what to type on the desk", re.search(r"\n       ssh -N -L (\d+):127\.0\.0\.1:\1 \S+@\S+\n", done.stdout), done.stdout)
    check.ok("no browser came", done.returncode == 1 and "no browser" in done.stderr, done.stderr)
    for words in ([os.path.join(scratch, "nothing")], [trace, "-o", "/proc/nonexistent/x"],
                  ["--browser", trace]):
        done = run(KYMO, "open", *words, status=None, cwd=scratch, env=dict(os.environ, PATH=scratch))
        check.ok(f"open {words[-1]}: says why", done.returncode and done.stderr.startswith("kymo open: "),
                 done.stderr)


def kinds(check, scratch, trace):
    """What is no file for the UI is not said to be one."""
    made = {}
    for name, words in (("packets", ["--format", "perfetto", "--compress", "none"]), ("deflated", ["--format", "perfetto"]),
                        ("json", ["--format", "chrome"]), ("database", ["--format", "sqlite"])):
        made[name] = os.path.join(scratch, name + ".out")
        kymo("export", "-q", trace, *words, "-o", made[name])
    made["archive"] = os.path.join(scratch, "archive.tar")
    kymo("export", "-q", trace, trace, "-o", made["archive"])
    with open(made["packets"], "rb") as packets, gzip.open(os.path.join(scratch, "zipped"), "wb") as zipped:
        shutil.copyfileobj(packets, zipped)
    made["zipped"] = os.path.join(scratch, "zipped")
    for name, content in (("empty", b""), ("text", b"Dear reader,\n" * 99), ("picture", b"\x89PNG\r\n\x1a\n" + bytes(99)),
                          ("newlines", b"\n" * 99), ("program", b"\x7fELF" + bytes(99))):
        made[name] = os.path.join(scratch, name + ".out")
        with open(made[name], "wb") as out:
            out.write(content)
    made["metadata"] = os.path.join(trace, "ust", "metadata")
    made["stream"] = next(os.path.join(directory, name) for directory, _, names in os.walk(trace) for name in names
                          if name not in ("metadata", "kymo.json", "sync") and not name.endswith(".idx"))
    made["pipe"] = os.path.join(scratch, "pipe")
    os.mkfifo(made["pipe"])
    words = {"empty": "is empty", "text": "is not a file that the UI loads", "picture": "is not a file that the UI loads", "newlines": "is not a file that the UI loads",
             "program": "is not a file that the UI loads", "metadata": "CTF", "stream": "CTF", "database": "database", "pipe": "is not a file;"}
    for name, path in made.items():
        done = run(KYMO, "open", path, "--wait", "1ms", "--no-browser", status=None, cwd=scratch)
        if name in words:
            check.ok(f"open of a {name}: what it is instead", done.returncode == 3 and words[name] in done.stderr and
                     not done.stdout, (done.returncode, done.stderr))
        else:
            check.ok(f"open of a {name}", done.returncode == 1 and path in done.stdout and "no browser" in done.stderr, (done.returncode, done.stderr))


def main(check, reader, scratch):
    if not os.path.isdir(os.path.join(SHARED, "data")):
        skip("no traces in ../shared")
    environment = private(scratch)
    trace = followed(check, reader, scratch, environment)
    killed(check, reader, scratch, environment)
    parts(check, reader, scratch)
    opened(check, scratch, trace)
    kinds(check, scratch, trace)


with_reader(main)
