#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, shared
"""Real traces from which packets were taken away at random, and whose streams were cut anywhere: what is left of
callbacks and messages, as kymo's tables tell, is a row for a real trace processor, each packet that is missing is counted
as lost in its place, and nothing is complained of. Seeds are fixed."""
import os
import random
import shutil
import struct
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import table, with_reader
from lib_test import SHARED, kymo, skip

ENTRY, HEADER = struct.Struct(">QQ"), struct.Struct(">IIII")
STARTS = ("select count(*), count(distinct ts || ' ' || track_id) from slice "
          "where category in ('callback', 'unfinished')")
MESSAGES = "select category, count(*) from slice where category in ('publish', 'take') group by 1 order by 1"
LOST = ("select coalesce(sum(extract_arg(arg_set_id, 'debug.lost_packets')), 0), "
        "coalesce(sum(extract_arg(arg_set_id, 'debug.lost_events')), 0) from slice where name = 'TRACE DATA LOST'")
FACTS = ("select substr(name, 17), int_value from metadata where name in ('trace_attribute.lost_events', "
         "'trace_attribute.lost_packets', 'trace_attribute.events') order by 1")
ASKED = {
    "callback": "select count(*) from events where name = 'ros2:callback_start'",
    "publish": "select count(*) from (select distinct publication_id, thread_id from publications "
               "where publisher_id is not null)",
    "take": "select count(*) from messages where take_ns is not null and subscription_id is not null "
            "and outcome in ('callback', 'taken')",
    "events": "select count(*) from events",
}


def packets(stream):
    """Offset and bytes of each packet, as LTTng's index says."""
    directory, name = os.path.split(stream)
    with open(os.path.join(directory, "index", name + ".idx"), "rb") as index:
        data = index.read()
    length = HEADER.unpack_from(data)[3]
    return [(offset, bits // 8) for offset, bits in
            (ENTRY.unpack_from(data, at) for at in range(HEADER.size, len(data) - length + 1, length))]


def damage(trace, pick, share):
    """Takes inner packets away and cuts the last. Return: how many were taken."""
    taken = 0
    for directory, _, names in os.walk(trace):
        for name in names:
            if name == "metadata" or name.endswith(".idx"):
                continue
            path = os.path.join(directory, name)
            places = packets(path)
            with open(path, "rb") as stream:
                data = stream.read()
            inner = [place for place in places[1:-1] if pick.random() < share]
            kept = [place for place in places if place not in inner]
            taken += len(inner)
            whole = b"".join(data[at:at + size] for at, size in kept)
            last = kept[-1][1] if len(kept) > 1 else 0
            with open(path, "wb") as stream:
                stream.write(whole[:len(whole) - pick.randrange(last)] if last else whole)
            os.remove(os.path.join(directory, "index", name + ".idx"))
    return taken


def check_trace(check, reader, name, seed, share):
    pick = random.Random(seed)
    trace, out = (os.path.join(reader.scratch, f"{name}{seed}{suffix}") for suffix in ("", ".pftrace"))
    shutil.copytree(os.path.join(SHARED, "data", "ros2-traces", name, "ctf"), trace)
    taken = damage(trace, pick, share)
    what = f"{name}, seed {seed}, {taken} packets gone"
    kymo("export", "-q", trace, "-o", out)
    told = {key: table(trace, sql)[0][0] for key, sql in ASKED.items()}
    starts, messages, lost, facts = reader.query(out, STARTS, MESSAGES, LOST, FACTS)
    facts = dict(facts)
    check.ok(f"{what}: there is something, and something is missing", taken > 0 and told["callback"] > 0, told)
    check.equal(f"{what}: each start of a callback is a row", starts[0][0], told["callback"])
    check.equal(f"{what}: each message is a row", dict(messages), {key: told[key] for key in ("publish", "take")})
    check.equal(f"{what}: each event was read", facts["events"], told["events"])
    check.equal(f"{what}: each packet is counted", facts["lost_packets"], taken)
    check.equal(f"{what}: where it is missing", lost[0], [facts["lost_packets"], facts["lost_events"]])


def main(check, reader, scratch):
    if not os.path.isdir(os.path.join(SHARED, "data")):
        skip("no traces in ../shared")
    for name, seed, share in (("discarded", 2, 0.1), ("discarded", 3, 0.4)):
        check_trace(check, reader, name, seed, share)


with_reader(main)
