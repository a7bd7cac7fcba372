#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, network
"""The tests' own CARET command line (tests/caret), on three hosts, against trace nodes that are moved by hand: it does what
`ros2 caret record` does, in its order, with everything a trace node may answer. It judges others, so it is judged first."""
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_hosts import Network, alone
from lib_test import until

PREPARE, RECORD = '2', '3'


def names(events):
    return [event['event'] for event in events if event['event'] not in ('graph', 'status', 'matched')]


def whole(network):
    """The nodes of two hosts are counted and awaited; one that comes later is not, and neither is one that is no ROS."""
    near, far, cli = network.hosts
    nodes = [host.client('shell', '--listen', '--node', f'caret_trace_{host.number}') for host in (near, far)]
    other = near.client('shell', '--node', 'talker')
    alien = far.client('shell', '--node', 'caret_trace_alien', '--no-enclave')
    record = cli.client('record', '-f', '4000', '-v', '--begin', f'touch {cli.root}/begun',
                        '--finish', f'mv {cli.root}/begun {cli.root}/finished')
    until('both nodes', lambda: record.nodes() == ['caret_trace_0', 'caret_trace_1'])
    record.matched('start', 2)
    record.write()
    found = record.expect('sent start') and record.expect('found')
    assert found['nodes'] == ['caret_trace_0', 'caret_trace_1'], found
    for node in nodes:
        start = node.expect('start')
        assert start['frequency'] == 4000 and start['filter'] == [''] * 4, start
    late = near.client('shell', '--node', 'caret_trace_late')
    until('the late node', lambda: 'caret_trace_late' in record.nodes())
    for node in *nodes, late:
        node.matched('status', 6)
    for node, name in zip(nodes, found['nodes']):
        node.do('status', name, PREPARE, '7')
        record.expect('status', lambda event: event['status'] == 'PREPARE' and event['node'] == name)
        node.do('status', name, RECORD, '7')
        if name == found['nodes'][0]:
            late.do('status', 'caret_trace_late', RECORD)
            unknown = record.expect('status', lambda event: event['node'] == 'caret_trace_late')
            assert not unknown['known'] and not record.since('all started'), 'it does not wait for all'
    record.expect('all started')
    states = [(event['node'], event['status']) for event in record.since('status') if event['known']]
    assert states == [(name, state) for name in found['nodes'] for state in ('PREPARE', 'RECORD')], states
    record.expect('press enter to stop')
    record.write()
    for node in nodes:
        node.expect('end')
    assert os.path.exists(f'{cli.root}/finished'), 'End before the session ended'
    record.wait()
    assert names(record.events()) == ['joined', 'press enter to start', 'found', 'sent start', 'all started',
                                      'press enter to stop', 'sent end'], record.events()
    for program in *nodes, other, alien, late:
        program.end()


def alone_on_the_network(network):
    """Nobody there: it does not wait. A session that does not begin: it gives up, with success."""
    host = network.hosts[0]
    record = host.client('record', '--immediate')
    record.expect('press enter to stop')
    assert record.expect('found')['nodes'] == [] and record.since('all started')
    record.write()
    record.wait()
    refused = host.client('record', '--immediate', '--begin', 'false', '--init-retry-num', '1')
    refused.wait()
    assert names(refused.events()) == ['joined', 'failed to init'], refused.events()


def raw(network):
    """Bytes go as they are: those of a Start are one, others are none and break nobody."""
    sender, receiver = (network.hosts[i].client('shell', '--listen', '--node', f'caret_trace_{i}') for i in (0, 1))
    until('each other', lambda: all(len(client.nodes()) == 2 for client in (sender, receiver)))
    sender.matched('end', 2)
    empty = '0100000000000000'
    for nonsense in '00', 'ffffffff' * 64, '2a000000' 'ffffff7f' '6100':
        sender.do('raw', 'start', nonsense)
    sender.do('raw', 'start', '2a000000' + '0200000061000000' + empty * 3)
    start = receiver.expect('start')
    assert start['frequency'] == 42 and start['filter'] == ['a', '', '', ''], start
    sender.do('end')
    receiver.expect('end')
    assert len(receiver.since('start')) == 1, receiver.events()
    for program in sender, receiver:
        program.end()


def humble(network):
    """Gids of 24 bytes are another type on the wire: each sees the nodes of its own kind."""
    old, older, new = (network.hosts[i].client('shell', '--node', f'caret_trace_{i}', *(['--humble'] if i < 2 else []))
                       for i in range(3))
    until('each other', lambda: all(client.nodes() == ['caret_trace_0', 'caret_trace_1'] for client in (old, older)))
    until('itself', lambda: new.nodes() == ['caret_trace_2'])
    for program in old, older, new:
        program.end()


def main():
    alone(__file__)
    with Network(3) as network:
        for scenario in whole, alone_on_the_network, raw, humble:
            scenario(network)


main()
