#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""10 000 short-lived threads, 1000 at once, 100 libraries loaded and unloaded: nothing leaks, in the
program and in the recorder, and produced = recorded + dropped, exactly, for kymo.json and for
babeltrace2."""
import json
import os
import shutil
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_bt2
from lib_perfetto import with_checks
from lib_test import KYMO, SOURCE, TESTS, sanitized

import bt2

SCALE = os.path.join(TESTS, "scale")
MIB = 1 << 20
RING_BYTES = (32 + 4) << 10     # of all but a process's first two, with its page
LIBRARIES, ROUNDS = 100, 5
# A sanitizer keeps freed memory for a while; how much is its affair. The recorder notes each thread.
SLACK_KIB, SLACK_MAPS = (64 * 1024, 950) if sanitized() else (1024, 48)

PLUGIN = r"""
#include <kymo/kymo.%s>

EXTERN unsigned say(void);
unsigned say(void)
{
	KYMO_SPAN("plugin", "NUMBER work", ("n", 1));
	for (int i = 0; i < 3; i++)
		KYMO_INSTANT("plugin", "NUMBER step", ("i", i));
	KYMO_COUNTER("plugin", "NUMBER level", 0.5);
	return 6;
}
"""


def count_events(path):
    """(events, discarded) of a trace as babeltrace2 reads it, and events by their number in its name."""
    events, discarded, names = 0, 0, {}
    for message in lib_bt2.read(path):
        if isinstance(message, lib_bt2.Event):
            events += 1
            names[message.name] = names.get(message.name, 0) + 1
        elif isinstance(message, bt2._DiscardedEventsMessageConst):
            discarded += message.count or 0
    return events, discarded, names


class Run:
    """One program under `kymo record`; what it said, the recorder's accounts and the trace."""

    def __init__(self, scratch, *command, **environment):
        trace = os.path.join(scratch, "trace")
        env = dict(os.environ, KYMO_DIR=os.path.join(scratch, "run"), **environment)
        done = subprocess.run([KYMO, "record", "-q", "-o", trace, "--", SCALE, *command], env=env,
                              capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"scale {command[:3]}: {done.returncode}: {done.stderr}")
        said = [json.loads(line) for line in done.stdout.splitlines()]
        self.stage = {row["stage"]: row for row in said}
        self.produced = said[-1]["produced"]
        with open(os.path.join(trace, "kymo.json")) as file:
            accounts = json.load(file)
        (self.process,) = [p for p in accounts["processes"] if p["pid"] == said[-1]["pid"]]
        self.events, self.discarded, self.names = count_events(trace)
        self.left = os.listdir(env["KYMO_DIR"])
        shutil.rmtree(trace)


def accounts_fit(check, what, run, lossless):
    own = run.process
    check.equal(f"{what}: produced = recorded + dropped", own["recorded"] + own["dropped"] + own["unwritten"],
                run.produced)
    check.equal(f"{what}: babeltrace2 reads what is recorded", run.events, own["recorded"])
    check.equal(f"{what}: babeltrace2 is told what is not", run.discarded, own["dropped"] + own["unwritten"])
    check.equal(f"{what}: {'nothing' if lossless else 'something'} was lost",
                own["dropped"] + own["unwritten"] > 0, not lossless)
    check.equal(f"{what}: threads add up to the process",
                sum(t["recorded"] + t["dropped"] for t in own["threads"]) + own["dropped_no_ring"],
                run.produced - own["unwritten"])
    check.equal(f"{what}: no region is left", [name for name in run.left if name.endswith(".region")], [])


def nothing_leaks(check, what, run, rings):
    """@rings: so many may have been made, each a mapping of its own."""
    early, end = run.stage["early"], run.stage["end"]
    more = {key: end[key] - early[key] for key in end if isinstance(end[key], int)}
    check.ok(f"{what}: rings are used again", end["rings"] <= rings, end)
    check.ok(f"{what}: nothing but rings in the region", more["region"] == more["rings"] * RING_BYTES, more)
    check.equal(f"{what}: neither files nor declarations", [more["fds"], more["log"]], [0, 0])
    # A stack that the C library keeps is merged with its neighbour, or not.
    check.ok(f"{what}: no mappings", more["maps"] - more["rings"] <= SLACK_MAPS, more)
    check.ok(f"{what}: memory", more["rss_kib"] - more["region"] / 1024 <= SLACK_KIB, more)
    # The recorder's grows with the part of the region that it has read.
    check.ok(f"{what}: the recorder's memory",
             more["recorder_rss_kib"] - end["region"] / 1024 <= 4 * SLACK_KIB, more)
    check.ok(f"{what}: the recorder has few files open", end["recorder_fds"] < 400, end["recorder_fds"])


def threads(check, scratch):
    run = Run(scratch, "threads", "10000", "1")
    accounts_fit(check, "10 000 threads", run, lossless=True)
    # Linux may give the number of a thread that ended to a new one.
    check.ok("10 000 threads: all are known", 9900 <= len(run.process["threads"]) <= 10001)
    nothing_leaks(check, "10 000 threads", run, rings=600)
    # Each fills its ring several times over: drops, and as many as there are.
    run = Run(scratch, "threads", "128", "1200", KYMO_RING_SIZE="16K", KYMO_RING_MEMORY="2M")
    accounts_fit(check, "threads that overflow", run, lossless=False)


def live(check, scratch):
    run = Run(scratch, "live", "1000", "10")
    accounts_fit(check, "1000 live threads", run, lossless=True)
    check.ok("1000 live threads: a ring each", run.stage["live"]["rings"] >= 1001, run.stage["live"])
    nothing_leaks(check, "1000 live threads", run, rings=1050)
    run = Run(scratch, "live", "1000", "10", KYMO_RING_MEMORY="4M")
    accounts_fit(check, "rings for some of 1000", run, lossless=False)
    check.ok("rings for some of 1000: the limit holds", run.stage["end"]["region"] < 5 * MIB, run.stage["end"])
    check.ok("rings for some of 1000: threads without are counted", run.process["dropped_no_ring"] > 0)


def build_plugin(scratch, language):
    compiler = os.environ.get("CC", "cc") if language == "c" else os.environ.get("CXX", "c++")
    source, library = os.path.join(scratch, "plugin." + language), os.path.join(scratch, "plugin.so")
    text = PLUGIN % ("h" if language == "c" else "hpp")
    text = text.replace("EXTERN ", "" if language == "c" else 'extern "C" ')
    with open(source, "w") as file:
        file.write(text)
    subprocess.run([compiler, "-std=" + ("gnu11" if language == "c" else "c++17"), "-O2", "-Wall", "-Werror",
                    "-I" + os.path.join(SOURCE, "include"), "-shared", "-fPIC", "-o", library, source], check=True)
    with open(library, "rb") as file:
        return file.read()


def loaded_libraries(check, scratch):
    languages = ["c"] + (["cpp"] if shutil.which(os.environ.get("CXX", "c++")) else [])
    images = [build_plugin(scratch, language) for language in languages]
    paths = []
    for i in range(LIBRARIES):      # copies, with events of their own: the names differ
        paths.append(os.path.join(scratch, f"plugin-{i}.so"))
        with open(paths[-1], "wb") as file:
            file.write(images[i % len(images)].replace(b"NUMBER", b"%06d" % i))
    run = Run(scratch, "libraries", str(ROUNDS), *paths)
    accounts_fit(check, "100 libraries", run, lossless=True)
    nothing_leaks(check, "100 libraries", run, rings=2)
    bad = {f"plugin:{i:06d} {name}": run.names.get(f"plugin:{i:06d} {name}")
           for i in range(LIBRARIES) for name, times in
           (("work_begin", 1), ("work_end", 1), ("step", 3), ("level", 1))
           if run.names.get(f"plugin:{i:06d} {name}") != times * ROUNDS}
    check.equal("100 libraries: every event of each is there", bad, {})


with_checks(threads, live, loaded_libraries)
