#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How long kymo attach and detach stop a thread of a program, and how late a loop of 1 kHz in the program wakes up meanwhile.

The loop is also measured without kymo, for as long. With one thread, the loop's own thread is borrowed; with 30, another one.

usage: attach.py [ROUNDS]      in the source directory; BUILD=build"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("BUILD", "build")
KYMO = os.path.join(BUILD, "bin/kymo")
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
UNIT = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}


def spread(values):
    values = sorted(values)
    return f"median {values[len(values) // 2]:.0f}, p99 {values[len(values) * 99 // 100]:.0f}, max {values[-1]:.0f} us"


def pause(verb, pid, environment):
    said = subprocess.run([KYMO, verb, "-p", str(pid)], stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout
    number, unit = re.search(r"stopped for ([\d.]+) (\w+)", said).groups()
    return float(number) * UNIT[unit]


def measure(threads, attach, seconds, environment):
    """Return: the pauses in us, what the loop printed, and how long it lasted."""
    with subprocess.Popen([os.path.join(BUILD, "bench/bench_attach"), str(threads)], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        begin, pauses = time.monotonic(), []
        for _ in range(ROUNDS if attach else 0):
            for verb in "attach", "detach":
                pauses.append(pause(verb, process.pid, environment))
                time.sleep(0.01)
        time.sleep(seconds)
        seconds = time.monotonic() - begin
        process.send_signal(signal.SIGTERM)
        told = [int(word) for word in process.stdout.read().split()]
    return pauses, told, seconds


def main():
    with tempfile.TemporaryDirectory() as directory:
        environment = dict(os.environ, KYMO_DIR=os.path.join(directory, "run"))
        for threads in 1, 30:
            pauses, loop, seconds = measure(threads, True, 0, environment)
            _, plain, _ = measure(threads, False, seconds, environment)
            print(f"{threads} threads: {len(pauses)} pauses: {spread(pauses)}")
            for name, (count, *late) in (("with kymo attach", loop), ("without", plain)):
                print("   loop {}: {} wake-ups, late by median {:.0f}, p99 {:.0f}, max {:.0f} us"
                      .format(name, count, *(value / 1e3 for value in late)))


main()
