#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, kernel
"""`kymo why` with the kernel's events: a program of real-time priority that takes the robot's CPU for 150 ms now and then is what it
names, and the parts still add up."""
import os
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_events import traced, unless_hidden
from lib_held import Witness, judged
from lib_kernel import lossless_tasks, skip_without, with_tracefs
from lib_test import KYMO, answer, private, robot, run, running, skip, until_lossless

from why import adds_up, kymo

BURST_S = 0.15
HOG = """import ctypes, os, time
ctypes.CDLL(None).prctl(15, b"hog")
os.sched_setaffinity(0, [{cpu}])
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
print("ready", flush=True)
due = time.monotonic_ns()
while True:
    begin = last = time.monotonic_ns()
    held = begin - due
    while last < begin + {burst} * 1e9:
        now = time.monotonic_ns()
        held, last = max(held, now - last), now
    print(begin, last, held, flush=True)
    due = time.monotonic_ns() + 700000000
    time.sleep(0.7)"""


def main(directory):
    """On a machine that is held up itself, or loses events, a burst may not be seen as long as it was: then there is another run."""
    trace = os.path.join(directory, "trace")
    hog, said, bursts, witness = record(directory, trace)
    lossless_tasks("of the kernel's events were lost" in said, said)
    # Nobody may hold up the hog itself; and besides the hog nobody else's program.
    waited = max([witness.longest([(begin, end) for begin, end, _ in bursts]), *(held for _, _, held in bursts)])

    def verdict():
        names_hog(trace, hog)
        shutil.copytree(trace, trace + "-lttng")
        as_lttng(trace + "-lttng")
        names_hog(trace + "-lttng", hog)

    with unless_hidden(trace, traced(trace)):
        judged(verdict, waited)


def record(directory, trace):
    """Return: who had the robot's CPU; what was said; (begin, end, how long it was held up itself) of each burst; who watched the CPU."""
    cpu = min(os.sched_getaffinity(0))
    with running(sys.executable, "-c", HOG.format(cpu=cpu, burst=BURST_S), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 text=True) as hog:
        if hog.stdout.readline() != "ready\n":
            skip("no real-time priority here: " + hog.stderr.read().splitlines()[-1])
        with Witness([cpu]) as witness:
            said = run("taskset", "-c", str(cpu), KYMO, "record", "--kernel=if-possible", "-o", trace, "--", *robot(2.5),
                       env=private(directory)).stderr
        hog.kill()
        bursts = [tuple(map(int, line.split())) for line in hog.stdout if line.endswith("\n")]
    skip_without(said)
    return f"hog ({hog.pid})", said, bursts, witness


def as_lttng(trace):
    """What LTTng's kernel tracer would have made: its name and versions in the environment, statedump, no word of kymo."""
    path = os.path.join(trace, "kernel", "metadata")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    changed = re.sub(r'tracer_name = "kymo";\s*tracer_major = \d+;\s*tracer_minor = \d+;',
                     'tracer_name = "lttng-modules"; tracer_major = 2; tracer_minor = 13; tracer_patchlevel = 9;', text)
    assert changed != text, text
    changed += "\nevent {\n\tname = \"lttng_statedump_start\";\n\tid = 4711;\n\tstream_id = 0;\n\tfields := struct { };\n};\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(changed)
    os.rename(os.path.join(trace, "kernel"), os.path.join(trace, "lttng-kernel"))
    os.rename(os.path.join(trace, "kymo.json"), os.path.join(trace, "kymo.json.away"))


def names_hog(trace, hog):
    """The burst is the largest part of what was late at its begin, and no part of what is usual."""
    why = answer("why", trace, "/imu_driver timer 5 ms", "--worst", "100")
    parts = adds_up(why)
    held = [i for i in why["instances"] if i["cause_who"] == hog and i["cause"] == "preempted"]
    assert held, [i["sentence"] for i in why["instances"]][:10]
    longest = max(held, key=lambda i: i["cause_ns"])
    assert BURST_S / 2 < longest["cause_ns"] / 1e9 <= BURST_S * 3, longest
    assert longest["cause_ns"] > 10 * longest["cause_usual_ns"], longest
    assert f"for a CPU, which {hog} had" in longest["sentence"], longest
    assert all(p["kind"] != "late" or p["ns"] < longest["latency_ns"] / 2 for p in parts[longest["rank"]]), parts[longest["rank"]]
    for chain in "/scan -> /cmd_vel", "/imu -> /control/planner":
        adds_up(answer("why", trace, chain, "--worst", "100"))
    assert "no events of the kernel" not in kymo("why", trace)
    print(longest["sentence"])


if __name__ == "__main__":
    with_tracefs(__file__)
    until_lossless(main)
