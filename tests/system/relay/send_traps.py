#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""What kymo record --relay says, message by message, to a relay of the test's own that notes them: the traps T33 to T41 of
docs/network/relay.md, with the layouts of 2.13 and of 2.4. The layouts are written a second time here."""
import os
import socket
import struct
import sys
import threading

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
from lib_numbers import check

ADD_STREAM, CREATE_SESSION, VERSION, SEND_METADATA, CLOSE_STREAM, DATA_PENDING = 1, 2, 5, 6, 7, 8
SEND_INDEX, STREAMS_SENT, ROTATE, CREATE_CHUNK, CLOSE_CHUNK, GET_CONFIGURATION = 13, 16, 18, 19, 20, 22
OK, ERR_PROTOCOL = 10, 152
EMPTY = 109 * 8, 84 * 8, 88 * 8        # bits of a packet without events, by what its context has


class Noting:
    """A relay that notes what comes over its control connection and answers as lttng-relayd does."""

    def __init__(self, minor=13, pending=0):
        self.minor, self.pending = minor, pending
        self.control, self.data = (socket.create_server(('127.0.0.1', 0)) for _ in range(2))
        self.said = []                  # (command, payload) in order
        self.bytes = bytearray()        # of the data connection
        self.streams = []               # (channel, path); the handle is the place + 1
        self.failure = None
        for listener, serve in (self.control, self.serve_control), (self.data, self.serve_data):
            threading.Thread(target=self.guard, args=(listener, serve), daemon=True).start()

    def url(self):
        return f'net://127.0.0.1:{self.control.getsockname()[1]}:{self.data.getsockname()[1]}/robot'

    def guard(self, listener, serve):
        try:
            serve(listener.accept()[0])
        except (EOFError, ConnectionError):
            pass
        except Exception as failure:    # shown by the test
            self.failure = failure

    def serve_data(self, connection):
        while some := connection.recv(1 << 16):
            self.bytes += some

    def serve_control(self, connection):
        def read(size):
            data = b''
            while len(data) < size:
                some = connection.recv(size - len(data))
                if not some:
                    raise EOFError
                data += some
            return data

        while True:
            circuit, size, command, version = struct.unpack('>QQII', read(24))
            check(circuit == 0 and version == 0, 'head of %d: %d, %d', command, circuit, version)
            payload = read(size)
            self.said.append((command, payload))
            connection.sendall(self.answer(command, payload))

    def answer(self, command, payload):
        if command == VERSION:
            return struct.pack('>II', 2, self.minor)
        if command == GET_CONFIGURATION:
            return struct.pack('>IQ', OK if payload == bytes(8) else ERR_PROTOCOL, 0)
        if command == CREATE_SESSION:
            return struct.pack('>QI', 1, OK) + (struct.pack('>I', 5) + b'path\0' if self.minor >= 11 else b'')
        if command == ADD_STREAM:
            if self.minor >= 11:
                sizes = struct.unpack_from('>II', payload)
                channel, path = payload[32:32 + sizes[0] - 1], payload[32 + sizes[0]:-1]
            else:
                channel, path = (payload[at:at + size].split(b'\0')[0] for at, size in ((0, 264), (264, 4096)))
            self.streams.append((channel.decode(), path.decode()))
            return struct.pack('>QI', len(self.streams), OK)
        if command == CLOSE_CHUNK:
            return struct.pack('>II', OK, 1) + b'\0'
        if command == DATA_PENDING:
            return struct.pack('>I', self.pending)
        return b'' if command == SEND_METADATA else struct.pack('>I', OK)

    def places(self, command):
        return [at for at, (one, _) in enumerate(self.said) if one == command]

    def indexes(self):
        """(place, stream, seq, packet bits, content bits, begin, end, discarded, class)"""
        return [(at, *struct.unpack_from('>8Q', self.said[at][1])) for at in self.places(SEND_INDEX)]

    def silent(self):
        """Streams that had no beacon yet."""
        heard = {index[1] for index in self.indexes() if index[3] == 0}
        return {at + 1 for at, (channel, _) in enumerate(self.streams) if channel != 'metadata'} - heard


def record(place, relay, *options):
    place.environment['KYMO_SPOOL_DIR'] = place.at('spool')
    recorder = place.recorder('--relay', relay.url(), *options)
    program = place.numbers(rate=2000)
    lib.wait_for('beacons', lambda: sum(index[3] == 0 for index in relay.indexes()) > 20 or relay.failure)
    count = len(relay.streams)
    second = place.numbers(rate=2000, name='second')
    lib.wait_for('streams of the second, and beacons of all', lambda: (len(relay.streams) > count and not relay.silent()) or
                 relay.failure)
    lib.end_well(program)
    lib.end_well(second)
    status, said = lib.end(recorder)
    check(not relay.failure, 'the relay of the test: %s', relay.failure)
    return status, said


def begins_in_order(relay):
    first = {command: relay.places(command)[0] for command in (CREATE_SESSION, ADD_STREAM, SEND_METADATA, STREAMS_SENT,
                                                              SEND_INDEX)}
    create = relay.said[first[CREATE_SESSION]][1]
    if relay.minor >= 11:
        check(first[CREATE_SESSION] < relay.places(CREATE_CHUNK)[0] < first[ADD_STREAM], 'T33: no chunk')
        check(struct.unpack_from('>I', create, 12)[0] > 0, 'T34: it is not live')
        check(create[18:34] != bytes(16), 'T34: nobody sends it')
        check(create[59:] == b'robot\0' + socket.gethostname().encode() + b'\0\0', 'its names: %s', create[59:])
    else:
        check(not relay.places(CREATE_CHUNK) and len(create) == 327, '2.4 has no chunks, and other sessions')
        check(struct.unpack_from('>I', create, 319)[0] > 0, 'T34: it is not live')
    check(first[ADD_STREAM] < first[SEND_METADATA] < first[STREAMS_SENT] < first[SEND_INDEX], 'T38: %s', first)
    for channel, path in relay.streams:
        check(('metadata', path) in relay.streams, 'T35: %s has no metadata', path)
        check(0 < len(path) <= 254 and len(channel) <= 254, 'T40: %s of %s', channel, path)
    check(sum(channel == 'metadata' for channel, _ in relay.streams) == len({path for _, path in relay.streams}), 'T35')


def streams_go_on_in_time(relay):
    known, bound = {}, 0
    for at, stream, seq, bits, content, begin, end, _, _ in relay.indexes():
        if bits == 0:
            check(stream in known, 'T36: a beacon of %s before its first packet', stream)
            check(seq == known[stream] and content == begin == 0, 'a beacon with %d, %d, %d', seq, content, begin)
            check(end >= bound, 'T37: the time of beacons goes back')
            bound = end
            continue
        if stream not in known:
            check(bits in EMPTY, 'T36: the first packet of stream %d has events: %d', stream, bits)
        check(seq == known.get(stream, -1) + 1, 'packets of %d: %d behind %s', stream, seq, known.get(stream))
        check(begin >= bound or not bound, 'T37: stream %d begins %d ns before a time that was told', stream, bound - begin)
        known[stream] = seq
    data = [at + 1 for at, (channel, _) in enumerate(relay.streams) if channel != 'metadata']
    check(set(known) == set(data), 'packets of %s, streams %s', set(known), data)
    check(not relay.silent(), 'T37: no beacon of %s', relay.silent())


def ends_in_order(relay):
    closes, asks = relay.places(CLOSE_STREAM), relay.places(DATA_PENDING)
    check(len(closes) == len(relay.streams), '%d streams, %d ends', len(relay.streams), len(closes))
    asked = {struct.unpack('>QQ', relay.said[at][1]): at for at in asks}
    rotated = {}
    for at in relay.places(ROTATE):
        count, chunk = struct.unpack_from('>IB', relay.said[at][1])
        check(chunk == 0 and len(relay.said[at][1]) == 20 + 16 * count, 'T39: ROTATE_STREAMS of %d', count)
        for number in range(count):
            rotated[struct.unpack_from('>Q', relay.said[at][1], 20 + 16 * number)[0]] = at
    for at in closes:
        stream, last = struct.unpack('>QQ', relay.said[at][1])
        if relay.minor >= 11:
            check(rotated[stream] < at, 'T39: stream %d is closed in its chunk', stream)
        if relay.streams[stream - 1][0] != 'metadata':
            check(asked.get((stream, last), at) < at, 'T41: it was not asked whether %d has all up to %d', stream, last)
    if relay.minor >= 11:
        check(relay.places(CLOSE_CHUNK)[0] < closes[-1], 'T39: the chunk is open at the end')


def new_layouts(place):
    relay = Noting()
    status, said = record(place, relay)
    check(status == 0, '%d: %s', status, said)
    begins_in_order(relay)
    streams_go_on_in_time(relay)
    ends_in_order(relay)


def old_layouts(place):
    relay = Noting(minor=4)
    status, said = record(place, relay)
    check(status == 0, '%d: %s', status, said)
    begins_in_order(relay)
    check(all(len(payload) == {ADD_STREAM: 4376, SEND_INDEX: 64}.get(command, len(payload)) for command, payload in relay.said),
          'sizes of requests')
    check(not [command for command, _ in relay.said if command in (ROTATE, CREATE_CHUNK, CLOSE_CHUNK, GET_CONFIGURATION)],
          'commands that 2.4 has not')
    streams_go_on_in_time(relay)
    ends_in_order(relay)


def pending_for_ever(place):
    relay = Noting(pending=1)
    status, said = record(place, relay, '--linger', '200ms')
    check(status == 0 and 'is not known to have stored' in said, 'T41: %d, %s', status, said)
    check(not relay.places(CLOSE_STREAM), 'T41: closed, though something is pending')


lib.main('send_traps.py', new_layouts, old_layouts, pending_for_ever)
