#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""The update loop of ros2_control, and its hardware components, recorded from outside as callbacks, on libraries that stand for it."""
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import COMPILE, require
from lib_test import BUILD, SOURCE, answer, check, in_directory, query, record, run

CYCLES = 50
GRIPPER = "a gripper whose name has more than fifteen letters"


def main(work):
    require()
    source, include, stub = f"{SOURCE}/tests/rclcpp/control.cpp", [f"-I{SOURCE}/examples/tracetools-stub", f"-I{SOURCE}/src"], f"{BUILD}/stub/jazzy/lib"
    linked = [f"-L{work}", f"-L{stub}", "-ltracetools"]
    run(*COMPILE, "-DHARDWARE", *include, "-shared", "-o", f"{work}/libhardware_interface.so", source, *linked)
    run(*COMPILE, "-DMANAGER", *include, "-shared", "-o", f"{work}/libcontroller_manager.so", source, "-lhardware_interface", *linked)
    run(*COMPILE, *include, "-o", f"{work}/control", source, "-lcontroller_manager", "-lhardware_interface", *linked)
    trace = f"{work}/trace"
    record(trace, "-q", "--", "env", f"LD_LIBRARY_PATH={work}:{stub}", f"{work}/control", str(CYCLES))
    runs = {row["symbol"]: row for row in query(
        trace, "SELECT c.symbol, count(*) AS n, min(i.depth) AS depth, sum(i.published) AS published FROM callback_instances i "
               "JOIN callbacks c ON c.id = i.callback_id WHERE c.symbol LIKE '%::%' GROUP BY c.id")}
    wanted = {"ControllerManager::read": (0, 0), "ControllerManager::update": (0, CYCLES), "ControllerManager::write": (0, 0),
              "arm::read": (1, 0), "arm::write": (1, 0), f"{GRIPPER}::read": (1, 0), f"{GRIPPER}::write": (1, 0)}
    check({name: (row["depth"], row["published"]) for name, row in runs.items()} == wanted, runs)
    check(all(row["n"] == CYCLES for row in runs.values()), runs)
    nested = query(trace, "SELECT DISTINCT p.symbol AS outer, c.symbol AS inner FROM callback_instances i JOIN callbacks c ON c.id = i.callback_id "
                          "JOIN callback_instances o ON o.id = i.parent_id JOIN callbacks p ON p.id = o.callback_id")
    check(sorted((row["outer"].split("::")[1], row["inner"].split("::")[1]) for row in nested) == [("read", "read")] * 2 + [("write", "write")] * 2, nested)
    chains = answer("flow", trace)["chains"]
    check([(chain["path"], chain["arrived"]) for chain in chains] == [("ControllerManager::update -> /joint_states -> /planner", CYCLES)], chains)


in_directory(main)
