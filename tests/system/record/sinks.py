#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""kymo sink: traces that are added and removed while a recorder runs, each complete in itself."""
import os
import signal
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
from lib_numbers import check

INIT = 'ros2:rcl_init'


def sink_of(place, path):
    return next(sink for sink in place.sinks() if sink['path'] == path)


def grown(place, path, events=2000):
    lib.wait_for('events in ' + path, lambda: sink_of(place, path)['recorded'] >= events)


def check_trace(place, trace, exact=None):
    """Complete in itself: its facts, its events each once. Return: (numbers, totals of its accounts)."""
    found, lost, others = lib.babeltrace(trace)
    check(any(INIT in line for line in others), '%s has no facts', trace)
    lib.once(trace, found, lost)
    totals = lib.accounts(trace)['totals']
    check(totals['recorded'] == sum(map(len, found)), '%s: %s, %d are there', trace, totals, sum(map(len, found)))
    check(totals['dropped'] == lost, '%s: %s, the streams say %d', trace, totals, lost)
    check(lib.dump(place, trace)[0] == found, '%s: kymo and babeltrace2 differ', trace)
    return found, totals


def come_and_go(place):
    first, second, third = place.at('first'), place.at('second'), place.at('third')
    recorder, program = place.recorder('-o', first), place.numbers()
    grown(place, first)
    place.kymo('sink', 'add', second)
    place.kymo('sink', 'add', third, '--rotate-size', '64K')
    grown(place, second)
    lib.wait_for('chunks', lambda: sink_of(place, third)['chunks'] >= 3)
    place.kymo('sink', 'remove', second)
    check(not os.path.exists(os.path.join(second, 'archives')), 'the second has chunks')
    found, totals = check_trace(place, second)
    check(totals['before'] > 0, 'nothing was before the second: %s', totals)
    grown(place, first, place.sinks()[0]['recorded'] + 2000)
    place.kymo('sink', 'remove', str(sink_of(place, third)['number']))
    check_trace(place, third)
    check(len(lib.chunks(third)) >= 3, 'the third is not in chunks')
    place.kymo('sink', 'remove', first, status=2)
    lib.end(program, signal.SIGTERM)
    lib.end_well(recorder)
    whole, totals = check_trace(place, first)
    check(totals['recorded'] + totals['dropped'] == sum(place.noted()), '%s of %s', totals, place.noted())
    for thread, numbers in enumerate(found):
        at = whole[thread].index(numbers[0])
        check(whole[thread][at:at + len(numbers)] == numbers, 'the second has what the first has not')


def several_from_the_start(place):
    traces = [place.at('a'), place.at('b')]
    recorder, program = place.recorder('-o', traces[0], '-o', traces[1]), place.numbers()
    for trace in traces:
        grown(place, trace)
    lib.end(program, signal.SIGTERM)
    lib.end_well(recorder)
    a, b = (check_trace(place, trace)[0] for trace in traces)
    check(a == b, 'the two traces differ')


def misuse(place):
    place.kymo('sink', 'list', status=6)
    recorder = place.recorder('-o', place.at('trace'))
    for arguments in ([], ['add'], ['list', 'x'], ['list', '--max-size', '1M'], ['turn', 'round']):
        place.kymo('sink', *arguments, status=2)
    place.kymo('sink', 'add', place.at('x'), '--rotate-size', '1K', status=2)
    place.kymo('sink', 'remove', place.at('x'), status=3)
    os.mkdir(place.at('full'))
    open(place.at('full', 'file'), 'w').close()
    place.kymo('sink', 'add', place.at('full'), status=1)
    check(len(place.sinks()) == 1, 'there are %s', place.sinks())
    lib.end(recorder)


lib.main('sinks.py', come_and_go, several_from_the_start, misuse)
