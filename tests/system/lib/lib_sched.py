# SPDX-License-Identifier: Apache-2.0
"""A kernel trace beside one of ROS 2: threads that take turns on a few CPUs, at random, in the shape of LTTng's kernel tracer. What
they did is kept here as it was made up, and can be asked for any stretch of time."""
import bisect
import collections
import os
import random
import shutil
import struct

SWITCH, WAKING, MIGRATE, EXIT, IRQ_ENTRY, IRQ_EXIT, SOFTIRQ_ENTRY, SOFTIRQ_EXIT, ISSUE, COMPLETE, RECEIVE = range(11)
CROSSING_NS = 100_000       # a thread that another CPU wakes so shortly before it switches off is ready then
SOFTIRQS = "HI TIMER NET_TX NET_RX BLOCK BLOCK_IOPOLL TASKLET SCHED HRTIMER RCU".split()
ON, PREEMPTED, WAITING, BLOCKED = "on", "preempted", "waiting", "blocked"
METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = true; encoding = UTF8; } := char_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.mono.value; } := time_ns_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; }; };
env { hostname = "%s"; domain = "kernel"; tracer_name = "test"; kernel_release = "6.1.0"; };
clock { name = mono; freq = 1000000000; offset = 0; };
stream { packet.context := struct { uint64_t content_size; uint64_t packet_size; uint32_t cpu_id; };
	event.header := struct { uint16_t id; time_ns_t timestamp; }; };
event { name = "sched_switch"; id = 0; fields := struct { char_t _prev_comm[16]; int32_t _prev_tid; int64_t _prev_state;
	char_t _next_comm[16]; int32_t _next_tid; }; };
event { name = "sched_waking"; id = 1; fields := struct { char_t _comm[16]; int32_t _tid; int32_t _target_cpu; }; };
event { name = "sched_migrate_task"; id = 2; fields := struct { char_t _comm[16]; int32_t _tid; int32_t _orig_cpu;
	int32_t _dest_cpu; }; };
event { name = "sched_process_exit"; id = 3; fields := struct { char_t _comm[16]; int32_t _tid; int32_t _prio; }; };
event { name = "irq_handler_entry"; id = 4; fields := struct { int32_t _irq; char_t _name[16]; }; };
event { name = "irq_handler_exit"; id = 5; fields := struct { int32_t _irq; int32_t _ret; }; };
event { name = "irq_softirq_entry"; id = 6; fields := struct { uint32_t _vec; }; };
event { name = "irq_softirq_exit"; id = 7; fields := struct { uint32_t _vec; }; };
event { name = "block_rq_issue"; id = 8; fields := struct { uint32_t _dev; int64_t _sector; uint32_t _nr_sector; uint32_t _bytes;
	int32_t _tid; char_t _rwbs[8]; }; };
event { name = "block_rq_complete"; id = 9; fields := struct { uint32_t _dev; int64_t _sector; uint32_t _nr_sector; int32_t _error;
	char_t _rwbs[8]; }; };
event { name = "net_if_receive_skb"; id = 10; fields := struct { uint64_t _skbaddr; uint32_t _len; char_t _name[16]; }; };
"""
# As LTTng's modules write it: events of 5 bits and 27 of time where they follow soon, with a word where they do not.
LTTNG_SPANS_NS = 1 << 27
LTTNG_OFFSET_NS = 10 ** 9
LTTNG = METADATA.replace("packet.header := struct { uint32_t magic; }", """uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564";
	packet.header := struct { uint32_t magic; integer { size = 8; } uuid[16]; uint32_t stream_id; uint64_t stream_instance_id; }""")
LTTNG = LTTNG.replace("uint64_t content_size; uint64_t packet_size; uint32_t cpu_id;", """time_ns_t timestamp_begin; time_ns_t timestamp_end;
	uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num; unsigned long events_discarded; uint32_t cpu_id;""")
LTTNG = LTTNG.replace("unsigned long", "uint64_t").replace("stream {", """struct event_header_compact {
	enum : integer { size = 5; align = 1; signed = false; } { compact = 0 ... 30, extended = 31 } id;
	variant <id> {
		struct { integer { size = 27; align = 1; signed = false; map = clock.mono.value; } timestamp; } compact;
		struct { uint32_t id; time_ns_t timestamp; } extended;
	} v;
} align(8);
stream { id = 0;""").replace("event.header := struct { uint16_t id; time_ns_t timestamp; }", "event.header := struct event_header_compact")
LTTNG = LTTNG.replace("offset = 0;", "offset = %d;" % LTTNG_OFFSET_NS).replace('tracer_name = "test"', 'tracer_name = "lttng-modules"')
LTTNG = LTTNG.replace("char_t _rwbs[8]", "uint64_t _rwbs")
LTTNG = LTTNG.replace("; fields := ", "; stream_id = 0; fields := ")
Spell = collections.namedtuple("Spell", "begin end state cpu")
Wait = collections.namedtuple("Wait", "begin end kind device direction bytes requests request_ns")
DIRECTIONS = ("read", b"RA", 1 << 2 | 1 << 3), ("write", b"FWS", 1 | 1 << 5), ("discard", b"D", 1 << 1), ("flush", b"F", 1 << 10)


def plain_stream(cpu, events):
    body = b"".join(struct.pack("<HQ", number, ns) + fields for number, ns, fields in events)
    bits = 8 * (4 + 8 + 8 + 4 + len(body))
    return struct.pack("<IQQI", 0xC1FC1FC1, bits, bits, cpu) + body


def lttng_stream(cpu, events):
    """Packets of some hundred events, each but the first of a packet with a short time if it can have one."""
    out = b""
    for sequence, at in enumerate(range(0, len(events), 300)):
        its, body, last = events[at:at + 300], b"", None
        for number, ns, fields in its:
            ns -= LTTNG_OFFSET_NS
            if last is None or ns - last >= LTTNG_SPANS_NS:
                body += struct.pack("<BIQ", 31, number, ns) + fields
            else:
                body += struct.pack("<I", number | (ns % LTTNG_SPANS_NS) << 5) + fields
            last = ns
        bits = 8 * (4 + 16 + 4 + 8 + 6 * 8 + 4 + len(body))
        out += struct.pack("<I16sIQ6QI", 0xC1FC1FC1, bytes.fromhex("2a6422d06cee11e08c08cb07d7b3a564"), 0, cpu, its[0][1] - LTTNG_OFFSET_NS,
                           its[-1][1] - LTTNG_OFFSET_NS, bits, bits, sequence, 0, cpu) + body
    return out


class Scene:
    """@names: tid -> name. All of them sleep at first, but for one per CPU; tid 0 is an idle CPU."""

    def __init__(self, names, begin_ns, end_ns, seed=0, cpus=2, mean_ns=50_000, io=False, lttng=False):
        self.random, self.names, self.cpus = random.Random(seed), {**names, 0: "swapper"}, cpus
        self.streams = collections.defaultdict(list)                    # cpu -> [(number, ns, fields)]
        self.state = {tid: (BLOCKED, None, None) for tid in names}      # state, since (None: not known), cpu
        self.on = [(0, None)] * cpus                                    # tid, since
        self.spells = collections.defaultdict(list)                     # tid -> [Spell]; only what both ends tell
        self.slices = collections.defaultdict(list)                     # cpu -> [(begin, end, tid)]
        self.moves = collections.Counter()
        self.crossing = {}                                              # tid on a CPU -> (when another one woke it, for which)
        self.irqs = []                                                  # (begin, end, cpu, name, is_soft)
        self.exits = None                                               # who is about to; it may run long yet
        self.io, self.lttng, self.sector, self.open = io, lttng, 0, {}  # tid -> [(sector, when, bytes, direction)], with @io
        self.waits = collections.defaultdict(list)                      # tid -> [Wait]
        self.wakers = {}                                                # (tid, when it was woken) -> who was on that CPU; -1: not known
        self.ns = begin_ns
        while self.ns < end_ns:
            self.ns += self.random.randint(1, 2 * mean_ns)
            self.random.choice([self.switch, self.switch, self.wake, self.wake, self.migrate] * 3 +
                               [self.wake_running, self.wake_running, self.interrupt, self.exit])()
        self.end_ns = self.ns

    def put(self, cpu, number, payload):
        self.streams[cpu].append((number, self.ns, payload))

    def comm(self, tid):
        return self.names[tid].encode()[:15].ljust(16, b"\0")

    def becomes(self, tid, state, cpu):
        was, since, on = self.state[tid]
        if since is not None:
            self.spells[tid].append(Spell(since, self.ns, was, on))
        self.state[tid] = state, self.ns, cpu

    def switch(self, cpu=None):
        cpu = self.random.randrange(self.cpus) if cpu is None else cpu
        prev, since = self.on[cpu]
        ready = [t for t, (s, _, c) in self.state.items() if s in (PREEMPTED, WAITING) and c == cpu]
        following = self.random.choice(ready) if ready and self.random.random() < .9 else 0
        if following == prev:
            return
        stays = self.random.random() < .5
        self.put(cpu, SWITCH, self.comm(prev) + struct.pack("<iq", prev, 0x100 if stays and self.random.random() < .5 else int(not stays)) +
                 self.comm(following) + struct.pack("<i", following))
        if since is not None:
            self.slices[cpu].append((since, self.ns, prev))
        self.on[cpu] = following, self.ns
        woken, target = self.crossing.pop(prev, (None, None))
        if prev and not stays and woken and self.ns - woken <= CROSSING_NS:
            self.becomes(prev, WAITING, target)
        elif prev:
            self.becomes(prev, PREEMPTED if stays else BLOCKED, cpu)
            if self.io and not stays:
                self.open[prev] = [self.issue(prev, cpu) for _ in range(self.random.randrange(3))]
        if following:
            self.becomes(following, ON, cpu)

    def wake_running(self):
        """By its own CPU it stays awake, and that is all; by another one it may be about to switch off."""
        cpu, on, target = (self.random.randrange(self.cpus) for _ in range(3))
        tid = self.on[cpu][0]
        if not tid or self.on[cpu][1] is None:
            return
        self.put(on, WAKING, self.comm(tid) + struct.pack("<ii", tid, target))
        if on != cpu:
            self.crossing[tid] = self.ns, target
        self.ns += self.random.randint(1, 2 * CROSSING_NS)
        self.switch(cpu)

    def interrupt(self):
        cpu, begin, vec = self.random.randrange(self.cpus), self.ns, self.random.randrange(len(SOFTIRQS))
        soft = self.random.random() < .5
        self.put(cpu, *((SOFTIRQ_ENTRY, struct.pack("<I", vec)) if soft else (IRQ_ENTRY, struct.pack("<i16s", vec, b"eth0"))))
        self.ns += self.random.randint(1, 5000)
        self.put(cpu, *((SOFTIRQ_EXIT, struct.pack("<I", vec)) if soft else (IRQ_EXIT, struct.pack("<ii", vec, 1))))
        self.irqs.append((begin, self.ns, cpu, SOFTIRQS[vec] if soft else "eth0", soft))

    def exit(self):
        """The kernel tells it when a thread begins to; it is switched as before until it has ended."""
        cpu = self.random.randrange(self.cpus)
        tid = self.on[cpu][0]
        if tid and self.exits is None:
            self.exits = tid
            self.put(cpu, EXIT, self.comm(tid) + struct.pack("<ii", tid, 20))

    def wake(self):
        asleep = [t for t, (s, _, _) in self.state.items() if s == BLOCKED]
        if asleep:
            tid, cpu = self.random.choice(asleep), self.random.randrange(self.cpus)
            on = self.random.randrange(self.cpus)
            if self.io:
                self.arrives(tid, on)
            self.wakers[tid, self.ns] = self.on[on][0] if self.on[on][1] is not None else -1
            self.put(on, WAKING, self.comm(tid) + struct.pack("<ii", tid, cpu))
            self.becomes(tid, WAITING, cpu)

    def issue(self, tid, cpu):
        self.sector += 8
        name, letters, bits = self.random.choice(DIRECTIONS)
        size = 512 * self.random.randint(1, 100)
        self.put(cpu, ISSUE, struct.pack("<IqIIi", 8 << 20 | 17, self.sector, size // 512, size, tid) +
                 (struct.pack("<Q", bits) if self.lttng else letters.ljust(8, b"\0")))
        return self.sector, self.ns, size, name, letters, bits

    def arrives(self, tid, on):
        """What a thread waited for, immediately before it is woken: on that CPU, or on another one, where nothing follows from it."""
        since, requests = self.state[tid][1], self.open.pop(tid, [])
        self.ns += 60_000                                               # far from what came before
        cpu = on if self.random.random() < .7 else (on + 1) % self.cpus
        wait = None
        for sector, issued, size, name, letters, bits in requests:
            self.put(cpu, COMPLETE, struct.pack("<IqIi", 8 << 20 | 17, sector, size // 512, 0) +
                     (struct.pack("<Q", bits) if self.lttng else letters.ljust(8, b"\0")))
            wait = Wait(since, 0, "disk", "8:17", name, size + (wait.bytes if wait else 0), 1 + bool(wait), self.ns - issued)
            self.ns += 1000
        if not requests and self.random.random() < .5:
            self.put(cpu, RECEIVE, struct.pack("<QI16s", 1, 1500, b"eth0"))
            wait = Wait(since, 0, "network", "eth0", "receive", 1500, 1, None)
        self.ns += self.random.randint(0, 40_000)
        if wait and cpu == on and since is not None:
            self.waits[tid].append(wait._replace(end=self.ns))

    def migrate(self):
        ready = [t for t, (s, _, _) in self.state.items() if s in (PREEMPTED, WAITING)]
        if ready and self.random.random() < .3:
            tid = self.random.choice(ready)
            state, _, cpu = self.state[tid]
            new = (cpu + 1) % self.cpus
            self.put(cpu, MIGRATE, self.comm(tid) + struct.pack("<iii", tid, cpu, new))
            self.becomes(tid, state, new)
            self.moves[tid] += 1

    def write(self, path, hostname, lttng=False):
        """@lttng: as its modules lay it out."""
        os.makedirs(path)
        with open(os.path.join(path, "metadata"), "w", encoding="utf-8") as file:
            file.write((LTTNG if lttng else METADATA) % hostname)
        for cpu, events in self.streams.items():
            with open(os.path.join(path, f"channel_{cpu}"), "wb") as file:
                file.write(lttng_stream(cpu, events) if lttng else plain_stream(cpu, events))

    # ---- what is asked ----

    def during(self, tid, begin, end):
        """Return: [(state, cpu, begin, end)], cut to the stretch."""
        its = self.spells[tid]
        at = max(0, bisect.bisect_left(its, (begin,)) - 1)
        for spell in its[at:]:
            if spell.begin >= end:
                break
            if spell.end > begin:
                yield spell.state, spell.cpu, max(begin, spell.begin), min(end, spell.end)

    def woken_by(self, tid, begin, end):
        """Return: who woke it from its longest sleep in the stretch."""
        asleep = [(min(end, s.end) - max(begin, s.begin), self.wakers[tid, s.end]) for s in self.spells[tid]
                  if s.state == BLOCKED and s.end > begin and s.begin < end]
        return max(asleep)[1]

    def runners(self, cpu, begin, end):
        """Return: [(tid, ns)] of who had the CPU; tid -1: not known."""
        its = self.slices[cpu]
        at = max(0, bisect.bisect_left(its, (begin,)) - 1)
        known = 0
        for since, until, tid in its[at:]:
            if since >= end:
                break
            ns = min(end, until) - max(begin, since)
            if ns > 0:
                known += ns
                yield tid, ns
        if end - begin > known:
            yield -1, end - begin - known

    def by_whom(self, tid, begin, end):
        """Return: ({state: ns}, {who had the CPU: ns} while it could run and did not)."""
        states, whom = collections.Counter(), collections.Counter()
        for state, cpu, since, until in self.during(tid, begin, end):
            states[state] += until - since
            if state in (PREEMPTED, WAITING):
                for runner, ns in self.runners(cpu, since, until):
                    whom[runner] += ns
        return states, whom


def beside(ros, path, seed, query, lttng=False, **options):
    """A copy of the ROS 2 trace @ros with a schedule of the threads that run callbacks, and of some others.
    @query: (trace, SQL) -> rows. @lttng: laid out as by its modules. Return: (path, Scene)."""
    os.makedirs(path)
    shutil.copytree(os.path.join(ros, "ctf"), os.path.join(path, "ros"))
    hosts = query(ros, "SELECT DISTINCT host FROM processes")
    threads = query(ros, "SELECT DISTINCT i.tid AS tid, t.name AS name FROM callback_instances i JOIN threads t ON t.id = i.thread_id")
    extent = query(ros, "SELECT min(start_ns) AS b, max(end_ns) AS e FROM callback_instances")[0]
    # By other names than their own, as they do other things than their own events say.
    names = {t["tid"]: f"k{t['tid']}" for t in threads}
    names.update({1000000 + i: f"hog{i}" for i in range(3)})
    scene = Scene(names, extent["b"] - 10**8, extent["e"] + 10**8, seed, **{"cpus": 3, "mean_ns": 100_000, "lttng": lttng, **options})
    assert len(hosts) == 1
    scene.write(os.path.join(path, "kernel"), hosts[0]["host"], lttng)
    return path, scene
