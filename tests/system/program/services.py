#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""Requests, responses and the callbacks of clients: told by hooks where tracetools does not tell (up to Jazzy), in
the same events as the tracepoints of later versions, and never twice. With CycloneDDS and Fast DDS."""
import json
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import COMPILE, dump, require
from lib_test import BUILD, KYMO, SOURCE, in_directory, query, record, run

COUNT, ANSWERED, THROWS = 20, 16, 1
EVENT = re.compile(r"ros2:((?:rmw_(?:client_init|send|take)|callback_)\w*): .*?\{ ([^{}]*(?:\{[^{}]*\}|\[[^\]]*\])?[^{}]*) \}$")


def check(right, *what):
    if not right:
        sys.exit(f"services.py: {what}")


def compiled(work, name):
    folder, source = f"{work}/{name}", f"{SOURCE}/tests/rclcpp/services.cpp"
    os.mkdir(folder)
    run(*COMPILE, "-DCYCLONE=1", "-DFAST=2", f"-DLIBRARY={name.upper()}", "-shared", "-o", f"{folder}/libros.so", source)
    return folder


def told(trace):
    """What each event says, without times and addresses."""
    lines = []
    for line in dump(trace):
        found = EVENT.search(line)
        if found:
            fields = re.sub(r"(\w+) = 0x\w+", r"\1", found[2])
            lines.append(f"{found[1]} {fields}")
    return lines


def check_calls(trace, gid, handle):
    rows = query(trace, "SELECT c.*, b.kind, b.callback_object, b.node FROM service_calls c "
                        "LEFT JOIN callbacks b ON b.id = c.response_callback_id ORDER BY sequence_number")
    check(len(rows) == COUNT, trace, len(rows), "calls")
    for number, row in enumerate(rows, 1):
        is_answered, ends = number % 5 != 0, number != 3
        check(row["sequence_number"] == number and row["client_id"] and row["service_id"] and
              row["request_ns"] and row["request_ns"] <= row["request_taken_ns"] <= row["callback_start_ns"], trace, row)
        check((row["response_taken_ns"] is not None) == is_answered, trace, row)
        check((row["response_callback_start_ns"] is not None) == is_answered, trace, row)
        check((row["response_callback_end_ns"] is not None) == (is_answered and ends), trace, row)
        if is_answered:
            check((row["kind"], row["callback_object"], row["node"]) == ("client", handle, "/asker"), trace, row)
    gids = query(trace, "SELECT gid FROM clients")
    check([row["gid"] for row in gids] == [gid], trace, gids, gid)
    runs = query(trace, "SELECT kind, count(*) AS runs, sum(published) AS published, count(service_call_id) AS calls "
                        "FROM callback_instances GROUP BY 1 ORDER BY 1")
    check(runs == [{"kind": "client", "runs": ANSWERED - THROWS, "published": ANSWERED - THROWS, "calls": ANSWERED - THROWS},
                   {"kind": "service", "runs": COUNT, "published": 0, "calls": COUNT}], trace, runs)


def check_overtaken(work, path, program, middleware, generation):
    """Each request is served before the client's send call returns: it was sent before, all the same."""
    trace = f"{work}/{middleware}-{generation}-overtaken"
    record(trace, "-q", "--", "env", f"LD_LIBRARY_PATH={path}", program, str(COUNT), generation, "overtake")
    rows = query(trace, "SELECT * FROM service_calls ORDER BY sequence_number")
    check(len(rows) == COUNT, trace, len(rows), "calls")
    for row in rows:
        check(row["request_ns"] and row["request_ns"] < row["request_taken_ns"] and row["request_latency_ns"] > 0 and
              row["from_callback_id"] and row["client_thread_id"] != row["service_thread_id"], trace, row)
    stopped = run(KYMO, "flow", trace, "-f", "json").stdout
    check("not taken" not in stopped, trace, stopped)


def check_perfetto(trace):
    """The client's track: a request, and behind it the run that handled the response."""
    run(KYMO, "export", trace, "--format", "chrome", "-o", f"{trace}.json")
    with open(f"{trace}.json", encoding="utf-8") as file:
        slices = [one["name"] for one in json.load(file)["traceEvents"] if one.get("cat") == "call" and one["ph"] in "BX"]
    check(slices.count("/asker uses the response of /add") == ANSWERED - THROWS and slices.count("/asker calls /add") == COUNT, trace, slices)


def main(work):
    require()
    events = {}
    for middleware in ("cyclone", "fast"):
        folder = compiled(work, middleware)
        program = f"{work}/services"
        if not os.path.exists(program):
            tracetools = f"{BUILD}/stub/rolling/lib"
            run(*COMPILE, "-o", program, f"{SOURCE}/tests/rclcpp/services.cpp", f"-L{folder}", "-lros",
                f"-L{tracetools}", "-ltracetools", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined")
        for generation in ("humble", "jazzy", "rolling"):
            trace = f"{work}/{middleware}-{generation}"
            path = f"{folder}:{BUILD}/stub/{generation}/lib"
            said = record(trace, "-q", "--", "env", f"LD_LIBRARY_PATH={path}", program, str(COUNT),
                          generation).stdout
            gid, handle, users = said.split()
            check(users == "1", trace, "a reference to the client's handle was kept", said)
            events[middleware, generation] = told(trace)
            check_calls(trace, gid, int(handle, 16))
            check_overtaken(work, path, program, middleware, generation)
    check_perfetto(trace)
    for middleware in ("cyclone", "fast"):
        # Before 8.5 nobody tells when a response was written, and a request is told even if none was there.
        later = [re.sub(r", timestamp = \d+", "", line) for line in events[middleware, "rolling"]]
        for generation in ("humble", "jazzy"):
            seen = [re.sub(r", timestamp = 0", "", line) for line in events[middleware, generation]]
            wrong = [(a, b) for a, b in zip(seen, later) if a != b and "taken = 0" not in b]
            check(len(seen) == len(later) and not wrong, middleware, generation, len(seen), len(later), wrong[:2])
    print(f"{COUNT} calls each, {len(events['fast', 'jazzy'])} events")


in_directory(main)
