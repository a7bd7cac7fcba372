#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: network
"""A relay whose disk is full, or that may not write larger files: what it has is whole, and the recorder's account is exact:
each event is stored, was dropped by the program, or is in the number of events that the relay could not store."""
import os
import re
import resource
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
from lib_numbers import check
from lib_send import DROPPED, LOST, DatagramRelay, KymoRelay, begin, read, until_connected, until_noted
from lib_test import KYMO

UNSTORED = re.compile(r'could not store (\d+) packets with (\d+) events')
SMALL = 100000          # bytes of a file, so that a packet is cut somewhere
# What puts a command where a directory is a small disk.
SMALL_DISK = ('unshare', '--mount', 'sh', '-c', 'mount -t tmpfs -o size=800k none "$0" && exec "$@"')


class Limited:
    """A relay that may not write larger files. Python ignores SIGXFSZ, and so does the relay."""

    def begin(self):
        """The thread sanitizer writes a large file before main()."""
        super().begin()
        before = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (SMALL, before[1]))


class LimitedRelay(Limited, KymoRelay):
    pass


class LimitedDatagramRelay(Limited, DatagramRelay):
    pass


def full(relay):
    lib.wait_for('a full disk', lambda: 'its packets count as lost' in relay.said())


def whole(session):
    """No file has more than its index, to which babeltrace2 would object."""
    done = subprocess.run(['babeltrace2', session], capture_output=True, text=True, timeout=300)
    check(done.returncode == 0, 'babeltrace2: %s', done.stderr[-1000:])
    check('indexed size' not in done.stderr and 'ERROR' not in done.stderr, 'babeltrace2: %s', done.stderr[-1000:])


def account(place, recorder, program, session):
    """Ends both. Return: how many events the relay could not store."""
    lib.end_well(program)
    status, said = lib.end(recorder)
    check(status == 0, 'the recorder ended with %d: %s', status, said)
    whole(session)
    found = [set(numbers) for numbers in read(session)]
    missing = sum(place.noted()) - sum(map(len, found))
    unstored, dropped, lost = (re.search(pattern, said) for pattern in (UNSTORED, DROPPED, LOST))
    check(unstored, 'the recorder says nothing: %s', said)
    counted = int(unstored[2]) + sum(int(some[group]) for some, group in ((dropped, 1), (lost, 2)) if some)
    check(missing == counted, '%d events are missing, %d are counted: %s', missing, counted, said)
    return int(unstored[2])


def limited(place, kind, scheme):
    with kind() as relay:
        url = relay.datagram_url('robot') if scheme == 'udp' else relay.url('robot')
        recorder, program = begin(place, url, rate=20000)
        until_connected(place)
        full(relay)
        until_noted(place, 5000)
        lib.wait_for('the account of a running recorder', lambda: lost_there(place))
        unstored = account(place, recorder, program, relay.stored('robot')[0])
        sizes = [os.stat(os.path.join(where, name)).st_size for where, _, names in os.walk(relay.output) for name in names]
        check(max(sizes) <= SMALL, 'a file has %d bytes', max(sizes))
        print(f'{scheme}, small files: {unstored} of {sum(place.noted())} events could not be stored')


def lost_there(place):
    return int(re.search(r'"lost_there": *(\d+)', place.kymo('status', '--format', 'json', '-i', '0'))[1])


def tcp_small_files(place):
    limited(place, LimitedRelay, 'net')


def udp_small_files(place):
    limited(place, LimitedDatagramRelay, 'udp')


def small_disk(place, kind, scheme):
    """On a full disk there is no room for a note about a lost packet either."""
    with tempfile.TemporaryDirectory(prefix='kymo-full-') as disk:
        with kind(inside=(*SMALL_DISK, disk)) as relay:
            relay.kill()
            relay.output = os.path.join(disk, 'traces')
            relay.begin()
            relay.output = f'/proc/{relay.process.pid}/root{disk}/traces'
            url = relay.datagram_url('robot') if scheme == 'udp' else relay.url('robot')
            recorder, program = begin(place, url, rate=20000)
            until_connected(place)
            full(relay)
            until_noted(place, 5000)
            unstored = account(place, recorder, program, relay.stored('robot')[0])
            print(f'{scheme}, small disk: {unstored} of {sum(place.noted())} events could not be stored')


def tcp_small_disk(place):
    small_disk(place, KymoRelay, 'net')


def udp_small_disk(place):
    small_disk(place, DatagramRelay, 'udp')


def last_line(place):
    """What a user reads last is not that all was sent."""
    with LimitedRelay() as relay:
        place.environment['KYMO_SPOOL_DIR'] = place.at('spool')
        recorder = place.start(KYMO, 'record', '--relay', relay.url('robot'), stderr=subprocess.PIPE, text=True)
        program = place.numbers(rate=20000)
        until_connected(place)
        full(relay)
        until_noted(place, 5000)
        lib.end_well(program)
        status, said = lib.end(recorder)
        unstored, last = UNSTORED.search(said), said.splitlines()[-1]
        check(status == 0 and unstored, '%d: %s', status, said)
        check(last.startswith('sent: ') and last.endswith(f'does not have {unstored[2]} of the events'), '%s', said)


may_mount = subprocess.run([*SMALL_DISK, '/tmp', 'true'], capture_output=True).returncode == 0
if not may_mount:
    print('skipped in part: no small disk can be mounted')
lib.main('relay_full.py', tcp_small_files, udp_small_files, last_line, *([tcp_small_disk, udp_small_disk] if may_mount else []))
