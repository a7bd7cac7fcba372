#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compressed traces, in CTF 1.8 and CTF 2: what kymo reads out of them, and exports, is what was recorded; to the event."""
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
from lib_numbers import check

TIME = re.compile(r'^\[(\d\d):(\d\d):(\d\d)\.(\d{9})\]')


def files(trace):
    return [os.path.join(directory, name) for directory, _, names in os.walk(trace) for name in names]


def packed(trace):
    return [name for name in files(trace) if name.endswith('.zst')]


def record(place, trace, *options, chunks=4):
    recorder, program = place.recorder('-o', trace, '--compress', *options), place.numbers(rate=60000)
    if chunks:
        lib.wait_for('chunks', lambda: place.sinks()[0]['chunks'] >= chunks)
    else:
        lib.wait_for('events', lambda: place.sinks()[0]['recorded'] >= 5000)
    lib.end_well(program, signal.SIGTERM)
    lib.end_well(recorder)
    left = [name for name in files(trace) if os.path.basename(name).startswith('.')]
    check(not left, 'the compressor left %s', left)
    check(packed(trace), '%s is not compressed: %s', trace, files(trace)[:5])
    is_ctf2(trace, '2' in options)


def is_ctf2(trace, wanted):
    for name in files(trace):
        if os.path.basename(name) == 'metadata':
            with open(name, 'rb') as f:
                check((f.read(1) == b'\x1e') == wanted, '%s: not the version of CTF that was asked for', name)


def exported(place, trace, name, *options):
    place.kymo('export', '--format', 'ctf', '-q', '-o', place.at(name), trace, *options)
    check(not packed(place.at(name)), 'what was exported is compressed')
    return lib.babeltrace(place.at(name))


def all_of_it(place, trace):
    mine, facts = lib.dump(place, trace)
    found, lost, others = exported(place, trace, os.path.basename(trace) + '-ctf', '--ctf', '1.8')
    lib.once(trace, found, lost)
    check(mine == found, '%s: kymo reads other events than babeltrace2 out of what was exported', trace)
    check(len(facts) == len(others) == 1, '%s: facts %s, %s', trace, facts, others)
    totals = lib.accounts(trace)['totals']
    check(totals['recorded'] == sum(map(len, mine)), '%s: %s, %d are there', trace, totals, sum(map(len, mine)))
    return mine


def chunks_and_whole(place):
    chunked, whole = place.at('chunked'), place.at('whole')
    record(place, chunked, '--rotate-size', '128K', '--ctf', '2')
    record(place, whole, chunks=0)
    for trace in (chunked, whole):
        all_of_it(place, trace)
        check(shutil.which('zstd') is None or
              subprocess.run(['zstd', '-tq', *packed(trace)], capture_output=True).returncode == 0,
              '%s: zstd does not read it', trace)
    info = place.kymo('info', '--format', 'json', chunked)
    check('"disk_bytes"' in info, 'info says nothing of the chunks:\n%s', info)



def windows(place):
    """A piece of a trace, cut between two events: what dump shows of that time."""
    trace = place.at('trace')
    record(place, trace, '--rotate-size', '128K')
    lines = [line for line in place.kymo('dump', trace).splitlines() if lib.EVENT in line]
    for number, (first, last) in enumerate(((0.0, 0.1), (0.37, 0.62), (0.5, 0.5), (0.9, 1.0))):
        window = ['--begin', TIME.match(lines[int(first * (len(lines) - 1))])[0].strip('[]'),
                  '--end', TIME.match(lines[int(last * (len(lines) - 1))])[0].strip('[]')]
        wanted, _ = lib.dump(place, trace, *window)
        check(sum(map(len, wanted)) > 0, 'nothing is in %s', window)
        found, _, facts = exported(place, trace, 'piece%d' % number, *window)
        check(found == wanted, '%s: %s events instead of %s', window, list(map(len, found)), list(map(len, wanted)))
        check(len(facts) == 1, '%s: facts %s', window, facts)


def cut_off(place):
    """A compressed file without its end: whole packets up to there, and one sentence."""
    trace = place.at('trace')
    record(place, trace, chunks=0)
    whole, _ = lib.dump(place, trace)
    stream = max(packed(trace), key=os.path.getsize)
    with open(stream, 'r+b') as f:
        f.truncate(os.path.getsize(stream) - 20)
    done = subprocess.run([lib.KYMO, 'dump', trace], env=place.environment, capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if 'the tracer lost' not in line]
    check(done.returncode == 0 and len(said) == 1 and 'cut off' in said[0] and stream in said[0],
          'dump gave %d and said %s', done.returncode, said)
    for before, now in zip(whole, lib.numbers_in(done.stdout)):
        check(before[:len(now)] == now, 'what is left is no beginning of what was there')


def killed(place):
    """Whenever the recorder is killed, each stream is there, plain or compressed."""
    program = place.numbers(rate=60000)
    for attempt in range(5):
        trace = place.at('trace%d' % attempt)
        recorder = place.recorder('-o', trace, '--compress', '--rotate-size', '64K')
        lib.wait_for('chunks', lambda: place.sinks()[0]['chunks'] >= 2 + attempt)
        recorder.kill()
        recorder.communicate()
        found, _ = lib.dump(place, trace)
        again, lost, _ = exported(place, trace, 'ctf%d' % attempt)
        check(found == again, '%s: kymo and babeltrace2 differ', trace)
        lib.once(trace, found, lost)
    lib.end(program, signal.SIGTERM)


def followed(place):
    """dump --follow goes on where a file is compressed and a chunk gets its name."""
    trace = place.at('trace')
    recorder = place.recorder('-o', trace, '--compress', '--rotate-size', '64K', '--ctf', '2')
    program = place.numbers()
    lib.wait_for('events', lambda: place.sinks()[0]['recorded'])
    with open(place.at('followed'), 'w') as out, open(place.at('said'), 'w') as err:
        follower = place.start(lib.KYMO, 'dump', '--follow', trace, stdout=out, stderr=err)
        lib.wait_for('chunks', lambda: place.sinks()[0]['chunks'] >= 6)
        lib.end(program, signal.SIGTERM)
        lib.end_well(recorder)
        wanted, _ = lib.dump(place, trace)

        def seen():
            with open(place.at('followed')) as f:
                return lib.numbers_in(f.read())
        lib.wait_for('the follower', lambda: sum(map(len, seen())) >= sum(map(len, wanted)))
        lib.end(follower)
    check(seen() == wanted, 'the follower has seen something else')
    with open(place.at('said')) as f:
        said = [line for line in f if 'lost' not in line]
    check(not said, 'the follower complains: %s', said[:3])


lib.main('compress.py', chunks_and_whole, windows, cut_off, killed, followed)
