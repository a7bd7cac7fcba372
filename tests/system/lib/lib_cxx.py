# SPDX-License-Identifier: Apache-2.0
"""For tests that compile C++ to stand for libraries of ROS 2 and run it under the hooks."""
import os
import re
import shutil
import subprocess
import sys

from lib_test import BUILD

KYMO = f"{BUILD}/bin/kymo"
COMPILER = os.environ.get("CXX", "c++")
COMPILE = [COMPILER, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC"]


def require():
    """Skips the test where the hooks have sanitizers in them, or nothing compiles C++."""
    with open(f"{BUILD}/CMakeCache.txt", encoding="utf-8") as cache:
        if re.search("^KYMO_SANITIZE:STRING=.", cache.read(), re.M):
            print("skipped: the hooks have no sanitizers")
            sys.exit(77)
    if not shutil.which(COMPILER):
        print("skipped: there is no C++ compiler")
        sys.exit(77)


def dump(trace):
    """The events of the trace, a line each."""
    return subprocess.run([KYMO, "dump", trace], check=True, capture_output=True, text=True).stdout.splitlines()
