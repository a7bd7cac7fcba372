#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a window of a minute is on the wire to ClickHouse: `kymo serve` reads a trace of a robot with some 500 entities
(bench_synthesize_robot), and sends it to a server that accepts zstd or only gzip, and packed windows or only rows.
usage: wire.py [NODES...]: of the robot, 47 has 500 entities; with KYMO_BUILD, BENCH_BUCKETS (clickhouse.buckets)"""
import http.server
import os
import re
import subprocess
import sys
import tempfile

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault("KYMO_BUILD", os.path.join(BENCH, "..", "build"))
os.environ.setdefault("KYMO_SOURCE", os.path.join(BENCH, ".."))
sys.path.insert(0, os.path.join(BENCH, "..", "tests", "system", "lib"))
from lib_fleet import Bytes, unpacked  # noqa: E402
from lib_http import Server  # noqa: E402
from lib_test import BUILD, KYMO, SOURCE, running, until  # noqa: E402

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


def entities(body):
    """Return: rows and entities of a packed window."""
    with open(os.path.join(SOURCE, "src", "fleet", "window", "window_packed.def"), encoding="utf-8") as file:
        names = re.findall(r"^PACKED\((\w+)", file.read(), re.M)
    found = Bytes(body)
    for _ in range(4):
        found.text()
    found.skip(24)
    for _ in range(names.index("firsts")):
        for _ in range(found.length()):
            found.text()
    rows = found.length()
    return rows, sum(body[found.at:found.at + rows])


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
            rows, count = entities(body)
            print(f"| {count} | {rows} | {len(raw):,} | {rows_gzip:,} | {rows_zstd:,} | {len(body):,} | {gzip:,} | {zstd:,} | "
                  f"{zstd / count:.0f} |", flush=True)


main()
