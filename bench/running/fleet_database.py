#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How many windows of a minute of a fleet one ClickHouse takes, and how long the questions of clickhouse-questions.sql take with
them.

`kymo serve` sends the windows of a made-up robot (bench_synthesize_robot); these bodies are sent again and again, with the names of
other robots and later times, by some clients at once: the minutes of all robots one after the other, as fast as the server accepts
them. Robots that send each minute by themselves have one window in an INSERT (`alone`), robots that were offline have up to 64. With
`buffer`, INSERTs go to the tables of clickhouse-buffer.sql.

usage: fleet_database.py [NODES]     of the robot, 4 has 45 entities; with KYMO_BUILD; DATABASE_ROBOTS (200), DATABASE_SECONDS (600)
                                     of filling, DATABASE_HOW ("alone", "64", "buffer", "buffer 64"), DATABASE_CLIENTS (8);
                                     clickhouse-server in the PATH"""
import gzip
import os
import resource
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault("KYMO_BUILD", os.path.join(BENCH, "..", "build"))
os.environ.setdefault("KYMO_SOURCE", os.path.join(BENCH, ".."))
sys.path.insert(0, os.path.join(BENCH, "..", "tests", "system", "lib"))
from lib_clickhouse import start  # noqa: E402
from lib_fleet import MONDAY_NS, Bytes, definition, skip_array  # noqa: E402
from lib_http import Server  # noqa: E402
from lib_test import BUILD, KYMO, SOURCE, running, until  # noqa: E402
from wire import Handler  # noqa: E402

ROBOTS, SECONDS, CLIENTS = (int(os.environ.get("DATABASE_" + name, usual)) for name, usual in (("ROBOTS", 200), ("SECONDS", 600), ("CLIENTS", 8)))
HOW = os.environ.get("DATABASE_HOW", "alone")
MINUTE_NS = 60 * 10**9
TEMPLATES = 4
QUESTIONS_AGAIN = 3


def templates(place, nodes):
    """Return: packed windows without the names of the robot and its boot, and their begin."""
    trace, config = os.path.join(place, "trace"), os.path.join(place, "kymo.yaml")
    subprocess.run([os.path.join(BUILD, "bench", "bench_synthesize_robot"), trace, str(TEMPLATES * 60 + 60), nodes], check=True, stdout=subprocess.DEVNULL)
    with Server(Handler) as server:
        server.zstd, server.packed, server.bodies = False, True, []
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"robot: r\nboot: b\nsoftware: 1.4.0\nlabels: {{site: hall-3}}\nserve: {{listen: '127.0.0.1:0'}}\n"
                       f"clickhouse: {{url: '{server.address}', every: 10ms}}\nspool: {{directory: '{place}/spool'}}\n")
        environment = dict(os.environ, KYMO_CONFIG=config, KYMO_DIR=os.path.join(place, "run"), KYMO_CACHE="off")
        with running(KYMO, "serve", "-q", trace, env=environment):
            until("windows", lambda: sum(len(list(cut(body))) for _, body in server.bodies) > TEMPLATES)
    return [one for _, body in server.bodies for one in cut(body)][1:TEMPLATES + 1]       # the first one is not whole


def cut(body):
    """The windows of a request: what follows robot and boot up to the begin, what follows the begin, and how many rows it has."""
    columns = definition("window_packed.def")
    found = Bytes(body)
    while found.at < len(body):
        found.text(), found.text()
        names = found.at
        found.text(), found.text()
        times, rows = found.at, 0
        found.skip(24)
        for _, kind in columns:
            rows = skip_array(found, kind)
        yield body[names:times], body[times + 8:found.at], rows


def text(value):
    return bytes([len(value)]) + value.encode()


class Fleet:
    """Gives out what the next INSERT has: each robot's next minutes."""

    def __init__(self, windows, together):
        self.windows, self.together, self.lock = windows, together, threading.Lock()
        self.next, self.inserts, self.rows, self.bytes, self.most_parts = 0, 0, 0, 0, 0
        self.until = time.monotonic() + SECONDS

    def take(self):
        with self.lock:
            self.next += 1
            return self.next - 1

    def body(self, number):
        robot, first = number % ROBOTS, number // ROBOTS * self.together
        parts, rows = [], 0
        for minute in range(first, first + self.together):
            names, rest, count = self.windows[(minute + robot) % len(self.windows)]
            parts += [text(f"robot-{robot:03}"), text(f"boot-{robot}"), names, struct.pack("<q", MONDAY_NS + minute * MINUTE_NS), rest]
            rows += count
        return gzip.compress(b"".join(parts), 1), rows

    def send(self, server, database):
        words = urllib.parse.urlencode({"query": "INSERT INTO kymo_windows_in FORMAT RowBinary", "database": database})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while time.monotonic() < self.until:
            body, rows = self.body(self.take())
            request = urllib.request.Request(server.url + "?" + words, data=body, method="POST", headers={"Content-Encoding": "gzip"})
            try:
                opener.open(request, timeout=120).read()
            except urllib.error.HTTPError as error:
                sys.exit(error.read().decode()[:1000])
            with self.lock:
                self.inserts, self.rows, self.bytes = self.inserts + 1, self.rows + rows, self.bytes + len(body)


def cpu(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        words = file.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def stored(server):
    parts, rows, disk = server.rows("SELECT count(), sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND table = 'kymo_windows'")[0]
    return int(parts), int(rows), int(disk)


def fill(server, pid, fleet, database):
    threads = [threading.Thread(target=fleet.send, args=(server, database)) for _ in range(CLIENTS)]
    begin, used, own = time.monotonic(), cpu(pid), resource.getrusage(resource.RUSAGE_SELF)
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        fleet.most_parts = max(fleet.most_parts, stored(server)[0])
        time.sleep(0.5)
    took = time.monotonic() - begin
    mine = resource.getrusage(resource.RUSAGE_SELF)
    print(f"{fleet.inserts:,} INSERTs, {fleet.inserts * fleet.together:,} windows, {fleet.rows:,} rows, {fleet.bytes / 1e6:.1f} MB as gzip in {took:.0f} s: "
          f"{fleet.inserts / took:.1f} INSERTs/s, {fleet.rows / took:,.0f} rows/s; at most {fleet.most_parts} parts; CPU of the server "
          f"{cpu(pid) - used:.0f} s, of the clients {mine.ru_utime + mine.ru_stime - own.ru_utime - own.ru_stime:.0f} s; load {os.getloadavg()}", flush=True)


def settle(server, fleet):
    """Until all rows are there, and no merge goes on."""
    until("all rows", lambda: stored(server)[1] >= fleet.rows or None)
    end = time.monotonic() + 300
    while time.monotonic() < end and int(server.rows("SELECT count() FROM system.merges")[0][0]):
        time.sleep(1)
    parts, rows, disk = stored(server)
    print(f"then {rows:,} rows in {parts} parts, {disk / 1e6:.1f} MB on disk: {disk / rows:.1f} bytes a row, {disk / rows * fleet.rows / fleet.inserts / fleet.together:.0f} "
          "a window", flush=True)


def ask(server, pid):
    with open(os.path.join(SOURCE, "packaging", "fleet", "clickhouse-questions.sql"), encoding="utf-8") as file:
        parts = file.read().split("\n\n")[1:]
    print("| by the clock | CPU | question |\n|---|---|---|", flush=True)
    for part in parts:
        lines, took = part.strip().split("\n"), []
        for _ in range(QUESTIONS_AGAIN):
            begin, used = time.monotonic(), cpu(pid)
            try:
                server.send("\n".join(line for line in lines if not line.startswith("--")).rstrip(";"))
            except (AssertionError, OSError) as error:
                print("failed:", str(error)[:300])
                break
            took.append((time.monotonic() - begin, cpu(pid) - used))
        if took:
            clock, busy = sorted(took)[len(took) // 2]
            print(f"| {clock:.2f} s | {busy:.2f} s | {lines[0][3:]} |", flush=True)


def main():
    nodes = sys.argv[1] if sys.argv[1:] else "4"
    with tempfile.TemporaryDirectory(prefix="kymo-database-") as place:
        windows = templates(place, nodes)
        print(f"{ROBOTS} robots, {CLIENTS} clients, {HOW}; windows with {[count for _, _, count in windows]} rows, "
              f"{[len(rest) for _, rest, _ in windows]} bytes; load {os.getloadavg()}", flush=True)
        directory = os.path.join(place, "clickhouse")
        os.mkdir(directory)
        begun, server = start(directory)
        with begun as process:
            until("ClickHouse", server.answers)
            server.script("clickhouse.sql")
            server.script("clickhouse-buffer.sql")
            fleet = Fleet(windows, 64 if "64" in HOW else 1)
            fill(server, process.pid, fleet, "robots_in" if "buffer" in HOW else "default")
            settle(server, fleet)
            if not os.environ.get("DATABASE_NO_QUESTIONS"):
                ask(server, process.pid)
            print(f"load {os.getloadavg()}")


if __name__ == "__main__":
    main()
