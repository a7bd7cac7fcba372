#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""kymo record --relay udp://: every event is stored once, or counted as lost on the way, to the event; a network that loses,
a relay that is begun again, and one that does not accept datagrams."""
import glob
import json
import os
import random
import re
import socket
import struct
import subprocess
import sys
import threading

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
import lib_send
from lib_numbers import check
from lib_send import DatagramRelay, account, begin, lost_by_now, until_connected, until_noted


class Lossy:
    """A network between a sender and the relay's port for datagrams, that drops some of them, by their number."""

    def __init__(self, port, share):
        self.to, self.share, self.random = ('127.0.0.1', port), share, random.Random(5)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(('127.0.0.1', 0))
        self.port = self.socket.getsockname()[1]
        self.socket.settimeout(0.1)
        self.passed = self.dropped = 0
        self.over = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.over:
            try:
                datagram = self.socket.recv(1 << 16)
            except TimeoutError:
                continue
            if self.random.random() < self.share:
                self.dropped += 1
            else:
                self.passed += 1
                try:
                    self.socket.sendto(datagram, self.to)
                except OSError:         # the relay is not there
                    pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.over = True
        self.thread.join()
        self.socket.close()


def clean(place):
    with DatagramRelay() as relay:
        recorder, program = begin(place, relay.datagram_url('robot'))
        until_connected(place)
        until_noted(place, 1000)
        lost = account(place, recorder, program, relay)
        check(not os.listdir(place.at('spool')), 'the spool is still there')
        print(f'clean: {lost} of {sum(place.noted())} events lost')


def entries(session, suffix):
    """The index entries of the session's streams; kymo's have the width of the loss counter and the number of events at their end."""
    for path in glob.glob(f'{session}/**/index/*.{suffix}', recursive=True):
        with open(path, 'rb') as file:
            header, body = struct.unpack('>4I', file.read(16)), file.read()
        check(header == (0xc1f1dcc1, 1, 1, 88), '%s: %s', path, header)
        yield from struct.iter_unpack('>11Q', body)


def readers_agree(place, session, events):
    """
    Each reader tells the packets that the relay has given up, at whichever end of a stream they were, and the events
    in them, which the recorder counted. Return: how many packets.
    """
    lost = list(entries(session, 'lost'))
    check(all(entry[9] == 64 for entry in lost + list(entries(session, 'idx'))), 'events_discarded_len: %s', lost[0])
    info = json.loads(place.kymo('info', session, '--format', 'json'))
    check(info['lost_packets'] == len(lost), 'info: %d packets of %d', info['lost_packets'], len(lost))
    check(sum(stream['lost_packets'] for stream in info['streams']) == len(lost), 'streams of info: %s', info['streams'])
    check(info['lost_in_packets'] == events, 'info: %d events of %d', info['lost_in_packets'], events)
    stored = sum(entry[10] for entry in entries(session, 'idx'))
    check(stored <= info['events'], '%d events are in the index, %d in the packets', stored, info['events'])
    dump = subprocess.run([lib.KYMO, 'dump', session], capture_output=True, text=True, timeout=300)
    told = re.findall(r'(\d+) packets are missing(?:, with (\d+) events,)? between', dump.stderr)
    check(sum(int(packets) for packets, _ in told) == len(lost), 'dump: %s of %d', told, len(lost))
    check(sum(int(some or 0) for _, some in told) == events, 'dump: %s of %d events', told, events)
    return len(lost)


def lossy(place):
    with DatagramRelay() as relay, Lossy(relay.datagrams, 0.1) as network:
        recorder, program = begin(place, relay.datagram_url('robot', network.port))
        until_connected(place)
        lib.wait_for('losses', lambda: network.dropped > 20)
        lib.wait_for('their account', lambda: lost_by_now(place))
        lost = account(place, recorder, program, relay)
        check(lost, 'nothing is counted as lost')
        packets = readers_agree(place, relay.stored('robot')[0], lost)
        said = lib.wait_for('the total', lambda: re.search(r'robot: in all, (\d+) packets of \d+ streams', relay.said()))
        check(int(said[1]) == packets, 'the relay says %s, %d are lost', said[0], packets)
        print(f'lossy: {network.dropped} of {network.dropped + network.passed} datagrams and {lost} of {sum(place.noted())} events lost')


def killed_in_between(place):
    """What the first session had lost is not sent again, nor is it taken for stored."""
    with DatagramRelay() as relay, Lossy(relay.datagrams, 0.1) as network:
        recorder, program = begin(place, relay.datagram_url('robot', network.port))
        until_connected(place)
        lib.wait_for('losses', lambda: network.dropped > 20)
        lib.wait_for('a packet on the disk', lambda: [path for path in glob.glob(relay.output + '/**/index/*.idx', recursive=True)
                                                      if os.stat(path).st_size > 16])
        relay.kill()
        lib.wait_for('the end of the connection', lambda: lib_send.sink(place).get('relay', 'connected') != 'connected')
        until_noted(place, 500)
        relay.begin()
        until_connected(place)
        until_noted(place, 500)
        lost = account(place, recorder, program, relay, sessions=2)
        print(f'killed in between: {lost} of {sum(place.noted())} events lost')


def refused(kind, place):
    """Who does not accept datagrams is named, with what to do; nothing is lost for it."""
    with kind() as relay:
        recorder, program = begin(place, f'udp://127.0.0.1:{relay.control}/robot')
        said = lib.wait_for('the reason', lambda: why(place))
        check('does not accept datagrams' in said and 'net://' in said, '%s', said)
        program.kill()
        recorder.kill()


def why(place):
    text = place.kymo('status', '--format', 'json', '-i', '0')
    return text if 'does not accept datagrams' in text else None


lib.main('send_datagrams.py', clean, lossy, killed_in_between, *lib_send.each(refused))
