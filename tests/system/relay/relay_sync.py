#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Files that a relay is writing, read by who keeps to its locks: what is not locked is whole, synchronisation points
say until when all is there, and nothing is left of them when the session, or the relay, has ended. With --sync, the medium has it as well."""
import fcntl
import glob
import os
import select
import struct
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_relay import GET_CONFIGURATION, INDEX_OK, OK, Producer, Relay, Viewer
from lib_test import BUILD, until

FOREVER = 2**64 - 1
ALIVE = 1 << 62
KYMO, WAIT, NEWS, NONE = 0x6b796d6f, 0x6b01, 1, 2        # of wire.h


def ready(file, start, size):
    """Whether nobody holds a write lock on the range."""
    lock = struct.pack('hhqqi4x', fcntl.F_RDLCK, os.SEEK_SET, start, size, 0)
    return struct.unpack('hhqqi4x', fcntl.fcntl(file, fcntl.F_OFD_GETLK, lock))[0] == fcntl.F_UNLCK


class Trace:
    def __init__(self, relay, directory='ust/uid/0/64-bit'):
        base = until('the directory', lambda: glob.glob(f'{relay.output}/robot/*/{directory}'))[0]
        self.file = {}
        for name in ('c_0', 'c_1', 'metadata', 'index/c_0.idx', 'index/c_1.idx', 'index/sync'):
            until(name, lambda: os.path.exists(f'{base}/{name}'))
            self.file[name] = open(f'{base}/{name}', 'rb')

    def ready(self, name, start, size=1):
        return ready(self.file[name], start, size)

    def sync(self):
        """(number, time, streams), as a reader has it that keeps to the lock."""
        # It is made first and locked then.
        until('the point', lambda: os.fstat(self.file['index/sync'].fileno()).st_size >= 32 and self.ready('index/sync', 0, 32))
        magic, version, number, time, streams = struct.unpack('>IIQQQ', os.pread(self.file['index/sync'].fileno(), 32, 0))
        assert (magic, version) == (0x4b59534e, 1)
        return number, time, streams

    def close(self):
        for file in self.file.values():
            file.close()


def begin(relay):
    producer = Producer(relay).create()
    one, two, meta = (producer.stream(name) for name in ('c_0', 'c_1', 'metadata'))
    producer.sent()
    return producer, one, two, meta


def check_locks(relay):
    producer, one, two, meta = begin(relay)
    trace = Trace(relay)
    for name in ('c_0', 'metadata'):
        until('a lock', lambda: not trace.ready(name, 0) and not trace.ready(name, 2**62))
    producer.metadata(meta, b'metadata', padding=8)
    until('metadata', lambda: trace.ready('metadata', 0, 16))
    assert not trace.ready('metadata', 16)
    # Bytes without their index are not to be read, and a packet behind them is.
    producer.send_data(one, b'A' * 100, padding=28)
    producer.send_data(one, b'B' * 128, seq=1)
    producer.send_index(one, b'B' * 128, 200, 300, seq=1)
    until('the second packet', lambda: trace.ready('c_0', 128, 128))
    assert not trace.ready('c_0', 0) and not trace.ready('c_0', 127) and not trace.ready('c_0', 256)
    until('its entry', lambda: trace.ready('index/c_0.idx', 0, 16 + 72))
    assert not trace.ready('index/c_0.idx', 16 + 72)
    assert os.pread(trace.file['c_0'].fileno(), 128, 128) == b'B' * 128
    producer.send_index(one, b'A' * 100, 100, 200, padding=28)
    until('the first packet', lambda: trace.ready('c_0', 0, 256) and trace.ready('index/c_0.idx', 0, 16 + 144))
    assert not trace.ready('c_0', 256)
    producer.close()
    for name in trace.file:
        until(f'the end of {name}', lambda: trace.ready(name, 0, 0))
    trace.close()


def check_points(relay):
    producer, one, two, meta = begin(relay)
    trace = Trace(relay)
    until('life', lambda: not trace.ready('index/sync', ALIVE))
    assert trace.sync() == (0, 0, 0)
    producer.metadata(meta, b'metadata')
    producer.packet(one, b'p', 100, 200)
    producer.packet(one, b'p', 200, 300)
    until('all that is pending', lambda: producer.pending(one) == 0)
    assert trace.sync()[1] == 0                         # nothing is known of the other one
    producer.packet(two, b'q', 50, 250)
    until('a point', lambda: trace.sync()[1:] == (250, 2))
    # One moves, one is silent: by time.
    producer.beacon(two, 900)
    until('the end of the first', lambda: trace.sync()[1] == 300)
    # What is on its way holds it up, and what comes behind it, too.
    producer.send_index(one, b'late', 300, 400, seq=2)
    producer.send_index(one, b'r', 400, 500, seq=3)
    producer.send_data(one, b'r', seq=3)
    until('the later packet', lambda: trace.ready('index/c_0.idx', 16 + 2 * 72, 72))
    producer.beacon(two, 1000)
    assert trace.sync()[1] == 300
    producer.send_data(one, b'late', seq=2)
    until('both', lambda: trace.sync()[1] == 500)
    number = trace.sync()[0]
    producer.seq[one] = 4
    producer.beacon(one, 700)
    until('a beacon', lambda: trace.sync()[1] == 700)
    assert trace.sync()[0] > number
    # A stream that is closed holds up nobody.
    producer.close_stream(one)
    until('the other one', lambda: trace.sync()[1] == 1000)
    producer.close_stream(two)
    producer.close_stream(meta)
    until('the end', lambda: trace.sync()[1] == FOREVER and trace.ready('index/sync', ALIVE))
    assert trace.ready('c_0', 0, 0) and trace.ready('index/c_1.idx', 0, 0)
    trace.close()


def check_message(relay):
    """One message of ours in place of many beacons; who asks whether it is understood learns that."""
    producer, one, two, meta = begin(relay)
    trace = Trace(relay)
    assert struct.unpack('>IQ', producer.ask(GET_CONFIGURATION, struct.pack('>Q', 0), 12)) == (OK, 1)
    assert struct.unpack('>IQ', producer.ask(GET_CONFIGURATION, struct.pack('>Q', 7), 12)) == (152, 0)
    ret, flags = struct.unpack('>IQ', producer.ask(GET_CONFIGURATION, struct.pack('>Q', 0x4b594d4f), 12))
    assert ret == OK and flags & 1 << 32, flags

    def sync(time, *streams):
        return producer.ret(0x4b590001, struct.pack('>QI', time, len(streams)) +
                            b''.join(struct.pack('>QQ', stream, 0) for stream in streams))
    producer.packet(one, b'p', 100, 200)
    assert sync(500, one, two) == OK
    until('the point', lambda: trace.sync()[1] == 500)
    producer.send_index(two, b'q', 600, 700)
    assert sync(800, one, two) == OK and sync(900, one) == OK
    producer.send_data(two, b'q')
    until('the next', lambda: trace.sync()[1] == 800)
    assert sync(1000, one, meta) == 11
    assert producer.control.is_closed()
    trace.close()


def check_rotation(relay):
    """In the next chunk the points stand in a file of its own, and the old one has ended."""
    producer, one, two, meta = begin(relay)
    trace = Trace(relay)
    producer.packet(one, b'p', 100, 200)
    producer.packet(two, b'p', 100, 200)
    until('a point', lambda: trace.sync()[1] == 200)
    producer.chunk(1)
    assert producer.rotate([(one, 1), (two, 1), (meta, 0)], 1) == OK
    assert producer.close_chunk(0)[0] == OK
    until('its end', lambda: trace.ready('index/sync', ALIVE) and trace.ready('c_0', 0, 0))
    trace.close()
    trace = Trace(relay, 'chunk-1/ust/uid/0/64-bit')
    until('the point once more', lambda: trace.sync()[1] == 200)
    assert not trace.ready('index/sync', ALIVE)
    producer.beacon(one, 300)
    producer.beacon(two, 400)
    until('the next point', lambda: trace.sync()[1] == 300)
    trace.close()


def check_news(relay):
    """A viewer that waits is told when something is new: a packet, a time, metadata, a stream. Answers keep their order."""
    producer, one, two, meta = begin(relay)
    viewer = Viewer(relay.live)
    assert viewer.id >> 32 == KYMO, f'{viewer.id:x}'
    viewer.create()
    assert viewer.attach(producer.session)[0] == 1

    def quiet():
        """No news is left: a request behind the WAIT ends it."""
        while True:
            viewer.request(WAIT)
            viewer.request(4, struct.pack('>Q', one))
            status, = viewer.unpack('>I')
            index = viewer.unpack('>7QII')
            if status == NONE:
                return index[-2]
            assert status == NEWS, status

    def waits():
        """Whether a WAIT is not answered; it is when the last happening has one more consequence."""
        quiet()
        viewer.request(WAIT)
        return not select.select([viewer.connection.socket], [], [], 0.05)[0] or viewer.unpack('>I') != (NEWS,)

    def told(what, happens):
        until('silence', waits)
        happens()
        assert viewer.unpack('>I') == (NEWS,), what

    told('metadata', lambda: producer.metadata(meta, b'metadata'))
    viewer.metadata(meta)
    told('a packet', lambda: producer.packet(one, b'p', 100, 200))
    assert viewer.next_index(one)[0] == INDEX_OK
    told('a time', lambda: producer.beacon(two, 300))
    told('another packet', lambda: producer.packet(one, b'p', 400, 500))
    assert viewer.next_index(one)[0] == INDEX_OK

    def another():
        producer.stream('c_2')
        producer.sent()
    told('a stream', another)
    assert len(viewer.new_streams(producer.session)[1]) == 1
    told('its end', lambda: producer.close_stream(two))


def check_relay_that_was_killed():
    with Relay() as relay:
        producer, one, two, meta = begin(relay)
        trace = Trace(relay)
        until('life', lambda: not trace.ready('index/sync', ALIVE) and not trace.ready('c_0', 0))
        relay.process.kill()
        relay.process.wait()
        relay.process.stdout.close()
        assert trace.ready('index/sync', ALIVE) and trace.ready('c_0', 0, 0)
        trace.close()


def slow_disk(**more):
    return {'LD_PRELOAD': os.path.join(BUILD, 'tests', 'libslow_disk.so'),
            'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0', **more}


def check_medium_that_fails():
    """An entry that the medium did not take is not in the index, nor is its packet in the file."""
    with Relay('--sync', env=slow_disk(KYMO_TEST_SYNC_FAILS='.idx')) as relay:
        producer, one, _, _ = begin(relay)
        trace = Trace(relay)
        producer.packet(one, b'p' * 128, 100, 200)
        until('nothing pending', lambda: producer.pending(one) == 0)
        sizes = [os.fstat(trace.file[name].fileno()).st_size for name in ('c_0', 'index/c_0.idx')]
        assert sizes == [0, 16], sizes
        trace.close()


def check_medium():
    """With --sync, what is in the file is shown when the disk has it (tests/preload/slow_disk.c), and not before."""
    with tempfile.TemporaryDirectory(prefix='kymo-sync-') as work:
        stops = os.path.join(work, 'stops')
        open(stops, 'w').close()
        with Relay('--sync', env=slow_disk(KYMO_TEST_SYNC_STOPS=stops)) as relay:
            producer, one, _, _ = begin(relay)
            trace = Trace(relay)
            producer.packet(one, b'p' * 128, 100, 200)
            until('the call', lambda: os.path.exists(stops + '.reached'))
            assert os.pread(trace.file['c_0'].fileno(), 200, 0) == b'p' * 128
            assert not trace.ready('c_0', 0) and not trace.ready('index/c_0.idx', 0, 16 + 72)
            assert producer.pending(one) == 1
            os.unlink(stops)
            until('the packet', lambda: trace.ready('c_0', 0, 128) and trace.ready('index/c_0.idx', 0, 16 + 72))
            until('nothing pending', lambda: producer.pending(one) == 0)
            trace.close()


def main():
    for check in (check_locks, check_points, check_message, check_rotation, check_news):
        with Relay() as relay:
            check(relay)
    check_relay_that_was_killed()
    check_medium()
    check_medium_that_fails()
    return 0


if __name__ == '__main__':
    sys.exit(main())
