#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What `kymo top` costs beside a whole vehicle: CPU time of its processes while the screen shows
300 programs, with durations and counting only.
usage: top.py [BUILD]; BENCH_PROCESSES, BENCH_RATE (events/s of all together),
BENCH_SECONDS: how long each is watched."""
import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("KYMO_BUILD", "build"))
PROCESSES, RATE, SECONDS = (int(os.environ.get("BENCH_" + name, usual)) for name, usual in (
    ("PROCESSES", 300), ("RATE", 50000), ("SECONDS", 15)))
WARM = 8


def cpu(pid):
    """Return: seconds of CPU of a process and of its children that run."""
    def of(one):
        with open(f"/proc/{one}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return of(pid) + sum(of(child) for child in file.read().split())


def sleep(seconds, fd):
    """Meanwhile the terminal is read."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([fd], [], [], left)[0]:
            os.read(fd, 65536)


def watch(how, env):
    pid, fd = pty.fork()
    if not pid:
        kymo = os.path.join(BUILD, "bin", "kymo")
        os.execve(kymo, [kymo, "top", "--count", how], dict(env, TERM="linux", LC_ALL="C.UTF-8"))
    sleep(WARM, fd)
    before, begin = cpu(pid), time.monotonic()
    sleep(SECONDS, fd)
    used = (cpu(pid) - before) / (time.monotonic() - begin)
    os.kill(pid, signal.SIGTERM)
    with contextlib.suppress(OSError):     # the terminal has no program any more
        sleep(60, fd)
    os.close(fd)
    os.waitpid(pid, 0)
    return used


with tempfile.TemporaryDirectory(prefix="kymo-bench-", dir="/dev/shm") as scratch:
    env = dict(os.environ, KYMO_DIR=os.path.join(scratch, "run"))
    os.mkdir(env["KYMO_DIR"], 0o700)
    fleet = subprocess.Popen([os.path.join(BUILD, "bench", "bench_vehicle"), str(PROCESSES), str(RATE),
                              str(WARM + 2 * (WARM + SECONDS + 4))],
                             env=dict(env, LD_PRELOAD=os.path.join(BUILD, "lib", "libkymo-ros2.so")))
    time.sleep(WARM)
    for how, name in (("never", "durations"), ("always", "counting only")):
        print(f"{name:14} {PROCESSES} programs, {RATE} events/s: {100 * watch(how, env):5.1f} % of a core", flush=True)
    fleet.terminate()
    fleet.wait()
