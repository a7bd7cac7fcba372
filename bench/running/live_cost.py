#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a relay costs the traced program: an event of a real-time thread (bench_event_tail: SCHED_FIFO, woken every millisecond
for 50 calls of each kind) while nobody records, while a recorder writes to the disk, sends to a relay, and sends to a relay that is stopped
(SIGSTOP). Each has its turn, ROUNDS times over; the ratios are to the clock read and stored in the same process, whose
rounds' median is printed.

usage: live_cost.py [BURSTS [ROUNDS]]      with KYMO_BUILD; needs leave for SCHED_FIFO"""
import os
import re
import statistics
import subprocess
import sys

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault('KYMO_BUILD', os.path.join(BENCH, '..', 'build'))
sys.path.insert(0, os.path.join(BENCH, '..', 'tests', 'system', 'lib'))
import lib_send  # noqa: E402
from lib_numbers import BUILD, KYMO, Place, end  # noqa: E402
from lib_send import until_connected  # noqa: E402

BURSTS = sys.argv[1] if len(sys.argv) > 1 else '2000'
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
FLOOR = 'clock read + store, an integer'
ROWS = {FLOOR: FLOOR, 'kymo, preload, 8 B': 'an event of 8 B, preload', 'kymo.h, instant, an integer': 'an event of kymo.h'}


def run(place):
    """{row: (p50, p99)} in ns."""
    program = subprocess.run([KYMO, 'run', '--', os.path.join(BUILD, 'bench/bench_event_tail'), BURSTS], env=place.environment,
                             capture_output=True, text=True, check=True)
    found = {}
    for line in program.stdout.splitlines():
        match = re.match(r'(.{34}) +(\d+) +(\d+)', line)
        if match and match[1].strip() in ROWS:
            found[match[1].strip()] = (float(match[2]), float(match[3]))
    if len(found) < len(ROWS):
        sys.exit(program.stdout)
    return found


def recorded(place, *options):
    recorder = place.recorder(*options) if options else None
    found = run(place)
    if recorder:
        end(recorder)
    return found


def turn(what):
    with Place() as place:
        place.environment['KYMO_SPOOL_DIR'] = place.at('spool')
        if what == 'not recorded':
            return recorded(place)
        if what == 'recorded to the disk':
            return recorded(place, '-o', place.at('trace'))
        with lib_send.KymoRelay() as relay:
            if what == 'sent to a relay':
                return recorded(place, '--relay', relay.url('bench'))
            recorder = place.recorder('--relay', relay.url('bench'))
            until_connected(place)
            relay.pause()
            found = run(place)
            relay.go_on()
            end(recorder)
            return found


TURNS = ['not recorded', 'recorded to the disk', 'sent to a relay', 'sent to a relay that is stopped']


def main():
    load = os.getloadavg()[0]
    found = {what: [] for what in TURNS}
    for _ in range(ROUNDS):
        for what in TURNS:
            found[what].append(turn(what))
    print(f'{"ns":32}{"":32}{"p50":>7}{"p99":>7}   x {FLOOR}: p50, p99')
    for row, name in ROWS.items():
        for what in TURNS:
            values = [statistics.median(one[row][i] for one in found[what]) for i in (0, 1)]
            ratios = [statistics.median(one[row][i] / one[FLOOR][i] for one in found[what]) for i in (0, 1)]
            print(f'{name:32}{what:32}{values[0]:7.0f}{values[1]:7.0f}   {ratios[0]:.2f} {ratios[1]:.2f}')
    print(f'{ROUNDS} rounds of {BURSTS} bursts; load {load:.1f} at the beginning, {os.getloadavg()[0]:.1f} at the end; {os.cpu_count()} CPUs')
    return 0


if __name__ == '__main__':
    sys.exit(main())
