#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: shared
"""Real traffic of lttng-consumerd, byte for byte, against our relay: every reply is as long as that of the real
lttng-relayd, has the same result, and what is stored is what lttng-relayd stored."""
import collections
import glob
import os
import struct
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_relay import (ADD_STREAM, BEGIN_PENDING, CHUNK_EXISTS, CLOSE_CHUNK, CLOSE_STREAM, CREATE_SESSION, DATA_PENDING,
                       END_PENDING, GET_CONFIGURATION, QUIESCENT, RESET_METADATA, ROTATE, SEND_INDEX, SEND_METADATA,
                       VERSION, Connection, Relay)
from lib_test import SHARED, skip

CAPTURES = os.path.join(SHARED, 'data', 'lttng-captures')

# name: (control port, data port, minor version of the relay, packets of streams per connection)
RUNS = {'live1': (5342, 5343, 13), 'live2': (5342, 5343, 13), 'snap': (5342, 5343, 13),
        'reset_metadata': (5342, 5343, 13), 'mini13': (15342, 15343, 13), 'mini4': (15442, 15443, 4)}


def segments(path):
    """(connection, to the server?, bytes) of each TCP segment with data, in order."""
    data = open(path, 'rb').read()
    assert struct.unpack('<I', data[:4])[0] == 0xa1b2c3d4
    at = 24
    while at < len(data):
        size = struct.unpack('<I', data[at + 8:at + 12])[0]
        packet = data[at + 16:at + 16 + size]
        at += 16 + size
        ip = packet[14:]
        tcp = ip[4 * (ip[0] & 15):struct.unpack('>H', ip[2:4])[0]]
        source, target = struct.unpack('>HH', tcp[:4])
        payload = tcp[4 * (tcp[12] >> 4):]
        if payload:
            yield source, target, payload


def messages(path, control, data):
    """(client port, 'control' or 'data', message) in order of their last byte."""
    pending = collections.defaultdict(bytes)
    for source, target, payload in segments(path):
        if target not in (control, data):
            continue
        kind = 'control' if target == control else 'data'
        pending[source, kind] += payload
        while True:
            have = pending[source, kind]
            if kind == 'control':
                if len(have) < 24 or len(have) < 24 + struct.unpack('>Q', have[8:16])[0]:
                    break
                size = 24 + struct.unpack('>Q', have[8:16])[0]
            else:
                if len(have) < 32 or len(have) < 32 + struct.unpack('>I', have[24:28])[0]:
                    break
                size = 32 + struct.unpack('>I', have[24:28])[0]
            pending[source, kind] = have[size:]
            yield source, kind, have[:size]


def replies(path, control):
    """Per client port of the control connection: all bytes that it was answered."""
    result = collections.defaultdict(bytes)
    for source, target, payload in segments(path):
        if source == control:
            result[target] += payload
    return result


def reply_size(command, minor, peek):
    """Bytes of a reply; peek(n): the first n of it."""
    if command == SEND_METADATA:
        return 0
    if command == CREATE_SESSION:
        return 12 if minor < 11 else 16 + struct.unpack('>I', peek(16)[12:])[0]
    if command == CLOSE_CHUNK:
        return 8 + struct.unpack('>I', peek(8)[4:])[0]
    return {VERSION: 8, GET_CONFIGURATION: 12, ADD_STREAM: 12, CHUNK_EXISTS: 5}.get(command, 4)


class Reader:
    """Peeks into the replies of one of our connections."""

    def __init__(self, connection):
        self.connection, self.have = connection, b''

    def peek(self, size):
        if len(self.have) < size:
            self.have += self.connection.read(size - len(self.have))
        return self.have[:size]

    def take(self, size):
        result = self.peek(size)
        self.have = self.have[size:]
        return result


STREAM_FIRST = {SEND_METADATA, CLOSE_STREAM, DATA_PENDING, QUIESCENT, SEND_INDEX, RESET_METADATA}


def replace(message, at, ids):
    old = struct.unpack('>Q', message[at:at + 8])[0]
    return message[:at] + struct.pack('>Q', ids.get(old, old)) + message[at + 8:]


def with_our_ids(message, kind, command, streams, sessions):
    """The ids in later requests are those that the real relay gave; ours are others."""
    if kind == 'data':
        return replace(message, 8, streams)
    if command in STREAM_FIRST:
        return replace(message, 24, streams)
    if command in (BEGIN_PENDING, END_PENDING):
        return replace(message, 24, sessions)
    if command == ROTATE:
        count = struct.unpack('>I', message[24:28])[0]
        for i in range(count):
            message = replace(message, len(message) - 16 * (count - i), streams)
    return message


def replay(name, relay):
    """Plays the producer; returns [(command, its result, ours)]."""
    control, data, minor = RUNS[name]
    path = os.path.join(CAPTURES, name + '.pcap')
    real = replies(path, control)
    ours, reader, streams, sessions, compared = {}, {}, {}, {}, []
    for client, kind, message in messages(path, control, data):
        if client not in ours:
            ours[client] = Connection(relay.control if kind == 'control' else relay.data)
            reader[client] = Reader(ours[client])
        command = struct.unpack('>I', message[16:20])[0] if kind == 'control' else None
        message = with_our_ids(message, kind, command, streams, sessions)
        ours[client].send(message)
        if kind == 'data' or command == SEND_METADATA or not real[client]:
            continue
        size = reply_size(command, minor, lambda n: real[client][:n])
        theirs, real[client] = real[client][:size], real[client][size:]
        mine = reader[client].take(reply_size(command, minor, reader[client].peek))
        if command in (DATA_PENDING, END_PENDING) and theirs == bytes(4):
            while mine != theirs:       # the real one had written it all at that moment; ours will have
                ours[client].send(message)
                mine = reader[client].take(4)
        if command == ADD_STREAM:
            streams[struct.unpack('>Q', theirs[:8])[0]] = struct.unpack('>Q', mine[:8])[0]
        if command == CREATE_SESSION:
            sessions[struct.unpack('>Q', theirs[:8])[0]] = struct.unpack('>Q', mine[:8])[0]
        compared.append((command, theirs, mine))
    for connection in ours.values():
        connection.close()
    return compared


# Replies that are not compared byte for byte, and why.
def comparable(command, reply):
    if command in (ADD_STREAM, CREATE_SESSION):
        return reply[8:12]              # behind the id; a path has the date of the run
    if command == CLOSE_CHUNK:
        return reply[:4]                # a path
    return reply


def check_replies(name, compared):
    for number, (command, theirs, mine) in enumerate(compared):
        if command in (DATA_PENDING, END_PENDING) and theirs != bytes(4):
            continue                    # ours may have been faster
        assert comparable(command, mine) == comparable(command, theirs), \
            f'{name}: reply {number} to request {command}: {mine.hex()}, lttng-relayd said {theirs.hex()}'
    assert compared


def files(directory):
    return {os.path.relpath(path, directory): open(path, 'rb').read()
            for path in glob.glob(directory + '/**', recursive=True) if os.path.isfile(path)}


def text_of(directory):
    run = subprocess.run(['babeltrace2', directory], capture_output=True, text=True, check=True)
    return run.stdout, run.stderr


def check_live1(output):
    """live1-output/ is what lttng-relayd wrote of this run: files, metadata, indexes."""
    theirs = files(os.path.join(CAPTURES, 'live1-output'))
    theirs = {'/'.join(name.split('/')[-2:] if '/index/' in '/' + name else name.split('/')[-1:]): data for name, data in theirs.items()}
    mine = {name.split('64-bit/')[1]: data for name, data in files(output).items()}
    del mine['index/sync']              # which is ours alone
    assert theirs and mine.keys() == theirs.keys(), (sorted(mine), sorted(theirs))
    for name, data in theirs.items():
        assert mine[name] == data, f'live1: {name} is not what lttng-relayd wrote'
    stdout, _ = text_of(output)
    assert len(stdout.splitlines()) == 36


# Events in the packets of the capture; of live2, those behind `lttng clear`, which takes away what was there.
EVENTS = {'live2': 36, 'snap': 630, 'reset_metadata': 39, 'mini13': 36, 'mini4': 36}


def check_viewable(name, output):
    stdout, stderr = text_of(output)
    events = len(stdout.splitlines())
    assert events == EVENTS[name], f'{name}: {events} events, not {EVENTS[name]}: {stderr}'


def main():
    if not os.path.isdir(CAPTURES):
        skip('the captures of LTTng exist in ../shared only')
    for name in RUNS:
        with Relay('--minor', str(RUNS[name][2])) as relay:
            check_replies(name, compared := replay(name, relay))
            relay.stop()                # what it was given is on disk then
            if name == 'live1':
                check_live1(relay.output)
            else:
                check_viewable(name, relay.output)
            assert 'disconnected' not in relay.said(), relay.said()
            print(f'{name}: {len(compared)} replies as lttng-relayd gave them')
    return 0


if __name__ == '__main__':
    sys.exit(main())
