#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Packets as datagrams: reordered, twice, cut off, lost and forged; what is stored and what is counted as lost make what was sent."""
import glob
import os
import random
import socket
import struct
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_relay import GET_CONFIGURATION, OK, Producer, Relay
from lib_test import until

PIECE = 1000


def datagrams(producer, stream, seq, packet, padding=0, piece=PIECE):
    """A packet, cut, as datagram.h draws it."""
    return [struct.pack('>4sIQQQIIII', b'KYMD', len(packet), producer.cookie, stream, seq, padding, at, piece, 0) + packet[at:at + piece]
            for at in range(0, max(len(packet), 1), piece)]


class Sender(Producer):
    def __init__(self, relay):
        super().__init__(relay)
        self.create()
        self.one, self.meta = self.stream('c_0'), self.stream('metadata')
        self.sent()
        self.metadata(self.meta, b'metadata')
        ret, flags = struct.unpack('>IQ', self.ask(GET_CONFIGURATION, struct.pack('>Q', 0x4b594d4f), 12))
        assert ret == OK and flags & 1 << 33, flags
        ret, self.port, self.cookie = struct.unpack('>IIQ', self.ask(0x4b590002, b'', 16))
        assert ret == OK and self.cookie
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.to = ('127.0.0.1', self.port)

    def throw(self, *pieces):
        for piece in pieces:
            self.socket.sendto(piece, self.to)

    def index(self, seq, packet, padding=0):
        self.send_index(self.one, packet, 100 * seq, 100 * seq + 99, padding, seq=seq)
        self.seq[self.one] = seq + 1

    def settled(self):
        until('what is pending', lambda: self.pending(self.one) != 1)     # 2: there is nothing more to come, but some were lost

    def end(self):
        self.socket.close()
        self.close()


def stored(relay, name):
    found = glob.glob(os.path.join(relay.output, '**', name), recursive=True)
    return open(found[0], 'rb').read() if found else b''


def numbers(relay, suffix):
    """packet_seq_num of the entries."""
    data = stored(relay, 'c_0.' + suffix)
    return [struct.unpack('>Q', data[at + 64:at + 72])[0] for at in range(16, len(data), 72)]


def packet_of(seq, size):
    return (b'%08d' % seq * (size // 8 + 1))[:size]


def check_order(relay):
    """In whatever order they come, the file is in the order of the packets; what comes twice is there once."""
    sender = Sender(relay)
    packets = [packet_of(seq, size) for seq, size in enumerate((3500, 1, 0, 1000, 1001, 20000, 999, 2000))]
    pieces = [piece for seq, packet in enumerate(packets) for piece in datagrams(sender, sender.one, seq, packet, 24)]
    random.Random(7).shuffle(pieces)
    for seq in (0, 1, 2, 3):
        sender.index(seq, packets[seq], 24)
    sender.throw(*pieces, *pieces)
    for seq in (4, 5, 6, 7):
        sender.index(seq, packets[seq], 24)
    sender.settled()
    assert stored(relay, 'c_0') == b''.join(packet + bytes(24) for packet in packets)
    assert sorted(numbers(relay, 'idx')) == list(range(8)) and not numbers(relay, 'lost')
    sender.end()


def check_loss(relay):
    """A packet with a hole, and one of which nothing came, are lost, with their index or before it; the rest is there."""
    sender = Sender(relay)
    packets = [packet_of(seq, 2500) for seq in range(40)]
    gone = {3, 4, 17, 25}
    for seq, packet in enumerate(packets):
        pieces = datagrams(sender, sender.one, seq, packet)
        if seq % 2 == 0:
            sender.index(seq, packet)
        sender.throw(*(pieces if seq not in gone else pieces[:1] if seq % 2 else []))
        if seq % 10 == 9:                   # the socket has room for this
            until('the others', lambda: len(stored(relay, 'c_0')) == 2500 * (seq + 1 - len([one for one in gone if one <= seq])))
    for seq in range(1, 40, 2):
        sender.send_index(sender.one, packets[seq], 100 * seq, 100 * seq + 99, seq=seq)
    sender.settled()
    until('the entries', lambda: set(numbers(relay, 'idx')) | set(numbers(relay, 'lost')) == set(range(40)))
    assert set(numbers(relay, 'lost')) == gone, numbers(relay, 'lost')
    assert len(numbers(relay, 'idx')) == 40 - len(gone)
    # Late ones are of no use: the file is in the order of time.
    size = len(stored(relay, 'c_0'))
    sender.throw(*datagrams(sender, sender.one, 4, packets[4]))
    sender.throw(*datagrams(sender, sender.one, 40, b'last'))
    sender.index(40, b'last')
    sender.settled()
    assert len(stored(relay, 'c_0')) == size + 4
    sender.end()


def check_forged(relay):
    """Without the cookie, with one of another session, with headers that contradict each other."""
    sender, other = Sender(relay), Producer(relay).create(name='other')
    assert sender.cookie != 0
    packet = packet_of(0, 2500)
    first, second, third = datagrams(sender, sender.one, 0, packet)

    def changed(piece, at, layout, *values):
        layout = '>' + layout
        return piece[:at] + struct.pack(layout, *values) + piece[at + struct.calcsize(layout):]
    forged = [b'', b'KYMD', first[:47], b'X' + first[1:], changed(first, 8, 'Q', sender.cookie ^ 1), changed(first, 8, 'Q', 0),
              changed(first, 16, 'Q', 2**63), changed(first, 16, 'Q', sender.meta), changed(second, 36, 'I', 1),
              changed(third, 36, 'I', 2500), changed(third, 36, 'I', 3000), changed(first, 40, 'I', 0), first + b'x', first[:-1],
              changed(first, 4, 'I', 2**32 - 1), changed(first, 32, 'I', 2**32 - 1), changed(first, 44, 'I', 1)]
    sender.throw(*forged)
    sender.throw(first, changed(second, 4, 'I', 2600), changed(second, 32, 'I', 5), *forged, second, second, third)
    sender.index(0, packet)
    sender.settled()
    assert stored(relay, 'c_0') == packet
    # Numbers from far away do not keep the window open for ever, nor do many of them fill the memory.
    for seq in range(2000, 2600):
        sender.throw(changed(first, 24, 'Q', seq))
    sender.throw(changed(first, 24, 'Q', 2**63 + 5))
    sender.index(1, b'end')
    until('the loss', lambda: numbers(relay, 'lost') == [1])
    sender.settled()
    other.close()
    sender.end()


def check_end_without_descriptors():
    """What waits when the session ends needs one more file, and the relay has as many as it may: the session is not forgotten for it."""
    with Relay('--datagram', '0', inside=('prlimit', '--nofile=60:60')) as relay:
        sender, packet = Sender(relay), packet_of(0, 1000)
        small = sender.stream('small', file_size=len(packet))
        for i in range(13):             # all files together: more than half of 60
            sender.stream(f'more_{i}')
        sender.throw(*datagrams(sender, small, 0, packet))
        until('the first packet', lambda: stored(relay, 'small_0') == packet)
        sender.throw(*datagrams(sender, small, 2, packet))
        sender.throw(*datagrams(sender, sender.one, 0, packet))
        until('that it came', lambda: stored(relay, 'c_0') == packet)
        sender.end()
        until('the last packet', lambda: stored(relay, 'small_1') == packet)
        assert relay.process.poll() is None, relay.said()


def check_off():
    with Relay() as relay:
        producer = Producer(relay).create()
        assert struct.unpack('>IIQ', producer.ask(0x4b590002, b'', 16)) == (11, 0, 0)
        assert not struct.unpack('>IQ', producer.ask(GET_CONFIGURATION, struct.pack('>Q', 0x4b594d4f), 12))[1] & 1 << 33
        producer.close()


def main():
    for check in (check_order, check_loss, check_forged):
        with Relay('--datagram', '0') as relay:
            check(relay)
    check_end_without_descriptors()
    check_off()
    return 0


if __name__ == '__main__':
    sys.exit(main())
