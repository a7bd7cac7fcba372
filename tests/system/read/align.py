#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: answers
"""Clocks of several hosts, compared by the messages between them: the example robot on three hosts whose monotonic clocks
are far apart (time namespaces), and whose wall clocks are made wrong and too fast in the metadata afterwards. Where each event
really was is known, as it is one machine: it must lie within the error that is stated for each message."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, SOURCE, another_trace, answer, check, in_directory, kymo, ros_domain, run, skip

DOMAIN = ros_domain()
SECOND = 1_000_000_000
# Each program on a host of its own, whose monotonic clock is ahead by so many seconds. driver and control talk both ways;
# perception hears the one and is heard by the other.
HOSTS = {'near': ('driver', 0), 'far': ('control', 1000), 'mid': ('perception', 77)}
UNSHARE = ['unshare', '--time', '--uts', '--fork', '--kill-child'] + (['--map-root-user'] if os.getuid() else [])


def record(scratch):
    running = []
    for host, (program, ahead) in HOSTS.items():
        command = [KYMO, 'record', '-o', os.path.join(scratch, host), '--', os.path.join(BUILD, 'robot', program),
                   '--domain', str(DOMAIN), '--seconds', '3']
        environment = dict(os.environ, KYMO_DIR=os.path.join(scratch, host + '.dir'))
        running.append(subprocess.Popen([*UNSHARE, '--monotonic', str(ahead), 'sh', '-c', 'hostname "$1"; shift; exec "$@"',
                                         'sh', host, *command], env=environment, stderr=subprocess.PIPE, text=True))
    for process in running:
        output = process.communicate(timeout=300)[1]
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
    rows = answer('query', *traces, 'SELECT * FROM messages WHERE take_ns IS NOT NULL')
    rows = next(value for value in rows.values() if isinstance(value, list))
    return {(row['topic_name'], row['source_ns'], row['subscriber_node']): row for row in rows}


def hosts_of(*traces):
    return {row['host']: row for row in answer('report', *traces, '--section', 'hosts')['hosts']}


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
    said = answer('flow', *traces.values(), '/lidar_driver -> /base_driver:/cmd_vel')
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
    there = answer('flow', *traces.values(), '/lidar_driver -> /base_driver:/cmd_vel')
    back = json.loads(kymo('flow', traces['far'], traces['near'], traces['mid'], '/lidar_driver -> /base_driver:/cmd_vel',
                           '--format', 'json'))
    a, b = there['chains'][0], back['chains'][0]
    check(a['arrived'] == b['arrived'] and abs(a['max_ns'] - b['max_ns']) <= a['max_ns'] // 1000 + 10, a, b)


def why(traces):
    """A part of the way between two hosts has the error of their clocks, and is not told where it is not longer."""
    said = answer('why', *traces.values(), '/lidar_driver -> /control/planner', '--worst', '30')
    parts = said['parts']
    between = [row for row in parts if row['error_ns']]
    check({row['kind'] for row in between} & {'transport', 'network'} and {row['host'] for row in parts} == set(HOSTS), parts)
    check(all(row['kind'] in ('transport', 'network', 'queued', 'preempted') for row in between), between)
    check(all(not row['ns'] or row['ns'] > row['error_ns'] for row in between), 'shorter than the error:', between)
    check(all(row['error_ns'] for row in parts if row['kind'] in ('transport', 'network')), 'a transport without its error:', parts)
    check(not any(row['error_ns'] for row in parts if row['kind'] in ('dds', 'cache')), 'within one host, with an error:', parts)
    check(said['error_ns'] and len(said['hosts']) == 3, said)
    # Seen alone, near and mid say nothing of the way between them.
    text = kymo('why', traces['near'], traces['mid'], '/lidar_driver -> /perception/*', status=6)
    check('cannot be compared' in text, text)


WAY = '/lidar_driver -> /scan -> /perception/obstacle_detector -> /obstacles -> /control/planner'


def paths(traces):
    """Response times that end on another host state the error; those that come back to where they began have none."""
    there, back = WAY, WAY + ' -> /cmd_vel -> /base_driver'
    sections = [word for name in ('times', 'segments', 'rows') for word in ('--section', f'response-{name}')]
    said = answer('report', *traces.values(), '--path', there, '--path', back, *sections)
    for path, error in ((there, True), (back, False)):
        times = [row for row in said['response-times'] if row['path'] == path]
        check(len(times) == 4 and all(row['count'] > 20 and bool(row['error_ns']) == error for row in times), path, times)
        check(all(row['max_ns'] is None or row['max_ns'] > row['error_ns'] for row in times), path, times)
    for rows, key in ((said['response-segments'], 'min_ns'), (said['response-rows'], 'duration_ns')):
        crossing = [row for row in rows if row['segment'] in ('/scan', '/obstacles', '/cmd_vel')]
        check(crossing and all(row['error_ns'] for row in crossing), crossing[:5])
        check(all(row[key] is None or row[key] > row['error_ns'] for row in crossing), crossing[:5])
        check(all(row['error_ns'] == 0 for row in rows if row['segment'].startswith('/perception/')), rows[:5])
    text = kymo('report', *traces.values(), '--path', there, '--section', 'response-times')
    check('begins on near and ends on far: its times are wrong by up to' in text, text)
    text = kymo('report', traces['near'], traces['mid'], '--path', WAY[:WAY.index(' -> /obst')], '--section', 'response-times')
    check('do not compare' in text and not re.search(r'\d [mun]s', text.split('Response')[1]), text)


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
    done = run(KYMO, 'dump', *traces.values(), '-n', '1')
    check(re.search("times are those of near's clock\n.*far .* wrong by up to", done.stderr), done.stderr)
    check('one directory' in run(KYMO, 'dump', '-F', *traces.values(), status=None).stderr, '--follow')


def sim_trace(scratch):
    """On the host far somebody heard the clock of a simulation, which went half as fast. Returns when it stood at 100 s there."""
    trace = os.path.join(scratch, 'sim')
    running = subprocess.Popen([*UNSHARE, '--monotonic', str(HOSTS['far'][1]), 'sh', '-c', 'hostname far; exec "$@"', 'sh', KYMO,
                                'record', '-q', '-o', trace, '--', os.path.join(BUILD, 'tests/sim_events')],
                               env=dict(os.environ, KYMO_DIR=trace + '.dir'), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    begin = int(running.stdout.readline())
    running.communicate(''.join(f'pair {at} {100 * SECOND + at // 2}\n' for at in range(0, 120 * SECOND, SECOND)), timeout=300)
    return trace, begin


def sim(scratch, traces, clocks):
    """The simulation's time of another host's events: within the error, which is as much shorter."""
    trace, begin = sim_trace(scratch)
    everything = [*traces.values(), trace]
    query = 'SELECT * FROM messages WHERE take_ns IS NOT NULL'
    here, there = (answer('query', *everything, '--clock', clock, query) for clock in ('system', 'sim'))
    here, there = (next(rows for rows in said.values() if isinstance(rows, list)) for said in (here, there))
    error = hosts_of(*everything)['far']['error_ns']
    check(len(here) == len(there) > 100, len(here), len(there))
    for a, b in zip(here, there):
        # Of the first host's clock the true time is known; the simulation's is from the other one's.
        true = clocks['near'].true_ns(a['take_ns']) + HOSTS['far'][1] * SECOND - begin
        wrong = abs(100 * SECOND + true // 2 - b['take_ns'])
        check(wrong <= error / 2 + 2000, 'sim time of', a, 'is', b, 'and wrong by', wrong)
        if a['clock_error_ns']:
            check(abs(b['clock_error_ns'] - a['clock_error_ns'] / 2) <= 10 + a['clock_error_ns'] / 10000, a['clock_error_ns'], 'is in sim time', b['clock_error_ns'])
    for words in ('report',), ('flow',), ('why',), ('dump', '-n', '5'), ('export', '-o', os.path.join(scratch, 'sim.pftrace')):
        kymo(words[0], '--clock', 'sim', *everything, *words[1:])
    kymo('export', '--clock', 'sim', *everything, '-o', os.path.join(scratch, 'sim.tar'), status=2)


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
    check('in one direction only' in kymo('report', traces['near'], traces['mid']), 'one way is not told')
    rows = hosts_of(traces['mid'], traces['near'])
    check(rows['near']['ahead_at_least_ns'] is not None and rows['near']['ahead_at_most_ns'] is None, rows)
    other = os.path.join(SOURCE, 'tests/fixtures/lifecycle')
    text = kymo('report', traces['near'], other)
    check('wall clock is used' in text, 'no message, and nothing told of it:', text)
    check('hosts' not in answer('report', traces['near']), 'one host is compared')


def told_apart(scratch):
    """By name and clock: two machines of one name are two hosts, and one clock under two names is not compared with itself."""
    def copy(name, change):
        path = os.path.join(scratch, name)
        another_trace(os.path.join(SOURCE, 'tests/fixtures/lifecycle'), path)
        metadata, = (os.path.join(at, 'metadata') for at, _, files in os.walk(path) if 'metadata' in files)
        before = open(metadata, 'rb').read()
        after = change(before)
        check(len(after) == len(before) and (after != before or name == 'one'), name, 'did not change')
        open(metadata, 'wb').write(after)
        return path

    def uuid(text):
        clock = text.rindex(b'clock {')
        at = text.index(b'uuid = "', clock) + 8
        return text[:at] + b'01234567' + text[at + 8:]

    def container(text):
        offset = int(re.findall(rb'offset = (\d+)', text)[-1])
        text = text.replace(b'offset = %d' % offset, b'offset = %d' % (offset + 5000))
        return text.replace(b'hostname = "vm"', b'hostname = "ct"')

    one, other, inside = copy('one', lambda text: text), copy('other', uuid), copy('inside', container)
    check('hosts' not in answer('report', one, os.path.join(SOURCE, 'tests/fixtures/lifecycle')),
          'two traces of one host are compared')
    twice = os.path.join(scratch, 'twice')
    shutil.copytree(one, twice)
    said = run(KYMO, 'report', one, twice, status=2).stderr
    check('is a copy of' in said and 'name one of them' in said, 'a copy as another host:', said)
    rows = hosts_of(one, other)
    check(list(rows) == ['vm', 'vm#2'] and rows['vm#2']['compared_by'] == 'wall clock', rows)
    said = answer('info', one, other)
    check({row['host'] for row in said['processes']} == {'vm', 'vm#2'}, said['processes'])
    rows = hosts_of(one, inside)
    check(rows['ct']['compared_by'] == 'same clock' and rows['ct']['error_ns'] == 0, rows)
    times = [json.loads(line)['ts_ns'] for line in kymo('dump', one, inside, '--format', 'json').splitlines()]
    check(times and times[::2] == times[1::2], 'one clock, and yet other times')


def exported(scratch, traces):
    """Tables and Perfetto's file take several traces, too."""
    kymo('export', *traces.values(), '--format', 'csv', '--table', 'messages', '-o', os.path.join(scratch, 'csv'), '-q')
    head = open(os.path.join(scratch, 'csv/messages.csv')).readline()
    check('clock_error_ns' in head, head)
    kymo('export', *traces.values(), '-o', os.path.join(scratch, 'robots.pftrace'), '-q')
    kymo('export', *traces.values(), '--format', 'dot', '-o', os.path.join(scratch, 'robots.dot'), '-q')
    check(os.path.getsize(os.path.join(scratch, 'robots.pftrace')) > 10000, 'the file for Perfetto is small')
    kymo('export', *traces.values(), '--format', 'chrome', '-o', os.path.join(scratch, 'robots.json'), '-q')
    kymo('export', *traces.values(), '--format', 'ctf', '-o', os.path.join(scratch, 'ctf'), status=2)
    kymo('export', *traces.values(), '--format', 'caret-architecture', '-o', os.path.join(scratch, 'architecture.yaml'), '-q')
    check('/control/planner' in open(os.path.join(scratch, 'architecture.yaml')).read(), 'the architecture lacks a host')
    # CARET wants a directory a host; all of them have one clock now, so comparing them again finds next to nothing.
    caret = os.path.join(scratch, 'caret')
    kymo('export', *traces.values(), '--format', 'caret', '-o', caret, '-q')
    rows = hosts_of(*(os.path.join(caret, host) for host in HOSTS))
    check(all(abs(row['ahead_ns']) < 300_000 and abs(row['rate_ppm'] or 0) < 50 for row in rows.values()), rows)


def informed(traces):
    said = answer('info', *traces.values())
    check([row['host'] for row in said['hosts']] == list(HOSTS) and len(said['recorders']) == 3, said)
    check({row['host'] for row in said['threads']} == set(HOSTS), said['threads'])
    alone = [answer('info', trace) for trace in traces.values()]
    for key in 'events', 'recorded', 'bytes', 'packets':
        check(said[key] == sum(one[key] for one in alone), key, said[key], [one[key] for one in alone])
    check(all(row['state'] == 'exited' for row in said['processes']), said['processes'])


def main(scratch):
    tried = run(*UNSHARE, '--monotonic', '5', 'hostname', 'probe', status=None)
    if tried.returncode:
        skip('no time namespaces here: ' + tried.stderr.strip())
    told_apart(scratch)
    traces = record(scratch)
    clocks = {host: Clock(trace, host) for host, trace in traces.items()}
    both_ways('as recorded', traces, clocks)
    chains(traces)
    informed(traces)
    sim(scratch, traces, clocks)
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
    paths(traces)
    dumped(traces, clocks)
    exported(scratch, traces)
    clocks['near'].change(ppm=900)
    both_ways('the first one fast', traces, clocks)


in_directory(main)
