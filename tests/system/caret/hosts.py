#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: network
"""CARET's multi-host sequences, step by step, between real agents on hosts of their own: `kymo agent` and a traced program on
each, driven by the tests' own command line of CARET (tests/caret). What ends where it should not, comes late, twice or
never: every scenario is a ROS domain with its hosts, and all run at the same time."""
import json
import os
import re
import signal
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_hosts import Network, alone
from lib_test import BUILD, KYMO, until

TALKER = os.path.join(BUILD, 'tests', 'talker')


class Robot:
    """A host with an agent and a traced program."""

    def __init__(self, host, domain, lease=None, agent=()):
        self.host, self.options, self.traces = host, agent, 0
        host.join(domain, lease)
        self.begin_agent()
        self.program = self.begin_program('first')
        self.node = self.node_of(self.program)

    def begin_agent(self):
        self.agent = self.host.start_kymo('agent', *self.options)
        until('the agent', lambda: 'serves ROS domain' in self.agent.output())

    def begin_program(self, name):
        program = self.host.start_kymo('run', '--', TALKER, name, f'/{name}')
        until('the program', lambda: 'ready' in program.output())
        return program

    def node_of(self, program):
        """The name of the node that stands for it, as the agent tells it."""
        found = until('its node', lambda: re.search(rf'process {program.pid} .*(caret_trace_\w+)', self.agent.output()))
        assert re.fullmatch(r'caret_trace_[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12}', found[1]), found[1]
        return found[1]

    def trace(self):
        return os.path.join(self.host.root, f'trace{self.traces}')

    def arm(self):
        """A session that waits for a Start."""
        self.traces += 1
        self.host.kymo('start', '--wait', '-o', self.trace())

    def caret(self, *options):
        """CARET's command line on this host, with kymo's session for LTTng's."""
        self.traces += 1
        return self.host.client('record', '-f', '10000', '--begin', f'{KYMO} start --wait -o {self.trace()} >/dev/null',
                                '--finish', f'{KYMO} stop 2>/dev/null >/dev/null', *options)

    def state(self):
        """Of the session; None: there is none."""
        return self.host.status().get('state')

    def recorded(self):
        return sum(process['recorded'] or 0 for process in self.host.status()['processes'])

    def goes_on(self):
        """It records: something more, now."""
        before = self.recorded()
        until('events', lambda: self.recorded() > before)

    def check_trace(self, names=('talker',), ended='ended in order'):
        info = json.loads(self.host.kymo('info', self.trace(), '--format', 'json'))
        assert {row['host'] for row in info['traces']} == {f'host{self.host.number}'}, info['traces']
        assert [row['name'] for row in info['processes']] == list(names), info['processes']
        assert info['recorded'] > 0 and not info['lost'] and not info['warnings'], info
        assert info['recorder'] == ended, info['recorder']
        return info


def told(watcher, *expected):
    """All of these (node, state) came since the mark."""
    until(f'{expected}', lambda: {(event['node'], event['status']) for event in watcher.since('status')} >= set(expected))


def only(watcher, robot, *states):
    """What a robot told since the mark, without repetitions; PREPARE may be overwritten by RECORD."""
    seen = [event['status'] for event in watcher.since('status') if event['node'] == robot.node]
    seen = [state for i, state in enumerate(seen) if not i or seen[i - 1] != state]
    assert seen == list(states) or seen == [state for state in states if state != 'PREPARE'], seen


def watch(host, domain, robots, programs=None):
    """A client that sees all and can be seen by all."""
    host.join(domain)
    watcher = host.client('shell')
    watcher.matched('start', len(robots))
    until('their nodes', lambda: watcher.nodes() == sorted(programs or [robot.node for robot in robots]))
    return watcher


def seed(network, hosts):
    """The sequence of two hosts as it is drawn: each with a command line of its own; the second starts and the first ends
    while the other one records."""
    one, two = (Robot(host, 1) for host in hosts)
    watcher = watch(hosts[0], 1, (one, two))
    # Host 0 starts: host 1 has no session, and ignores it. The command line waits for all nodes it counted.
    first = one.caret()
    first.matched('start', 2)
    until('both nodes', lambda: len(first.nodes()) == 2)
    watcher.mark()
    first.write()
    told(watcher, (one.node, 'RECORD'), (two.node, 'WAIT'))
    first.expect('status', lambda event: event['node'] == one.node and event['status'] == 'RECORD')
    assert sorted(first.expect('found')['nodes']) == sorted([one.node, two.node]) and not first.since('all started')
    only(watcher, one, 'PREPARE', 'RECORD')
    only(watcher, two, 'WAIT')
    assert one.state() == 'record' and two.state() is None
    # Host 1 starts: host 0 records already, and ignores it.
    second = two.caret()
    second.matched('start', 2)
    until('both nodes', lambda: len(second.nodes()) == 2)
    watcher.mark()
    second.write()
    told(watcher, (one.node, 'RECORD'), (two.node, 'RECORD'))
    only(watcher, one, 'RECORD')
    only(watcher, two, 'PREPARE', 'RECORD')
    for client in first, second:
        client.expect('all started')
    one.goes_on()
    # Host 0 ends: host 1 has a session, and ignores it.
    watcher.mark()
    first.write()
    told(watcher, (one.node, 'WAIT'), (two.node, 'RECORD'))
    first.wait()
    only(watcher, two, 'RECORD')
    assert one.state() is None and two.state() == 'record'
    two.goes_on()
    # Host 1 ends: host 0 is in WAIT, and stays.
    watcher.mark()
    second.write()
    told(watcher, (one.node, 'WAIT'), (two.node, 'WAIT'))
    second.wait()
    only(watcher, one, 'WAIT')
    for robot in one, two:
        robot.check_trace()
        assert robot.agent.running() and robot.program.running()


def doubled(network, hosts):
    """Each message again and again: a session begins once, and what is over stays over. Nobody has a session: all ignore."""
    robot = Robot(hosts[0], 2)
    watcher = watch(hosts[0], 2, (robot,))
    for message in 'start', 'end', 'end':
        watcher.mark()
        watcher.do(message, *(['100'] if message == 'start' else []))
        told(watcher, (robot.node, 'WAIT'))
        only(watcher, robot, 'WAIT')
    robot.arm()
    assert robot.state() == 'armed'
    watcher.mark()
    for _ in range(5):
        watcher.do('start', '100')
    told(watcher, (robot.node, 'RECORD'))
    generation = robot.host.status()['generation']
    for _ in range(3):
        watcher.mark()
        watcher.do('start', '0')
        told(watcher, (robot.node, 'RECORD'))
        watcher.mark()
        watcher.do('end')
        told(watcher, (robot.node, 'RECORD'))
        only(watcher, robot, 'RECORD')
    assert robot.host.status()['generation'] == generation
    watcher.mark()
    robot.host.kymo('stop')
    told(watcher, (robot.node, 'WAIT'))
    for _ in range(3):
        watcher.mark()
        watcher.do('end')
        told(watcher, (robot.node, 'WAIT'))
        only(watcher, robot, 'WAIT')
    robot.check_trace()


def lost(network, hosts):
    """A Start that never arrives leaves its host as it was, and the next one begins; one whose way is only broken for a moment
    is sent again by DDS."""
    near, far = Robot(hosts[0], 3), Robot(hosts[1], 3, lease='1s')
    watcher = watch(hosts[0], 3, (near, far))
    near.arm()
    far.arm()
    hosts[1].cut()
    until('that it is gone', lambda: watcher.nodes() == [near.node])
    watcher.do('start', '100')
    told(watcher, (near.node, 'RECORD'))
    hosts[1].plug()
    until('that it is back', lambda: len(watcher.nodes()) == 2)
    watcher.matched('start', 2)
    assert far.state() == 'armed' and near.state() == 'record'
    watcher.mark()
    watcher.do('start', '100')
    told(watcher, (near.node, 'RECORD'), (far.node, 'RECORD'))
    only(watcher, near, 'RECORD')
    for robot in near, far:
        robot.goes_on()
        robot.host.kymo('stop')
        robot.check_trace()


def repeated(network, hosts):
    robot = Robot(hosts[1], 4)
    watcher = watch(hosts[0], 4, (robot,))
    robot.arm()
    hosts[1].cut()
    watcher.do('start', '100')
    hosts[1].plug()
    told(watcher, (robot.node, 'RECORD'))
    robot.host.kymo('stop')


def crashes(network, hosts):
    """An agent, a recorder and a program are killed, in this order. The recording goes on without its agent, and the next
    agent tells the same names; without their recorder all wait; the others go on without a program."""
    robot = Robot(hosts[0], 5, lease='1s')
    watcher = watch(hosts[1], 5, (robot,))
    robot.arm()
    watcher.do('start', '100')
    told(watcher, (robot.node, 'RECORD'))
    robot.agent.kill()
    until('that it is gone', lambda: watcher.nodes() == [])
    assert robot.state() == 'record'
    robot.goes_on()
    watcher.mark()
    robot.begin_agent()
    assert robot.node_of(robot.program) == robot.node
    until('that it is back', lambda: watcher.nodes() == [robot.node])
    watcher.matched('start', 1)
    watcher.do('start', '100')
    told(watcher, (robot.node, 'RECORD'))
    only(watcher, robot, 'RECORD')
    # The recorder.
    watcher.mark()
    os.kill(robot.host.status()['recorder_pid'], signal.SIGKILL)
    told(watcher, (robot.node, 'WAIT'))
    watcher.mark()
    watcher.do('start', '100')
    told(watcher, (robot.node, 'WAIT'))
    json.loads(robot.host.kymo('info', robot.trace(), '--format', 'json'))
    robot.arm()
    watcher.mark()
    watcher.do('start', '100')
    told(watcher, (robot.node, 'RECORD'))
    # The program, beside another one that came late.
    late = robot.begin_program('late')
    late_node = robot.node_of(late)
    told(watcher, (late_node, 'RECORD'))
    until('both', lambda: watcher.nodes() == sorted([robot.node, late_node]))
    robot.program.kill()
    until('the late one alone', lambda: watcher.nodes() == [late_node])
    watcher.mark()
    watcher.do('start', '100')
    told(watcher, (late_node, 'RECORD'))
    robot.goes_on()
    robot.host.kymo('stop')
    told(watcher, (late_node, 'WAIT'))
    robot.check_trace(('talker', 'talker'))


def late(network, hosts):
    """Programs that come before a session, while it waits, and while it records: each is asked for, and none is missed."""
    robot = Robot(hosts[0], 6)
    watcher = watch(hosts[0], 6, (robot,))
    robot.arm()
    waiting = robot.node_of(robot.begin_program('waiting'))
    until('both', lambda: len(watcher.nodes()) == 2)
    told(watcher, (waiting, 'WAIT'))
    watcher.mark()
    watcher.do('start', '100')
    told(watcher, (robot.node, 'RECORD'), (waiting, 'RECORD'))
    watcher.mark()
    newcomer = robot.node_of(robot.begin_program('newcomer'))
    told(watcher, (newcomer, 'RECORD'))
    assert {event['status'] for event in watcher.since('status') if event['node'] == newcomer} == {'RECORD'}
    robot.host.kymo('stop')
    told(watcher, *((node, 'WAIT') for node in (robot.node, waiting, newcomer)))
    robot.check_trace(('talker',) * 3)


def from_elsewhere(network, hosts):
    """`kymo record --hosts` on a third host: two hosts wait for it, one has no session, and one is always ready."""
    desk = hosts[2]
    ready = Robot(hosts[3], 7, agent=('--active', 'always', '-o', os.path.join(hosts[3].root, 'traces')))
    robots = [*(Robot(host, 7) for host in hosts[:3]), ready]
    for robot in robots[:2]:
        robot.arm()
    record = desk.start_kymo('record', '--hosts', '--expect', '4', '--format', 'json')
    for robot in (*robots[:2], ready):
        until('a recording', lambda: robot.state() == 'record')
    assert robots[2].state() is None

    def rows():
        documents = record.output().split('\n}\n')
        return {row['host']: row for row in json.loads(documents[-2] + '\n}')['hosts']} if len(documents) > 1 else {}
    names = [f'host{host.number}' for host in hosts]
    until('all states', lambda: [rows().get(name, {}).get('state') for name in names] == ['record', 'record', 'wait', 'record'])
    for robot in robots[1], ready:
        robot.goes_on()
    robots[0].host.kymo('stop')
    until('one that ended', lambda: rows()[names[0]]['state'] == 'wait')
    record.process.send_signal(signal.SIGINT)
    record.wait()
    assert [(rows()[name]['state'], rows()[name]['recorded']) for name in names] == [
        ('wait', 1), ('record', 1), ('wait', 0), ('wait', 1)], rows()
    assert f'{names[1]}: 1 of 1 processes continue recording: a session is active there' in record.said(), record.said()
    # On a slow machine it has also said that one host stays in wait.
    said = [line for line in record.said().splitlines() if line.startswith('kymo record:') and 'stay in wait' not in line]
    assert len(said) == 1, record.said()
    until('its end', lambda: ready.state() is None)
    ready.trace = lambda: os.path.join(ready.host.root, 'traces', *os.listdir(os.path.join(ready.host.root, 'traces')))
    ready.check_trace()
    robots[1].goes_on()
    robots[1].host.kymo('stop')
    for robot in robots[:2]:
        robot.check_trace()


SCENARIOS = {seed: 2, doubled: 1, lost: 2, repeated: 2, crashes: 2, late: 1, from_elsewhere: 4}


def main():
    alone(__file__)
    with Network(sum(SCENARIOS.values()), lease='10s') as network:
        hosts, parts = list(network.hosts), []
        for scenario, count in SCENARIOS.items():
            mine, hosts = hosts[:count], hosts[count:]
            parts.append((scenario, mine))
        network.together(*parts)


main()
