#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`kymo live DIR` reads together with who writes: it keeps to locks and synchronisation points, though all bytes are in
the files long before; it ends when the writer has gone; and it follows a recorder that has neither."""
import fcntl
import json
import os
import shutil
import struct
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_live import Live
from lib_test import BUILD, KYMO, until
from relay_captures import CAPTURES

from lib_lttng import run

NUMBERS = os.path.join(BUILD, 'tests', 'user_events')
SOURCE = os.path.join(CAPTURES, 'live1-output')
STREAMS = ('channel0_0', 'channel0_1')
ALIVE = 1 << 62


def flock(kind, start, length):
    return struct.pack('hhqqi', kind, os.SEEK_SET, start, length, 0)


class Writer:
    """A file that is all there, and of which nothing may be read yet."""

    def __init__(self, path, data):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self.lock(fcntl.F_WRLCK, 0, 0)
        os.pwrite(self.fd, data, 0)

    def lock(self, kind, start, length):
        fcntl.fcntl(self.fd, fcntl.F_OFD_SETLK, flock(kind, start, length))

    def unlock(self, start, length):
        self.lock(fcntl.F_UNLCK, start, length)

    def close(self):
        os.close(self.fd)


class Sync:
    """index/sync"""

    def __init__(self, directory):
        self.number = 0
        self.fd = os.open(os.path.join(directory, 'index', 'sync'), os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.fcntl(self.fd, fcntl.F_OFD_SETLK, flock(fcntl.F_WRLCK, ALIVE, 1))
        self.write(0)

    def write(self, time):
        fcntl.fcntl(self.fd, fcntl.F_OFD_SETLKW, flock(fcntl.F_WRLCK, 0, 32))
        os.pwrite(self.fd, b'KYSN' + struct.pack('>IQQQ', 1, self.number, time, 2), 0)
        fcntl.fcntl(self.fd, fcntl.F_OFD_SETLK, flock(fcntl.F_UNLCK, 0, 32))
        self.number += 1

    def close(self):
        os.close(self.fd)


def packets(path):
    """(offset, bytes, end) of each packet in an index file."""
    data = open(path, 'rb').read()
    entry = struct.unpack('>I', data[12:16])[0]
    for at in range(16, len(data), entry):
        offset, size, _, _, end = struct.unpack('>5Q', data[at:at + 40])
        yield offset, size // 8, end


def locked_copy(scratch, name, with_sync):
    """A copy of a trace of which nothing but the metadata may be read: (directory, streams, all files)."""
    copy = os.path.join(scratch, name)
    os.makedirs(os.path.join(copy, 'index'))
    files = [Sync(copy)] if with_sync else []
    metadata = Writer(os.path.join(copy, 'metadata'), open(os.path.join(SOURCE, 'metadata'), 'rb').read())
    metadata.unlock(0, os.fstat(metadata.fd).st_size)
    streams = {stream: Writer(os.path.join(copy, stream), open(os.path.join(SOURCE, stream), 'rb').read())
               for stream in STREAMS}
    return copy, streams, [*files, metadata, *streams.values()]


def places():
    return {stream: list(packets(os.path.join(SOURCE, 'index', stream + '.idx'))) for stream in STREAMS}


def points(scratch):
    """What a synchronisation point covers is shown, whatever else may be read already."""
    lines = run('babeltrace2', SOURCE).splitlines()
    clocks = [json.loads(line)['clock_ns'] for line in run(KYMO, 'dump', '--format', 'json', SOURCE).splitlines()]
    copy, streams, files = locked_copy(scratch, 'points', True)
    left, live, steps = places(), Live(copy), set()
    while any(left.values()):
        ends = []
        for stream in [stream for stream in left if left[stream]]:
            offset, size, end = left[stream].pop(0)
            streams[stream].unlock(offset, size)
            ends.append(end)
        files[0].write(min(ends))
        wanted = sum(clock < min(ends) for clock in clocks)
        until(f'{wanted} lines', lambda: len(live.lines()) >= wanted or live.process.poll() is not None)
        assert live.lines() == lines[:wanted], f'{len(live.lines())} lines, {wanted} may be seen: {live.said()}'
        steps.add(wanted)
    assert len(steps) > 3, steps
    for file in files:
        file.close()
    assert live.wait() == lines
    print(f'points: {len(lines)} events in {len(steps)} steps, none early')


def locks(scratch):
    """Without points: what is not locked any more, packet by packet; though all bytes were there from the first moment."""
    events = [json.loads(line) for line in run(KYMO, 'dump', '--format', 'json', SOURCE).splitlines()]
    copy, streams, files = locked_copy(scratch, 'locks', False)
    left, live, shown = places(), Live(copy, '--format', 'json'), []
    while any(left.values()):
        for stream in [stream for stream in left if left[stream]]:
            offset, size, end = left[stream].pop(0)
            streams[stream].unlock(offset, size)
            cpu = int(stream[-1])
            shown += [event['clock_ns'] for event in events if event['packet']['cpu_id'] == cpu and event['clock_ns'] <= end and
                      event['clock_ns'] not in shown]
        until(f'{len(shown)} events', lambda: len(live.lines()) >= len(shown))
        got = [json.loads(line)['clock_ns'] for line in live.lines()]
        assert sorted(got) == sorted(shown), f'{len(got)} events, {len(shown)} may be read: {live.said()}'
    assert len(live.stop()) == len(events) == len(shown)
    for file in files:
        file.close()
    print(f'locks: {len(events)} events, none before it may be read')


def without_numbers(lines):
    """Traces and streams are numbered as they were found."""
    return sorted(json.dumps({key: value for key, value in json.loads(line).items() if key not in ('trace', 'stream')})
                  for line in lines)


def recorder(scratch):
    trace = os.path.join(scratch, 'recorded')
    live = Live(trace, '--format', 'json')
    until('that it waits', lambda: 'waiting for a trace' in live.said())
    run(KYMO, 'record', '-q', '-o', trace, '--', NUMBERS, env={**os.environ, 'KYMO_DIR': os.path.join(scratch, 'run')})
    wanted = run(KYMO, 'dump', '--format', 'json', trace).splitlines()
    until('all events', lambda: len(live.lines()) >= len(wanted))
    got, wanted = without_numbers(live.stop()), without_numbers(wanted)
    assert got == wanted and wanted, f'{len(got)} and {len(wanted)}: {list(set(got) ^ set(wanted))[:2]}'
    print(f'a recorder: {len(wanted)} events')


def blocks(text):
    decoder, at, result = json.JSONDecoder(), 0, []
    while at < len(text) and '}' in text[at:]:
        try:
            block, at = decoder.raw_decode(text, at)
        except ValueError:
            break                       # the last one is not all there yet
        result.append(block)
        at += len(text[at:]) - len(text[at:].lstrip())
    return result


def summed(all_blocks, section, key, numbers, largest=()):
    """Rows of all blocks by the columns @key: @numbers added, the largest of @largest."""
    rows = {}
    for row in (row for block in all_blocks for row in block.get(section, [])):
        name = tuple(row[column] for column in key)
        had = rows.setdefault(name, {column: 0 for column in (*numbers, *largest)})
        for column in numbers:
            had[column] += row[column] or 0
        for column in largest:
            had[column] = max(had[column], row[column] or 0)
    return {name: row for name, row in rows.items() if any(row.values())}


def written_now(scratch, name, source):
    """A copy that was not finished long ago."""
    return shutil.copytree(source, os.path.join(scratch, name), copy_function=shutil.copy)


def finished(scratch):
    """A trace that nobody wrote for a minute is complete; until then, somebody may write to it whom nobody sees."""
    lines, copy = run('babeltrace2', SOURCE).splitlines(), written_now(scratch, 'finished', SOURCE)
    live = Live(copy)
    until('all events', lambda: len(live.lines()) >= len(lines))
    assert live.process.poll() is None, live.said()
    assert live.stop() == lines
    for place, _, names in os.walk(copy):
        for name in names:
            os.utime(os.path.join(place, name), (1, 1))
    assert Live(copy).wait() == lines
    print(f'finished: {len(lines)} events')


def tables(scratch):
    """All blocks together say what `kymo report` says of the whole."""
    trace = written_now(scratch, 'tables', os.path.join(os.path.dirname(CAPTURES), 'ros2-traces', 'pair_components', 'ctf'))
    events = len(run(KYMO, 'dump', trace).splitlines())
    live = Live(trace, '--top', '--interval', '20ms', '--format', 'json')
    until('all events', lambda: sum(block['events'] for block in blocks(live.text())) >= events)
    live.stop()
    mine = blocks(live.text())
    report = json.loads(run(KYMO, 'report', '--format', 'json', '--section', 'callbacks', '--section', 'topics', trace))
    assert sum(block['events'] for block in mine) == events == sum(row['count'] for block in mine for row in block['events_by_name'])
    for section, key, numbers, largest in (
            ('callbacks', ('node', 'kind', 'source', 'pid'), ('count',), ('max_ns',)),
            ('topics', ('topic',), ('published',), ('latency_max_ns',))):
        got, wanted = summed(mine, section, key, numbers, largest), summed([report], section, key, numbers, largest)
        assert got == wanted and wanted, f'{section}: {got}, in the report {wanted}'
    print(f'tables: {len(mine)} blocks of {events} events')


def main():
    if not shutil.which('babeltrace2') or not os.path.isdir(CAPTURES):
        print('skipped: babeltrace2 or the captures are missing')
        return 77
    scratch = tempfile.mkdtemp(prefix='kymo-live-dir-')
    try:
        points(scratch)
        locks(scratch)
        recorder(scratch)
        finished(scratch)
        tables(scratch)
    finally:
        shutil.rmtree(scratch)
    return 0


if __name__ == '__main__':
    sys.exit(main())
