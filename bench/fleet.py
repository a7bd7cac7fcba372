#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A week of a fleet in one ClickHouse, with time compressed: what it stores, how long questions take, and whether each window is
there once or counted as merged or dropped.

Each robot has a spool with windows of a recorded trace, which `kymo serve TRACE` put there; copies of these files with later times are
its next windows. Day by day a `kymo serve` of each robot sends what waits, a few at a time. Between the robots and the server is a
proxy that cuts connections: before the request arrives, and before the answer does. Some processes are killed (SIGKILL) and begin
again, the server is killed once, the clock of some robots is set back, some are offline for days, and their spool is small; the disk
of one is small, too (128 KiB; whether it becomes full depends on the trace).

usage: fleet.py TRACE      with KYMO_BUILD; FLEET_ROBOTS (200), FLEET_DAYS (7), FLEET_WINDOWS (of a robot and day, 144), FLEET_SEED;
                           clickhouse-server in the PATH"""
import collections
import glob
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

BENCH = os.path.dirname(os.path.abspath(__file__))
os.environ.setdefault("KYMO_BUILD", os.path.join(BENCH, "..", "build"))
os.environ.setdefault("KYMO_SOURCE", os.path.join(BENCH, ".."))
sys.path.insert(0, os.path.join(BENCH, "..", "tests", "system", "lib"))
from lib_clickhouse import start  # noqa: E402
from lib_test import KYMO, SOURCE, until  # noqa: E402

ROBOTS, DAYS, WINDOWS, SEED = (int(os.environ.get("FLEET_" + name, usual)) for name, usual in (
    ("ROBOTS", 200), ("DAYS", 7), ("WINDOWS", 144), ("SEED", 1)))
AT_ONCE = 3                       # processes of kymo serve
DAY_NS = 86400 * 10**9
MONDAY_NS = 1790553600 * 10**9    # 2026-09-28
TEMPLATES = 4                     # different windows of a robot
OFFLINE = 10                      # robots, for the first days
CUT = 0.05                        # of the connections, of each kind
TRACE = sys.argv[1]
FILE = re.compile(r"(\d{20})-(\d+)-(\d+)-(\d+)\.kymo$")
CHANCE = random.Random(SEED)


class Proxy:
    """Forwards connections to `port`, which the caller changes, and cuts some."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.port, self.bytes, self.cuts, self.requests = 0, 0, 0, 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        fate = CHANCE.random()
        self.requests += 1
        self.cuts += fate < 2 * CUT
        with client:
            if fate < CUT:
                return
            try:
                with socket.create_connection(("127.0.0.1", self.port)) as server:
                    back = threading.Thread(target=self.forward, args=(server, client, CUT <= fate < 2 * CUT), daemon=True)
                    back.start()
                    self.forward(client, server, False)
                    back.join()
            except OSError:
                pass

    def forward(self, source, to, cut):
        try:
            while data := source.recv(65536):
                if cut:                    # the server has done it, and the robot does not know
                    to.shutdown(socket.SHUT_RDWR)
                    return
                self.bytes += len(data)
                to.sendall(data)
            to.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Robot:
    def __init__(self, number, place, url):
        self.name, self.number = f"robot-{number:03}", number
        self.place = os.path.join(place, self.name)
        self.spool = os.path.join(self.place, "spool", "clickhouse")
        self.templates = os.path.join(self.place, "templates")
        self.put = 0                       # windows
        self.files = collections.Counter()
        os.makedirs(self.templates)
        os.makedirs(self.spool)
        limit = "300K" if number < OFFLINE else "64M"
        with open(os.path.join(self.place, "kymo.yaml"), "w", encoding="utf-8") as file:
            file.write(f"robot: {self.name}\nboot: boot-{number}\nsoftware: 1.{number % 3}\nlabels: {{site: hall-{number % 5}}}\n"
                       f"serve: {{window: 200ms, listen: '127.0.0.1:0'}}\nclickhouse: {{url: '{url}', every: 100ms}}\n"
                       f"spool: {{directory: '{self.place}/spool', limit: {limit}}}\n")
        self.environment = dict(os.environ, KYMO_CONFIG=os.path.join(self.place, "kymo.yaml"), HOME=self.place,
                                KYMO_DIR=os.path.join(place, "run", self.name), KYMO_INCIDENTS=os.path.join(self.place, "incidents"))
        os.makedirs(self.environment["KYMO_DIR"], 0o700)

    def serve(self, *words):
        return subprocess.Popen([KYMO, "serve", "-q", *words], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def waiting(self):
        return glob.glob(os.path.join(self.spool, "*.kymo"))

    def make_templates(self):
        """Windows of the trace as kymo serve keeps them while nothing listens."""
        process = self.serve("--clickhouse", "http://127.0.0.1:1", TRACE)
        until("windows", lambda: len(self.waiting()) >= TEMPLATES)
        process.terminate()
        process.wait()
        for path in sorted(self.waiting())[:TEMPLATES]:
            shutil.move(path, self.templates)
        shutil.rmtree(self.spool)
        os.mkdir(self.spool)

    def live(self, day):
        """A day: its windows are in the spool. Return: their number."""
        templates = sorted(os.listdir(self.templates))
        length = DAY_NS // WINDOWS
        for i in range(WINDOWS):
            begin = MONDAY_NS + day * DAY_NS + i * length
            if self.number % 20 == 7 and i == WINDOWS // 2:
                begin -= 6 * length - 1    # the clock is set back: what kymo serve would call it
            name = f"{begin:020}-{length}-1-0.kymo"
            os.link(os.path.join(self.templates, templates[(i + self.number) % len(templates)]), os.path.join(self.spool, name))
        self.put += WINDOWS

    def counts(self):
        """Return: put, merged, dropped, sent, refused, damaged windows, as the spool has them."""
        with open(os.path.join(self.spool, "state"), encoding="ascii") as file:
            return [int(word) for word in file.read().split()[2:8]]


def send(robots, proxy, restart):
    """A kymo serve for each of them until nothing waits, AT_ONCE at a time."""
    todo, running = list(robots), {}
    CHANCE.shuffle(todo)
    killed = 0
    while todo or running:
        while todo and len(running) < AT_ONCE:
            robot = todo.pop()
            running[robot] = robot.serve()
        time.sleep(0.02)
        if restart and len(todo) == len(robots) // 2:
            restart()
            restart = None
        for robot, process in list(running.items()):
            if not robot.waiting():
                process.terminate()
                process.wait()
                del running[robot]
            elif CHANCE.random() < 0.002:
                process.kill()
                process.wait()
                killed += 1
                running[robot] = robot.serve()
    return killed


def full_disk(robot):
    """Its spool is on a disk of 128 KiB, and the server is away: windows are counted as dropped. Return: put, dropped."""
    words = (f"mount -t tmpfs -o size=128k none {robot.place}/spool && mkdir {robot.place}/spool/clickhouse && "
             f"{KYMO} serve -q --window 100ms --clickhouse http://127.0.0.1:1 {TRACE} & sleep 10; cat {robot.spool}/state; kill $!; wait")
    told = subprocess.run(["unshare", "-m", "sh", "-c", words], env=robot.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False).stdout.split()
    return (int(told[2]), int(told[4])) if len(told) > 4 else None


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
    parts = server.rows("SELECT count(), sum(rows), sum(bytes_on_disk), sum(data_uncompressed_bytes) FROM system.parts WHERE active AND table = 'kymo_windows'")
    return [int(one) for one in parts[0]]


def account(robots, server, length):
    """Each window is in the database once, or counted as merged or dropped. Return: sums, and the robots where that is not so."""
    there = {robot: (int(rows), int(distinct)) for robot, rows, distinct in server.rows(
        "SELECT robot, count(), uniqExact(window_start) FROM kymo_windows FINAL WHERE entity_kind = 'window' GROUP BY robot")}
    long = {robot: (int(rows)) for robot, rows in server.rows(
        f"SELECT robot, count() FROM kymo_windows FINAL WHERE entity_kind = 'window' AND window_s > {length / 1e9 * 1.5} GROUP BY robot")}
    sums, wrong = collections.Counter(), []
    for robot in robots:
        _, merged, dropped, sent, refused, damaged = robot.counts()
        rows, distinct = there.get(robot.name, (0, 0))
        one_each = rows - long.get(robot.name, 0)       # rows of windows that were not merged
        sums.update(put=robot.put, sent=sent, merged=merged, dropped=dropped, refused=refused, damaged=damaged, rows=rows)
        if robot.put != sent + dropped or refused or damaged or rows != distinct or one_each + merged + dropped < robot.put or \
                (not merged and rows != sent):
            wrong.append((robot.name, robot.put, robot.counts(), rows, distinct, long.get(robot.name)))
    return sums, wrong


def main():
    place = tempfile.mkdtemp(prefix="kymo-fleet-")
    proxy = Proxy()
    robots = [Robot(number, place, proxy.url) for number in range(ROBOTS)]
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

    for robot in robots:
        robot.make_templates()
    print(f"{ROBOTS} robots, {DAYS} days, {WINDOWS} windows a day, seed {SEED}", flush=True)
    print("| day | windows | rows | on disk | on the wire | parts | killed | seconds |", flush=True)
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for day in range(DAYS):
        begin = time.monotonic()
        for robot in robots:
            robot.live(day)
        there = [robot for robot in robots if robot.number >= OFFLINE or day >= DAYS // 2]
        killed = send(there, proxy, restart if day == DAYS // 2 else None)
        parts, rows, disk, _ = stored(server)
        print(f"| {day + 1} | {sum(robot.put for robot in robots):,} | {rows:,} | {disk / 1e6:.1f} MB | {proxy.bytes / 1e6:.1f} MB | "
              f"{parts} | {killed} | {time.monotonic() - begin:.0f} |", flush=True)
    sums, wrong = account(robots, server, DAY_NS // WINDOWS)
    print("windows:", dict(sums), "connections:", proxy.requests, "cut:", proxy.cuts)
    print("wrong:", wrong)
    for question, seconds in ask(server).items():
        print(f"{seconds:6.2f} s  {question}")
    print("full disk: put, dropped:", full_disk(Robot(ROBOTS, place, proxy.url)))
    process.kill()
    process.wait()
    shutil.rmtree(place)
    return bool(wrong)


sys.exit(main())
