#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Relays in a chain: what the first one has the last one gets, also when one between them was not there for a while; and in
a circle nothing goes round for ever."""
import os
import socket
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_relay import Producer, Relay, Viewer
from lib_test import until


def reserve():
    """Two ports that nobody else gets, and nobody listens at, until a relay does."""
    kept = []
    for _ in range(2):
        kept.append(socket.socket())
        kept[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept[-1].bind(('127.0.0.1', 0))
    return kept, [one.getsockname()[1] for one in kept]


class Placed(Relay):
    """At control and data ports that are known before."""

    def __init__(self, ports, *options):
        self.ports = ports
        super().__init__(*options)

    def begin(self, *ports):
        super().begin(*self.ports, 0)


def session(relay, count, name='chain'):
    producer = Producer(relay).create(name=name)
    producer.one, producer.two, producer.meta = (producer.stream(channel) for channel in ('c_0', 'c_1', 'metadata'))
    producer.sent()
    producer.metadata(producer.meta, b'metadata', padding=8)
    more(producer, 0, count)
    return producer


def packet_of(number):
    return b'%08d' % number * (1 + number % 50)


def more(producer, first, last):
    for number in range(first, last):
        producer.packet(producer.one, packet_of(number), 100 * number, 100 * number + 99, padding=8)
    producer.beacon(producer.two, 100 * last)


def watch(relay, name='chain'):
    """A viewer of the session of that name that is there last, when it is there with all its streams."""
    def attached():
        viewer = Viewer(relay.live)
        viewer.create()
        found = [one for one in viewer.sessions() if one[5] == name]
        if found:
            viewer.session = found[0][0]
            status, streams = viewer.attach(viewer.session)
            if status == 1 and len(streams) == 3:
                viewer.ids = {channel: stream for stream, _, _, _, channel in streams}
                return viewer
        viewer.close()
        return None
    return until('the session', attached)


def check_all(viewer, count, ended=False):
    one = viewer.ids['c_0']
    assert until('metadata', lambda: viewer.metadata(viewer.ids['metadata'])[1]) == b'metadata' + bytes(8)
    for number in range(count):
        index = until(f'packet {number}', lambda: (index := viewer.next_index(one))[0] == 1 and index)
        wanted = packet_of(number) + bytes(8)
        assert index[3] == 8 * len(wanted) and index[4] == 8 * (len(wanted) - 8) and index[5] == 100 * number, (number, index)
        assert viewer.packet(one, index[2], len(wanted)) == (1, wanted)
    if ended:
        until('the end', lambda: viewer.next_index(one)[0] == 3 and viewer.new_streams(viewer.session)[0] == 4)
    else:
        until('the beacon', lambda: (index := viewer.next_index(viewer.ids['c_1']))[0] == 5 and index[6] == 100 * count)
    viewer.close()


def to(relay):
    return ('--forward', f'net://127.0.0.1:{relay.control}:{relay.data}')


def check_chain():
    with Relay() as last, Relay(*to(last)) as second, Relay(*to(second)) as first:
        producer = session(first, 100)
        for relay in (first, second, last):
            check_all(watch(relay), 100)
        more(producer, 100, 130)
        check_all(watch(last), 130)
        producer.close()
        for relay in (first, second, last):
            check_all(watch(relay), 130, ended=True)


def check_gone():
    """Nobody is there, then somebody, who is killed; at last there is one again."""
    kept, ports = reserve()
    options = '--forward', f'net://127.0.0.1:{ports[0]}:{ports[1]}'
    with Relay(*options) as first:
        producer = session(first, 50)
        until('a line', lambda: 'is not sent on' in first.said())
        check_all(watch(first), 50)
        with Placed(ports) as last:
            check_all(watch(last), 50)
            last.process.kill()
            last.process.wait()
            last.process.stdout.close()
        more(producer, 50, 80)
        until('what is pending', lambda: producer.pending(producer.one) == 0)
        producer.close()
        with Placed(ports) as last:
            check_all(watch(last), 80, ended=True)
    for one in kept:
        one.close()


def check_circle():
    kept, ports = reserve()
    with Relay('--forward', f'net://127.0.0.1:{ports[0]}:{ports[1]}') as one:
        with Placed(ports, *to(one)) as two:
            producer = session(one, 20)
            check_all(watch(two), 20)
            # It comes back once, and is not sent on a second time.
            until('the one that came back', lambda: len(os.listdir(f'{one.output}/robot')) == 2)
            producer.packet(producer.one, packet_of(20), 2000, 2099, padding=8)
            check_all(watch(two), 20)
            assert len(os.listdir(f'{two.output}/robot')) == 1
            producer.close()
    for each in kept:
        each.close()


def main():
    check_chain()
    check_gone()
    check_circle()
    return 0


if __name__ == '__main__':
    sys.exit(main())
