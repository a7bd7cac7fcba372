#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""kymo diff of runs in which several processes have one name: their numbers differ from run to run, so all of one name are one row, with what
happened in all of them. So are they in a store. What one of them does longer is found, and which of them is called the second does not matter."""
import json
import os
import re
import shutil
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_browser import Chromium
from lib_summary import write_summary
from lib_test import KYMO, TESTS, answer, check, in_directory, query, record, run

SWARM = os.path.join(TESTS, "swarm")
MS = 1_000_000


def recorded(work):
    """Traces of three processes, and of two."""
    base, new, fewer = (os.path.join(work, name) for name in ("one", "two", "fewer"))
    for trace, processes in (base, 3), (new, 3), (fewer, 2):
        record(trace, "-q", "--", SWARM, str(processes), "100")
    text = run(KYMO, "diff", base, new, "--all").stdout
    check("(swarm" not in text and max(map(len, text.split("\n"))) <= 80, "names of processes, or long lines:", text)
    check(bool(re.search(r"^ [a-zA-Z ]+ \d+ x /", text, re.M)) == (" x\" is what happened in all" in text), "an x that nothing explains, or none:", text)
    told = answer("diff", base, new)
    names = [tuple(row[key] for key in ("kind", "name", "of", "metric")) for row in told["metrics"]]
    check(len(set(names)) == len(names) and not any("#" in str(of) for _, _, of, _ in names), "not one row each:", names)
    alike = {row["kind"]: (row["base_alike"], row["new_alike"]) for row in told["metrics"]}
    check([alike[kind] for kind in ("chain", "callback", "span", "topic")] == [(9, 9), (3, 3), (3, 3), (1, 1)], "alike:", alike)
    check(not told["gone"] and not told["appeared"] and not told["numbers"], told["gone"], told["appeared"], told["numbers"])
    rate = next(row for row in told["metrics"] if (row["kind"], row["name"], row["metric"]) == ("callback", "/drone timer 10 ms", "rate"))
    runs = query(base, "SELECT count(*) AS runs FROM callback_instances WHERE node = '/drone' AND kind = 'timer'")[0]["runs"]
    check(rate["base"] < runs / 1.0 / 2, "a rate is of all of them:", rate, runs)

    text, told = run(KYMO, "diff", base, fewer, "--all").stdout, answer("diff", base, fewer)
    check(re.search(r"^ number     callback /drone timer 10 ms\n +in 3 processes before, in 2 now$", text, re.M), text)
    check({"kind": "span", "name": "swarm:step", "of": "swarm", "base": 3, "new": 2} in told["numbers"], told["numbers"])
    rate = next(row for row in told["metrics"] if (row["kind"], row["name"], row["metric"]) == ("callback", "/drone timer 10 ms", "rate"))
    check(abs(rate["change"]) < 0.25, "the rate of one process:", rate)


def side(work, name, *runs):
    """Return: the files of runs, each of which is the durations of a span in its processes."""
    files = [os.path.join(work, f"{name}{number}.summary") for number in range(len(runs))]
    for file, durations in zip(files, runs):
        write_summary(file, {"arm:step": durations})
    return files


def judged(base, new, status):
    done = run(KYMO, "diff", *base, "--", *new, status=status)
    told = json.loads(run(KYMO, "diff", "--format", "json", *base, "--", *new, status=status).stdout)
    return done.stdout, {row["metric"]: row for row in told["metrics"]}


def made(work):
    """Of one process with 2 ms and one with 10 ms, either may be the first one."""
    one, other = [2 * MS, 10 * MS], [10 * MS, 2 * MS]
    base = side(work, "base", one, one, one, other, one, one)
    text, metrics = judged(base, side(work, "swapped", other, other, other, one, other, other), 0)
    check(metrics["duration p90"]["verdict"] == "not worse" and metrics["duration p90"]["change"] == 0, "swapped:", metrics["duration p90"], text)
    slow, late = [2 * MS, 15 * MS], [15 * MS, 2 * MS]
    text, metrics = judged(base, side(work, "slow", slow, late, slow, late, late, slow), 5)
    check(metrics["duration p90"]["verdict"] == "worse" and 0.4 < metrics["duration p90"]["change"] < 0.6, metrics)
    check(metrics["duration p50"]["verdict"] == "not worse", metrics["duration p50"])
    check(re.search(r"^ WORSE      span 2 x arm:step$", text, re.M) and '"2 x" is what happened in all processes of one name' in text, text)
    text, metrics = judged(base, side(work, "more", *[one + [2 * MS]] * 6), 0)
    check(metrics["duration p2"]["verdict"] == "not worse" and (metrics["duration p2"]["base_alike"], metrics["duration p2"]["new_alike"]) == (2, 3), metrics)
    check("in 2 processes before, in 3 now" in text and " new " not in text and " gone " not in text, text)


def store(work):
    """A change of the order of two is no change of a commit; what changes is one line."""
    for name, slow in ("order", 10), ("slower", 20):
        os.makedirs(place := os.path.join(work, name))
        with open(os.path.join(place, "kymo-store"), "w", encoding="utf-8"):
            pass
        for commit in range(24):
            os.mkdir(at := os.path.join(place, f"c{commit:02}"))
            with open(os.path.join(at, "time"), "w", encoding="utf-8") as file:
                file.write(f"{commit + 1}\n")
            later = commit >= 12
            write_summary(os.path.join(at, "001.summary"), {"arm:step": [slow * MS, 2 * MS] if later else [2 * MS, 10 * MS]})
        rows = answer("store", "changes", place)["changes"]
        check(sorted(row["metric"] for row in rows) == ([] if slow == 10 else ["duration p90"]), name, rows)


def page(work):
    """Names have the number of the processes, as in the text, and the page says what it means."""
    if not shutil.which(Chromium.name):
        print("skipped in part: there is no chromium")
        return
    path = os.path.join(work, "diff.html")
    run(KYMO, "diff", os.path.join(work, "one"), os.path.join(work, "fewer"), "--html", "-o", path)
    with Chromium() as browser:
        browser.show(path, "#/metrics")
        labels = dict(browser.value("metrics.map(metric => [metric.kind + ' ' + metric.name, metric.entity.label])"))
        check(labels["span swarm:step"] == "2 x swarm:step" and labels["callback /drone timer 10 ms"] == "2 x /drone timer 10 ms", labels)
        check(any(label[0] == "/" for label in labels.values()), "all have a number:", labels)
        browser.view("")
        drawn = browser.value("document.querySelector('main').innerText")
        check(' x" is what happened in all processes of one name; a rate is that of one.' in drawn, drawn)
        browser.view(browser.value("address(byName.get('span\\nswarm:step')[0])"))
        drawn = browser.value("document.querySelector('main').innerText").replace("\u200b", "")
        check("span 2 x swarm:step" in drawn and '"2 x" is what' in drawn and "In 3 processes before, in 2 now." in drawn, drawn)
        commands = browser.value("[...document.querySelectorAll('main [data-command]')].map(button => button.dataset.command)")
        check(any("--only swarm:step " in command for command in commands) and not any("2 x" in command for command in commands), commands)


@in_directory
def main(work):
    recorded(work)
    page(work)
    made(work)
    store(work)
