# SPDX-License-Identifier: Apache-2.0
"""Browsers without a screen, for pages that open from disk: Chromium by its DevTools protocol over a pipe, Firefox by WebDriver
BiDi over a socket of the loopback. One process shows many pages. Each has a profile of its own, which is removed."""
import base64
import json
import os
import re
import select
import shutil
import socket
import subprocess
import tempfile
import time

DEADLINE_S = 300


class Browser:
    """What the two have in common. `errors`: what pages wrote to the console or threw; `requests`: what they asked for, but
    themselves."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="kymo-browser-")
        self.number = 0
        self.answers = {}
        self.errors, self.requests = [], []
        self.process = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *what):
        self.close()

    def close(self):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(DEADLINE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def ask(self, method, **parameters):
        """Send a command and wait for its result; what happens meanwhile is noted."""
        self.number += 1
        self.send(self.command(self.number, method, parameters))
        end = time.monotonic() + DEADLINE_S
        while self.number not in self.answers:
            message = self.receive(end - time.monotonic())
            if message.get("id"):
                self.answers[message["id"]] = message
            else:
                self.happened(message.get("method", ""), message.get("params", {}))
        answer = self.answers.pop(self.number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer}"[:3000])
        return answer.get("result", {})

    def command(self, number, method, parameters):
        return {"id": number, "method": method, "params": parameters}

    def value(self, expression):
        """Return: the value of a JavaScript expression; promises are awaited."""
        return json.loads(self.evaluate(f"(async () => JSON.stringify((await ({expression})) ?? null))()"))

    def wait(self, expression):
        end = time.monotonic() + DEADLINE_S
        while not self.value(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"never true in the page: {expression}")
            time.sleep(0.05)

    def show(self, path, fragment=""):
        """Open a page from disk and wait until its script has drawn it."""
        self.go("about:blank")
        self.go("file://" + path + fragment)
        self.wait("document.documentElement.dataset.ready")

    def view(self, fragment):
        """Go to another view of the page that is shown."""
        self.value(f"(location.hash = {json.dumps(fragment)})")
        self.wait("document.documentElement.dataset.view === location.hash")


class Chromium(Browser):
    name = "chromium"

    def start(self):
        to_read, self.to_write = os.pipe()
        self.to_receive, from_write = os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--disable-extensions", "--window-size=1280,900",
                   "--user-data-dir=" + self.profile, "--remote-debugging-pipe", "about:blank"]
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$@" 3<&{to_read} 4>&{from_write}', "sh", shutil.which("chromium"), *options],
            pass_fds=(to_read, from_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, HOME=self.profile))
        os.close(to_read)
        os.close(from_write)
        self.pending = b""
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.ask(domain + ".enable")

    def close(self):
        super().close()
        for end in ("to_write", "to_receive"):
            if hasattr(self, end):
                os.close(getattr(self, end))

    def command(self, number, method, parameters):
        command = super().command(number, method, parameters)
        return dict(command, sessionId=self.session) if self.session else command

    def send(self, message):
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_write, data):]

    def receive(self, seconds):
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.to_receive], [], [], max(0, seconds))
            data = os.read(self.to_receive, 1 << 16) if ready else None
            if not data:
                raise TimeoutError("chromium does not answer" if data is None else "chromium ended")
            self.pending += data
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def happened(self, method, what):
        if method == "Runtime.exceptionThrown":
            self.errors.append(str(what.get("exceptionDetails"))[:1000])
        elif method == "Runtime.consoleAPICalled" and what.get("type") in ("error", "warning", "assert"):
            self.errors.append(str(what.get("args"))[:1000])
        elif method == "Log.entryAdded" and what["entry"].get("level") in ("error", "warning"):
            self.errors.append(str(what["entry"])[:1000])
        elif method == "Network.requestWillBeSent":
            url = what["request"]["url"]
            if not (what.get("type") == "Document" and url.startswith(("file://", "about:"))) and not url.startswith("data:"):
                self.requests.append(url[:200])

    def go(self, url):
        self.ask("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href.startsWith(" + json.dumps(url.split("#")[0].split(":")[0]) + ")")

    def evaluate(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression[:200]}: {result['exceptionDetails']}"[:2000])
        return result["result"]["value"]

    def key(self, key, code=0, text=None):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                     **({"text": text} if text and kind == "keyDown" else {}))

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


class Firefox(Browser):
    name = "firefox-esr"

    def start(self):
        with open(os.path.join(self.profile, "user.js"), "w", encoding="utf-8") as file:
            for key, value in (("browser.shell.checkDefaultBrowser", "false"), ("datareporting.policy.dataSubmissionEnabled", "false"),
                               ("app.update.enabled", "false"), ("network.captive-portal-service.enabled", "false"),
                               ("network.connectivity-service.enabled", "false"), ("browser.aboutwelcome.enabled", "false")):
                file.write(f'user_pref("{key}", {value});\n')
        self.log = os.path.join(self.profile, "stderr")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [shutil.which("firefox-esr"), "--headless", "--no-remote", "--profile", self.profile, "--remote-debugging-port", "0",
                 "about:blank"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=dict(os.environ, HOME=self.profile, MOZ_HEADLESS="1"))
        host, port = self.listening()
        self.socket = socket.create_connection((host, port), DEADLINE_S)
        self.pending = b""
        self.shake_hands(host, port)
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self.context = self.ask("browsingContext.create", type="tab")["context"]

    def listening(self):
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end and self.process.poll() is None:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                found = re.search(r"WebDriver BiDi listening on ws://([0-9.]+|localhost|\[::1\]):(\d+)", log.read())
            if found:
                return found[1], int(found[2])
            time.sleep(0.05)
        with open(self.log, encoding="utf-8", errors="replace") as log:
            raise TimeoutError("firefox does not listen: " + log.read()[-2000:])

    def shake_hands(self, host, port):
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET /session HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.pending:
            self.fill(DEADLINE_S)
        head, self.pending = self.pending.split(b"\r\n\r\n", 1)
        if b" 101 " not in head:
            raise RuntimeError(f"firefox refused: {head!r}")

    def fill(self, seconds):
        self.socket.settimeout(max(0.01, seconds))
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionError("firefox ended")
        self.pending += data

    def take(self, size, seconds):
        while len(self.pending) < size:
            self.fill(seconds)
        data, self.pending = self.pending[:size], self.pending[size:]
        return data

    def send(self, message):
        data, mask = json.dumps(message).encode(), os.urandom(4)
        length = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big") \
            if len(data) < 1 << 16 else b"\xff" + len(data).to_bytes(8, "big")
        self.socket.settimeout(DEADLINE_S)
        self.socket.sendall(b"\x81" + length + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def receive(self, seconds):
        text = b""
        while True:
            first, length = self.take(2, seconds)
            if length & 127 >= 126:
                length = int.from_bytes(self.take(2 if length & 127 == 126 else 8, seconds), "big")
            data = self.take(length, seconds)
            if first & 15 in (0, 1):
                text += data
                if first & 128:
                    return json.loads(text)

    def happened(self, method, what):
        if method == "log.entryAdded" and what.get("level") in ("error", "warn"):
            self.errors.append(str(what)[:1000])
        elif method == "network.beforeRequestSent" and what.get("context") == getattr(self, "context", None):
            url = what["request"]["url"]
            if not url.startswith(("data:", "about:", "file://")) or (url.startswith("file://") and not what.get("navigation")):
                self.requests.append(url[:200])

    def go(self, url):
        self.ask("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def evaluate(self, expression):
        result = self.ask("script.evaluate", expression=expression, awaitPromise=True, target={"context": self.context})
        if result["type"] != "success":
            raise RuntimeError(f"{expression[:200]}: {result}"[:2000])
        return result["result"]["value"]

    def key(self, key, code=0, text=None):
        special = {"Enter": "\ue007", "ArrowDown": "\ue015", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowLeft": "\ue012",
                   "Escape": "\ue00c"}
        self.ask("input.performActions", context=self.context, actions=[
            {"type": "key", "id": "keys", "actions": [{"type": kind, "value": special.get(key, key)} for kind in ("keyDown", "keyUp")]}])

    def click(self, x, y):
        self.ask("input.performActions", context=self.context, actions=[
            {"type": "pointer", "id": "mouse", "actions": [{"type": "pointerMove", "x": int(x), "y": int(y)},
                                                           {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]}])


def browsers():
    """Return: the browsers that are installed."""
    return [kind for kind in (Chromium, Firefox) if shutil.which(kind.name)]
