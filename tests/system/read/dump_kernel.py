#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Traces of the shapes that LTTng's kernel tracer, barectf and babeltrace2 itself write must read the
same in kymo dump and in babeltrace2: compact headers whose 27 bits of time go around, events with arrays
of characters, enums with ranges, lengths in packed bits, variants inside variants, empty structures; both
byte orders; several clocks; packets without times and streams without a clock; what sink.ctf.fs makes."""
import os
import random
import shutil
import subprocess
import sys
import tempfile

from dump_shapes import Bits, KYMO, UUID, skip  # noqa: E402

UUID_TEXT = '00010203-0405-0607-0809-0a0b0c0d0e0f'

TYPES = '''
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
typealias integer { size = 27; align = 1; signed = false; } := uint27_t;
typealias integer { size = 32; align = 8; signed = true; base = 10; } := pid_t;
typealias integer { size = 8; align = 8; signed = true; encoding = UTF8; base = 10; } := comm_t;
'''

KERNEL = '''/* CTF 1.8 */
%(types)s
trace {
    major = 1; minor = 8; uuid = "%(uuid)s"; byte_order = %(order)s;
    packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; uint64_t stream_instance_id; };
};
env { hostname = "rt-host"; domain = "kernel"; sysname = "Linux"; tracer_name = "lttng-modules"; tracer_major = 2; };
clock { name = "monotonic"; uuid = "%(uuid)s"; description = "Monotonic Clock"; freq = 1000000000;
        offset = 1700000000123456789; };
typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := uint27_clock_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock_t;
struct packet_context {
    uint64_clock_t timestamp_begin; uint64_clock_t timestamp_end; uint64_t content_size; uint64_t packet_size;
    uint64_t packet_seq_num; unsigned long events_discarded; uint32_t cpu_id;
};
struct event_header_compact {
    enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
    variant <id> {
        struct { uint27_clock_t timestamp; } compact;
        struct { uint32_t id; uint64_clock_t timestamp; } extended;
    } v;
} align(8);
stream {
    id = 0;
    event.header := struct event_header_compact;
    packet.context := struct packet_context;
    event.context := struct { pid_t _tid; comm_t _procname[16]; };
};
event { name = "sched_switch"; id = 0; stream_id = 0; loglevel = 13;
    fields := struct { comm_t _prev_comm[16]; pid_t _prev_tid; integer { size = 32; align = 8; signed = 1; } _prev_prio;
        enum : integer { size = 64; align = 8; signed = 1; } { "TASK_RUNNING" = 0, "TASK_INTERRUPTIBLE" = 1,
            "DEAD" = 16 ... 63, "-odd-" = -5 ... -1, } _prev_state; comm_t _next_comm[16]; pid_t _next_tid; }; };
event { name = "net_dev_queue"; id = 1; stream_id = 0;
    fields := struct {
        integer { size = 64; align = 8; base = 16; } _skbaddr;
        enum : uint8_t { "_unknown" = 0, "_ipv4" = 1 ... 4, "_ipv6" = 5 } _network_header_type;
        variant <_network_header_type> {
            struct { } _unknown;
            struct {
                integer { size = 4; align = 4; } _version; integer { size = 4; align = 4; } _ihl; uint8_t _tos;
                integer { size = 16; align = 8; byte_order = be; base = 16; } _tot_len;
                enum : uint8_t { "_unknown" = 0, "_tcp" = 6, "_udp" = 17 } _transport_header_type;
                variant <_transport_header_type> {
                    struct { } _unknown;
                    struct { integer { size = 16; align = 8; byte_order = be; } _source_port;
                        integer { size = 4; align = 4; } _doff; integer { size = 12; align = 4; base = 2; } _flags; } _tcp;
                    struct { uint16_t _source_port; } _udp;
                } _transport_header;
            } _ipv4;
            struct { uint8_t _saddr_padding; integer { size = 16; align = 8; byte_order = be; base = 16; } _saddr[8]; } _ipv6;
        } _network_header;
    }; };
event { name = "block_rq_issue"; id = 40; stream_id = 0;
    fields := struct { uint5_t _rwbs; integer { size = 3; align = 1; } _count; uint8_t _cmd[_count];
        integer { size = 7; align = 1; } __pairs_length; integer { size = 9; align = 1; signed = true; } _pairs[__pairs_length];
        string _path; }; };
event { name = "syscall_entry_poll"; id = 2; stream_id = 0;
    fields := struct { uint16_t _fds_length; struct { pid_t _fd;
        struct { integer { size = 1; align = 1; } _pollin; integer { size = 1; align = 1; } _pollpri;
            integer { size = 14; align = 1; base = 2; } _padding; } _events; } _fds[_fds_length];
        struct { } _nothing; floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _load; }; };
callsite { name = "sched_switch"; func = "__schedule"; file = "kernel/sched/core.c"; line = 4711; };
'''


def text(out, value, size):
    for byte in value.encode().ljust(size, b'\0')[:size]:
        out.put(byte, 8, out.big)


class Packet:
    """Header and context as in KERNEL; fields of the context can be left out."""

    def __init__(self, big, stream, instance, seq, times=True):
        self.out, self.times, self.begin, self.end = Bits(big), times, None, None
        for value, size in [(0xc1fc1fc1, 32)] + [(b, 8) for b in UUID] + [(stream, 32), (instance, 64)]:
            self.out.put(value, size, big)
        self.context = self.out.pos
        for _ in range(4 if times else 2):
            self.out.put(0, 64, big)
        if times:
            self.out.put(seq, 64, big)
            self.out.put(0, 64, big)
            self.out.put(instance, 32, big)

    def bytes(self, begin, end):
        out = self.out
        content = out.pos
        out.align(64)
        values = ([begin, end] if self.times else []) + [content, out.pos]
        for i, value in enumerate(values):
            at = self.context // 8 + 8 * i
            out.data[at:at + 8] = value.to_bytes(8, 'big' if out.big else 'little')
        return bytes(out.data)


def compact_header(out, event, now, before):
    out.align(8)
    if event > 30 or now - before >= 1 << 27:
        out.put(31, 5, out.big)
        out.align(8)
        out.put(event, 32, out.big)
        out.put(now, 64, out.big)
    else:
        out.put(event, 5, out.big)
        out.put(now, 27, out.big)


def switch(r, out):
    text(out, r.choice(['swapper/0', 'a thread of 16 ch', 'x']), 16)
    for value, size in ((r.randrange(1 << 15), 32), (-1 - r.randrange(99), 32),
                        (r.choice([0, 1, 16, 40, 63, 64, -5, -1, -6]), 64)):
        out.put(value, size, out.big)
    text(out, r.choice(['rcu_preempt', 'kworker/0:1']), 16)
    out.put(r.randrange(1 << 15), 32, out.big)


def queue(r, out):
    out.put(r.getrandbits(64), 64, out.big)
    kind = r.choice([0, 1, 4, 5])
    out.put(kind, 8, out.big)
    if kind == 5:
        for size in [8] + [16] * 8:
            out.put(r.getrandbits(size), size, out.big if size == 8 else True)
    elif kind:
        for size in (4, 4, 8):
            out.put(r.getrandbits(size), size, out.big)
        out.put(r.getrandbits(16), 16, True)
        transport = r.choice([0, 6, 17])
        out.put(transport, 8, out.big)
        if transport == 6:
            out.put(r.getrandbits(16), 16, True)
            out.put(r.getrandbits(4), 4, out.big)
            out.put(r.getrandbits(12), 12, out.big)
        elif transport:
            out.put(r.getrandbits(16), 16, out.big)


def request(r, out):
    out.put(r.getrandbits(5), 5, out.big)
    count = r.randrange(8)
    out.put(count, 3, out.big)
    out.align(8)
    for _ in range(count):
        out.put(r.getrandbits(8), 8, out.big)
    count = r.randrange(20)
    out.put(count, 7, out.big)
    for _ in range(count):
        out.put(r.getrandbits(9), 9, out.big)
    out.align(8)
    text(out, '/dev/nvme0n1', 13)


def poll(r, out):
    count = r.randrange(4)
    out.put(count, 16, out.big)
    if not count:
        out.align(8)
    for _ in range(count):
        out.align(8)
        out.put(r.randrange(99) - 1, 32, out.big)
        for size in (1, 1, 14):
            out.put(r.getrandbits(size), size, out.big)
    out.align(8)
    out.put(r.choice([0x3ff8000000000000, 0x400921fb54442d18, 0]), 64, out.big)


def kernel(directory, big, seed):
    """Three packets on each of two CPUs, mostly with 27 bits of time."""
    r, count = random.Random(seed), 0
    with open(os.path.join(directory, 'metadata'), 'w') as f:
        f.write(KERNEL % {'types': TYPES, 'uuid': UUID_TEXT, 'order': 'be' if big else 'le'})
    events = {0: switch, 1: queue, 40: request, 2: poll}
    for cpu in range(2):
        data, now = b'', (1 << 40) + cpu
        for seq in range(3):
            packet = Packet(big, 0, cpu, seq)
            begin = before = now
            for _ in range(80):
                # All sizes of steps, most of them near where 27 bits go around.
                now += 2 * r.choice([1, 500, 1 << 20, (1 << 26) - 1, 1 << 26, 3 << 27])
                event = r.choice(list(events))
                compact_header(packet.out, event, now, before)
                before = now
                packet.out.put(1000 + cpu, 32, big)
                text(packet.out, 'proc%d' % cpu, 16)
                events[event](r, packet.out)
                count += 1
            data += packet.bytes(begin, now)
        with open(os.path.join(directory, 'kernel_%d' % cpu), 'wb') as f:
            f.write(data)
    return count


def plain(directory, streams, clocks, times=True):
    """A stream class for each of @streams (name of its clock or None), one stream with 50 events each."""
    meta = ['/* CTF 1.8 */', TYPES, 'trace { major = 1; minor = 8; uuid = "%s"; byte_order = le; packet.header := struct '
            '{ uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; uint64_t stream_instance_id; }; };' % UUID_TEXT]
    for name, offset in clocks.items():
        meta.append('clock { name = %s; freq = 1000000000; precision = 3; offset_s = %d; offset = 77; absolute = TRUE; };' %
                    (name, offset))
    for i, clock in enumerate(streams):
        time = 'integer { size = 64; align = 8; %s}' % ('map = clock.%s.value; ' % clock if clock else '')
        meta.append('stream { id = %d; packet.context := struct { %s uint64_t content_size; uint64_t packet_size; %s };' % (
            i, '%s timestamp_begin; %s timestamp_end;' % (time, time) if times else '',
            'uint64_t packet_seq_num; uint64_t events_discarded; uint32_t cpu_id;' if times else ''))
        meta.append('event.header := struct { uint16_t id; %s }; };' % (time + ' timestamp;' if clock else ''))
        meta.append('event { name = "on %s"; id = 3; stream_id = %d; fields := struct { uint32_t x; }; };' % (clock, i))
        data = b''
        for seq in range(2):
            packet, begin = Packet(False, i, i, seq, times), 10000 + 5000 * seq + i
            for k in range(25):
                packet.out.put(3, 16, False)
                if clock:
                    packet.out.put(begin + 100 * k, 64, False)
                packet.out.put(k, 32, False)
            data += packet.bytes(begin, begin + 2400)
        with open(os.path.join(directory, 's%d' % i), 'wb') as f:
            f.write(data)
    with open(os.path.join(directory, 'metadata'), 'w') as f:
        f.write('\n'.join(meta))
    return 50 * len(streams)


def made_by_babeltrace(directory):
    """A trace that sink.ctf.fs writes, with each kind of field it knows. Return: events, or None."""
    try:
        import bt2
    except ImportError:
        return None

    class Iterator(bt2._UserMessageIterator):
        def __init__(self, config, port):
            trace_class, stream_class, event_class = port.user_data
            stream = trace_class(environment={'hostname': 'made', 'number': -3}).create_stream(stream_class)
            self.messages = [self._create_stream_beginning_message(stream)]
            for p in range(2):
                packet = stream.create_packet()
                packet.context_field['cpu'] = p
                self.messages.append(self._create_packet_beginning_message(packet, 1000 + 100000 * p))
                for i in range(20):
                    message = self._create_event_message(event_class, packet, 2000 + 100000 * p + 17 * i)
                    fill(message.event, i)
                    self.messages.append(message)
                self.messages.append(self._create_packet_end_message(packet, 90000 + 100000 * p))
            self.messages.append(self._create_stream_end_message(stream))

        def __next__(self):
            if not self.messages:
                raise StopIteration
            return self.messages.pop(0)

    def fill(event, i):
        event.common_context_field['tid'] = -i
        field = event.payload_field
        field['small'], field['wide'], field['real'], field['single'] = i % 8, -(1 << 40) * i, i / 7, i * .5
        field['mode'], field['sign'] = i % 5, -(i % 3)
        field['text'] = 'no %d, "quoted"' % i
        field['fixed'] = [i, i + 1, i + 2]
        field['many'] = ['s%d' % k for k in range(i % 4)]
        field['inner']['deep']['x'] = i
        field['which'] = i % 2
        field['choice'].selected_option_index = i % 2
        if i % 2:
            field['choice'].value = 'word'
        else:
            field['choice'].value = {'n': i}

    class Source(bt2._UserSourceComponent, message_iterator_class=Iterator):
        def __init__(self, config, params, obj):
            tc = self._create_trace_class()
            clock = self._create_clock_class(frequency=1000000000, name='made',
                                             offset=bt2.ClockClassOffset(1700000000, 5))

            def structure(*members):
                made = tc.create_structure_field_class()
                for name, field_class in members:
                    made.append_member(name, field_class)
                return made

            context = structure(('cpu', tc.create_unsigned_integer_field_class(9)))
            common = structure(('tid', tc.create_signed_integer_field_class(32)))
            sc = tc.create_stream_class(
                default_clock_class=clock, supports_packets=True, packets_have_beginning_default_clock_snapshot=True,
                packets_have_end_default_clock_snapshot=True, packet_context_field_class=context,
                event_common_context_field_class=common)
            mode = tc.create_unsigned_enumeration_field_class(field_value_range=4)
            mode.add_mapping('OFF', bt2.UnsignedIntegerRangeSet([(0, 0)]))
            mode.add_mapping('LOW', bt2.UnsignedIntegerRangeSet([(1, 2), (4, 4)]))
            sign = tc.create_signed_enumeration_field_class(field_value_range=8)
            sign.add_mapping('MINUS', bt2.SignedIntegerRangeSet([(-9, -1)]))
            which = tc.create_unsigned_enumeration_field_class(field_value_range=8)
            which.add_mapping('number', bt2.UnsignedIntegerRangeSet([(0, 0)]))
            which.add_mapping('word', bt2.UnsignedIntegerRangeSet([(1, 1)]))
            choice = tc.create_variant_field_class(selector_fc=which)
            choice.append_option('number', structure(
                ('n', tc.create_unsigned_integer_field_class(16))), bt2.UnsignedIntegerRangeSet([(0, 0)]))
            choice.append_option('word', tc.create_string_field_class(), bt2.UnsignedIntegerRangeSet([(1, 1)]))
            deep = structure(('x', tc.create_unsigned_integer_field_class(
                64, preferred_display_base=bt2.IntegerDisplayBase.HEXADECIMAL)))
            payload = structure(
                ('small', tc.create_unsigned_integer_field_class(3)), ('wide', tc.create_signed_integer_field_class(64)),
                ('real', tc.create_double_precision_real_field_class()),
                ('single', tc.create_single_precision_real_field_class()), ('mode', mode), ('sign', sign),
                ('text', tc.create_string_field_class()),
                ('fixed', tc.create_static_array_field_class(tc.create_unsigned_integer_field_class(16), 3)),
                ('many', tc.create_dynamic_array_field_class(tc.create_string_field_class())),
                ('inner', structure(('deep', deep))), ('which', which), ('choice', choice))
            event_class = sc.create_event_class(name='made:every_kind', payload_field_class=payload)
            self._add_output_port('out', (tc, sc, event_class))

    graph = bt2.Graph()
    source = graph.add_component(Source, 'source')
    sink = graph.add_component(bt2.find_plugin('ctf').sink_component_classes['fs'], 'sink',
                               {'path': directory, 'quiet': True})
    graph.connect_ports(source.output_ports['out'], sink.input_ports['in'])
    graph.run()
    return 40


def compare(name, directory, count, in_order=True):
    theirs = subprocess.run(['babeltrace2', directory], capture_output=True)
    ours = subprocess.run([KYMO, 'dump', directory], capture_output=True)
    a, b = theirs.stdout.splitlines(), ours.stdout.splitlines()
    if theirs.returncode or ours.returncode or ours.stderr:
        print('%s: %d and %d, %s %s' % (name, theirs.returncode, ours.returncode, theirs.stderr.decode()[-800:],
                                        ours.stderr.decode()))
        return False
    if not in_order:
        a, b = sorted(a), sorted(b)
    if len(b) != count or a != b:
        print('%s: %d lines, expected %d, theirs %d' % (name, len(b), count, len(a)))
        for x, y in zip(a, b):
            if x != y:
                print('  theirs: %s\n  ours:   %s' % (x.decode(), y.decode()))
                break
        return False
    return True


def main():
    if not shutil.which('babeltrace2'):
        skip('babeltrace2 is not installed')
    scratch = tempfile.mkdtemp(prefix='kymo-kernel.')
    good = True

    def trace(name, make, *args, in_order=True):
        nonlocal good
        directory = os.path.join(scratch, name)
        os.mkdir(directory)
        count = make(directory, *args)
        if count is None:
            print('%s: left out, there is no bt2 for this Python' % name)
        else:
            good = compare(name, directory, count, in_order) and good

    try:
        for seed in range(4):
            trace('kernel_le_%d' % seed, kernel, False, seed)
            trace('kernel_be_%d' % seed, kernel, True, seed)
        trace('two_clocks', plain, ['one', 'two'], {'one': 1700000000, 'two': 1700000100})
        trace('no_packet_times', plain, ['one'], {'one': 1700000000}, False)
        trace('no_clock', plain, [None], {}, False)
        trace('sink_ctf_fs', made_by_babeltrace)
    finally:
        if not os.environ.get('KYMO_KEEP'):
            shutil.rmtree(scratch)
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
