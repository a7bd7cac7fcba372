#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: network
"""`kymo agent` against CARET's command line (tests/caret): it is counted, starts what is armed, tells every state, obeys the
rules for several hosts, joins late processes, and survives the death of everybody else, and its own."""
import json
import os
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_hosts import Network, alone
from lib_test import BUILD, until
from lib_types import TYPES, rihs01

TALKER = os.path.join(BUILD, 'tests', 'talker')


def talk(host, node, *topics, options=()):
    """A traced program; returns when its node is there."""
    program = host.start_kymo('run', '--', TALKER, *options, node, *topics)
    until('the node', lambda: 'ready' in program.output())
    return program


def armed(host, trace, *options):
    """`kymo record --wait`, once it is."""
    recorder = host.start_kymo('record', '--wait', '-q', '-o', trace, *options)
    until('an armed session', lambda: state(host) == 'armed')
    return recorder


def state(host):
    return host.status().get('state')


def words(host):
    """The state of each process in shared memory."""
    return sorted(process['state'] for process in host.status()['processes'])


def nobody(host):
    return 'recorder_pid' not in host.status()


def agent_of(host, *options):
    """An agent that can be reached."""
    agent = host.start_kymo('agent', *options)
    until('the agent', lambda: 'serves' in agent.output())
    return agent


def next_agent(host):
    """An agent, once the one before has let go of the runtime directory, a moment after its nodes are gone. Return: None: not yet."""
    agent = host.start_kymo('agent')
    until('the agent', lambda: 'serves' in agent.output() or not agent.running())
    if agent.running():
        return agent
    assert 'another agent already serves' in agent.said(), agent.said()
    agent.wait(None)
    return None


def shell(host, *options):
    """The topics by hand, once they are connected with one agent."""
    client = host.client('shell', *options)
    client.matched('start', 1)
    client.matched('end', 1)
    return client


def told(client, node):
    return [event['status'] for event in client.since('status') if event['node'] == node]


def events(trace):
    """name -> how often, and the topics of publishers, as Babeltrace reads it."""
    out = subprocess.run(['babeltrace2', trace], capture_output=True, text=True, check=True)
    assert not out.stderr, out.stderr
    counts = {}
    for line in out.stdout.splitlines():
        name = line.split(' ros2:')[1].split(':')[0] if ' ros2:' in line else '?'
        counts[name] = counts.get(name, 0) + 1
    return counts, out.stdout


def whole(network):
    """The command line's way. Its count, the states in order, all facts in the trace; and who comes late."""
    here, there = network.hosts
    trace = os.path.join(here.root, 'whole')
    camera, planner = talk(here, 'camera', '/image'), talk(here, 'planner', '/plan', '/path')
    agent = agent_of(here)
    recorder = armed(here, trace)
    record = there.client('record')
    until('two nodes', lambda: len(record.nodes()) == 2)
    record.matched('start', 1)
    record.write()
    record.expect('all started')
    found = record.expect('found')['nodes']
    assert len(found) == 2, found
    for node in found:
        assert told(record, node) == ['PREPARE', 'RECORD'], record.since('status')
    last = {event['pid']: event for event in record.since('status')}
    names = sorted(name for event in last.values() for name in event['node_names'])
    assert names == ['/camera', '/planner'], last
    assert words(here) == ['record', 'record'] and state(here) == 'record'
    late = talk(here, 'late', '/late')
    until('the late one, in RECORD', lambda: [event for event in record.since('status') if not event['known'] and
                                              event['status'] == 'RECORD' and event['node'] not in found])
    until('events', lambda: json.loads(here.kymo('status', '-f', 'json'))['processes'][0]['recorded'] > 0)
    record.expect('press enter to stop')
    recorder.end()
    until('WAIT without an End', lambda: set(record.states().values()) == {'WAIT'})
    record.write()
    record.wait()
    until('the End', lambda: 'End in ROS domain 0' in agent.output())
    counts, text = events(trace)
    assert counts['rcl_node_init'] == 3 and counts['rcl_publisher_init'] == 4 and counts['rcl_publish'] > 0, counts
    for topic in '/image', '/plan', '/path', '/late':
        assert f'topic_name = "{topic}"' in text, topic
    for program in camera, planner, late, agent:
        program.end()


def rules(network):
    """Start without a session, End with one: answered, and of no effect. Nor has what is no message. Filters of a Start."""
    here, there = network.hosts
    trace = os.path.join(here.root, 'rules')
    camera = talk(here, 'camera', '/image', '/info')
    agent = agent_of(here)
    client = shell(there)
    node, = until('its node', client.nodes)
    client.matched('status', 1)
    client.mark()
    client.do('start', '100')
    assert client.expect('status')['status'] == 'WAIT' and words(here) == ['wait']
    client.mark()
    client.do('end')
    assert client.expect('status')['status'] == 'WAIT'
    recorder = armed(here, trace)
    for nonsense in '', '00', 'ffffffff' * 64, '2a000000' 'ffffff7f' '6100':
        client.do('raw', 'start', nonsense)
    client.do('start', '100', 'x' * 10000)
    until('what makes no sense', lambda: 'is longer than' in agent.said() or not agent.running())
    assert agent.running(), agent.said()
    client.mark()
    client.do('end')                                    # for others: there is a session here
    assert client.expect('status')['status'] == 'WAIT' and state(here) == 'armed'
    client.mark()
    client.do('start', '4294967295', '', '', '', 'image')
    until('RECORD', lambda: told(client, node)[-1:] == ['RECORD'])
    client.mark()
    client.do('start', '1')
    client.do('end')
    until('two answers', lambda: told(client, node) == ['RECORD', 'RECORD'])
    recorder.end()
    counts, text = events(trace)
    publisher = [line.split('publisher_handle = ')[1].split(',')[0] for line in text.splitlines() if '/image' in line][0]
    other = [line for line in text.splitlines() if 'rcl_publish:' in line and publisher not in line]
    assert not other, other[0]
    filtered = json.load(open(os.path.join(trace, 'kymo.json')))['filter']
    assert filtered['CARET_SELECT_TOPICS'] == 'image', filtered
    assert agent.said().count('so will be all other') <= 2, agent.said()
    for program in camera, client, agent:
        program.end()


def deaths(network):
    """Of the recorder: everybody waits, and the next Start counts. Of the agent: the next one has the same nodes and states.
    Of a program: its node is gone."""
    here, there = network.hosts
    camera, planner = talk(here, 'camera', '/image'), talk(here, 'planner', '/plan')
    agent = agent_of(here)
    recorder = armed(here, os.path.join(here.root, 'killed'))
    client = shell(there)
    nodes = until('two nodes', lambda: len(client.nodes()) == 2 and client.nodes())
    client.matched('status', 1)
    client.do('start', '100')
    until('RECORD', lambda: client.states() == dict.fromkeys(nodes, 'RECORD'))
    client.mark()
    recorder.kill()
    until('WAIT', lambda: client.states() == dict.fromkeys(nodes, 'WAIT'))
    recorder = armed(here, os.path.join(here.root, 'again'))
    client.mark()
    client.do('start', '100')
    until('RECORD again', lambda: client.states() == dict.fromkeys(nodes, 'RECORD'))
    # The word WAIT of the new recorder may come after the mark.
    assert all([word for word in told(client, node) if word != 'WAIT'] == ['PREPARE', 'RECORD'] for node in nodes), client.since('status')
    refused = here.start_kymo('agent')
    refused.wait(1)
    assert f'process {agent.pid}' in refused.said(), refused.said()
    agent.kill()
    assert state(here) == 'record'
    until('no nodes', lambda: client.nodes() == [])
    client.mark()
    agent = agent_of(here)
    until('the same nodes', lambda: client.nodes() == nodes)
    client.matched('start', 1)
    client.matched('status', 1)
    client.do('start', '100')
    until('the same states', lambda: client.states() == dict.fromkeys(nodes, 'RECORD'))
    planner.process.send_signal(signal.SIGKILL)
    until('one node', lambda: len(client.nodes()) == 1)
    planner.wait(None)
    for program in recorder, camera, client, agent:
        program.end()


def marker(network):
    """Another tracer's session counts: Start begins a recording of its own, End ends it. In the domain of the program, in
    Humble's form."""
    here, there = network.hosts
    file, traces = os.path.join(here.root, 'session'), os.path.join(here.root, 'own')
    for host in here, there:
        host.environment['ROS_DOMAIN_ID'] = '5'
    camera = talk(here, 'camera', '/image')
    agent = agent_of(here, '--domain', '0', '--domain', '5', '--active', 'file', '--marker', file, '-o', traces,
                     '--graph', 'humble')
    stranger = shell(there, '--domain', '0', '--humble')
    client = shell(there, '--domain', '5', '--humble')
    node, = until('its node', client.nodes)
    client.matched('status', 1)
    client.do('start', '100')
    assert client.expect('status')['status'] == 'WAIT' and nobody(here)
    open(file, 'w').close()
    client.mark()
    client.do('start', '100')
    until('RECORD', lambda: told(client, node) == ['PREPARE', 'RECORD'])
    until('events', lambda: here.status()['processes'][0]['recorded'] > 0)
    client.mark()
    client.do('end')
    assert client.expect('status')['status'] == 'RECORD'
    os.unlink(file)
    client.mark()
    client.do('end')
    until('WAIT', lambda: told(client, node) == ['WAIT'])
    until('the end of the recording', lambda: nobody(here) and words(here) == ['wait'])
    trace, = os.listdir(traces)
    counts, _ = events(os.path.join(traces, trace))
    assert counts['rcl_node_init'] == 1 and counts['rcl_publish'] > 0, counts
    assert stranger.nodes() == [] and not stranger.since('status'), stranger.events()
    for program in camera, client, stranger, agent:
        program.end()


def quick(network):
    """Start and End without waiting for anything: what was sent last holds."""
    here, there = network.hosts
    for host in here, there:
        host.join(0)
    camera = talk(here, 'camera', '/image')
    agent = agent_of(here, '--active', 'always', '-o', os.path.join(here.root, 'quick'))
    client = shell(there)
    node, = until('its node', client.nodes)
    client.matched('status', 1)
    for last in 'start', 'end', 'start', 'end':
        for message in ('start', 'end') * 3 + (('start',) if last == 'start' else ()):
            client.do(message, *(['100'] if message == 'start' else []))
        wanted = 'RECORD' if last == 'start' else 'WAIT'
        until(wanted, lambda: client.states() == {node: wanted} and nobody(here) == (last == 'end'))
    # The next one begins while the one before still ends.
    client.do('start', '100')
    until('RECORD', lambda: state(here) == 'record' and client.states() == {node: 'RECORD'})
    first = here.status()['generation']
    client.mark()
    client.do('end')
    client.do('start', '100')

    def another():
        status = here.status()	# once: the first one may end between two looks
        return status.get('state') == 'record' and status['generation'] != first
    until('another one', another)
    until('RECORD', lambda: client.states() == {node: 'RECORD'})
    client.do('end')
    until('its end', lambda: nobody(here))
    assert not agent.said(), agent.said()
    for program in camera, client, agent:
        program.end()


def late(network):
    """A Start that arrives after the End that followed it begins nothing, and an End after its Start ends nothing; both are
    answered. Nor does a Start count that an End followed while the recording before still ended."""
    here, there = network.hosts
    camera = talk(here, 'camera', '/image')
    agent = agent_of(here, '--active', 'always', '-o', os.path.join(here.root, 'late'))
    client = shell(there)
    node, = until('its node', client.nodes)
    client.matched('status', 1)
    client.mark()
    client.do('end')
    client.do('late', '5000')
    client.do('start', '100')
    until('two answers', lambda: told(client, node) == ['WAIT', 'WAIT'])
    until('the reason', lambda: 'Start in ROS domain 0: 1 processes; it is late' in agent.output())
    client.do('late', '0')
    client.mark()
    client.do('start', '100')
    until('RECORD', lambda: told(client, node)[-1:] == ['RECORD'] and state(here) == 'record')
    client.do('late', '5000')
    client.mark()
    client.do('end')
    until('an answer', lambda: told(client, node) == ['RECORD'])
    until('the reason', lambda: 'End in ROS domain 0: 1 processes; it is late' in agent.output())
    client.do('late', '0')
    # While its recorder cannot answer, the recording ends for long.
    recorder = here.status()['recorder_pid']
    os.kill(recorder, signal.SIGSTOP)
    client.mark()
    for message, count in ('end', 1), ('start', 2), ('end', 3):
        client.do(message, *(['100'] if message == 'start' else []))
        until('an answer', lambda: len(told(client, node)) == count)
    os.kill(recorder, signal.SIGCONT)
    until('its end', lambda: nobody(here) and client.states() == {node: 'WAIT'})
    client.mark()
    client.do('start', '100')                   # all that came before is done when this records
    until('RECORD', lambda: state(here) == 'record' and client.states() == {node: 'RECORD'})
    client.do('end')
    until('its end', lambda: nobody(here))
    assert len(os.listdir(os.path.join(here.root, 'late'))) == 2, agent.output()
    for program in camera, client, agent:
        program.end()


def beside(network):
    """`record --agent`: an agent as long as the recording, also if that is killed; none if there is one. Without an agent, who
    has CARET's command line is told, once, and only then."""
    here, there = network.hosts
    prefix = os.path.join(here.root, 'prefix')
    index = os.path.join(prefix, 'share/ament_index/resource_index/packages')
    os.makedirs(index)
    open(os.path.join(index, 'ros2caret'), 'w').close()
    here.environment['AMENT_PREFIX_PATH'] = f'/nowhere::{here.root}'
    camera = talk(here, 'camera', '/image')
    assert not camera.said(), camera.said()
    here.environment['AMENT_PREFIX_PATH'] += f':{prefix}'
    planner = talk(here, 'planner', '/plan')
    assert planner.said().count('"ros2 caret record" will not find this program') == 1, planner.said()
    client = here.client('shell')
    for number, stop in enumerate((lambda: recorder.end(), lambda: recorder.kill())):
        trace = os.path.join(here.root, f'beside{number}')
        recorder = here.start_kymo('record', '--wait', '--agent', '-o', trace)
        nodes = until('both nodes', lambda: len(client.nodes()) == 2 and client.nodes())
        assert not recorder.said(), recorder.said()
        client.matched('start', 1)
        client.matched('status', 1)
        client.mark()
        client.do('start', '100')
        until('RECORD', lambda: client.states() == dict.fromkeys(nodes, 'RECORD'))
        stop()
        until('no agent', lambda: client.nodes() == [])
    agent = until('the next agent', lambda: next_agent(here))
    recorder = here.start_kymo('record', '--wait', '--agent', '-o', os.path.join(here.root, 'another'))
    until('armed', lambda: state(here) == 'armed')
    assert recorder.said() == f'kymo record: process {agent.pid} is an agent already; no other is started\n', recorder.said()
    recorder.end()
    late = talk(here, 'late', '/late')
    assert agent.running() and not late.said(), late.said()
    agent.end()
    recorder = here.start_kymo('record', '--wait', '-o', os.path.join(here.root, 'waits'))
    until('armed', lambda: state(here) == 'armed')
    assert 'it waits for a Start, but no agent runs' in recorder.said(), recorder.said()
    recorder.end()
    for program in camera, planner, late, client:
        program.end()


def types(network):
    """Each endpoint has the hash of its type: without it, each node of Jazzy and later logs a warning for each of them."""
    here, there = network.hosts
    camera, agent = talk(here, 'camera', '/image'), agent_of(here)
    client = shell(there)
    until('its node', client.nodes)
    client.matched('status', 1)
    for topic, name in (('start', 'caret_msgs/msg/Start'), ('end', 'caret_msgs/msg/End'), ('status', 'caret_msgs/msg/Status'),
                        ('discovery', 'rmw_dds_common/msg/ParticipantEntitiesInfo')):
        client.mark()
        client.do('data', topic)
        texts = {event['text'] for event in client.since('user data')} - {''}      # this test's own client has none
        assert texts == {f'typehash={rihs01(name)};'}, (topic, texts)
    for program in camera, client, agent:
        program.end()


STORM = "60"	# messages; by hand: KYMO_STORM=100000


def hostile(network):
    """Nonsense on every topic, and lists that are endless: nobody dies of it, and the next Start and End are obeyed."""
    here, there = network.hosts
    for host in here, there:
        host.join(0)
    camera = talk(here, 'camera', '/image')
    agent = agent_of(here, '--active', 'always', '-o', os.path.join(here.root, 'hostile'))
    client = shell(there)
    node, = until('its node', client.nodes)
    for seed, topic in enumerate(('start', 'end', 'status', 'discovery')):
        client.do('storm', topic, os.environ.get('KYMO_STORM', STORM), str(seed))
    client.do('start', '100', 'x' * 70000)
    client.do('end')
    until('WAIT', lambda: nobody(here) and client.states().get(node) == 'WAIT')
    client.do('start', '100')
    until('RECORD', lambda: state(here) == 'record' and client.states().get(node) == 'RECORD')
    client.do('end')
    until('its end', lambda: nobody(here))
    assert agent.process.poll() is None, agent.said()
    for program in camera, client, agent:
        program.end()


def main():
    for name, (known, _) in TYPES.items():
        assert known in (None, rihs01(name)), name
    alone(__file__)
    with Network(2, lease='3s') as network:
        for scenario in whole, rules, deaths, marker, quick, late, beside, types, hostile:
            scenario(network)


main()
