#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain, quick
"""The house: which room may include which, and which headers of a room others may include.

A room is a folder below src/, a sub-room a folder below a room. Each row of ROOMS is a room or sub-room with the
rooms it may use: those before it in the flow of an event, never one behind it. What a room may use, its sub-rooms may
use, too. Headers named *_internal.h or *_impl.h are private to their folder and its sub-rooms. A row of DOORS names the
public headers of a sub-room; the other headers in that folder are private, too.

The libraries of CMakeLists.txt must agree: a library links what its sources include, and nothing else of ours.
"""
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, SOURCE, check, failures, run


# Room or sub-room: what it may use apart from itself. What follows a room's name with a slash is its sub-rooms, in the order in
# which they stand on each other.
ROOMS = {
    "abi": "",
    "base": "abi",
    "base/table": "base",

    "accounts": "base",
    "incident": "base",
    "yaml": "base",
    "config": "base yaml",

    "inside": "abi",
    "inside/tracer": "",
    "inside/ros2": "inside/tracer",
    "inside/ros2/late": "inside/ros2",
    "inside/malloc": "inside/tracer",
    "inside/functions": "inside/tracer",
    "inside/attach": "",

    "ctf": "abi base",
    "ctf/format": "",
    "ctf/tsdl": "ctf/format",
    "ctf/write": "ctf/format",
    "ctf/read": "ctf/format ctf/tsdl",
    "ctf/read/copy": "ctf/read",

    "kernel": "abi base ctf/format ctf/write",

    "recorder": "abi base accounts ctf/format ctf/write",
    "recorder/runtime": "",
    "recorder/records": "",
    "recorder/filter": "recorder/runtime recorder/records caret/filter caret/regex",
    "recorder/drain": "recorder/runtime recorder/records recorder/filter",
    "recorder/trace": "recorder/drain",
    "recorder/own": "recorder/runtime recorder/records recorder/drain",
    "recorder/perfetto": "export/pft",
    "recorder/session": "recorder/runtime recorder/records recorder/filter recorder/drain recorder/trace recorder/own recorder/perfetto kernel",
    "recorder/trigger": "recorder/records",
    "recorder/flight": "recorder/records recorder/drain recorder/trace recorder/session recorder/trigger",
    "recorder/launch": "recorder/runtime",
    "recorder/doctor": "recorder/runtime recorder/launch kernel",
    "recorder/control": "recorder/runtime",
    "recorder/record": "recorder/runtime recorder/filter recorder/drain recorder/trace recorder/session recorder/trigger "
                       "recorder/flight recorder/launch recorder/doctor recorder/control kernel ctf/tsdl",

    "attach": "abi base",

    "relay": "abi base ctf/format ctf/write",
    "relay/wire": "",
    "relay/link": "relay/wire",
    "relay/producer": "relay/wire relay/link",
    "relay/send": "relay/wire relay/link relay/producer recorder/drain recorder/trace recorder/session",
    "relay/store": "",
    "relay/model": "relay/wire relay/store",
    "relay/forward": "relay/wire relay/link relay/producer relay/model",
    "relay/ingest": "relay/model relay/store",
    "relay/viewer": "relay/model",
    "relay/server": "relay/wire relay/forward relay/ingest relay/viewer",

    "live": "abi base ctf/format ctf/read relay/wire relay/link relay/store",

    "analysis": "abi base accounts yaml ctf/read analysis/pass",
    "analysis/pass": "",
    "analysis/symbol": "",
    "analysis/model": "analysis/symbol",
    "analysis/model/concern": "analysis/model",
    "analysis/model/behind": "analysis/model",
    "analysis/simclock": "",
    "analysis/spans": "analysis/model",
    "analysis/stats": "analysis/model",
    "analysis/chains": "analysis/model analysis/executors",
    "analysis/sched": "analysis/model",
    "analysis/executors": "analysis/model",
    "analysis/system": "analysis/model analysis/symbol",
    "analysis/cycles": "analysis/model",
    "analysis/align": "analysis/model",
    "analysis/costs": "analysis/model analysis/spans analysis/system",
    "analysis/why": "analysis/model analysis/system analysis/chains analysis/sched",
    "analysis/behaviour": "analysis/model analysis/pass analysis/spans",
    "analysis/capture": "analysis/model analysis/pass analysis/align",
    "analysis/tables": "analysis/model analysis/behaviour analysis/capture analysis/stats analysis/costs analysis/spans analysis/simclock analysis/align analysis/sched analysis/system analysis/executors",

    "query": "abi base ctf/read analysis",

    "export": "abi base ctf/read analysis summary",
    "export/pft": "",
    "export/perfetto": "export/pft",
    "export/graph": "",
    "export/flame": "",
    "export/parquet": "",
    "export/rows": "export/parquet",
    "export/mcap": "",
    "export/archive": "export/perfetto",

    "summary": "abi base accounts ctf/read analysis",

    "fleet": "base summary config incident export/pft export/parquet",
    "fleet/window": "",
    "fleet/otlp": "fleet/window",
    "fleet/push": "fleet/window fleet/otlp",
    "fleet/upload": "fleet/push",

    "page": "base",

    "report": "abi base accounts ctf/read analysis caret/paths summary",
    "report/flow": "report",
    "report/why": "report report/flow summary",
    "report/running": "",
    "report/first": "",
    "report/sections": "report report/first",
    "report/page": "page report report/first",

    "caret": "abi base",
    "caret/filter": "",
    "caret/regex": "caret/filter",
    "caret/agent": "caret/filter recorder",
    "caret/dds": "caret/agent recorder",
    "caret/paths": "yaml analysis ctf/read",
    "caret/export": "ctf/read ctf/write",

    "compare": "base accounts page summary analysis/pass",

    "check": "base yaml summary compare",

    "top": "abi base ctf/read recorder relay live analysis summary report",

    "serve": "base incident config ctf/read live relay/wire analysis/chains analysis/model summary fleet top",

    "cli": "abi base accounts ctf/read recorder attach relay live caret analysis summary query export fleet report compare check top serve incident config cli/common",
    "cli/common": "",
    "cli/input": "ctf/tsdl",
    "cli/verbs": "cli/input cli/verbs",
    "cli/verbs/dump": "cli/input",
    "cli/verbs/export": "cli/input",
    "cli/verbs/info": "cli/input",
    "cli/verbs/live": "cli/input",
    "cli/verbs/ls": "cli/input",
    "cli/verbs/store": "",
    "cli/verbs/incidents": "",
    "cli/verbs/diff": "cli/input cli/verbs/ls cli/verbs/store",
    "cli/verbs/bench": "",
    "cli/verbs/check": "cli/input cli/verbs/diff",
    "cli/verbs/open": "cli/input",
    "cli/verbs/query": "cli/input",
    "cli/verbs/record": "cli/input cli/verbs/export cli/verbs/incidents",
    "cli/verbs/report": "cli/input cli/verbs/check",
}

# Sub-room: its public headers, without .h. A sub-room without a row has only the rule of names.
DOORS = {
    "accounts": "accounts",
    "config": "config",
    "query": "query",
    "attach": "attach",
    "export/pft": "pb pft",
    "export/perfetto": "perfetto",
    "fleet/window": "window",
    "fleet/otlp": "otlp",
    "fleet/push": "backlog backoff post push secret",
    "fleet/upload": "upload",
    "export/graph": "dot",
    "export/flame": "flame",
    "export/rows": "rows",
    "export/parquet": "parquet",
    "export/mcap": "mcap",
    "export/archive": "archive",
    "cli/common": "ask attaching common detach progress screen",
    "cli/input": "access_options answer event_print fired found input_captures input_events input_model input_runs input_traces kept kept_copy open_kind record_options report_page report_paths report_summary report_told trace_time",
    "cli/verbs/dump": "dump_columns",
    "cli/verbs/export": "export",
    "cli/verbs/info": "info_chunks info_collect info_recorders info_show status_refused",
    "cli/verbs/ls": "recordings",
    "cli/verbs/bench": "bench_pairs bench_plan",
    "cli/verbs/check": "check_base check_events check_page",
    "cli/verbs/diff": "diff_answer diff_runs",
    "cli/verbs/store": "store_changes store_dir",
    "cli/verbs/incidents": "incidents_finish incidents_upload",
    "check": "budget check check_print",
    "compare": "blocks change ci compare compare_page compare_print disturbed looks metrics points rename series series_print verdict",
    "cli/verbs/live": "live_dir live_show",
    "cli/verbs/open": "open_browser open_handover open_shown open_view ui_server",
    "cli/verbs/query": "query_print query_prompt",
    "cli/verbs/record": "nothing_traced record_agent record_finish record_flight record_hosts record_perfetto record_relay record_show record_users record_wishes recorded",
    "cli/verbs/report": "report_wishes",
    "ctf/format": "arena bits framing index lock packed tail",
    "ctf/tsdl": "ctf2_form ctf2_write role scope tsdl_metadata tsdl_write",
    "ctf/write": "metadata writer",
    "ctf/read": "reader",
    "ctf/read/copy": "copy",
    "recorder/runtime": "agent_lock alive claim counts_left domain elsewhere initlog_cursor region_view ros_domains rundir say states status",
    "recorder/records": "classes left_out_set record_walk",
    "recorder/filter": "filter filter_rules",
    "recorder/drain": "drain drained_process promise sink sink_list",
    "recorder/trace": "sink_ctf sink_files trace_dir traces",
    "recorder/own": "own_sink",
    "recorder/perfetto": "perfetto_file",
    "recorder/session": "session session_relay",
    "relay/wire": "datagram tls token url wire",
    "relay/link": "link",
    "relay/producer": "producer producer_link",
    "relay/send": "send_sink",
    "relay/store": "store store_tree",
    "relay/model": "relay_model relay_packets",
    "relay/forward": "forward",
    "relay/ingest": "ingest",
    "relay/viewer": "viewer",
    "relay/server": "server",
    "live": "live watch",
    "caret/agent": "agent discovery order remote roster sim_clock start steer",
    "caret/dds": "",
    "caret/paths": "architecture caret_paths",
    "caret/export": "caret_export",
    "kernel": "kernel stacks",
    "inside/tracer": "tracer_calm tracer_guest tracer_initlog tracer_count tracer_left_out tracer_libc tracer_lock tracer_ring",
    "recorder/trigger": "trigger",
    "recorder/flight": "flight",
    "recorder/launch": "enable launch prefixes preload",
    "recorder/doctor": "doctor",
    "recorder/control": "control",
    "recorder/record": "record",
    "analysis/pass": "pass under_way",
    "analysis/model": "model model_events model_startup",
    "analysis/model/concern": "concern",
    "analysis/model/behind": "behind",
    "analysis/symbol": "symbol",
    "analysis/simclock": "simclock",
    "analysis/spans": "loops spans spans_stats spans_tree",
    "analysis/stats": "stats stats_actions stats_activity stats_content stats_graph stats_intervals stats_losses stats_windows",
    "analysis/chains": "chains chains_suggest",
    "analysis/sched": "sched sched_runs sched_totals",
    "analysis/executors": "executor_view executor_waits busy",
    "analysis/system": "system_calls system_cputime system_cputime_thread system_faults system_functions system_memory system_modules system_profile",
    "analysis/cycles": "cycles",
    "analysis/align": "align",
    "analysis/costs": "costs",
    "analysis/why": "why why_cpu why_fate",
    "analysis/behaviour": "behaviour",
    "analysis/capture": "capture",
    "analysis/tables": "tables",
    "summary": "findings summary summary_collect summary_file summary_limit summary_own summary_window summary_windows",
    "fleet/window": "window",
    "serve": "serve serve_rules",
    "incident": "incident",
    "page": "page_file",
    "report/flow": "flow flow_text",
    "report/first": "first",
    "report/why": "report_why",
    "report/running": "running",
    "report/sections": "profile_names expect realtime_names",
}

# What the two libraries in the traced process may need.
LIBC = re.compile(r"^(libc\.so|ld-linux|libkymo\.so|libpthread\.so|libdl\.so)")

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^">]+)[">]')
PRIVATE = re.compile(r"_(internal|impl)\.h$")
included = {}			# room: rooms that its files include


def may_use(room):
    """All that ROOMS grants a room: its own row, and those of the rooms it is in."""
    granted = set()
    parts = room.split("/")
    for depth in range(1, len(parts) + 1):
        granted.update(ROOMS.get("/".join(parts[:depth]), "").split())
    return granted


def check_include(room, path, number, target):
    where = f"{os.path.relpath(path, SOURCE)}:{number}"
    if ".." in target.split("/"):
        failures.append(f"{where}: includes {target}; paths begin at src/")
        return
    other, name = os.path.split(target)
    if other not in ROOMS:
        return  # a system header, or <kymo/...>
    if other == room:
        return
    included.setdefault(room, set()).add(other)
    granted = may_use(room)
    if not any(other == grant or other.startswith(grant + "/") for grant in granted):
        failures.append(f"{where}: room {room} must not use {other} ({target})")
    if room.startswith(other + "/"):
        return
    if PRIVATE.search(name):
        failures.append(f"{where}: {target} is private to src/{other}")
    elif other in DOORS and os.path.splitext(name)[0] not in DOORS[other].split() and name.endswith(".h"):
        failures.append(f"{where}: {target} is not among the public headers of src/{other}")


def check_sources():
    count = 0
    for directory, _, names in os.walk(os.path.join(SOURCE, "src")):
        room = os.path.relpath(directory, os.path.join(SOURCE, "src"))
        check(len(names) <= 40, f"src/{room}: {len(names)} files; a folder has at most 40")
        names = [name for name in names if name.endswith((".c", ".h", ".def", ".S"))]
        if names and room not in ROOMS:
            failures.append(f"src/{room}: no such room in the design; see ROOMS in this test")
            continue
        for name in names:
            path = os.path.join(directory, name)
            if room == "abi" and name.endswith(".c"):
                failures.append(f"src/abi/{name}: contracts only, no code")
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    match = INCLUDE.match(line)
                    if match:
                        count += 1
                        check_include(room, path, number, match.group(1))
    check(count >= 50, f"only {count} includes found: is this test looking at the right place?")


def check_circles():
    """No circle between sub-rooms, whatever ROOMS grants."""
    done, path = set(), []

    def visit(room):
        if room in path:
            failures.append("a circle of rooms: " + " -> ".join(path[path.index(room):] + [room]))
            return
        if room in done:
            return
        path.append(room)
        for other in sorted(included.get(room, ())):
            visit(other)
        path.pop()
        done.add(room)

    for room in sorted(ROOMS):
        visit(room)


def check_links():
    """room(a/b kymo_c) in CMakeLists.txt: the library of src/a/b links that of src/c, whose headers it includes."""
    with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
        text = file.read()
    rows = re.findall(r"^room\(([\w/]+)([^)]*)\)", text, re.M)
    links = {room.replace("/", "_"): {word[5:] for word in rest.split() if word.startswith("kymo_")} for room, rest in rows}
    check(len(links) >= 10, f"only {len(links)} libraries found in CMakeLists.txt")

    def library(room):
        parts = room.split("/")
        for depth in range(len(parts), 0, -1):
            if "_".join(parts[:depth]) in links:
                return "_".join(parts[:depth])
        return None

    def reached(name):
        found = set()
        for other in links.get(name, ()):
            found |= {other} | reached(other)
        return found

    needs = {}
    for room, others in included.items():
        needs.setdefault(library(room), set()).update(library(other) for other in others)
    for name, direct in links.items():
        wanted = needs.get(name, set()) - {name, None}
        for other in sorted(wanted - reached(name)):
            failures.append(f"CMakeLists.txt: kymo_{name} includes headers of kymo_{other} and does not link it")
        for other in sorted(direct - wanted):
            failures.append(f"CMakeLists.txt: kymo_{name} links kymo_{other} and includes none of its headers")


def check_drawing():
    """docs/developers/architecture.md lists each room and sub-room, and the functions that it names are in the files it links."""
    path = os.path.join(SOURCE, "docs", "developers", "architecture.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    listed = set(re.findall(r"`([\w/]+)`", text.partition("\n## Rooms")[2]))
    for room in ROOMS:
        if room.count("/") < 2:
            check(room in listed or room.split("/")[-1] in listed, f"architecture.md does not list {room}")
    functions = re.findall(r"`(\w+)\(\)` in \[[^]]*\]\(([^)]*)\)", text)
    check(len(functions) >= 5, f"only {len(functions)} functions found in architecture.md")
    for function, link in functions:
        with open(os.path.join(os.path.dirname(path), link), encoding="utf-8") as file:
            check(re.search(rf"\b{function}\b", file.read()), f"architecture.md: {function}() is not in {link}")


def check_needed(library):
    path = os.path.join(BUILD, "lib", library)
    if not check(os.path.exists(path), f"{path} was not built"):
        return
    text = run("readelf", "-d", path).stdout
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", text):
        check(LIBC.match(name), f"{library} needs {name}: nothing but libc in the traced process")


check_sources()
check_circles()
check_links()
check_drawing()
check_needed("libkymo.so")
check_needed("libkymo-ros2.so")
