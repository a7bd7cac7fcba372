#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""A producer whose control connection ended before its data connection's first packet arrived: the relay accepts that packet, as
lttng-relayd does; without one, the session ends although a data connection is open."""
import glob
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
sys.path.append(os.path.dirname(__file__))
from lib_relay import HUP, INDEX_OK, Connection, Producer, Relay
from lib_test import until
from relay_traps import done, given, learn, live, stored, watch


def late_packets(relay):
    producer = live(relay)
    producer.send_index(producer.one, b'late', 1, 2)
    producer.control.close()
    for _ in range(2):                  # the relay has seen that, when it answers others
        other = Producer(relay).create('other')
        other.control.close()
        other.data.close()
    for packet in b'late', b'later':
        producer.send_data(producer.one, packet)
        producer.seq[producer.one] += 1
    until('the first one to be stored', lambda: glob.glob(f'{relay.output}/**/session*/**/c_0', recursive=True))
    until('both to be stored', lambda: stored(relay, 'session*/**/c_0') == b'latelater')
    producer.data.close()


def session_ends(relay):
    producer = live(relay)
    producer.packet(producer.one, b'first', 1, 2)
    done(producer, producer.one)
    idle = Connection(relay.data)
    viewer = watch(relay)
    learn(viewer, producer)
    given(viewer, producer.one, INDEX_OK)
    producer.control.close()
    producer.data.close()
    given(viewer, producer.one, HUP)
    idle.close()


for function in late_packets, session_ends:
    with Relay() as one:
        function(one)
