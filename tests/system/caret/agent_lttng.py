#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: network
"""`kymo agent --active lttng` and a real session daemon of LTTng: a Start counts while one of its sessions is active and never
else, and an End when none is any more, as CARET has it; driven by hand and in the order of `ros2 caret record`. And by the original, if
$KYMO_CARET_SOURCE has checkouts of it (tests/caret/ros2_caret_record.py)."""
import json
import os
import shutil
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_hosts import CLIENT, Network, alone
from lib_net import private
from lib_test import BUILD, SOURCE, until

TALKER = os.path.join(BUILD, 'tests', 'talker')
LTTNG = 'lttng --no-sessiond'
# As `ros2 caret record` makes it, but for the sizes of its buffers.
BEGIN = ' && '.join(f'{LTTNG} {words} >/dev/null' for words in (
    'create {name} --output={output}', 'enable-channel -u -s {name} ros2 --buffers-uid',
    "enable-event -u -s {name} -c ros2 'ros*'", 'add-context -u -s {name} -c ros2 -t vpid -t vtid -t procname', 'start {name}'))
FINISH = f'{LTTNG} stop {{name}} >/dev/null && {LTTNG} destroy {{name}} >/dev/null'

# Options of the original. With -c it also runs a node of caret_trace, for which a script stands in; the agent records /clock itself.
ORIGINAL = (), ('--light',), ('-c',)


class Robot:
    def __init__(self, host):
        self.host, self.traces = host, os.path.join(host.root, 'own')
        self.program = host.start_kymo('run', '--', TALKER, 'camera', '/image')
        until('the program', lambda: 'ready' in self.program.output())
        self.agent = host.start_kymo('agent', '--active', 'lttng', '-o', self.traces)
        until('the agent', lambda: 'serves' in self.agent.output())

    def names(self, name):
        return {'name': name, 'output': os.path.join(self.host.root, name)}

    def lttng(self, command, name):
        done = subprocess.run(command.format(**self.names(name)), shell=True, env=self.host.environment, capture_output=True,
                              text=True, timeout=300)
        assert done.returncode == 0, f'{command}: {done.returncode} {done.stdout} {done.stderr}'
        return done.stdout

    def begin_daemon(self):
        self.daemon = self.host.start('lttng-sessiond', '--no-kernel')
        until('the session daemon', lambda: subprocess.run(
            LTTNG.split() + ['list'], env=self.host.environment, capture_output=True).returncode == 0)

    def records(self):
        return 'recorder_pid' in self.host.status()

    def events(self):
        return sum(process['recorded'] or 0 for process in self.host.status()['processes'])

    def newest(self):
        traces = sorted(os.listdir(self.traces), key=lambda name: os.stat(os.path.join(self.traces, name)).st_mtime_ns)
        return len(traces), os.path.join(self.traces, traces[-1])

    def check(self, count):
        """The last of so many recordings: complete, with facts and events; LTTng's own stays empty."""
        until('its end', lambda: not self.records())
        found, trace = self.newest()
        info = json.loads(self.host.kymo('info', trace, '--format', 'json'))
        assert found == count and info['recorded'] > 0 and not info['lost'], (found, info)
        out = subprocess.run(['babeltrace2', trace], capture_output=True, text=True, check=True)
        assert 'rcl_node_init' in out.stdout and 'rcl_publish:' in out.stdout and not out.stderr, out.stderr


def by_hand(robot, client, node):
    def answer(*states):
        until(f'{states}', lambda: [event['status'] for event in client.since('status') if event['node'] == node] == list(states))

    def send(*words):
        client.mark()
        client.do(*words)
    send('start', '100')                    # no session daemon
    answer('WAIT')
    robot.begin_daemon()
    send('start', '100')                    # without a session
    answer('WAIT')
    robot.lttng(f'{LTTNG} create idle --output={{output}}', 'idle')
    send('start', '100')                    # with one that was not started
    answer('WAIT')
    assert not robot.records() and 'no session is active' in robot.agent.output()
    robot.lttng(BEGIN, 'caret')
    assert '[active' in robot.lttng(f'{LTTNG} list', 'caret')
    send('start', '100')
    answer('PREPARE', 'RECORD')
    until('events', robot.events)
    send('end')                             # for other hosts: there is a session here
    answer('RECORD')
    robot.lttng(FINISH, 'caret')
    assert robot.records()
    send('end')
    answer('WAIT')
    robot.check(1)
    send('start', '100')                    # "idle" is there still
    answer('WAIT')


def by_command_line(robot, host):
    names = robot.names('session')
    record = host.client('record', '-f', '10000', '--begin', BEGIN.format(**names), '--finish', FINISH.format(**names))
    record.matched('start', 1)
    until('its node', lambda: len(record.nodes()) == 1)
    record.write()
    record.expect('all started')
    until('events', robot.events)
    record.expect('press enter to stop')
    record.write()
    record.wait()
    assert not record.since('failed to stop')
    robot.check(2)
    counts = subprocess.run(['babeltrace2', names['output']], capture_output=True, text=True)
    assert 'rcl_publish' not in counts.stdout, counts.stdout[:200]


def by_original(robot, host):
    """Return: how many recordings it made."""
    checkouts = os.environ.get('KYMO_CARET_SOURCE')
    if not checkouts:
        print('skipped in part: the original `ros2 caret record`; KYMO_CARET_SOURCE names no checkouts of ros2caret and ros2_tracing')
        return 0
    ros2 = os.path.join(host.root, 'bin', 'ros2')
    os.mkdir(os.path.dirname(ros2))
    with open(ros2, 'w') as script:
        script.write(f'#!/bin/sh\necho "$@" >{host.root}/asked\nexec sleep 600\n')
    os.chmod(ros2, 0o755)
    host.environment['PATH'] = f"{os.path.dirname(ros2)}:{host.environment['PATH']}"
    for done, words in enumerate(ORIGINAL):
        record = host.start('/usr/bin/python3', '-u', os.path.join(SOURCE, 'tests', 'caret', 'ros2_caret_record.py'), checkouts, CLIENT,
                            host.domain, '-s', f'original{done}', '-p', host.root, '-f', '10000', *words)
        until('its question', lambda: 'press enter to start' in record.output())
        record.write()
        until('RECORD of all', lambda: 'All process started recording.' in record.output())
        assert '1 recordable processes found.' in record.output(), record.output()
        until('events', robot.events)
        until('its last question', lambda: 'press enter to stop' in record.output())
        record.write()
        assert record.process.wait(300) == 0, record.said()
        robot.check(3 + done)
    with open(f'{host.root}/asked') as asked:
        assert asked.read() == 'run caret_trace clock_recorder\n'
    return len(ORIGINAL)


def daemon_dies(robot, client, node, count):
    """Without its daemon a session is active no more: the recording goes on until an End says so."""
    robot.lttng(BEGIN, 'last')
    client.mark()
    client.do('start', '100')
    until('RECORD', lambda: client.states().get(node) == 'RECORD')
    robot.daemon.kill()
    assert robot.records()
    client.mark()
    client.do('end')
    until('WAIT', lambda: client.states().get(node) == 'WAIT')
    robot.check(count)


def consumers_of(home):
    """The consumer daemons of a session daemon, by the home that they have of it."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/comm') as comm, open(f'/proc/{pid}/environ', 'rb') as environment:
                if comm.read().startswith('lttng-consumer') and f'LTTNG_HOME={home}'.encode() in environment.read().split(b'\0'):
                    found.append(int(pid))
        except OSError:
            pass
    return found


def main():
    for program in 'lttng', 'lttng-sessiond', 'babeltrace2':
        if not shutil.which(program):
            print(f'skipped: {program} is missing')
            sys.exit(77)
    reason = private(__file__, lttng=True)
    if reason:
        print(f'skipped: {reason}')
        sys.exit(77)
    alone(__file__)
    with Network(2) as network:
        here, there = network.hosts
        there.environment['LTTNG_HOME'] = here.root     # whose command line is run there: of one user
        robot = Robot(here)
        client = there.client('shell')
        client.matched('start', 1)
        client.matched('end', 1)
        client.matched('status', 1)
        node, = until('its node', client.nodes)
        try:
            by_hand(robot, client, node)
            by_command_line(robot, there)
            daemon_dies(robot, client, node, 3 + by_original(robot, there))
            assert robot.agent.running() and not robot.agent.said(), robot.agent.said()
        finally:
            for pid in consumers_of(here.root):
                os.kill(pid, signal.SIGTERM)
            until('the end of the consumers', lambda: not consumers_of(here.root))


main()
