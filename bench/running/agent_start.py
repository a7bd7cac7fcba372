#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""From a Start to RECORD over DDS: two network namespaces, a program with 100 000 init events and an agent on one host, CARET's
side on the other. From the client's write of Start to its reading of RECORD, for the one process; many times, with a client
that stays, and with one that has just come, as `ros2 caret record` has; then beside programs that burn both CPUs.

usage: agent_start.py [TRIES]      with KYMO_BUILD; needs leave to make network namespaces"""
import os
import shutil
import statistics
import subprocess
import sys

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault('KYMO_BUILD', os.path.join(BENCH, '..', 'build'))
sys.path.insert(0, os.path.join(BENCH, '..', 'tests', 'system', 'lib'))
from lib_hosts import BUILD, Network, alone  # noqa: E402
from lib_test import until  # noqa: E402

TRIES = int(sys.argv[1]) if len(sys.argv) > 1 else 100
NODES = 6250            # of 16 facts


def come(host):
    client = host.client('shell')
    client.matched('start', 1)
    client.matched('status', 1)
    until('its node', lambda: len(client.nodes()) == 1)
    return client


def one(here, client):
    """Return: ms to RECORD, and ms to the first answer."""
    trace = os.path.join(here.root, 'trace')
    here.kymo('start', '--wait', '-o', trace)
    until('an armed session', lambda: here.status().get('state') == 'armed')
    client.mark()
    client.do('start', '100')
    record = client.expect('status', lambda event: event['status'] == 'RECORD')['at']
    sent = client.since('done')[0]['from']
    first = client.since('status')[0]['at']
    client.mark()
    here.kymo('stop')
    client.expect('status', lambda event: event['status'] == 'WAIT')
    shutil.rmtree(trace)
    return 1e3 * (record - sent), 1e3 * (first - sent)


def show(what, tries):
    all_ms, first = (sorted(column) for column in zip(*tries))
    print(f'{what:34}{all_ms[0]:8.2f}{statistics.median(all_ms):8.2f}{all_ms[int(0.9 * len(all_ms))]:8.2f}{all_ms[-2]:8.2f}'
          f'{all_ms[-1]:8.2f}{first[-1]:12.2f}{sum(ms > 100 for ms in all_ms):8}', flush=True)


def lost(here, there, tries):
    """The cable is out while Start is sent: until DDS sends it again, to the first answer."""
    client, took = come(there), []
    for _ in range(tries):
        client.mark()
        here.cut()
        client.do('start', '100')
        here.plug()
        answer = client.expect('status')['at']
        took.append(1e3 * (answer - client.since('done')[0]['from']))
    client.end()
    print(f'a Start that was lost, to the first answer: {min(took):.0f} / {statistics.median(took):.0f} / {max(took):.0f} ms '
          f'(least, median, most of {tries})', flush=True)


def measure(here, there, what, tries):
    client = come(there)
    show(f'{what}, a client that stays', [one(here, client) for _ in range(tries)])
    client.end()
    done = []
    for _ in range(tries):
        client = come(there)
        done.append(one(here, client))
        client.end()
    show(f'{what}, one that just came', done)


def main():
    alone(__file__)
    with Network(2, lease='10s') as network:
        here, there = network.hosts
        program = here.start_kymo('run', '--', os.path.join(BUILD, 'tests', 'churn'))
        program.write(f'keep {NODES}')
        until('its nodes', program.output)
        agent = here.start_kymo('agent')
        until('the agent', lambda: 'serves' in agent.output())
        facts = here.status()['processes'][0]['init_events']
        print(f'{facts} init events; ms from Start to RECORD, of {TRIES}')
        print(f'{"":34}{"least":>8}{"median":>8}{"p90":>8}{"second":>8}{"most":>8}{"first word":>12}{"> 100":>8}')
        measure(here, there, 'idle', TRIES)
        lost(here, there, min(TRIES, 12))
        burners = [subprocess.Popen(['sh', '-c', 'while :; do :; done']) for _ in range(2 * os.cpu_count())]
        try:
            measure(here, there, f'{len(burners)} burners', TRIES)
        finally:
            for burner in burners:
                burner.kill()
                burner.wait()
        program.write('end 0')


if __name__ == '__main__':
    main()
