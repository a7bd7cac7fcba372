#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""More processes than the recorder keeps the accounts of: those that ended first are sums in kymo.json
and lines in a list beside it, and every total is what it would be otherwise."""
import json
import os
import shutil
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_checks
from lib_test import KYMO, TESTS, answer, run

FLEET = os.path.join(TESTS, "fleet")
KEPT = 256      # session_ended.c
PROCESSES, WAVES, EVENTS = 75, 4, 10


def record(scratch, name, *options):
    """(trace, its kymo.json, events that were produced by pid)"""
    trace = os.path.join(scratch, name)
    waves = " && ".join([f"{FLEET} {PROCESSES} 1 0 0 {EVENTS}"] * WAVES)
    done = run(KYMO, "record", "-q", "-o", trace, *options, "--", "sh", "-c", waves,
               env=dict(os.environ, KYMO_DIR=os.path.join(scratch, name + ".run")))
    said = [json.loads(line) for line in done.stdout.splitlines()]
    with open(os.path.join(trace, "kymo.json")) as file:
        return trace, json.load(file), {p["pid"]: sum(n for _, n in p["threads"].values()) for p in said}


def info(trace):
    return answer("info", trace)


def sums(processes):
    keys = ("recorded", "dropped", "unwritten", "filtered", "init_events", "bytes")
    return {key: sum(p[key] for p in processes) for key in keys}


def listed(check, scratch):
    trace, accounts, produced = record(scratch, "listed")
    total, earlier, kept = accounts["totals"], accounts["earlier"], accounts["processes"]
    path = os.path.join(trace, earlier["file"])
    with open(path) as file:
        lines = [json.loads(line) for line in file]
    # The driving shell is none; the parent of each wave emits nothing.
    check.ok("there are more than are kept", len(produced) > KEPT, len(produced))
    check.ok("kymo.json holds a bounded number", len(kept) <= KEPT, len(kept))
    check.equal("every process is in one of both", sorted(p["pid"] for p in lines + kept if p["pid"] in produced),
                sorted(produced))
    check.equal("the list is as long as kymo.json says", os.path.getsize(path), earlier["file_bytes"])
    check.equal("the sums are those of the list", {k: earlier[k] for k in sums([])} | {"n": earlier["processes"]},
                sums(lines) | {"n": len(lines)})
    check.equal("each process's events", {p["pid"]: p["recorded"] + p["dropped"] for p in lines + kept
                                          if p["pid"] in produced}, produced)
    check.equal("each entry's threads add up", [p["pid"] for p in lines + kept if p["recorded"] !=
                                                sum(t["recorded"] for t in p["threads"])], [])
    check.equal("the totals are exact", (total["recorded"] + total["dropped"], total["processes"]),
                (sum(produced.values()), len(lines + kept)))
    shown = info(trace)
    check.equal("kymo info: the totals", (shown["recorded"] + shown["dropped"], shown["events"] - total["init_events"]),
                (sum(produced.values()), total["recorded"]))
    check.equal("kymo info: how each process ended", {p["state"] for p in shown["processes"] if p["pid"] in produced},
                {"exited"})
    # What a recorder had listed before it was killed, and not said in kymo.json: it is still in both.
    with open(path, "a") as file:
        file.write('{"pid": 1, "state": "a second time"}\n{"pid": 2')
    check.equal("kymo info: what the list has beyond that does not count", info(trace)["processes"], shown["processes"])
    os.remove(path)
    check.equal("kymo info: the totals without the list", info(trace)["recorded"], shown["recorded"])


def bounded(check, scratch):
    trace, accounts, produced = record(scratch, "bounded", "--max-size", "64M")
    check.ok("a limit on the whole: no list", not any(name.endswith(".jsonl") for name in os.listdir(trace)))
    check.ok("a limit on the whole: sums", accounts["earlier"]["processes"] > 0, accounts["earlier"])
    check.equal("a limit on the whole: the totals", accounts["totals"]["recorded"] + accounts["totals"]["dropped"],
                sum(produced.values()))
    shutil.rmtree(trace)


with_checks(listed, bounded)
