# SPDX-License-Identifier: Apache-2.0
"""A fleet with time compressed, for bench/running/fleet.py and the suite: spools of robots with windows of a recorded trace and later times, a
`kymo serve` of each, and a proxy that cuts connections. At the end each window is in the database once, or counted as merged or
dropped."""
import atexit
import collections
import ctypes
import glob
import gzip
import http.server
import os
import re
import shutil
import socket
import struct
import subprocess
import threading
import time

from lib_http import Server
from lib_test import KYMO, SOURCE, until

DAY_NS = 86400 * 10**9
MONDAY_NS = 1790553600 * 10**9    # 2026-09-28
TEMPLATES = 4                     # different windows of a robot
CUT = 0.05                        # of the connections, of each kind
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000


class Proxy:
    """Forwards connections to `port`, which the caller changes, and cuts some."""

    def __init__(self, chance, port=0):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.port, self.bytes, self.cuts, self.requests, self.chance = port, 0, 0, 0, chance
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        fate = self.chance.random()
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


class Database(Server):
    """Stands in for ClickHouse: keeps the key and the length of each window that arrives."""

    def __init__(self):
        super().__init__(Handler)
        self.there, self.lock = {}, threading.Lock()
        with open(os.path.join(SOURCE, "src", "fleet", "window", "window_packed.def"), encoding="utf-8") as file:
            self.types = re.findall(r"^PACKED\(\w+, (\w+)", file.read(), re.M)

    def windows(self):
        """Return: {robot: {begin: length in seconds}}."""
        found = collections.defaultdict(dict)
        for (robot, _, begin), length in list(self.there.items()):
            found[robot][begin] = length
        return found


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        body = unpacked(self.headers, self.rfile.read(int(self.headers["Content-Length"])))
        windows = list(windows_of(body, self.server.types))
        with self.server.lock:
            self.server.there.update({(robot, boot, begin): length for robot, boot, begin, length in windows})
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


def unpacked(headers, body):
    """A body without its Content-Encoding."""
    if headers["Content-Encoding"] != "zstd":
        return gzip.decompress(body)
    library = ctypes.CDLL("libzstd.so.1")
    for name in "ZSTD_getFrameContentSize", "ZSTD_decompress":
        getattr(library, name).restype = ctypes.c_ulonglong
    room = library.ZSTD_getFrameContentSize(body, ctypes.c_size_t(len(body)))
    out = ctypes.create_string_buffer(room)
    size = library.ZSTD_decompress(out, ctypes.c_size_t(room), body, ctypes.c_size_t(len(body)))
    assert size == room, "damaged"
    return out.raw


class Bytes:
    """Values of RowBinary, one after the other."""

    def __init__(self, body):
        self.body, self.at = body, 0

    def length(self):
        value, shift = 0, 0
        while True:
            byte = self.body[self.at]
            value, shift, self.at = value | (byte & 127) << shift, shift + 7, self.at + 1
            if byte < 128:
                return value

    def skip(self, size):
        self.at += size
        assert self.at <= len(self.body), "too short"

    def text(self):
        size = self.length()
        self.skip(size)
        return self.body[self.at - size:self.at].decode()

    def number(self, kind="q"):
        self.skip(8)
        return struct.unpack_from("<" + kind, self.body, self.at - 8)[0]


def skip_array(found, kind):
    """Pass over an array of a type in window_packed.def. Return: its length."""
    rows = found.length()
    for _ in range(rows):
        if kind == "TEXT":
            found.text()
        elif kind in ("LOWS", "HIGHS"):
            found.skip(found.length() * (8 if kind == "HIGHS" else 1))
        else:
            found.skip({"BYTE": 1, "I16": 2, "U64": 8}[kind])
    return rows


def windows_of(body, types):
    """Robot, boot, begin and length of each window of a request; `types`: of the arrays in window_packed.def."""
    found = Bytes(body)
    while found.at < len(body):
        robot, boot, _, _ = (found.text() for _ in range(4))
        begin, length, _ = found.number(), found.number("d"), found.number()
        for kind in types:
            skip_array(found, kind)
        yield robot, boot, begin, length


def definition(name):
    """Return: names and types of the columns in a .def file of windows."""
    with open(os.path.join(SOURCE, "src", "fleet", "window", name), encoding="utf-8") as file:
        return re.findall(r"^(?:COLUMN|PACKED)\((\w+), (\w+)", file.read(), re.M)


def counts_of(body, packed):
    """What left_out rows count, {entity: count}, of all windows of a request: packed ones, or rows."""
    found, sums = Bytes(body), collections.Counter()
    columns = definition("window_packed.def" if packed else "window.def")
    while found.at < len(body):
        if packed:
            for _ in range(4):
                found.text()
            found.skip(24)
            lists = {name: [value_of(found, kind) for _ in range(found.length())] for name, kind in columns}
            rows = zip(lists["kinds"], lists["entities"], lists["counts"])
        else:
            row = {name: value_of(found, kind) for name, kind in columns}
            rows = [(row["entity_kind"], row["entity"], row["count"])]
        for kind, entity, count in rows:
            if kind == "left_out":
                sums[entity] += count
    return dict(sums)


def value_of(found, kind):
    """The next value of RowBinary, of a type in window.def or window_packed.def; None for those that nobody asks for."""
    if kind == "TEXT":
        return found.text()
    if kind in ("BUCKETS", "HIGHS", "LOWS"):
        return found.skip(found.length() * (1 if kind == "LOWS" else 8))
    if kind == "COUNT":
        found.skip(1)
        return None if found.body[found.at - 1] else found.number("Q")
    if kind in ("BYTE", "I16"):
        return found.skip(1 if kind == "BYTE" else 2)
    return found.number("d" if kind == "REAL" else "Q")


def may_mount():
    """File systems that this process mounts are its own from now on. Return: whether it may."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.unshare(CLONE_NEWNS | (CLONE_NEWUSER if os.getuid() else 0)) == 0 and \
        libc.mount(b"none", b"/", None, 0x44000, None) == 0         # private, with all below it


def end(process):
    """Also when a test fails in the middle."""
    if process.poll() is None:
        process.kill()
        process.wait()


class Robot:
    """`limit`: of its spool."""

    def __init__(self, number, place, url, limit):
        self.name, self.number = f"robot-{number:03}", number
        self.place = os.path.join(place, self.name)
        self.spool = os.path.join(self.place, "spool", "clickhouse")
        self.templates = os.path.join(self.place, "templates")
        self.put = 0                       # windows
        os.makedirs(self.templates)
        os.makedirs(self.spool)
        self.url, self.limit = url, limit
        self.configure(limit)
        self.environment = dict(os.environ, KYMO_CONFIG=os.path.join(self.place, "kymo.yaml"), HOME=self.place,
                                KYMO_DIR=os.path.join(place, "run", self.name), KYMO_INCIDENTS=os.path.join(self.place, "incidents"))
        os.makedirs(self.environment["KYMO_DIR"], 0o700)

    def configure(self, limit):
        with open(os.path.join(self.place, "kymo.yaml"), "w", encoding="utf-8") as file:
            file.write(f"robot: {self.name}\nboot: boot-{self.number}\nsoftware: 1.{self.number % 3}\nlabels: {{site: hall-{self.number % 5}}}\n"
                       f"serve: {{window: 200ms, listen: '127.0.0.1:0'}}\nclickhouse: {{url: '{self.url}', every: 100ms}}\n"
                       f"spool: {{directory: '{self.place}/spool', limit: {limit}}}\n")

    def serve(self, *words):
        process = subprocess.Popen([KYMO, "serve", "-q", *words], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(end, process)
        return process

    def waiting(self):
        return glob.glob(os.path.join(self.spool, "*.kymo"))

    def make_templates(self, trace):
        """Windows of the trace as kymo serve keeps them while nothing listens. In a small spool they would be merged."""
        self.configure("64M")
        process = self.serve("--clickhouse", "http://127.0.0.1:1", trace)
        until("windows", lambda: len(self.waiting()) >= TEMPLATES)
        process.terminate()
        process.wait()
        self.configure(self.limit)
        for path in sorted(self.waiting())[:TEMPLATES]:
            shutil.move(path, self.templates)
        shutil.rmtree(self.spool)
        os.mkdir(self.spool)

    def live(self, day, windows):
        """A day with so many windows: they are in the spool."""
        templates = sorted(os.listdir(self.templates))
        length = DAY_NS // windows
        for i in range(windows):
            begin = MONDAY_NS + day * DAY_NS + i * length
            if self.number % 20 == 7 and i == windows // 2:
                begin -= 6 * length - 1    # the clock is set back: what kymo serve would call it
            name = f"{begin:020}-{length}-1-0.kymo"
            os.link(os.path.join(self.templates, templates[(i + self.number) % len(templates)]), os.path.join(self.spool, name))
        self.put += windows

    def small_disk(self, kib):
        """Its spool is on a disk of this size."""
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", os.path.dirname(self.spool)], check=True)
        os.mkdir(self.spool)

    def no_disk(self):
        subprocess.run(["umount", os.path.dirname(self.spool)], check=True)

    def live_on_full_disk(self, trace):
        """Windows of a trace, of which the disk has no room for most, while nothing listens."""
        before = self.counts()[0] if os.path.exists(os.path.join(self.spool, "state")) else 0
        process = self.serve("--window", "100ms", "--clickhouse", "http://127.0.0.1:1", trace)
        put = until("windows", lambda: (now := self.counts()[0]) > before + TEMPLATES and now)
        quiet = time.monotonic()
        while time.monotonic() < quiet + 1:
            now = self.counts()[0]
            quiet, put = (time.monotonic(), now) if now > put else (quiet, put)
            time.sleep(0.05)
        process.terminate()
        process.wait()
        self.put = self.counts()[0]

    def counts(self):
        """Return: put, merged, dropped, sent, refused, damaged windows, as the spool has them."""
        try:
            with open(os.path.join(self.spool, "state"), encoding="ascii") as file:
                return [int(word) for word in file.read().split()[2:8]]
        except FileNotFoundError:
            return [0] * 6


def send(robots, at_once, chance, kill, restart=None):
    """A kymo serve for each of them until nothing waits, `at_once` at a time. `kill`: the chance of a process at each look; `restart`: is
    called in the middle. Return: how many were killed."""
    todo, running = list(robots), {}
    chance.shuffle(todo)
    killed = 0
    while todo or running:
        while todo and len(running) < at_once:
            robot = todo.pop()
            running[robot] = robot.serve()
        time.sleep(0.02)
        if restart and len(todo) <= len(robots) // 2:
            restart()
            restart = None
        for robot, process in list(running.items()):
            if not robot.waiting():
                process.terminate()
                process.wait()
                del running[robot]
            elif chance.random() < kill:
                process.kill()
                process.wait()
                killed += 1
                running[robot] = robot.serve()
    return killed


def account(robots, there, length_s):
    """`there`: what the database has, {robot: {begin: length in seconds}}; `length_s`: of one window.
    Return: sums, and the robots that miss a window or have one twice."""
    sums, wrong = collections.Counter(), []
    for robot in robots:
        _, merged, dropped, sent, refused, damaged = robot.counts()
        lengths = there.get(robot.name, {}).values()
        singles = sum(length < 1.5 * length_s for length in lengths)
        sums.update(put=robot.put, sent=sent, merged=merged, dropped=dropped, refused=refused, damaged=damaged, rows=len(lengths))
        if robot.put != sent + dropped or refused or damaged or singles + merged + dropped < robot.put or \
                (not merged and len(lengths) != sent):
            wrong.append((robot.name, robot.put, robot.counts(), len(lengths), singles))
    return sums, wrong
