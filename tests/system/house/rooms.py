#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: quick
"""The room rule: a room uses abi, base and the rooms before it in the flow, never one behind it;
tracer and hooks use nothing but abi; recorder and tracer meet only in abi."""
import os
import re
import subprocess
import sys

SOURCE = os.environ["KYMO_SOURCE"]
BUILD = os.environ["KYMO_BUILD"]

# What each room may include, apart from itself. A room that is not here must be added here.
MAY_USE = {
    "abi": [],
    "base": ["abi"],
    "tracer": ["abi"],
    "hooks": ["abi", "tracer"],
    "malloc": ["abi", "tracer"],
    "ctf": ["abi", "base"],
    "kernel": ["abi", "base", "ctf"],
    "recorder": ["abi", "base", "ctf", "kernel"],
    "relay": ["abi", "base", "ctf", "recorder"],
    "live": ["abi", "base", "ctf", "relay"],
    "control": ["abi", "base", "recorder"],
    "analysis": ["abi", "base", "ctf"],
    "query": ["abi", "base", "ctf", "analysis"],
    "export": ["abi", "base", "ctf", "analysis"],
    "report": ["abi", "base", "ctf", "analysis"],
    "cli": ["abi", "base", "ctf", "recorder", "relay", "live", "control", "analysis", "query", "export",
            "report"],
}

# The analysis has rooms of its own, with the same rule: what each uses, apart from itself.
PARTS = {
    "model": [],
    "spans": ["model"],
    "stats": ["model"],
    "chains": ["model"],
    "sched": ["model"],
    "executors": ["model"],
    "why": ["system", "model", "chains", "sched"],
    "caret": ["model"],
    "system": ["model"],
    "costs": ["model", "spans", "system"],
    "cycles": ["model"],
    "simclock": [],
    "align": ["model"],
    "tables": ["model", "costs", "spans", "simclock", "align", "sched", "executors"],
}

# What the two libraries in the traced process may need.
LIBC = re.compile(r"^(libc\.so|ld-linux|libkymo\.so|libpthread\.so|libdl\.so)")

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^">]+)[">]')
failures = []


def check_include(room, path, number, target):
    where = f"{os.path.relpath(path, SOURCE)}:{number}"
    if ".." in target.split("/"):
        failures.append(f"{where}: includes {target}; paths begin at src/")
        return
    other = target.split("/")[0]
    if "/" not in target or other not in MAY_USE:
        return  # a system header, or a neighbour in the same room
    if other != room and other not in MAY_USE[room]:
        failures.append(f"{where}: room {room} must not use {other} ({target})")
    if room == other == "analysis":
        check_part(path, where, target)


def check_part(path, where, target):
    part = os.path.basename(os.path.dirname(path))
    if part not in PARTS:
        failures.append(f"{where}: src/analysis has no room {part}; see PARTS in this test")
        return
    other = target.split("/")[1]
    if other != part and other not in PARTS[part]:
        failures.append(f"{where}: analysis/{part} must not use {other} ({target})")


def check_sources():
    count = 0
    for room in sorted(os.listdir(os.path.join(SOURCE, "src"))):
        if room not in MAY_USE:
            failures.append(f"src/{room}: no such room in the design; see MAY_USE in this test")
            continue
        for directory, _, names in os.walk(os.path.join(SOURCE, "src", room)):
            for name in names:
                if not name.endswith((".c", ".h", ".def", ".S")):
                    continue
                path = os.path.join(directory, name)
                if room == "abi" and name.endswith(".c"):
                    failures.append(f"src/abi/{name}: contracts only, no code")
                with open(path, encoding="utf-8") as file:
                    for number, line in enumerate(file, 1):
                        match = INCLUDE.match(line)
                        if match:
                            count += 1
                            check_include(room, path, number, match.group(1))
    if count < 50:
        failures.append(f"only {count} includes found: is this test looking at the right place?")


def check_needed(library):
    path = os.path.join(BUILD, "lib", library)
    if not os.path.exists(path):
        failures.append(f"{path} was not built")
        return
    text = subprocess.run(["readelf", "-d", path], capture_output=True, text=True,
                          check=True).stdout
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", text):
        if not LIBC.match(name):
            failures.append(f"{library} needs {name}: nothing but libc in the traced process")


check_sources()
check_needed("libkymo.so")
check_needed("libkymo-ros2.so")
print("\n".join(failures))
sys.exit(bool(failures))
