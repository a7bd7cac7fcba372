#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`kymo record --kernel`: the kernel's events are all there, by the kernel's own count of each thread's switches; others read
them; without permission it says what is missing, and recording goes on."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "bin", "kymo")
ROBOT = os.path.join(BUILD, "robot/robot")
SLEEPS = 300
NAPS = f"import time\nfor i in range({SLEEPS}): time.sleep(0.001)"
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def record(directory, *before, wait=lambda: None):
    """Return: path of the trace, and what was said."""
    trace = os.path.join(directory, "trace")
    env = dict(os.environ, KYMO_DIR=os.path.join(directory, "run"))
    with subprocess.Popen([*before, KYMO, "record", "--kernel", "-o", trace, "--", ROBOT, "--seconds", "2", "--domain",
                           str(100 + os.getpid() % 100)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env) as recorder:
        seen = wait()
        said = recorder.stderr.read()
    assert recorder.returncode == 0, said
    return trace, said, seen


def naps(trace):
    """A program that sleeps; who it is, and how often it was switched off, by the kernel. None: it began or ended outside."""
    kernel = os.path.join(trace, "kernel", "metadata")
    deadline = time.monotonic() + 60
    while not os.path.exists(kernel) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)     # the rings run as soon as the metadata are there; nothing waits for it
    with subprocess.Popen([sys.executable, "-c", NAPS]) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
    return child.pid, usage.ru_nvcsw + usage.ru_nivcsw


def events(trace):
    """Return: the lines, and how many babeltrace2 says were discarded."""
    text = subprocess.run(["babeltrace2", os.path.join(trace, "kernel")], capture_output=True, text=True, check=True)
    return text.stdout.splitlines(), sum(int(n) for n in re.findall(r"Tracer discarded (\d+) event", text.stderr))


def all_there(directory):
    trace, said, (pid, switches) = record(directory, wait=lambda: naps(os.path.join(directory, "trace")))
    told = re.search(r"kernel: (\d+) events of (\d+) CPUs", said)
    lines, discarded = events(trace)
    lost = re.search(r"(\d+) of the kernel's events were lost", said)
    assert discarded == int(lost[1] if lost else 0), (discarded, said)
    assert told and int(told[1]) == len(lines), (said, len(lines))
    listed = json.loads(subprocess.run([KYMO, "list", os.path.join(trace, "kernel"), "--format", "json"], capture_output=True,
                                       check=True).stdout)
    assert listed, listed
    names = collections.Counter(re.search(r"\) \S+ (\w+): ", line)[1] for line in lines)
    assert names["sched_switch"] and names["sched_waking"] and names["irq_softirq_entry"], names
    off = sum(f"prev_tid = {pid}," in line for line in lines)
    # The switch at its very end is one that nobody can count any more.
    full = "no room" in said
    assert full or switches <= off <= switches + 1, (off, switches)
    assert full or off > SLEEPS, off
    woken = sum(f" tid = {pid}," in line and "sched_waking" in line for line in lines)
    assert lost or woken >= SLEEPS, woken      # on an idle CPU they are not all delivered
    times = [line.split("]")[0] for line in lines]
    assert times == sorted(times)
    print(f"{len(lines)} events, {off} switches of a thread with {switches} by its own count, lost: {discarded}")


def not_allowed(directory):
    os.chmod(directory, 0o777)
    trace, said, _ = record(directory, *NOBODY)
    assert "kernel events need" in said and "recording without them" in said, said
    assert os.path.isdir(os.path.join(trace, "ust")) and not os.path.exists(os.path.join(trace, "kernel")), os.listdir(trace)


def refused(directory):
    for more in ["--flight", "1s"], ["--rotate-size", "1M"], ["--relay", "net://127.0.0.1:1"]:
        done = subprocess.run([KYMO, "record", "--kernel", *more], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "--kernel writes into a trace directory" in done.stderr, done
    assert not os.listdir(directory)


if __name__ == "__main__":
    for test in refused, all_there, not_allowed:
        with tempfile.TemporaryDirectory() as private:
            if test is all_there:
                probe, heard, _ = record(os.path.join(private, ""))
                if "recording without them" in heard:
                    print("skipped:", heard)
                    sys.exit(77)
                subprocess.run(["rm", "-rf", probe], check=True)
            if test is not_allowed and os.geteuid() != 0:
                continue
            test(private)
