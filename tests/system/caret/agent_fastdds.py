#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: network
"""`kymo agent` and Fast DDS, which is another implementation of DDS than its own: a participant with the settings of rmw_fastrtps
(tests/caret/fastdds_client.cpp) finds the agent's nodes, starts and ends a recording, and reads every state. Skipped without libfastrtps-dev."""
import json
import os
import sys
import time

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_hosts import Network, alone
from lib_test import BUILD, until

CLIENT = os.path.join(BUILD, 'tests', 'fastdds_client')
TALKER = os.path.join(BUILD, 'tests', 'talker')
WAIT, PREPARE, RECORD = 1, 2, 3


def main():
    if not os.path.exists(CLIENT):
        print('skipped: fastdds_client was not built: it needs libfastrtps-dev')
        sys.exit(77)
    alone(__file__)
    with Network(2) as network:
        here, there = network.hosts
        program = here.start_kymo('run', '--', TALKER, 'camera', '/image')
        until('the program', lambda: 'ready' in program.output())
        trace = os.path.join(here.root, 'traces')
        agent = here.start_kymo('agent', '--active', 'always', '-o', trace)
        until('the agent', lambda: 'serves' in agent.output())

        client = there.start(CLIENT, here.domain)

        def events(kind):
            return [event for event in client.events() if event['event'] == kind]

        def states():
            """Of its node, without repetitions: each Start and End is answered, also one that changes nothing."""
            told = [event['status'] for event in events('status') if event['node'] == node]
            return [state for before, state in zip([None, *told], told) if state != before]

        def ask(what, wanted):
            """Writes until the state changes: what is written before the agent has discovered the client's writer is lost."""
            before, due = states(), 0

            def answered():
                nonlocal due
                if states() == before and time.monotonic() >= due:
                    client.write(what)
                    due = time.monotonic() + 2
                return states()[-len(wanted):] == wanted
            until(f'the states of {what}: {wanted}', answered)
        for topic in 'start', 'end':
            until(f'the agent reads {topic}', lambda: {'event': 'matched', 'topic': f'rt/caret/{topic}_record', 'count': 1} in events('matched'))
        node, = until('its node', lambda: {event['name'].lstrip('/') for event in events('node') if 'caret_trace_' in event['name']})
        ask('start', [PREPARE, RECORD])
        until('events', lambda: sum(process['recorded'] or 0 for process in here.status()['processes']))
        ask('end', [PREPARE, RECORD, WAIT])
        until('the end of the recording', lambda: 'recorder_pid' not in here.status())
        name, = os.listdir(trace)
        info = json.loads(here.kymo('info', os.path.join(trace, name), '--format', 'json'))
        assert info['recorded'] > 0 and not info['lost'], info
        assert agent.running() and not agent.said(), agent.said()
        client.process.stdin.close()
        assert client.process.wait(300) == 0, client.said()


main()
