#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""`kymo record --malloc`: what each callback of a program allocates is in the trace, call by call, and adds up as tracetools_analysis'
memory handler would; other programs run as they do without it."""
import collections
import json
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, answer, compiled, in_directory, kymo, query, record, run, skip

COSTS = os.path.join(BUILD, "tests", "costs")
LIBRARY = os.path.join(BUILD, "lib", "libkymo-malloc.so")
ROUNDS = 20
# What tests/tools/costs.c does in one run of the callback, and in one span.
CALLBACKS = {
    1: {},
    2: {"malloc": 1, "realloc": 2, "calloc": 1, "posix_memalign": 1, "memalign": 1, "free": 5},
    3: {"malloc": 1}, 4: {}, 5: {}, 6: {},
}
LINE = re.compile(r"(lttng_ust_libc|lttng_ust_pthread|kymo_libc|ros2|control)\S*:(\w+): .*?vtid = (\d+).*?\}, \{(.*)\}")
OTHERS = [
    [sys.executable, "-c", "import subprocess, threading\nt = threading.Thread(target=lambda: [bytearray(n) for n in range(9999)])\n"
     "t.start(); t.join(); print(subprocess.run(['/bin/echo', 'child'], capture_output=True).stdout)"],
    ["/bin/sh", "-c", "for i in 1 2 3; do echo $(ls / | sort | head -3); done"],
]


def babeltrace(trace):
    text = run("babeltrace2", trace)
    assert not text.stderr, text.stderr
    return text.stdout


def events(trace):
    """Yields thread, name, fields."""
    for line in babeltrace(trace).splitlines():
        found = LINE.search(line)
        if found:
            fields = dict(re.findall(r"(\w+) = (?:\( \"\w*\" : container = )?(\w+)", found[4]))
            yield int(found[3]), f"{found[1]}:{found[2]}", {k: int(v, 0) for k, v in fields.items()
                                                         if re.fullmatch(r"-?(0x)?[0-9A-Fa-f]+", v)}


def in_callbacks(trace):
    """Each callback's runs, with what was called in them."""
    runs, now = collections.defaultdict(list), {}
    for thread, name, fields in events(trace):
        if name == "ros2:callback_start":
            now[thread] = collections.Counter()
            runs[(fields["callback"] - 0x5000) // 0x40 + 1].append(now[thread])
        elif name == "ros2:callback_end":
            del now[thread]
        elif thread in now:
            now[thread][name] += 1
    assert set(runs) == set(CALLBACKS), runs.keys()
    for number, all_of_it in runs.items():
        assert len(all_of_it) == ROUNDS
        for run in all_of_it:
            libc = {n.partition(":")[2]: c for n, c in run.items() if n.startswith("lttng_ust_libc")}
            assert libc == CALLBACKS[number] or (number == 2 and libc == {**CALLBACKS[2], "free": 6}), (number, libc)
            locks = {n: c for n, c in run.items() if n.startswith("lttng_ust_pthread")}
            assert locks == ({"lttng_ust_pthread:pthread_mutex_lock_req": 1, "lttng_ust_pthread:pthread_mutex_lock_acq": 1}
                             if number == 5 else {}), (number, locks)


def adds_up(trace, directory):
    """As tracetools_analysis' handler: a size by pointer, the difference by thread."""
    sizes, now, most = {}, collections.Counter(), collections.Counter()

    def change(thread, size):
        now[thread] += size
        most[thread] = max(most[thread], now[thread])

    for thread, name, f in events(trace):
        name = name.partition(":")[2]
        if name in ("free", "realloc"):
            change(thread, -sizes.pop(f.get("in_ptr", f.get("ptr")), 0))
        if name in ("malloc", "memalign", "realloc", "calloc", "posix_memalign"):
            sizes[f.get("out_ptr", f.get("ptr"))] = size = f["size"] * f.get("nmemb", 1)
            change(thread, size)
    told = {r["tid"]: r for r in json.loads(kymo("report", trace, "--section", "memory", "--format", "json"))["memory"]
            if r["what"] == "thread"}
    assert told and set(told) <= set(now) and not any(n for t, n in most.items() if t not in told), (told, now)
    for thread, row in told.items():
        assert (row["now_bytes"], row["most_bytes"]) == (now[thread], most[thread]), (row, now, most)
    return now


def leaks(trace):
    """What nobody freed, and who allocated it: the callback of 3 s in each run (333 bytes), and that of 2 s nothing."""
    kept = {}
    for _, name, f in events(trace):
        name = name.partition(":")[2]
        if name in ("free", "realloc"):
            kept.pop(f.get("in_ptr", f.get("ptr")), None)
        if name in ("malloc", "memalign", "realloc", "calloc", "posix_memalign"):
            kept[f.get("out_ptr", f.get("ptr"))] = f["size"] * f.get("nmemb", 1)
    rows = query(trace, "SELECT l.*, i.start_ns AS run_ns, i.end_ns AS run_end_ns FROM leaks l "
                        "LEFT JOIN callback_instances i ON i.id = l.callback_instance_id")
    assert {int(row["address"], 0) if isinstance(row["address"], str) else row["address"]: row["bytes"] for row in rows} == kept
    mine = [row for row in rows if row["callback"]]
    assert len(mine) == ROUNDS and {(row["callback"], row["bytes"], row["symbol"]) for row in mine} == {
        ("/costly timer 3 s", 333, "costly")}, mine
    head = kymo("report", trace, "--section", "leaks").partition("leaks\n")[2].splitlines()[0].split()
    assert head == ["node", "callback", "symbol", "host", "pid", "tid", "start_ns", "bytes"], head
    assert all(row["run_ns"] <= row["start_ns"] <= row["run_end_ns"] for row in mine) and len(rows) > len(mine)
    middle = mine[ROUNDS // 2]["start_ns"]
    at = f"{middle // 10**9}.{middle % 10**9:09}"
    for window, count in (("--begin", ROUNDS - ROUNDS // 2), ("--end", ROUNDS // 2 + 1)):
        told = answer("report", trace, "--section", "leaks", window, at)["leaks"]
        assert sum(row["callback"] is not None for row in told) == count, (window, told)


def sums(trace, directory):
    """--malloc=sums: the same allocations and frees of each callback and of the process, in fewer events."""
    few = os.path.join(directory, "sums")
    record(few, "--malloc=sums", "--", COSTS, str(ROUNDS), input="go\n")
    names = collections.Counter(name for _, name, _ in events(few))
    assert names["kymo_libc:sum"] > ROUNDS and not any(name.startswith("lttng_ust_libc") for name in names), names
    each, summed = ({row["callback"]: row for row in query(path, (
        "SELECT callback, count(*) AS runs, sum(allocations) AS allocations, sum(allocated_bytes) AS bytes, sum(lock_waits) AS locks, "
        "max(allocations) AS most FROM callback_costs GROUP BY 1"))} for path in (trace, few))
    assert set(each) == set(summed), (each, summed)
    for callback, row in each.items():
        ours = summed[callback]
        assert all(ours[key] == row[key] for key in ("runs", "allocations", "most", "locks")), (row, ours)
        assert row["bytes"] <= ours["bytes"] <= 1.2 * row["bytes"] + 64 * row["allocations"], (row, ours)
    # A thread without callbacks, at its end; and one of 10000 calls.
    plain = os.path.join(directory, "threads")
    record(plain, "--malloc=sums", "--", compiled(directory, THREADS, "-O0"))
    counted = collections.Counter()
    for thread, name, fields in events(plain):
        if name == "kymo_libc:sum":
            counted[thread] += fields["allocations"]
    assert sorted(counted.values())[-2:] != [] and {5, 10000} <= set(counted.values()), counted


THREADS = """#include <pthread.h>
#include <stdlib.h>
static void *few(void *unused) { for (int i = 0; i < 5; i++) free(malloc(10)); return unused; }
static void *many(void *unused) { for (int i = 0; i < 10000; i++) free(malloc(10)); return unused; }
int main(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, few, NULL) || pthread_join(thread, NULL) || pthread_create(&thread, NULL, many, NULL) ||
	       pthread_join(thread, NULL);
}
"""


def main(directory):
    if not os.path.exists(LIBRARY):
        skip("not built with a sanitizer")
    trace = os.path.join(directory, "trace")
    record(trace, "--malloc", "--", COSTS, str(ROUNDS), input="go\n")
    in_callbacks(trace)
    leaks(trace)
    sums(trace, directory)
    print("bytes at the end, by thread:", dict(adds_up(trace, directory)))
    plain = os.path.join(directory, "plain")
    record(plain, "--", COSTS, "3", input="go\n")
    assert not any(name.startswith("lttng_ust") for _, name, _ in events(plain))
    few = os.path.join(directory, "few")
    record(few, "--malloc", "--event", "!lttng_ust_libc:*", "--", COSTS, "3", input="go\n")
    assert {n for _, n, _ in events(few) if n.startswith("lttng_ust")} == {
        "lttng_ust_pthread:pthread_mutex_lock_req", "lttng_ust_pthread:pthread_mutex_lock_acq"}
    # A program with events of its own, and without ROS 2.
    own = os.path.join(directory, "own")
    record(own, "--malloc", "--", os.path.join(BUILD, "tests", "user_events"))
    names = {n.partition(":")[0] for n in re.findall(r"(\w+:\w+): \{ cpu_id", babeltrace(own))}
    assert {"lttng_ust_libc", "test"} <= names, names
    for number, command in enumerate(OTHERS):
        want = run(*command).stdout
        done = record(os.path.join(directory, f"other{number}"), "--malloc", "--", *command)
        assert done.stdout == want, (command, done)
    assert "kymo run --malloc" in run(KYMO, "record", "--malloc", status=2).stderr


in_directory(main)
