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
NAME = "/drone timer 10 ms -> /swarm -> /drone"


def findings(trace):
    found = answer("report", trace)["findings"]
    names = [(row["name"], re.sub(r" #\d+$", "", row["process"] or "") if row["kind"] != "chain" else "") for row in found]
    check(len(set(names)) == len(names), "one name has several findings:", names)
    chain = next((row for row in found if row["name"] == NAME), None)
    if not check(chain, "no finding about the chains:", found):
        return
    check(chain["alike"] == CHAINS and PROCESSES <= chain["affected"] <= CHAINS, "of", CHAINS, "chains:", chain)
    check(f"Affected: {chain['affected']} of {CHAINS} such chains." in chain["text"], chain["text"])
    check(re.match(r"/swarm -> /drone \(swarm \d+(, swarm \d+)?\) took ", chain["text"]), "the worst is not named:", chain["text"])
    words = shlex.split(chain["command"])
    check(answer("why", trace, words[-1])["latency_ns"] == chain["worst_ns"], chain)
    check(len(answer("flow", trace)["chains"]) == CHAINS, "flow has not all chains")
    runs = query(trace, "SELECT pid, count(*) AS runs FROM callback_instances WHERE node = '/drone' AND kind = 'timer' GROUP BY pid")
    check(len(runs) == PROCESSES, "SQL has", runs)

def screen(trace):
    text = kymo("report", trace)
    lines = text.rstrip("\n").split("\n")
    check(len(lines) <= 23 and max(map(len, lines)) <= 80, "the first screen has", len(lines), "lines:\n" + text)
    check(f" {CHAINS} such chains." in " ".join(text.split()), text)
    rows = [line for line in lines if "x /swarm -> /drone" in line]
    check(len(rows) == 1 and rows[0].startswith(f"{CHAINS} x /swarm -> /drone "), "rows of chains:", rows, text)
    arrived = sum(row["arrived"] for row in answer("flow", trace)["chains"])
    check(re.search(rf"drone +{arrived} ", rows[0] if rows else ""), "arrived are", arrived, rows)


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
