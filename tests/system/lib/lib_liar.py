# SPDX-License-Identifier: Apache-2.0
"""A proxy in front of a relay that lies: sizes and numbers that are wrong, bytes that are cut, repeated without end, or come
byte by byte, silence. A seed says how."""
import random
import socket
import struct
import threading

from lib_proxy import carry

ENOUGH = 8 << 20        # bytes of a reply without end
LIES = [0, 1, 2, 3, 4, 7, 255, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]


class Liar:
    """A port on the way to a relay's, which changes the replies, or the @requests, from byte @after of a connection on."""

    KINDS = 'flip', 'lie', 'cut', 'repeat', 'insert', 'silence', 'slow', 'drop'

    def __init__(self, target, seed, requests=False):
        self.draw, self.target, self.requests = random.Random(seed), target, requests
        self.kind = self.KINDS[seed % len(self.KINDS)]
        self.after = int(2 ** self.draw.uniform(0, 16))
        self.rate = self.draw.choice((0.02, 0.2, 1))
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
                far = socket.create_connection(('127.0.0.1', self.target))
            except OSError:
                return
            for source, sink, requests in (near, far, True), (far, near, False):
                change = self.changer() if requests == self.requests else lambda data: [data]
                threading.Thread(target=carry, args=(source, sink, change), daemon=True).start()

    def changer(self):
        seen = 0

        def change(data):
            nonlocal seen
            before, seen = seen, seen + len(data)
            if seen <= self.after or self.draw.random() > self.rate:
                return [data]
            at = max(0, self.after - before)
            return getattr(self, self.kind)(data, self.draw.randrange(at, len(data)))
        return change

    def flip(self, data, at):
        changed = bytearray(data)
        changed[at] ^= 1 << self.draw.randrange(8)
        return [changed]

    def lie(self, data, at):
        """A number of the protocol, aligned to four bytes, as all are that matter."""
        size = self.draw.choice((4, 8))
        number = struct.pack('>Q', self.draw.choice(LIES))[-size:]
        at = at // 4 * 4
        return [data[:at] + number[:len(data) - at] + data[at + size:]]

    def cut(self, data, at):
        yield data[:at]
        raise ConnectionResetError

    def repeat(self, data, at):
        for _ in range(ENOUGH // max(1, len(data) - at)):
            yield data[at:]

    def insert(self, data, at):
        return [data[:at], self.draw.randbytes(self.draw.choice((1, 4, 1000))), data[at:]]

    def silence(self, data, at):
        return [data[:at]] if self.draw.random() < 0.1 else []

    def slow(self, data, at):
        return [data[i:i + 1] for i in range(len(data))]

    def drop(self, data, at):
        return [data[:at], data[at + self.draw.choice((1, 4, 8)):]]
