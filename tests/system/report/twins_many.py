#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Six processes of one program that all publish and receive /swarm have 36 chains of one name. What is wrong with them is one finding, and
they are one row of the first screen, of `kymo flow` and of `kymo top`; JSON, SQL and `--all` have all of them. `kymo why` says of how many it
takes the worst, and names the next one."""
import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, TESTS, answer, check, in_directory, kymo, query, record, run

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
            told = answer("why", trace, words[-1])
            check(told["latency_ns"] == row["worst_ns"], row)
            usual = re.findall(r"usually ([\d.]+ \w+)", row["text"])
            check(all(f"usually {time}" in told["sentence"] for time in usual), "what is usual:", row["text"], told["sentence"])
    check(len(answer("flow", trace)["chains"]) == CHAINS, "flow has not all chains")
    runs = query(trace, "SELECT pid, count(*) AS runs FROM callback_instances WHERE node = '/drone' AND kind = 'timer' GROUP BY pid")
    check(len(runs) == PROCESSES, "SQL has", runs)


def screen(trace):
    text = kymo("report", trace)
    lines = text.rstrip("\n").split("\n")
    # A command is never broken, so it may be longer than a line.
    wide = [line for line in lines if len(line) > 80 and not re.match(r" *`?kymo [a-z]+ .*$", line)]
    check(len(lines) <= 23 and not wide, "the first screen has", len(lines), "lines:\n" + text)
    check(re.search(rf"Affected: \d+ of ({CHAINS}|{PROCESSES}) such ", " ".join(text.split())), text)
    rows = [line for line in lines if re.match(r"(\d+ x )?(/drone|/swarm|swarm:)", line)]
    check(all(re.match(rf"({CHAINS} x /swarm -> /drone|{PROCESSES} x (/drone|swarm:step)) ", row) for row in rows), "rows:", rows, text)
    chains = [row for row in rows if "->" in row]
    arrived = sum(row["arrived"] for row in answer("flow", trace)["chains"])
    check(all(re.search(rf"drone +{arrived} ", row) for row in chains), "arrived are", arrived, chains)


def flow(trace):
    """As text they are one row, about whose worst one the rest is; --all, --wide and JSON have each of them. Operands are those of why."""
    told = answer("flow", trace)["chains"]
    check(all(row["alike"] == CHAINS for row in told), "alike:", told[0])
    text = kymo("flow", trace)
    rows = [line for line in text.split("\n") if line.endswith("/drone timer 10 ms -> /swarm -> /drone")]
    check(len(rows) == 1 and f" {CHAINS} x /drone" in rows[0], "flow has the rows", rows)
    arrived, begun = sum(row["arrived"] for row in told), {row["processes"].split(", ")[0]: row["begun"] for row in told}
    check(rows[0].split()[:3] == ["1", str(sum(begun.values())), str(arrived)], rows[0], "begun", begun, "arrived", arrived)
    check(max(row["max_ns"] for row in told) == told[0]["max_ns"] == answer("flow", trace)["worst"][0]["total_ns"], "the first is not the worst:", told[0])
    command = re.search(r"`(kymo flow [^`]*)`", text)
    for words in shlex.split(command[1])[2:] if command else [], [trace, "--wide"], [trace, "--chain", str(CHAINS)]:
        text = kymo("flow", *words, "--limit", str(CHAINS))
        check(" x /drone" not in text and text.count("-> /swarm ->") == (1 if "--chain" in words else CHAINS), words, text)
    for row in told[:3]:
        one = answer("flow", trace, f"/drone -> /drone ({row['processes']})")["chains"]
        check([[r["processes"], r["max_ns"]] for r in one] == [[row["processes"], row["max_ns"]]], row, "of its own:", one)
    first = told[0]["processes"].split(", ")[0]
    through = answer("flow", trace, f"/swarm -> /drone ({first})")["chains"]
    check(through and all(first in row["processes"] for row in through), f"through {first}:", through)
    empty = " ".join(run(KYMO, "flow", trace, "/drone -> /drone (swarm 1)", status=6).stdout.split())
    check("did not run in (swarm 1). What ran: '/drone -> /drone (swarm " in empty, empty)


def why(trace):
    """The plain name means the worst, and the answer says so, and names another one."""
    for operand, count in ("/drone -> /drone", CHAINS), ("/drone timer*", PROCESSES), ("step", PROCESSES), (None, None):
        words = [operand] if operand else []
        told, text = answer("why", trace, *words), kymo("why", trace, *words)
        said = re.search(r"^Of this name: the worst of (\d+)\. The next: `(kymo why .*)`$", text, re.M)
        check(said and int(said[1]) == told["alike"] == len(told["others"]) + 1 and told["alike"] == (count or told["alike"]), operand, "says", said, told["alike"])
        next_one = answer(*shlex.split(said[2])[1:])
        check(shlex.split(said[2])[-1] == told["others"][0]["operand"], said[2], told["others"][0])
        for other in told["others"][:2]:
            one = answer("why", trace, other["operand"], "--all")
            latency = one["instances"][0]["latency_ns"]
            check(one["instances"] and latency >= other["worst_ns"] and one["count"] == other["count"], other, "is", latency, one["count"])
        check("Of this name" not in kymo("why", trace, told["others"][0]["operand"]), "a process was named, and others are told")
        check(next_one["alike"] == told["alike"], "of another one:", next_one["alike"])
    begins = float(answer("why", trace, "/drone -> /drone")["at"].split()[0])  # it takes 20 ms
    text = kymo("why", trace, "/drone -> /drone", "--at", f"+{begins + 0.005}s")
    check(f"Of this name: one of {CHAINS}. Another: `kymo why " in text, "at a time, it is not the worst:", text)
    said = re.search(r"^Of this name: the worst of (\d+)\. The next: `(kymo flow .*)`$", kymo("flow", trace, "step"), re.M)
    check(said and "spans" in answer(*shlex.split(said[2])[1:]) and int(said[1]) == PROCESSES == answer("flow", trace, "step")["alike"], "flow:", said)


def on_terminal(*words):
    """Return: what kymo writes to a terminal of 80 columns; less than a terminal keeps until it is read."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    subprocess.run([KYMO, *words], stdout=its, env=dict(os.environ, COLUMNS="", NO_COLOR="1"), timeout=300, check=False)
    os.close(its)
    with os.fdopen(ours, "rb") as file:
        return file.read1(65536).decode().replace("\r", "")


def terminal(trace):
    """What can be copied is in one line."""
    for words in ("why", trace, "/drone timer*"), ("why", trace, "/drone -> /drone"), ("flow", trace, "step"):
        text = on_terminal(*words)
        check(re.search(rf"^Of this name: the worst of \d+\. The next:(\n ?)? `kymo {words[0]} [^`\n]*\)'`$", text, re.M), words, "on a terminal:", text)
    text = on_terminal("flow", trace, "/drone -> /drone (swarm 1)")
    typed = re.findall(r"'/drone[^'\n]*\)'", text.partition("What ran:")[2])
    check("What ran:" in text and len(typed) == text.partition("What ran:")[2].count("'") // 2 > 1, "operands:", text)


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
    flow(trace)
    why(trace)
    terminal(trace)
