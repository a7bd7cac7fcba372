#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""kymo record --relay when the relay is not there, stops, is killed and comes again: the program and the recorder go on, and
what was sent is stored, or counted as lost, to the event."""
import os
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
import lib_send
from lib_numbers import check
from lib_send import begin, each, until_connected, until_noted
from lib_test import KYMO


def until_stored(place):
    """Something that is sent now is stored soon."""
    lib.wait_for('an empty spool', lambda: lib_send.sink(place)['waiting_bytes'] < 1 << 16)


def finish(recorder, program):
    lib.end_well(program)
    lib.end_well(recorder)


def all_is_there(place, found, lost, what):
    """From the first on that any session has: none before it was recorded."""
    for thread, numbers in enumerate(found):
        check(numbers and numbers[-1] <= place.noted()[thread] + 1, '%s: %s', what, numbers[-1:])
    missing = sum(place.noted()) - sum(map(len, found))
    check(missing == lost, '%s: %d of %d are missing, %d are counted', what, missing, sum(place.noted()), lost)


def not_there_at_first(kind, place):
    with kind() as relay:
        relay.kill()
        recorder, program = begin(place, relay.url('robot'))
        until_noted(place, 500)
        check(lib_send.sink(place)['relay'] == 'not connected', 'connected to nobody')
        relay.begin()
        until_connected(place)
        until_noted(place, 100)
        finish(recorder, program)
        stored = relay.stored('robot')
        check(len(stored) == 1, 'sessions: %s', stored)
        all_is_there(place, *lib_send.complete(stored), relay.name)


def stopped_for_a_while(kind, place):
    with kind() as relay:
        recorder, program = begin(place, relay.url('robot'))
        until_connected(place)
        relay.pause()
        until_noted(place, 2000)
        relay.go_on()
        finish(recorder, program)
        all_is_there(place, *lib_send.complete(relay.stored('robot')), relay.name)


def killed_and_begun_again(kind, place):
    with kind() as relay:
        recorder, program = begin(place, relay.url('robot'))
        until_connected(place)
        until_noted(place, 500)
        relay.kill()
        until_noted(place, 500)
        relay.begin()
        until_connected(place)
        until_noted(place, 100)
        finish(recorder, program)
        found, lost = lib_send.complete(relay.stored('robot'), twice=not relay.resumes)
        all_is_there(place, found, lost, relay.name)


def spool_is_full(kind, place):
    with kind() as relay:
        recorder, program = begin(place, relay.url('robot'), '--spool', '1M', rate=200000)
        until_connected(place)
        relay.pause()
        lib.wait_for('a full spool', lambda: lib_send.sink(place)['state'] == 'fails')
        lib.wait_for('loss', lambda: lib_send.process(place)['dropped'])
        relay.go_on()
        until_stored(place)
        until_noted(place, 1000)
        lib.end_well(program)
        status, said = lib.end(recorder)
        check(status == 1 and 'the spool is full' in said, '%d: %s', status, said)
        found, lost = lib_send.complete(relay.stored('robot'))
        check(lost, 'nothing was lost')
        all_is_there(place, found, lost, relay.name)


def until_facts(relay):
    """The relay has what every session begins with."""
    lib.wait_for('facts at the relay', lambda: any(
        'rcl_init' in subprocess.run([KYMO, 'dump', path, '--event', 'ros2:rcl_init'], capture_output=True, text=True).stdout
        for path in relay.stored('robot')))


def recorder_killed(kind, place):
    """What it had taken is in its spool, what not in the rings: the next recorder sends both."""
    with kind() as relay:
        recorder, program = begin(place, relay.url('robot'))
        until_connected(place)
        until_noted(place, 300)
        until_facts(relay)
        relay.pause()
        until_noted(place, 300)
        recorder.kill()
        recorder.wait()
        until_noted(place, 300)
        relay.go_on()
        recorder = place.recorder('--relay', relay.url('robot'))
        until_connected(place)
        until_noted(place, 300)
        finish(recorder, program)
        found, lost = lib_send.complete(relay.stored('robot'), twice=not relay.resumes)
        all_is_there(place, found, lost, relay.name)


lib.main('send_faults.py', *each(not_there_at_first, stopped_for_a_while, killed_and_begun_again),
         *each(spool_is_full, recorder_killed, kinds=[lib_send.KymoRelay]))
