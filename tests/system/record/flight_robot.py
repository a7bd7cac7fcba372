#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""The example robot under a flight recorder, and as its own one: a snapshot of its last second knows
every name, although its start is long over; the callback that is told to be too slow is in it; a
process that is killed is seen to die and its end is there; a robot that is stopped can be looked at."""
import itertools
import json
import os
import signal
import subprocess
import sys
import time

sys.path.append(os.path.dirname(__file__) + "/../lib")
import libctf
from lib_test import KYMO, ROBOT, answer, in_directory, kymo, report, ros_domain, status, stop, until

DOMAIN = ros_domain()
PROCESSES = 3
NODES = ['/lidar_driver', '/imu_driver', '/base_driver', '/operator', '/perception/obstacle_detector',
         '/perception/costmap', '/control/localization', '/control/planner', '/control/controller']
CULPRIT = 'Costmap::on_update_timer'


def fail(message):
    raise libctf.Mismatch(message)


def robot(*options):
    return [ROBOT, '--domain', str(DOMAIN), *options]


def look(trace, window):
    """babeltrace2 is content, all nodes have their names, nothing is older than the window."""
    libctf.readable(trace, trace)
    seen = report(trace, 'nodes', 'callbacks')
    names = {node['full_name'] for node in seen['nodes']}
    if not set(NODES) <= names:
        fail('%s: no node %s, only %s' % (trace, sorted(set(NODES) - names), sorted(names)))
    times = [ns for lane in libctf.read_trace(trace).values() for event, ns in zip(lane.events, lane.times)
             if event.name.startswith('ros2:callback_')]    # facts have their true, older times there
    if max(times) - min(times) > window * 1e9:
        fail('%s: %.3f s are longer than %s s' % (trace, (max(times) - min(times)) / 1e9, window))
    if len(times) < 200:
        fail('%s: only %d events' % (trace, len(times)))
    return seen


def snapshot_of(trace):
    with open(os.path.join(trace, 'kymo.json')) as file:
        return json.load(file)


def start_recorder(out, *options, robot_options=()):
    return subprocess.Popen([KYMO, 'record', '--flight', '1s', '--post', '100ms', '-o', out, *options, '--',
                             *robot('--seconds', '600', *robot_options)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until_busy():
    """Until each process of the robot has created what it creates and emits events. Their rings have something unread, or
    are recorded."""
    def busy():
        processes = status()
        return len(processes) == PROCESSES and all(int(p['rings']) and (int(p['recorded'] or 0) > 500 or int(p['unread_bytes']) > 20000)
                                                   for p in processes.values())
    until('events of each process', busy)


def end_recorder(recorder):
    if recorder.poll() is None:
        recorder.terminate()
    recorder.communicate(timeout=300)


def by_callback(directory):
    """The culprit, by its symbol; the recorder ends after it."""
    out = os.path.join(directory, 'spikes')
    recorder = start_recorder(out, '--trigger', 'callback(*%s*) > 15ms' % CULPRIT, '--snapshots', '1')
    try:
        line = recorder.stdout.readline()
        if not line.startswith('%s/1  callback(*%s*) > 15ms: ' % (out, CULPRIT)) or ' took ' not in line:
            fail('the first line is %r' % line)
        look(out + '/1', 1)
        first = snapshot_of(out + '/1')
        if first['snapshot']['value'] < 15e6 or CULPRIT not in first['snapshot']['what']:
            fail('the snapshot says %s' % first['snapshot'])
        if first['snapshot']['pid'] not in [p['pid'] for p in first['processes']]:
            fail('the trigger is of no process of the trace: %s' % first['snapshot'])
        why = answer('why', out + '/1', '--at', 'trigger')
        ended = why['instances'][0]['begin_ns'] + why['instances'][0]['latency_ns'] - first['start_realtime_ns'] + first['start_ns']
        if 'costmap' not in why['callback'] or ended != first['snapshot']['at_ns']:
            fail('why explains %s, which ended at %d: %s' % (why['callback'], ended, first['snapshot']))
        kymo('report', out + '/1', '--html', '-o', out + '.html')
        with open(out + '.html') as file:
            if 'fired: callback(*Costmap' not in file.read():
                fail('the page does not say what fired')
        rest = recorder.stdout.read()
        if '/2  ' in rest:
            fail('it goes on: %s' % rest)
    finally:
        end_recorder(recorder)


def by_watch(directory):
    """A message that never arrives, and a node that uses more of a CPU than it may. That fires each second, after the loss."""
    recorder = start_recorder(os.path.join(directory, 'watched'), '--trigger', 'lost(/scan)', '--trigger', 'cpu(/perception/costmap) > 0.1% for 2 times in 60s',
                              robot_options=['--seconds', '40', '--fault', 'loss', '--fault', 'loss', '--fault', 'loss', '--fault', 'loss'])
    try:
        wanted = {'lost(/scan): /scan lost ', '/perception/costmap busy for '}
        for line in recorder.stdout:
            wanted -= {text for text in wanted if text in line}
            if not wanted:
                break
        else:
            fail('the recorder ended before it told %s' % wanted)
    finally:
        end_recorder(recorder)


def by_death(directory):
    """A process is killed when the start is out of the window, which is 1 s."""
    recorder = start_recorder(os.path.join(directory, 'deaths'), '--trigger', 'died')
    try:
        until_busy()
        time.sleep(1.2)
        running = snapshot_of(kymo('snapshot', '-o', os.path.join(directory, 'before')).strip())
        victim = [p['pid'] for p in running['processes'] if p['procname'] == 'driver'][0]
        recorder.stdout.readline()
        os.kill(victim, signal.SIGKILL)
        line = recorder.stdout.readline()
        if '  died: driver in driver (%d)' % victim not in line:
            fail('the death is told as %r' % line)
        trace = line.split('  ')[0]
        look(trace, 1)
        ended = [p for p in snapshot_of(trace)['processes'] if p['pid'] == victim]
        if len(ended) != 1 or ended[0]['state'] != 'killed' or not ended[0]['recorded']:
            fail('the killed process is %s' % ended)
        # Later it is none of the window any more.
        after = (os.path.join(directory, 'after%d' % number) for number in itertools.count())
        until('a snapshot without who died before the window', lambda: victim not in [
            p['pid'] for p in snapshot_of(kymo('snapshot', '-o', next(after)).strip())['processes']])
        kymo('stop')
    finally:
        end_recorder(recorder)


def is_dead(pid):
    """The first thread may be a zombie while others still end."""
    try:
        with open('/proc/%d/stat' % pid) as stat:
            return stat.read().rpartition(')')[2].split()[0] in 'ZX' and len(os.listdir('/proc/%d/task' % pid)) < 2
    except OSError:
        return True


def wait_dead(pids):
    """A signal that was sent need not have arrived."""
    for _ in range(500):
        if all(map(is_dead, pids)):
            return
        time.sleep(0.01)
    fail('they do not die: %s' % pids)


def by_itself(directory):
    """No recorder: the processes keep their last events; stopped ones, too."""
    program = subprocess.Popen([KYMO, 'run', '--flight', '--', *robot('--seconds', '600')],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        until_busy()
        time.sleep(1.2)
        look(kymo('snapshot', '--last', '1s', '-o', os.path.join(directory, 'running')).strip(), 1.1)
        stop(*(int(process['pid']) for process in status().values()))
        stopped = kymo('snapshot', '--last', '1s', '-o', os.path.join(directory, 'stopped')).strip()
        look(stopped, 1.1)
        again = kymo('snapshot', '--last', '1s', '-o', os.path.join(directory, 'again')).strip()
        if snapshot_of(stopped)['totals']['recorded'] != snapshot_of(again)['totals']['recorded']:
            fail('two snapshots of a stopped robot differ')
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
        wait_dead([p['pid'] for p in snapshot_of(again)['processes']])
        seen = snapshot_of(kymo('snapshot', '--last', '1s', '-o', os.path.join(directory, 'dead')).strip())
        if seen['totals']['recorded'] != snapshot_of(again)['totals']['recorded']:
            fail('the dead robot has %s, the stopped one %s' % (seen['totals'], snapshot_of(again)['totals']))
        if {p['state'] for p in seen['processes'] if p['recorded']} != {'killed'}:
            fail('the dead are %s' % seen['processes'])
    finally:
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()


if not os.access(ROBOT, os.X_OK):
    print("skipped: examples/robot is not built")
    sys.exit(77)


def main(scratch):
    for scenario in by_callback, by_watch, by_death, by_itself:
        place = os.path.join(scratch, scenario.__name__)
        os.makedirs(place + '/run', 0o700)
        os.environ['KYMO_DIR'] = place + '/run'
        scenario(place)


in_directory(main)
