#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""Names of what existed before kymo attach: the objects of tests/rclcpp/late.cpp, recorded after an attach, have the names, owners,
topics, periods, callbacks, functions, groups and executors that they have in a twin that was started with kymo. Prints which share of
them could be won."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from lib_attach import attach, begun, compile_late, named, shares, won
from lib_cxx import require
from lib_test import KYMO, check, in_directory, kymo, private, query, run, until


GIDS = "SELECT DISTINCT gid FROM clients"       # the stand-in has the same in each process


def recorded(directory, environment, name):
    trace = os.path.join(directory, name)
    run(KYMO, "record", "-d", "300ms", "-o", trace, env=environment)
    return trace


def compare(directory, environment, program, executor):
    """@executor: an argument of @program; none: a single-threaded executor."""
    kind = (*executor, *([environment["LATE_MIDDLEWARE"]] if "LATE_MIDDLEWARE" in environment else ()))
    name = "-".join(("attached", *kind))
    with begun(KYMO, "run", "--", program, *executor, env=environment):
        trace = recorded(directory, environment, "-".join(("twin", *kind)))
        twin, gids = named(trace), query(trace, GIDS)
    check(all(twin.values()) and len(gids) == 1, "the twin has no", twin, gids)
    tries = iter(range(1000))

    def complete():
        trace = recorded(directory, environment, f"{name}{next(tries)}")
        found = shares(twin, named(trace))
        return (trace, found) if all(have == of for have, of in found.values()) else None

    with begun(program, *executor, env=environment) as process:
        if executor:
            attach("attach", "-p", str(process.pid), environment=environment)
        else:
            said = run(KYMO, "record", "-d", "10ms", "-o", f"{directory}/nothing", env=environment, status=6).stderr
            check('without kymo (' in said and '"kymo record --attach"' in said, said)
            said = attach("top", "--attach", "--once", str(process.pid), environment=environment).stdout
            check("Nodes: 3" in said or "/ns/node1" in said, said)
        trace, found = until("all names", complete)
        print("won after attach:", won(found), *kind)
        check(query(trace, GIDS) == gids, trace, query(trace, GIDS), gids)
        said = kymo("info", trace)
        check("Facts asked after kymo attach" in said and "Facts inferred after it" in said, said)
        if executor:
            return
        attach("detach", "-p", str(process.pid), environment=environment)
        attach("attach", "-p", str(process.pid), environment=environment)
        until("all names again", complete)


def test(directory):
    environment, program = private(directory), compile_late(directory)
    compare(directory, environment, program, ())
    compare(directory, {**environment, "LATE_MIDDLEWARE": "rmw_fastrtps_cpp"}, program, ("static",))
    compare(directory, environment, program, ("events",))
    compare(directory, environment, program, ("static",))


require()
in_directory(test)
