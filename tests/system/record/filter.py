#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Rules: a recording with rules holds what one without holds, less what they leave out, event by event.
Real call logs, judged by a model of their objects that knows nothing of kymo's; babeltrace2 reads the
traces. Then rules that change while a program runs, rules in a program's environment, and what info,
report and kymo.json say of rules."""
import csv
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
import libctf
from lib_test import BUILD, KYMO, SHARED, in_directory

DATA = os.path.join(SHARED, 'data/ros2-traces')
FIXTURE = os.path.join(libctf.SOURCE, 'tests/fixtures/calllog_small.csv')
JAZZY, JAZZY_TEXT = (8, 2), '8.2.2'
UNCLEAR = 'ros2:rclcpp_publish'     # names no publisher: one that stands at the end of a packet stays


class Objects:
    """Which node and topic the addresses of a log stand for. wanted(node, topic, kind) is asked for each
    event of an object that is known; kind is 'topic', 'service' or 'none'."""

    def __init__(self, wanted, event=lambda name: True):
        self.judge = wanted
        self.event = event
        self.what = {}      # (pid, address): [node, topic, kind]
        self.nodes = {}
        self.message = {}   # key: the message that the thread had of something that is left out
        self.publish = {}   # key: verdicts of its rclcpp_publish, filled in from behind

    def link(self, pid, new, old):
        """The same list: what is told of the old one later holds for the new one, too."""
        self.what[pid, new] = self.what.setdefault((pid, old), [None, None, None])

    def fact(self, pid, name, f):
        if name == 'rcl_node_init':
            space = f['namespace'] if f['namespace'] != '(null)' else '(null)'
            self.nodes[pid, f['node_handle']] = space + ('' if space.endswith('/') else '/') + f['node_name']
        elif name in ('rcl_publisher_init', 'rcl_subscription_init', 'rcl_service_init', 'rcl_client_init'):
            what = name[4:-5]
            node = self.nodes.get((pid, f['node_handle']))
            kind = 'topic' if 'topic_name' in f else 'service'
            for handle in (what + '_handle', 'rmw_' + what + '_handle'):
                known = self.what.get((pid, f[handle]))
                entry = [node, f.get('topic_name', f.get('service_name')), kind]
                if known and known[2] is None:
                    known[:] = entry
                else:
                    self.what[pid, f[handle]] = entry
        elif name == 'rcl_timer_init':
            self.what[pid, f['timer_handle']] = [None, None, None]
        elif name == 'rclcpp_timer_link_node':
            self.what.setdefault((pid, f['timer_handle']), [None, None, None])[:] = [
                self.nodes.get((pid, f['node_handle'])), None, 'none']
        elif name == 'rcl_lifecycle_state_machine_init':
            self.what[pid, f['state_machine']] = [self.nodes.get((pid, f['node_handle'])), None, 'none']
        elif name == 'rclcpp_subscription_init':
            old = self.what.get((pid, f['subscription']))
            self.link(pid, f['subscription'], f['subscription_handle'])
            if old and old[2] is None:     # a buffer waits for it
                old[:] = self.what[pid, f['subscription']]
        elif name == 'rclcpp_subscription_callback_added':
            self.link(pid, f['callback'], f['subscription'])
        elif name == 'rclcpp_service_callback_added':
            self.link(pid, f['callback'], f['service_handle'])
        elif name == 'rclcpp_timer_callback_added':
            self.link(pid, f['callback'], f['timer_handle'])
        elif name == 'rclcpp_buffer_to_ipb':
            self.link(pid, f['buffer'], f['ipb'])
        elif name == 'rclcpp_ipb_to_subscription':
            waiting = self.what.get((pid, f['ipb']))
            self.link(pid, f['ipb'], f['subscription'])
            if waiting:
                for address, entry in self.what.items():
                    if entry is waiting:
                        self.what[address] = self.what[pid, f['ipb']]

    OBJECT = ('callback', 'publisher_handle', 'rmw_publisher_handle', 'rmw_subscription_handle', 'buffer',
              'handle', 'state_machine', 'rmw_client_handle', 'rmw_service_handle')

    def __call__(self, key, event):
        name, f = event.name[len(libctf.PROVIDER):], dict(event.fields)
        if name.endswith('_init') or name.endswith('_added') or name in (
                'rclcpp_timer_link_node', 'rclcpp_callback_register', 'rclcpp_buffer_to_ipb',
                'rclcpp_ipb_to_subscription', 'rclcpp_construct_ring_buffer'):
            self.fact(key[0], name, f)
            return True
        if not self.event(name):
            return False
        message = f.get('message')
        address = next((f[n] for n in self.OBJECT if n in f), None)
        if address is not None:
            entry = self.what.get((key[0], address))
            good = not entry or entry[2] is None or self.judge(*entry)
            if message is not None:
                self.message[key] = None if good else message
            return good
        return message is None or name == 'rclcpp_publish' or self.message.get(key) != message


def record(root, log, options, environment=(), status=0):
    """Return: the trace's directory, the mapping of threads, what was said."""
    place = tempfile.mkdtemp(dir=root)
    os.mkdir(os.path.join(place, 'run'), 0o700)
    trace, mapping = os.path.join(place, 'trace'), os.path.join(place, 'map')
    done = subprocess.run(
        [KYMO, 'record', '-o', trace, '--ring-size', '4M', *options, '--', os.path.join(BUILD, 'tests/replay'),
         '--speed', 'order', '--map', mapping, log], timeout=300, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, env=dict(os.environ, KYMO_DIR=os.path.join(place, 'run'), **dict(environment)))
    if done.returncode != status:
        raise libctf.Mismatch('kymo record %s ended with %d:\n%s' % (options, done.returncode, done.stdout))
    with open(mapping, newline='') as f:
        threads = {(int(r['pid']), int(r['tid'])): (int(r['new_pid']), int(r['new_tid'])) for r in csv.DictReader(f)}
    return trace, threads, done.stdout


def accounts(trace):
    with open(os.path.join(trace, 'kymo.json')) as f:
        return json.load(f)


def without_unclear(lanes):
    """The lanes without rclcpp_publish, and how many messages each of those had, by lane."""
    rest, publishes = {}, {}
    for key, lane in lanes.items():
        pairs = [(e, t) for e, t in zip(lane.events, lane.times) if e.name != UNCLEAR]
        publishes[key] = [e.fields for e in lane.events if e.name == UNCLEAR]
        rest[key] = libctf.Lane(lane.procname, [e for e, _ in pairs], [t for _, t in pairs])
    return {key: lane for key, lane in rest.items() if lane.events}, publishes


def is_within(few, many):
    """few is many with some left out."""
    many = iter(many)
    return all(any(x == y for y in many) for x in few)


def publishes_wanted(log, table, objects):
    """{key: [fields]} of the rclcpp_publish that are followed by one that is wanted."""
    lanes = libctf.read_calllog(log, table, JAZZY_TEXT)
    kept = libctf.read_calllog(log, table, JAZZY_TEXT, objects)
    result = {}
    for key, lane in lanes.items():
        verdict = {}
        left = list(kept[key].events)
        for event in lane.events:       # which of the lane's events were kept, in order
            verdict[id(event)] = bool(left) and left[0] == event
            if verdict[id(event)]:
                left.pop(0)
        last = None
        result[key] = []
        for event in reversed(lane.events):
            if event.name == 'ros2:rcl_publish':
                last = event
            elif event.name == UNCLEAR and (not last or verdict[id(last)]):
                result[key].insert(0, event.fields)
    return result


def check(what, log, table, recorded, wanted, event=lambda name: True):
    trace, threads, _ = recorded
    libctf.readable(what, trace)
    everything = libctf.read_calllog(log, table, JAZZY_TEXT)
    expected, _ = without_unclear(libctf.read_calllog(log, table, JAZZY_TEXT, Objects(wanted, event)))
    got, publishes = without_unclear(libctf.read_trace(trace, ''))
    libctf.compare(what, expected, got, table, threads)
    most = without_unclear(everything)[1]
    least = publishes_wanted(log, table, Objects(wanted, event)) if event('rclcpp_publish') else {}
    for key, thread in threads.items():
        have = publishes.get(thread, [])
        if not is_within(least.get(key, []), have) or not is_within(have, most.get(key, [])):
            raise libctf.Mismatch('%s, thread %d: %d rclcpp_publish, at least %d and at most %d expected'
                                  % (what, key[1], len(have), len(least.get(key, [])), len(most.get(key, []))))
    total = sum(len(lane.events) for lane in everything.values())
    left = sum(len(lane.events) for lane in expected.values())
    if left == total:
        raise libctf.Mismatch('%s: the rules leave nothing out' % what)
    counted = accounts(trace)['totals']
    if counted['dropped'] or counted['unwritten']:
        raise libctf.Mismatch('%s: something was lost: %s' % (what, counted))


def ros(glob, name):
    return name is not None and (fnmatch.fnmatchcase(name, glob) or fnmatch.fnmatchcase(name[1:], glob))


def real_logs(root, table):
    def log(name):
        path = os.path.join(DATA, 'calllog_%s.csv' % name)
        return path if os.path.exists(path) else None

    cases = [
        ('topics out', log('basic_st'), ['--topic', '!/rosout', '-t', '!*image*'], (),
         lambda node, topic, kind: not (ros('/rosout', topic) or ros('*image*', topic)), None),
        ('nodes in', log('pipeline_mt'), ['--node', '/perception/*'], (),
         lambda node, topic, kind: node is None or ros('/perception/*', node), None),
        ('node and topic', log('intra'), ['-n', 'ip_*', '-t', 'ip_*'], (),
         lambda node, topic, kind: (node is None or ros('ip_*', node)) and ros('ip_*', topic), None),
        ('events', log('components'), ['--event', '!rclcpp_executor_*', '-e', '!ros2:rmw_*'], (),
         lambda *_: True, lambda name: not name.startswith(('rclcpp_executor_', 'rmw_'))),
        ('CARET ignores', log('lifecycle'), [], {'CARET_IGNORE_NODES': 'manager$::', 'CARET_IGNORE_TOPICS': 'rosout'},
         lambda node, topic, kind: not (re.search('manager$', node or '') or
                                        (kind == 'topic' and re.search('rosout', topic))), None),
        ('CARET selects', log('basic_st'), [], {'CARET_SELECT_TOPICS': '^/sensing/', 'CARET_SELECT_NODES': 'operator:['},
         lambda node, topic, kind: bool(re.search('operator', node or '') or
                                        (kind == 'topic' and re.search('^/sensing/', topic))), None),
        ('a program of its own', FIXTURE, [], {'KYMO_FILTER': 'topic !/scan; event !callback_end'},
         lambda node, topic, kind: not ros('/scan', topic), lambda name: name != 'callback_end'),
    ]
    done = 0
    for what, path, options, environment, wanted, event in cases:
        if path:
            check(what, path, table, record(root, path, options, environment), wanted, event or (lambda name: True))
            done += 1
    return done


# ---- while it runs ----

PROGRAM = r'''
import ctypes, sys
call = ctypes.CDLL(None)
P, S, U = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t


def do(name, *args):
    getattr(call, 'ros_trace_' + name)(*[P(a) if isinstance(a, int) else S(a.encode()) for a in args])
do('rcl_init', 0x100)
do('rcl_node_init', 0x1000, 0x1010, 'talker', '/')
do('rcl_publisher_init', 0x1100, 0x1000, 0x1110, '/a', 10)
do('rcl_publisher_init', 0x1200, 0x1000, 0x1210, '/b', 10)
print('ready', flush=True)
for line in sys.stdin:
    if line.startswith('new'):      # another publisher where that of /b was
        do('rcl_publisher_init', 0x1200, 0x1000, 0x1210, '/a', 10)
    for message in range(int(line.split()[-1])):
        for handle in (0x1100, 0x1200):
            do('rclcpp_publish', 0, message + 1)
            do('rcl_publish', handle, message + 1)
            do('rmw_publish', message + 1)      # as on Iron: it follows rcl_publish
    print('done', flush=True)
'''


class Live:
    def __init__(self, root):
        self.place = tempfile.mkdtemp(dir=root)
        self.trace = os.path.join(self.place, 'trace')
        runtime = os.path.join(self.place, 'run')
        os.mkdir(runtime, 0o700)
        self.environment = dict(os.environ, KYMO_DIR=runtime)
        self.recorder = subprocess.Popen(
            [KYMO, 'record', '-q', '-o', self.trace, '--ring-size', '4M', '--', sys.executable, '-c', PROGRAM],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment)
        self.answer('ready')

    def answer(self, wanted):
        line = self.recorder.stdout.readline().strip()
        if line != wanted:
            raise libctf.Mismatch("the program said '%s' instead of '%s'" % (line, wanted))

    def messages(self, words):
        self.recorder.stdin.write(words + '\n')
        self.recorder.stdin.flush()
        self.answer('done')

    def filter(self, *arguments, status=0):
        done = subprocess.run([KYMO, 'filter', *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=self.environment, timeout=300)
        if done.returncode != status:
            raise libctf.Mismatch('kymo filter %s ended with %d: %s' % (arguments, done.returncode, done.stdout))
        return done.stdout

    def end(self):
        self.recorder.stdin.close()
        if self.recorder.wait(timeout=300):
            raise libctf.Mismatch('kymo record ended with %d' % self.recorder.returncode)


def need(text, *parts):
    for part in parts:
        if part not in text:
            raise libctf.Mismatch("'%s' is not in:\n%s" % (part, text))


def while_it_runs(root):
    live = Live(root)
    need(live.filter(), 'everything is recorded')
    live.messages('100')
    live.filter('set', '--topic', '!/b')
    live.messages('100')
    need(live.filter('show'), 'topic', '!/b')
    live.messages('new 10')             # /b is no more: both are /a
    live.filter('add', '-e', '!rmw_publish')
    live.messages('100')
    shown = json.loads(live.filter('show', '-f', 'json'))
    if [row['rule'] for row in shown['rules']] != ['!/b', '!rmw_publish']:
        raise libctf.Mismatch('the rules are shown as %s' % shown)
    need(live.filter('set', status=2), 'requires a rule')
    need(live.filter('clear', '-n', 'x', status=2), 'accepts no rules')
    need(live.filter('away', status=2), 'show, set, add or clear')
    live.filter('clear')
    live.messages('100')
    live.end()
    seen = {}
    for lane in libctf.read_trace(live.trace, '').values():
        for event in lane.events:
            key = event.name[5:], dict(event.fields).get('publisher_handle')
            seen[key] = seen.get(key, 0) + 1
    wanted = {('rcl_publish', 0x1100): 410, ('rcl_publish', 0x1200): 310,
              ('rmw_publish', None): 520, ('rclcpp_publish', None): 720}
    got = {key: count for key, count in seen.items() if key in wanted}
    unclear = got.pop(('rclcpp_publish', None))
    if not wanted.pop(('rclcpp_publish', None)) <= unclear <= 820 or got != wanted:
        raise libctf.Mismatch('%s and %d, not %s' % (got, unclear, wanted))
    told = accounts(live.trace)
    if told['filter'] != {'rules': [], 'changes': 3}:
        raise libctf.Mismatch('kymo.json says %s' % told['filter'])


# ---- what is told ----

def ask(*arguments, status=0, environment=()):
    done = subprocess.run([KYMO, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
                          env=dict(os.environ, **dict(environment)))
    if done.returncode != status:
        raise libctf.Mismatch('kymo %s ended with %d: %s' % (arguments, done.returncode, done.stdout))
    return done.stdout


def what_is_told(root):
    rules = os.path.join(root, 'rules')
    with open(rules, 'w') as f:
        f.write('# nothing of it\nnode !*\n\nevent !rclcpp_*\n')
    trace, _, said = record(root, FIXTURE, ['--filter-file', rules, '-t', '!/scan'])
    if accounts(trace)['filter']['rules'] != ['topic !/scan', 'node !*', 'event !rclcpp_*']:
        raise libctf.Mismatch('kymo.json says %s' % accounts(trace)['filter'])
    need(ask('info', trace), 'topic !/scan; node !*; event !rclcpp_*', 'Left out by rules')
    need(ask('report', trace), 'topic !/scan; node !*; event !rclcpp_*')
    with open(os.path.join(trace, 'ust', 'metadata')) as f:
        need(f.read(), 'kymo_rules = "topic !/scan; node !*; event !rclcpp_*"')

    trace, _, said = record(root, FIXTURE, ['--process', '!*'], status=6)
    need(said, 'the rules leave out all', 'CARET_IGNORE_PROCESSES')
    trace, _, said = record(root, FIXTURE, [], {'CARET_IGNORE_PROCESSES': '^second_'})
    told = {process['procname']: process for process in accounts(trace)['processes']}
    if told['second_process_']['wanted'] or told['second_process_']['init_events'] or not told['small_proc']['recorded']:
        raise libctf.Mismatch('CARET_IGNORE_PROCESSES gave %s' % told)
    need(ask('info', trace), 'CARET_IGNORE_PROCESSES=^second_')

    with open(rules, 'a') as f:
        f.write('topics /x\n')
    need(ask('record', '--filter-file', rules, status=3), rules + ":5: 'topics' is not a kind of rule")
    need(ask('record', '-n', '!', status=2), 'needs a name')
    need(ask('filter', status=6, environment={'KYMO_DIR': os.path.join(root, 'none')}), 'no recorder is running')
    said = ask('run', '--topic', '!/x', '-e', 'a*', '--', 'sh', '-c', 'echo "$KYMO_FILTER"',
               environment={'KYMO_FILTER': 'node /n'})
    need(said, 'node /n; topic !/x; event a*')


def main(root):
    table = libctf.points(JAZZY)
    logs = real_logs(root, table)
    while_it_runs(root)
    what_is_told(root)
    print('%d recordings of call logs hold what their rules want' % logs)


in_directory(main, "/dev/shm")
