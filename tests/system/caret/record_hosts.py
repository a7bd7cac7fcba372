#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: network
"""`kymo record --hosts` against trace nodes that are moved by hand (tests/caret), on three hosts: it starts, shows and ends
what is there, whoever comes late too, and says what is not as it was asked for. With agents it is tested in hosts.py."""
import json
import os
import pty
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_hosts import Network, alone
from lib_test import KYMO, until

WAIT, RECORD = '1', '3'


def node(host, name, domain):
    client = host.client('shell', '--listen', '--node', f'caret_trace_{name}', '--domain', str(domain))    # the last one counts
    client.trace_node = f'caret_trace_{name}'
    return client


def tell(client, state, watchers):
    client.matched('status', watchers)
    client.do('status', client.trace_node, state, str(client.pid))


def documents(program):
    """What --format json printed so far, one document a change."""
    text, result, decoder = program.output(), [], json.JSONDecoder()
    while text.strip():
        try:
            document, end = decoder.raw_decode(text.lstrip())
        except ValueError:
            break               # it is being written
        result.append(document)
        text = text.lstrip()[end:]
    return result


def states(program):
    """The last word on each host, by name: (state, processes, recorded)."""
    last = documents(program)[-1:]
    return {row['host']: (row['state'], row['processes'], row['recorded']) for row in last[0]['hosts']} if last else {}


def whole(network):
    domain, (near, far, desk) = 1, network.hosts
    one, two = node(near, 'one', domain), node(near, 'two', domain)
    record = desk.start_kymo('record', '--hosts', '--expect', '2', '--domain', str(domain), '--recording-frequency', '77',
                             '--format', 'json')
    for client in one, two:
        start = client.expect('start')
        assert start['frequency'] == 77 and start['filter'] == [''] * 4, start
        tell(client, RECORD, 3)
    until('both', lambda: [row['state'] for row in documents(record)[-1]['hosts']] == ['record'] * 2)
    # A host that comes late, and one that is no ROS: the first is started too.
    late = node(far, 'late', domain)
    late.expect('start')
    tell(late, WAIT, 4)
    until('a host that waits', lambda: states(record).get('host1') == ('wait', 1, 0))
    tell(late, RECORD, 4)
    until('all of them', lambda: states(record).get('host1') == ('record', 1, 1))
    # A host that dies, and one that comes back.
    two.kill()
    until('one that is gone', lambda: any(row['state'] == 'gone' for row in documents(record)[-1]['hosts']))
    record.process.send_signal(signal.SIGINT)
    for client, state in (one, WAIT), (late, RECORD):
        client.expect('end')
        tell(client, state, 3)
    record.wait()
    last = documents(record)[-1]
    assert last['phase'] == 'done', last
    found = {row['node']: (row['host'], row['state'], row['recorded'], row['pid']) for row in last['processes']}
    assert found == {'caret_trace_one': ('host0', 'wait', 1, one.pid), 'caret_trace_two': ('host0', 'gone', 1, two.pid),
                     'caret_trace_late': ('host1', 'record', 1, late.pid)}, found
    assert 'host1: 1 of 1 processes continue recording: a session is active there' in record.said(), record.said()
    for client in one, late:
        client.end()


def stuck(network):
    """Who stays in wait is named, with the remedy; nothing recorded is 6. One that never answers, as if its answer was lost, gets the
    Start again, and is not waited for long."""
    domain, (near, far, desk) = 2, network.hosts
    waits, silent = node(near, 'waits', domain), node(far, 'silent', domain)
    record = desk.start_kymo('record', '--hosts', '--domain', str(domain))
    for client in waits, silent:
        client.expect('start')
    tell(waits, WAIT, 3)
    until('words about it', lambda: 'host1: 1 of 1 processes have not answered' in record.said())
    until('the Start again', lambda: len(silent.since('start')) > 1)
    assert 'host0: 1 of 1 processes stay in wait' in record.said() and 'kymo start --wait' in record.said(), record.said()
    assert 'starting 2 processes on 2 hosts' in record.said(), record.said()
    record.process.send_signal(signal.SIGINT)
    silent.expect('end')
    record.process.send_signal(signal.SIGINT)       # does not wait for the silent one
    record.wait(6)
    rows = [line.split()[:3] for line in record.output().splitlines()]
    assert rows[0] == ['host', 'state', 'processes'] and sorted(rows[1:]) == [['host0', 'wait', '1'], ['host1', 'unknown', '1']], \
        record.output()
    assert 'no process of any host recorded' in record.said(), record.said()
    for client in waits, silent:
        client.end()


def nobody(network):
    record = network.hosts[0].start_kymo('record', '--hosts', '--domain', '3')
    record.wait(6)
    assert 'no agent found in ROS domain 3' in record.said() and 'kymo agent' in record.said(), record.said()
    assert record.output() == '', record.output()


def interrupted(network):
    """Ctrl-C while it looks for hosts: nobody was asked for anything."""
    desk = network.hosts[2]
    watcher = node(desk, 'watcher', 4)
    record = desk.start_kymo('record', '--hosts', '--expect', '9', '--domain', '4')
    until('it is there', lambda: '1 of 9 hosts found' in record.said())
    record.end(signal.SIGTERM, 6)
    assert 'interrupted before a Start was sent' in record.said() and not watcher.since('start'), record.said()
    watcher.end()


def terminal(network):
    """On a terminal the table stays in its place, and stands there at the end. The domain comes from ROS_DOMAIN_ID."""
    host = network.hosts[1]
    client = node(host, 'shown', 5)
    master, slave = pty.openpty()
    record = subprocess.Popen([*host.there(), KYMO, 'record', '--hosts', '--duration', '300ms'], stdout=slave, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, env=dict(host.environment, ROS_DOMAIN_ID='5'), text=True)
    os.close(slave)
    client.expect('start')
    tell(client, RECORD, 2)
    client.expect('end')
    tell(client, WAIT, 2)
    shown = b''
    try:
        while data := os.read(master, 65536):
            shown += data
    except OSError:
        pass                    # nobody has it open any more
    said = record.communicate(timeout=300)[1]
    assert record.returncode == 0 and said == '', said
    screens = shown.decode().split('\033[H\033[2J')
    assert len(screens) > 3 and 'Ctrl-C ends the recordings' in shown.decode(), screens
    assert screens[-1].splitlines()[1].split() == ['host1', 'wait', '1', '1', '0', '0', '1'], screens[-1]
    os.close(master)
    client.end()


def usage(network):
    host = network.hosts[0]
    for words, part in ((['--hosts', '-o', 'trace'], 'with --hosts, which records nothing on this machine'),
                        (['--hosts', '--', 'true'], '--hosts records nothing on this machine'),
                        (['--hosts', '--domain', '233'], "invalid ROS domain '233'"),
                        (['--hosts', '--expect', '1000'], 'at most 256 hosts'),
                        (['--expect', '3'], 'require --hosts')):
        done = host.start_kymo('record', *words)
        done.wait(2)
        assert part in done.said(), done.said()
    assert 'ROS_DOMAIN_ID' in subprocess.run([KYMO, 'record', '--hosts'], env=dict(host.environment, ROS_DOMAIN_ID='x'), text=True,
                                             stderr=subprocess.PIPE, timeout=300).stderr


def main():
    alone(__file__)
    with Network(3) as network:
        network.together(whole, stuck, nobody, interrupted, terminal, usage)


main()
