#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""kymo serve posts incident.json of each incident to a webhook: each new one once, to a server that stalls, cuts, lies, and answers 500; an
incident that the server refuses does not hold up the others; secrets are in no log, no mark, and not in the list of processes."""
import contextlib
import http.server
import json
import os
import re
import shutil
import sys
import threading
import time
import urllib.request

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_http import Server
from lib_test import KYMO, check, in_directory, run, running, until

TOKEN, PATH = "a/secret+token=of~this-robot", "/services/T00/B00/a-secret-path"
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Webhook(Server):
    """Answers as `habits` say, one for each request; then well. `got`: (path, headers, body) of each request."""

    def __init__(self, *habits):
        super().__init__(Handler)
        self.habits, self.got, self.taken, self.open, self.stuck = list(habits), [], [], threading.Event(), threading.Event()

    def __exit__(self, *what):
        self.open.set()
        super().__exit__(*what)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_POST(self):
        server, headers = self.server, {name.lower(): value for name, value in self.headers.items()}
        body = json.loads(self.rfile.read(int(headers["content-length"])))
        habit = server.habits.pop(0) if server.habits else "take"
        server.got.append((self.path, headers, body))
        if habit == "stall":
            server.stuck.set()
            server.open.wait(300)
        if habit == "cut":
            self.close_connection = True
            return
        status = int(habit) if habit.isdigit() else 200
        # What it says has the secrets that it was sent: they must not come into a message.
        text = "<html>Welcome to our hotel" if habit == "lie" else "ok" if status == 200 else f"{headers.get('authorization')} {self.path}"
        if status == 200 and habit != "lie":
            server.taken.append(body)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://127.0.0.1:1/")
        self.send_header("Content-Type", "text/html")           # as Slack does, also for "ok"
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def incident(place, name, state="complete", **more):
    path = os.path.join(place, name)
    os.makedirs(path)
    with open(os.path.join(path, "incident.json"), "w", encoding="utf-8") as out:
        json.dump({"state": state, "at_ns": 1795489964000000000, "robot": "r2d2", "labels": {"site": "hall-3"}, "cause": "it took 120 ms",
                   "trigger": "chain(/scan -> /cmd_vel) > 80ms", "finding": "/planner: 120 ms, usually 3 ms", "finding_about": "trigger", **more}, out)
    return path


def secret(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text + "\n")
    os.chmod(path, 0o600)
    return path


def variables(directory, webhook):
    config = os.path.join(directory, "kymo.yaml")
    with open(config, "w", encoding="utf-8") as out:
        out.write(f"robot: c3po\nserve: {{listen: '127.0.0.1:0'}}\nwebhook: {{{webhook}}}\n")
    os.makedirs(os.path.join(directory, "run"), 0o700, exist_ok=True)
    return dict(os.environ, KYMO_CONFIG=config, KYMO_DIR=os.path.join(directory, "run"), KYMO_INCIDENTS=os.path.join(directory, "I"))


@contextlib.contextmanager
def serving(directory, webhook):
    """kymo serve. Gives its metrics, as a function; at the end no secret was in what it printed, and it ended well."""
    log = os.path.join(directory, "told")

    def told():
        with open(log, encoding="utf-8") as file:
            return file.read()

    def metrics():
        with OPENER.open(re.findall(r"http://\S+/metrics", told())[0], timeout=300) as answer:
            return {name: int(value) for name, value in re.findall(r"^kymo_webhook_(\S+) (\S+)$", answer.read().decode(), re.M)}

    with open(log, "w", encoding="utf-8") as out, running(KYMO, "serve", env=variables(directory, webhook), stderr=out) as process:
        until("an address", lambda: "/metrics" in told())
        metrics.told = told
        yield metrics
        for name in "cmdline", "environ":
            with open(f"/proc/{process.pid}/{name}", "rb") as file:
                found = file.read().decode()
            check(TOKEN not in found and PATH not in found, "a secret is in", name)
        process.terminate()
        check(process.wait(300) == 0 and TOKEN not in told() and PATH not in told(), told())


def seen(directory):
    """kymo serve saw the webhook before: what comes now is new."""
    place = os.path.join(directory, "I")
    os.makedirs(place)
    with serving(directory, "url: 'http://127.0.0.1:1/'"):
        until("the webhook is known", lambda: os.path.exists(os.path.join(place, "uploaded")))
    return place


def older(directory):
    """What was complete before the webhook was set is not posted, but what is completed or happens later, also while nothing serves."""
    place = os.path.join(directory, "I")
    for second in range(50):
        incident(place, f"20261124-0310{second:02}")
    incident(place, "20261124-031200", "written")
    with Webhook() as webhook:
        with serving(directory, f"url: '{webhook.address}'") as metrics:
            until("it is known", lambda: os.path.exists(os.path.join(place, "uploaded")))
            until("that is said", lambda: "webhook: gets incidents from now on; 50 from before are not posted" in metrics.told())
        incident(place, "20261124-031300")
        os.remove(os.path.join(place, "20261124-031200", "incident.json"))
        os.rmdir(os.path.join(place, "20261124-031200"))
        incident(place, "20261124-031200")
        with serving(directory, f"url: '{webhook.address}'") as metrics:
            until("all were sent", lambda: (found := metrics())["waiting_incidents"] == 0 and found['incidents_total{result="sent"}'] == 2)
            check("from before" not in metrics.told(), metrics.told())
        check([body["name"] for body in webhook.taken] == ["20261124-031200", "20261124-031300"], webhook.taken)
        # A robot whose earlier kymo posted, and has no such mark in the directory.
        os.remove(os.path.join(place, "uploaded"))
        incident(place, "20261124-031301")
        with serving(directory, f"url: '{webhook.address}'") as metrics:
            until("the next one", lambda: len(webhook.taken) == 3)
        check(webhook.taken[-1]["name"] == "20261124-031301", webhook.taken)
    # A directory that does not exist yet has nothing old.
    shutil.rmtree(place)
    with Webhook() as webhook, serving(directory, f"url: '{webhook.address}'") as metrics:
        until("a look", lambda: metrics()["waiting_incidents"] == 0)
        time.sleep(1)
        incident(place, "20261124-031302")
        until("the first one", lambda: webhook.taken)


def each_once(directory):
    place = seen(directory)
    first = incident(place, "20261124-031244")
    incident(place, "20261124-031245", "written")                # not complete
    token = secret(directory, "token", TOKEN)
    with Webhook("500", "cut", "lie", "429", "302", "stall") as webhook:
        with serving(directory, f"url: '{webhook.address}/hook', token-file: {token}") as metrics:
            until("a request that stalls", webhook.stuck.is_set)
            found = metrics()
            # libcurl itself sends again what an old connection lost.
            check(found["waiting_incidents"] == 1 and found["failures_total"] in (4, 5), found)
            webhook.open.set()
            found = until("it was sent", lambda: (found := metrics())['incidents_total{result="sent"}'] == 1 and found)
            check(found["waiting_incidents"] == 0 and found["sent_bytes_total"] > 100, found)
            check("webhook: 127.0.0.1 answered 500; incidents wait" in metrics.told() and "arrive again" in metrics.told(), metrics.told())
        check(len(webhook.got) == 6 and len(webhook.taken) == 1, webhook.got)
        for path, headers, body in webhook.got:
            check(path == "/hook" and headers["authorization"] == "Bearer " + TOKEN and headers["content-type"] == "application/json", headers)
            check(headers["idempotency-key"] == "20261124-031244", headers)
            check(body["name"] == "20261124-031244" and body["robot"] == "r2d2" and body["labels"] == {"site": "hall-3"} and
                  body["finding"] == "/planner: 120 ms, usually 3 ms", body)
        # Another kymo serve does not send it again, but the next one.
        incident(place, "20261124-031246")
        with serving(directory, f"url: '{webhook.address}/hook'") as metrics:
            until("the next one", lambda: len(webhook.taken) == 2)
            until("all were sent", lambda: metrics()["waiting_incidents"] == 0)
        check([body["name"] for body in webhook.taken] == ["20261124-031244", "20261124-031246"], webhook.taken)
        check("authorization" not in webhook.got[-1][1], "a token that nobody gave")
    with open(os.path.join(first, "uploaded"), encoding="utf-8") as file:
        check(re.fullmatch(r"\S+ webhook 127\.0\.0\.1\n", file.read()), "the mark")


def refused(directory):
    """One that the server does not accept; others are sent."""
    place = seen(directory)
    for second in range(3):
        incident(place, f"20261124-03124{second}")
    with Webhook("take", "400") as webhook, serving(directory, f"url: '{webhook.address}'") as metrics:
        found = until("the others", lambda: len(webhook.taken) == 2 and (found := metrics())["waiting_incidents"] == 0 and found)
        check(found['incidents_total{result="refused"}'] == 1 and found['incidents_total{result="sent"}'] == 2, found)
        check("webhook: 20261124-031241: 127.0.0.1 answered 400" in metrics.told(), metrics.told())


def for_chats(directory):
    incident(seen(directory), "20261124-031244")
    with Webhook("403") as webhook:
        address = secret(directory, "address", webhook.address + PATH)
        with serving(directory, f"url-file: {address}, body: text") as metrics:
            until("it was sent", lambda: metrics()['incidents_total{result="sent"}'])
        check(webhook.taken == [{"text": "r2d2: /planner: 120 ms, usually 3 ms (chain(/scan -> /cmd_vel) > 80ms, 20261124-031244)"}], webhook.taken)
        check(webhook.got[-1][0] == PATH, webhook.got)
    with open(os.path.join(directory, "I", "20261124-031244", "uploaded"), encoding="utf-8") as file:
        check(PATH not in file.read(), "the secret address is in the mark")


def wrong(directory):
    token, open_to_all = secret(directory, "token", TOKEN), secret(directory, "open", TOKEN)
    os.chmod(open_to_all, 0o644)
    for webhook, text in ((f"url: 'http://10.0.0.1/', token-file: {token}", "the token would be sent to 10.0.0.1 unencrypted"),
                          (f"url-file: {secret(directory, 'far', 'http://10.0.0.1' + PATH)}", "the secret address would be sent to 10.0.0.1 unencrypted"),
                          (f"url: 'http://127.0.0.1/', token-file: {open_to_all}", "chmod 600"),
                          (f"url: 'http://127.0.0.1/', url-file: {token}", "only one of them"),
                          (f"url-file: {token}", "expected an address")):
        done = run(KYMO, "config", "check", env=variables(directory, webhook), status=3)
        check(text in done.stderr and TOKEN not in done.stderr and PATH not in done.stderr, text, done.stderr)
    run(KYMO, "config", "check", env=variables(directory, f"url: 'http://127.0.0.1/', token-file: {token}"))


def test(directory):
    for part in older, each_once, refused, for_chats, wrong:
        place = os.path.join(directory, part.__name__)
        os.mkdir(place)
        part(place)


in_directory(test)
