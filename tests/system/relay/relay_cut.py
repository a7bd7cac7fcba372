#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`kymo relay` and clients that stop talking at any byte: a producer and a viewer, two of each kind at once, end after so many
bytes of what they say. Another producer and viewer do not notice, and the relay keeps no connection of those that went. It keeps
the files of their sessions open, as viewers may still come, but no more than it may have.

usage: relay_cut.py [--step N] [--begin BYTE]      each N-th byte (97) of the conversations, from BYTE on"""
import argparse
import contextlib
import os
import sys
import threading

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_relay import HUP, INDEX_OK, Producer, Relay, Viewer
from lib_test import until

END = 1 << 30
FILES = 200             # descriptors of the relay


class Cut(Exception):
    pass


class Purse:
    """How many bytes a conversation may still send. Its last part is sent, then it closes all its connections."""

    def __init__(self, bytes_left):
        self.left, self.spent, self.sockets = bytes_left, 0, []

    def wrap(self, plain):
        self.sockets.append(plain)
        return Talker(plain, self)

    def close(self):
        for one in self.sockets:
            one.close()


class Talker:
    """A socket that spends what is in the purse."""

    def __init__(self, plain, purse):
        self.plain, self.purse = plain, purse

    def sendall(self, data):
        some = data[:self.purse.left]
        self.plain.sendall(some)
        self.purse.left -= len(some)
        self.purse.spent += len(some)
        if not self.purse.left:
            raise Cut

    def __getattr__(self, name):
        return getattr(self.plain, name)


def produce(relay, purse, name):
    """What a recorder says from its first byte to its last, with a rotation in between."""
    relay = Through(relay, purse)
    producer = Producer(relay).create(name=name)
    one, meta = producer.stream('c_0'), producer.stream('metadata')
    producer.sent()
    producer.metadata(meta, b'stream { id = 0; };')
    for i in range(3):
        producer.packet(one, b'%020d' % i, 1 + i, 2 + i)
    producer.beacon(one, 10)
    producer.chunk(1)
    producer.rotate([(one, 3), (meta, 0)], 1)
    producer.close_chunk(0, command=0)
    producer.metadata(meta, b'stream { id = 0; };')
    producer.packet(one, b'after the rotation', 11, 12)
    until('what is pending', lambda: producer.pending(one) == 0)
    producer.close_stream(one)
    producer.close_stream(meta, -1)


def view(relay, purse, session, stream, metadata):
    viewer = Viewer(relay.live, purse.wrap)
    viewer.create()
    viewer.sessions()
    viewer.attach(session)
    viewer.metadata(metadata)
    index = viewer.next_index(stream)
    assert index[0] == INDEX_OK
    viewer.packet(stream, index[2], 8)
    viewer.new_streams(session)
    assert viewer.next_index(stream)[0] != HUP


class Through:
    """A relay as Producer wants it, whose connections take from a purse."""

    def __init__(self, relay, purse):
        self.control, self.data, self.host, self.wrap = relay.control, relay.data, relay.host, purse.wrap


def cut_at(work, *arguments, left):
    """Return: how many bytes were sent."""
    purse = Purse(left)
    with contextlib.suppress(Cut):
        work(*arguments[:1], purse, *arguments[1:])
    purse.close()
    return purse.spent


def sockets(relay):
    where, count = f'/proc/{relay.process.pid}/fd', 0
    for name in os.listdir(where):
        with contextlib.suppress(OSError):      # closed meanwhile
            count += os.readlink(os.path.join(where, name)).startswith('socket:')
    return count


class Failures:
    """Runs things at once, and raises what one of them raised."""

    def __init__(self):
        self.threads, self.raised = [], []

    def run(self, *arguments, **options):
        def work():
            try:
                cut_at(*arguments, **options)
            except Exception as error:      # pylint: disable=broad-except
                self.raised.append((arguments[1:], options, error))
        self.threads.append(threading.Thread(target=work))
        self.threads[-1].start()

    def join(self):
        for thread in self.threads:
            thread.join()
        assert not self.raised, self.raised[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--step', type=int, default=97)
    parser.add_argument('--begin', type=int, default=1)
    options = parser.parse_args()
    with Relay(inside=('prlimit', f'--nofile={FILES}:{FILES}')) as relay:
        good = Producer(relay).create(name='good')
        one, meta = good.stream('c_0'), good.stream('metadata')
        good.sent()
        good.metadata(meta, b'stream { id = 0; };')
        watcher = Viewer(relay.live)
        watcher.create()
        assert watcher.attach(good.session)[0] == 1
        good.packet(one, b'%08d' % 0, 0, 1)
        until('the packet', lambda: good.pending(one) == 0)
        said = cut_at(produce, relay, 'whole', left=END), cut_at(view, relay, good.session, one, meta, left=END)
        most, count, before = max(said), 1, 3 + 2 + 1      # it listens; what the good ones have
        for at in range(options.begin, most, options.step):
            both = Failures()
            for more in 0, 1:
                if at + more <= said[0]:
                    both.run(produce, relay, f'cut {at}', left=at + more)
                if at + more <= said[1]:
                    both.run(view, relay, good.session, one, meta, left=at + more)
            both.join()
            good.packet(one, b'%08d' % count, count, count + 1)
            index = until('the packet', lambda: (index := watcher.next_index(one))[0] == INDEX_OK and index)
            assert watcher.packet(one, index[2], 8) == (1, b'%08d' % (index[5])), at
            count += 1
        until('that the connections are closed', lambda: sockets(relay) == before)
        late = Producer(relay).create(name='late')
        stream = late.stream('c_0')
        late.packet(stream, b'is stored', 1, 2)
        until('what is pending', lambda: late.pending(stream) == 0)
        with open(os.path.join(relay.output, late.path, 'ust/uid/0/64-bit/c_0'), 'rb') as file:
            assert file.read() == b'is stored', relay.said()
        print(f'cut at {count - 1} bytes of {said[0]} and {said[1]}; {sockets(relay)} sockets, as before')
    return 0


if __name__ == '__main__':
    sys.exit(main())
