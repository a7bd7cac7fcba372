#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, network
"""kymo record --relay, over TCP and with datagrams, through a cable that delays, reorders, duplicates and loses: while it
is cut, while the relay is killed and begun again, and while the recorder is. Afterwards every event is stored once, or
counted as lost on the way, to the event; over TCP none is lost."""
import functools
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
from lib_net import FAR, Cable, private
from lib_numbers import check
from lib_send import DatagramRelay, account, begin, lost_by_now, until_connected, until_noted


def cut(place, cable, relay, url, recorder):
    cable.cut()
    until_noted(place, 500)
    cable.restore()
    return recorder


def relay_killed(place, cable, relay, url, recorder):
    """Behind a cut: the sender learns of it when the cable is mended."""
    cable.cut()
    relay.kill()
    until_noted(place, 300)
    cable.restore()
    relay.begin()
    return recorder


def recorder_killed(place, cable, relay, url, recorder):
    """
    Nor does the relay learn of that before. The next recorder asks what is stored, and lost, of the first one's; what that
    had counted as lost already is in its spool.
    """
    if url.startswith('udp'):
        lib.wait_for('losses that are counted', lambda: lost_by_now(place))
    cable.cut()
    until_noted(place, 100)
    recorder.kill()
    recorder.wait()
    until_noted(place, 200)
    cable.restore()
    return place.recorder('--relay', url)


def scene(fault, scheme, cable, place):
    with DatagramRelay('--insecure', host=FAR, inside=cable.there()) as relay:
        cable.set(delay=2, jitter=5, loss=10000, duplicate=20000)
        url = relay.datagram_url('robot') if scheme == 'udp' else relay.url('robot')
        recorder, program = begin(place, url)
        until_connected(place)
        until_noted(place, 500)
        recorder = fault(place, cable, relay, url, recorder)
        until_connected(place)
        until_noted(place, 300)
        lost = account(place, recorder, program, relay, sessions=1 if fault is cut else 2)
        check(scheme == 'udp' or not lost, 'over TCP %d events were lost', lost)
        print(f'{fault.__name__}, {scheme}: {lost} of {sum(place.noted())} events were lost on the way')


def scenes(cable):
    for fault in cut, relay_killed, recorder_killed:
        for scheme in 'net', 'udp':
            one = functools.partial(scene, fault, scheme, cable)
            one.__name__ = f'{fault.__name__}, {scheme}'
            yield one


def main():
    why = private(__file__)
    if why:
        print(f'skipped: {why}')
        return 77
    with Cable() as cable:
        lib.main('send_cable.py', *scenes(cable))
        count = cable.count()
        assert min(count.values()) > 0, count
        print('the cable:', ', '.join(f'{count[what]} {what}' for what in count))
    return 0


if __name__ == '__main__':
    sys.exit(main())
