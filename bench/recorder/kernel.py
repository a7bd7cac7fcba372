#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What recording the kernel's events costs: kymo record --kernel-all beside perf record and trace-cmd, of the same
tracepoints, while two processes wake each other (perf bench sched pipe) as fast as they can. Each recorder has its turn,
ROUNDS times over. For each: how much longer the load took than without a recorder, the CPU time of the recorder alone for an
event that it wrote, and what it lost by its own count.

usage: kernel.py [ROUNDS [LOOPS]]      with KYMO_BUILD; as root; needs perf, trace-cmd if it can be had"""
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KYMO = os.path.join(os.environ.get("KYMO_BUILD", os.path.join(BENCH, "..", "build")), "bin", "kymo")
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
LOOPS = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
EVENTS = ["sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup_new", "sched:sched_migrate_task", "sched:sched_process_fork",
          "sched:sched_process_exit", "irq:irq_handler_entry", "irq:irq_handler_exit", "irq:softirq_entry", "irq:softirq_exit"]


def load():
    """Seconds that the load took by its own clock."""
    out = subprocess.run(["perf", "bench", "sched", "pipe", "-l", str(LOOPS)], capture_output=True, text=True, check=True).stdout
    return float(re.search(r"Total time: ([\d.]+)", out)[1])


def kymo(work):
    command = [KYMO, "record", "--kernel-all", "--format", "json", "-o", f"{work}/kymo"]

    def count(out):
        told = json.loads(out)
        return told["kernel_events"], told["kernel_lost"]
    return command, count


def perf(work):
    path = f"{work}/perf.data"

    def count(_):
        # Of the file's own count, not of what is printed: --stats reads each record once.
        out = subprocess.run(["perf", "report", "--stats", "-i", path], capture_output=True, text=True).stdout
        lost = re.search(r"LOST_SAMPLES events:\s*(\d+)", out)
        return int(re.search(r"SAMPLE events:\s*(\d+)", out)[1]), int(lost[1]) if lost else 0
    return ["perf", "record", "-B", "-N", "-a", "-k", "CLOCK_MONOTONIC", "-o", path, *(word for e in EVENTS for word in ("-e", e))], count


def trace_cmd(work):
    path = f"{work}/trace.dat"

    def count(_):
        out = subprocess.run(["trace-cmd", "report", "--stat", "-i", path], capture_output=True, text=True).stdout
        lines = subprocess.run(["trace-cmd", "report", "-i", path], capture_output=True, text=True).stdout.count("\n")
        return lines, sum(map(int, re.findall(r"overrun: (\d+)", out)))
    return ["trace-cmd", "record", "-C", "mono", "-o", path, *(word for e in EVENTS for word in ("-e", e))], count


def turn(recorder):
    """(seconds of the load, CPU seconds of the recorder, events, lost)"""
    with tempfile.TemporaryDirectory(prefix="kymo-bench-kernel-", dir="/dev/shm") as work:
        command, count = recorder(work)
        environment = dict(os.environ, KYMO_DIR=f"{work}/run")
        program = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)				# all of them have begun by then
        if program.poll() is not None:
            return (program.stderr.read().strip().splitlines() or ["no word"])[-1]
        took = load()
        program.send_signal(signal.SIGINT)
        out = program.stdout.read()
        _, _, usage = os.wait4(program.pid, 0)
        program.returncode = 0
        events, lost = count(out)
        return took, usage.ru_utime + usage.ru_stime, events, lost


def main():
    recorders = {"kymo record --kernel-all": kymo, "perf record": perf, "trace-cmd record": trace_cmd}
    plain, taken = [], {name: [] for name in recorders}
    for _ in range(ROUNDS):
        plain.append(load())
        for name, recorder in recorders.items():
            if isinstance(taken[name], str):
                continue
            try:
                got = turn(recorder)
            except FileNotFoundError:
                got = "not installed"
            if isinstance(got, str):
                taken[name] = got
            else:
                taken[name].append(got)
    without = statistics.median(plain)
    print(f"{ROUNDS} turns each of {LOOPS} round trips; without a recorder {without:.2f} s ({min(plain):.2f}-{max(plain):.2f})")
    for name, turns in taken.items():
        if isinstance(turns, str):
            print(f"{name:26} does not run here: {turns}")
            continue
        longer = [took / without for took, _, _, _ in turns]
        each = [1e9 * cpu / max(events, 1) for _, cpu, events, _ in turns]
        busy = [cpu / took for took, cpu, _, _ in turns]
        print(f"{name:26} load {statistics.median(longer):.2f} x ({min(longer):.2f}-{max(longer):.2f})   "
              f"recorder {statistics.median(each):5.0f} ns an event ({min(each):.0f}-{max(each):.0f}), "
              f"{100 * statistics.median(busy):.1f} % of a core   "
              f"{statistics.median(t[2] for t in turns):.0f} events, lost {max(t[3] for t in turns)} at most")


main()
