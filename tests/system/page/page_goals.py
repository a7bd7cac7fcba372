#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""The goals of actions in the page, in Chromium: the numbers of each action are those of `kymo report --format json`, the longest goals
and their parts those of the table; each address draws."""
import os
import shutil
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_browser import Chromium
from lib_cxx import record_actions, require
from lib_goals import COUNT, HELD, SLOW, parts_of
from lib_test import answer, check, in_directory, kymo, query, report, skip

WORDS = {"goal_way": "request", "beginning": "queued", "keeping": "kept", "result_way": "answer"}
DRAWN = """({text: document.querySelector('main').innerText.length,
    odd: (document.querySelector('main').innerText.match(/undefined|NaN|\\[object|Infinity/) || [''])[0],
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth})"""


def same_action(browser, trace):
    told = report(trace, "actions")["actions"][0]
    shown = browser.value("byKind.action.map(entity => [entity.name, action_goals(entity), succeeded(entity), entity])")
    check(len(shown) == 1 and shown[0][:3] == [told["action"], told["goals"], told["succeeded"]], shown, told)
    entity = shown[0][3]
    check([entity.get(key, 0) for key in ("aborted", "canceled", "rejected", "unfinished")]
          == [told[key] for key in ("aborted", "canceled", "rejected", "unfinished")], entity, told)
    for which, column in (("latency", "total"), ("duration", "execution"), ("wait", "accept")):
        for key in "count", "p50", "p99", "max":
            name = f"{column}_{key}" + ("_ns" if key != "count" else "")
            check(entity[which][key] == told[name], which, key, entity[which], told)


def same_goals(browser, trace):
    """The longest first; each part as the table has it."""
    rows = query(trace, "SELECT * FROM action_goals WHERE duration_ns IS NOT NULL ORDER BY duration_ns DESC")
    known = {row["id"]: row for row in rows}
    goals, segments = browser.value("[byKind.action[0].goals, byKind.action[0].chain.segments]")
    check([goal["total"] for goal in goals] == [row["duration_ns"] for row in rows[:100]], "the longest")
    for goal in goals:
        row = known[goal["id"]]
        check([goal[key] for key in ("uuid", "status", "client", "server", "sent", "received", "handled", "startup")]
              == [row["goal_id"], row["status"], row["client_node"], row["server_node"], row["feedback_sent"], row["feedback_taken"],
                  row["handled_ns"] - row["result_taken_ns"], int(row["startup"])], goal, row)
        parts = {WORDS.get(segment["what"], segment["what"]): ns for segment, ns in zip(segments, goal["parts"]) if ns}
        check(parts == {name: ns for name, ns in parts_of(row).items() if ns} and sum(parts.values()) == row["duration_ns"], parts, row)
    for segment in segments:
        all_of = [parts_of(row).get(WORDS.get(segment["what"], segment["what"]), 0) for row in rows]
        check([segment["max"], segment["sum"]] == [max(all_of), sum(all_of)], segment)


def main(work):
    require()
    if not shutil.which(Chromium.name):
        skip("there is no chromium")
    trace, path = record_actions(work, COUNT, SLOW, HELD), os.path.join(work, "goals.html")
    kymo("report", trace, "--html", "-o", path)
    with Chromium() as browser:
        browser.show(path)
        check(browser.value("document.documentElement.dataset.ready") == "yes", browser.errors)
        same_action(browser, trace)
        same_goals(browser, trace)
        own = browser.value("address(byKind.action[0])")
        for address in ("#/", "#/actions", own, own + "?n=1", own + "?n=2", own + "?n=100", own + "?n=101"):
            browser.view(address)
            drawn = browser.value(DRAWN)
            check(drawn["text"] > 10 and not drawn["odd"] and drawn["wide"] <= 0, address, drawn)
        browser.view("#/actions")
        cells = browser.value("[...document.querySelectorAll('table[aria-label=actions] tbody tr')].map(row => [...row.cells].map(cell => cell.innerText.trim()))")
        check(len(cells) == 1 and cells[0][:3] == ["/count", str(COUNT), str(COUNT // 4)], cells)
        browser.view(own)
        check(browser.value("document.querySelectorAll('table[aria-label=goals] tbody tr').length") == 100, "the longest goals are not listed")
        finding = answer("report", trace)["findings"][0]
        check(finding["kind"] in ("goal", "aborted") and browser.value("D.findings.map(finding => entities[finding.entity].kind)[0]") == "action", finding)
        check(not browser.errors and not browser.requests, browser.errors, browser.requests)


in_directory(main)
