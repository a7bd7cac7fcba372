#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Traces of every shape CTF 1.8 allows, made here from random schemas, must read the same in
kymo dump and in babeltrace2: integers of any width, alignment, byte order, base; enums, floats,
strings, arrays, sequences, structures, variants; compact, large, plain and bit-packed event
headers; contexts; several packets and streams. Converted to CTF 2 and back, too."""
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, fewer, skip

SCHEMAS = 60
CONVERTED = fewer(range(SCHEMAS), 6)
UUID = bytes(range(16))


class Bits:
    def __init__(self, big):
        self.big, self.data, self.pos = big, bytearray(), 0

    def align(self, n):
        self.pos = (self.pos + n - 1) // n * n
        self.room()

    def room(self):
        while len(self.data) * 8 < self.pos:
            self.data.append(0)

    def put(self, value, size, big):
        value &= (1 << size) - 1
        for i in range(size):
            bit = value >> (size - 1 - i if big else i) & 1
            at = self.pos + i
            if at // 8 >= len(self.data):
                self.data.append(0)
            if bit:
                self.data[at // 8] |= 1 << (7 - at % 8 if big else at % 8)
        self.pos += size


class Int:
    def __init__(self, r, schema, size=None, align=None, signed=None, base=None):
        self.size = size or r.choice([8, 16, 32, 64, r.randint(1, 64), r.randint(1, 12)])
        aligns = [8, 8, 16, 32, 64] if self.size % 8 == 0 else [1, 1, 2, 4, 8]
        self.al = align or (r.choice(aligns) if not schema.packed else 8 if self.size % 8 == 0 else 1)
        self.signed = r.random() < .5 if signed is None else signed
        if 60 < self.size < 64 and base is None:
            base = 10       # babeltrace2 2.0.4 shows these as 0x0
        self.base = base or r.choice([2, 8, 10, 10, 16])
        # A change of byte order inside a byte is not allowed.
        free = self.al % 8 == 0 and self.size % 8 == 0
        self.big = schema.big != (free and r.random() < .3)
        self.schema = schema

    def tsdl(self):
        order = '' if self.big == self.schema.big else ' byte_order = %s;' % ('be' if self.big else 'le')
        return 'integer { size = %d; align = %d; signed = %s; base = %d;%s }' % (
            self.size, self.al, 'true' if self.signed else 'false', self.base, order)

    def decl(self, name):
        return '%s %s;' % (self.tsdl(), name)

    def put(self, out, value):
        out.align(self.al)
        out.put(value, self.size, self.big)

    def random(self, r, out, env):
        value = r.choice([0, 1, -1, r.getrandbits(self.size)]) & ((1 << self.size) - 1)
        self.put(out, value)
        return value


class Float(Int):
    def __init__(self, r, schema):
        super().__init__(r, schema, size=r.choice([32, 64]), align=r.choice([8, 32]) if not schema.packed else 8)

    def decl(self, name):
        exp, mant = (8, 24) if self.size == 32 else (11, 53)
        return 'floating_point { exp_dig = %d; mant_dig = %d; align = %d; byte_order = %s; } %s;' % (
            exp, mant, self.al, 'be' if self.big else 'le', name)

    def random(self, r, out, env):
        value = r.choice([0., 1.5, -2e300 if self.size == 64 else -2e30, r.random(), float('inf')])
        raw = struct.pack('<f' if self.size == 32 else '<d', value)
        self.put(out, int.from_bytes(raw, 'little'))


class Enum(Int):
    def __init__(self, r, schema, labels=None):
        super().__init__(r, schema, size=r.choice([4, 8, 16]), signed=r.random() < .3)
        self.labels = []
        at = 0
        for label in labels or ['off', 'on', '"two words"', 'last']:
            end = at + (r.randint(0, 2) if not labels else 0)
            if not self.signed or end < 1 << (self.size - 1):
                self.labels.append((label, at, end))
            at = end + 1 if labels else end + r.randint(0, 2)
            at = min(at, (1 << (self.size - 1)) - 1)
            if self.labels and not labels and end >= (1 << (self.size - 1)) - 2:
                break

    def tsdl(self):
        return 'enum : %s { %s }' % (super().tsdl(), ', '.join(
            '%s = %d' % (n, a) if a == b else '%s = %d ... %d' % (n, a, b) for n, a, b in self.labels))

    def random(self, r, out, env):
        value = r.choice([a for _, a, _ in self.labels] + [b for _, _, b in self.labels] + [13])
        self.put(out, value)
        return value


class String:
    al = 8

    def decl(self, name):
        return 'string %s;' % name

    def random(self, r, out, env):
        out.align(8)
        # No empty texts: babeltrace2 2.0.4 shows the text before in their place.
        text = r.choice([b'plain', b'"q\\u?o\'te"', b'tab\tnl\nbell\x07esc\x1bdel\x7f', 'grün'.encode()])
        for byte in text + b'\0':
            out.put(byte, 8, out.big)


class Text:
    """A fixed array of characters."""
    al = 8

    def __init__(self, r):
        self.size = r.randint(1, 20)

    def decl(self, name):
        return 'integer { size = 8; align = 8; signed = true; encoding = UTF8; } %s[%d];' % (name, self.size)

    def random(self, r, out, env):
        out.align(8)
        raw = r.choice([b'abc', b'x' * self.size])[:self.size].ljust(self.size, b'\0')
        for byte in raw:
            out.put(byte, 8, out.big)


class Array:
    def __init__(self, r, schema, depth):
        self.item, self.size = make(r, schema, depth + 1, inner=True), r.randint(0, 4)
        self.al = self.item.al

    def decl(self, name):
        return self.item.decl('%s[%d]' % (name, self.size))

    def random(self, r, out, env):
        out.align(self.al)
        for _ in range(self.size):
            self.item.random(r, out, env)


class Sequence(Array):
    """With the field of its length in front of it."""

    def __init__(self, r, schema, depth):
        super().__init__(r, schema, depth)
        self.length = Int(r, schema, size=r.choice([8, 16, 32, 64, 5]), signed=False)
        self.text = r.random() < .2

    def declare(self, name):
        if self.text:
            return self.length.decl('_%s_length' % name) + \
                ' integer { size = 8; align = 8; encoding = UTF8; } %s[_%s_length];' % (name, name)
        return self.length.decl('_%s_length' % name) + ' ' + self.item.decl('%s[_%s_length]' % (name, name))

    def random(self, r, out, env):
        size = r.choice([1 if self.text else 0, 1, 2, 7])
        self.length.put(out, size)
        if self.text:
            out.align(8)
            for i in range(size):
                out.put(r.choice(b'abc\0') if i else 65, 8, out.big)
            return
        out.align(self.al)
        for _ in range(size):
            self.item.random(r, out, env)


class Struct:
    def __init__(self, r, schema, depth, size=None):
        self.members = []
        for i in range(r.randint(0, 5) if size is None else size):
            self.members.append(('%sf%d' % ('_' if r.random() < .5 else '', i), make(r, schema, depth + 1)))
        self.extra = r.choice([0, 0, 0, 16, 64]) if not schema.packed else 0

    @property
    def al(self):
        return max([self.extra or 1] + [a for _, m in self.members for a in aligns(m)])

    def body(self):
        lines = [m.declare(n) if hasattr(m, 'declare') else m.decl(n) for n, m in self.members]
        return 'struct { %s }%s' % (' '.join(lines), ' align(%d)' % self.extra if self.extra else '')

    def decl(self, name):
        return '%s %s;' % (self.body(), name)

    def random(self, r, out, env):
        out.align(self.al)
        for _, member in self.members:
            member.random(r, out, env)


class Variant:
    """With its tag in front of it."""

    def __init__(self, r, schema, depth):
        self.options = [('o%d' % i, make(r, schema, depth + 1, plain=True)) for i in range(3)]
        self.tag = Enum(r, schema, labels=[n for n, _ in self.options])
        self.al = 1

    def declare(self, name):
        return self.tag.decl('%s_tag' % name) + ' variant <%s_tag> { %s } %s;' % (
            name, ' '.join(m.decl(n) for n, m in self.options), name)

    def random(self, r, out, env):
        i = r.randrange(len(self.tag.labels))
        self.tag.put(out, self.tag.labels[i][1])
        self.options[i][1].random(r, out, env)


def aligns(member):
    yield member.al
    if isinstance(member, Sequence):
        yield member.length.al
        if member.text:
            yield 8
    if isinstance(member, Variant):
        yield member.tag.al


def make(r, schema, depth, inner=False, plain=False):
    kinds = [Int, Int, Int, Enum, Float]
    if not plain and not inner and not schema.no_references:
        kinds += [Sequence, Variant, 'text']
    kinds += ['string']
    if depth < 3:
        kinds += [Struct]
        if not plain:
            kinds += [Array]
    kind = r.choice(kinds)
    if kind == 'string':
        return String()
    if kind == 'text':
        return Text(r)
    if kind in (Array, Sequence, Variant, Struct):
        return kind(r, schema, depth)
    return kind(r, schema)


class Header:
    """An event header of one of the shapes, and its clock."""

    def __init__(self, shape, schema):
        self.shape, self.schema = shape, schema
        self.al = {'odd': 1, 'natural': 64}.get(shape, 8)

    def tsdl(self):
        time = lambda size, al: 'integer { size = %d; align = %d; signed = false; map = clock.mono.value; }' % (size, al)
        uint = lambda size, al: 'integer { size = %d; align = %d; signed = false; }' % (size, al)
        if self.shape == 'plain':
            return 'struct { %s id; %s timestamp; }' % (uint(16, 8), time(64, 8))
        if self.shape == 'natural':
            return 'struct { %s id; %s timestamp; }' % (uint(32, 32), time(64, 64))
        if self.shape == 'odd':
            return 'struct { %s id; %s timestamp; }' % (uint(3, 1), time(45, 1))
        bits, low, al = (5, 27, 1) if self.shape == 'compact' else (16, 32, 8)
        last = (1 << bits) - 1
        return ('struct { enum : %s { compact = 0 ... %d, extended = %d } id; variant <id> { struct { %s timestamp; } '
                'compact; struct { %s id; %s timestamp; } extended; } v; } align(8)' % (
                    uint(bits, al), last - 1, last, time(low, al), uint(32, 8), time(64, 8)))

    def put(self, r, out, event, now, before):
        big = self.schema.big
        out.align(self.al)
        if self.shape in ('plain', 'natural', 'odd'):
            size, al, bits = {'plain': (16, 8, 64), 'natural': (32, 64, 64), 'odd': (3, 1, 45)}[self.shape]
            out.put(event, size, big)
            out.align(al)
            out.put(now, bits, big)
            return
        bits, low = (5, 27) if self.shape == 'compact' else (16, 32)
        if now - before >= 1 << low or r.random() < .2:
            out.put((1 << bits) - 1, bits, big)
            out.align(8)
            out.put(event, 32, big)
            out.put(now, 64, big)
        else:
            out.put(event, bits, big)
            out.put(now, low, big)


class Schema:
    def __init__(self, seed):
        r = random.Random(seed)
        self.big = r.random() < .4
        self.packed = r.random() < .3     # bits without gaps
        shape = ['plain', 'compact', 'large', 'natural', 'odd'][seed % 5]
        self.no_references = False
        self.header = Header(shape, self)
        self.context = Struct(r, self, 1) if r.random() < .5 else None
        self.packet = Struct(r, self, 1, size=2) if r.random() < .5 else None
        self.events = []
        for i in range(5):
            self.no_references = True   # babeltrace2 2.0.4 aborts on them in event contexts
            context = Struct(r, self, 1) if r.random() < .3 else None
            self.no_references = False
            fields = Struct(r, self, 0) if i else None
            self.events.append((context, fields))
        self.r = r
        self.written = 0

    def metadata(self):
        packet_extra = ' '.join(m.declare('x' + n) if hasattr(m, 'declare') else m.decl('x' + n)
                                for n, m in self.packet.members) if self.packet else ''
        u64 = 'integer { size = 64; align = 8; }'
        time = 'integer { size = 64; align = 8; map = clock.mono.value; }'
        out = ['/* CTF 1.8 */', 'trace { major = 1; minor = 8; byte_order = %s; uuid = "%s";' % (
            'be' if self.big else 'le', '00010203-0405-0607-0809-0a0b0c0d0e0f'),
            'packet.header := struct { integer { size = 32; align = 8; } magic; integer { size = 8; } uuid[16]; '
            'integer { size = 32; align = 8; } stream_id; %s stream_instance_id; }; };' % u64,
            'env { hostname = "host\\twith tab"; number = -3; vpid = 77; procname = "p"; };',
            'clock { name = mono; freq = 1000000000; offset_s = 1700000000; offset = 123456789; };',
            'stream { id = 5; event.header := %s; packet.context := struct { %s timestamp_begin; %s timestamp_end; '
            '%s content_size; %s packet_size; %s };' % (self.header.tsdl(), time, time, u64, u64, packet_extra),
            'event.context := %s;' % self.context.body() if self.context else '', '};']
        for i, (context, fields) in enumerate(self.events):
            out.append('event { name = "e%d"; id = %d; stream_id = 5; %s %s };' % (
                i, i, 'context := %s;' % context.body() if context else '',
                'fields := %s;' % fields.body() if fields else ''))
        return '\n'.join(out) + '\n'

    def stream(self, instance):
        r, data, now = self.r, b'', 1000 + instance
        for _ in range(3):
            out = Bits(self.big)
            now += r.choice([5, 1 << 28, 1 << 33])
            begin = now
            for value, size in [(0xc1fc1fc1, 32)] + [(b, 8) for b in UUID] + [(5, 32), (instance, 64)]:
                out.put(value, size, self.big)
            # The structure is as strict as its strictest member.
            out.align(max(self.packet.al if self.packet else 8, 8))
            context = out.pos
            for value in (begin, 0, 0, 0):
                out.put(value, 64, self.big)
            if self.packet:
                for _, member in self.packet.members:
                    member.random(r, out, {})
            before = begin
            for _ in range(r.choice([0, 1, 25])):
                event = r.randrange(len(self.events))
                now += r.choice([0, 1, 1000, 1 << 26, 1 << 29])
                self.header.put(r, out, event, now, before)
                before = now
                self.written += 1
                for scope in (self.context,) + self.events[event]:
                    if scope:
                        scope.random(r, out, {})
            content = out.pos
            out.align(8)
            out.pos += r.choice([0, 64])
            out.room()
            size = out.pos
            for i, value in enumerate((begin, now, content, size)):
                raw = value.to_bytes(8, 'big' if self.big else 'little')
                out.data[context // 8 + 8 * i:context // 8 + 8 * i + 8] = raw
            data += bytes(out.data)
        return data


def check(seed, scratch):
    trace = os.path.join(scratch, str(seed))
    os.mkdir(trace)
    schema = Schema(seed)
    with open(os.path.join(trace, 'metadata'), 'w') as f:
        f.write(schema.metadata())
    for instance in range(1 + seed % 2):
        with open(os.path.join(trace, 's%d' % instance), 'wb') as f:
            f.write(schema.stream(instance))
    theirs = subprocess.run(['babeltrace2', trace], capture_output=True)
    ours = subprocess.run([KYMO, 'dump', trace], capture_output=True)
    lines = ours.stdout.count(b'\n')
    said = b'' if schema.written else b'kymo dump: the trace has no event\n'
    if ours.returncode or ours.stderr != said or lines != schema.written:
        print('schema %d: status %d, %d of %d events, %s' % (
            seed, ours.returncode, lines, schema.written, ours.stderr.decode()))
        return False
    if theirs.returncode:
        if seed < SCHEMAS:
            print('schema %d: babeltrace2 refuses it:\n%s' % (seed, theirs.stderr.decode()[-1500:]))
        return False
    if ours.stdout != theirs.stdout:
        print('schema %d differs:' % seed)
        for a, b in zip(theirs.stdout.splitlines(), ours.stdout.splitlines()):
            if a != b:
                print('  theirs: %s\n  ours:   %s' % (a, b))
                break
        print('  %d and %d lines' % (theirs.stdout.count(b'\n'), ours.stdout.count(b'\n')))
        return False
    if seed in CONVERTED and not converts(seed, trace, scratch, theirs.stdout):
        return False
    shutil.rmtree(trace)
    return lines


def converts(seed, trace, scratch, text):
    """As CTF 2 it reads the same, and as CTF 1.8 again both programs read it as they did."""
    two, one = (os.path.join(scratch, '%d-as-%s' % (seed, version)) for version in ('2', '1.8'))
    for made, of, version in (two, trace, '2'), (one, two, '1.8'):
        subprocess.run([KYMO, 'export', of, '--quiet', '--format', 'ctf', '--ctf', version, '-o', made], check=True)
        if subprocess.run([KYMO, 'dump', made], capture_output=True).stdout != text:
            print('schema %d: as CTF %s it reads otherwise' % (seed, version))
            return False
    same = subprocess.run(['babeltrace2', one], capture_output=True).stdout == text
    if not same:
        print('schema %d: babeltrace2 reads it otherwise when it was CTF 2 meanwhile' % seed)
    shutil.rmtree(two)
    shutil.rmtree(one)
    return same


def main():
    if not shutil.which('babeltrace2'):
        skip('babeltrace2 is not installed')
    scratch = tempfile.mkdtemp(prefix='kymo-shapes.')
    seeds = [int(a) for a in sys.argv[1:]] or range(SCHEMAS)
    try:
        results = [check(seed, scratch) for seed in seeds]
    finally:
        if len(sys.argv) == 1:
            shutil.rmtree(scratch)
    print('%d schemas, %d events' % (len(results), sum(int(r) for r in results)))
    return 0 if all(r is not False for r in results) else 1


if __name__ == '__main__':
    sys.exit(main())
