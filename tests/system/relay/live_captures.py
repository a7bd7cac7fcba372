#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: shared
"""Real traffic between lttng-relayd and babeltrace2, played to `kymo live`: every reply is, byte for byte, one that was
recorded, and what we print is what babeltrace2 printed."""
import collections
import os
import socket
import struct
import sys
import threading

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_live import Live
from lib_test import skip
from relay_captures import CAPTURES, segments

LIST, ATTACH, INDEX, PACKET, METADATA, STREAMS = 2, 3, 4, 5, 6, 7
HUP = bytes(56) + struct.pack('>II', 3, 0)

# name: (viewer port, which of its connections attached)
RUNS = {'live1': 5344, 'live2': 5344, 'mini13': 15344, 'mini4': 15444, 'minidrop': 15644}


def requests_and_replies(path, port):
    """[(command, payload, reply)] of the first viewer that attached."""
    sent, received, order = collections.defaultdict(bytes), collections.defaultdict(bytes), []
    for source, target, payload in segments(path):
        if target == port:
            sent[source] += payload
            order.append(source)
        elif source == port:
            received[target] += payload
    for client in dict.fromkeys(order):
        exchanges = list(exchanges_of(sent[client], received[client]))
        if any(command == ATTACH for command, _, _ in exchanges):
            return exchanges
    raise AssertionError('nobody attached')


def reply_size(command, replies):
    if command == LIST:
        return 4 + 339 * struct.unpack('>I', replies[:4])[0]
    if command in (ATTACH, STREAMS):
        return 8 + 4371 * struct.unpack('>I', replies[4:8])[0]
    if command == PACKET:
        return 12 + struct.unpack('>I', replies[4:8])[0]
    if command == METADATA:
        return 12 + struct.unpack('>Q', replies[:8])[0]
    return {1: 20, INDEX: 64}.get(command, 4)


def exchanges_of(sent, replies):
    while len(sent) >= 16 and len(replies) >= 4:
        size, command = struct.unpack('>QI', sent[:12])
        payload, sent = sent[16:16 + size], sent[16 + size:]
        used = reply_size(command, replies)
        if len(replies) < used:
            return                      # the capture ends in it
        yield command, payload, replies[:used]
        replies = replies[used:]


class Recorded:
    """Answers like the relay that was recorded: of what there were several replies, one after the other."""

    def __init__(self, exchanges):
        self.fixed, self.queues = {}, collections.defaultdict(collections.deque)
        self.packets, self.packet = collections.defaultdict(collections.deque), {}
        for command, payload, reply in exchanges:
            if command in (INDEX, METADATA, STREAMS):
                self.queues[command, payload].append(reply)
            elif command == PACKET:
                stream, offset, _ = struct.unpack('>QQI', payload)
                self.packets[stream].append((offset, reply[12:]))
            else:
                self.fixed.setdefault(command, reply)
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.live = self.listener.getsockname()[1]
        self.unknown = []
        threading.Thread(target=self.serve, daemon=True).start()

    def next_of(self, command, payload):
        queue = self.queues[command, payload]
        if queue:
            reply = queue.popleft()
            if command == INDEX and reply[56:60] == b'\0\0\0\1':
                stream = struct.unpack('>Q', payload)[0]
                self.packet[stream] = self.packets[stream].popleft()
            return reply
        return {INDEX: HUP, METADATA: struct.pack('>QI', 0, 2), STREAMS: struct.pack('>II', self.at_end(), 0)}[command]

    def at_end(self):
        """HUP when all indexes were given; NO_NEW before."""
        return 2 if any(queue for (command, _), queue in self.queues.items() if command == INDEX) else 4

    def answer(self, command, payload):
        if command in (INDEX, METADATA, STREAMS):
            return self.next_of(command, payload)
        if command == PACKET:
            stream, offset, size = struct.unpack('>QQI', payload)
            begin, data = self.packet[stream]
            piece = data[offset - begin:offset - begin + size]
            return struct.pack('>III', 1, len(piece), 0) + piece
        if command == 9:
            return struct.pack('>I', 1)
        if command not in self.fixed:
            self.unknown.append(command)
        return self.fixed[command]

    def serve(self):
        connection, _ = self.listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pending = b''
        while True:
            some = connection.recv(65536)
            if not some:
                return
            pending += some
            while len(pending) >= 16 and len(pending) >= 16 + struct.unpack('>Q', pending[:8])[0]:
                size, command = struct.unpack('>QI', pending[:12])
                reply = self.answer(command, pending[16:16 + size])
                pending = pending[16 + size:]
                # In two parts, as lttng-relayd does.
                connection.sendall(reply[:12])
                connection.sendall(reply[12:])


def printed(name):
    """Lines of babeltrace2, and its warnings of packets that are missing."""
    text = open(os.path.join(CAPTURES, name + '.viewer.txt')).read()
    lines, _, errors = text.partition('--- stderr\n')
    return [line for line in lines.splitlines() if line], errors.count('packet between')


def check(name):
    wanted, missing = printed(name)
    relay = Recorded(requests_and_replies(os.path.join(CAPTURES, name + '.pcap'), RUNS[name]))
    host, session = struct.unpack('>20x64s255s', relay.fixed[LIST][4:343])
    url = f'net://127.0.0.1:{relay.live}/host/' + '/'.join(text.split(b'\0')[0].decode() for text in (host, session))
    live = Live(url, env={**os.environ, 'TZ': 'UTC'})
    lines = live.wait()
    assert not relay.unknown, relay.unknown
    difference = next((pair for pair in zip(lines, wanted) if pair[0] != pair[1]), None)
    assert lines == wanted, f'{name}: {len(lines)} lines, {len(wanted)} of babeltrace2; {difference} {live.said()}'
    assert live.said().count('packets are missing') == missing, live.said()
    print(f'{name}: {len(lines)} lines as babeltrace2 printed them')


def main():
    if not os.path.isdir(CAPTURES):
        skip('the captures of LTTng exist in ../shared only')
    for name in RUNS:
        check(name)
    return 0


if __name__ == '__main__':
    sys.exit(main())
