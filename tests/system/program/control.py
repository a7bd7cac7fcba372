#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""The update loop of ros2_control, and its hardware components, recorded from outside as callbacks, on libraries that stand for it."""
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import COMPILE, require
from lib_test import BUILD, SOURCE, answer, check, in_directory, query, record, report, run

CYCLES = 50
GRIPPER = "a gripper whose name has more than fifteen letters"


# Each: how deep it runs, how many messages it publishes, how often it ran.
MANAGER = {f"ControllerManager::{verb}": (0, 0, CYCLES) for verb in ("read", "update", "write")}
COMPONENTS = {f"{name}::{verb}": (1, 0, CYCLES) for name in ("arm", GRIPPER) for verb in ("read", "write")}
# An asynchronous controller has no update() in the loop. A run that throws has no end.
CONTROLLERS = {"failing::update": (1, 0, CYCLES // 2), "joint_state_broadcaster::update": (1, CYCLES, CYCLES), "arm_controller::update": (1, 0, CYCLES)}


def compile_all(work, stub, *flags):
    source, include = f"{SOURCE}/tests/rclcpp/control.cpp", [f"-I{SOURCE}/examples/tracetools-stub", f"-I{SOURCE}/src", *flags]
    linked = [f"-L{work}", f"-L{stub}", "-ltracetools"]
    libraries = []
    for library, define in ("hardware_interface", "HARDWARE"), ("controller_interface", "CONTROLLER"), ("controller_manager", "MANAGER"):
        run(*COMPILE, f"-D{define}", *include, "-shared", "-o", f"{work}/lib{library}.so", source, *libraries, *linked)
        libraries.insert(0, f"-l{library}")
    run(*COMPILE, *include, "-o", f"{work}/control", source, *libraries, *linked)


def compare(trace):
    runs = {row["symbol"]: row for row in query(
        trace, "SELECT c.symbol, count(*) AS n, min(i.depth) AS depth, sum(i.published) AS published "
               "FROM callback_instances i JOIN callbacks c ON c.id = i.callback_id WHERE c.symbol LIKE '%::%' GROUP BY c.id")}
    wanted = dict(MANAGER, **COMPONENTS, **CONTROLLERS)
    check({name: (row["depth"], row["published"], row["n"]) for name, row in runs.items()} == wanted, runs)
    check([row["n"] for row in query(trace, "SELECT count(*) AS n FROM unfinished_instances")] == [CYCLES // 2])
    nested = query(trace, "SELECT DISTINCT p.symbol AS outer, c.symbol AS inner FROM callback_instances i JOIN callbacks c ON c.id = i.callback_id "
                          "JOIN callback_instances o ON o.id = i.parent_id JOIN callbacks p ON p.id = o.callback_id")
    check(sorted((row["outer"].split("::")[1], row["inner"]) for row in nested) ==
          sorted((name.split("::")[1], name) for name in (*COMPONENTS, *CONTROLLERS)), nested)
    chains = answer("flow", trace)["chains"]
    check([(chain["path"], chain["arrived"]) for chain in chains] == [("joint_state_broadcaster::update -> /joint_states -> /planner", CYCLES)], chains)


def explained(trace):
    """`kymo why` names the controllers that the loop ran, and their times add up to that of the loop."""
    why = answer("why", trace, "ControllerManager::update")
    parts = [part for part in why["parts"] if part["rank"] == 1]
    who = {part["who"] for part in parts if part["kind"] == "executing"}
    check({"ControllerManager::update", "joint_state_broadcaster::update", "arm_controller::update"} <= who, "why:", parts)
    check(sum(part["ns"] for part in parts) == why["latency_ns"] > 0, "why:", parts, why["latency_ns"])


def named(trace):
    """No row of a section about callbacks is without a name."""
    wanted = {*MANAGER, *COMPONENTS, *CONTROLLERS}
    for section in "intervals", "between-runs", "frequency":
        rows = [row for row in report(trace, section)[section] if row.get("what", "callback") == "callback"]
        sources = {row["source"] for row in rows}
        check(all(sources) and len(wanted) - 1 <= len(wanted & sources), section, sources)


def main(work):
    require()
    stub = f"{BUILD}/stub/jazzy/lib"
    # The results of trigger_update() since 4.21.0, and before.
    for flags in (), ("-DPAIR",):
        compile_all(work, stub, *flags)
        trace = f"{work}/trace{len(flags)}"
        record(trace, "-q", "--", "env", f"LD_LIBRARY_PATH={work}:{stub}", f"{work}/control", str(CYCLES))
        compare(trace)
        explained(trace)
        named(trace)


in_directory(main)
