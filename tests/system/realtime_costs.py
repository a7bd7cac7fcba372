#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`kymo report --realtime`: what callbacks and spans allocate, wait for and fault is what tests/tools/costs.c does in each of them,
and the exit status says whether those that are named do any of it."""
import json
import os
import subprocess
import sys
import tempfile

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "bin", "kymo")
COSTS = os.path.join(BUILD, "tests", "costs")
ROUNDS, PAGES, SPAN = 20, 2048, "control:step"
# By callback: malloc, realloc, calloc, posix_memalign, aligned_alloc, reallocarray of 2 s.
BYTES = 1000 + 2000 + 2000 + 1000 + 1024 + 3000


def record(directory, *options):
    trace = os.path.join(directory, "".join(options) or "plain")
    done = subprocess.run([KYMO, "record", *options, "-o", trace, "--", COSTS, str(ROUNDS)], capture_output=True, text=True, check=True,
                          input="go\n", env=dict(os.environ, KYMO_DIR=os.path.join(directory, "run")))
    return trace, done.stderr


def report(trace, *names, status=0):
    """Return: {(what, period in s, or category:name of a span): row}, and what was looked at."""
    arguments = [x for n in names for x in ("--realtime", n)]
    done = subprocess.run([KYMO, "report", trace, "--section", "realtime", "--format", "json", *arguments], capture_output=True,
                          text=True, check=False)
    assert done.returncode == status, (names, done)
    told = json.loads(done.stdout)
    return {(r["what"], r["callback"] if r["kind"] == "span" else int(r["callback"].split()[-2])): r for r in told["realtime"]}, \
        told["looked_at"]


def main(directory):
    if not os.path.exists(os.path.join(BUILD, "lib", "libkymo-malloc.so")):
        print("skipped: not built with a sanitizer")
        return 77
    trace, said = record(directory, "--malloc", "--kernel")
    rows, text = report(trace)
    assert {k for k in rows if k[0] != "page_fault"} == {("allocation", 2), ("free", 2), ("allocation", 3), ("lock", 5),
                                                            ("allocation", SPAN), ("free", SPAN)}, rows.keys()
    assert all(r["runs"] == ROUNDS and r["node"] == (None if k[1] == SPAN else "/costly") and r["process"] == "costs"
               for k, r in rows.items()), rows
    many, leak, lock = rows["allocation", 2], rows["allocation", 3], rows["lock", 5]
    span = rows["allocation", SPAN]
    assert (span["times"], span["most"], span["bytes"], span["growth_bytes"], span["peak_bytes"]) == \
        (ROUNDS, 1, 1000 * ROUNDS, 0, 1000), span
    assert rows["free", SPAN]["times"] == ROUNDS, rows
    assert (many["times"], many["most"], many["in_runs"], many["bytes"], many["growth_bytes"], many["peak_bytes"]) == \
        (6 * ROUNDS, 6, ROUNDS, BYTES * ROUNDS, 0, 3000), many
    assert (leak["times"], leak["bytes"], leak["growth_bytes"], leak["peak_bytes"]) == (ROUNDS, 333 * ROUNDS, 333 * ROUNDS, 333), leak
    assert lock["times"] == ROUNDS and lock["lock_ns"] > 0, lock
    kernel = "recording without them" not in said
    if kernel and "lost" not in said:
        assert rows["page_fault", 4]["most"] == PAGES and rows["page_fault", 4]["times"] >= PAGES * ROUNDS // 10, rows
    assert text == "allocations, mutexes" + (", page faults" if kernel else ""), text
    report(trace, "/costly timer 3 s", status=5)
    assert set(report(trace, "/costly timer 5 s", "/costly timer 6 s", status=5)[0]) >= {("lock", 5)}
    report(trace, "/nobody", status=5)
    assert set(report(trace, "control:*", status=5)[0]) == {k for k in rows if k[1] == SPAN}
    report(trace, "step", status=5)
    if not any(k[1] == 6 for k in rows):
        report(trace, "/costly timer 6 s")
    plain, _ = record(directory)
    rows, text = report(plain, "/costly timer 3 s", status=5)
    assert not rows and text == "nothing", (rows, text)
    return 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as private:
        sys.exit(main(private))
