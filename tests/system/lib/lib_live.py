# SPDX-License-Identifier: Apache-2.0
"""`kymo live` and a real lttng-relayd for tests."""
import os
import signal
import socket
import subprocess
import tempfile
import threading

from lib_proxy import carry, hang_up
from lib_test import KYMO, until


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(('127.0.0.1', 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class LttngRelayd:
    """The real one, on ports of its own; a port that somebody else took meanwhile is tried again."""

    name, wrap = 'lttng-relayd', None

    def __init__(self):
        self.host = '127.0.0.1'
        self.dir = tempfile.mkdtemp(prefix='kymo-relayd-')
        self.output = os.path.join(self.dir, 'traces')
        os.mkdir(self.output)
        until('lttng-relayd', self.start)

    def start(self):
        self.control, self.data, self.live = free_ports(3)
        self.log = open(os.path.join(self.dir, 'log'), 'w')
        self.process = subprocess.Popen(
            ['lttng-relayd', '-o', self.output, '-C', f'tcp://127.0.0.1:{self.control}', '-D',
             f'tcp://127.0.0.1:{self.data}', '-L', f'tcp://127.0.0.1:{self.live}'],
            stdout=self.log, stderr=self.log, env={**os.environ, 'HOME': self.dir, 'LTTNG_HOME': self.dir})

        def is_there():
            return self.process.poll() is not None or all(
                socket.socket().connect_ex(('127.0.0.1', port)) == 0 for port in (self.control, self.data, self.live))
        until('its ports', is_there)
        return self.process.poll() is None

    def said(self):
        return open(self.log.name).read()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(300)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        subprocess.run(['rm', '-rf', self.dir], check=True)


class Cut:
    """A viewer's port on the way to a relay's; cut() breaks all connections that go through."""

    def __init__(self, relay):
        self.target, self.pairs, self.lock = relay.live, [], threading.Lock()
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.live = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                self.join(near, socket.create_connection(('127.0.0.1', self.target)))
            except OSError:             # the relay has gone, or it was cut already
                near.close()

    def join(self, near, far):
        with self.lock:
            self.pairs.append((near, far))
        for source, sink in (near, far), (far, near):
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # in small pieces, so that replies are cut in their middle
            threading.Thread(target=carry, args=(source, sink), kwargs={'piece': 1000}, daemon=True).start()

    def cut(self):
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for pair in pairs:
            hang_up(*pair)


class Live:
    """`kymo live` of a session, or of whatever @what says."""

    def __init__(self, what, *options, **kwargs):
        self.out, self.err = tempfile.TemporaryFile('w+'), tempfile.TemporaryFile('w+')
        self.process = subprocess.Popen([KYMO, 'live', what, *options], stdout=self.out, stderr=self.err, **kwargs)

    @staticmethod
    def url(relay, session):
        return f'net://127.0.0.1:{relay.live}/host/{os.uname().nodename}/{session}'

    def text(self):
        return os.pread(self.out.fileno(), 1 << 30, 0).decode()

    def lines(self):
        return self.text().splitlines()

    def said(self):
        return os.pread(self.err.fileno(), 1 << 20, 0).decode()

    def wait(self, status=0):
        """Waits for its end; the lines."""
        ended = self.process.wait(300)
        assert ended == status, f'kymo live ended with {ended}: {self.said()} {self.lines()[-3:]}'
        return self.lines()

    def stop(self):
        """Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return self.wait()
