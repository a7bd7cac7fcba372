#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How late a loop of 1 kHz in a program wakes up while kymo attach, gdb or strace attaches and detaches, and how long kymo attach and
detach stop a thread.

Each round measures the loop for as long as one attach and detach of each takes, one after the other in changing order: nothing, kymo,
gdb (attach, detach), strace (attach to all threads, detach). kymo also loads a library into the
program; gdb and strace do not.
A loop's round is its latest wake-up. Ratios are between rounds of the same number. With 1 thread the loop's own thread is borrowed,
with 30 another one.

usage: attach.py [ROUNDS]      in the source directory; BUILD=build"""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("BUILD", "build")
KYMO = os.path.join(BUILD, "bin/kymo")
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
UNIT = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}


def at(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def spread(values):
    return f"median {at(values, 0.5):.0f}, p99 {at(values, 0.99):.0f}, max {max(values):.0f} us"


def quiet(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True, check=True, **more)


class Program:
    """bench_attach, which prints how late its loop was since the last question."""

    def __init__(self, threads):
        self.process = subprocess.Popen([os.path.join(BUILD, "bench/bench_attach"), str(threads)], stdout=subprocess.PIPE, text=True)
        self.pid = str(self.process.pid)
        self.process.stdout.readline()

    def late(self):
        """Return: the latest wake-up since the last question, in us."""
        self.process.send_signal(signal.SIGUSR1)
        return int(self.process.stdout.readline()) / 1e3

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


class Kymo:
    name = "kymo"

    def __init__(self, environment):
        self.environment, self.pauses = environment, []

    def run(self, pid):
        for verb in "attach", "detach":
            said = quiet(KYMO, verb, "-p", pid, env=self.environment).stdout
            number, unit = re.search(r"stopped for ([\d.]+) (\w+)", said).groups()
            self.pauses.append(float(number) * UNIT[unit])


class Gdb:
    name = "gdb"

    def run(self, pid):
        quiet("gdb", "-nx", "-batch", "-p", pid)


class Strace:
    name = "strace"

    def run(self, pid):
        with subprocess.Popen(["strace", "-f", "-o", "/dev/null", "-p", pid], stderr=subprocess.PIPE, text=True) as process:
            process.stderr.readline()    # "Process ... attached"
            time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            process.stderr.read()


class Nothing:
    name = "nothing"

    def run(self, _pid):
        time.sleep(0.1)


def measure(threads, kinds):
    late = {kind.name: [] for kind in kinds}
    program = Program(threads)
    for _ in range(ROUNDS):
        for kind in random.sample(kinds, len(kinds)):
            time.sleep(0.02)
            program.late()
            kind.run(program.pid)
            time.sleep(0.005)
            late[kind.name].append(program.late())
    program.end()
    return late


def main():
    with tempfile.TemporaryDirectory() as directory:
        environment = dict(os.environ, KYMO_DIR=os.path.join(directory, "run"))
        print(f"load {os.getloadavg()[0]:.0f} at the beginning")
        for threads in 1, 30:
            kymo = Kymo(environment)
            kinds = [Nothing(), kymo] + [kind() for kind in (Gdb, Strace) if shutil.which(kind.name)]
            late = measure(threads, kinds)
            print(f"{threads} threads: {len(kymo.pauses)} pauses: {spread(kymo.pauses)}")
            for kind in kinds:
                its = late[kind.name]
                ratios = [a / b for a, b in zip(its, late["kymo"]) if b]
                print(f"   {kind.name:8} latest wake-up of {len(its)} rounds: {spread(its)}; relative to kymo: median "
                      f"{at(ratios, 0.5):.2f} (half of the rounds {at(ratios, 0.25):.2f} to {at(ratios, 0.75):.2f})")
        print(f"load {os.getloadavg()[0]:.0f} at the end")


main()
