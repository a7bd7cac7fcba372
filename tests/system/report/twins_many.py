#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Six processes of one program that all publish and receive /swarm have 36 chains of one name. What is wrong with them is one finding, and
they are one row of the first screen and of `kymo top`; JSON, SQL and `--all` have all of them."""
import os
import re
import shlex
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import TESTS, answer, check, in_directory, kymo, query, record

PROCESSES = 6
CHAINS = PROCESSES * PROCESSES


def findings(trace):
    found = [row for row in answer("report", trace)["findings"] if row["kind"] != "trust"]
    names = [row["name"] for row in found]
    check(found and len(set(names)) == len(names), "one name has several findings:", names)
    for row in found:
        all_alike = CHAINS if row["kind"] == "chain" else PROCESSES
        check(row["alike"] == all_alike and 1 <= row["affected"] <= all_alike, "of", all_alike, "alike:", row)
        check(row["text"].endswith(f"Affected: {row['affected']} of {all_alike} such {'chains' if row['kind'] == 'chain' else 'spans' if row['kind'] == 'span' else 'callbacks'}."), row)
        words = shlex.split(row["command"])
        check(re.search(r"\(swarm \d+(, swarm \d+)?\)$", words[-1]) and words[-1].rpartition(" (")[2] in row["text"], "the worst is not named:", row)
        if row["kind"] in ("chain", "callback"):
            check(answer("why", trace, words[-1])["latency_ns"] == row["worst_ns"], row)
    check(len(answer("flow", trace)["chains"]) == CHAINS, "flow has not all chains")
    runs = query(trace, "SELECT pid, count(*) AS runs FROM callback_instances WHERE node = '/drone' AND kind = 'timer' GROUP BY pid")
    check(len(runs) == PROCESSES, "SQL has", runs)


def screen(trace):
    text = kymo("report", trace)
    lines = text.rstrip("\n").split("\n")
    check(len(lines) <= 23 and max(map(len, lines)) <= 80, "the first screen has", len(lines), "lines:\n" + text)
    check(re.search(rf"Affected: \d+ of ({CHAINS}|{PROCESSES}) such ", " ".join(text.split())), text)
    rows = [line for line in lines if re.match(r"(\d+ x )?(/drone|/swarm|swarm:)", line)]
    check(all(re.match(rf"({CHAINS} x /swarm -> /drone|{PROCESSES} x (/drone|swarm:step)) ", row) for row in rows), "rows:", rows, text)
    chains = [row for row in rows if "->" in row]
    arrived = sum(row["arrived"] for row in answer("flow", trace)["chains"])
    check(all(re.search(rf"drone +{arrived} ", row) for row in chains), "arrived are", arrived, chains)


def top(trace):
    for page, rows in ("callbacks", [f"{PROCESSES} x /drone  timer 10 ms", f"{PROCESSES} x /drone  /swarm"]), ("chains", [f"{CHAINS} x /swarm -> /drone"]):
        text = kymo("top", trace, "--once", "--page", page)
        shown = [line for line in text.split("\n") if " x /" in line]
        check(sorted(re.sub(" {2,}", "  ", line).startswith(rows[i]) for i, line in enumerate(sorted(shown, reverse=True))) == [True] * len(rows), page, shown, text)
        check(" x /" not in kymo("top", trace, "--once", "--page", page, "--all"), "--all has folded rows on page", page)
    told = answer("top", trace, "--once")
    check(len(told["chains"]) == CHAINS and sum(row["source"] == "/swarm" for row in told["callbacks"]) == PROCESSES, "JSON of top:", len(told["chains"]))


@in_directory
def main(work):
    trace = os.path.join(work, "swarm")
    record(trace, "-q", "--", os.path.join(TESTS, "swarm"), str(PROCESSES), "60")
    findings(trace)
    screen(trace)
    top(trace)
