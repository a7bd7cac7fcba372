#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""Messages of generic publishers and subscriptions: told by hooks where tracetools does not tell (up to Iron), as the tracepoints of
later versions do, and never twice."""
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import COMPILE, dump, require
from lib_test import BUILD, SOURCE, check, in_directory, query, record, run

COUNT = 20
NUMBERS, ECHO = 24, 12          # bytes of the messages


def check_messages(trace):
    """Both subscriptions get each message of /numbers, at the time at which it was written."""
    rows = query(trace, "SELECT topic_name AS topic, size_bytes AS size, count(*) AS count, count(DISTINCT publish_ns) AS times "
                        "FROM publications GROUP BY 1, 2 ORDER BY 1")
    check(rows == [{"topic": "/echo", "size": ECHO, "count": COUNT, "times": COUNT},
                   {"topic": "/numbers", "size": NUMBERS, "count": COUNT, "times": COUNT}], trace, rows)
    rows = query(trace, "SELECT size_bytes AS size, subscription_id, count(*) AS count, count(latency_ns) AS latencies FROM messages "
                        "WHERE topic_name = '/numbers' GROUP BY 1, 2")
    check(len(rows) == 2 and all((row["size"], row["count"], row["latencies"]) == (NUMBERS, COUNT, COUNT) for row in rows), trace, rows)


def check_callbacks(trace, generation):
    rows = query(trace, "SELECT c.kind, c.node, c.source, c.raw_symbol AS symbol, count(*) AS runs, sum(i.published) AS published "
                        "FROM callback_instances i JOIN callbacks c ON c.id = i.callback_id GROUP BY c.id ORDER BY published")
    check([(row["kind"], row["node"], row["source"], row["runs"], row["published"]) for row in rows] ==
          [("subscription", "/bag", "/numbers", COUNT, published) for published in (0, COUNT)], trace, rows)
    if generation == "humble":
        check("main::{lambda" in rows[-1]["symbol"], trace, "the function of the callback", rows)


def main(work):
    require()
    source, program = f"{SOURCE}/tests/rclcpp/generic.cpp", f"{work}/generic"
    run(*COMPILE, "-DLIBRARY", "-shared", "-o", f"{work}/libros.so", source)
    run(*COMPILE, "-o", program, source, f"-L{work}", "-lros", f"-L{BUILD}/stub/jazzy/lib", "-ltracetools", "-Wl,--allow-shlib-undefined")
    told = {}
    for generation in ("humble", "jazzy"):
        trace, path = f"{work}/{generation}", f"{work}:{BUILD}/stub/{generation}/lib"
        said = record(trace, "-q", "--", "env", f"LD_LIBRARY_PATH={path}", program, str(COUNT), generation).stdout
        check(said.split() == ["1"], trace, "a reference to the subscription's handle was kept", said)
        check_messages(trace)
        check_callbacks(trace, generation)
        told[generation] = [line for line in dump(trace) if "ros2:rmw_publish:" in line or "ros2:rmw_take:" in line]
    check(len(told["humble"]) == len(told["jazzy"]) == 2 * COUNT + 4 * COUNT, {name: len(lines) for name, lines in told.items()})
    print(f"{2 * COUNT} publications, {4 * COUNT} looks for a message")


in_directory(main)
