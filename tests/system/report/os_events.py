#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: answers
"""The report's cputime, memory and profile on traces made here, in the shape that LTTng's kernel
and user-space tracers give them, against the same numbers computed with dictionaries."""
import collections
import os
import random
import struct
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, check, in_directory, report, run

EPOCH = 1700000000 * 10**9
CPUS = 2
THREADS = {100: "main", 101: "worker", 102: "logger"}      # of process 100
MALLOC, CALLOC, REALLOC, FREE, MEMALIGN, POSIX, ENTRY, EXIT, BIN_INFO, BUILD_ID = range(10)
SWITCH, PAGE_ALLOC, PAGE_FREE = range(3)

METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; base = 16; } := ptr_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.mono.value; } := time_ns_t;
typealias integer { size = 8; align = 8; signed = true; encoding = UTF8; } := char_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; }; };
env { hostname = "box"; domain = "%s"; tracer_name = "test"; };
clock { name = mono; freq = 1000000000; offset = %d; };
stream { packet.context := struct { uint64_t content_size; uint64_t packet_size; uint32_t cpu_id; };
	event.header := struct { uint16_t id; time_ns_t timestamp; };
	%s
};
%s"""


def event(name, number, fields):
    return 'event { name = "%s"; id = %d; fields := struct { %s }; };\n' % (name, number, fields)


UST = METADATA % ("ust", EPOCH, "event.context := struct { int32_t _vpid; int32_t _vtid; "
                  "char_t _procname[16]; };",
                  event("lttng_ust_libc:malloc", MALLOC, "uint64_t _size; ptr_t _ptr;") +
                  event("lttng_ust_libc:calloc", CALLOC, "uint64_t _nmemb; uint64_t _size; ptr_t _ptr;") +
                  event("lttng_ust_libc:realloc", REALLOC, "ptr_t _in_ptr; uint64_t _size; ptr_t _ptr;") +
                  event("lttng_ust_libc:free", FREE, "ptr_t _ptr;") +
                  event("lttng_ust_libc:memalign", MEMALIGN,
                        "uint64_t _alignment; uint64_t _size; ptr_t _ptr;") +
                  event("lttng_ust_libc:posix_memalign", POSIX,
                        "ptr_t _out_ptr; uint64_t _alignment; uint64_t _size; int32_t _result;") +
                  event("lttng_ust_cyg_profile_fast:func_entry", ENTRY, "ptr_t _addr;") +
                  event("lttng_ust_cyg_profile_fast:func_exit", EXIT, "") +
                  event("lttng_ust_statedump:bin_info", BIN_INFO,
                        "ptr_t _baddr; uint64_t _memsz; string _path;") +
                  event("lttng_ust_statedump:build_id", BUILD_ID,
                        "ptr_t _baddr; uint32_t __build_id_length; uint8_t _build_id[__build_id_length];"))
KERNEL = METADATA % ("kernel", EPOCH, "",
                     event("sched_switch", SWITCH,
                           "char_t _prev_comm[16]; int32_t _prev_tid; int32_t _prev_prio; "
                           "char_t _next_comm[16]; int32_t _next_tid; int32_t _next_prio;") +
                     event("kmem_mm_page_alloc", PAGE_ALLOC, "ptr_t _page; uint32_t _order;") +
                     event("kmem_mm_page_free", PAGE_FREE, "ptr_t _page; uint32_t _order;"))


class Trace:
    """Events by stream (one per CPU), written as one packet each."""

    def __init__(self, path, metadata):
        self.path, self.metadata = path, metadata
        self.streams = collections.defaultdict(bytearray)

    def put(self, cpu, ns, number, payload, context=b""):
        self.streams[cpu] += struct.pack("<HQ", number, ns) + context + payload

    def write(self):
        os.makedirs(self.path)
        with open(os.path.join(self.path, "metadata"), "w") as file:
            file.write(self.metadata)
        for cpu, body in self.streams.items():
            bits = 8 * (4 + 8 + 8 + 4 + len(body))
            with open(os.path.join(self.path, "channel_%d" % cpu), "wb") as file:
                file.write(struct.pack("<IQQI", 0xC1FC1FC1, bits, bits, cpu) + body)


def name16(tid):
    return THREADS.get(tid, "swapper/0").encode().ljust(16, b"\0")


class Scene:
    """Threads take turns on two CPUs; what they do is written, and accounted for here."""

    def __init__(self, path, seed):
        self.random = random.Random(seed)
        self.ust = Trace(os.path.join(path, "ust"), UST)
        self.kernel = Trace(os.path.join(path, "kernel"), KERNEL)
        self.ns = 1000
        self.on = [0] * CPUS            # tid by CPU
        self.since = [0] * CPUS
        self.slices = collections.defaultdict(list)
        self.live = {}                  # address -> bytes
        self.user = collections.defaultdict(lambda: [0, 0, 0, 0])  # allocations, frees, now, peak
        self.pages = collections.defaultdict(lambda: [0, 0, 0, 0])
        self.stack = collections.defaultdict(list)      # tid -> [address, start, cpu, inside]
        self.cpu = collections.Counter()                # tid -> ns on a CPU up to its latest switch
        self.running = {}
        self.calls = collections.defaultdict(lambda: [0, 0, 0, 0])  # (tid, way): n, total, own, cpu

    def step(self):
        self.ns += self.random.randint(1, 1000)
        self.random.choice([self.switch, self.switch, self.user_event, self.user_event,
                            self.user_event, self.call, self.call, self.page])()

    def switch(self):
        cpu = self.random.randrange(CPUS)
        prev = self.on[cpu]
        free = [t for t in (0, *THREADS) if t == 0 or t not in self.on]
        following = self.random.choice([t for t in free if t != prev] or [0])
        if self.since[cpu]:
            self.slices[prev].append(self.ns - self.since[cpu])
        self.kernel.put(cpu, self.ns, SWITCH, name16(prev) + struct.pack("<ii", prev, 20) +
                        name16(following) + struct.pack("<ii", following, 20))
        if prev in self.running:
            self.cpu[prev] += self.ns - self.running.pop(prev)
        if following in self.stack:
            self.running[following] = self.ns
        self.on[cpu], self.since[cpu] = following, self.ns

    def somebody(self):
        cpu = self.random.randrange(CPUS)
        return cpu, self.on[cpu]

    def put(self, cpu, tid, number, payload):
        context = struct.pack("<ii", 100, tid) + name16(tid)
        self.ust.put(cpu, self.ns, number, payload, context)

    def account(self, table, keys, allocated, freed):
        for key in keys:
            row = table[key]
            if freed is not None:
                row[1] += 1
                row[2] -= freed
            if allocated is not None:
                row[0] += 1
                row[2] += allocated
            row[3] = max(row[3], row[2])

    def user_event(self):
        cpu, tid = self.somebody()
        if not tid:
            return
        kind = self.random.choice([MALLOC, CALLOC, REALLOC, FREE, FREE, MEMALIGN, POSIX])
        address = self.random.randrange(1, 1 << 40) << 4
        size = self.random.randint(1, 5000)
        old = self.random.choice([*self.live, 0]) if self.live else 0
        who = (tid, "process")
        if kind == MALLOC:
            payload, bytes_ = struct.pack("<QQ", size, address), size
        elif kind == CALLOC:
            payload, bytes_ = struct.pack("<QQQ", 3, size, address), 3 * size
        elif kind == MEMALIGN:
            payload, bytes_ = struct.pack("<QQQ", 64, size, address), size
        elif kind == POSIX:
            failed = self.random.random() < .3
            payload = struct.pack("<QQQi", address, 64, size, 12 if failed else 0)
            bytes_ = None if failed else size
        elif kind == REALLOC:
            outcome = self.random.choice(["moved", "same", "failed", "freed"])
            if outcome == "same" and old:
                address = old
            if outcome == "failed":
                payload = struct.pack("<QQQ", old, size, 0)
                self.put(cpu, tid, kind, payload)
                return
            if outcome == "freed":
                size, address = 0, 0
            self.put(cpu, tid, kind, struct.pack("<QQQ", old, size, address))
            if old:
                self.account(self.user, who, None, self.live.pop(old))
            if address:
                self.account(self.user, who, size, None)
                self.live[address] = size
            return
        else:
            self.put(cpu, tid, FREE, struct.pack("<Q", old))
            if old:
                self.account(self.user, who, None, self.live.pop(old))
            return
        self.put(cpu, tid, kind, payload)
        if bytes_ is not None:
            self.account(self.user, who, bytes_, None)
            self.live[address] = bytes_

    def page(self):
        cpu, tid = self.somebody()
        kind, order = self.random.choice([PAGE_ALLOC, PAGE_FREE]), self.random.randrange(4)
        self.kernel.put(cpu, self.ns, kind, struct.pack("<QI", 1 << 12, order))
        if self.since[cpu]:             # before the first switch nobody knows who it was
            bytes_ = 4096 << order
            if kind == PAGE_ALLOC:
                self.account(self.pages, [tid], bytes_, None)
            else:
                self.account(self.pages, [tid], None, bytes_)
        else:
            self.account(self.pages, [0], *((4096 << order, None) if kind == PAGE_ALLOC else
                                            (None, 4096 << order)))

    def cpu_now(self, tid):
        return self.cpu[tid] + self.ns - self.running[tid]

    def call(self):
        cpu, tid = self.somebody()
        if not tid:
            return
        stack = self.stack[tid]
        self.running.setdefault(tid, self.ns)
        if len(stack) < 6 and self.random.random() < .55:
            address = self.random.choice([0x1000, 0x2000, 0x3000])
            self.put(cpu, tid, ENTRY, struct.pack("<Q", address))
            stack.append([address, self.ns, self.cpu_now(tid), 0])
        elif stack:
            self.put(cpu, tid, EXIT, b"")
            way = tuple(frame[0] for frame in stack)
            address, start, at, inside = stack.pop()
            row, total = self.calls[tid, way], self.ns - start
            row[0] += 1
            row[1] += total
            row[2] += total - inside
            row[3] += self.cpu_now(tid) - at
            if stack:
                stack[-1][3] += total


def compare(scene, result):
    ours = {r["tid"]: (r["cpu_ns"], r["slices"], r["min_ns"], r["max_ns"]) for r in result["cputime"]}
    naive = {t: (sum(s), len(s), min(s), max(s)) for t, s in scene.slices.items()}
    check(ours == naive, "cputime", ours, naive)
    check({r["name"] for r in result["cputime"]} <= {*THREADS.values(), "(idle)"}, "names")

    def rows(what):
        return {r["tid"]: [r["allocations"], r["frees"], r["now_bytes"], r["most_bytes"]]
                for r in result["memory"] if r["what"] == what}

    users = dict(scene.user)
    process = users.pop("process")
    check(rows("thread") == users, "memory of threads", rows("thread"), users)
    check(rows("process") == {100: process}, "memory of the process", rows("process"), process)
    check(process[2] == sum(scene.live.values()), "the test itself")
    check(rows("kernel pages") == dict(scene.pages), "pages", rows("kernel pages"), dict(scene.pages))

    ways, ours = {}, {}
    for r in result["profile"]:         # callers stand before what they call
        way = ways.get((r["tid"], r["depth"] - 1), ()) if r["depth"] else ()
        way += (int(r["address"], 16),)
        ways[r["tid"], r["depth"]] = way
        if r["calls"]:
            ours[r["tid"], way] = [r["calls"], r["total_ns"], r["own_ns"], r["cpu_ns"]]
    check(ours == dict(scene.calls), "profile", len(ours), len(scene.calls),
          [(k, ours.get(k), v) for k, v in scene.calls.items() if ours.get(k) != v][:3])
    unfinished = sum(r["unfinished"] for r in result["profile"])
    check(unfinished == sum(len(s) for s in scene.stack.values()), "unfinished", unfinished)


def symbols(path):
    """{name: address} of the functions that one name means, and the lowest loaded page."""
    def lines(*command):
        return run(*command).stdout.splitlines()

    table, names = collections.defaultdict(list), collections.Counter()
    for line in lines("readelf", "-sW", path):
        part = line.split()
        if len(part) == 8 and part[3] == "FUNC" and part[6] != "UND" and int(part[2], 0) > 1:
            table[int(part[1], 16)].append(part[7])
    for addresses in table.values():
        names.update(set(addresses))
    base = min(int(line.split()[2], 16) for line in lines("readelf", "-lW", path) if " LOAD " in line)
    build_id = [line.split()[-1] for line in lines("readelf", "-nW", path) if "Build ID" in line]
    return ({a: n[0] for a, n in table.items()
             if len(set(n)) == 1 and names[n[0]] == 1 and not n[0].startswith("_Z")},
            base & ~4095, bytes.fromhex(build_id[0]) if build_id else b"")


def functions(root):
    """Addresses become the names that readelf tells, in the file that was at that place, if it is the same."""
    table, low, build_id = symbols(KYMO)
    sample = sorted(table)[::max(1, len(table) // 50)]
    for case, other_id in enumerate((build_id, b"\1" * 20)):
        ust = Trace(os.path.join(root, "names%d" % case), UST)
        for pid, base in (100, 0x555500000000), (200, 0x7f0000000000):
            context = struct.pack("<ii", pid, pid) + name16(100)
            ust.put(0, 1000, BIN_INFO, struct.pack("<QQ", base, 1 << 30) + KYMO.encode() + b"\0", context)
            if other_id:
                ust.put(0, 1001, BUILD_ID, struct.pack("<QI", base, len(other_id)) + other_id, context)
            for address in sample + [low + (1 << 30)]:
                # Not the first byte: a return address, or a call into the middle.
                ust.put(0, 2000, ENTRY, struct.pack("<Q", base + address - low + (1 if pid == 200 else 0)),
                        context)
                ust.put(0, 2001, EXIT, b"", context)
        ust.write()
        rows = report(ust.path, "profile")["profile"]
        check(len(rows) == 2 * len(sample) + 2, "functions", len(rows), 2 * len(sample))
        for row in rows:
            base = 0x555500000000 if row["tid"] == 100 else 0x7f0000000001
            address = int(row["address"], 16) - base + low
            wanted = table.get(address) if other_id == build_id else None
            check(row["function"] == (wanted or row["address"]), "name of", hex(address), row, wanted)
            check(row["file"] == ("kymo" if address in table else None), "file of", row)


def odd_names(root):
    """A trace may call a number a name."""
    odd = KERNEL.replace("char_t _prev_comm[16]", "uint64_t _prev_comm").replace("char_t _next_comm[16]", "uint64_t _next_comm")
    trace = Trace(os.path.join(root, "odd"), odd)
    for i in range(10):
        trace.put(0, 1000 + i, SWITCH, struct.pack("<QiiQii", 1 << 40, i % 2, 20, 1 << 40, (i + 1) % 2, 20))
    trace.write()
    rows = report(trace.path, "cputime")["cputime"]
    check([(r["tid"], r["slices"], r["cpu_ns"]) for r in sorted(rows, key=lambda r: r["tid"])] == [(0, 4, 4), (1, 5, 5)], "odd names", rows)


def main(root):
    for seed in range(5):
        scene = Scene(os.path.join(root, str(seed)), seed)
        for _ in range(4000):
            scene.step()
        scene.ust.write()
        scene.kernel.write()
        compare(scene, report(os.path.join(root, str(seed)), "cputime", "memory", "profile"))
        print("seed %d: %d slices, %d allocations, %d call paths" % (
            seed, sum(map(len, scene.slices.values())), scene.user["process"][0], len(scene.calls)))
    functions(root)
    odd_names(root)
    empty = report(os.path.join(root, "0", "kernel"), "profile", status=6)["why_empty"]
    check("func_entry" in empty, "nothing to show", empty)
    # The note about the rows that were held back comes once, after all kinds of rows.
    text = run(KYMO, "report", os.path.join(root, "0"), "--section", "memory", "--limit", "1").stdout
    check(text.count("more: --limit") == 1, "memory with a limit", text)


in_directory(main)
