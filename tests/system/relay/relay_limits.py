#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Limits of a relay that are given on its command line: who asks for more is refused, the others go on."""
import os
import struct
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_relay import OK, SEND_METADATA, Connection, Producer, Relay, Viewer
from lib_test import KYMO, until


def check_connections():
    with Relay('--max-connections', '3') as relay:
        producer = Producer(relay).create()             # two of them
        third = Viewer(relay.live)
        assert Connection(relay.live).is_closed()
        assert 'the limit of 3 connections is reached' in relay.said()
        third.create()                                  # those that are there go on
        producer.stream('c_0')
        third.close()
        until('room for another one', lambda: try_view(relay))
        producer.close()


def check_addresses():
    with Relay('--max-connections-each', '2') as relay:
        first, second = Viewer(relay.live), Connection(relay.control)
        assert Connection(relay.live).is_closed() and Connection(relay.data).is_closed()
        assert 'the limit of 2 connections from this address is reached' in relay.said()
        # 127.0.0.2 is somebody else than 127.0.0.25.
        others = [Connection(relay.live, source='127.0.0.25') for _ in range(2)]
        others += [Connection(relay.live, source='127.0.0.2') for _ in range(3)]
        assert others[4].is_closed()
        others[2].send(struct.pack('>QIIQIII', 20, 1, 0, 2**64 - 1, 2, 4, 1))
        assert len(others[2].read(20)) == 20
        first.create()                                  # who was there goes on
        second.close()
        until('room for another one', lambda: try_view(relay))


def check_sessions_and_streams():
    with Relay('--max-sessions', '1', '--max-streams', '2') as relay:
        first, second = Producer(relay).create(), Producer(relay)
        assert first.try_stream('c_0')[1] == OK and first.try_stream('metadata')[1] == OK
        assert first.try_stream('c_1')[1] == 11
        try:
            second.create(name='other')
            raise SystemExit('a second session was taken')
        except AssertionError as error:
            assert '25' in str(error), error
        first.close()                                   # the one that ended is forgotten for another
        until('its end', lambda: try_create(relay))


def try_view(relay):
    try:
        Viewer(relay.live).close()
        return True
    except (EOFError, OSError):
        return False


def try_create(relay):
    producer = Producer(relay)
    try:
        producer.create(name='third')
        return True
    except AssertionError:
        return False
    finally:
        producer.close()


def check_requests():
    with Relay('--max-request', '4K', '--max-requests', '300K') as relay:
        producer = Producer(relay).create()
        meta = producer.stream('metadata')
        producer.metadata(meta, bytes(4096 - 12))
        until('metadata', lambda: producer.pending(meta, -1) == 0)
        producer.request(SEND_METADATA, struct.pack('>QI', meta, 0) + bytes(4096 - 11))
        assert producer.control.is_closed()
        assert 'the limit is 4096' in relay.said()


def main():
    check_connections()
    check_addresses()
    check_sessions_and_streams()
    check_requests()
    result = subprocess.run([KYMO, 'relay', '--max-request', 'much'], capture_output=True, text=True)
    assert result.returncode == 2, result
    return 0


if __name__ == '__main__':
    sys.exit(main())
