#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""kymo record --relay: to `kymo relay` and to a real lttng-relayd, every event of a run once and in order, in their files and
for babeltrace2 as a live viewer; beside a trace of its own, and without one."""
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
import lib_send
from lib_numbers import check
from lib_send import each


def run(place, relay, *options, watch=True):
    place.environment['KYMO_SPOOL_DIR'] = place.at('spool')
    recorder = place.recorder('--relay', relay.url('robot'), *options)
    relay.until_session('robot')
    program = place.numbers(rate=2000)
    watcher = relay.watch('robot') if watch else None
    if watcher:
        lib.wait_for('events at the viewer', lambda: watcher.count() > 100)
    lib.end_well(program)
    lib.end_well(recorder)
    return watcher


def stored_and_watched(kind, place):
    with kind() as relay:
        watcher = run(place, relay, '-o', place.at('local'))
        stored = relay.stored('robot')
        check(len(stored) == 1, 'sessions: %s', stored)
        found, lost = lib_send.complete(stored)
        local, local_lost, _ = lib.babeltrace(place.at('local'))
        check(found == local and lost == local_lost, '%s has something else than the trace here', relay.name)
        check(not os.listdir(place.at('spool')), 'the spool is still there')
        watcher.check(found, relay.from_beginning)
    print(f'{relay.name}: {sum(map(len, found))} events stored and watched')


lib.main('send.py', *each(stored_and_watched))
