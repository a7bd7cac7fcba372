#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Clocks of several hosts, compared by the messages between them: the example robot on three hosts whose monotonic clocks
are far apart (time namespaces), and whose wall clocks are made wrong and too fast in the metadata afterwards. Where each event
really was is known, as it is one machine: it must lie within the error that is stated for each message."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE, BUILD = os.environ['KYMO_SOURCE'], os.environ['KYMO_BUILD']
KYMO = os.path.join(BUILD, 'bin/kymo')
DOMAIN = 100 + os.getpid() % 100
SECOND = 1_000_000_000
# Each program on a host of its own, whose monotonic clock is ahead by so many seconds. driver and control talk both ways;
# perception hears the one and is heard by the other.
HOSTS = {'near': ('driver', 0), 'far': ('control', 1000), 'mid': ('perception', 77)}
UNSHARE = ['unshare', '--time', '--uts', '--fork', '--kill-child'] + (['--map-root-user'] if os.getuid() else [])
failures = []


def check(good, *what):
    if not good:
        failures.append(' '.join(map(str, what)))


def kymo(*words, status=0):
    done = subprocess.run([KYMO, *words], capture_output=True, text=True)
    if done.returncode != status:
        raise RuntimeError(f'kymo {" ".join(words)} ended with {done.returncode}: {done.stderr}')
    return done.stdout


def record(scratch):
    running = []
    for host, (program, ahead) in HOSTS.items():
        command = [KYMO, 'record', '-o', os.path.join(scratch, host), '--', os.path.join(BUILD, 'robot', program),
                   '--domain', str(DOMAIN), '--seconds', '3']
        environment = dict(os.environ, KYMO_DIR=os.path.join(scratch, host + '.dir'))
        running.append(subprocess.Popen([*UNSHARE, '--monotonic', str(ahead), 'sh', '-c', 'hostname "$1"; shift; exec "$@"',
                                         'sh', host, *command], env=environment, stderr=subprocess.PIPE, text=True))
    for process in running:
        output = process.communicate(timeout=60)[1]
        if process.returncode:
            raise RuntimeError(output)
    return {host: os.path.join(scratch, host) for host in HOSTS}


class Clock:
    """Of one trace: its metadata say how its monotonic clock becomes a wall clock."""

    def __init__(self, trace, host):
        self.path, = (os.path.join(at, 'metadata') for at, _, files in os.walk(trace) if 'metadata' in files)
        self.ahead = HOSTS[host][1] * SECOND
        text = open(self.path).read()
        self.frequency, self.offset = (int(re.search(rf'\t{key} = (\d+)', text)[1]) for key in ('freq', 'offset'))

    def change(self, later=0, ppm=0):
        """Has the wall clock stand @later ns later, and the clock run slower by @ppm."""
        frequency = SECOND + ppm * 1000
        text = open(self.path).read()
        text = re.sub(r'\tfreq = \d+', f'\tfreq = {frequency}', text)
        # The offset counts cycles.
        self.frequency, self.offset = frequency, (self.offset + later) * frequency // SECOND
        open(self.path, 'w').write(re.sub(r'\toffset = \d+', f'\toffset = {self.offset}', text))

    def true_ns(self, ns):
        """What the machine's own monotonic clock showed when this one's wall clock showed @ns."""
        return ns * self.frequency // SECOND - self.offset - self.ahead

    def wall_ns(self, true_ns):
        return (true_ns + self.ahead + self.offset) * SECOND // self.frequency


def messages(*traces):
    rows = json.loads(kymo('query', *traces, '--format', 'json', 'SELECT * FROM messages WHERE take_ns IS NOT NULL'))
    rows = next(value for value in rows.values() if isinstance(value, list))
    return {(row['topic_name'], row['source_ns'], row['subscriber_node']): row for row in rows}


def hosts_of(*traces):
    return {row['host']: row for row in json.loads(kymo('report', *traces, '--format', 'json', '--section', 'hosts'))['hosts']}


def compared(what, traces, clocks, first, second):
    """All messages from the first host to the second."""
    joint, alone = messages(*traces.values()), messages(traces[second])
    rows = hosts_of(*traces.values())
    seen = shown = 0
    check(rows[first]['compared_by'] == 'reference' and rows[second]['compared_by'] == 'messages', what, rows)
    for key, row in joint.items():
        if key not in alone or row['clock_error_ns'] == 0 or row['publish_ns'] is None:
            continue
        truth = clocks[first].wall_ns(clocks[second].true_ns(alone[key]['take_ns']))
        wrong, error = abs(row['take_ns'] - truth), row['clock_error_ns']
        if row['publisher_node'] not in FIRST_NODES[first]:
            continue
        seen += 1
        shown += row['latency_ns'] is not None
        check(wrong <= error, what, key, f'is wrong by {wrong} ns, and said to be by {error}')
        check(error <= rows[second]['error_ns'], what, key, error, 'is more than', rows[second])
        latency = row['callback_start_ns'] - row['publish_ns'] if row['callback_start_ns'] else None
        check((row['latency_ns'] is None) == (latency is None or latency <= error), what, key, row['latency_ns'], latency, error)
    check(seen > 20 and shown, what, 'only', seen, 'messages compared, and', shown, 'have a latency')
    return rows


FIRST_NODES = {'near': ['/lidar_driver', '/imu_driver', '/base_driver', '/operator'],
               'mid': ['/perception/obstacle_detector'],
               'far': ['/control/localization', '/control/planner', '/control/controller']}


def both_ways(what, traces, clocks):
    rows = compared(what, traces, clocks, 'near', 'far')
    compared(what, traces, clocks, 'near', 'mid')
    for host in 'far', 'mid':
        ppm = (clocks['near'].frequency - clocks[host].frequency) / 1000
        rate = rows[host]['rate_ppm']
        check(abs(rate - ppm) <= rows[host]['wander_ppm'] + 1, what, host, 'goes faster by', rate, 'ppm, not', ppm)
    return rows


def chains(traces):
    """A way that ends where it began needs no second clock."""
    said = json.loads(kymo('flow', *traces.values(), '/lidar_driver -> /base_driver:/cmd_vel', '--format', 'json'))
    chain = said['chains'][0]
    check(chain['error_ns'] == 0 and chain['min_ns'] and not chain['between_hosts'], chain)
    there = [row for row in said['segments'] if row['segment'] == 'transport']
    check(len(there) == 3 and all(row['error_ns'] for row in there), there)
    text = kymo('flow', *traces.values(), '/lidar_driver -> /control/planner')
    check('Compared by' in text and re.search(r'<\d', text), 'the text has no bound:', text)


def around(traces, clocks):
    """Seen from perception, all messages go around: it sends to control only, and hears the driver only."""
    order = {host: traces[host] for host in ('mid', 'far', 'near')}
    rows = compared('around', order, clocks, 'mid', 'far')
    check(rows['far']['hosts_between'] + rows['near']['hosts_between'] == 1, rows)


def from_elsewhere(traces):
    """The other host first, so that all is seen from its clock; the way there and back stays as it is."""
    there = json.loads(kymo('flow', *traces.values(), '/lidar_driver -> /base_driver:/cmd_vel', '--format', 'json'))
    back = json.loads(kymo('flow', traces['far'], traces['near'], traces['mid'], '/lidar_driver -> /base_driver:/cmd_vel',
                           '--format', 'json'))
    a, b = there['chains'][0], back['chains'][0]
    check(a['arrived'] == b['arrived'] and abs(a['max_ns'] - b['max_ns']) <= a['max_ns'] // 1000 + 10, a, b)


def why(traces):
    """A part of the way between two hosts has the error of their clocks, and is not told where it is not longer."""
    said = json.loads(kymo('why', *traces.values(), '/lidar_driver -> /control/planner', '--worst', '30', '--format', 'json'))
    parts = said['parts']
    between = [row for row in parts if row['error_ns']]
    check({row['kind'] for row in between} >= {'transport'} and {row['host'] for row in parts} == set(HOSTS), parts)
    check(all(row['kind'] in ('transport', 'queued', 'preempted') for row in between), between)
    check(all(row['ns'] is None or row['ns'] > row['error_ns'] for row in between), 'shorter than the error:', between)
    check(all(row['error_ns'] for row in parts if row['kind'] == 'transport'), 'a transport without its error:', parts)
    check(said['error_ns'] and len(said['hosts']) == 3, said)
    # Seen alone, near and mid say nothing of the way between them.
    text = kymo('why', traces['near'], traces['mid'], '/lidar_driver -> /perception/*', status=6)
    check('could not be compared' in text, text)


def events(*traces):
    rows = [json.loads(line) for line in kymo('dump', *traces, '--format', 'json', '-e', 'ros2:rmw_*').splitlines()]
    return {host: [row for row in rows if row['host'] == host] for host in HOSTS}


def dumped(traces, clocks):
    """Each event's time is that of the first host's clock, within the error, and its clock_ns its own host's."""
    joint, rows = events(*traces.values()), hosts_of(*traces.values())
    for host, trace in traces.items():
        alone = events(trace)[host]
        check(len(alone) == len(joint[host]) > 100, host, len(alone), 'events are not', len(joint[host]))
        for a, b in zip(alone, joint[host]):
            truth = clocks['near'].wall_ns(clocks[host].true_ns(a['ts_ns']))
            wrong = abs(b['ts_ns'] - truth)
            check(wrong <= (rows[host]['error_ns'] or 1), host, a, b, 'is wrong by', wrong)
            check(abs(a['clock_ns'] - b['clock_ns']) <= 1, host, a['clock_ns'], 'on its own clock, not', b['clock_ns'])
    done = subprocess.run([KYMO, 'dump', *traces.values(), '-n', '1'], capture_output=True, text=True)
    check(re.search("times are those of near's clock\n.*far .* wrong by up to", done.stderr), done.stderr)
    check('one directory' in subprocess.run([KYMO, 'dump', '-F', *traces.values()], capture_output=True, text=True).stderr, '--follow')


def not_compared(traces):
    rows = hosts_of(traces['near'], traces['mid'])
    check(rows['mid']['compared_by'] == 'one way' and rows['mid']['error_ns'] is None and
          rows['mid']['ahead_at_most_ns'] is not None and rows['mid']['ahead_at_least_ns'] is None, rows)
    # Where the wall clocks have messages arrive before they were sent, they are wrong at least by that.
    check(rows['mid']['ahead_ns'] == min(0, rows['mid']['ahead_at_most_ns']), rows)
    some = messages(traces['near'], traces['mid'])
    check(any(row['clock_error_ns'] is None and row['publish_ns'] for row in some.values()) and
          all(row['latency_ns'] is None for row in some.values() if row['clock_error_ns'] is None and row['publish_ns']),
          'one way only, and yet a latency')
    check('one way only' in kymo('report', traces['near'], traces['mid']), 'one way is not told')
    rows = hosts_of(traces['mid'], traces['near'])
    check(rows['near']['ahead_at_least_ns'] is not None and rows['near']['ahead_at_most_ns'] is None, rows)
    other = os.path.join(SOURCE, 'tests/fixtures/lifecycle')
    text = kymo('report', traces['near'], other)
    check('wall clock is used' in text, 'no message, and nothing told of it:', text)
    check('hosts' not in json.loads(kymo('report', traces['near'], '--format', 'json')), 'one host is compared')


def exported(scratch, traces):
    """Tables and Perfetto's file take several traces, too."""
    kymo('export', *traces.values(), '--format', 'csv', '--table', 'messages', '-o', os.path.join(scratch, 'csv'), '-q')
    head = open(os.path.join(scratch, 'csv/messages.csv')).readline()
    check('clock_error_ns' in head, head)
    kymo('export', *traces.values(), '-o', os.path.join(scratch, 'robots.pftrace'), '-q')
    kymo('export', *traces.values(), '--format', 'dot', '-o', os.path.join(scratch, 'robots.dot'), '-q')
    check(os.path.getsize(os.path.join(scratch, 'robots.pftrace')) > 10000, 'the file for Perfetto is small')


def main():
    tried = subprocess.run([*UNSHARE, '--monotonic', '5', 'hostname', 'probe'], capture_output=True, text=True)
    if tried.returncode:
        print('no time namespaces here:', tried.stderr.strip())
        sys.exit(77)
    scratch = tempfile.mkdtemp()
    try:
        traces = record(scratch)
        clocks = {host: Clock(trace, host) for host, trace in traces.items()}
        both_ways('as recorded', traces, clocks)
        chains(traces)
        not_compared(traces)
        clocks['far'].change(later=3_250_000_000)
        clocks['mid'].change(later=-3600 * SECOND)
        both_ways('wall clocks wrong', traces, clocks)
        from_elsewhere(traces)
        around(traces, clocks)
        clocks['far'].change(ppm=150)
        clocks['mid'].change(later=1_000_000, ppm=-40)
        both_ways('other rates', traces, clocks)
        chains(traces)
        why(traces)
        dumped(traces, clocks)
        exported(scratch, traces)
        clocks['near'].change(ppm=900)
        both_ways('the first one fast', traces, clocks)
    finally:
        shutil.rmtree(scratch)
    for failure in failures[:20]:
        print(failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


main()
