#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: network
"""What `kymo agent` and `kymo record --hosts` put on the wire, captured between two hosts and taken apart by Wireshark,
against ROS 2's conventions: rmw_cyclonedds' participants, topic and type names, QoS, ros_discovery_info and CDR."""
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import xml.etree.ElementTree as tree

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_hosts import Network, alone
from lib_test import BUILD, until

TALKER = os.path.join(BUILD, 'tests', 'talker')
CARET = 'caret_msgs::msg::dds_::'
GRAPH = 'rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_'
BEST_EFFORT, RELIABLE, VOLATILE, TRANSIENT_LOCAL = 1, 2, 0, 1
CDR_LE = 0x0001
LAST = 'this was the last frame'
# topic: type, durability, and what the agent is there: a writer or a reader
AGENT = {'rt/caret/start_record': (CARET + 'Start_', VOLATILE, 'reader'), 'rt/caret/end_record': (CARET + 'End_', VOLATILE, 'reader'),
         'rt/caret/status': (CARET + 'Status_', VOLATILE, 'writer'), 'ros_discovery_info': (GRAPH, TRANSIENT_LOCAL, 'writer')}
# The time that is recorded beside it: as rclcpp subscribes to it.
CLOCK = 'rt/clock', 'rosgraph_msgs::msg::dds_::Clock_'


class Cdr:
    """Plain CDR, little-endian, as rmw has it: aligned to the beginning of the payload."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, code):
        size = struct.calcsize(code)
        self.at += -self.at % size
        value, = struct.unpack_from('<' + code, self.data, self.at)
        self.at += size
        return value

    def raw(self, size):
        self.at += size
        assert self.at <= len(self.data)
        return self.data[self.at - size:self.at]

    def string(self):
        text = self.raw(self.number('I'))
        assert text.endswith(b'\0'), text
        return text[:-1].decode()

    def list(self, item):
        return [item() for _ in range(self.number('I'))]

    def end(self):
        assert len(self.data) - self.at < 4, f'{len(self.data) - self.at} bytes behind the message'


def start_of(cdr):
    return cdr.number('I'), [cdr.string() for _ in range(4)]


def status_of(cdr):
    return cdr.string(), cdr.number('b'), cdr.list(cdr.string), cdr.number('q')


def graph_of(cdr, gid):
    def gids():
        return cdr.list(lambda: cdr.raw(gid))
    return cdr.raw(gid), cdr.list(lambda: (cdr.string(), cdr.string(), gids(), gids()))


class Capture:
    """participants: guid: user data; endpoints: guid: dict; messages: (writer's guid, topic, encapsulation, payload)."""

    def __init__(self, path):
        done = subprocess.run(['tshark', '-n', '-r', path, '-Y', 'rtps', '-T', 'pdml'], capture_output=True, timeout=300)
        assert done.returncode == 0, done.stderr
        self.participants, self.endpoints, self.messages = {}, {}, []
        for packet in tree.fromstring(done.stdout).iter('packet'):
            for protocol in packet.iter('proto'):
                if protocol.get('name') == 'rtps':
                    self.submessages(list(protocol))

    def submessages(self, fields):
        prefix, begins = '', [i for i, field in enumerate(fields) if field.get('name') == 'rtps.sm.id'] + [len(fields)]
        for field in fields[:begins[0]]:
            if field.get('name') == 'rtps.guidPrefix.src':
                prefix = field.get('value')
        for begin, end in zip(begins, begins[1:]):
            if int(fields[begin].get('show'), 16) == 0x15:
                self.data(prefix, fields[begin:end])

    @staticmethod
    def first(fields, name):
        for field in fields:
            for found in field.iter('field'):
                if found.get('name') == name:
                    return found
        return None

    def data(self, prefix, fields):
        def value(name, what='value'):
            found = self.first(fields, name)
            return None if found is None else found.get(what)
        writer = prefix + value('rtps.sm.wrEntityId')
        parameters = [int(field.get('show'), 16) for top in fields for field in top.iter('field') if field.get('name') == 'rtps.param.id']
        if value('rtps.param.builtin_endpoint_set') and writer.endswith('000100c2'):        # without it: it leaves
            self.participants[value('rtps.param.participant_guid')] = bytes.fromhex(value('rtps.param.userData') or '')
        elif value('rtps.param.endpoint_guid') and value('rtps.param.topicName', 'show') and writer[-8:] in ('000003c2', '000004c2'):
            kind = 'writer' if writer.endswith('000003c2') else 'reader'
            reliability, durability = (value(name, 'show') for name in ('rtps.reliability_kind', 'rtps.durability'))
            self.endpoints[value('rtps.param.endpoint_guid')] = {
                'topic': value('rtps.param.topicName', 'show'), 'type': value('rtps.param.typeName', 'show'), 'kind': kind,
                'reliability': int(reliability, 16) if reliability else RELIABLE if kind == 'writer' else BEST_EFFORT,
                'durability': int(durability, 16) if durability else VOLATILE, 'parameters': parameters}
        elif value('rtps.issueData'):
            self.messages.append((writer, value('rtps.param.topicName', 'show'), int(value('rtps.param.serialize.encap_kind', 'show'), 16),
                                  bytes.fromhex(value('rtps.issueData'))))

    def of(self, participant, topic=None):
        """Endpoints of a participant, by guid."""
        return {guid: endpoint for guid, endpoint in self.endpoints.items()
                if guid[:24] == participant[:24] and topic in (None, endpoint['topic'])}

    def sent(self, participant, topic):
        """Payloads, each once: who did not get one has it again."""
        found = [(encapsulation, payload) for writer, name, encapsulation, payload in self.messages
                 if writer[:24] == participant[:24] and name == topic]
        assert all(encapsulation == CDR_LE for encapsulation, _ in found), found
        return list(dict.fromkeys(payload for _, payload in found))


def record(network, path, *agent):
    """A whole recording, begun from the other host, and what passed host 0's port."""
    host, desk = network.hosts
    capture = subprocess.Popen(['dumpcap', '-q', '-i', host.port, '-w', path], stderr=subprocess.PIPE, text=True)
    until('the capture', lambda: 'File:' in capture.stderr.readline())
    program = host.start_kymo('run', '--', TALKER, 'captured', '/topic')
    until('the program', lambda: 'ready' in program.output())
    agent = host.start_kymo('agent', *agent)
    node = until('its node', lambda: re.search(r'(caret_trace_\w+)', agent.output()))[1]
    host.kymo('start', '--wait', '-o', os.path.join(host.root, f'trace{len(host.programs)}'))
    control = desk.start_kymo('record', '--hosts', '--expect', '1', '--recording-frequency', '4711')
    until('the recording', lambda: 'all 1 processes on 1 hosts record' in control.said())
    host.kymo('stop')
    control.process.send_signal(signal.SIGINT)
    control.wait()
    pid = program.pid
    for ended in agent, program:
        ended.end()
    # What was captured comes into the file later, and in order.
    subprocess.run([*desk.there(), sys.executable, '-c', 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).'
                    f'sendto(b"{LAST}", ("{host.address}", 9))'], check=True)
    until('the last frame', lambda: LAST.encode() in open(path, 'rb').read())
    capture.terminate()
    capture.wait(300)
    capture.stderr.close()
    return Capture(path), node, pid


def check(capture, node, pid, gid):
    agents = [guid for guid in capture.participants if any(endpoint['topic'] == 'rt/caret/status' and endpoint['kind'] == 'writer'
                                                           for endpoint in capture.of(guid).values())]
    desks = [guid for guid in capture.participants if guid not in agents]
    assert len(agents) == len(desks) == 1, capture.participants
    agent, desk = agents[0], desks[0]
    # rmw_cyclonedds takes no participant for one of ROS that does not tell its enclave.
    assert all(data == b'enclave=/;' for data in capture.participants.values()), capture.participants
    for topic, (kind, durability, side) in AGENT.items():
        mine = [endpoint for endpoint in capture.of(agent, topic).values() if endpoint['kind'] == side]
        assert len(mine) == 1, (topic, capture.of(agent))
        assert mine[0]['type'] == kind and mine[0]['reliability'] == RELIABLE and mine[0]['durability'] == durability, mine
    types = {**{topic: row[0] for topic, row in AGENT.items()}, CLOCK[0]: CLOCK[1]}
    for guid, endpoint in capture.endpoints.items():
        assert endpoint['type'] == types[endpoint['topic']], endpoint
        assert endpoint['topic'] != CLOCK[0] or (endpoint['kind'], endpoint['reliability']) == ('reader', BEST_EFFORT), endpoint
        assert 0x75 not in endpoint['parameters'], f'{guid}: type information, which types of ROS 2 do not have'
    check_graph(capture, agent, node, gid)
    check_messages(capture, agent, desk, node, pid)


def check_graph(capture, agent, node, gid):
    """ros_discovery_info: the participant's own gid, one node a process, and endpoints that are there."""
    payloads = capture.sent(agent, 'ros_discovery_info')
    assert payloads
    named = 0
    for payload in payloads:
        cdr = Cdr(payload)
        own, nodes = graph_of(cdr, gid)
        cdr.end()
        assert own == bytes.fromhex(agent) + bytes(gid - 16), own
        for namespace, name, readers, writers in nodes:
            named += 1
            assert (namespace, name) == ('/', node), (namespace, name)
            told = {(topic, kind) for topic, (_, _, kind) in AGENT.items() if topic != 'ros_discovery_info'}
            found = {(capture.endpoints[guid[:16].hex()]['topic'], capture.endpoints[guid[:16].hex()]['kind'])
                     for guid in readers + writers}
            assert found == told, found
            assert all(guid[16:] == bytes(gid - 16) for guid in readers + writers)
    assert named, 'no node was told'


def check_messages(capture, agent, desk, node, pid):
    starts = [start_of(Cdr(payload)) for payload in capture.sent(desk, 'rt/caret/start_record')]
    assert starts == [(4711, [''] * 4)], starts
    assert [payload[:1] for payload in capture.sent(desk, 'rt/caret/end_record')] == [b'\0'], 'End is one byte that is 0'
    states = []
    for payload in capture.sent(agent, 'rt/caret/status'):
        cdr = Cdr(payload)
        name, state, nodes, number = status_of(cdr)
        cdr.end()
        assert name == node and number == pid and nodes in ([], ['/captured']), (name, nodes, number)
        states.append(state)
    assert 3 in states and states[-1] == 1, states


def main():
    alone(__file__)
    if not shutil.which('tshark') or not shutil.which('dumpcap'):
        print('skipped: there is no tshark: packaging/install-packages.sh more-tests')
        sys.exit(77)
    with Network(2) as network:
        path = os.path.join(network.root, 'capture')
        check(*record(network, path), 16)
        for host in network.hosts:
            host.environment['ROS_DISTRO'] = 'humble'
        check(*record(network, path, '--graph', 'humble'), 24)


main()
