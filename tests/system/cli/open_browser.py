#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""kymo open in real browsers, headless Chromium and Firefox: the page hands the trace to a UI that speaks the Perfetto UI's protocol (on
another host, or in a folder that kymo serves), at the worst instance, with tracks pinned; kymo ends when the browser does."""
import hashlib
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.parse

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, check, in_directory, private, record_robot, run, skip

# A UI as its documentation describes it: it answers PING, takes one trace, and reads its view from the fragment.
UI = """<!DOCTYPE html><meta charset="utf-8"><script>
'use strict';
const told = (what) => fetch('REPORT', { method: 'POST', mode: 'no-cors', body: JSON.stringify(what) });
addEventListener('message', async (event) => {
  if (event.source !== parent) return;
  if (event.data === 'PING') return void parent.postMessage('PONG', '*');
  const given = event.data.perfetto, bytes = new Uint8Array(given.buffer);
  let sum = 0;
  for (const byte of bytes) sum = (sum * 31 + byte) >>> 0;
  told({ title: given.title, fileName: given.fileName, size: bytes.length, sum, hash: location.hash, origin: event.origin });
});
</script>"""


class Host(http.server.ThreadingHTTPServer):
    """Serves the UI, and receives what the UI got."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.told, self.arrived = [], threading.Event()
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.ui = UI.replace("REPORT", self.address + "/told").encode()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(self.server.ui)

    def do_POST(self):
        self.server.told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.answer(b"")
        self.server.arrived.set()

    def log_message(self, *_):
        pass


def browsers(directory):
    """Name and command of each that there is."""
    found = {}
    for name, words in (("chromium", ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                                      f"--user-data-dir={directory}/chromium"]),
                        ("firefox-esr", ["--headless", "--no-remote", "--profile", f"{directory}/firefox"])):
        if shutil.which(name):
            found[name] = [name, *words]
        else:
            print(f"skipped in part: no {name}")
    os.makedirs(f"{directory}/firefox", exist_ok=True)
    return found


def end(process):
    """A browser is many processes: all of the session that it leads."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def opened(directory, browser, host, *words):
    """Return: what the UI got. kymo must have ended by itself after the browser."""
    host.told, host.arrived = [], threading.Event()
    environment = private(directory, HOME=directory)
    environment.pop("DISPLAY", None)
    with subprocess.Popen([KYMO, "open", "--no-browser", *words], stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            lines = []
            for line in server.stdout:
                lines.append(line)
                if line.startswith("Then:"):
                    break
            said = "".join(lines)
            page = re.search(r"^Page:  (http://127\.0\.0\.1:\d+/[0-9a-f]{16})$", said, re.M)
            check(page, "it says", said)
            shown = subprocess.Popen([*browser, page[1]], env=environment, start_new_session=True,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                check(host.arrived.wait(300), browser[0], "the UI got nothing", said)
                check(server.poll() is None, browser[0], "kymo ended although the page is open")
            finally:
                end(shown)
            check(server.wait(300) == 0, browser[0], "kymo ended with", server.returncode)
        finally:
            if server.poll() is None:
                server.kill()
    return said, host.told[0]


def paged(directory, browser, trace):
    """The report: kymo ends when the browser has it."""
    with subprocess.Popen([KYMO, "open", "--no-browser", "-q", trace], stdout=subprocess.PIPE, text=True,
                          env=private(directory, TMPDIR=directory)) as server:
        shown = subprocess.Popen([*browser, server.stdout.readline().strip()], env=private(directory, HOME=directory), start_new_session=True,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            check(server.wait(300) == 0, browser[0], "kymo ended with", server.returncode)
        finally:
            end(shown)
    check(not [name for name in os.listdir(directory) if name.startswith("kymo-open")], "a temporary page stayed", os.listdir(directory))


def sums(path):
    with open(path, "rb") as file:
        data, total = file.read(), 0
    for byte in data:
        total = (total * 31 + byte) & 0xffffffff
    return len(data), total


def view(got):
    """The window in ns and the patterns of pinned tracks."""
    check(got["hash"].startswith("#!/?"), "the fragment", got["hash"])
    fields = urllib.parse.parse_qs(got["hash"][4:])
    commands = json.loads(fields.get("startupCommands", ["[]"])[0])
    check(all(one["id"] == "dev.perfetto.PinTracksByRegex" and len(one["args"]) == 1 for one in commands), commands)
    return int(fields["visStart"][0]), int(fields["visEnd"][0]), [one["args"][0] for one in commands]


def offset(trace):
    """Times of the file are those of CLOCK_MONOTONIC: the first event of the trace in it."""
    with open(f"{trace}/kymo.json", encoding="utf-8") as file:
        clock = json.load(file)["clocks"][0]
    return clock["realtime_ns"] - clock["monotonic_ns"]


def test(directory):
    found = browsers(directory)
    if not found:
        skip("neither chromium nor firefox-esr")
    host, trace = Host(), os.path.join(directory, "robot <b>")
    record_robot(trace, 2, "-q")
    kept = os.path.join(directory, "kept.pftrace")
    worst = json.loads(run(KYMO, "report", trace, "--section", "findings", "--format", "json").stdout)["findings"][0]
    folder = os.path.join(directory, "ui")
    os.mkdir(folder)
    with open(os.path.join(folder, "index.html"), "wb") as file:
        file.write(host.ui)
    for browser in found.values():
        said, got = opened(directory, browser, host, "--ui", host.address + "/deep/", "-o", kept, trace)
        check((got["size"], got["sum"]) == sums(kept), browser[0], "the UI got another trace", got, sums(kept))
        check(got["fileName"] == "robot__b_.pftrace" and got["title"] == "robot <b>", got)
        begin, stop, pins = view(got)
        at = worst["at_ns"] - offset(trace)
        check(begin <= at <= stop and stop - begin < 2_000_000_000, browser[0], "opens at", begin, stop, "and not at", at)
        check(f"Shows: {worst['text']} Then:" in " ".join(said.split()), said, worst)
        check(all(len(line) <= 80 for line in said.split("\n") if line.startswith(("Shows", " "))), said)
        check(pins and all(re.compile(pin) for pin in pins), pins)
    paged(directory, next(iter(found.values())), trace)
    said, got = opened(directory, next(iter(found.values())), host, "--ui", folder, "--at", "+0.5s", trace)
    first, last, pins = view(got)
    check(last - first == 100_000_000 and not pins, "--at opens at", first, last, pins)
    check(got["origin"] == re.search(r"http://127\.0\.0\.1:\d+", said)[0], "the UI in a folder is not of the page's host", got)


in_directory(test)
