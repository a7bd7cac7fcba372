#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A trace in chunks: every event is in one of them, each opens by itself, the limit holds."""
import os
import shutil
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
from lib_numbers import check
from lib_test import sanitizer

INIT = 'ros2:rcl_init'


def files_bytes(path):
    return sum(os.path.getsize(os.path.join(directory, name))
               for directory, _, names in os.walk(path) for name in names)


def check_chunks(place, trace, first=1):
    """Each chunk by itself, then all of them: (numbers of each thread, lost)."""
    sum_of, lost = [[] for _ in range(lib.THREADS)], 0
    for number, chunk in enumerate(lib.chunks(trace), first):
        check(chunk.endswith('-%d' % number), '%s is not number %d', chunk, number)
        found, missing, others = lib.babeltrace(chunk)
        check(len(others) == 1 and INIT in others[0], '%s has other facts: %s', chunk, others)
        mine, facts = lib.dump(place, chunk)
        check(mine == found and len(facts) == 1, '%s: kymo and babeltrace2 differ', chunk)
        lost += missing
        for thread in range(lib.THREADS):
            sum_of[thread] += found[thread]
    whole, missing, _ = lib.babeltrace(trace)
    check(whole == sum_of and missing == lost, 'the whole is not the sum of the chunks')
    mine, facts = lib.dump(place, trace)
    check(mine == whole, 'kymo and babeltrace2 differ')
    check(len(facts) == 1, 'facts that chunks repeat are given again: %s', facts)
    return whole, lost


def by_size(place):
    trace = place.at('trace')
    recorder, program = place.recorder('-o', trace, '--rotate-size', '64K'), place.numbers()
    lib.wait_for('chunks', lambda: place.sinks()[0]['chunks'] >= 5)
    lib.end_well(program, signal.SIGTERM)
    lib.end_well(recorder)
    found, lost = check_chunks(place, trace)
    lib.once('all', found, lost)
    totals = lib.accounts(trace)['totals']
    produced = sum(place.noted())
    check(totals['recorded'] == sum(map(len, found)) == produced - totals['dropped'],
          '%s of %d, %d are there', totals, produced, sum(map(len, found)))
    check(totals['dropped'] == lost, '%s, the streams say %d', totals, lost)
    check(totals['init_events'] == 1, '%s', totals)
    info = place.kymo('info', trace)
    check('Chunks' in info, 'info does not list the chunks:\n%s', info)


def by_time_and_bounded(place):
    trace, limit = place.at('trace'), 1 << 20
    recorder = place.recorder('-o', trace, '--rotate-time', '100ms', '--max-size', '1M')
    program = place.numbers(rate=60000)
    lib.wait_for('removed chunks', lambda: place.sinks()[0]['chunks_removed'] >= 3)
    lib.end(program, signal.SIGTERM)
    lib.end_well(recorder)
    said = lib.accounts(trace)
    removed = said['chunks']
    check(files_bytes(trace) <= limit, '%d bytes are more than %d', files_bytes(trace), limit)
    found, lost = check_chunks(place, trace, removed['removed'] + 1)
    lib.once('what is left', found, lost)
    check(said['totals']['recorded'] == sum(map(len, found)) + removed['removed_events'], '%s', said['totals'])
    # Of a thread that had no CPU for a while, all may be removed; the program dropped the newest event if its ring was full just then.
    check(any(numbers and made - numbers[-1] <= said['totals']['dropped'] for numbers, made in zip(found, place.noted())),
          'the newest events are not there: %s', said['totals'])
    info = place.kymo('info', trace)
    check('Chunks removed: %d\n' % removed['removed'] in info, 'info does not tell of what was removed:\n%s', info)
    report = subprocess.run([lib.KYMO, 'report', trace], env=place.environment, capture_output=True, text=True)
    check('removed' in report.stdout + report.stderr, 'report does not tell:\n%s', report.stdout)


def gap(place):
    """A chunk in the middle that somebody removed is told; the others are read."""
    trace = place.at('trace')
    recorder, program = place.recorder('-o', trace, '--rotate-size', '64K'), place.numbers()
    lib.wait_for('chunks', lambda: place.sinks()[0]['chunks'] >= 6)
    lib.end_well(program, signal.SIGTERM)
    lib.end_well(recorder)
    parts = [lib.dump(place, chunk)[0] for chunk in lib.chunks(trace)]
    for number in 4, 3:
        shutil.rmtree(lib.chunks(trace)[number - 1])
        del parts[number - 1]
    done = subprocess.run([lib.KYMO, 'dump', trace], env=place.environment, capture_output=True, text=True)
    check('archives/: chunks 3 to 4 do not exist; their events are missing' in done.stderr, 'dump says:\n%s', done.stderr)
    check(lib.numbers_in(done.stdout) == [sum(of, []) for of in zip(*parts)], 'the others are not all that is read')
    check(INIT in done.stdout, 'there are no facts')
    shutil.rmtree(lib.chunks(trace)[0])
    info = subprocess.run([lib.KYMO, 'info', lib.chunks(trace)[-1]], env=place.environment, capture_output=True, text=True)
    check('not there' not in info.stderr, 'one chunk by itself misses others:\n%s', info.stderr)


def killed(place):
    """A recorder that is killed at any moment leaves chunks that open; the next one goes on."""
    program = place.numbers(rate=60000)
    traces = []
    for attempt in range(6):
        trace = place.at('trace%d' % attempt)
        recorder = place.recorder('-o', trace, '--rotate-size', '64K')
        seen = min(place.noted())
        # In the middle of writing, of turning, of anything.
        lib.wait_for('events', lambda: min(place.noted()) > seen + 3000 + 977 * attempt)
        recorder.kill()
        recorder.communicate()
        traces.append(trace)
    last = place.at('last')
    recorder = place.recorder('-o', last, '--rotate-size', '64K')
    lib.end(program, signal.SIGTERM)
    lib.end_well(recorder)
    before = None
    for trace in traces + [last]:
        found, lost, _ = lib.babeltrace(trace)
        lib.once(trace, found, lost)
        check(lib.dump(place, trace)[0] == found, '%s: kymo and babeltrace2 differ', trace)
        for chunk in lib.chunks(trace):
            lib.babeltrace(chunk)
        before = found
    behind = sum(number - numbers[-1] for number, numbers in zip(place.noted(), before))
    check(behind <= lib.accounts(last)['totals']['dropped'], '%d of the last events are missing', behind)


def followed(place):
    """dump --follow goes from chunk to chunk."""
    trace = place.at('trace')
    recorder, program = place.recorder('-o', trace, '--rotate-size', '64K'), place.numbers()
    lib.wait_for('events', lambda: place.sinks()[0]['recorded'])
    with open(place.at('followed'), 'w') as out, open(place.at('said'), 'w') as err:
        follower = place.start(lib.KYMO, 'dump', '--follow', trace, stdout=out, stderr=err)
        lib.wait_for('chunks', lambda: place.sinks()[0]['chunks'] >= 6)
        lib.end(program, signal.SIGTERM)
        lib.end_well(recorder)
        wanted, _ = lib.dump(place, trace)
        count = sum(map(len, wanted))

        def lines():
            with open(place.at('followed')) as f:
                return f.read()
        lib.wait_for('the follower', lambda: lines().count(lib.EVENT) >= count)
        lib.end(follower)
    check(lib.numbers_in(lines()) == wanted, 'the follower has seen something else')
    with open(place.at('said')) as f:
        said = [line for line in f if 'lost' not in line]
    check(not said, 'the follower complains: %s', said[:3])


parts = [by_size, by_time_and_bounded, gap, killed, followed]
if sanitizer() == "thread":  # these look at the same threads as the others
    parts = [by_size, by_time_and_bounded, followed]
lib.main('rotate.py', *parts)
