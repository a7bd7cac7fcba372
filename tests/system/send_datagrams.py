#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""kymo record --relay udp://: every event is stored once, or counted as lost on the way, to the event; a network that loses,
a relay that is begun again, and one that takes no datagrams."""
import os
import random
import re
import socket
import subprocess
import threading

import lib_numbers as lib
import lib_send
from lib_numbers import check

LOST = re.compile(r'(\d+) packets with (\d+) events were lost on the way')
DROPPED = re.compile(r'(\d+) events were dropped')     # by the program: the recorder was not given a CPU for long


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


def relay_of(*options):
    """Its port for datagrams is known."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as some:
        some.bind(('127.0.0.1', 0))
        port = some.getsockname()[1]
    relay = lib_send.KymoRelay('--datagram', str(port), *options)
    relay.datagrams = port
    return relay


def begin(place, relay, port=''):
    place.environment['KYMO_SPOOL_DIR'] = place.at('spool')
    recorder = place.recorder('--relay', f'udp://127.0.0.1:{relay.control}{port and ":"}{port}/robot')
    return recorder, place.numbers(rate=2000)


def until_noted(place, more):
    now = min(place.noted())
    lib.wait_for('the program', lambda: min(place.noted()) >= now + more)


def lost_by_now(place):
    return int(re.search(r'"lost_on_the_way": *(\d+)', place.kymo('status', '--format', 'json', '-i', '0'))[1])


def until_connected(place):
    lib.wait_for('a connection', lambda: lib_send.sink(place).get('relay') == 'connected')


def end(place, recorder, program, relay, sessions=1):
    """The accounts: what was made is stored or was lost on the way. Return: events lost."""
    lib.end_well(program)
    status, said = lib.end(recorder)
    check(status == 0, 'the recorder ended with %d: %s', status, said)
    counted = LOST.search(said)
    lost = int(counted[2]) if counted else 0
    stored = relay.stored('robot')
    check(len(stored) >= sessions, 'sessions: %s', stored)      # a connection that broke for once is no fault
    found = [[] for _ in range(lib.THREADS)]
    for session in stored:
        for thread, numbers in enumerate(read(session)):
            found[thread] += numbers
    for thread in found:
        check(len(thread) == len(set(thread)), 'events are there twice')
    missing = sum(place.noted()) - sum(map(len, found))
    dropped = DROPPED.search(said)
    check(missing == lost + (int(dropped[1]) if dropped else 0), '%d of %d are missing, %d are counted: %s', missing,
          sum(place.noted()), lost, said)
    return lost


def read(session):
    text = subprocess.run(['babeltrace2', '--no-delta', session], capture_output=True, text=True, timeout=120)
    check(text.returncode == 0, 'babeltrace2: %s', text.stderr)
    numbers = lib.numbers_in(text.stdout)
    for thread in numbers:
        check(thread == sorted(thread), 'out of order')
    return numbers


def clean(place):
    with relay_of() as relay:
        recorder, program = begin(place, relay)
        until_connected(place)
        until_noted(place, 1000)
        lost = end(place, recorder, program, relay)
        check(not os.listdir(place.at('spool')), 'the spool is still there')
        print(f'clean: {lost} of {sum(place.noted())} events lost')


def lossy(place):
    with relay_of() as relay, Lossy(relay.datagrams, 0.1) as network:
        recorder, program = begin(place, relay, network.port)
        until_connected(place)
        lib.wait_for('losses', lambda: network.dropped > 20)
        lib.wait_for('their account', lambda: lost_by_now(place))
        lost = end(place, recorder, program, relay)
        check(lost, 'nothing is counted as lost')
        print(f'lossy: {network.dropped} of {network.dropped + network.passed} datagrams and {lost} of {sum(place.noted())} events lost')


def killed_in_between(place):
    """What the first session had lost is not sent again, nor is it taken for stored."""
    with relay_of() as relay, Lossy(relay.datagrams, 0.1) as network:
        recorder, program = begin(place, relay, network.port)
        until_connected(place)
        lib.wait_for('losses', lambda: network.dropped > 20)
        relay.kill()
        until_noted(place, 500)
        relay.begin()
        until_connected(place)
        until_noted(place, 500)
        lost = end(place, recorder, program, relay, sessions=2)
        print(f'killed in between: {lost} of {sum(place.noted())} events lost')


def refused(kind, place):
    """Who takes no datagrams is named, with what to do; nothing is lost for it."""
    with kind() as relay:
        recorder, program = begin(place, relay)
        said = lib.wait_for('the reason', lambda: why(place))
        check('takes no datagrams' in said and 'net://' in said, '%s', said)
        program.kill()
        recorder.kill()


def why(place):
    text = place.kymo('status', '--format', 'json', '-i', '0')
    return text if 'takes no datagrams' in text else None


lib.main('send_datagrams.py', clean, lossy, killed_in_between, *lib_send.each(refused))
