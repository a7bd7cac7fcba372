#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: network
"""`kymo relay` between a real lttng-consumerd and real viewers when things go wrong: a cable that delays, reorders,
duplicates and loses, that is cut and mended; a relay and a producer that are killed; viewers that do not read, or
vanish. What was sent is stored and shown, each event once; what ends early ends between two packets."""
import os
import re
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_relay
from lib_lttng import LTTNG, Watcher, begin, check, consumers, emit, finish, missing, run, sessiond
from lib_net import FAR, NEAR, Cable, private
from lib_relay import INDEX_OK, Producer, Relay, Viewer
from lib_test import KYMO, until


def stored(relay):
    """The texts of the events in the relay's directory, by the reader that forgives nothing."""
    return re.findall(r'msg = "([^"]*)"', run('babeltrace2', relay.output))


def check_beginning(what, events, name, least):
    """Events of a program are there from the first to some last one, each once."""
    numbers = [int(text.split()[1]) for text in events if text.split()[0] == name]
    assert numbers == list(range(len(numbers))), f'{what}: {numbers[:5]} ... {numbers[-5:]}'
    assert len(numbers) >= least, f'{what}: {len(numbers)} events, {least} were shown before'
    return len(numbers)


def seen(watcher, count):
    """Waits until a viewer has shown @count events."""
    until(f'{count} events at a viewer', lambda: len(watcher.lines()) >= count)


def weather(cable):
    with Relay('--insecure', host=FAR, inside=cable.there()) as relay:
        cable.set(delay=3, jitter=8, loss=10000, duplicate=20000)
        begin(relay, 'weather')
        program = emit('storm', 600, 1000)
        watchers = [Watcher(relay, 'weather'), Watcher(relay, 'weather', cable.there())]
        assert program.wait(300) == 0
        finish('weather')
        for watcher in watchers:
            check('a viewer in bad weather', watcher.events(), {'storm': 600})
        check('what is stored in bad weather', stored(relay), {'storm': 600})
        cable.set(delay=0, jitter=0, loss=0, duplicate=0)
    count = cable.count()
    assert min(count.values()) > 0, count
    print('weather: 600 events through a cable with', ', '.join(f'{count[what]} {what}' for what in count))


def cut_and_mended(cable):
    with Relay('--insecure', host=FAR, inside=cable.there()) as relay:
        begin(relay, 'cut')
        first = emit('before', 100, 1000)
        watcher = Watcher(relay, 'cut')
        seen(watcher, 20)
        cable.cut()
        # What the program does while the relay is out of reach stays in its buffers.
        assert emit('meanwhile', 200, 500).wait(300) == 0
        assert first.wait(300) == 0
        cable.restore()
        assert emit('after', 50, 500).wait(300) == 0
        finish('cut')
        wanted = {'before': 100, 'meanwhile': 200, 'after': 50}
        check('a viewer through a cut', watcher.events(), wanted)
        check('stored through a cut', stored(relay), wanted)
    print('cut: 350 events before, while and after')


def relay_killed(cable):
    """LTTng does not come back to a relay that went: what is there is whole, and the next session is."""
    with Relay('--insecure', host=FAR, inside=cable.there()) as relay:
        begin(relay, 'killed')
        program = emit('one', 2000, 500, pinned=True)
        watcher = Watcher(relay, 'killed')
        seen(watcher, 50)
        relay.kill()
        watcher.process.wait(300)
        shown = len([line for line in watcher.lines() if 'msg = ' in line])
        relay.again()
        there = check_beginning('behind a relay that was killed', stored(relay), 'one', shown)
        program.kill()
        program.wait(300)
        subprocess.run(LTTNG + ['destroy', 'killed'], capture_output=True)
        begin(relay, 'next')
        assert emit('two', 100, 500).wait(300) == 0
        finish('next')
        check('the session after', Watcher(relay, 'next').events(), {'two': 100})
        assert check_beginning('what was there', stored(relay), 'one', shown) == there
    print(f'relay killed: {there} events are whole, of {shown} shown; the next session is complete')


def slow_and_vanished_viewers(cable):
    """One asks without taking answers; one is gone behind a cut. Nobody notices."""
    with Relay('--insecure', host=NEAR) as relay:
        producer = Producer(relay).create(name='viewed')
        one, meta = producer.stream('c_0'), producer.stream('metadata')
        producer.sent()
        producer.metadata(meta, b'metadata')
        block = os.urandom(200000)
        for i in range(50):
            producer.packet(one, block, i, i + 1)
        until('what is pending', lambda: producer.pending(one) == 0)
        script = ('import sys; sys.path.insert(0, sys.argv[1]); from lib_relay import Viewer; v = Viewer(int(sys.argv[3]), '
                  'host=sys.argv[2]); v.create(); v.attach(int(sys.argv[4])); print("attached", flush=True); sys.stdin.read()')
        gone = subprocess.Popen([*cable.there(), sys.executable, '-c', script, os.path.dirname(lib_relay.__file__), NEAR, str(relay.live),
                                 str(producer.session)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert gone.stdout.readline() == 'attached\n'
        cable.cut()
        gone.kill()
        gone.communicate()
        slow = attached(relay, producer)
        assert slow.next_index(one)[0] == INDEX_OK
        for _ in range(600):            # 120 MB of answers
            slow.ask_packet(one, 0, len(block))
        before = memory(relay)
        quick = attached(relay, producer)
        for i in range(50):
            index = quick.next_index(one)
            assert index[0] == INDEX_OK and quick.packet(one, index[2], len(block)) == (1, block), i
        producer.packet(one, b'goes on', 50, 51)
        until('what is pending', lambda: producer.pending(one) == 0)
        assert [session[2] for session in quick.sessions()] == [3]
        assert memory(relay) < before + (48 << 20), (before, memory(relay))
        for _ in range(600):            # and now it takes them
            assert slow.take_packet() == (1, block)
        assert slow.next_index(one)[0] == INDEX_OK
        cable.restore()
    print('viewers: one did not read for a while, one vanished, one and the producer did not notice')


def attached(relay, producer):
    viewer = Viewer(relay.live, host=relay.host)
    viewer.create()
    assert viewer.attach(producer.session)[0] == 1
    return viewer


def memory(relay):
    """Resident bytes."""
    with open(f'/proc/{relay.process.pid}/statm') as statm:
        return int(statm.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def consumer_killed():
    """Last of all: the session daemon does not get over it."""
    with Relay() as relay:
        begin(relay, 'orphan')
        program = emit('one', 4000, 500, pinned=True)
        watchers = [Watcher(relay, 'orphan'), Watcher(relay, 'orphan')]
        seen(watchers[0], 50)
        victims = consumers()
        assert victims
        for consumer in victims:
            os.kill(consumer, signal.SIGKILL)
        shown = [watcher.events() for watcher in watchers]  # which end by themselves: the session is over
        there = stored(relay)
        count = check_beginning('behind a consumer that was killed', there, 'one', 50)
        assert shown == [there, there], ([len(events) for events in shown], len(there))
        late = Watcher(relay, 'orphan').events()
        assert late == there, len(late)
        text = run(KYMO, 'info', only_trace(relay.output))
        assert f'\nEvents: {count}\n' in text and '\nMissing packets: 0\n' in text, text
        program.kill()
        program.wait(300)
    print(f'consumer killed: {count} events are stored, and shown to three viewers')


def only_trace(output):
    found = [path for path, _, files in os.walk(output) if 'metadata' in files]
    assert len(found) == 1, found
    return found[0]


def main():
    why = missing() or private(__file__, lttng=True)
    if why:
        print(f'skipped: {why}')
        return 77
    with Cable() as cable:
        slow_and_vanished_viewers(cable)
        with sessiond():
            weather(cable)
            cut_and_mended(cable)
            relay_killed(cable)
        with sessiond():
            consumer_killed()
    return 0


if __name__ == '__main__':
    sys.exit(main())
