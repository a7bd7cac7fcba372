#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a window of a minute is on the wire to ClickHouse: `kymo serve` reads a trace of a robot with some 500 entities
(bench_synthesize_robot), and sends it to a server that accepts zstd or only gzip, and packed windows or only rows.
Then what each part of the last packed window has, compressed alone, and what its buckets would have at best.
usage: wire.py [NODES...]: of the robot, 47 has 500 entities; with KYMO_BUILD, BENCH_BUCKETS (clickhouse.buckets)"""
import collections
import ctypes
import http.server
import math
import os
import subprocess
import sys
import tempfile

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault("KYMO_BUILD", os.path.join(BENCH, "..", "build"))
os.environ.setdefault("KYMO_SOURCE", os.path.join(BENCH, ".."))
sys.path.insert(0, os.path.join(BENCH, "..", "tests", "system", "lib"))
from lib_fleet import Bytes, definition, unpacked  # noqa: E402
from lib_http import Server  # noqa: E402
from lib_test import BUILD, KYMO, running, until  # noqa: E402

BUCKETS = os.environ.get("BENCH_BUCKETS", "32")
SECONDS = 99        # 39 s, which go first, and a whole minute


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        body, no = self.rfile.read(int(self.headers["Content-Length"])), ""
        if self.headers["Content-Encoding"] == "zstd" and not self.server.zstd:
            no = "Unknown Content-Encoding"
        elif "kymo_windows_in" in self.path and not self.server.packed:
            no = "no kymo_windows_in"
        else:
            self.server.bodies.append((len(body), unpacked(self.headers, body)))
        self.send_response(400 if no else 200)
        self.send_header("Content-Length", str(len(no)))
        self.end_headers()
        self.wfile.write(no.encode())


PARTS = {"names": ("kinds", "entities", "processes", "metrics"), "sums, least and largest values": ("sums", "mins", "maxima"),
         "buckets": ("offsets", "lows", "highs"), "counters": ()}


class Window:
    """A packed window: each column as bytes, and the numbers of its buckets."""

    def __init__(self, body):
        found = Bytes(body)
        for _ in range(4):
            found.text()
        found.skip(24)
        self.bytes, lists = {}, {}
        for name, kind in definition("window_packed.def"):
            begin = found.at
            lists[name] = [self.value(found, kind) for _ in range(found.length())]
            self.bytes[name] = body[begin:found.at]
        self.rows, self.entities = len(lists["firsts"]), sum(lists["firsts"])
        self.buckets = [[low + 256 * high for low, high in zip(lows, highs + len(lows) * [0])]
                        for lows, highs in zip(lists["lows"], lists["highs"])]

    @staticmethod
    def value(found, kind):
        if kind == "TEXT":
            return found.text()
        if kind in ("LOWS", "HIGHS"):
            return [Window.value(found, "BYTE" if kind == "LOWS" else "U64") for _ in range(found.length())]
        size = {"BYTE": 1, "I16": 2, "U64": 8}[kind]
        found.skip(size)
        return int.from_bytes(found.body[found.at - size:found.at], "little")

    def parts(self):
        """Return: {part: bytes}, each column compressed by itself."""
        sizes = {part: sum(packed_size(self.bytes[name]) for name in names) for part, names in PARTS.items()}
        sizes["counters"] = sum(map(packed_size, self.bytes.values())) - sum(sizes.values())
        return sizes

    def at_best(self):
        """Bytes of the buckets with a coder that learns how often each number follows the four buckets before it."""
        seen, bits = collections.defaultdict(collections.Counter), 0
        for numbers in self.buckets:
            for i, number in enumerate(numbers):
                near = tuple(round(2 * math.log2(sum(numbers[max(0, i - k - 2):max(0, i - k)]) + 1)) for k in (0, 2))
                symbol = min(number, 60)
                bits -= math.log2((seen[near][symbol] + 0.05) / (seen[near].total() + 0.05 * 61))
                bits += 2 * math.log2(number / 30) if symbol == 60 else 0
                seen[near][symbol] += 1
        return bits / 8


def packed_size(data):
    """With zstd at the level of push_post.c, without its head."""
    library = ctypes.CDLL("libzstd.so.1")
    for name in "ZSTD_compressBound", "ZSTD_compress":
        getattr(library, name).restype = ctypes.c_size_t
    room = library.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    return library.ZSTD_compress(ctypes.create_string_buffer(room), ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), 16) - 10


def send(place, trace, zstd, packed):
    """Return: the bodies, as they came and unpacked."""
    config = os.path.join(place, "kymo.yaml")
    spool = tempfile.mkdtemp(dir=place)
    with Server(Handler) as server:
        server.zstd, server.packed, server.bodies = zstd, packed, []
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"robot: r2d2\nsoftware: 1.4.0\nlabels: {{site: hall-3}}\nserve: {{listen: '127.0.0.1:0'}}\n"
                       f"clickhouse: {{url: '{server.address}', every: 100ms, buckets: {BUCKETS}}}\nspool: {{directory: '{spool}'}}\n")
        environment = dict(os.environ, KYMO_CONFIG=config, KYMO_DIR=os.path.join(place, "run"), KYMO_CACHE="off")
        with running(KYMO, "serve", "-q", trace, env=environment):
            until("two windows", lambda: len(server.bodies) == 2)
    return server.bodies


def main():
    with tempfile.TemporaryDirectory(prefix="kymo-wire-") as place:
        print("| entities | rows | before | before, gzip | before, zstd | packed | gzip | zstd | bytes an entity |\n|" + 9 * "---|", flush=True)
        for nodes in sys.argv[1:] or ["47"]:
            trace = os.path.join(place, "trace" + nodes)
            subprocess.run([os.path.join(BUILD, "bench", "bench_synthesize_robot"), trace, str(SECONDS), nodes], check=True,
                           stdout=subprocess.DEVNULL)
            (rows_gzip, raw), (rows_zstd, _), (gzip, body), (zstd, _) = (
                send(place, trace, zstd, packed)[1] for packed in (False, True) for zstd in (False, True))
            window = Window(body)
            count = window.entities
            print(f"| {count} | {window.rows} | {len(raw):,} | {rows_gzip:,} | {rows_zstd:,} | {len(body):,} | {gzip:,} | {zstd:,} | "
                  f"{zstd / count:.0f} |", flush=True)
        print("".join(f"{part}: {size:,}; " for part, size in window.parts().items()) +
              f"buckets at best: {window.at_best():,.0f}; {sum(map(bool, window.buckets))} distributions, "
              f"{sum(map(sum, window.buckets)):,} values, {sum(map(len, window.buckets)):,} buckets")


if __name__ == "__main__":
    main()
