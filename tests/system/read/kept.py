#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""What kymo keeps of a trace that it has read: the second answer has the same bytes and comes from the cache; a damaged file, another
trace at the same path, a question that differs, or a cache that somebody else can write is never believed."""
import glob
import os
import shutil
import stat
import sys
import tempfile
import time

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, SOURCE, check, private, run

FIXTURE = os.path.join(SOURCE, "tests/fixtures/lifecycle")
MOST = 64 << 20
QUERY = "SELECT callback, count(*), max(duration_ns) FROM callback_instances GROUP BY callback"


class Cache:
    def __init__(self, place):
        self.path = os.path.join(place, "cache/kymo")
        self.environment = {**private(place), "KYMO_CACHE": "always", "XDG_CACHE_HOME": os.path.join(place, "cache")}
        self.place = place

    def ask(self, *words, status=0, **changes):
        return run(KYMO, *words, status=status, env={**self.environment, **changes}, cwd=self.place).stdout

    def truth(self, *words, status=0):
        return self.ask(*words, status=status, KYMO_CACHE="off")

    def files(self):
        return sorted(glob.glob(os.path.join(self.path, "*.kept")))

    def keep(self, *words):
        """Ask until it is kept: a trace that was just written is not. Return: the new file."""
        before, deadline = self.files(), time.monotonic() + 300
        while self.files() == before:
            answer = self.ask(*words)
            check(time.monotonic() < deadline, words, "are never kept") or sys.exit()
        check(answer == self.truth(*words), words, "the first answer differs from one without a cache")
        new = set(self.files()) - set(before)
        check(len(new) == 1, words, "keeps", new)
        return new.pop()

    def is_used(self, file, *words):
        """The file is touched by who reads it."""
        os.utime(file, (1, 1))
        answer = self.ask(*words)
        check(answer == self.truth(*words), words, "differ from the truth:", answer)
        return os.stat(file).st_mtime > 1


def questions(cache):
    """Each question has its own answer, and each answer is used."""
    kept = {words: cache.keep(*words) for words in (
        ("report", "trace"), ("why", "trace"), ("report", "trace", "--format", "json"), ("report", "trace", "--all"), ("report", "./trace"),
        ("why", "trace", "--format", "json"), ("flow", "trace"), ("flow", "trace", "--format", "json"), ("events", "trace"),
        ("events", "trace", "--node", "*"), ("query", "trace", QUERY), ("query", QUERY, "trace", "--format", "csv"),
        ("top", "trace", "--once"), ("top", "trace", "--once", "--format", "json"))}
    for words, file in kept.items():
        check(cache.is_used(file, *words), words, "is asked again")
    before = cache.files()
    cache.ask("report", "trace", "--section", "nodes")
    cache.ask("report", "trace", "--format", "summary", "-o", "one.summary")
    cache.ask("report", "nothing", status=3)
    for sql in ("SELECT random() FROM nodes", "SELECT datetime() FROM nodes", "SELECT datetime\n() FROM nodes", 'SELECT "time"() FROM nodes', "SELECT CURRENT_TIMESTAMP", ".tables", "SELECT 1;\n.tables"):
        cache.ask("query", "trace", sql)
    cache.ask("query", "trace", "SELECT nothing FROM nodes", status=2)
    check(cache.files() == before, "what reads or writes other files is kept")


def summaries(cache):
    """One reading serves diff and check, which are exact to the last digit."""
    file = cache.keep("diff", "trace", "trace", "--format", "json", "--values")
    check(cache.is_used(file, "diff", "trace", "trace", "--format", "json", "--values"), "diff reads the trace again")
    with open(os.path.join(cache.place, "budgets.yaml"), "w", encoding="utf-8") as out:
        out.write('callbacks:\n  "*":\n    - duration p50 <= 1 s\n    - duration p99.9 <= 1 s\n    - duration mean <= 1 s\n')
    check(cache.is_used(file, "check", "-c", "budgets.yaml", "trace", "--format", "json"), "check reads the trace again")


def damaged(cache):
    """A file that is cut, changed or of something else is replaced."""
    words = ("report", "trace")
    for spoil in (lambda data: data[:-1], lambda data: b"", lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
                  lambda data: b"x" + data[1:], lambda data: data + b"x"):
        shutil.rmtree(cache.path)
        file = cache.keep(*words)
        with open(file, "rb") as whole:
            data = whole.read()
        os.unlink(file)				# kymo replaces it; nobody changes it in place
        with open(file, "wb") as changed:
            changed.write(spoil(data))
        check(cache.ask(*words) == cache.truth(*words), "a damaged file is believed")
        with open(file, "rb") as whole:
            check(whole.read() == data, "a damaged file is not replaced")


def changed(cache):
    """What happens to the trace is seen."""
    words = ("report", "trace")
    shutil.rmtree(cache.path)
    file, path = cache.keep(*words), os.path.join(cache.place, "trace")
    stream = max(glob.glob(os.path.join(path, "**", "*_[0-9]*"), recursive=True), key=os.path.getsize)
    old = os.stat(stream)
    with open(stream, "r+b") as out:				# the same size, and as old as before
        byte = out.read(1)
        out.seek(0)
        out.write(byte)
    os.utime(stream, ns=(old.st_atime_ns, old.st_mtime_ns))
    check(not cache.is_used(file, *words), "a file that was written is not noticed")
    os.rename(path, path + ".old")
    shutil.copytree(path + ".old", path)
    check(not cache.is_used(file, *words), "another trace at the same path is not noticed")
    shutil.rmtree(path)
    cache.ask(*words, status=3)


def bounded(cache):
    """Those that nobody asked for longest give way."""
    for i in range(MOST // (1 << 20) + 5):
        with open(os.path.join(cache.path, f"{i:03}.kept"), "wb") as out:
            out.truncate(1 << 20)
        os.utime(out.name, (i + 1, i + 1))
    shutil.copytree(FIXTURE, os.path.join(cache.place, "other"))
    deadline = time.monotonic() + 300
    while os.path.exists(os.path.join(cache.path, "000.kept")) and check(time.monotonic() < deadline, "the cache grows"):
        cache.ask("report", "other")
    files = cache.files()
    check(sum(map(os.path.getsize, files)) <= MOST and os.path.join(cache.path, "068.kept") in files, "the cache has", len(files))


def refused(cache):
    """Off is off, and what others can write is not read."""
    shutil.rmtree(cache.path)
    for _ in range(3):
        cache.truth("report", "other")
    check(not os.path.exists(cache.path), "KYMO_CACHE=off writes")
    cache.keep("report", "other")
    check(stat.S_IMODE(os.stat(cache.path).st_mode) == 0o700 and stat.S_IMODE(os.stat(cache.files()[0]).st_mode) == 0o600, "modes")
    os.chmod(cache.path, 0o777)
    check(not cache.is_used(cache.files()[0], "report", "other"), "a cache that everybody can write is believed")


def main():
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(FIXTURE, os.path.join(place, "trace"))
        os.mkdir(os.path.join(place, "cache"))
        cache = Cache(place)
        for part in (questions, summaries, damaged, changed, bounded, refused):
            part(cache)


main()
