#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""`kymo report` as a user meets it: formats agree, filters, windows, loss, empty and broken traces."""
import csv
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, SHARED, check, existing, in_directory, run

TRACES = os.path.join(SHARED, "data", "ros2-traces")
BASIC = os.path.join(TRACES, "pair_basic_st", "ctf")
CARET = os.path.join(SHARED, "data", "caret-demo")


def report(trace, *options, status=0):
    done = run(KYMO, "report", trace, *options, status=status, errors="replace")
    return done.stdout, done.stderr


def as_json(trace, *options, status=0):
    return json.loads(report(trace, *options, "--format", "json", status=status)[0])


def formats():
    whole = as_json(BASIC)
    check(whole["lost_events"] == 0 and whole["events"] == 7925, "facts", whole["events"])
    check(set(whole) >= {"trace", "begin", "duration_ns", "callbacks", "topics", "waits", "loss"},
          "sections", list(whole))
    # The slowest stands first.
    order = [c["max_ns"] for c in whole["callbacks"]]
    check(order == sorted(order, reverse=True) and order[0] > 10**6, "order", order)
    text = report(BASIC, "--limit", "20")[0]
    for part in ("/perception/filter", "subscription", "/sensing/image_raw", "void (Filter::?)(...)",
                 "Lost: nothing", "Next:", "kymo export"):
        check(part in text, "text lacks", part)
    # csv has the same callbacks with the same numbers.
    rows = list(csv.DictReader(io.StringIO(
        "\n".join(line for line in report(BASIC, "-f", "csv", "-s", "callbacks")[0].split("\n")
                  if line and not line.startswith("#")))))
    check(len(rows) == len(whole["callbacks"]), "csv rows", len(rows))
    for row, cell in zip(rows, whole["callbacks"]):
        check(row["node"] == cell["node"] and int(row["max_ns"]) == cell["max_ns"], "csv", row)
    by_count = as_json(BASIC, "--sort", "count", "-s", "callbacks")["callbacks"]
    check(by_count[0]["count"] == max(c["count"] for c in by_count), "--sort count")
    check(len(as_json(BASIC, "-s", "callbacks", "--limit", "3")["callbacks"]) == 3, "--limit")


def first_block(*words):
    """What a command prints, of `kymo live` until its last table begins: it goes on."""
    lines = []
    with subprocess.Popen((KYMO, *words), stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            lines.append(line)
            if line.startswith("Events, most"):
                process.terminate()
                break
    return "".join(lines)


def startup():
    """What nodes do when they start is hidden from people, and a burst has no rate."""
    text = report(BASIC, "--limit", "20")[0]
    check("parameter_events" not in text and "6 start-up callbacks hidden; --all shows them\n" in text and
          "1 start-up topic hidden; --all shows it\n" in text, "start-up is shown", text)
    every = report(BASIC, "--all")[0]
    check(every.count(" /parameter_events ") >= 6 and "hidden" not in every, "--all hides", every)
    for words, hidden in ((("report", "--section", "frequency"), 12), (("report", "--section", "publications"), 6),
                          (("report", "--section", "intervals"), 7), (("report", "--section", "communications"), 21),
                          (("report", "--section", "blocked-by"), 18), (("live", "--top"), 6)):
        few, every_row = (first_block(*words, BASIC, *more) for more in ((), ("--all",)))
        check("parameter_events" not in few and f"{hidden} start-up rows hidden; --all shows them\n" in few, words, few)
        check("parameter_events" in every_row and "hidden" not in every_row, words, "--all", every_row)
    check(len(as_json(BASIC)["callbacks"]) == 15, "programs see all callbacks")
    check(len(re.findall(r" /parameter_events +\d+ +- ", every)) >= 6 and re.search(r" 33 ms +60 +30.29 ", every), "a burst has a rate", every)
    check("/parameter_events" in report(BASIC, "--topic", "/parameter_events")[0], "asked for, and not shown")
    trace = os.path.join(TRACES, "discarded", "ctf")
    if os.path.isdir(trace):
        hidden = as_json(trace)["hidden_startup"]
        text = " ".join(report(trace)[0].split())      # where a line ends depends on the trace's path
        check(hidden and f"{hidden} start-up instances are hidden" in text, "hidden from the findings:", hidden)
    check(as_json(BASIC)["hidden_startup"] == 0, "what is hidden of a trace without start-up")


def first_finding(name, trace, why, whole):
    """`kymo why` explains what the report names first, with the same numbers."""
    findings = whole["findings"]
    told = why.get("chain", why.get("callback"))
    if not findings or findings[0]["kind"] == "trust":
        check("Nothing stands out" in report(trace)[0], name, "no finding, and not said")
        return
    check("Nothing stands out" not in report(trace, "--all")[0], name, "findings, and then none")
    first = findings[0]
    if first["kind"] == "loss":
        check(first["text"] == why["finding"], name, first, why.get("finding"))
    else:
        check(first["name"] == told and first["worst_ns"] == why["latency_ns"], name, first, told, why["latency_ns"])
    if first["cause"] == "waited_for":
        check(f"because {first['culprit']} held" in why["sentence"], name, first["culprit"], why["sentence"])
    # Words are the same; lines are folded.
    screen = " ".join(report(trace)[0].split())
    check(" 1 " + " ".join(first["text"].split()) in screen, name, "on the screen", first["text"], screen[:500])
    check([f["harm_ns"] for f in findings if f["kind"] != "chain"] ==
          sorted((f["harm_ns"] for f in findings if f["kind"] != "chain"), reverse=True), name, "not ranked by harm")


def worst():
    """One answer for the report and `kymo why`, on the first screen and for programs."""
    kinds = set()
    for name in ("pair_basic_st", "pair_pipeline_mt", "pair_lifecycle", "pair_intra", "many_contexts", "discarded", "streamed_relayd"):
        trace = os.path.join(TRACES, name, "ctf")
        if not os.path.isdir(trace):
            continue
        why = json.loads(run(KYMO, "why", trace, "--format", "json").stdout)
        whole = as_json(trace)
        check((whole["worst"], whole["why"]) == (why.get("chain", why.get("callback")), why["sentence"]), name, whole["worst"], why["sentence"])
        first_finding(name, trace, why, whole)
        kinds.update(f["kind"] for f in whole["findings"])
        # What can be typed as it stands is as long as the path.
        wide = [line for line in report(trace)[0].split("\n") if len(line.replace(trace, "TRACE")) > 80]
        check(not wide, name, "wider than 80 columns", wide)
        waits = [w["wait_ns"] for w in whole["waits"]]
        check(waits == sorted(waits, reverse=True), name, "the longest wait stands first", waits)
    check({"chain", "loss"} <= kinds, "some kinds of findings were never seen", kinds)
    check("worst" not in as_json(BASIC, "--section", "waits") and "worst" not in as_json(BASIC, "--node", "/perception/*"), "worst of a part")


def not_findings():
    """Timers of a simulated clock are not late, and what nodes do when they start harms nobody."""
    for trace in existing(os.path.join(TRACES, "streamed_relayd", "ctf")):
        timers = as_json(trace, "--section", "timers")["timers"]
        check(timers, "no timers")
        for finding in as_json(trace)["findings"]:
            check("parameter_events" not in finding["text"] and "simtime" not in finding["text"], finding["text"])
        check("1 of a simulation's clock" in report(trace)[0], "a timer of a simulated clock is judged")


def summary(scratch):
    """A file of a summary opens with the same finding; two of them add up; others do not take it."""
    one, both = os.path.join(scratch, "a.summary"), os.path.join(scratch, "b.summary")
    check(report(BASIC, "--format", "summary", "-o", one)[0] == "", "printed, too")
    of_file, of_trace = as_json(one), as_json(BASIC)
    check(of_file["events"] == of_trace["events"] and of_file["findings"][0]["name"] == of_trace["findings"][0]["name"] and
          of_file["findings"][0]["worst_ns"] == of_trace["findings"][0]["worst_ns"], "another finding", of_file["findings"])
    counts = {c["name"]: c["runs"] for c in of_file["callbacks"]}
    check(sum(counts.values()) == sum(c["count"] for c in of_trace["callbacks"]), "runs", counts)
    check(os.path.getsize(one) < 140 * sum(map(len, (v for v in of_file.values() if isinstance(v, list)))), "size", os.path.getsize(one))
    run(KYMO, "report", one, one, "--format", "summary", "-o", both)
    check({c["name"]: c["runs"] for c in as_json(both)["callbacks"]} == {n: 2 * c for n, c in counts.items()}, "two files")
    text = report(one)[0]
    check(text.startswith("a.summary   2.52 s") and " 1  /sensing/imu" in text and "need the trace itself" in text, text)
    check("only `kymo report` reads it" in run(KYMO, "why", one, status=3).stderr, "why of a summary")
    report(BASIC, "--format", "summary", status=2)
    report(BASIC, "-o", one, status=2)
    with open(both, "wb") as out:
        out.write(open(one, "rb").read()[:-200])
    report(both, status=3)


def filters():
    node = as_json(BASIC, "--node", "/perception/*", "-s", "callbacks", "-s", "callback_instances")
    check({c["node"] for c in node["callbacks"]} == {"/perception/filter", "/perception/fusion"},
          "--node", [c["node"] for c in node["callbacks"]])
    check({i["node"] for i in node["callback_instances"]} == {"/perception/filter", "/perception/fusion"},
          "--node, instances")
    check(node["callbacks"] == as_json(BASIC, "--node", "perception/*", "-s",
                                       "callbacks")["callbacks"], "--node without its first slash")
    topic = as_json(BASIC, "--topic", "/sensing/*")
    check({t["topic"] for t in topic["topics"]} == {"/sensing/imu", "/sensing/image_raw"}, "--topic")
    rows = as_json(BASIC, "-s", "callback_instances")["callback_instances"]
    begin, end = rows[0]["start_ns"] + 10**9, rows[0]["start_ns"] + 11 * 10**8
    inside = [r for r in rows if begin <= r["start_ns"] <= end]
    window = ("--begin", f"{begin // 10**9}.{begin % 10**9:09}", "--end",
              f"{end // 10**9}.{end % 10**9:09}")
    got = as_json(BASIC, "-s", "callback_instances", "-s", "callbacks", *window)
    check(inside and got["callback_instances"] == inside, "window", len(got["callback_instances"]), len(inside))
    check(sum(c["count"] for c in got["callbacks"]) == len(inside), "window, callbacks")
    check(all(c["node"] for c in got["callbacks"]), "a window must not lose the names")


def who_waits():
    """What `waits` says must follow from the instances and messages themselves."""
    r = as_json(BASIC, "-s", "waits", "-s", "callback_instances")
    check(r["waits"], "no waits in a trace that has some")
    for w in r["waits"]:
        from_ns, to_ns = w["since_ns"], w["since_ns"] + w["wait_ns"]
        # A message is taken by the thread that runs its callback.
        tid = {i["tid"] for i in r["callback_instances"] if i["callback_object"] == w["victim_callback"] and
               i["start_ns"] == to_ns}
        check(len(tid) == 1, "the victim does not start at the end of its wait", w)
        overlap = sum(max(0, min(to_ns, i["start_ns"] + i["duration_ns"]) -
                          max(from_ns, i["start_ns"]))
                      for i in r["callback_instances"] if i["callback_object"] == w["culprit_callback"] and
                      i["tid"] in tid and i["pid"] == w["pid"])
        check(overlap == w["culprit_ns"], "culprit's share", overlap, w)
        check(w["culprit_ns"] <= w["blocked_ns"] <= w["wait_ns"], "shares", w)


def loss():
    report(BASIC, "--strict")
    check("No packet" in report(BASIC, "-s", "loss")[0], "no loss is an answer")
    for trace in existing(os.path.join(TRACES, "discarded", "ctf")):
        loss_of(trace)


def loss_of(trace):
    r = as_json(trace)
    check(r["lost_events"] == 5731, "lost", r["lost_events"])
    check(sum(x["events"] for x in r["loss"]) == 5731, "loss rows")
    check(all(x["begin_ns"] <= x["end_ns"] for x in r["loss"]), "loss ranges")
    first = report(trace, "--strict", status=4)[0]
    check(first.startswith("INCOMPLETE: 5,731 events lost (12 %), 12 of 153 callbacks without a name\n") and "Counts below are too low" in first,
          "loss on the first screen", first[:300])
    text, _ = report(trace, "--strict", "--all", status=4)
    check("Lost: 5731 events" in text and "Lost events, by thread" in text, "loss as text")
    check("# lost_events,5731" in report(trace, "--strict", "-f", "csv", status=4)[0], "loss as csv")


def empty_and_wrong(scratch):
    text, _ = report(BASIC, "--node", "/nobody", status=6)
    check("matches --node" in text, "an empty result says why")
    check("matches --node" in as_json(BASIC, "--node", "/nobody", status=6)["why_empty"], "in json")
    check("did you mean timers?" in report(BASIC, "--section", "timer", status=2)[1], "the nearest section")
    report(BASIC, "--begin", "never", status=2)
    report(BASIC, "--begin", "+2s", "--end", "+1s", status=2)
    for trace in existing(os.path.join(TRACES, "rotated_files")):
        check("contains no node" in report(trace)[0], "a trace without init events")
    # What an empty section means is that section's, not "no callback ran".
    check("kymo.h" in as_json(BASIC, "--section", "spans", status=6)["why_empty"], "no spans")
    check("executor" in as_json(CARET, "--section", "executors", status=6)["why_empty"], "no executors")
    check("lifecycle node" in report(BASIC, "--section", "lifecycle")[0], "no lifecycle node")
    report(BASIC, "extra", status=3)
    report(BASIC, BASIC, status=2)
    report(os.path.join(scratch, "nowhere"), status=3)
    report(scratch, status=3)
    # Only the metadata: a trace without events.
    bare = os.path.join(scratch, "bare")
    os.mkdir(bare)
    shutil.copy(os.path.join(BASIC, "ust/uid/0/64-bit/metadata"), bare)
    text, _ = report(bare, status=6)
    check("no events" in text, "a trace without events says so", text)


def names(scratch):
    """The first line names the trace as `kymo ls` does: after the session, not after what the tracer put the metadata into."""
    session, part = os.path.join(scratch, "my-session"), os.path.join("ust", "uid", "0", "64-bit")
    shutil.copytree(BASIC, session)
    recording = os.path.join(scratch, "kernel")
    shutil.copytree(BASIC, recording)
    with open(os.path.join(recording, "kymo.json"), "w", encoding="utf-8") as file:
        json.dump({"kymo": "0", "ended": True}, file)
    for trace, name in ((session, "my-session"), (os.path.join(session, part), "my-session"), (os.path.join(session, "ust") + "/", "my-session"),
                        (recording, "kernel")):
        text = report(trace)[0]
        check(re.match(rf"{name} {{3}}\d", text), "the head of", trace, text[:80])
        page = os.path.join(scratch, "page.html")
        run(KYMO, "report", trace, "--html", "--force", "-q", "-o", page)
        with open(page, encoding="utf-8") as file:
            check(f"<h1>{name}</h1>" in file.read(), "the page of", trace)
    run(KYMO, "report", os.path.join(session, part), "--html", "-q", cwd=scratch)
    check(os.path.exists(os.path.join(scratch, "my-session.html")), "the page's file:", os.listdir(scratch))


def broken(scratch):
    """Damaged streams: an answer or a clear error, never a crash."""
    chance = random.Random(7)
    source = os.path.join(TRACES, "pair_intra", "ctf/ust/uid/0/64-bit")
    for turn in range(12):
        trace = os.path.join(scratch, f"broken{turn}")
        shutil.copytree(source, trace)
        subprocess.run(["chmod", "-R", "u+w", trace], check=True)
        for name in os.listdir(trace):
            path = os.path.join(trace, name)
            if not os.path.isfile(path) or (name == "metadata" and turn % 4):
                continue
            data = bytearray(open(path, "rb").read())
            for _ in range(1 + turn * 5):
                data[chance.randrange(len(data))] = chance.randrange(256)
            if turn % 3 == 0:
                data = data[:chance.randrange(len(data))]
            open(path, "wb").write(data)
        for options in ((), ("-f", "json", "-s", "callback_instances", "-s", "messages", "-s", "nodes")):
            report(trace, *options, status=(0, 3, 6))


formats()
startup()
worst()
not_findings()
in_directory(summary)
filters()
who_waits()
loss()
in_directory(empty_and_wrong)
in_directory(names)
in_directory(broken)
