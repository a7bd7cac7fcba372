#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""The path of messages inside the real CycloneDDS and the real Fast DDS: each message that two readers of another process take has
four parts (writing, network, reading, cache), in order, whose sum is its transport. Within a process it has no network. Where
events are missing, nothing is said of that time, and flow has the word unsplit."""
import json
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_capture import capturing, may_capture
from lib_cxx import dump
from lib_test import BUILD, answer, check, in_directory, kymo, private, query, record, ros_domain, sanitized, skip

COUNT = 20  # messages; the last quarter of them in parts
URI = ("<General><Interfaces><NetworkInterface address='127.0.0.1'/></Interfaces><AllowMulticast>false</AllowMulticast></General>"
       "<Discovery><ParticipantIndex>auto</ParticipantIndex><Peers><Peer address='127.0.0.1'/></Peers></Discovery>")
PARTS = ("dds_write_ns", "network_ns", "dds_read_ns", "cache_ns")
EVENT = re.compile(r"(rmw_publish|dds_send|dds_receive|dds_cached|rmw_take): .*(?:timestamp|source_timestamp) = (\d+)")


def recorded(work, program, how, *options, count=COUNT):
    trace = f"{work}/{program}-{how}{len(options)}"
    record(trace, "-q", *options, "--", f"{BUILD}/tests/{program}", how, str(count), str(ros_domain()),
           env=private(work, CYCLONEDDS_URI=URI))
    return trace


def parts_of(trace):
    columns = ", ".join(("transport_ns", *PARTS))
    return query(trace, f"SELECT {columns} FROM messages ORDER BY take_ns")


def check_order(trace):
    """The first events of each message, in the order of the trace."""
    order = {}
    for name, source in (m.groups() for m in map(EVENT.search, dump(trace)) if m):
        names = order.setdefault(source, [])
        if name not in names:
            names.append(name)
    wrong = [names for names in order.values() if names != ["rmw_publish", "dds_send", "dds_receive", "dds_cached", "rmw_take"]]
    check(len(order) == COUNT and not wrong, trace, len(order), wrong[:2])


def check_through(trace, ordered):
    rows = parts_of(trace)
    check(len(rows) == 2 * COUNT, trace, len(rows))
    for row in rows:
        check(all(row[part] is not None and row[part] >= 0 for part in PARTS), trace, row)
        check(sum(row[part] for part in PARTS) == row["transport_ns"], trace, "the sum", row)
    if ordered:
        check_order(trace)
    inside = answer("flow", trace)["inside"]
    check([row["segment"] for row in inside if row["chain"] == 1] == ["dds_write", "network", "dds_read", "cache"], trace, inside)
    check(all(row["count"] == COUNT for row in inside), trace, inside)
    kinds = {row["kind"] for row in answer("why", trace)["parts"]}
    check({"network", "dds"} <= kinds and "transport" not in kinds, trace, kinds)
    kymo("export", "--format", "perfetto", "--compress", "none", "-o", f"{trace}.pftrace", trace)
    with open(f"{trace}.pftrace", "rb") as file:
        check(b"network_ns" in file.read(), trace, "Perfetto has no network_ns")


def check_local(trace):
    rows = parts_of(trace)
    check(len(rows) == COUNT, trace, len(rows))
    for row in rows:
        check(row["network_ns"] is None and row["dds_read_ns"] is None, trace, "a network within the process", row)
        check(row["dds_write_ns"] + row["cache_ns"] == row["transport_ns"], trace, row)


def check_lost(work, program):
    """Three subscriptions of another process. One keeps two messages and takes late, one takes none: their queues are where messages end."""
    count = 2 * COUNT  # enough for a finding
    trace = recorded(work, program, "lose", count=count)
    rows = query(trace, "SELECT subscription_id AS who, outcome, lost_where AS at, count(*) AS count FROM messages GROUP BY 1, 2, 3 ORDER BY 1, 2")
    check([tuple(row.values()) for row in rows] == [(1, "callback", None, 2), (1, "untaken", "queue", count - 2), (2, "callback", None, count),
                                                   (3, "untaken", "not_taken", count)], trace, rows)
    rows = json.loads(kymo("report", trace, "--section", "losses", "--format", "json"))["losses"]
    check([(row["lost"], row["queue"], row["not_taken"], row["unknown"], row["depth"]) for row in rows] ==
          [(count, 0, count, 0, 10), (count - 2, count - 2, 0, 0, 2)], trace, rows)
    text = " ".join(kymo("why", trace, "1").split())
    check("in the queue, which holds 2, and newer ones displaced it" in text and "nothing was taken from there" in text, trace, text)
    text = " ".join(kymo("report", trace).split())
    check(f"{count} of" in text and "in its queue, and it never took them" in text, trace, text)


def check_missing(work, program):
    trace = recorded(work, program, "talk", "-e", "!ros2_kymo:dds_send")
    rows = parts_of(trace)
    check(all(row["network_ns"] is None and row["dds_write_ns"] is None and row["dds_read_ns"] + row["cache_ns"] <= row["transport_ns"]
              for row in rows), trace, rows[:2])
    segments = {row["segment"] for row in answer("flow", trace)["inside"]}
    check(segments == {"unsplit", "dds_read", "cache"}, trace, segments)
    trace = recorded(work, program, "talk", "-e", "!ros2_kymo:dds_*", "-e", "*")
    check(all(row[part] is None for row in parts_of(trace) for part in PARTS), trace)
    check("inside" not in answer("flow", trace) and "transport" in {row["kind"] for row in answer("why", trace)["parts"]}, trace)


def captured(work, program):
    """A capture on the loopback interface while the program runs: each message is on the wire between its write and its reception."""
    file = f"{work}/{program}.pcap"
    with capturing("lo", file):
        trace = recorded(work, program, "talk", "-q")
    rows = ("SELECT m.source_ns AS source, min(p.time_ns) - min(m.send_ns) AS sent, min(m.take_ns) - min(p.time_ns) AS left, "
            "count(DISTINCT p.fragment) AS parts FROM messages m JOIN packets p USING (publication_id) GROUP BY 1")
    found = query(trace, rows, "--capture", file)
    check(len(found) == COUNT and all(row["sent"] > 0 and row["left"] > 0 for row in found), trace, found)
    check(sum(row["parts"] > 1 for row in found) == COUNT // 4, trace, "messages in parts", found)
    wire = json.loads(kymo("report", trace, "--section", "wire", "--capture", file, "--format", "json"))["wire"]
    check([(row["topic"], row["messages"], row["missing"]) for row in wire] == [("/scan", COUNT, 0)], wire)


def main(work):
    programs = [name for name in ("path_cyclone", "path_cyclone_humble", "path_fastdds") if os.path.exists(f"{BUILD}/tests/{name}")]
    if sanitized() or not programs:
        skip("no CycloneDDS and no Fast DDS to record, or the hooks have sanitizers")
    for program in programs:
        # On Humble, the event with the time of a message comes after its rmw_publish.
        check_through(recorded(work, program, "talk"), program == "path_cyclone")
        if not program.endswith("humble"):
            check_local(recorded(work, program, "local"))
        if program == "path_cyclone":
            check_lost(work, program)
    check_missing(work, programs[0])
    if programs[0] != "path_fastdds" and may_capture():
        captured(work, programs[0])
    else:
        print("skipped in part: frames may not be captured, or no CycloneDDS")
    print(f"{COUNT} messages each: {', '.join(programs)}")


in_directory(main)
