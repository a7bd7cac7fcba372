#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What `kymo serve` costs: CPU time and largest memory of its process and of the process that takes the events, while programs
run at a rate. Each command has its turn beside the same programs.
usage: serve.py [WORDS...]: options of kymo serve, one turn each, such as "" "--count"; with KYMO_BUILD, BENCH_PROCESSES,
BENCH_RATE (events/s of all together), BENCH_SECONDS (how long each is watched), BENCH_WINDOW"""
import os
import signal
import subprocess
import sys
import tempfile
import time

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.realpath(os.environ.get("KYMO_BUILD", os.path.join(BENCH, "..", "build")))
PROCESSES, RATE, SECONDS = (int(os.environ.get("BENCH_" + name, usual)) for name, usual in (
    ("PROCESSES", 10), ("RATE", 100000), ("SECONDS", 30)))
WINDOW = os.environ.get("BENCH_WINDOW", "10s")
WARM = 12


def field(pid, name):
    """Return: KiB of the line @name in /proc/PID/status."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))


def cpu(pid):
    """Return: seconds of CPU of a process."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return int(file.read().split()[0])


def watch(words, env):
    """Return: for kymo serve and its child: share of a core, MB at most."""
    serve = subprocess.Popen([os.path.join(BUILD, "bin", "kymo"), "serve", "-q", "--listen", "127.0.0.1:0", "--window", WINDOW,
                              *words.split()], env=env)
    time.sleep(WARM)
    both = serve.pid, child_of(serve.pid)
    before, begin = [cpu(pid) for pid in both], time.monotonic()
    time.sleep(SECONDS)
    took = time.monotonic() - begin
    found = [((cpu(pid) - was) / took, field(pid, "VmHWM") * 1024 / 1e6) for pid, was in zip(both, before)]
    serve.send_signal(signal.SIGTERM)
    serve.wait()
    return found


def main():
    turns = sys.argv[1:] or [""]
    with tempfile.TemporaryDirectory(prefix="kymo-bench-", dir="/dev/shm") as scratch:
        env = dict(os.environ, KYMO_DIR=os.path.join(scratch, "run"), HOME=scratch)
        os.mkdir(env["KYMO_DIR"], 0o700)
        fleet = subprocess.Popen([os.path.join(BUILD, "bench", "bench_vehicle"), str(PROCESSES), str(RATE),
                                  str(len(turns) * (WARM + SECONDS + 4))],
                                 env=dict(env, LD_PRELOAD=os.path.join(BUILD, "lib", "libkymo-ros2.so")))
        time.sleep(1)
        for words in turns:
            (serve, big), (takes, small) = watch(words, env)
            print(f"{RATE} events/s, {PROCESSES} programs, kymo serve {words or '(recording)':12} {100 * (serve + takes):5.1f} % of a core "
                  f"({100 * serve:.1f} + {100 * takes:.1f} takes), {big:.1f} + {small:.1f} MB", flush=True)
        fleet.terminate()
        fleet.wait()


main()
