# SPDX-License-Identifier: Apache-2.0
"""Several hosts on one machine: each has a network namespace, an address, a KYMO_DIR and a home of its own. All are
plugged into one switch, and so is the test itself.

    namespace of the test                   host 0, host 1, host 2 ...
    10.78.0.254 uplink ── [ switch: a bridge ] ═══ eth0  10.78.0.1, 10.78.0.2, ...

alone(__file__)
with Network(2) as network:
    network.hosts[0].kymo('status'); host.start_kymo('agent'); host.client('record', '-f', '10000')
Every frame between hosts passes the test's namespace."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import traceback

from lib_net import ip, private, without_offloads
from lib_test import BUILD, KYMO, until

CLIENT = os.path.join(BUILD, 'tests', 'caret_client')

# Who is not heard of for a second is gone: with CycloneDDS's ten a test of crashes would only wait.
URI = '''<CycloneDDS><Domain id="any"><General><Interfaces><NetworkInterface name="%s"/></Interfaces></General>
<Discovery><LeaseDuration>%s</LeaseDuration></Discovery></Domain></CycloneDDS>'''


def alone(script):
    """Goes on in a namespace where hosts can be made; ends as skipped, with the reason, where that cannot be."""
    reason = private(script) if os.path.exists(CLIENT) else 'caret_client was not built: it needs CycloneDDS'
    if reason:
        print(f'skipped: {reason}')
        sys.exit(77)


class Program:
    """A program on a host. What it writes is in files; lines() of its standard output, said() on standard error."""

    def __init__(self, command, environment, directory):
        self.name = os.path.basename(command[0]) if command[0] != 'nsenter' else ' '.join(command[5:7])
        self.out, self.err = (tempfile.NamedTemporaryFile('w+', dir=directory, delete=False) for _ in range(2))
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=self.out, stderr=self.err,
                                        text=True, bufsize=1)
        self.command, self.pid = command, self.process.pid

    def output(self):
        return open(self.out.name).read()

    def said(self):
        return open(self.err.name).read()

    def events(self):
        """JSON lines of its standard output, complete ones."""
        return [json.loads(line) for line in self.output().splitlines(True) if line.endswith('\n')]

    def write(self, *words):
        self.process.stdin.write('\t'.join(words) + '\n')
        self.process.stdin.flush()

    def running(self):
        return self.process.poll() is None

    def end(self, number=signal.SIGINT, status=0):
        """Sends the signal, and it ends with that status; None: with any."""
        if self.running():
            self.process.send_signal(number)
        return self.wait(status)

    def wait(self, status=0):
        ended = self.process.wait(300)
        self.process.stdin.close()
        self.out.close()
        self.err.close()
        assert status is None or ended == status, f'{self.name} ended with {ended}, not {status}: {self.said()}'
        return ended

    def kill(self):
        self.end(signal.SIGKILL, None)


class Client(Program):
    """caret_client. mark() and since(): what came later."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.at = 0

    def mark(self):
        self.at = len(self.events())

    def since(self, what=None):
        return [event for event in self.events()[self.at:] if what in (None, event['event'])]

    def expect(self, what, condition=lambda event: True):
        """Waits for such an event after the mark."""
        def found():
            assert self.running() or any(condition(e) for e in self.since(what)), f'it ended: {self.said()}'
            return [event for event in self.since(what) if condition(event)]
        try:
            return until(f'the event "{what}"', found)[0]
        except AssertionError:
            print(f'{self.name} saw: {self.since()}\n{self.said()}')
            raise

    def do(self, *words):
        """A command of the shell; returns when it is done."""
        before = sum(event['event'] == 'done' for event in self.events())
        self.write(*words)
        until(f'"{words[0]}"', lambda: sum(event['event'] == 'done' for event in self.events()) > before)

    def matched(self, topic, count):
        """Waits for so many subscriptions of a topic: what is sent to one that comes later is lost."""
        def enough():
            if 'shell' in self.command:         # "record" tells each change
                self.do('matched')
            return [event[topic] for event in self.events() if event['event'] == 'matched'][-1:] >= [count]
        until(f'{count} subscriptions of {topic}', enough)

    def nodes(self):
        """Nodes in the graph that CARET's command line would count, without their slash."""
        graphs = [event['nodes'] for event in self.events() if event['event'] == 'graph']
        return [name[1:] for name in (graphs[-1] if graphs else []) if 'caret_trace_' in name]

    def states(self):
        """The last status of each node that told one since the mark."""
        return {event['node']: event['status'] for event in self.since('status')}


class Host:
    def __init__(self, network, number):
        self.network, self.number, self.programs = network, number, []
        self.address = f'10.78.0.{number + 1}'
        self.root = tempfile.mkdtemp(prefix=f'host{number}-', dir=network.root)
        self.run_dir, self.traces = (os.path.join(self.root, name) for name in ('run', 'traces'))
        os.mkdir(self.run_dir, 0o700)
        self.environment = dict(os.environ, KYMO_DIR=self.run_dir, ROS_TRACE_DIR=self.traces, HOME=self.root, ROS_DISTRO='jazzy',
                                LTTNG_HOME=self.root)
        self.join(0)
        here = os.readlink('/proc/self/ns/net')
        self.holder = subprocess.Popen(['unshare', '--net', '--uts', 'cat'], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        until('a namespace', lambda: os.readlink(f'/proc/{self.holder.pid}/ns/net') != here)
        # unshare --uts comes after --net: `cat` itself tells that both are there.
        until('its program', lambda: open(f'/proc/{self.holder.pid}/comm').read() == 'cat\n')
        self.port = f'port{number}'
        ip('link', 'add', self.port, 'type', 'veth', 'peer', 'name', f'peer{number}')
        without_offloads(self.port)
        without_offloads(f'peer{number}')
        ip('link', 'set', f'peer{number}', 'netns', str(self.holder.pid), 'name', 'eth0')
        ip('link', 'set', self.port, 'master', 'switch', 'up')
        for command in ('ip link set lo up', f'ip address add {self.address}/24 dev eth0', 'ip link set eth0 up',
                        f'hostname host{number}'):
            subprocess.run([*self.there(), *command.split()], check=True)

    def there(self):
        """What to put before a command so that it runs on this host."""
        return ['nsenter', '-t', str(self.holder.pid), '-n', '-u']

    def cut(self):
        """Its cable is pulled."""
        ip('link', 'set', self.port, 'down')

    def plug(self):
        ip('link', 'set', self.port, 'up')

    def start(self, *command, kind=Program):
        program = kind([*self.there(), *command], self.environment, self.root)
        self.programs.append(program)
        return program

    def start_kymo(self, *arguments):
        return self.start(KYMO, *arguments)

    def join(self, domain, lease=None):
        """What is started from now on is in this ROS domain; and not heard of for so long it is gone."""
        self.domain = self.environment['ROS_DOMAIN_ID'] = str(domain)
        self.environment['CYCLONEDDS_URI'] = URI % ('eth0', lease or self.network.lease)

    def client(self, *arguments):
        """caret_client, once it has joined."""
        client = self.start(CLIENT, '--domain', self.domain, *arguments, kind=Client)
        client.expect('joined')
        return client

    def kymo(self, *arguments, status=0):
        """What `kymo ...` prints."""
        done = subprocess.run([*self.there(), KYMO, *arguments], env=self.environment, capture_output=True, text=True, timeout=300)
        assert status is None or done.returncode == status, f'kymo {" ".join(arguments)}: {done.returncode}: {done.stderr}'
        return done.stdout

    def status(self):
        return json.loads(self.kymo('status', '--interval', '0', '--format', 'json'))

    def close(self, bad):
        for program in self.programs:
            if program.running():
                program.kill()
            if bad:
                print(f'--- host {self.number}: {program.name}\n{program.output()[-3000:]}{program.said()[-3000:]}')
        self.holder.stdin.close()
        self.holder.wait(300)


class Network:
    def __init__(self, hosts, lease='1s'):
        self.lease = lease
        self.root = tempfile.mkdtemp(prefix='kymo-hosts-')
        ip('link', 'add', 'switch', 'type', 'bridge', 'mcast_snooping', '0')
        ip('link', 'set', 'switch', 'up')
        ip('address', 'add', '10.78.0.254/24', 'dev', 'switch')
        self.hosts = [Host(self, number) for number in range(hosts)]

    def together(self, *scenarios):
        """scenario(network) or, of a pair, scenario(network, hosts), all at the same time: what waits does not add up. Each has
        a ROS domain of its own."""
        def run(scenario, *hosts):
            try:
                scenario(self, *hosts)
            except BaseException:
                failed.append(scenario.__name__)
                traceback.print_exc()
        failed = []
        threads = [threading.Thread(target=run, args=scenario if isinstance(scenario, tuple) else (scenario,))
                   for scenario in scenarios]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed, f'failed: {", ".join(failed)}'

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for host in self.hosts:
            host.close(kind is not None)
        ip('link', 'delete', 'switch')
        shutil.rmtree(self.root)
