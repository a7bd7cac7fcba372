#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Clients of `kymo relay` that mean harm: they ask without taking answers, begin what they do not finish, announce without
end, talk nonsense. Memory stays bounded, nobody reads what is not of his session, and a producer and a viewer beside
them do not notice."""
import contextlib
import os
import random
import resource
import struct
import sys
import threading
import time

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_relay import ADD_STREAM, INDEX_OK, OK, SEND_INDEX, SEND_METADATA, VERSION, Connection, Producer, Relay, Viewer, text
from lib_test import until

MIB = 1 << 20
ROOM = 160 * MIB                        # resident, under a sanitizer that keeps little of what was freed, too
SANITIZER = {'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':quarantine_size_mb=8'}
FILES = 512                             # descriptors of the relay


class Bystander:
    """A producer and a viewer that go on, packet by packet, while others do their worst."""

    def __init__(self, relay):
        self.producer = Producer(relay).create(name='bystander')
        self.one, self.meta = self.producer.stream('c_0'), self.producer.stream('metadata')
        self.producer.sent()
        self.producer.metadata(self.meta, b'metadata')
        self.viewer, self.count = Viewer(relay.live), 0
        self.viewer.create()
        assert self.viewer.attach(self.producer.session)[0] == 1

    def go_on(self):
        packet = b'%08d' % self.count
        self.producer.packet(self.one, packet, self.count, self.count + 1)
        index = until('the packet', lambda: (index := self.viewer.next_index(self.one))[0] == INDEX_OK and index)
        assert self.viewer.packet(self.one, index[2], 8) == (1, packet)
        self.count += 1


def resident(relay):
    with open(f'/proc/{relay.process.pid}/statm') as statm:
        return int(statm.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def push(connection, data):
    """Sends what it takes; it need not take all, or stay. In a thread, because it may never take it."""
    def work():
        with contextlib.suppress(OSError):
            connection.send(data)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def control(command, payload, size=None):
    return struct.pack('>QQII', 0, len(payload) if size is None else size, command, 0) + payload


def asks_and_does_not_read(relay, good):
    """A mebibyte is the answer to 36 bytes, and 339 bytes a session to 16."""
    block = os.urandom(MIB)
    good.producer.packet(good.one, block, good.count, good.count)
    until('what is pending', lambda: good.producer.pending(good.one) == 0)
    viewers = [Viewer(relay.live) for _ in range(4)]
    for viewer in viewers[:3]:
        viewer.create()
        assert viewer.attach(good.producer.session)[0] == 1
        number = good.count
        while number >= 0:
            assert viewer.next_index(good.one)[0] == INDEX_OK
            number -= 1
    again = struct.pack('>QIIQQI', 20, 3, 0, good.producer.session, 0, 2) + struct.pack('>QIIQ', 8, 9, 0, good.producer.session)
    packet = struct.pack('>QIIQQI', 20, 5, 0, good.one, 8 * good.count, MIB)
    yield [(viewers[0].connection, 700 * packet), (viewers[1].connection, 16000 * struct.pack('>QII', 0, 2, 0)),
           (viewers[2].connection, struct.pack('>QIIQ', 8, 9, 0, good.producer.session) + 5000 * again)]
    index = good.viewer.next_index(good.one)
    assert index[0] == INDEX_OK
    for i in range(700):                # who takes them at last gets all
        assert viewers[0].take_packet() == (1, block), i


def begins_what_it_does_not_finish(relay, good):
    del good
    waiting = []
    for _ in range(40):
        connection = Connection(relay.control)
        connection.send(control(VERSION, struct.pack('>II', 2, 13)))
        connection.read(8)
        waiting.append((connection, control(SEND_METADATA, bytes(12 * MIB), 16 * MIB)))
    for port in (relay.control, relay.data, relay.live):
        waiting.extend((Connection(port), b'\0\0\0') for _ in range(100))
    yield waiting


def announces_without_end(relay, good):
    """Streams, each with files; halves of packets whose other half never comes."""
    producer = Producer(relay).create(name='flood')
    one = producer.stream('c_0')
    names = b''.join(control(ADD_STREAM, struct.pack('>IIQQQ', len(channel), 4, 0, 0, 0) + channel + b'ust\0')
                     for channel in (text(f'flood_{i}') for i in range(600)))
    halves = b''.join(control(SEND_INDEX, struct.pack('>10Q', one, seq, 64, 64, 1, 2, 0, 0, 0, seq)) for seq in range(6000))
    yield [(producer.control, halves + names)]
    producer.control.read(4 * 6000)
    results = [struct.unpack('>QI', producer.control.read(12))[1] for _ in range(600)]
    assert results[0] == OK and results[-1] in (OK, 11), results[-1]
    producer.close()
    other = Producer(relay).create(name='after the flood')
    stream = other.stream('c_0')
    other.packet(stream, b'fits', 1, 2)
    until('a packet', lambda: other.pending(stream) == 0)
    del good


def talks_nonsense(relay, good):
    """Half of it looks like requests."""
    dice = random.Random(7)
    strangers = []
    for _ in range(100):
        kind = dice.randrange(3)
        words = []
        for _ in range(dice.randrange(1, 20)):
            payload = dice.randbytes(dice.choice((0, 8, 16, 20, 64, 80, 4376)))
            if kind == 0:
                words.append(control(dice.randrange(24), payload))
            elif kind == 1:
                words.append(struct.pack('>QQQII', 0, dice.choice((good.one, good.meta, dice.randrange(100))), dice.randrange(9),
                                         len(payload), dice.choice((0, 4096, 2**32 - 1))) + payload)
            else:
                words.append(struct.pack('>QII', len(payload), dice.randrange(11), 0) + payload)
        if kind == 0:
            words.insert(0, control(VERSION, struct.pack('>II', 2, 13)))
        if kind == 1:
            words = [word.replace(struct.pack('>Q', good.one), struct.pack('>Q', 10**6)) for word in words]
        strangers.append((Connection((relay.control, relay.data, relay.live)[kind]), b''.join(words)))
    yield strangers


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    began = time.monotonic()
    for harm in asks_and_does_not_read, begins_what_it_does_not_finish, announces_without_end, talks_nonsense:
        with Relay(env=SANITIZER) as relay:
            good = Bystander(relay)
            good.go_on()
            doing = harm(relay, good)
            attempts = next(doing)
            threads = [push(*attempt) for attempt in attempts]
            most = 0
            for _ in range(15):
                if harm is not asks_and_does_not_read:
                    good.go_on()
                else:
                    assert good.viewer.sessions()
                most = max(most, resident(relay))
            for _ in doing:
                pass
            most = max(most, resident(relay))
            for connection, _ in attempts:
                with contextlib.suppress(OSError):
                    connection.socket.shutdown(2)
                connection.close()
            for thread in threads:
                thread.join(300)
            good.go_on()
            print(f'{harm.__name__}: {most / MIB:.0f} MiB, {time.monotonic() - began:.1f} s')
            assert most < ROOM, f'{most / MIB:.0f} MiB'
    return 0


if __name__ == '__main__':
    sys.exit(main())
