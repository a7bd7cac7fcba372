#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, shared
"""Random events with losses, in parts and cut anywhere: to a real trace processor every event is a row, is counted
as lost where it is missing, or lies behind the cut; seeds are fixed."""
import os
import random
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import rows_in, sample, with_reader

ROWS = ("select count(*), sum(max(dur, 0)), sum(name = 'TRACE DATA LOST'), "
        "coalesce(sum(extract_arg(arg_set_id, 'debug.lost_events')), 0) from slice")


def check_seed(check, reader, seed, level):
    path = os.path.join(reader.scratch, f"part{seed}")
    data, said = sample("random", level, seed, path)
    parts = [data]
    for number in range(said["parts"]):
        with open(f"{path}.{number + 1}", "rb") as part:
            parts.append(part.read())
    events = said["slices"] + said["instants"] + said["losses"]
    want = [events + said["reopened"], said["duration"], said["losses"], said["losses"]]
    what = f"seed {seed}, level {level}, {len(parts)} parts"
    alone = [reader.query(part, ROWS)[0][0] for part in parts]
    check.equal(f"{what}: all are rows, each part alone", [sum(column) for column in zip(*alone)], want)
    check.equal(f"{what}: all together", reader.query(b"".join(parts), ROWS)[0][0], want)
    part = max(parts, key=len)
    cut = random.Random(seed).randrange(len(part) // 4, len(part))
    (rows, *_), = reader.query(part[:cut], ROWS)[0]
    check.equal(f"{what}: cut at byte {cut} of {len(part)}", rows, rows_in(part[:cut]))
    check.equal(f"{what}: what is counted here is what the reader counts", rows_in(part), alone[parts.index(part)][0])


def main(check, reader, _):
    for seed, level in ((3, 0), (4, 6), (7, 0)):
        check_seed(check, reader, seed, level)


with_reader(main)
