#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`kymo live DIR` beside the `kymo record -o DIR` that writes it: synchronisation points and index entries are made while recording,
what may not be read is locked; every event is shown once and in order, and it ends when the recording has ended."""
import fcntl
import os
import re
import signal
import struct
import subprocess
import sys
import termios

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
from lib_numbers import check
from lib_relay import Relay
from lib_test import KYMO, sanitizer

ALIVE = 1 << 62


class Live:
    def __init__(self, place, trace, preload=None):
        self.path = place.at('shown')
        words = ['env', 'LD_PRELOAD=' + preload] if preload else []
        with open(self.path, 'w') as out:
            self.process = place.start(*words, KYMO, 'live', trace, stdout=out, stderr=subprocess.PIPE, text=True)

    def text(self):
        with open(self.path) as shown:
            return shown.read()

    def count(self):
        check(self.process.poll() is None, 'kymo live ended with %s: %s', self.process.poll(), self.process.stderr)
        return self.text().count(lib.EVENT)

    def ends(self):
        """By itself. Return: what it said."""
        _, said = self.process.communicate(timeout=300)
        check(self.process.returncode == 0, 'kymo live ended with %d: %s', self.process.returncode, said)
        return said


def times(text):
    return [line.split(']', 1)[0] for line in text.splitlines() if line.startswith('[')]


def shown_as_recorded(place, live, trace, killed=False):
    """All of it, in the order of time, each event once: as if it had been read afterwards."""
    shown, wanted = live.text(), place.kymo('dump', trace)
    check(times(shown) == sorted(times(shown)), 'events are not in the order of time')
    # Events of one time may come in either order; then the distances to the lines before differ.
    lines, recorded = (re.sub(r'\] \(\+[^)]*\)', ']', text).splitlines() for text in (shown, wanted))
    known = set(lines)
    others = [number for number, line in enumerate(recorded) if line not in known]
    check(sorted(lines) == sorted(recorded), '%d lines shown, %d recorded; those not shown are numbers %s to %s; first: %s', len(lines),
          len(recorded), others[:1], others[-1:], [recorded[number] for number in others[:1]])
    lib.once(trace, lib.numbers_in(shown), 1 << 64 if killed else lib.accounts(trace)['totals']['dropped'])
    return shown.count(lib.EVENT)


def follow(place, *options, programs=1, rate=2000, until=lambda: True, preload=None):
    trace = place.at('trace')
    recorder = place.recorder('-o', trace, *options)
    live = Live(place, trace, preload)
    started = []
    for number in range(programs):
        started.append(place.numbers(rate=rate, name=f'noted-{number}') if number == 0 else place.start(
            KYMO, 'run', '--', os.path.join(lib.BUILD, 'tests/user_events')))
    lib.wait_for('events at the viewer', lambda: live.count() > 500)
    lib.wait_for('what is wanted', until)
    before = live.count()
    lib.wait_for('more events at the viewer', lambda: live.count() > before + 500)
    lib.end_well(started[0])
    for program in started[1:]:
        program.wait(300)
    status, said = lib.end(recorder)
    check(status == 0, 'the recorder: %d %s', status, said)
    return trace, live, live.ends()


def plain(place):
    """Several traces: one of the user's own events beside that of all."""
    trace, live, _ = follow(place, programs=2)
    check(len([name for name in os.listdir(trace) if os.path.isdir(os.path.join(trace, name))]) > 1, 'there is one trace only')
    events, dropped = shown_as_recorded(place, live, trace), lib.accounts(trace)['totals']['dropped']
    check(events + dropped == sum(place.noted('noted-0')), '%d of %s, %d dropped', events, place.noted('noted-0'), dropped)
    print(f'plain: {events} events')


def merged(place):
    trace, live, _ = follow(place, '--streams', 'process')
    print(f'a stream for each process: {shown_as_recorded(place, live, trace)} events')


def chunks(place):
    """Which get their final names just while the viewer looks at them."""
    trace = place.at('trace')
    trace, live, _ = follow(place, '--rotate-size', '64K', rate=5000, until=lambda: os.path.isdir(os.path.join(trace, 'archives')) and
                            len(lib.chunks(trace)) > 8, preload=os.path.join(lib.BUILD, 'tests/librenamed_files.so'))
    print(f'{len(lib.chunks(trace))} chunks: {shown_as_recorded(place, live, trace)} events')


def packed(place):
    trace = place.at('trace')
    trace, live, _ = follow(place, '--rotate-size', '64K', '--compress', rate=5000, until=lambda: os.path.isdir(os.path.join(trace, 'archives')) and
                            len(lib.chunks(trace)) > 3)
    print(f'{len(lib.chunks(trace))} compressed chunks: {shown_as_recorded(place, live, trace)} events')


def bounded(place):
    """Chunks that were shown go meanwhile; where one went before, because the viewer had no CPU for seconds, that is said."""
    trace = place.at('trace')
    trace, live, said = follow(place, '--max-size', '1M', rate=20000, until=lambda: place.sinks()[0]['chunks_removed'] > 3)
    shown = lib.numbers_in(live.text())
    check(times(live.text()) == sorted(times(live.text())), 'events are not in the order of time')
    events, dropped = sum(map(len, shown)), lib.accounts(trace)['totals']['dropped']
    late = any(text in said for text in ('cannot be opened', 'does not exist', 'do not exist'))
    check(late or events + dropped == sum(place.noted('noted-0')), '%d of %s were shown, %d dropped: %s', events, place.noted('noted-0'),
          dropped, said)
    lib.once('what was shown', shown, 1 << 64 if late else dropped)
    print(f'bounded: {events} events shown, chunks that were shown are removed')


def is_locked(path, start, length):
    with open(path, 'rb') as file:
        got = fcntl.fcntl(file.fileno(), fcntl.F_OFD_GETLK, struct.pack('hhqqi', fcntl.F_RDLCK, os.SEEK_SET, start, length, 0))
    return struct.unpack('hhqqi', got)[0] != fcntl.F_UNLCK


def point(ust):
    """(number, time, streams)"""
    with open(os.path.join(ust, 'index/sync'), 'rb') as file:
        magic, version, *rest = struct.unpack('>4sIQQQ', file.read(32))
    check((magic, version) == (b'KYSN', 1), 'index/sync has %s %s', magic, version)
    return rest


def on_disk(place):
    """What a reader relies on: who writes is to be seen, what is to come is locked, a point has its packets and index entries in the files."""
    trace = place.at('trace')
    ust = os.path.join(trace, 'ust')
    recorder, program = place.recorder('-o', trace), place.numbers(rate=2000)
    lib.wait_for('points', lambda: point(ust)[0] > 3 and point(ust)[2] > lib.THREADS)
    check(is_locked(os.path.join(ust, 'index/sync'), ALIVE, 1), 'nobody seems to write')
    for _ in range(5):
        number, time, streams = point(ust)
        parts = [name for name in os.listdir(os.path.join(ust, 'index')) if name.endswith('.part')]
        check(len(parts) >= lib.THREADS and streams >= lib.THREADS, 'index files: %s, streams: %d', parts, streams)
        for part in parts:
            index = os.path.join(ust, 'index', part)
            lib.wait_for('an entry in ' + part, lambda: os.stat(index).st_size >= 16 + 88)
            with open(index, 'rb') as file:
                data = file.read()
            last = struct.unpack('>11Q', data[-88:])
            stream = os.path.join(ust, part[:-len('.part')])
            end = last[0] + last[1] // 8
            check(os.stat(stream).st_size >= end, '%s is shorter than its index', stream)
            check(not is_locked(stream, 0, end), '%s: what is in the index is locked', stream)
            check(is_locked(stream, 1 << 40, 1), '%s: what is to come is not locked', stream)
        for text in [os.path.join(ust, 'metadata')] + [os.path.join(ust, 'index', part) for part in parts]:
            size = os.stat(text).st_size
            lib.wait_for('what is in ' + text, lambda: not is_locked(text, 0, size))
            lib.wait_for('a lock on what is to come of ' + text, lambda: is_locked(text, 1 << 40, 1))
        lib.wait_for('the next point', lambda: point(ust)[0] > number)
        check(point(ust)[1] > time, 'points go back')
    # A recorder that is killed has no locks.
    live = Live(place, trace)
    lib.wait_for('events at the viewer', lambda: live.count() > 500)
    recorder.kill()
    recorder.wait()
    live.ends()
    for name in ('index/sync', 'metadata', *('index/' + part for part in parts)):
        check(not is_locked(os.path.join(ust, name), ALIVE, 1), '%s: somebody seems to write', name)
    shown_as_recorded(place, live, trace, killed=True)
    lib.end(program, signal.SIGTERM)
    print(f'points: {point(ust)[0]} made')


def ends(place):
    """A trace that is complete says so."""
    trace = place.at('trace')
    recorder, program = place.recorder('-o', trace), place.numbers(rate=2000)
    lib.end_well(program)
    lib.end_well(recorder)
    check(point(os.path.join(trace, 'ust'))[1] == (1 << 64) - 1, 'its last point is %s', point(os.path.join(trace, 'ust')))
    live = Live(place, trace)
    live.ends()
    shown_as_recorded(place, live, trace)


def unread(pipe):
    return struct.unpack('i', fcntl.ioctl(pipe.fileno(), termios.FIONREAD, bytes(4)))[0]


def backlog(place):
    """Nobody reads what it prints, so it has ever more to show: it ends when it is told to."""
    with Relay() as relay:
        place.environment['KYMO_SPOOL_DIR'] = place.at('spool')
        recorder = place.recorder('--relay', f'net://127.0.0.1:{relay.control}:{relay.data}/backlog')
        program = place.numbers(rate=20000)
        live = place.start(KYMO, 'live', f'net://127.0.0.1:{relay.live}/backlog', stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        seen = []
        lib.wait_for('that it can print no more', lambda: seen.append(unread(live.stdout)) or seen[-1] and seen[-20:] == 20 * seen[-1:])
        live.send_signal(signal.SIGINT)
        live.wait(300)
        live.stdout.close()
        lib.end_well(program)
        lib.end_well(recorder)
    print('a backlog: it ends at once')


# The thread sanitizer keeps a signal back until the write that it came in has ended; here that write never ends.
first = [] if sanitizer() == 'thread' else [backlog]
lib.main('live_record.py', *first, plain, merged, chunks, packed, bounded, on_disk, ends)
