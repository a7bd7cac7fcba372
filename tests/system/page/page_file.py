#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""The file of a page without a browser: names of traces are never markup, nothing refers to anything outside, the data are
whole and small, the options are checked, and no file is overwritten or left half."""
import base64
import collections
import gzip
import html.parser
import json
import os
import re
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_sched import beside
from lib_test import BUILD, KYMO, SHARED, TESTS, answer, callback_name, check, compiled, existing, fewer, private, query, record, record_robot, run

NOT_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
ELEMENTS = set("html head meta link title style body div header h1 p main ol li noscript table caption tr th td script strong".split())


class Reader(html.parser.HTMLParser):
    """Notes elements, what refers to something, and the data."""

    def __init__(self):
        super().__init__()
        self.elements, self.odd, self.data, self.policy, self.in_data = [], [], "", "", False

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        attributes = dict(attrs)
        self.in_data = attributes.get("id") == "data"
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        self.odd += [(tag, key, value) for key, value in attrs if key.startswith("on") or key == "src" or (key == "href" and value != "data:,")]

    def handle_data(self, data):
        if self.in_data:
            self.data += data

    def handle_endtag(self, tag):
        self.in_data = False


def data_of(path, what):
    with open(path, "rb") as file:
        text = file.read().decode("utf-8")
    reader = Reader()
    reader.feed(text)
    check(set(reader.elements) <= ELEMENTS, what, "has elements", set(reader.elements) - ELEMENTS)
    check(not reader.odd, what, "refers to", reader.odd[:3])
    check(reader.policy.startswith("default-src 'none'; ") and "http" not in reader.policy, what, "allows", reader.policy)
    check(not re.search(r"https?:", re.sub(r"http://www\.w3\.org/2000/svg", "", text)), what, "names an address")
    found = NOT_TEXT.search(text)
    check(not found, what, "has", found and repr(text[max(0, found.start() - 30):found.end() + 30]))
    return json.loads(gzip.decompress(base64.b64decode(reader.data)))


def same_entities(data, told, what):
    """What a page has of callbacks and topics is what their sections of the report have, to the nanosecond. Callbacks of one name are one."""
    numbers = {(entity["kind"], entity["name"]): number for number, entity in enumerate(data["entities"])}
    names = collections.Counter(callback_name(row) for row in told.get("callbacks", []))
    symbols, topics, compared = dict(data["symbols"]), {number: more for number, *more in data["topics"]}, 0
    for kind, key, distribution, rows in ("callback", "", "duration", told.get("callbacks", [])), ("topic", "latency_", "latency", told.get("topics", [])):
        for row in rows:
            name = callback_name(row) if kind == "callback" else row["topic"]
            number = numbers.get((kind, name))
            if number is None or (kind == "callback" and (names[name] > 1 or not row["node"])):
                continue
            entity = data["entities"][number]
            shown = [entity.get(distribution, {"count": 0}).get(member) for member in ("count", "p50", "p99", "max")]
            check(shown == [row[key + member] for member in ("count", "p50_ns", "p99_ns", "max_ns")], what, name, "is", shown, row)
            if kind == "callback":
                check(symbols.get(number, "") == (row["symbol"] or ""), what, name, "has the symbol", symbols.get(number), row)
            else:
                rate_hz, *error = topics[number]
                check([entity.get("published", 0), rate_hz, *(error or [0])] == [row["published"], row["rate_hz"] or 0, row["latency_error_ns"] or 0], what, name, topics[number], row)
            compared += 1
    return compared


def look(trace, directory):
    path = os.path.join(directory, "page.html")
    run(KYMO, "report", trace, "--html", "--force", "-o", path)
    data, told = data_of(path, trace), answer("report", trace, status=(0, 6))
    for name, rows in told.items():
        if isinstance(rows, list) and name in data["tables"][0] and name != "waits":
            check(data["tables"][0][name] == rows, trace, "the section", name, "differs")
    compared = same_entities(data, told, trace)
    check(compared or not any(entity["kind"] in ("callback", "topic") for entity in data["entities"]), trace, "compared no callback and no topic")
    check([finding["text"] for finding in data["findings"]] == [row["text"] for row in told["findings"]], trace, "other findings")
    check(data["events"] == told["events"] and data["lost_events"] == told["lost_events"], trace, "other counts")
    check(data["entities"] or data["flames"] or not told["events"], trace, "has no entities")
    check(sum(len(chain["worst"]) for chain in data["chains"]) <= 1000, trace, "has too many arrivals")
    shown = collections.defaultdict(list)
    for chain in data["chains"]:
        shown[chain["entity"]] += [arrival[1] for arrival in chain["worst"]]
    for number, arrivals in shown.items():
        latency = data["entities"][number]["latency"]
        check(max(arrivals) == latency.get("steady", latency["max"]), trace, "the worst shown is", max(arrivals), "not that after start-up", latency)
    received = sum(entity["latency"]["count"] for entity in data["entities"] if entity["kind"] == "topic" and "latency" in entity)
    for kind, many in ("topic", received), ("chain", sum(entity["runs"] for entity in data["entities"] if entity["kind"] == "chain")):
        shown = sum(sum(series["count"]) for series in data["series"] if series["what"] == "latency" and data["entities"][series["entity"]]["kind"] == kind)
        check(many == shown, trace, "over time: other latencies of", kind, many, shown)
    check(len(data["heat"]) == 60 or received == sum(sum(heat["cells"][1::2]) for heat in data["heat"]), trace, "the heat maps have others")
    return data


def robot(directory):
    trace = os.path.join(directory, "robot")
    record_robot(trace, 2)
    data = look(trace, directory)
    for chain in data["chains"]:
        for arrival in chain["worst"]:
            check(sum(arrival[3:]) == arrival[1], "the segments of an arrival do not add up:", arrival)
    instances = data["instances"]
    check(instances, "no instance has its threads")
    for instance in instances:
        check(sum(part["ns"] for part in instance["parts"]) == instance["ns"], "the parts do not add up", instance)
    runs = sum(entity.get("runs", 0) for entity in data["entities"] if entity["kind"] == "callback")
    shown = sum(sum(series["count"]) for series in data["series"] if series["what"] == "runs")
    check(runs == shown, "over time there are", shown, "runs, not", runs)
    return trace


def mistakes(trace, directory):
    out = os.path.join(directory, "kept.html")
    check("--html" in run(KYMO, "report", trace, "--html", "--section", "loss", status=2).stderr, "a section is not refused")
    check("--html" in run(KYMO, "report", trace, "--html", "--format", "json", status=2).stderr, "a format is not refused")
    check("with -o" in run(KYMO, "report", trace, "--html", "page.html", status=2).stderr, "no word of -o")
    os.symlink(trace, os.path.join(directory, "trace.html"))
    check("<!DOCTYPE" in run(KYMO, "report", "trace.html", "--html", "-o", "-", cwd=directory).stdout, "a trace called trace.html is refused")
    os.unlink(os.path.join(directory, "trace.html"))
    run(KYMO, "export", trace, "-o", out)
    check("--force" in run(KYMO, "export", trace, "-o", out, status=1).stderr, "a page is overwritten")
    run(KYMO, "export", trace, "-o", out, "--force", "-q")
    run(KYMO, "report", trace, "--html", "-o", os.path.join(directory, "no", "where.html"), status=1)
    run(KYMO, "report", trace, "--html", cwd=directory)
    again = run(KYMO, "report", trace, "--html", cwd=directory, status=1).stderr
    check("already exists" in again and "--force" in again, f"an existing page: {again}")
    check(run(KYMO, "report", trace, "--html", "--force", "-q", cwd=directory).stderr == "", "-q is not quiet")
    names = sorted(name for name in os.listdir(directory) if ".html" in name)
    check(names == ["kept.html", "page.html", "robot.html"], "there are", names)
    piped = run(KYMO, "report", trace, "--html", "-o", "-").stdout
    check(piped.startswith("<!DOCTYPE html>") and piped.endswith("</html>\n"), "- is not standard output")
    window = os.path.join(directory, "page.html")
    run(KYMO, "report", trace, "--html", "--force", "-o", window, "--begin", "+0.5s", "--end", "+1s")
    check(0 < data_of(window, "a window")["begin"] < 1e9, "--begin is ignored")


FUNCTIONS = """static __attribute__((noinline)) int leaf(int n) { volatile int s = n; for (int i = 0; i < 50; i++) s += i; return s; }
static __attribute__((noinline)) int plan(int n) { return leaf(n) + (n > 1 ? plan(n / 2) : 0); }
int main(void) { int s = 0; for (int i = 0; i < 40; i++) s += plan(i % 7) + leaf(i); return s < 0; }"""


DEMO = os.path.join(SHARED, "data", "caret-demo")
# FAILED, twice PASS, PASS, NOT_MEASURED, FAILED, PASS, NOT_MEASURED
EXPECTED = """^/filter_node$,subscription_callback,/topic1,13\n/sensor,timer_callback,100000000,10\n/topic3,10\n/nowhere,1
target,response_time,all,100\ntarget,response_time,best,9999\nnobody,timer_callback,5,1\n"""


def expectations(directory):
    """The verdicts of --expect are those of the report's JSON, with paths and without; also for browsers without scripts."""
    lists, path = os.path.join(directory, "expected.csv"), os.path.join(directory, "expected.html")
    with open(lists, "w", encoding="utf-8") as file:
        file.write(EXPECTED)
    for more in [], ["--architecture", os.path.join(DEMO, "architecture.yaml")]:
        words = ["report", os.path.join(DEMO, "ctf"), "--expect", lists, *more]
        told = answer(*words, status=5)["validation"]
        said = run(KYMO, *words, "--html", "--force", "-o", path, status=5).stderr
        check(data_of(path, "expectations")["tables"][0]["validation"] == told, "the page has other verdicts", more)
        results = collections.Counter(row["result"] for row in told)
        check(results["PASS"] == (4 if more else 3) and results["NOT_MEASURED"] >= 2, results)
        check(f"not as expected: {results['FAILED'] + results['NOT_MEASURED']}\n" in said, said)
        with open(path, encoding="utf-8") as file:
            plain = collections.Counter(re.findall("<tr><td>(held|broken|could not be judged)</td>", file.read()))
        check([plain[words] for words in ("held", "broken", "could not be judged")] == [results[name] for name in ("PASS", "FAILED", "NOT_MEASURED")], plain, results)
    run(KYMO, *words, "--html", "--force", "-q", "-o", path, "--strict", status=5)
    check("--expect" in run(KYMO, "report", words[1], "--html", "--path", "/a -> /b -> /c", status=2).stderr, "--path without --expect")
    summary = os.path.join(directory, "expected.summary")
    run(KYMO, "report", words[1], "--format", "summary", "-o", summary)
    check("needs a trace" in run(KYMO, "report", "--html", summary, "--expect", lists, status=2).stderr, "a summary with --expect")


def functions(directory):
    """The flame graph of functions has the times and calls of the report's profile."""
    trace = os.path.join(directory, "functions")
    record(trace, "--functions", "--", compiled(directory, FUNCTIONS, "-finstrument-functions"))
    flame, own, calls = look(trace, directory)["flames"][0], collections.Counter(), collections.Counter()
    for _, label, _, self_ns, count in flame["frames"]:
        own[label] += self_ns
        calls[label] += count
    for row in answer("report", trace, "--section", "profile")["profile"]:
        own[row["function"]] -= row["own_ns"]
        calls[row["function"]] -= row["calls"]
    check(flame["what"] == "functions" and len(own) > 3 and not any(own.values()) and not any(calls.values()), "the frames of functions:", own, calls)


def cyclic(directory):
    """The flame graph of spans has the self times of kymo query, and no sleeps."""
    trace = os.path.join(directory, "cyclic")
    record(trace, "--", os.path.join(BUILD, "cyclic", "cyclic"), "--seconds", "1", env=private(directory))
    data = look(trace, directory)
    check({"loop", "span"} <= {entity["kind"] for entity in data["entities"]}, "no loop")
    told = {row["name"]: row["ns"] for row in query(trace, "SELECT category || ':' || name AS name, sum(self_ns) AS ns FROM spans GROUP BY 1")}
    shown = {label: self_ns for depth, label, _, self_ns, _ in data["flames"][0]["frames"] if depth > 1}
    check(shown and shown == {name: told[name] for name in shown} and "cyclic:loop" in shown, "the frames of spans:", shown, told)
    check(not any("sleep" in name for name in shown), "sleeps are in the flame graph:", shown)


def cpus(trace, directory):
    """With the kernel's events: each CPU has the time of its threads as kymo query has it."""
    path, _ = beside(trace, os.path.join(directory, "beside"), 7, query)
    data = look(path, directory)
    begin, end = (int(data["origin_ns"]) + data[key] for key in ("begin", "end"))
    own = "tid IN (SELECT tid FROM threads)"
    told = {(row["cpu_id"], row["kind"]): row["ns"] for row in query(path, f"""SELECT cpu_id, CASE WHEN state <> 'running' THEN 2 WHEN {own} THEN 0 ELSE 1 END AS kind,
        sum(max(0, min(end_ns, {end}) - max(start_ns, {begin}))) AS ns FROM thread_states WHERE cpu_id IS NOT NULL AND (state = 'running' OR state <> 'blocked' AND {own}) GROUP BY 1, 2""")}
    shown = {(cpu["number"], kind): sum(column[1 + kind] for column in cpu["columns"]) for cpu in data["cpus"]["cpus"] for kind in range(3)}
    check(len(shown) == 9 and shown == told, "the CPUs have", shown, "not", told)
    check(all(0 < sum(column[5::2]) <= data["cpus"]["width"] >= column[1] + column[2] for cpu in data["cpus"]["cpus"] for column in cpu["columns"] if column[1] + column[2]),
          "a column has more than its time")
    # A wait has a row for each thread that had the CPU meanwhile.
    spells = [tuple(row.values()) for row in query(path, f"""SELECT cpu_id, tid, start_ns, end_ns FROM thread_states
        WHERE state IN ('preempted', 'waiting') AND {own} AND cpu_id IS NOT NULL ORDER BY tid, start_ns""")]
    waits = []
    for _, tid, start, until in spells:
        if waits and waits[-1][0] == tid and waits[-1][2] == start:
            waits[-1][2] = until
        else:
            waits.append([tid, start, until])
    lengths = [until - start for _, start, until in waits if begin <= start <= end]
    check([len(lengths), max(lengths)] == [data["cpus"]["wait"][key] for key in ("count", "max")], "waits for a CPU:", len(lengths), max(lengths))
    check(len(waits) < len(spells), "no wait has two rows")
    for cpu in data["cpus"]["cpus"]:
        check(cpu["queue"] == queue_lengths([spell[2:] for spell in spells if spell[0] == cpu["number"]], begin, end), "the queue of CPU", cpu["number"])
    check(max(len(cpu["queue"]) for cpu in data["cpus"]["cpus"]) > 1, "never did two threads wait")
    slices(data, query(path, "SELECT cpu_id, tid, start_ns, duration_ns FROM thread_states WHERE state = 'running'"))


def queue_lengths(waits, begin, end):
    """Return: for how long one thread waited, two ...; [(start, end)] in @waits."""
    edges = sorted(edge for start, until in waits if until > begin and start < end for edge in ((max(start, begin), 1), (min(until, end), -1)))
    told, waiting = collections.Counter(), 0
    for (since, more), (until, _) in zip(edges, edges[1:]):
        waiting += more
        told[waiting] += until - since
    return [told[n] for n in range(1, 1 + max((n for n in told if n and told[n]), default=0))]


def slices(data, running):
    """Around each instance: who had the CPUs."""
    origin, told = int(data["origin_ns"]), {}
    for row in running:
        told.setdefault((row["cpu_id"], row["tid"], row["start_ns"] - origin, row["duration_ns"]), row)
    for instance in data["instances"]:
        shown = {(cpu, data["cpus"]["threads"][thread][1], start, ns) for cpu, _, thread, start, ns in instance["cpus"]}
        wanted = {key for key in told if key[2] < instance["to"] and key[2] + key[3] > instance["from"] and key[3] >= instance.get("cpus_shortest", 0)}
        check(shown == wanted and len(shown) <= 600, "the CPUs around an instance:", sorted(shown ^ wanted)[:3])
    check(any(instance["cpus"] for instance in data["instances"]), "no instance has CPUs")


def main(directory):
    trace = robot(directory)
    cpus(os.path.dirname(existing(os.path.join(SHARED, "data", "ros2-traces", "pair_basic_st", "ctf"))[0]), directory)
    mistakes(trace, directory)
    hostile = os.path.join(directory, "hostile")
    record(hostile, "--", os.path.join(TESTS, "hostile_names"))
    names = [entity["name"] for entity in look(hostile, directory)["entities"]]
    check(any("<script>alert(1)" in name for name in names), "the hostile names are not in the page")
    cyclic(directory)
    functions(directory)
    if existing(DEMO):
        expectations(directory)
    folder = os.path.join(SHARED, "data", "ros2-traces")
    for given in fewer(existing(*(os.path.join(folder, name, "ctf") for name in ("discarded", "pair_intra", "pair_lifecycle", "streamed_relayd")))):
        look(given, directory)
    for given in existing(os.path.join(folder, "pair_components", "ctf")):
        check('"steady"' in json.dumps(look(given, directory)), given, "has no start-up")


with tempfile.TemporaryDirectory(prefix="kymo-page-") as private_directory:
    main(private_directory)
