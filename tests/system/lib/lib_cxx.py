# SPDX-License-Identifier: Apache-2.0
"""For tests that compile C++ to stand for libraries of ROS 2 and run it under the hooks."""
import os
import shutil

from lib_test import BUILD, SOURCE, kymo, record, run, sanitized, skip

COMPILER = os.environ.get("CXX", "c++")
COMPILE = [COMPILER, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC"]


def require():
    """Skips the test where the hooks have sanitizers in them, or nothing compiles C++."""
    if sanitized():
        skip("the hooks have no sanitizers")
    if not shutil.which(COMPILER):
        skip("there is no C++ compiler")


def dump(trace):
    """The events of the trace, a line each."""
    return kymo("dump", trace).splitlines()


def record_actions(place, count, *more):
    """A trace of tests/rclcpp/actions.cpp with so many goals, below @place. @more: arguments of the program."""
    source, program, trace = f"{SOURCE}/tests/rclcpp/actions.cpp", f"{place}/actions", f"{place}/goals"
    run(*COMPILE, "-DLIBRARY", "-shared", "-o", f"{place}/librcl_action.so", source)
    run(*COMPILE, "-o", program, source, f"-L{place}", "-lrcl_action", f"-L{BUILD}/stub/jazzy/lib", "-ltracetools")
    record(trace, "-q", "--", "env", f"LD_LIBRARY_PATH={place}:{BUILD}/stub/jazzy/lib", program, str(count), *map(str, more))
    return trace
