#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""Two robots receive the same messages of a third one. The kymo serve of each knows its own half only, and both send traces to one
collector: there, what followed from a message has the same trace id, whoever sent it; and links lead on."""
import collections
import contextlib
import gzip
import http.server
import json
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_http import Server
from lib_test import BUILD, KYMO, check, in_directory, ros_domain, running, skip, until

PROGRAMS = {"lidar": "driver", "r1": "perception", "r2": "perception"}


class Collector(http.server.BaseHTTPRequestHandler):
    spans = collections.defaultdict(list)  # of a robot

    def log_message(self, *args):
        pass

    def do_POST(self):
        body = json.loads(gzip.decompress(self.rfile.read(int(self.headers["Content-Length"]))))
        for resource in body.get("resourceSpans", []):
            robot = next(a["value"]["stringValue"] for a in resource["resource"]["attributes"] if a["key"] == "robot.id")
            self.spans[robot] += [span for scope in resource["scopeSpans"] for span in scope["spans"]]
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


def record(directory, domain):
    with contextlib.ExitStack() as stack:
        recorders = [stack.enter_context(running(
            KYMO, "record", "-q", "-o", os.path.join(directory, host + ".t"), "--", os.path.join(BUILD, "robot", program), "--domain",
            str(domain), "--seconds", "2", env={**os.environ, "KYMO_DIR": os.path.join(directory, host)}))
            for host, program in PROGRAMS.items()]
        for recorder in recorders:
            check(recorder.wait(300) == 0, "record")


def serve(directory, url, host):
    config = os.path.join(directory, host + ".yaml")
    with open(config, "w", encoding="utf-8") as out:
        out.write(f"robot: {host}\nserve: {{listen: '127.0.0.1:0', window: 100ms}}\notlp: {{encoding: json}}\n"
                  f"spool: {{directory: {directory}/{host}.spool}}\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return running(KYMO, "serve", "-q", "--otlp", url, os.path.join(directory, host + ".t"),
                   env={**kept, "KYMO_CONFIG": config, "KYMO_DIR": os.path.join(directory, host)})


def same():
    """Return: the trace ids that both sent, whose root is a chain from /scan."""
    return set.intersection(*({span["traceId"] for span in Collector.spans[host]} for host in ("r1", "r2")))


def test(directory):
    if not os.path.exists(os.path.join(BUILD, "robot", "driver")):
        skip("the example robot was not built")
    for host in PROGRAMS:
        os.mkdir(os.path.join(directory, host), 0o700)
    record(directory, ros_domain())
    with Server(Collector) as collector, serve(directory, collector.address, "r1"), serve(directory, collector.address, "r2"):
        until("traces with the same id", lambda: len(same()) > 3)
    for host in "r1", "r2":
        linked = 0
        for trace in same():
            spans = [span for span in Collector.spans[host] if span["traceId"] == trace]
            check(any(span["name"].endswith("/scan") for span in spans), "does not begin with /scan", [span["name"] for span in spans])
            links = [link["traceId"] for span in spans if span["name"] == "send /obstacles" for link in span.get("links", [])]
            check(trace not in links, "a link to itself", links)
            linked += bool(links)  # the last message may be one that nobody received before the end
        check(linked, host, "links nothing to what begins with /obstacles")


in_directory(test)
