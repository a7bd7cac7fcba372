#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: network
"""ROS 2's discovery variables: an agent finds, and is found by, whom a node of its shell would. The other side is a plain
CycloneDDS participant (tests/caret) with the settings that rmw_cyclonedds_cpp makes of the same variables, written out here.
That somebody is not found is seen beside somebody who is: both were there before."""
import json
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_hosts import Network, alone
from lib_test import BUILD, KYMO, until

TALKER = os.path.join(BUILD, 'tests', 'talker')
DOMAIN = 30
AUTO = '<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>'
SUBNET = f'<Discovery>{AUTO}</Discovery>'
LOCALHOST = ('<General><AllowMulticast>false</AllowMulticast></General>'
             f'<Discovery>{AUTO}<Peers><Peer address="localhost"/></Peers></Discovery>')
LOOPBACK = '<General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces></General>'
OFTEN = '<Discovery><SPDPInterval>500ms</SPDPInterval></Discovery>'     # everybody says more often that he is there
VARIABLES = 'ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_STATIC_PEERS', 'ROS_LOCALHOST_ONLY'


class Side:
    """Agents on a host, each with a runtime directory and a program of its own, so that each has a node."""

    def __init__(self, host):
        self.host, self.agents = host, []
        host.environment.update(ROS_DOMAIN_ID=str(DOMAIN))
        host.domain = str(DOMAIN)
        host.environment['CYCLONEDDS_URI'] = OFTEN

    def agent(self, **variables):
        """Returns the program's pid, by which a client knows the agent."""
        run_dir = os.path.join(self.host.root, f'dir{len(self.agents)}')
        words = ['env', f'KYMO_DIR={run_dir}', *(f'{name}={value}' for name, value in variables.items())]
        program = self.host.start('env', f'KYMO_DIR={run_dir}', KYMO, 'run', '--', TALKER, 'talker', '/talk')
        until('the program', lambda: 'ready' in program.output())
        agent = self.host.start(*words, KYMO, 'agent', '--active', 'always', '-o', f'{run_dir}-traces')
        until('the agent', lambda: 'serves' in agent.output())
        self.agents.append((agent, run_dir))
        return program.pid

    def client(self, domain):
        """A participant as rmw_cyclonedds_cpp configures it."""
        self.host.environment['CYCLONEDDS_URI'] = f'<CycloneDDS><Domain>{domain}</Domain></CycloneDDS>,{OFTEN}'
        client = self.host.client('shell')
        self.host.environment['CYCLONEDDS_URI'] = OFTEN
        return client


def reach(client, *pids):
    """An End is answered by these agents and nobody else, after all of them were found."""
    client.matched('end', len(pids))
    client.mark()

    def answered():
        client.do('end')                # an agent that does not know our reader yet answers into the void
        return {event['pid'] for event in client.since('status')} >= set(pids)
    until('answers', answered)
    assert {event['pid'] for event in client.since('status')} == set(pids), (pids, client.since('status'))
    client.do('matched')
    assert [event['end'] for event in client.events() if event['event'] == 'matched'][-1] == len(pids)
    client.end()


def warnings(side, number, **variables):
    """What doctor says about the network, in a shell with these variables, of an agent."""
    host = side.host
    old = dict(host.environment)
    host.environment.update(variables, KYMO_DIR=side.agents[number][1])
    checks = json.loads(host.kymo('doctor', '--format', 'json', status=None))['checks']
    host.environment.clear()
    host.environment.update(old)
    return [row['found'] for row in checks if row['check'] == 'DDS network']


def main():
    alone(__file__)
    for name in VARIABLES:
        os.environ.pop(name, None)
    with Network(2) as network:
        near, far = (Side(host) for host in network.hosts)
        # On each host, an agent for the whole network; on the first one, one for each of the others.
        subnet, distant = near.agent(), far.agent()
        local = near.agent(ROS_AUTOMATIC_DISCOVERY_RANGE='LOCALHOST')
        older = near.agent(ROS_LOCALHOST_ONLY='1', ROS_STATIC_PEERS=far.host.address)        # the peers do not count
        wrong = near.agent(ROS_AUTOMATIC_DISCOVERY_RANGE='nearby')
        peers = near.agent(ROS_AUTOMATIC_DISCOVERY_RANGE='LOCALHOST', ROS_STATIC_PEERS=f';{far.host.address};;no<&host')
        near.agent(ROS_AUTOMATIC_DISCOVERY_RANGE='OFF')
        reach(far.client(SUBNET), subnet, distant, peers)
        reach(near.client(LOCALHOST), subnet, local, older, wrong, peers)
        reach(near.client(SUBNET), subnet, distant, local, older, wrong, peers)
        said = [agent.said() for agent, _ in near.agents]
        assert "is 'nearby', which is not" in said[3] and 'ROS_AUTOMATIC_DISCOVERY_RANGE is OFF' in said[5], said
        assert not any('ROS_' in said[number] for number in (0, 1, 2, 4)), said
        # Nodes up to Humble have only the older variable, and another meaning for it.
        humble = near.agent(ROS_DISTRO='humble', ROS_LOCALHOST_ONLY='1', ROS_AUTOMATIC_DISCOVERY_RANGE='OFF')
        reach(near.client(LOOPBACK), humble)
        # `record --hosts` looks as far as its shell says; an agent that has its host as a peer looks for it.
        far.host.environment['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        alone_there = far.host.start_kymo('record', '--hosts', '--format', 'json')

        def rows():
            return {(row['pid'], row['state']) for document in alone_there.output().split('\n}\n')[:-1]
                    for row in json.loads(document + '\n}')['processes']}
        until('both record', lambda: {(distant, 'record'), (peers, 'record')} <= rows())
        alone_there.end()
        assert {pid for pid, _ in rows() if pid} == {distant, peers}, rows()
        assert not warnings(near, 0), warnings(near, 0)
        assert not warnings(near, 1, ROS_AUTOMATIC_DISCOVERY_RANGE='LOCALHOST')
        found, = warnings(near, 1)
        assert found == ('the agent has ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST, this shell has none: they may not find each '
                         'other'), found
        found, = warnings(near, 0, ROS_STATIC_PEERS='10.0.0.7')
        assert 'the agent has no ROS_STATIC_PEERS, this shell has 10.0.0.7' in found, found
        found, = warnings(near, 5, ROS_AUTOMATIC_DISCOVERY_RANGE='OFF')
        assert found.startswith('discovery is off'), found


main()
