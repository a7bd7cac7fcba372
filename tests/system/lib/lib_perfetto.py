# SPDX-License-Identifier: Apache-2.0
"""A real Perfetto trace processor for tests, and the little that these tests share.

The trace processor is a script kept beside the checkout; where it or what it needs cannot be had,
the test is skipped (exit 77).
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import zlib

from lib_test import SHARED, TESTS, query, skip

ORACLE = os.path.join(SHARED, "oracles", "perfetto", "perfetto-sql.mjs")
SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "perfetto_server.mjs")


class Reader:
    def __init__(self, scratch):
        self.scratch, self.servers = scratch, threading.local()
        if not os.path.exists(ORACLE):
            skip("no Perfetto trace processor in ../shared")
        # A question takes less than optimising the engine; node says 9 to a flag it does not know.
        for self.node in (["node", "--liftoff-only"], ["node"]):
            try:
                run = subprocess.run([*self.node, ORACLE, "--install"], capture_output=True, text=True)
            except FileNotFoundError:
                skip("node is not installed")
            if run.returncode != 9:
                break
        if run.returncode == 77:
            skip(run.stderr.strip())

    def ask(self, *arguments):
        """What the trace processor answers: status, out, err. Each thread has a process of it, which ends with this one."""
        if not hasattr(self.servers, "process"):
            self.servers.process = subprocess.Popen([*self.node, SERVER, ORACLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                    text=True)
        server = self.servers.process
        server.stdin.write(json.dumps(arguments) + "\n")
        server.stdin.flush()
        line = server.stdout.readline()
        if not line:
            raise SystemExit(f"the reader ended with {server.wait()}")
        return json.loads(line)

    def query(self, trace, *statements, pedantic=True, lossy=False):
        """Rows of each statement. @trace is bytes or a path. The reader must not complain; @lossy: but for lost events."""
        path = trace
        if isinstance(trace, bytes):
            with tempfile.NamedTemporaryFile(dir=self.scratch, delete=False) as out:
                out.write(trace)
                path = out.name
        said = self.ask("--offline", "-f", "json", path, *statements)
        if said["status"]:
            raise SystemExit(f"the reader failed ({said['status']}): {said['err']}")
        answer = json.loads(said["out"])
        complaints = [stat for stat in answer["stats"] if not (lossy and stat["name"] == "ftrace_cpu_has_data_loss")]
        if pedantic and complaints:
            raise SystemExit(f"the reader complains: {complaints}")
        return [result["rows"] for result in answer["results"]]


class Checks:
    def __init__(self):
        self.failed = self.count = 0

    def ok(self, what, good, detail=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {what}")
        if not good and detail:
            print(f"  # {detail}")

    def equal(self, what, got, want):
        detail = f"got {got}\n  # want {want}"
        if got != want and isinstance(got, list) and isinstance(want, list) and len(got) + len(want) > 20:
            more, less = ([row for row in a if row not in b] for a, b in ((got, want), (want, got)))
            detail = f"{len(got)} rows, {len(want)} wanted\n  # too many: {more}\n  # missing: {less}"
        self.ok(what, got == want, detail)

    def end(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)


def with_checks(*tests):
    """Call each test(check, scratch) with a directory that vanishes. The test fails if a check did."""
    check = Checks()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as scratch:
        for test in tests:
            test(check, scratch)
    check.end()


def with_reader(test):
    """Call test(check, reader, scratch), with a trace processor, too."""
    with_checks(lambda check, scratch: test(check, Reader(scratch), scratch))


def sample(*words):
    """Return: what tests/tools/pft_sample writes, and the numbers that it prints about that, by name."""
    done = subprocess.run([os.path.join(TESTS, "pft_sample"), *map(str, words)], capture_output=True, check=True)
    return done.stdout, {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", done.stderr.decode())}


class Cut(Exception):
    """A protobuf field is not whole."""


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data):
            raise Cut
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """Number and value of each whole field; what follows the last one was cut."""
    at = 0
    while at < len(data):
        try:
            key, at = varint(data, at)
            size, at = (8, at) if key & 7 == 1 else (4, at) if key & 7 == 5 else varint(data, at)
        except Cut:
            return
        if key & 7 == 0:
            yield key >> 3, size
            continue
        if at + size > len(data):
            return
        yield key >> 3, data[at:at + size]
        at += size


# Numbers of the format.
TRACE_EVENT, TYPE, COMPRESSED, PACKET = 11, 9, 50, 1
BEGIN, INSTANT = 1, 3


def rows_in(data):
    """Events of whole packets that are rows of the table of slices."""
    count = 0
    for number, packet in fields(data):
        assert number == PACKET
        for inner, value in fields(packet):
            if inner == COMPRESSED:
                count += rows_in(zlib.decompress(value))
            elif inner == TRACE_EVENT:
                count += dict(fields(value)).get(TYPE) in (BEGIN, INSTANT)
    return count


def table(trace, sql):
    """Rows of a question to `kymo query`, as tuples; NULL is None."""
    return [tuple(row.values()) for row in query(trace, sql)]
