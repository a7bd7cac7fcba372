#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain, network
"""--capture with two hosts, real CycloneDDS, and a cable that loses frames: report, flow and why say which packets were lost and
sent again. Then the clock of one host, in its trace and in its capture, is made wrong by a known time: what was said of the
packets stays, within the error that is stated."""
import contextlib
import json
import os
import re
import subprocess
import sys
import uuid

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_capture
import lib_net
from lib_test import BUILD, KYMO, answer, check, in_directory, kymo, private, skip, until

COUNT = 40  # messages each way; the last quarter of them in parts
CHAIN = "/asker:/scan -> /listener"
LOSS = 60000  # frames of a million
AHEAD_NS = 7_300_000_000
URI = ("<General><Interfaces><NetworkInterface name='{}'/></Interfaces></General>"
       "<Discovery><LeaseDuration>1s</LeaseDuration></Discovery>")
# Domain 1: from near to far, over the cable that loses; domain 2: back, so that the clocks can be compared.
# The second program of each has the standard input.
PROGRAMS = {"near": "$path listen {0} 2 & $path ask {0} 1", "far": "$path listen {0} 1 & $path speak {0} 2"}


def recorded(work, host, interface, *there):
    """A recording on a host, which is under way."""
    script = 'hostname "$1"; shift; exec "$@"'
    both = 'path=$0; ' + PROGRAMS[host].format(COUNT) + "; one=$?; wait $! && exit $one"
    command = [*there, "unshare", "--uts", "sh", "-c", script, "sh", host, KYMO, "record", "-q", "--ring-size", "4M", "-o", f"{work}/{host}",
               "--", "sh", "-c", both, f"{BUILD}/tests/path_cyclone"]
    os.mkdir(f"{work}/{host}.run", 0o700)
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                            env=private(f"{work}/{host}.run", CYCLONEDDS_URI=URI.format(interface)))


def captured(work):
    with lib_net.Cable() as cable, contextlib.ExitStack() as captures:
        captures.enter_context(lib_capture.capturing("near0", f"{work}/near.pcap"))
        captures.enter_context(lib_capture.capturing("far0", f"{work}/far.pcap", *cable.there()))
        far = recorded(work, "far", "far0", *cable.there())
        near = recorded(work, "near", "near0")
        try:
            check(near.stdout.readline() == "matched\n", "near did not find far")
            cable.set(loss=LOSS)
            near.communicate("\n", timeout=300)
            far.communicate(timeout=300)
            check(not near.returncode and not far.returncode, near.returncode, far.returncode)
            check(cable.count()["lost"], "the cable lost nothing")
        finally:
            near.kill()
            far.kill()


def asked(work, verb, *words):
    return answer(verb, f"{work}/near", f"{work}/far", *words, "--capture", f"near={work}/near.pcap", "--capture", f"far={work}/far.pcap")


def of_near(rows):
    return [row for row in rows if row["node"] == "/asker" and row["lost"]]


def by_first(flow):
    return {row["first_ns"]: row for row in flow["worst_wire"]}


def check_wire(work):
    """Return: the packets of each message that near sent, by the time of the first one, which is of the clock of near."""
    sent = of_near(asked(work, "report", "--section", "wire")["wire"])
    check(len(sent) == 1 and sent[0]["messages"] == COUNT and not sent[0]["missing"] and sent[0]["again"], sent)
    flow = asked(work, "flow", CHAIN, "--worst", str(2 * COUNT))
    check(of_near(flow["wire"])[0]["packets"] == sent[0]["packets"], flow["wire"])
    again = [row for row in flow["worst_wire"] if row["packets_lost"] and row["again"]]
    check(again and all(row["again_after_ns"] > 0 for row in again), flow["worst_wire"])
    tree = asked(work, "flow", "--message", str(again[0]["message"]))["wire"]
    check([row["message"] for row in tree] == [again[0]["message"]], tree)
    why = asked(work, "why", CHAIN, "--worst", "100")
    said = [row["sentence"] for row in why["instances"] if row["cause"] in ("network", "transport")]
    check(any(re.search(r"packets? of it w\w+ lost, and sent again \S+ \ws after the first one$", text) for text in said), said)
    check(any(row["packets_lost"] and row["again"] for row in why["wire"]), why["wire"])
    return by_first(flow)


def set_ahead(work):
    """The clock of far was ahead, and is another one than that of near."""
    path, = (os.path.join(at, "metadata") for at, _, files in os.walk(f"{work}/far") if "metadata" in files)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    head, clock = text.split("clock {", 1)
    clock = re.sub(r"(\toffset = )(\d+)", lambda found: f"{found[1]}{int(found[2]) + AHEAD_NS}", clock, count=1)
    clock = re.sub(r'uuid = "[^"]*"', f'uuid = "{uuid.uuid4()}"', clock, count=1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + "clock {" + clock)
    lib_capture.shift(f"{work}/far.pcap", AHEAD_NS)


def check_ahead(work, before):
    host = next(row for row in asked(work, "report", "--section", "hosts")["hosts"] if row["host"] == "far")
    error, wrong = host["error_ns"], host["ahead_ns"] - AHEAD_NS if "ahead_ns" in host else 0
    check(error and abs(wrong) <= error, host)
    after = by_first(asked(work, "flow", CHAIN, "--worst", str(2 * COUNT)))
    check(after.keys() == before.keys(), after.keys(), before.keys())
    for first, row in after.items():
        check(row["packets"] == before[first]["packets"] and row["packets_lost"] == before[first]["packets_lost"], row, before[first])
        check(abs(row["arrived_ns"] - before[first]["arrived_ns"]) <= error, row, before[first], error)
    print(f"{len(after)} messages; the clocks compare to {error / 1000:.0f} us, and are wrong by {abs(wrong) / 1000:.0f} us")


def main(work):
    captured(work)
    before = check_wire(work)
    set_ahead(work)
    check_ahead(work, before)


if not os.path.exists(f"{BUILD}/tests/path_cyclone"):
    skip("path_cyclone was not built: it needs CycloneDDS")
reason = lib_net.private(__file__)
if reason:
    skip(reason)
in_directory(main)
