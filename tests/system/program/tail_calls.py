#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""A library in a scope of its own, as Python loads them, ends a function with a call of rmw_publish() (a tail call), and was called by a library
that was not linked with it: rmw_cyclonedds_cpp and rmw_dds_common in a program of rclpy. kymo still calls the right function."""
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, check, in_directory, private, run, sanitized, skip

DDS_COMMON = """
typedef int function(void *publisher, void *message);
int call(function *publish, void *publisher, void *message) { return publish(publisher, message) + 1; }
"""
CYCLONE = """
typedef int function(void *publisher, void *message);
extern int call(function *publish, void *publisher, void *message);
int rmw_publish(void *publisher, void *message, void *allocation) { return publisher == message && !allocation ? 41 : -1; }
static int publish(void *publisher, void *message) { return rmw_publish(publisher, message, 0); }
int start(void) { int here; return call(publish, &here, &here); }
"""
PROGRAM = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).start())"


def library(work, name, source, *linked):
    with open(f"{work}/{name}.c", "w", encoding="utf-8") as file:
        file.write(source)
    run(os.environ.get("CC", "cc"), "-O2", "-fPIC", "-shared", "-o", f"{work}/lib{name}.so", f"{work}/{name}.c", f"-L{work}",
        "-Wl,-rpath," + work, *linked)
    return f"{work}/lib{name}.so"


def main(work):
    if sanitized():
        skip("the hooks have no sanitizers")
    library(work, "dds_common", DDS_COMMON)
    command = sys.executable, "-c", PROGRAM, library(work, "cyclone", CYCLONE, "-ldds_common")
    check(run(*command).stdout == "42\n", "without kymo")
    done = run(KYMO, "run", "--", *command, env=private(work), status=None)
    check(done.returncode == 0 and done.stdout == "42\n", "with kymo", done.returncode, done.stdout, done.stderr)


in_directory(main)
