#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""A week of a small fleet, with time compressed (bench/running/fleet.py has the large one): connections are cut before a request arrives and
before its answer does, kymo serve is killed, a clock is set back, a robot is offline and its spool is small, a disk is full. Each window
is in the database once, or counted as merged or dropped."""
import os
import random
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_fleet import DAY_NS, Database, Proxy, Robot, account, may_mount, send
from lib_test import SHARED, check, existing, in_directory

WINDOWS = 8        # a day


def test(directory):
    trace = existing(os.path.join(SHARED, "data", "ros2-traces", "pair_pipeline_mt", "ctf"))[0]
    chance = random.Random(1)
    with Database() as database:
        proxy = Proxy(chance, database.server_port)
        robots = [Robot(number, directory, proxy.url, limit) for number, limit in ((0, "20K"), (7, "64M"))]
        for robot in robots:
            robot.make_templates(trace)
        full = []
        if may_mount():
            full = [Robot(8, directory, proxy.url, "64M")]
            full[0].small_disk(24)
        else:
            print("skipped in part: no disk is full, because this user may not mount one")
        for day in range(3):
            for robot in robots:
                robot.live(day, WINDOWS)
            for robot in full:
                robot.live_on_full_disk(trace)
            send(robots[not day:] + full, 3, chance, 0.02)
        sums, wrong = account(robots, database.windows(), DAY_NS / WINDOWS / 1e9)
        check(not wrong and sums["merged"] and sums["put"] == 2 * 3 * WINDOWS, wrong, sums)
        sums, wrong = account(full, database.windows(), 1)
        check(not wrong and (not full or sums["dropped"] and sums["sent"]), wrong, sums)
        for robot in full:
            robot.no_disk()


in_directory(test)
