#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A week of a fleet in one ClickHouse, with time compressed: what it stores, how long questions take, and whether each window is
there once or counted as merged or dropped.

Each robot has a spool with windows of a recorded trace, which `kymo serve TRACE` put there; copies of these files with later times are
its next windows. Day by day a `kymo serve` of each robot sends what waits, a few at a time. Between the robots and the server is a
proxy that cuts connections: before the request arrives, and before the answer does. Some processes are killed (SIGKILL) and begin
again, the server is killed once, the clock of some robots is set back, some are offline for days, and their spool is small. Some have
a spool on a disk that is full (root only): kymo serve itself puts their windows there.

usage: fleet.py TRACE      with KYMO_BUILD; FLEET_ROBOTS (200), FLEET_DAYS (7), FLEET_WINDOWS (of a robot and day, 144), FLEET_SEED;
                           clickhouse-server in the PATH"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault("KYMO_BUILD", os.path.join(BENCH, "..", "build"))
os.environ.setdefault("KYMO_SOURCE", os.path.join(BENCH, ".."))
sys.path.insert(0, os.path.join(BENCH, "..", "tests", "system", "lib"))
from lib_clickhouse import start  # noqa: E402
from lib_fleet import DAY_NS, Proxy, Robot, account, may_mount, send  # noqa: E402
from lib_test import SOURCE, until  # noqa: E402

ROBOTS, DAYS, WINDOWS, SEED = (int(os.environ.get("FLEET_" + name, usual)) for name, usual in (
    ("ROBOTS", 200), ("DAYS", 7), ("WINDOWS", 144), ("SEED", 1)))
AT_ONCE = 4                       # processes of kymo serve
OFFLINE = 10                      # robots, for the first days
FULL = 3                          # robots with a disk of FULL_KIB, which come after the others
FULL_KIB = 32
KILL = 0.002
TRACE = sys.argv[1]
CHANCE = random.Random(SEED)


def ask(server):
    """Return: seconds of each question of clickhouse-questions.sql, by its comment."""
    with open(os.path.join(SOURCE, "packaging", "fleet", "clickhouse-questions.sql"), encoding="utf-8") as file:
        parts = file.read().split("\n\n")[1:]
    took = {}
    for part in parts:
        lines = part.strip().split("\n")
        begin = time.monotonic()
        server.send("\n".join(line for line in lines if not line.startswith("--")).rstrip(";"))
        took[lines[0][3:]] = time.monotonic() - begin
    return took


def stored(server):
    parts = server.rows("SELECT count(), sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND table = 'kymo_windows'")
    return [int(one) for one in parts[0]]


def windows_of(server):
    there = {}
    for robot, begin, length in server.rows("SELECT robot, window_start, window_s FROM kymo_windows FINAL WHERE entity_kind = 'window'"):
        if begin in there.setdefault(robot, {}):
            raise AssertionError(f"a window is there twice: {robot} {begin}")
        there[robot][begin] = float(length)
    return there


def make(place, url):
    """Return: the robots, and those with a full disk."""
    robots = [Robot(number, place, url, "300K" if number < OFFLINE else "64M") for number in range(ROBOTS)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda robot: robot.make_templates(TRACE), robots))
    if os.getuid() or not may_mount():
        print("no disk is full: that needs root")
        return robots, []
    full = [Robot(ROBOTS + number, place, url, "64M") for number in range(FULL)]
    for robot in full:
        robot.small_disk(FULL_KIB)
    return robots, full


def main():
    place = tempfile.mkdtemp(prefix="kymo-fleet-")
    proxy = Proxy(CHANCE)
    robots, full = make(place, proxy.url)
    directory = os.path.join(place, "clickhouse")
    os.mkdir(directory)
    running, server = start(directory)
    process = running.__enter__()
    proxy.port = server.port
    until("ClickHouse", server.answers)
    server.script("clickhouse.sql")

    def restart():
        nonlocal process
        process.kill()
        process.wait()
        process = subprocess.Popen(process.args, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    print(f"{ROBOTS} robots and {len(full)} with a full disk, {DAYS} days, {WINDOWS} windows a day, seed {SEED}", flush=True)
    print("| day | windows | rows | on disk | on the wire | parts | killed | seconds |", flush=True)
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for day in range(DAYS):
        begin = time.monotonic()
        for robot in robots:
            robot.live(day, WINDOWS)
        for robot in full:
            robot.live_on_full_disk(TRACE)
        there = [robot for robot in robots if robot.number >= OFFLINE or day >= DAYS // 2]
        killed = send(there + full, AT_ONCE, CHANCE, KILL, restart if day == DAYS // 2 else None)
        until("ClickHouse", server.answers)
        parts, rows, disk = stored(server)
        print(f"| {day + 1} | {sum(robot.put for robot in robots + full):,} | {rows:,} | {disk / 1e6:.1f} MB | {proxy.bytes / 1e6:.1f} MB | "
              f"{parts} | {killed} | {time.monotonic() - begin:.0f} |", flush=True)
    there, bad = windows_of(server), False
    for name, some in ("robots", robots), ("with a full disk", full):
        sums, wrong = account(some, there, DAY_NS / WINDOWS / 1e9)
        print(name, dict(sums), "wrong:", wrong)
        bad |= bool(wrong)
    print("connections:", proxy.requests, "cut:", proxy.cuts)
    for question, seconds in ask(server).items():
        print(f"{seconds:6.2f} s  {question}")
    process.kill()
    process.wait()
    for robot in full:
        robot.no_disk()
    shutil.rmtree(place)
    return bad


sys.exit(main())
