#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""kymo attach to the robot of the examples, at a random moment: what is recorded then has the same kinds of events as a robot that was
started with kymo, and the same nodes, topics, timers, services and owners of callbacks; detached, it records nothing; attached again, it
does; the robot ends as it always does."""
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from lib_attach import attach, named, shares, won
from lib_test import BUILD, ROBOT, check, in_directory, kymo, private, record_robot, robot, run, running, skip, until

KIND = re.compile(r"\b((?:ros2|ros2_caret|ros2_kymo):\w+)")


def kinds(trace):
    """Return: the names of the runtime events, without those that depend on what the robot does at its start."""
    found = set(KIND.findall(kymo("dump", trace)))
    left_out = ("_init", "_added", "_link_node", "_register", "_implementation", "_type", "_afterwards", ":qos")
    return {name for name in found if not name.endswith(left_out)}


def programs(process):
    """Return: the pids of the robot's programs, by name."""
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="utf-8") as file:
        pids = file.read().split()
    return {os.path.basename(os.readlink(f"/proc/{pid}/exe")): pid for pid in pids}


def ready(process):
    found = programs(process)
    return found if set(found) == {"driver", "perception", "control"} else None


def recorded(trace, environment):
    run(os.path.join(BUILD, "bin/kymo"), "record", "-d", "1s", "-o", trace, env=environment)
    return trace


def check_all(wanted, trace, environment, when):
    """Rare kinds of events may be missing in a second of a busy machine: record again, for five minutes."""
    found, count = kinds(trace), 0
    end = time.monotonic() + 300
    while wanted - found and time.monotonic() < end:
        count += 1
        found |= kinds(recorded(f"{trace}-{count}", environment))
    check(not wanted - found, when, "these events are missing:", wanted - found)


def check_names(twin, trace, environment):
    """Their symbols are not known: C functions, whose names rclcpp's stand-in gets from the program."""
    twin["symbols"] = set()
    tries = iter(range(1000))

    def complete():
        its = named(recorded(f"{trace}{next(tries)}", environment))
        found = shares(twin, dict(its, symbols=set()))
        return found if all(have == of for have, of in found.values()) else None

    print("won after attach:", won(until("all names", complete)))


def test(directory):
    environment = private(directory, KYMO_RING_SIZE="2M")
    twin = os.path.join(directory, "twin")
    record_robot(twin, 3)
    check(len(kinds(twin)) >= 10, "a robot that was started with kymo has only", kinds(twin))
    with running(*robot(600), stdout=subprocess.DEVNULL) as process:
        pids = until("the programs of the robot", lambda: ready(process))
        time.sleep(1 + random.random())
        words = [word for pid in pids.values() for word in ("-p", pid)]
        said = attach("attach", *words, environment=environment).stdout
        check(said.count("attached, tracetools 8.2; thread") == 3, said)
        trace = recorded(os.path.join(directory, "attached"), environment)
        check_all(kinds(twin), trace, environment, "after attach")
        check_names(named(twin), os.path.join(directory, "names"), environment)
        said = attach("detach", *words, environment=environment).stdout
        check(said.count("detached") == 3, said)
        silent = os.path.join(directory, "silent")
        run(os.path.join(BUILD, "bin/kymo"), "record", "-d", "500ms", "-o", silent, env=environment, status=None)
        check(not os.path.exists(silent) or not kinds(silent), "recorded while detached:", os.path.exists(silent) and kinds(silent))
        again = os.path.join(directory, "again")
        said = attach("record", "--attach", "-d", "1s", "-o", again, *words, environment=environment)
        check(said.stdout.count("attached, tracetools") == 3, said)
        check_all(kinds(twin), again, environment, "after the second attach")
        process.send_signal(signal.SIGTERM)
        check(process.wait(300) == 0, "the robot ended with", process.returncode)


if not os.path.exists(ROBOT):
    skip("the robot is not built")
in_directory(test)
