#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Names of what existed before kymo attach: the objects of tests/rclcpp/late.cpp, recorded after an attach, have the names, owners,
topics, periods, callbacks, functions, groups and executors that they have in a twin that was started with kymo. Prints which share of
them could be won."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from lib_attach import attach, begun, compile_late, named, shares, won
from lib_cxx import require
from lib_test import KYMO, check, in_directory, kymo, private, run, until


def recorded(directory, environment, name):
    trace = os.path.join(directory, name)
    run(KYMO, "record", "-d", "300ms", "-o", trace, env=environment)
    return trace


def test(directory):
    environment, program = private(directory), compile_late(directory)
    with begun(KYMO, "run", "--", program, env=environment):
        twin = named(recorded(directory, environment, "twin"))
    check(all(twin.values()), "the twin has no", twin)
    with begun(program) as process:
        said = run(KYMO, "record", "-d", "10ms", "-o", f"{directory}/nothing", env=environment, status=6).stderr
        check('without kymo (' in said and '"kymo record --attach"' in said, said)
        said = attach("top", "--attach", "--once", str(process.pid), environment=environment).stdout
        check("Nodes: 3" in said or "/ns/node1" in said, said)
        tries = iter(range(1000))

        def complete():
            trace = recorded(directory, environment, f"attached{next(tries)}")
            found = shares(twin, named(trace))
            return (trace, found) if all(have == of for have, of in found.values()) else None

        trace, found = until("all names", complete)
        print("won after attach:", won(found))
        said = kymo("info", trace)
        check("Facts asked after kymo attach" in said and "Facts inferred after it" in said, said)
        attach("detach", "-p", str(process.pid), environment=environment)
        attach("attach", "-p", str(process.pid), environment=environment)
        until("all names again", complete)


require()
in_directory(test)
