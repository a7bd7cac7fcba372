#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Live: how long an event takes to the viewer, beside LTTng in the same run; what a relay takes in; what viewers cost.

Latency: a program emits an event with a number every 7 ms; the time when the viewer's line can be read, minus the time in the
event. Each combination has its turn, ROUNDS times over, so that what else the machine does meets them alike.
Ingest: packets of 64 KiB that are 6400 events of 10 bytes each, two streams, until the relay has stored all; the disk is
the output directory's.
Memory: resident memory of the relay with more streams and more viewers.

usage: live.py [SECONDS-PER-TURN [ROUNDS]]      with KYMO_BUILD; needs lttng-sessiond, lttng-relayd and babeltrace2"""
import os
import re
import select
import statistics
import subprocess
import sys
import time

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault('KYMO_BUILD', os.path.join(BENCH, '..', 'build'))
sys.path.insert(0, os.path.join(BENCH, '..', 'tests', 'system', 'lib'))
from lib_live import Live, LttngRelayd  # noqa: E402
from lib_lttng import EVENTS, LTTNG, missing, run, sessiond  # noqa: E402
from lib_net import private  # noqa: E402
from lib_numbers import Place, end_well  # noqa: E402
from lib_relay import INDEX_OK, Producer, Relay, Viewer  # noqa: E402
from lib_test import BUILD, KYMO, until  # noqa: E402

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 10
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 2
PERIOD_US = 7000
STAMP = re.compile(r'\[(\d+):(\d+):(\d+\.\d{9})\]')
DAY_S = 86400
KYMO_EVENTS = os.path.join(BUILD, 'tests', 'kymo_events')


# ---- latency ----

def arrivals(process, seconds):
    """Seconds from the time in an event to the moment its line can be read, of all lines that come."""
    os.set_blocking(process.stdout.fileno(), False)
    found, rest, end = [], b'', time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if not select.select([process.stdout], [], [], left)[0]:
            break
        data, now = os.read(process.stdout.fileno(), 1 << 20), time.time()
        if not data:
            break
        *lines, rest = (rest + data).split(b'\n')
        for line in lines:
            stamp = STAMP.match(line.decode())
            if stamp:
                found.append((now - 3600 * int(stamp[1]) - 60 * int(stamp[2]) - float(stamp[3])) % DAY_S)
    return found


def watch(relay, session, viewer):
    url = Live.url(relay, session)
    if viewer == 'kymo live':
        command = [KYMO, 'live', url]
    else:
        command = ['stdbuf', '-oL', 'babeltrace2', '-i', 'lttng-live', url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ, TZ='UTC'))


def measured(process, program):
    arrivals(process, 1.5)              # until it is attached and has caught up
    found = arrivals(process, SECONDS)
    for one in process, program:
        one.kill()
        one.wait()
    process.stdout.close()
    return found


def lttng_turn(relay, viewer, timer_us):
    run(*LTTNG, 'create', 'bench', f'--live={timer_us}', f'--set-url=net://127.0.0.1:{relay.control}:{relay.data}')
    run(*LTTNG, 'enable-event', '-u', '-s', 'bench', 'lttng_ust_tracef:*')
    run(*LTTNG, 'start', 'bench')
    program = subprocess.Popen([EVENTS, 'bench', '1000000', str(PERIOD_US)])
    until('a packet', lambda: any('index' in path and files for path, _, files in os.walk(relay.output)))
    found = measured(watch(relay, 'bench', viewer), program)
    run(*LTTNG, 'destroy', 'bench')
    return found


def kymo_turn(relay, viewer, _):
    with Place() as place:
        place.environment['KYMO_SPOOL_DIR'] = place.at('spool')
        recorder = place.recorder('--relay', f'net://127.0.0.1:{relay.control}:{relay.data}/bench')
        program = subprocess.Popen([KYMO_EVENTS, 'bench', '1000000', str(PERIOD_US)], env=place.environment)
        until('a packet', lambda: any('ust/pid' in path and files for path, _, files in os.walk(relay.output)))
        found = measured(watch(relay, 'bench', viewer), program)
        end_well(recorder)
    return found


TURNS = [('kymo record, kymo relay, kymo live', kymo_turn, Relay, 'kymo live', 0),
         ('kymo record, kymo relay, babeltrace2', kymo_turn, Relay, 'babeltrace2', 0)] + [
    (f'LTTng, live timer {timer // 1000} ms', lttng_turn, LttngRelayd, 'babeltrace2', timer)
    for timer in (1000000, 100000, 10000)] + [
    ('LTTng 10 ms, kymo relay, kymo live', lttng_turn, Relay, 'kymo live', 10000)]


def latencies():
    found = {name: [] for name, *_ in TURNS}
    for _ in range(ROUNDS):
        for name, turn, relay, viewer, timer in TURNS:
            with relay() as there:
                found[name] += turn(there, viewer, timer)
    print(f'{"event to viewer, ms":42}{"n":>6}{"p50":>9}{"p99":>9}{"max":>9}')
    for name, values in found.items():
        values.sort()
        if len(values) > 1:
            cuts = [values[min(len(values) - 1, int(len(values) * share))] for share in (0.5, 0.99, 1)]
            print(f'{name:42}{len(values):6}' + ''.join(f'{1000 * cut:9.1f}' for cut in cuts), flush=True)


# ---- ingest, memory ----

def resident(process):
    with open(f'/proc/{process.pid}/statm') as statm:
        return int(statm.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def ingest():
    packet, count, each, speeds = os.urandom(64000), 2048, 6400, []
    for kind in (Relay, LttngRelayd) * ROUNDS:
        with kind() as relay:
            producer = Producer(relay).create()
            streams = [producer.stream(f'c_{i}') for i in range(2)]
            producer.stream('metadata')
            producer.sent()
            began = time.monotonic()
            for i in range(count):
                producer.packet(streams[i % 2], packet, i, i + 1)
            for stream in streams:
                until('all', lambda: producer.pending(stream) == 0)
            speeds.append((kind.name, count / (time.monotonic() - began)))
    for name in dict(speeds):
        speed = statistics.median(value for kind, value in speeds if kind == name)
        print(f'ingest, {name}: {speed * len(packet) / 1e6:.0f} MB/s, {speed * each / 1e6:.1f} M events of 10 bytes/s')


def memory():
    with Relay() as relay:
        begin = resident(relay.process)
        producer = Producer(relay).create()
        streams = [producer.stream(f'c_{i}') for i in range(1000)]
        meta = producer.stream('metadata')
        producer.sent()
        producer.metadata(meta, b'metadata')
        until('the files', lambda: producer.pending(meta, -1) == 0)
        with_streams = resident(relay.process)
        print(f'a relay: {begin / 1024:.0f} KiB; a stream: {(with_streams - begin) / 1000 / 1024:.1f} KiB')
    with Relay() as relay:
        producer = Producer(relay).create()
        one, meta = producer.stream('c_0'), producer.stream('metadata')
        producer.sent()
        producer.metadata(meta, b'metadata')
        packet, viewers = os.urandom(64000), []
        producer.packet(one, packet, 0, 1)
        until('it', lambda: producer.pending(one) == 0)
        begin = resident(relay.process)
        for wanted in (1, 10, 100):
            while len(viewers) < wanted:
                viewers.append(Viewer(relay.live))
                viewers[-1].create()
                assert viewers[-1].attach(producer.session)[0] == 1
                while viewers[-1].next_index(one)[0] == INDEX_OK:
                    pass
            began, rounds = time.monotonic(), 200 // wanted
            for i in range(rounds):     # each packet to all of them
                producer.packet(one, packet, i + 1, i + 2)
                for viewer in viewers:
                    index = until('a packet', lambda: (index := viewer.next_index(one))[0] == INDEX_OK and index)
                    assert viewer.packet(one, index[2], len(packet))[0] == 1
            rate = wanted * rounds / (time.monotonic() - began)
            print(f'{wanted} viewers: {(resident(relay.process) - begin) / wanted / 1024:.1f} KiB each, '
                  f'{rate:.0f} packets of 64 kB/s to all together')


def main():
    why = missing() or private(__file__, network=False, lttng=True)
    if why:
        print(why)
        return 77
    load = os.getloadavg()[0]
    with sessiond():
        latencies()
    ingest()
    memory()
    print(f'load {load:.1f} at the beginning, {os.getloadavg()[0]:.1f} at the end; {os.cpu_count()} CPUs')
    return 0


if __name__ == '__main__':
    sys.exit(main())
