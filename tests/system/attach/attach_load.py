#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""kymo attach and detach at random times, while programs allocate, compute, throw, fork, load libraries, wait and take signals: each
program goes on, with the same result.

usage: attach_load.py [ROUNDS [KIND...]]     for each program"""
import os
import random
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from lib_attach import attach, begun, compile_all
from lib_test import check, in_directory, private

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
KINDS = sys.argv[2:] or ["allocate", "compute", "fork", "load", "epoll", "sleep", "signals", "throw"]


def rounds(pid, environment):
    for _ in range(ROUNDS):
        time.sleep(random.random() * 0.03)
        said = attach("attach", "-p", str(pid), environment=environment).stdout
        check("attached" in said or "looked again" in said, said)
        time.sleep(random.random() * 0.03)
        said = attach("detach", "-p", str(pid), environment=environment).stdout
        check("detached" in said, said)


def test(directory):
    environment = private(directory)
    made = compile_all(directory)
    for kind in KINDS:
        for threads in ("1", "5") if ROUNDS > 1 or kind in ("allocate", "load") else ("5",):
            command = [made["throw"], threads] if kind == "throw" else [made["load"], kind, threads, made["plugin.so"]]
            if kind == "throw" and "throw" not in made:
                print("skipped in part: there is no C++ compiler")
                continue
            with begun(*command) as process:
                rounds(process.pid, environment)
            print(kind, threads, "threads:", ROUNDS, "rounds")


in_directory(test)
