#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: network
"""Programs of several ROS domains on one host, and one agent: a Start and an End concern those of their own domain. The others
are neither recorded nor told of, come they early or late, served by the agent or not."""
import json
import os
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_hosts import Network, alone
from lib_test import BUILD, KYMO, until

TALKER = os.path.join(BUILD, 'tests', 'talker')


class Robot:
    """A host with programs of domains 5, 6 and 7, an agent for 5 and 6, and CARET's side in both."""

    def __init__(self, host, *options):
        self.host, self.programs, self.domains = host, {}, {}
        self.base = 10 * host.number            # hosts are on one network, and not to hear each other
        for domain in 5, 6, 7:
            self.begin(domain, 'early')
        host.join(0)
        self.strange = host.start('env', f'KYMO_DIR={host.root}/strange', KYMO, 'run', '--', TALKER, 'strange', '/strange')
        until('the strange one', lambda: 'ready' in self.strange.output())
        self.agent = host.start_kymo('agent', '--domain', str(self.base + 5), '--domain', str(self.base + 6), *options)
        until('the agent', lambda: f'serves ROS domain {self.base + 6}' in self.agent.output())
        for domain in 5, 6:
            host.join(self.base + domain)
            client = self.domains[domain] = host.client('shell')
            client.matched('start', 1)
            client.matched('end', 1)
            client.matched('status', 1)
            until('its node', lambda: len(client.nodes()) == 1)

    def doctor(self):
        return {(row['check'], row['result'], row['found']) for row in json.loads(
            self.host.kymo('doctor', '--format', 'json', status=None))['checks']}

    def check_doctor(self):
        """It says what is served, what is not, and who is not seen; so does the agent, of the last."""
        found = self.doctor()
        strange = f'{self.host.root}/strange'
        for check in (('agent', 'ok', f'process {self.agent.pid} serves ROS domain {self.base + 5}, {self.base + 6}'),
                      ('agent', 'warning', f'1 program in ROS domains that it does not serve: {self.base + 7}'),
                      ('runtime directory', 'warning',
                       f'process {self.strange.pid} (talker) has another one, {strange}: it is not seen here')):
            assert check in found, (check, found)
        until('a word', lambda: self.agent.said())
        assert self.agent.said().count(f'process {self.strange.pid} (talker) has the runtime directory {strange}, so') == 1

    def begin(self, domain, name):
        self.host.join(self.base + domain)
        program = self.host.start_kymo('run', '--', TALKER, f'{name}{domain}', f'/{name}{domain}')
        until('the program', lambda: 'ready' in program.output())
        self.programs[f'{name}{domain}'] = program.pid

    def words(self):
        """The state of each program in shared memory; and how much of each is recorded."""
        found = {process['pid']: process for process in self.host.status()['processes']}
        return {name: found[pid]['state'] for name, pid in self.programs.items()}

    def recorded(self, name):
        return [process['recorded'] or 0 for process in self.host.status()['processes']
                if process['pid'] == self.programs[name]][0]

    def goes_on(self, name):
        before = self.recorded(name)
        until(f'events of {name}', lambda: self.recorded(name) > before)

    def expect(self, **words):
        until(f'{words}', lambda: {name: self.words()[name] for name in words} == words)

    def told(self, domain, *pids):
        """The states that came since the mark, in order, of processes of this domain only."""
        seen = self.domains[domain].since('status')
        assert {event['pid'] for event in seen} <= set(pids), (seen, pids)
        return [event['status'] for event in seen]

    def mark(self):
        for client in self.domains.values():
            client.mark()

    def start(self, domain):
        self.mark()
        self.domains[domain].do('start', '100')

    def end(self, domain):
        self.mark()
        self.domains[domain].do('end')

    def pids(self, domain):
        return [pid for name, pid in self.programs.items() if name.endswith(str(domain))]

    def until_told(self, domain, state, count=1):
        until(f'{state} in domain {domain}', lambda: self.told(domain, *self.pids(domain)).count(state) >= count)

    def counts(self, trace):
        """name of the program -> events of it in a trace; and what the trace says of the domains."""
        info = json.load(open(os.path.join(trace, 'kymo.json')))
        names = {pid: name for name, pid in self.programs.items()}
        domains = {names[process['pid']]: process['ros_domain'] for process in info['processes'] if process['pid'] in names}
        assert all(name.endswith(str(domain - self.base)) for name, domain in domains.items()), domains
        return {names[process['pid']]: process['recorded'] for process in info['processes']
                if process['pid'] in names}, info.get('ros_domains')


def armed(network, hosts):
    """Somebody's session: it records whose domain was started, and only `kymo stop` ends it."""
    host, = hosts
    robot, trace = Robot(host), os.path.join(host.root, 'armed')
    robot.check_doctor()
    host.kymo('start', '--wait', '-o', trace)
    robot.expect(early5='prepare', early6='prepare', early7='prepare')
    robot.start(5)
    robot.until_told(5, 'RECORD')
    assert not robot.domains[6].since('status'), robot.domains[6].since('status')
    robot.expect(early5='record', early6='prepare', early7='prepare')
    for domain in 5, 6, 7:
        robot.begin(domain, 'late')
    robot.expect(late5='record', late6='prepare', late7='prepare')
    robot.until_told(5, 'RECORD', 2)
    robot.until_told(6, 'WAIT')
    assert set(robot.told(6, *robot.pids(6))) == {'WAIT'}
    robot.goes_on('late5')
    assert host.status()['ros_domains'] == '5', host.status()
    # A pause and what follows it are for those that record.
    host.kymo('pause', '-q')
    robot.expect(early5='prepare', early6='prepare')
    host.kymo('resume', '-q')
    robot.expect(early5='record', early6='prepare', early7='prepare')
    robot.end(5)                            # meant for other hosts
    robot.until_told(5, 'RECORD', 2)
    robot.start(6)
    robot.until_told(6, 'RECORD', 2)
    assert 'PREPARE' in robot.told(6, *robot.pids(6)), robot.domains[6].since('status')
    assert not robot.domains[5].since('status'), robot.domains[5].since('status')
    robot.expect(early5='record', early6='record', late6='record', early7='prepare', late7='prepare')
    for name in 'early5', 'early6', 'late6':
        robot.goes_on(name)
    host.kymo('stop')
    counts, domains = robot.counts(trace)
    assert domains == [-1, 5, 6], domains
    assert counts['early7'] == counts['late7'] == 0 < min(counts[name] for name in ('early5', 'late5', 'early6', 'late6')), counts
    robot.expect(early5='wait', early6='wait', early7='wait')


def own(network, hosts):
    """A recording that a Start begins: the End of a domain takes those of that one away, the last one ends it."""
    host, = hosts
    traces = os.path.join(host.root, 'own')
    robot = Robot(host, '--active', 'always', '-o', traces)
    robot.start(5)
    robot.start(6)                          # while the first one is on its way, or behind it
    robot.expect(early5='record', early6='record', early7='prepare')
    robot.goes_on('early5')
    robot.goes_on('early6')
    robot.end(5)
    robot.until_told(5, 'WAIT')
    robot.expect(early5='prepare', early6='record')
    assert not robot.domains[6].since('status'), robot.domains[6].since('status')
    robot.goes_on('early6')                 # counts are told now and then, of all at once
    before = robot.recorded('early5')
    robot.goes_on('early6')
    assert robot.recorded('early5') == before
    robot.end(5)                            # again
    robot.until_told(5, 'WAIT')
    robot.start(5)
    robot.until_told(5, 'RECORD')
    assert robot.told(5, *robot.pids(5)) == ['PREPARE', 'RECORD'], robot.domains[5].since('status')
    robot.goes_on('early5')
    robot.end(6)
    robot.expect(early5='record', early6='prepare')
    robot.end(5)
    robot.expect(early5='wait', early6='wait', early7='wait')
    until('its end', lambda: 'recorder_pid' not in host.status())
    trace, = os.listdir(traces)
    counts, _ = robot.counts(os.path.join(traces, trace))
    assert counts['early7'] == 0 < min(counts['early5'], counts['early6']), counts
    assert robot.agent.running() and len(robot.agent.said().splitlines()) <= 1, robot.agent.said()


def two_agents(network, hosts):
    """Two runtime directories on a host, an agent for each in one domain: a Start and an End reach both. One agent is killed
    while its recording goes on: the End finds its successor, and the recording that it did not begin ends."""
    host, = hosts
    domain, dirs = 40, [os.path.join(host.root, name) for name in ('one', 'two')]
    host.join(domain)
    programs, agents = [], []

    def agent(directory):
        program = host.start('env', f'KYMO_DIR={directory}', KYMO, 'agent', '--active', 'always', '-o', f'{directory}-traces')
        until('the agent', lambda: 'serves' in program.output())
        return program

    def records(directory):
        done = subprocess.run([KYMO, 'status', '--interval', '0', '-f', 'json'], env=dict(host.environment, KYMO_DIR=directory),
                              capture_output=True, text=True, check=True)
        status = json.loads(done.stdout)
        return status.get('state') == 'record' and sum(process['recorded'] or 0 for process in status['processes'])
    for directory in dirs:
        programs.append(host.start('env', f'KYMO_DIR={directory}', KYMO, 'run', '--', TALKER, 'talker', '/talk'))
        until('the program', lambda: 'ready' in programs[-1].output())
        agents.append(agent(directory))
    client = host.client('shell')
    client.matched('start', 2)
    client.matched('end', 2)
    nodes = until('both', lambda: len(client.nodes()) == 2 and client.nodes())
    client.do('start', '100')
    until('both, in RECORD', lambda: client.states() == dict.fromkeys(nodes, 'RECORD') and all(map(records, dirs)))
    host.environment['KYMO_DIR'] = dirs[0]
    checks = json.loads(host.kymo('doctor', '--format', 'json', status=None))['checks']
    assert f'process {agents[1].pid} also serves ROS domain {domain}, for the programs in {dirs[1]}' in [
        row['found'] for row in checks], checks
    agents[0].kill()
    until('that it is gone', lambda: len(client.nodes()) == 1)
    before = records(dirs[0])
    until('events without an agent', lambda: records(dirs[0]) > before)
    agents[0] = agent(dirs[0])
    until('the same nodes', lambda: client.nodes() == nodes)
    client.matched('end', 2)
    client.mark()
    client.do('end')
    until('WAIT', lambda: client.states() == dict.fromkeys(nodes, 'WAIT') and not any(map(records, dirs)))
    for program in agents:
        program.end()


def main():
    alone(__file__)
    with Network(3) as network:
        network.together((armed, network.hosts[:1]), (own, network.hosts[1:2]), (two_agents, network.hosts[2:]))


main()
