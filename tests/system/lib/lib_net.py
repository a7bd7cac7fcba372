# SPDX-License-Identifier: Apache-2.0
"""A network with faults on one machine: the test is one host, what it starts on the other side another one, and between
them is a cable (tests/tools/netbridge.c) that can be cut, and can delay, reorder, duplicate and lose real packets.

    namespace of the test        of the bridge                 of the other side
    near0 10.77.0.1 ════════ cable0 [netbridge] cable1 ════════ far0 10.77.0.2

private(): begins the test again in namespaces of its own. Nothing of it is left when the test has ended, however."""
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import sys

from lib_test import BUILD, until


NEAR, FAR = '10.77.0.1', '10.77.0.2'
SIOCETHTOOL = 0x8946
# To be computed and cut by whoever sends: checksums of what is sent, segmentation, and putting together again.
OFFLOADS = (0x17, 0x1f, 0x24, 0x2c)     # ETHTOOL_STXCSUM, STSO, SGSO, SGRO


def ip(*arguments):
    done = subprocess.run(['ip', *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f'ip {" ".join(arguments)}: {done.stderr}'


def private(script, network=True, lttng=False):
    """Goes on in namespaces of its own: a network, and for root's session daemon of LTTng, which has one fixed place, that
    place. A reason why not, if it is not allowed here."""
    if 'KYMO_PRIVATE' in os.environ or (os.getuid() and not network):
        return None
    unshare, setup = ['unshare'], 'true'
    if network:
        unshare, setup = [*unshare, '--net'], 'ip link set lo up'
    if lttng:
        unshare, setup = [*unshare, '--mount'], f'{setup} && mkdir -p /run/lttng && mount -t tmpfs tmpfs /run/lttng'
    probe = 'ip link add probe0 type veth peer name probe1' if network else 'true'
    tried = subprocess.run([*unshare, 'sh', '-c', f'{setup} && {probe}'], capture_output=True, text=True)
    if tried.returncode:
        return f'no private place here: {tried.stderr.strip()}'
    os.environ['KYMO_PRIVATE'] = '1'
    os.execvp('unshare', [*unshare, 'sh', '-c', f'{setup} && exec "$@"', 'sh', sys.executable, os.path.abspath(script),
                          *sys.argv[1:]])


def without_offloads(interface):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for command in OFFLOADS:
            value = ctypes.create_string_buffer(struct.pack('=II', command, 0))
            fcntl.ioctl(any_socket, SIOCETHTOOL, struct.pack('16sP', interface.encode(), ctypes.addressof(value)))


class Cable:
    """Settings of the bridge, by name: cable.set(delay=20, jitter=10); cut() and restore()."""

    def __init__(self):
        self.far = subprocess.Popen(['unshare', '--net', 'cat'], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.bridge = subprocess.Popen(['unshare', '--net', os.path.join(BUILD, 'tests', 'netbridge'), 'cable0', 'cable1'],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        here = os.readlink('/proc/self/ns/net')
        for process in self.far, self.bridge:
            until('a namespace', lambda: os.readlink(f'/proc/{process.pid}/ns/net') != here)
        ip('link', 'add', 'near0', 'type', 'veth', 'peer', 'name', 'cable0')
        ip('link', 'add', 'far0', 'type', 'veth', 'peer', 'name', 'cable1')
        for name in 'near0', 'far0', 'cable0', 'cable1':
            without_offloads(name)
        ip('link', 'set', 'far0', 'netns', str(self.far.pid))
        for name in 'cable0', 'cable1':
            self.inside(self.bridge, 'true')
            ip('link', 'set', name, 'netns', str(self.bridge.pid))
            self.inside(self.bridge, 'ip', 'link', 'set', name, 'up')
        ip('address', 'add', f'{NEAR}/24', 'dev', 'near0')
        ip('link', 'set', 'near0', 'up')
        for command in ('link set lo up', f'address add {FAR}/24 dev far0', 'link set far0 up'):
            self.inside(self.far, 'ip', *command.split())
        assert self.bridge.stdout.readline() == 'ready\n', 'the bridge did not begin'

    def inside(self, process, *command):
        subprocess.run(['nsenter', '-t', str(process.pid), '-n', *command], check=True)

    def there(self):
        """What to put before a command so that it runs on the other side."""
        return ['nsenter', '-t', str(self.far.pid), '-n']

    def ask(self, line):
        self.bridge.stdin.write(line + '\n')
        return self.bridge.stdout.readline().strip()

    def set(self, **settings):
        for name, value in settings.items():
            answer = self.ask(f'{name} {value}')
            assert answer == 'ok', answer

    def cut(self):
        self.set(cut=1)

    def restore(self):
        self.set(cut=0)

    def count(self):
        words = self.ask('count').split()
        return dict(zip(words[::2], map(int, words[1::2])))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.bridge, self.far:
            process.stdin.close()
            process.wait(300)
