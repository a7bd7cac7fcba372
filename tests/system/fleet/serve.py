#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""kymo serve: the metrics of a trace agree with `kymo query`, promtool finds nothing to say, a real Prometheus scrapes a running robot,
and nobody reads who may not."""
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, ROBOT, SHARED, SOURCE, check, existing, in_directory, kymo, private, query, robot, run, running, until

TALKER = os.path.join(BUILD, "tests", "talker")
TOKEN = "a-token-of-more-than-16-bytes"
LINE = re.compile(r'^([a-z0-9_]+)(?:\{(.*)\})? ([-+0-9.e]+|\+Inf)$')
LABEL = re.compile(r'([a-z0-9_]+)="((?:[^"\\]|\\.)*)"')
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def parse(text):
    """Return: {(name, labels): value}, and {family: type}. Each line must be one, and each series is there once."""
    series, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            check(family not in types, family, "twice")
            types[family] = kind
        elif not line.startswith("# "):
            found = LINE.match(line)
            if not check(found, "not a line of metrics:", line):
                continue
            key = found[1], tuple(sorted(LABEL.findall(found[2] or "")))
            check(key not in series, key, "twice")
            series[key] = float(found[3])
    return series, types


def labels_of(key):
    return dict(key[1])


def histograms(series, types):
    for family in (name for name, kind in types.items() if kind == "histogram"):
        buckets = {}
        for key, value in series.items():
            if key[0] == family + "_bucket":
                rest = tuple(label for label in key[1] if label[0] != "le")
                buckets.setdefault(rest, []).append((float(labels_of(key)["le"]), value))
        for rest, values in buckets.items():
            check(values == sorted(values) and [value for _, value in values] == sorted(value for _, value in values), family, rest, values)
            check(len(values) == 20 and values[-1][1] == series[family + "_count", rest], family, rest, values)
            check(values[-1][0] == float("inf") and (family + "_sum", rest) in series, family, rest)


def promtool(text):
    if not shutil.which("promtool"):
        print("skipped in part: no promtool; apt install prometheus")
        return
    told = subprocess.run(["promtool", "check", "metrics"], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    check((told.returncode, told.stdout) == (0, ""), "promtool:", told.stdout[:1000])


def of_trace(trace):
    text = kymo("serve", "--once", trace, "--all")
    series, types = parse(text)
    histograms(series, types)
    promtool(text)
    for row in query(trace, "SELECT callback, process_id, count(*) AS runs, sum(duration_ns) AS ns FROM callback_instances GROUP BY 1, 2"):
        told = [(value, series["ros2_callback_duration_seconds_sum", key[1]]) for key, value in series.items()
                if key[0] == "ros2_callback_duration_seconds_count" and labels_of(key)["callback"] == row["callback"]]
        check(any(count == row["runs"] and abs(total - row["ns"] / 1e9) < 1e-8 for count, total in told), row, told)
    for row in query(trace, "SELECT t.name, count(DISTINCT p.publication_id) AS calls FROM publications p JOIN topics t ON t.id = p.topic_id "
                            "GROUP BY 1"):
        told = series.get(("ros2_topic_published_messages_total", (("topic", row["name"]),)))
        check(told == row["calls"], row, told)
    pids = {str(row["pid"]) for row in query(trace, "SELECT pid FROM processes")}
    check(not [key for key in series if pids & set(labels_of(key).values()) or "0x" in str(key)], "process numbers or addresses")
    few, _ = parse(kymo("serve", "--once", trace, "--max-series", "60"))
    check(len(few) < 70 and few["kymo_series_dropped_total", ()] > 100, len(few), "series")
    limited(trace, series)
    left_out(trace, series)


def sums(series, label):
    """Return: the sum of each family over the label's values, of all numbers that are exact."""
    result = {}
    for key, value in series.items():
        if label in labels_of(key) and "waited" not in key[0]:
            rest = key[0], labels_of(key).get("le"), labels_of(key).get("cause")
            result[rest] = result.get(rest, 0) + value
    return {key: round(value, 6) for key, value in result.items()}


def limited(trace, whole):
    """With two entities of each kind: these two are as before, and all others count together, and nothing twice."""
    done = run(KYMO, "serve", "--once", trace, "--all", "--max-entities", "2")
    series, _ = parse(done.stdout)
    check(done.stderr.count("windows name at most 2 callbacks, 2 topics") == 1, done.stderr)
    check(series["kymo_windows_over_entities_total", ()] >= 1 and whole["kymo_windows_over_entities_total", ()] == 0, "windows that are over")
    for label in ("callback", "topic", "chain", "timer"):
        check(sums(series, label) == sums(whole, label), label, "does not count the rest exactly")
        names = {labels_of(key)[label] for key in series if label in labels_of(key) and (label == key[0].split("_")[1])}
        check("(other)" in names and len(names) <= 3, label, names)
        for key, value in series.items():
            if "(other)" not in labels_of(key).values() and label in labels_of(key) and "waited" not in key[0]:
                check(whole.get(key) == value, key, value, whole.get(key))


def left_out(trace, whole):
    """With room for eight objects of each kind: callbacks that have it are as before, and runs and publish calls of the others are
    counted."""
    done = run(KYMO, "serve", "--once", trace, "--all", "--max-objects", "8")
    series, _ = parse(done.stdout)
    check(done.stderr.count("windows have details of at most 8 nodes, 8 topics") == 1, done.stderr)
    check(series["kymo_objects_left_out_total", ()] > 5 and whole["kymo_objects_left_out_total", ()] == 0, "objects")
    check(whole["kymo_events_left_out_total", ()] == 0, "events")
    runs, before = ({key: value for key, value in some.items() if key[0] == "ros2_callback_runs_total"} for some in (series, whole))
    other = [value for key, value in runs.items() if labels_of(key)["callback"] == "(other)"]
    check(1 < len(runs) <= 9 and len(other) == 1 and other[0] > 0, runs)
    check(not any(labels_of(key).get("topic") == "(other)" for key in whole), "others without a reason")
    check(series["ros2_topic_published_messages_total", (("topic", "(other)"),)] > 0, "publish calls")
    # A run without room counts as it begins, and the others as they end.
    check(sum(before.values()) <= sum(runs.values()) <= sum(before.values()) + 50, sum(runs.values()), sum(before.values()))
    for key, value in runs.items():
        check("(other)" in labels_of(key).values() or value <= before.get(key, 0), key, value, before.get(key))


def get(url, *, context=None, **headers):
    """Return: status, text."""
    request = urllib.request.Request(url, headers={key.replace("_", "-"): value for key, value in headers.items()})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)) if context else OPENER
    try:
        with opener.open(request, timeout=300) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers


def serving(*words, **options):
    return running(KYMO, "serve", "--listen", "127.0.0.1:0", *words, stderr=subprocess.PIPE, text=True, **options)


def address(process):
    """Return: the URL that it prints, without /metrics."""
    line = process.stderr.readline()
    found = re.search(r"(https?://[0-9.]+:\d+)/metrics$", line)
    assert found, line
    return found[1]


def requests(trace):
    """What a client may ask, and what becomes of nonsense."""
    with serving("--window", "1s", trace) as process:
        url = address(process)
        until("windows of the trace", lambda: "ros2_callback_duration_seconds_count" in get(url + "/metrics")[1])
        check(get(url + "/healthz")[:2] == (200, "ok\n") and "/metrics" in get(url + "/")[1], "pages")
        check(get(url + "/x")[0] == 404 and get(url + "/metrics", Host="evil.example")[0] == 421, "refused")
        status, text, headers = get(url + "/metrics", Accept="application/openmetrics-text; version=1.0.0")
        check(status == 200 and text.endswith("# EOF\n") and "openmetrics" in headers["Content-Type"], text[-100:])
        check("# TYPE kymo_events counter" in text and "\nkymo_events_total " in text, "names of counters")
        port = int(url.rpartition(":")[2])
        for bytes_sent, answer in ((b"POST / HTTP/1.1\r\n\r\n", b"HTTP/1.1 405"), (b"GET x HTTP/1.1\r\n\r\n", b"HTTP/1.1 400"),
                                   (b"\0\r\n\r\n", b""), (b"GET /" + b"x" * 9000, b"")):
            with socket.create_connection(("127.0.0.1", port)) as client:
                try:
                    client.sendall(bytes_sent)
                    check(client.recv(100).startswith(answer), bytes_sent[:20], answer)
                except ConnectionError:
                    check(not answer, bytes_sent[:20])
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
        until("an answer beside idle connections", lambda: answers(url))
        for client in idle:
            client.close()
        process.terminate()
        check(process.wait(300) == 0, "ends with 0")


def answers(url):
    try:
        return get(url + "/healthz")[0] == 200
    except (ConnectionError, urllib.error.URLError):
        return False


def protection(trace, directory):
    """Beyond this machine only with TLS and a token, or with the words that name the risk."""
    key, certificate, token = (os.path.join(directory, name) for name in ("key", "certificate", "token"))
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", certificate,
        "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1")
    with open(token, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(TOKEN + "\n")
    told = run(KYMO, "serve", "--listen", "0.0.0.0:0", trace, status=2).stderr
    check("--everybody-may-read" in told, told)
    run(KYMO, "serve", "--listen", "0.0.0.0:0", "--tls-cert", certificate, "--tls-key", key, trace, status=2)
    with serving("--tls-cert", certificate, "--tls-key", key, "--token-file", token, trace) as process:
        url = address(process)
        context = ssl.create_default_context(cafile=certificate)
        check(url.startswith("https://"), url)
        check(get(url + "/metrics", context=context)[0] == 401, "without a token")
        check(get(url + "/metrics", context=context, Authorization="Bearer " + TOKEN[:-1] + "x")[0] == 401, "another token")
        status, text, _ = get(url + "/metrics", context=context, Authorization="Bearer " + TOKEN)
        check(status == 200 and "kymo_build_info" in text, status)
        with open(f"/proc/{process.pid}/cmdline", encoding="utf-8") as file:
            check(TOKEN not in file.read(), "the token is in the list of processes")


def prometheus(directory, url):
    """Debian's Prometheus scrapes it, and answers a question about what it scraped."""
    if not shutil.which("prometheus"):
        print("skipped in part: no prometheus; apt install prometheus")
        return
    config = os.path.join(directory, "prometheus.yml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"global: {{scrape_interval: 1s}}\nscrape_configs:\n- job_name: robot\n  static_configs:\n"
                   f"  - targets: ['{url.partition('//')[2]}']\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open(os.path.join(directory, "prometheus.log"), "w", encoding="utf-8") as log, \
            running("prometheus", "--config.file", config, "--storage.tsdb.path", os.path.join(directory, "tsdb"),
                    "--web.listen-address", f"127.0.0.1:{port}", stdout=log, stderr=log):
        def ask(what):
            try:
                with OPENER.open(f"http://127.0.0.1:{port}/api/v1/query?query={what}", timeout=300) as answer:
                    return json.load(answer)["data"]["result"]
            except (ConnectionError, urllib.error.URLError):
                return []

        found = until("a series in Prometheus", lambda: ask("ros2_topic_published_messages_total%7Btopic=%22/scan%22%7D"))
        check(float(found[0]["value"][1]) > 0, found)
        quantile = until("a quantile", lambda: ask("histogram_quantile(0.99,ros2_callback_duration_seconds_bucket)"))
        check(any(float(one["value"][1]) > 0 for one in quantile), quantile)
        dashboard(ask)


def dashboard(ask):
    """Each question of the dashboard is one that Prometheus understands, about series that exist."""
    with open(os.path.join(SOURCE, "packaging", "fleet", "grafana.json"), encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    for panel in panels:
        expression = panel["targets"][0]["expr"].replace("$__rate_interval", "1m")
        until(panel["title"], lambda: ask(urllib.parse.quote(expression)))


def happened(place, url):
    """Incidents are counted, also those that are removed, and listed, newest first."""
    def incident(name):
        os.makedirs(os.path.join(place, name))
        with open(os.path.join(place, name, "incident.json"), "w", encoding="utf-8") as file:
            json.dump({"state": "complete", "cause": "it <was> late"}, file)

    def counted():
        series = parse(get(url + "/metrics")[1])[0]
        return tuple(series["kymo_incidents_" + name, ()] for name in ("total", "kept"))

    check(counted() == (0, 0), counted())
    check(json.loads(get(url + "/incidents")[1]) == [], "none")
    for name in "20261124-031244", "20261124-031244-2":
        incident(name)
    check(counted() == (2, 2), counted())
    shutil.rmtree(os.path.join(place, "20261124-031244"))
    incident("20261124-031245")
    check(counted() == (3, 2) and counted() == (3, 2), counted())
    listed = json.loads(get(url + "/incidents")[1])
    check([one["name"] for one in listed] == ["20261124-031245", "20261124-031244-2"] and listed[0]["cause"] == "it <was> late" and
          listed[0]["bytes"] > 20, listed)


def counted(environment):
    """From counters alone: runs and messages, and no histogram."""
    with serving("--count", "--window", "300ms", env=environment) as process:
        url = address(process)

        def of(name, label, value):
            return sum(count for key, count in parse(get(url + "/metrics")[1])[0].items()
                       if key[0] == name and labels_of(key).get(label) == value)

        until("runs of a callback", lambda: of("ros2_callback_runs_total", "topic", "/scan"))
        first = until("messages of /scan", lambda: of("ros2_topic_published_messages_total", "topic", "/scan"))
        until("more of them", lambda: of("ros2_topic_published_messages_total", "topic", "/scan") > first)
        text = get(url + "/metrics")[1]
        check("ros2_callback_duration_seconds_count" not in text and parse(text)[0]["kymo_events_lost_total", ()] == 0, text)
        promtool(text)
        process.terminate()
        check(process.wait(300) == 0, "ends with 0")


def sampled(environment):
    """Of each window programs are recorded for a part: its durations are there, and each run and message counts once all the same."""
    with serving("--window", "2s", "--sample", "400ms", env=environment) as process:
        url = address(process)

        def numbers():
            series = parse(get(url + "/metrics")[1])[0]
            sums = [sum(value for key, value in series.items() if key[0] == name and labels_of(key).get("topic") == "/scan") for name in
                    ("ros2_topic_published_messages_total", "ros2_callback_runs_total", "ros2_callback_duration_seconds_count",
                     "ros2_topic_lost_messages_total")]
            return *sums, series["kymo_windows_total", ()]

        last = until("durations", lambda: (found := numbers())[2] and found[4] > 4 and found)

        def between_looks():
            """Return: what six windows counted, when each message ran once. A look may fall between two that belong together."""
            nonlocal last
            first, last = last, until("more of them", lambda: (found := numbers())[2] > last[2] and found[4] > last[4] + 6 and found)
            messages, runs, durations, lost, _ = (b - a for a, b in zip(first, last))
            check(lost == 0 and 0 < durations < runs, messages, runs, durations, lost)
            return abs(runs - messages) <= 2

        until("as many runs as messages", between_looks)
        process.terminate()
        check(process.wait(300) == 0, "ends with 0")
    for words in ("--count",), ("--window", "500ms"), ("x",):
        run(KYMO, "serve", "--sample", "400ms", *words, status=2)


def growing(directory):
    """A trace that grows, in chunks of which each declares its events again: windows are not cut at chunks, and nothing is missing."""
    trace = os.path.join(directory, "growing")

    def chunks():
        return len(os.listdir(trace + "/archives")) if os.path.isdir(trace + "/archives") else 0

    def totals(text):
        series, _ = parse(text)
        return series["kymo_events_total", ()], series["kymo_windows_total", ()]

    with running(KYMO, "record", "-q", "--rotate-size", "64K", "-o", trace, "--", TALKER, "--rate", "20000", "talker", "/a",
                 env=private(directory)) as recorder:
        until("the first chunk", chunks)
        with serving("--window", "1s", trace) as process:
            url = address(process)
            until("windows and chunks", lambda: chunks() > 20 and totals(get(url + "/metrics")[1])[1] >= 2)
            recorder.send_signal(signal.SIGINT)
            check(recorder.wait(300) == 0, recorder.returncode)
            whole = totals(kymo("serve", "--once", "--window", "1s", trace))
            until("the last window", lambda: totals(get(url + "/metrics")[1])[0] == whole[0])
            windows = totals(get(url + "/metrics")[1])[1]
            check(whole[0] > 10000 and whole[1] <= windows <= whole[1] + 2, windows, "windows of", whole, "in", chunks(), "chunks")


def live(directory):
    """Running programs, of which nobody keeps a trace."""
    if not os.path.exists(ROBOT):
        print("skipped in part: no robot; it needs CycloneDDS")
        return
    incidents = os.path.join(directory, "incidents")
    environment = private(directory, KYMO_INCIDENTS=incidents)
    with running(KYMO, "run", "--", *robot(300), env=environment, stdout=subprocess.DEVNULL):
        counted(environment)
        sampled(environment)
        recorded(directory, incidents, environment)


def taken_into(pid):
    """The directory in memory that a kymo serve has for the newest events."""
    fds = f"/proc/{pid}/fd"
    return next(path for fd in os.listdir(fds) if os.path.basename(path := os.readlink(os.path.join(fds, fd))).startswith("kymo-top."))


def recorded(directory, incidents, environment):
    with serving("--window", "1s", env=environment) as process:
        url = address(process)

        def published():
            return parse(get(url + "/metrics")[1])[0].get(("ros2_topic_published_messages_total", (("topic", "/scan"),)), 0)

        first = until("messages of /scan", published)
        until("more of them", lambda: published() > first)
        shutil.rmtree(taken_into(process.pid))
        first = published()
        until("more of them in another trace", lambda: published() > first + 100)
        happened(incidents, url)
        promtool(get(url + "/metrics")[1])
        prometheus(directory, url)
        process.terminate()
        check(process.wait(300) == 0, "ends with 0")


def test(directory):
    traces = existing(*(os.path.join(SHARED, "data", "ros2-traces", name, "ctf") for name in ("pair_basic_st", "pair_intra")))
    for trace in traces:
        of_trace(trace)
    requests(traces[0])
    protection(traces[0], directory)
    growing(directory)
    live(directory)


in_directory(test)
