#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""kymo serve pushes windows: what arrives is what `kymo export` writes, each window once, through servers that answer 500,
cut the connection, lie or send nonsense; what cannot be sent waits over a restart, or is merged and counted."""
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_fleet import counts_of, unpacked
from lib_http import Server, certificates, strict
from lib_test import KYMO, SHARED, check, existing, in_directory, run, running, until

TOKEN = "a-secret-of-this-robot"
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
CONFIG = """robot: r2d2
boot: b1
software: 1.4.0
labels: {{site: hall-3}}
serve: {{listen: "127.0.0.1:0", window: 200ms}}
otlp: {{encoding: {encoding}, token-file: {token}}}
clickhouse: {{user: me, password-file: {token}}}
spool: {{directory: {spool}, limit: {limit}}}
"""


class Receiver(Server):
    """Answers as `habits` say, one for each request; then well. As ClickHouse its tables are those before kymo_windows_in, so it gets rows,
    unless it is `packed`. `taken`: what it accepted, by path. `no_zstd`: status and text that zstd gets, instead."""

    def __init__(self, *habits, context=None, packed=False):
        super().__init__(Handler, context)
        self.packed = packed
        self.habits, self.taken, self.lock, self.no_zstd = list(habits), {}, threading.Lock(), None
        self.written, self.stuck, self.open = 0, threading.Event(), threading.Event()

    def __exit__(self, *what):
        self.open.set()
        super().__exit__(*what)


def write_for_ever(wfile, server):
    """What no answer has; the client must stop reading it."""
    try:
        while server.written < 1 << 30:
            server.written += wfile.write(b"x" * 65536)
    except OSError:
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        server, body = self.server, self.rfile.read(int(self.headers["Content-Length"]))
        with server.lock:
            habit = server.habits.pop(0) if server.habits else "take"
            if habit == "take" and server.no_zstd and self.headers["Content-Encoding"] == "zstd":
                habit = "no zstd"
            elif habit == "take" and "kymo_windows_in" in self.path and not server.packed:
                habit = "older"
            if habit in ("take", "silent"):
                path = self.path.partition("?")[0]
                server.taken.setdefault(path, []).append((self.headers, unpacked(self.headers, body)))
        if habit in ("cut", "silent"):
            self.close_connection = True
        elif habit == "nonsense":
            self.wfile.write(b"\0\1\2 nonsense\r\n\r\n")
            self.close_connection = True
        elif habit == "stall":
            server.stuck.set()
            server.open.wait(300)
            self.close_connection = True
        elif habit == "flood":
            self.wfile.write(b"HTTP/1.1 500 x\r\nX: ")
            write_for_ever(self.wfile, server)
            self.close_connection = True
        elif habit == "long":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            write_for_ever(self.wfile, server)
            self.close_connection = True
        else:
            status, text = {"take": (200, b""), "500": (500, b"Code: 60 " + TOKEN.encode()), "lie": (200, b"<html>Welcome to our hotel"),
                            "older": (404, b"Code: 60. DB::Exception: Table default.kymo_windows_in does not exist"),
                            "no zstd": server.no_zstd}[habit]
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)


def configure(directory, encoding="json", limit="64M"):
    """Return: an environment with the configuration file of a robot."""
    token, path = os.path.join(directory, "token"), os.path.join(directory, "kymo.yaml")
    with open(token, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(TOKEN + "\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write(CONFIG.format(encoding=encoding, limit=limit, token=token, spool=os.path.join(directory, "spool")))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return {**kept, "KYMO_CONFIG": path, "KYMO_DIR": os.path.join(directory, "run")}


def metrics(url):
    with OPENER.open(url, timeout=300) as answer:
        lines = re.findall(r"^(kymo_push\S+) (\S+)$", answer.read().decode(), re.M)
    return {name: int(value) for name, value in lines}


class Serving:
    """kymo serve of a trace; `told`: what it said."""

    def __init__(self, directory, environment, *words):
        self.log = os.path.join(directory, "told")
        self.command, self.environment = (KYMO, "serve", *words), environment

    def __enter__(self):
        with open(self.log, "w", encoding="utf-8") as log:
            self.running = running(*self.command, env=self.environment, stderr=log)
            self.process = self.running.__enter__()
        self.url = until("an address", lambda: re.findall(r"http://\S+/metrics", self.told()))[0]
        with open(f"/proc/{self.process.pid}/cmdline", encoding="utf-8") as file:
            check(TOKEN not in file.read(), "the token is in the list of processes")
        return self

    def told(self):
        with open(self.log, encoding="utf-8") as log:
            return log.read()

    def metrics(self):
        return metrics(self.url)

    def __exit__(self, *what):
        self.process.terminate()
        status = self.process.wait(300)
        self.running.__exit__(*what)
        check(status == 0, "ends with", status, self.told())
        check(TOKEN not in self.told(), "the token is in the log", self.told())


def exported(directory, environment, trace):
    """Return: RowBinary of all windows; lines of each signal."""
    rows = subprocess.run([KYMO, "export", trace, "--format", "rowbinary", "--table", "fleet_windows", "--window", "200ms", "-q"],
                          env=environment, stdout=subprocess.PIPE, check=True).stdout
    place = os.path.join(directory, "otlp")
    run(KYMO, "export", trace, "--format", "otlp", "--window", "200ms", "-q", "-o", place, env=environment)
    lines = {}
    for name in "metrics", "traces", "logs":
        with open(f"{place}/{name}.jsonl", encoding="utf-8") as file:
            lines["/v1/" + name] = [json.loads(line) for line in file]
    return rows, lines


def target(name, result):
    return f'kymo_push_windows_total{{target="{name}",result="{result}"}}'


def through_failures(directory, trace):
    environment = configure(directory)
    rows, lines = exported(directory, environment, trace)
    windows = len(lines["/v1/metrics"])
    check(windows > 3, windows, "windows")
    with Receiver("500", "cut", "lie", "nonsense") as database, Receiver("cut", "500") as collector, \
            Serving(directory, environment, "--clickhouse", database.address, "--otlp", collector.address + "/a-secret-path", trace) as serving:
        told = until("all windows", lambda: (found := serving.metrics()).get(target("clickhouse", "sent"), 0) >= windows and
                     found[target("otlp", "sent")] >= windows and found)
        check(told[target("otlp", "sent")] == told[target("clickhouse", "sent")] == windows, told)
        check((told['kymo_push_failures_total{target="clickhouse"}'], told['kymo_push_failures_total{target="otlp"}']) == (4, 2), told)
        check(b"".join(body for _, body in database.taken["/"]) == rows, "other rows than kymo export has")
        keys = [headers["Idempotency-Key"] for headers, _ in database.taken["/"]]
        check(len(set(keys)) == len(keys) and all(key.startswith("r2d2/b1/") for key in keys), keys)
        check(all(headers["X-ClickHouse-Key"] == TOKEN for headers, _ in database.taken["/"]), "the password")
        for path, want in lines.items():
            path = "/a-secret-path" + path
            check([json.loads(body) for _, body in collector.taken[path]] == want, path, "is not what kymo export has")
            check(all(headers["Authorization"] == "Bearer " + TOKEN for headers, _ in collector.taken[path]), "the token")
        for name, server in ("clickhouse", database), ("otlp", collector):
            check(f"{name} ({server.address}): " in serving.told() and f"windows wait in {directory}/spool/{name}\n" in serving.told() and
                  f"{name} ({server.address}) takes windows again" in serving.told(), serving.told())
        check("/a-secret-path" not in serving.told(), serving.told())
        check(serving.told().count("no table kymo_windows_in") == 1, serving.told())
        check(database.taken["/"][0][0]["Content-Encoding"] == "zstd", "zstd for ClickHouse")
        check(collector.taken["/a-secret-path/v1/metrics"][0][0]["Content-Encoding"] == "gzip", "gzip for a collector")


def without_zstd(directory, trace):
    """Servers that refuse zstd, each in its words, get gzip at once."""
    for number, no_zstd in enumerate(((500, b"Code: 89. DB::Exception: Unknown Content-Encoding of HTTP request: zstd"),
                                      (501, b"Code: 48. DB::Exception: Unknown compression method zstd. Only 'auto', 'none', 'gzip', 'br' "
                                       b"are supported as compression methods"), (415, b""))):
        place = os.path.join(directory, str(number))
        os.mkdir(place)
        environment = configure(place)
        with Receiver() as database:
            database.no_zstd = no_zstd
            with Serving(place, environment, "--clickhouse", database.address, trace) as serving:
                told = until("windows", lambda: (found := serving.metrics()).get(target("clickhouse", "sent"), 0) > 3 and found)
                check(told['kymo_push_failures_total{target="clickhouse"}'] == 0, no_zstd, told)
            check(all(headers["Content-Encoding"] == "gzip" for headers, _ in database.taken["/"]), no_zstd, "got zstd")


def hostile(directory, trace):
    """Answers without an end and a server that stalls: little memory, and kymo serve ends when it is asked to."""
    environment = configure(directory)
    with Receiver("long", "flood", "stall") as database, Receiver("flood", "long", "stall") as collector, \
            Serving(directory, environment, "--clickhouse", database.address, "--otlp", collector.address, trace) as serving:
        until("requests that wait", lambda: database.stuck.is_set() and collector.stuck.is_set())
        found = serving.metrics()
        check(found['kymo_push_failures_total{target="clickhouse"}'] == found['kymo_push_failures_total{target="otlp"}'] == 2, found)
        check(database.written + collector.written < 1 << 28, "it reads answers without an end", database.written, collector.written)
        with open(f"/proc/{serving.process.pid}/status", encoding="utf-8") as file:
            most = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        check(most < 100000, most, "KiB")


def over_restarts(directory, trace):
    """Nobody listens; then kymo serve begins again, without windows of its own, and somebody does."""
    environment = configure(directory, "protobuf")
    with Receiver() as collector:
        words = "--otlp", collector.address
        with Serving(directory, environment, "--otlp", "http://127.0.0.1:1", trace) as serving:
            waiting = 'kymo_push_waiting_windows{target="otlp"}'
            until("windows that wait", lambda: (found := serving.metrics()).get(waiting, 0) > 3 and
                  found['kymo_push_failures_total{target="otlp"}'])
        count = len(glob_files(directory))
        with Serving(directory, environment, *words) as serving:
            until("the windows", lambda: serving.metrics()[target("otlp", "sent")] >= count)
        check(len(collector.taken["/v1/metrics"]) == count and not glob_files(directory), "all of them, once")
        check(all(body.startswith(b"\x0a") for _, body in collector.taken["/v1/metrics"]), "protobuf")


LIMITS = "--max-entities", "2", "--max-objects", "8"


def left_out(directory, trace):
    """What the limits left out arrives as rows, packed, and as metrics."""
    told = run(KYMO, "serve", "--once", trace, "--window", "200ms", *LIMITS).stdout
    windows, over, objects, events = (int(re.search(rf"^kymo_{name}_total (\d+)$", told, re.M)[1]) for name in
                                      ("windows", "windows_over_entities", "objects_left_out", "events_left_out"))
    check(over > 3 and objects > 5, over, objects)
    want = {"windows_over_entities": over, "objects": objects, "events": events}
    for packed in False, True:
        place = os.path.join(directory, f"packed-{packed}")
        os.mkdir(place)
        environment = configure(place)
        with Receiver(packed=packed) as database, Receiver() as collector, \
                Serving(place, environment, "--clickhouse", database.address, "--otlp", collector.address, *LIMITS, trace) as serving:
            until("all windows", lambda: (found := serving.metrics()).get(target("clickhouse", "sent"), 0) >= windows and
                  found[target("otlp", "sent")] >= windows)
        bodies = [counts_of(body, packed) for _, body in database.taken["/"]]
        sums = {name: sum(body.get(name, 0) for body in bodies) for name in want}
        check(sums == want, "packed" if packed else "rows", sums, want)
        check(points_of(collector) == want, points_of(collector), want)


def points_of(collector):
    """Return: the sums of the metrics about what was left out."""
    names = {"kymo.windows.over_entities": "windows_over_entities", "kymo.objects.left_out": "objects", "kymo.events.left_out": "events"}
    sums = dict.fromkeys(names.values(), 0)
    for _, body in collector.taken["/v1/metrics"]:
        for metric in json.loads(body)["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]:
            if metric["name"] in names:
                sums[names[metric["name"]]] += sum(int(point["asInt"]) for point in metric["sum"]["dataPoints"])
    return sums


def glob_files(directory):
    return [name for where, _, names in os.walk(os.path.join(directory, "spool", "otlp")) for name in names if name.endswith(".kymo")]


def beyond_limit(directory, trace):
    """A spool of 20 KiB: windows are merged, and the counts add up."""
    environment = configure(directory, limit="20K")
    with Receiver() as database:
        with Serving(directory, environment, "--window", "100ms", "--clickhouse", "http://127.0.0.1:1", trace) as serving:
            found = until("merged windows", lambda: (found := serving.metrics()).get(target("clickhouse", "merged"), 0) and found)
            check(found['kymo_push_waiting_bytes{target="clickhouse"}'] <= 20480, found)
        waiting = found['kymo_push_waiting_windows{target="clickhouse"}']
        with Serving(directory, environment, "--clickhouse", database.address) as serving:
            until("what waited", lambda: serving.metrics()[target("clickhouse", "sent")] >= waiting)
        check(len(database.taken["/"]) < waiting, "merged windows are sent as one", len(database.taken["/"]), waiting)


def with_certificates(directory, trace):
    """A server that requires a certificate takes windows from the robot that has one, and none from another (mTLS)."""
    path = certificates(directory)
    context = strict(path)
    environment = configure(directory)
    failures = 'kymo_push_failures_total{target="clickhouse"}'
    with Receiver(context=context) as database:
        words = "--clickhouse", database.address, trace
        with open(environment["KYMO_CONFIG"], encoding="utf-8") as file:
            text = file.read()
        for extra in f"ca: {path['ca.pem']}", f"ca: {path['ca.pem']}, cert: {path['robot.pem']}, key: {path['robot.key']}":
            with open(environment["KYMO_CONFIG"], "w", encoding="utf-8") as file:
                file.write(text.replace("clickhouse: {", "clickhouse: {" + extra + ", "))
            with Serving(directory, environment, *words) as serving:
                if "robot" in extra:
                    until("windows", lambda: serving.metrics()[target("clickhouse", "sent")] > 3)
                else:
                    until("failures", lambda: serving.metrics()[failures])
                    check(not database.taken, "accepted without a certificate")
        check(database.taken["/"], "nothing arrived")


def with_bandwidth(directory, trace):
    """So many bytes a second on average: no more arrive in the time since before kymo serve began, however busy the machine is."""
    environment = configure(directory)
    with open(environment["KYMO_CONFIG"], encoding="utf-8") as file:
        text = file.read()
    with open(environment["KYMO_CONFIG"], "w", encoding="utf-8") as file:
        file.write(text.replace("spool: {", "spool: {bandwidth: 2000, "))
    begin = time.monotonic()
    with Receiver() as database, Serving(directory, environment, "--clickhouse", database.address, trace) as serving:
        sent = 'kymo_push_sent_bytes_total{target="clickhouse"}'
        size = until("8000 bytes", lambda: (found := serving.metrics().get(sent, 0)) > 8000 and found)
        seconds = time.monotonic() - begin
        check(size / seconds < 3000, size, "bytes in", seconds, "s, with a limit of 2000 bytes a second")


def test(directory):
    trace = existing(os.path.join(SHARED, "data", "ros2-traces", "pair_pipeline_mt", "ctf"))[0]
    for part in through_failures, without_zstd, hostile, over_restarts, beyond_limit, left_out, with_certificates, with_bandwidth:
        place = os.path.join(directory, part.__name__)
        os.mkdir(place)
        part(place, trace)


in_directory(test)
