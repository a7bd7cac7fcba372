# SPDX-License-Identifier: Apache-2.0
"""A relay for tests, and LTTng's relay protocols spoken from Python: written from the layouts a second time,
so that both sides do not agree on the same mistake. All integers are big-endian."""
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile

from lib_test import BUILD, KYMO

OK = 10

ADD_STREAM, CREATE_SESSION, VERSION, SEND_METADATA, CLOSE_STREAM, DATA_PENDING = 1, 2, 5, 6, 7, 8
QUIESCENT, BEGIN_PENDING, END_PENDING, SEND_INDEX, STREAMS_SENT, RESET_METADATA = 9, 10, 11, 13, 16, 17
ROTATE, CREATE_CHUNK, CLOSE_CHUNK, CHUNK_EXISTS, GET_CONFIGURATION = 18, 19, 20, 21, 22


class Relay:
    """`kymo relay` in a directory of its own, on ports that were free. @inside: what to put before its command, so that
    it runs elsewhere. wrap: what Connection has."""
    name, wrap = 'kymo relay', None

    def __init__(self, *options, env=(), host='127.0.0.1', inside=()):
        self.dir = tempfile.mkdtemp(prefix='kymo-relay-')
        self.output = os.path.join(self.dir, 'traces')
        self.log = open(os.path.join(self.dir, 'log'), 'w+')
        self.host, self.env = host, dict(os.environ, **dict(env))
        self.command = [*inside, KYMO, 'relay', '-o', self.output, '--bind', host, *options]
        self.begin(0, 0, 0)

    def begin(self, *ports):
        named = [word for pair in zip(('--control', '--data', '--live'), map(str, ports)) for word in pair]
        self.process = subprocess.Popen(self.command + named, stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env=self.env)
        lines = self.process.stdout.readline() + self.process.stdout.readline()
        ports = re.match(rf'producers: nets?://{self.host}:(\d+):(\d+).*\nviewers: nets?://{self.host}:(\d+)', lines)
        assert ports, f'the relay printed {lines!r}, status {self.process.poll()}: {self.said()}'
        self.control, self.data, self.live = map(int, ports.groups())

    def kill(self):
        self.process.kill()
        self.process.wait(300)
        self.process.stdout.close()

    def again(self):
        """It was killed, and begins with the same directory and ports."""
        self.begin(self.control, self.data, self.live)

    def said(self):
        self.log.flush()
        return open(self.log.name).read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(300)
        self.process.stdout.close()
        assert status == 0, f'the relay ended with {status}: {self.said()}'

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            if kind:
                self.kill()
                print(self.said())
            else:
                self.stop()
        self.log.close()
        subprocess.run(['rm', '-rf', self.dir], check=True)


class StoppedDisk:
    """While the file is there, the relay's disk answers nothing (tests/preload/slow_disk.c)."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix='kymo-disk-')
        self.file = os.path.join(self.dir, 'stops')
        self.looks = os.path.join(self.dir, 'looks')
        self.env = {'LD_PRELOAD': os.path.join(BUILD, 'tests', 'libslow_disk.so'), 'KYMO_TEST_DISK_STOPS': self.file,
                    'KYMO_TEST_STAT_STOPS': self.looks,
                    'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'}

    def __enter__(self):
        return self

    def stop(self):
        open(self.file, 'w').close()

    def go_on(self):
        os.unlink(self.file)

    def __exit__(self, *_):
        shutil.rmtree(self.dir)         # which lets go what waits


class Connection:
    """A connection that sends whole requests and reads replies of known size. wrap: makes another socket of its own."""

    def __init__(self, port, wrap=None, host='127.0.0.1', source=None):
        self.socket = socket.create_connection((host, port), 300, source and (source, 0))
        self.socket.settimeout(300)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if wrap:
            self.socket = wrap(self.socket)

    def send(self, data):
        self.socket.sendall(data)

    def read(self, size):
        data = b''
        while len(data) < size:
            some = self.socket.recv(size - len(data))
            if not some:
                raise EOFError(f'closed after {len(data)} of {size} bytes')
            data += some
        return data

    def segments(self):
        """Segments with data that came so far: tcpi_data_segs_in of struct tcp_info."""
        return struct.unpack('=152xI', self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 156))[0]

    def is_closed(self):
        """Whether the other side closes it; nothing else may come."""
        try:
            return self.socket.recv(1) == b''
        except ConnectionError:
            return True

    def close(self):
        self.socket.close()


def text(value):
    return value.encode() + b'\0'


class Producer:
    """What lttng-consumerd does, with the layouts of 2.13, with minor=4 of 2.4, with minor=15 of 2.15."""

    def __init__(self, relay, minor=13):
        self.control, self.data = (Connection(port, relay.wrap, relay.host) for port in (relay.control, relay.data))
        self.seq, self.minor = {}, minor
        self.request(VERSION, struct.pack('>II', 2, minor))
        major, theirs = struct.unpack('>II', self.control.read(8))
        assert major == 2
        self.minor = min(minor, theirs)

    def request(self, command, payload=b''):
        self.control.send(struct.pack('>QQII', 0, len(payload), command, 0) + payload)

    def ask(self, command, payload=b'', size=4):
        self.request(command, payload)
        return self.control.read(size)

    def ret(self, command, payload=b''):
        return struct.unpack('>I', self.ask(command, payload))[0]

    def good(self, command, payload=b''):
        ret = self.ret(command, payload)
        assert ret == OK, f'request {command}: {ret}'

    def creation(self, name, host='robot', live_timer=1000000, snapshot=0, base='', ctf=0):
        names = text(name), text(host), text(base)
        payload = struct.pack('>IIIIBB16sQQBQ', *map(len, names), live_timer, snapshot, 0, b'u' * 16, 7, 1700000000, 0, 0)
        return payload + (struct.pack('>I', ctf) if self.minor >= 15 else b'') + b''.join(names)

    def create_without_answer(self, name):
        self.request(CREATE_SESSION, self.creation(name))

    def create(self, name='session', host='robot', live_timer=1000000, snapshot=0, base='', ctf=0):
        if self.minor < 11:
            payload = struct.pack('>255s64sII', name.encode(), host.encode(), live_timer, snapshot)
            self.session, ret = struct.unpack('>QI', self.ask(CREATE_SESSION, payload, 12))
            self.path = None
        else:
            payload = self.creation(name, host, live_timer, snapshot, base, ctf)
            self.session, ret, size = struct.unpack('>QII', self.ask(CREATE_SESSION, payload, 16))
            self.path = self.control.read(size)[:-1].decode()
        assert ret == OK, ret
        if self.minor >= 11:
            self.chunk(0)
        return self

    def chunk(self, number, name=''):
        payload = text(name) if name else b''
        self.good(CREATE_CHUNK, struct.pack('>QQI', number, 1700000000, len(payload)) + payload)

    def close_chunk(self, number, command=None):
        reply = self.ask(CLOSE_CHUNK, struct.pack('>QQBI', number, 1700000100, command is not None, command or 0), 8)
        ret, size = struct.unpack('>II', reply)
        assert size >= 1
        path = self.control.read(size)
        assert path.endswith(b'\0')
        return ret, path[:-1].decode()

    def try_stream(self, channel, path='ust/uid/0/64-bit', file_size=0, file_count=0):
        if self.minor < 11:
            whole = f'/robot/session-20261120-201334//{path}'
            payload = struct.pack('>264s4096sQQ', channel.encode(), whole.encode(), file_size, file_count)
        else:
            names = text(channel), text(path)
            payload = struct.pack('>IIQQQ', *map(len, names), file_size, file_count, 0) + b''.join(names)
        return struct.unpack('>QI', self.ask(ADD_STREAM, payload, 12))

    def stream(self, *args, **kwargs):
        stream, ret = self.try_stream(*args, **kwargs)
        assert ret == OK, ret
        self.seq[stream] = 0
        return stream

    def sent(self):
        self.good(STREAMS_SENT)

    def metadata(self, stream, data, padding=0):
        self.request(SEND_METADATA, struct.pack('>QI', stream, padding) + data)

    def send_data(self, stream, packet, padding=0, seq=None):
        seq = self.seq[stream] if seq is None else seq
        self.data.send(struct.pack('>QQQII', 0, stream, seq & (2**64 - 1), len(packet), padding) + packet)

    def send_index(self, stream, packet, begin, end, padding=0, seq=None, discarded=0, number=None):
        seq = self.seq[stream] if seq is None else seq
        payload = struct.pack('>8Q', stream, seq & (2**64 - 1), 8 * (len(packet) + padding), 8 * len(packet), begin, end,
                              discarded, 0)
        if self.minor >= 8:
            payload += struct.pack('>QQ', 0, seq if number is None else number)
        self.good(SEND_INDEX, payload)

    def packet(self, stream, packet, begin, end, padding=0, **kwargs):
        self.send_data(stream, packet, padding)
        self.send_index(stream, packet, begin, end, padding, **kwargs)
        self.seq[stream] += 1

    def beacon(self, stream, time):
        payload = struct.pack('>8Q', stream, (self.seq[stream] - 1) & (2**64 - 1), 0, 0, 0, time, 0, 0)
        self.good(SEND_INDEX, payload + (bytes(16) if self.minor >= 8 else b''))

    def rotate(self, positions, chunk=None, padding=7):
        payload = struct.pack('>IB', len(positions), chunk is not None) + b'\xa5' * padding
        return self.ret(ROTATE, payload + struct.pack('>Q', chunk or 0) + b''.join(struct.pack('>QQ', *position) for position in positions))

    def pending(self, stream, last=None):
        last = self.seq[stream] - 1 if last is None else last
        return self.ret(DATA_PENDING, struct.pack('>QQ', stream, last & (2**64 - 1)))

    def close_stream(self, stream, last=None):
        last = self.seq.get(stream, 0) - 1 if last is None else last
        self.good(CLOSE_STREAM, struct.pack('>QQ', stream, last & (2**64 - 1)))

    def close(self):
        self.control.close()
        self.data.close()


INDEX_OK, RETRY, HUP, ERR, INACTIVE = 1, 2, 3, 4, 5
NEW_METADATA, NEW_STREAM = 1, 2


class Viewer:
    """What babeltrace2's lttng-live does."""

    def __init__(self, port, wrap=None, host='127.0.0.1', minor=4):
        self.connection = Connection(port, wrap, host)
        self.request(1, struct.pack('>QIII', 2**64 - 1, 2, minor, 1))
        self.id, major, self.minor, _ = struct.unpack('>QIII', self.connection.read(20))
        assert major == 2

    def request(self, command, payload=b''):
        self.connection.send(struct.pack('>QII', len(payload), command, 0) + payload)

    def unpack(self, layout):
        return struct.unpack(layout, self.connection.read(struct.calcsize(layout)))

    def sessions(self):
        self.request(2)
        result = []
        for _ in range(self.unpack('>I')[0]):
            session, timer, viewers, streams, host, name = self.unpack('>QIII64s255s')
            result.append((session, timer, viewers, streams, host.split(b'\0')[0].decode(),
                           name.split(b'\0')[0].decode()))
        return result

    def streams(self):
        status, count = self.unpack('>II')
        result = []
        for _ in range(count):
            stream, trace, is_metadata, path, channel = self.unpack('>QQI4096s255s')
            result.append((stream, trace, is_metadata, path.split(b'\0')[0].decode(), channel.split(b'\0')[0].decode()))
        return status, result

    def create(self):
        self.request(8)
        assert self.unpack('>I') == (1,)

    def attach(self, session, seek=2):
        self.request(3, struct.pack('>QQI', session, 0, seek))
        return self.streams()

    def next_index(self, stream):
        """(status, flags, offset, packet bits, content bits, begin, end, discarded, class)"""
        self.request(4, struct.pack('>Q', stream))
        *entry, status, flags = self.unpack('>7QII')
        return (status, flags, *entry)

    def packet(self, stream, offset, size):
        self.ask_packet(stream, offset, size)
        return self.take_packet()

    def ask_packet(self, stream, offset, size):
        self.request(5, struct.pack('>QQI', stream, offset, size))

    def take_packet(self):
        status, size, flags = self.unpack('>III')
        return status, self.connection.read(size)

    def metadata(self, stream):
        self.request(6, struct.pack('>Q', stream))
        size, status = self.unpack('>QI')
        return status, self.connection.read(size)

    def new_streams(self, session):
        self.request(7, struct.pack('>Q', session))
        return self.streams()

    def detach(self, session):
        self.request(9, struct.pack('>Q', session))
        return self.unpack('>I')[0]

    def close(self):
        self.connection.close()
