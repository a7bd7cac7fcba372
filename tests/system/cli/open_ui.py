#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""kymo open --ui: a folder that stands in for the Perfetto UI is served on 127.0.0.1 beside the trace, to this host's browser only, until its page
is closed. system/open_browser does it with real browsers."""
import http.client
import os
import re
import signal
import socket
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, check, in_directory, private, run

TRACE = b"[\n" + b"{}, " * 500000 + b"{}]"		# Chrome's JSON, 2 MB


def folder(directory):
    ui = os.path.join(directory, "the ui")
    os.makedirs(os.path.join(ui, "v1"))
    for name, text in (("index.html", "<h1>UI</h1>"), ("v1/engine.wasm", "wasm"), ("v1/a b.js", "js")):
        with open(os.path.join(ui, name), "w", encoding="utf-8") as file:
            file.write(text)
    with open(os.path.join(directory, "secret"), "w", encoding="utf-8") as file:
        file.write("secret")
    os.symlink("../secret", os.path.join(ui, "link"))
    os.symlink("engine.wasm", os.path.join(ui, "v1/inside.wasm"))
    os.mkfifo(os.path.join(ui, "pipe"))
    return ui


def ask(port, path, method="GET", host=None):
    """Return: status, headers and content."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{port}")
    connection.endheaders()
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


def says(port, request):
    """Return: the first line of the answer to these bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=300) as connection:
        connection.sendall(request)
        return connection.makefile("rb").readline().decode()


def files(port):
    for path, kind, content in (("/", "text/html; charset=utf-8", b"<h1>UI</h1>"), ("/index.html?x=1", "text/html; charset=utf-8", b"<h1>UI</h1>"),
                                ("/v1/engine.wasm", "application/wasm", b"wasm"), ("/v1/inside.wasm", "application/wasm", b"wasm"),
                                ("/v1/a%20b.js", "text/javascript; charset=utf-8", b"js")):
        status, headers, got = ask(port, path)
        check((status, headers["Content-Type"], got) == (200, kind, content), path, "gave", status, headers, got)
        check(headers["X-Content-Type-Options"] == "nosniff" and headers["Cross-Origin-Resource-Policy"] == "same-origin" and
              not headers["Access-Control-Allow-Origin"], "headers of", path, headers)
    status, headers, got = ask(port, "/v1/engine.wasm", "HEAD")
    check((status, headers["Content-Length"], got) == (200, "4", b""), "HEAD gave", status, headers, got)


def trace(port, key):
    status, headers, content = ask(port, "/" + key)
    check(status == 200 and headers["Content-Type"] == "text/html; charset=utf-8" and b'"file":"a_trace.json"' in content, "the page is", status, headers)
    policy = headers["Content-Security-Policy"]
    check("default-src 'none'" in policy and "frame-src 'self'" in policy and headers["X-Frame-Options"] == "DENY", "the page's policy is", policy)
    status, headers, content = ask(port, f"/{key}/a_trace.json")
    check(status == 200 and content == TRACE and int(headers["Content-Length"]) == len(TRACE), "the trace gave", status, headers)
    for path in (f"/{'0' * 16}/a_trace.json", "/a_trace.json", f"/{key}/", f"/{key}/../secret", f"/{key}x"):
        status, _, content = ask(port, path)
        check((status == 200 if path == f"/{key}/" else status in (403, 404)) and content != TRACE, path, "gave", status)


def refused(port):
    for path in ("/../secret", "/v1/../../secret", "/%2e%2e/secret", "/v1/%2e%2e%2f..%2fsecret", "/..", "//../secret"):
        status, _, content = ask(port, path)
        check(status == 403 and b"secret" not in content, path, "gave", status, content)
    for path in ("/link", "/nothing", "/v1", "/v1/", "/pipe", "/index.html/x"):
        status, _, content = ask(port, path)
        check(status == 404 and b"secret" not in content, path, "gave", status, content)
    for path in ("/a%00b", "/%zz", "/a%5cb", "/%", "index.html"):
        check(ask(port, path)[0] == 400, path, "gave", ask(port, path)[0])
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port}.evil.example"):
        check(ask(port, "/", host=host)[0] == 421, "Host:", host, "gave", ask(port, "/", host=host)[0])
    check(ask(port, "/", host=f"LocalHost:{port}")[0] == 200, "localhost is refused")
    check(ask(port, "/", "POST")[0] == 405, "POST is allowed")
    check(" 421 " in says(port, b"GET / HTTP/1.0\r\n\r\n"), "a request without Host is answered")
    check(" 431 " in says(port, b"GET /" + b"x" * 20000), "a request without an end is read on")
    check(" 400 " in says(port, b"\0" * 100 + b"\r\n\r\n"), "NULs are a request")


def alive(port, key, server):
    """As long as the page is shown, kymo goes on; a page that is loaded again comes back."""
    for _ in range(2):
        with socket.create_connection(("127.0.0.1", port), timeout=300) as connection:
            connection.sendall(f"GET /{key}/alive HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            check(b" 200 OK" in connection.recv(4096), "the page cannot stay")
            check(ask(port, "/")[0] == 200 and server.poll() is None, "it does not go on")
    check(server.wait(300) == 0, "after the page was closed it ended with", server.returncode)


def crowd(port):
    """More connections than there are places, none of which asks for anything."""
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(80)]
    check(ask(port, "/")[0] == 200, "idle connections shut out others")
    for connection in idle:
        connection.close()


def served(directory):
    ui, file, environment = folder(directory), os.path.join(directory, "a trace.json"), private(directory)
    with open(file, "wb") as out:
        out.write(TRACE)
    with subprocess.Popen([KYMO, "open", "--ui", ui, file], stdout=subprocess.PIPE, text=True, env=environment) as server:
        lines = [server.stdout.readline() for _ in range(4)]
        found = re.fullmatch(r"Page:  http://127\.0\.0\.1:(\d+)/([0-9a-f]{16})\n", lines[2])
        check(found and lines[0].endswith("/a trace.json\n") and lines[1] == f"UI:    {ui}\n" and len(lines[3]) <= 81, "open says", lines)
        port, key = int(found[1]), found[2]
        try:
            files(port)
            trace(port, key)
            refused(port)
            crowd(port)
            check(ask(port, "/")[0] == 200, "it does not go on")
            check(ask(port, f"/{'0' * 16}/alive")[0] == 404, "anybody may stay")
            done = run(KYMO, "open", "--ui", ui, "--port", str(port), file, env=environment, status=None)
            check(done.returncode == 1 and f"127.0.0.1:{port}" in done.stderr and "--port" in done.stderr, "a port in use:", done)
            with socket.socket() as other:
                check(other.connect_ex(("127.0.0.2", port)) != 0, "it listens on other addresses, too")
            alive(port, key, server)
        finally:
            if server.poll() is None:
                server.send_signal(signal.SIGINT)
        check(server.wait() == 0, "ended with", server.returncode)


def chosen(directory):
    """Where the UI comes from, and what is no UI."""
    file, empty = os.path.join(directory, "a trace.json"), os.path.join(directory, "empty")
    os.mkdir(empty)
    plain, other = private(directory), private(directory, KYMO_UI="http://ui.lan")
    brief = (KYMO, "open", "--no-browser", "--wait", "1ms", file)
    check("UI:    http://ui.lan\n" in run(*brief, env=other, status=None).stdout, "KYMO_UI is not read")
    check("UI:    https://my.lan:8080/x\n" in run(*brief, "--ui", "https://my.lan:8080/x", env=other, status=None).stdout,
          "--ui does not override KYMO_UI")
    for words, status, text in ((["--ui", empty], 3, "index.html"), (["--ui", empty + "/no"], 3, "No such file"), (["--ui", ""], 2, "empty"),
                                (["--port", "99999", "--ui", empty], 2, "65535"), (["--ui", "http://a;b"], 2, "not an address"),
                                (["--at", "+1s"], 2, "is a file"), (["--browser", "--no-browser"], 2, "opposites")):
        done = run(KYMO, "open", *words, file, env=plain, status=None)
        check(done.returncode == status and text in done.stderr and not done.stdout, words, "gave", done)


def paged(directory):
    """A page is served to whom has the address, and kymo ends when a browser has it."""
    page, text = os.path.join(directory, "report.html"), b"<!doctype html><p>report" + b"x" * 3000000
    with open(page, "wb") as out:
        out.write(text)
    with subprocess.Popen([KYMO, "open", "--no-browser", "-q", page], stdout=subprocess.PIPE, text=True, env=private(directory)) as server:
        port, key = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{16})\n", server.stdout.readline()).groups()
        check([ask(int(port), path)[0] for path in ("/", "/report.html", f"/{key}/report.html", f"/{key[:-1]}")] == [404] * 4, "more than the page is served")
        check(ask(int(port), f"/{key}", "HEAD")[2] == b"" and server.poll() is None, "HEAD is the page")
        status, headers, content = ask(int(port), f"/{key}")
        check(status == 200 and content == text and headers["X-Frame-Options"] == "DENY", "the page is", status, headers)
        check(server.wait(300) == 0, "it ended with", server.returncode)


def test(directory):
    paged(directory)
    served(directory)
    chosen(directory)


in_directory(test)
