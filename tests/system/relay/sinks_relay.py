#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""kymo sink add net://...: relays, kymo's and lttng-relayd, that come and go while a recorder runs. Each has all facts, and each
event from its beginning to its end once; what takes its time at the end does not hold up the recorder."""
import json
import os
import re
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
import lib_send
from lib_numbers import check
from lib_test import KYMO


def place_for(place, *options):
    place.environment['KYMO_SPOOL_DIR'] = place.at('spool')
    recorder = place.recorder('-o', place.at('local'), *options)
    return recorder, place.numbers(rate=2000)


def sink(place, number):
    return next((one for one in place.sinks() if one['number'] == number), None)


def grown(place, number, events=500):
    lib.wait_for('events in sink %d' % number, lambda: sink(place, number)['recorded'] >= events)


def add(place, *arguments):
    """Return: (its number, what was said)"""
    done = subprocess.run([KYMO, 'sink', 'add', *arguments], env=place.environment, capture_output=True, text=True, timeout=300)
    check(done.returncode == 0, 'kymo sink add %s: %s', arguments, done.stderr)
    return place.sinks()[-1]['number'], done.stderr


def section(place, relay, session, whole, recorded):
    """The relay has one session, in which each thread has a piece without a gap of what the trace here has; as many as were told."""
    stored = relay.stored(session)
    check(len(stored) == 1, 'sessions: %s', stored)
    found, lost = lib_send.complete(stored)
    for thread, numbers in enumerate(found):
        check(numbers, '%s has nothing of thread %d', relay.name, thread)
        at = whole[thread].index(numbers[0])
        check(whole[thread][at:at + len(numbers)] == numbers, '%s: thread %d has something else than the trace here', relay.name, thread)
    check(sum(map(len, found)) == recorded, '%s has %d, %d were told', relay.name, sum(map(len, found)), recorded)
    return found, lost


def remove(place, *name):
    """Return: events that the sink has, as it says itself."""
    done = subprocess.run([KYMO, 'sink', 'remove', *name], env=place.environment, capture_output=True, text=True, timeout=300)
    check(done.returncode == 0, 'kymo sink remove %s: %s', name, done.stderr)
    return int(done.stderr.split()[0]), done.stderr


def come_and_go(place):
    """All kinds of relay beside each other, one that stays to the end; babeltrace2 watches."""
    with lib_send.KymoRelay() as first, lib_send.RELAYS[-1]() as second:
        recorder, program = place_for(place)
        grown(place, 1)
        a, said = add(place, first.url('one'))
        check('as host/%s/one' % lib_send.HOST in said, 'said: %s', said)
        b, _ = add(place, second.url('two'))
        c, _ = add(place, first.url('three'), '--live-timer', '20ms')
        watcher = first.watch('one')
        for number in (a, b, c):
            grown(place, number)
        status = json.loads(place.kymo('status', '--format', 'json', '-i', '0'))['relays']
        check([(row['sink'], row['session'].split('/')[2], row['state']) for row in status] ==
              [(a, 'one', 'connected'), (b, 'two', 'connected'), (c, 'three', 'connected')], 'status: %s', status)
        one, _ = remove(place, first.url('one'))
        two, _ = remove(place, str(b))
        check([sink['number'] for sink in place.sinks()] == [1, c], 'there are %s', place.sinks())
        grown(place, c, sink(place, c)['recorded'] + 500)
        lib.end_well(program)
        lib.end_well(recorder)
        whole, lost, _ = lib.babeltrace(place.at('local'))
        check(not lost and sum(map(len, whole)) == sum(place.noted()), 'here are %d of %d', sum(map(len, whole)), sum(place.noted()))
        found, _ = section(place, first, 'one', whole, one)
        watcher.check(found, True)
        section(place, second, 'two', whole, two)
        found, _ = lib_send.complete(first.stored('three'))
        check([numbers[-1:] for numbers in found] == [numbers[-1:] for numbers in whole], 'the last ended before the recording')
        print(f'{one} and {two} events at relays that went, {sum(map(len, found))} at one that stayed')


def gone(place):
    """One that is not there is said, and holds up nobody; when it is there, it has what waited. What is left goes on when it is removed."""
    with lib_send.KymoRelay() as relay:
        relay.kill()
        recorder, program = place_for(place)
        number, said = add(place, relay.url('late'), '--linger', '2s')
        check('cannot reach' in said and 'refused' in said, 'said: %s', said)
        grown(place, number)
        relay.begin()
        lib.wait_for('the relay', lambda: sink(place, number)['relay'] == 'connected')
        told, _ = remove(place, str(number))
        # One that stands still takes as long as --linger; the recorder goes on, and others can be asked.
        number, _ = add(place, relay.url('slow'), '--linger', '2s')
        grown(place, number)
        relay.pause()
        before = sink(place, number)['recorded']
        grown(place, number, before + 500)
        removal = place.start(KYMO, 'sink', 'remove', str(number), stderr=subprocess.PIPE, text=True)
        lib.wait_for('its end', lambda: sink(place, number)['state'] == 'ends')
        here = sink(place, 1)['recorded']
        lib.wait_for('others to go on', lambda: sink(place, 1)['recorded'] > here + 500)
        check(removal.poll() is None, 'it did not wait for the relay')
        _, said = removal.communicate(timeout=300)
        check(removal.returncode == 0 and 'did not confirm' in said, '%s: %s', removal.returncode, said)
        check(not sink(place, number), 'it is still there: %s', place.sinks())
        relay.go_on()
        lib.end_well(program)
        status, said = lib.end(recorder)
        check(status == 0, 'the recorder: %d %s', status, said)
        whole, _, _ = lib.babeltrace(place.at('local'))
        section(place, relay, 'late', whole, told)


def ended_meanwhile(place):
    """A recording that ends while a sink is being removed: who waits is told, and what is left stays for the next."""
    with lib_send.KymoRelay() as relay:
        recorder, program = place_for(place)
        number, _ = add(place, relay.url('cut'), '--linger', '2s')
        grown(place, number)
        relay.pause()
        grown(place, number, sink(place, number)['recorded'] + 200)
        removal = place.start(KYMO, 'sink', 'remove', str(number), stderr=subprocess.PIPE, text=True)
        lib.wait_for('its end', lambda: sink(place, number)['state'] == 'ends')
        lib.end_well(program)
        status, said = lib.end(recorder)
        check(status == 0 and 'the next recorder that uses this relay sends them' in said, 'the recorder: %d %s', status, said)
        _, said = removal.communicate(timeout=300)
        check(removal.returncode == 1 and 'the recording ends before' in said, '%s: %s', removal.returncode, said)
        relay.go_on()


def other_ways(place):
    """Datagrams, and TLS with a token, whose files are read by the recorder, wherever it is."""
    secret = lib_send.token(place, 'token', '0123456789abcdef')
    tls = lib_send.certificate(place)
    with lib_send.KymoRelay('--datagram', str(lib_send.free_port())) as plain, \
            lib_send.KymoRelay('--token-file', secret, *(('--tls-cert', place.at('cert.pem'), '--tls-key', place.at('key.pem')) if tls else ())) as closed:
        recorder, program = place_for(place)
        url = closed.url('closed', 'nets' if tls else 'net').replace('127.0.0.1', 'localhost')
        os.chdir(place.path)
        number, said = add(place, url, '--token-file', 'token', *(('--tls-ca', 'cert.pem') if tls else ()))
        check('as host/' in said, 'said: %s', said)
        datagrams, said = add(place, f'udp://127.0.0.1:{plain.control}/loose')
        check('as host/' in said, 'said: %s', said)
        grown(place, number)
        grown(place, datagrams)
        told, _ = remove(place, url)
        sent, said = remove(place, str(datagrams))
        lost = re.search(r'(\d+) events were lost on the way', said)
        lib.end_well(program)
        lib.end_well(recorder)
        whole, _, _ = lib.babeltrace(place.at('local'))
        section(place, closed, 'closed', whole, told)
        section(place, plain, 'loose', whole, sent - int(lost[1] if lost else 0))


def misuse(place):
    place.environment['KYMO_SPOOL_DIR'] = place.at('spool')
    place.kymo('sink', 'add', 'net://127.0.0.1:1/x', status=6)
    with lib_send.KymoRelay() as relay:
        recorder = place.recorder('-o', place.at('trace'))
        for url in ('http://127.0.0.1/x', 'net://', 'net://127.0.0.1:0/x', 'net://127.0.0.1/a/b'):
            place.kymo('sink', 'add', url, status=2)
        for option in (('--max-size', '1G'), ('--live-timer', '0.1ms'), ('--spool', '1K'), ('--tls-pin', '00')):
            place.kymo('sink', 'add', relay.url('x'), *option, status=2)
        place.kymo('sink', 'add', relay.url('x'), '--token-file', place.at('none'), status=3)
        place.kymo('sink', 'add', place.at('dir'), '--live-timer', '4ms', status=2)
        place.kymo('sink', 'list', '--linger', '4s', status=2)
        place.kymo('sink', 'remove', relay.url('x'), status=3)
        add(place, relay.url('x'))
        place.kymo('sink', 'add', relay.url('x'), status=2)
        check(len(place.sinks()) == 2, 'there are %s', place.sinks())
        place.kymo('sink', 'remove', place.at('trace'))
        place.kymo('sink', 'remove', relay.url('x'), status=2)
        lib.end(recorder, signal.SIGTERM)


lib.main('sinks_relay.py', come_and_go, gone, ended_meanwhile, other_ways, misuse)
