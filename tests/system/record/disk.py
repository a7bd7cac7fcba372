#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, long
"""The disk is full, refuses, hangs, or is gone: the traced program does not notice, the recorder says
once which path and what to do, goes on when it can, and its accounts are exact.

Where this may mount (as root, or in a user namespace), it uses file systems of its own; one of them is slow, or refuses
to write, as the test wants (tests/tools/fuse_faults.c). What cannot be made here is said and left out: a frozen file
system is a recorder that is stopped then, which is the same to the traced program."""
import errno
import glob
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.dirname(__file__) + "/../lib")
import libctf
from lib_test import BUILD, KYMO

THREADS = 2
RATE = 40000
DEADLINE = 60
PATIENCE = 10       # seconds after which the recorder may tell the same again
FLEET = 40          # programs: more than are looked at together (TRACES_PER_LOOK)
FULL_RINGS = 20000  # events of each thread: far more than its ring holds

EVENT = re.compile(r'ros2:rcl_publish: .*publisher_handle = 0x([0-9A-F]+), message = 0x([0-9A-F]+)')
REMEDY = {errno.EDQUOT: 'raise the quota', errno.EROFS: 'mount the file system writable', errno.EIO: 'check the disk'}
DISCARDED = re.compile(r'Tracer discarded (\d+) event')


class Skip(Exception):
    pass


def wait_for(what, condition):
    libctf.wait_for(what, condition, DEADLINE)


def require(condition, what):
    if not condition:
        raise libctf.Mismatch(what)


class Case:
    """A recorder that writes to a place, and a program that does not stop."""

    def __init__(self, root, place, least=1000, options=()):
        self.root = root
        self.options = options
        self.trace = os.path.join(place, 'trace')
        self.said_path = os.path.join(root, 'said')
        self.noted_path = os.path.join(root, 'noted')
        runtime = os.path.join(root, 'run')
        os.mkdir(runtime, 0o700)
        self.environment = dict(os.environ, KYMO_DIR=runtime, KYMO_RING_SIZE='64K')
        self.began = time.monotonic()
        self.recorder = self.start_recorder(self.trace)
        self.program = subprocess.Popen(
            [KYMO, 'run', '--', os.path.join(BUILD, 'tests/numbers'), '--threads', str(THREADS), '--rate',
             str(RATE), '--seconds', '100000', self.noted_path], env=self.environment)
        self.go_on(least)

    def start_recorder(self, trace):
        with open(self.said_path, 'w') as said:
            recorder = subprocess.Popen([KYMO, 'record', '-o', trace, *self.options], env=self.environment,
                                        stdout=subprocess.DEVNULL, stderr=said)
        wait_for('the recorder', lambda: recorder.poll() is not None or
                 os.path.exists(os.path.join(trace, 'kymo.json')))
        return recorder

    def noted(self):
        try:
            with open(self.noted_path, 'rb') as f:
                content = f.read(8 * THREADS)
        except FileNotFoundError:
            content = b''
        return struct.unpack('<%dQ' % THREADS, content) if len(content) == 8 * THREADS else (0,) * THREADS

    def end_with_loss(self):
        """What comes now is recorded, and the trace says what was dropped before."""
        self.go_on(1000)
        self.end_program()
        self.end_recorder(0)
        _, discarded = self.read()
        require(discarded, 'nothing was dropped')
        self.check_trace()

    def go_on(self, events):
        """The program emits this many more in each thread: it notices nothing."""
        before = self.noted()
        wait_for('the program', lambda: all(now >= then + events for now, then in zip(self.noted(), before)))
        require(self.program.poll() is None, 'the program ended')

    def said(self):
        with open(self.said_path) as f:
            return f.read()

    def wait_until_said(self, text):
        wait_for('"%s"; it said: %s' % (text, self.said()), lambda: text in self.said())

    def end_program(self):
        self.program.terminate()
        require(self.program.wait(timeout=DEADLINE) == 0, 'the program ended with %d' % self.program.returncode)

    def end_recorder(self, status):
        self.recorder.send_signal(signal.SIGINT)
        self.recorder.wait(timeout=DEADLINE)
        require(self.recorder.returncode == status, 'the recorder ended with %d, not %d: %s' % (
            self.recorder.returncode, status, self.said()))

    def check_said(self, *wanted):
        said = self.said()
        for text in (self.trace, *wanted):
            require(text in said, 'not said: "%s", but: %s' % (text, said))
        times = said.count('cannot write to ')
        require(1 <= times <= 1 + (time.monotonic() - self.began) / PATIENCE, 'said %d times: %s' % (times, said))

    def read(self):
        """What babeltrace2 finds: ({thread: [numbers]}, how many it says were discarded)."""
        reader = subprocess.run(['babeltrace2', self.trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)
        found, discarded = {t: [] for t in range(THREADS)}, 0
        for line in reader.stderr.splitlines():
            match = DISCARDED.search(line)
            require(match, 'babeltrace2 says: ' + line)
            discarded += int(match[1])
        require(reader.returncode == 0, 'babeltrace2 ended with %d' % reader.returncode)
        for line in reader.stdout.splitlines():
            match = EVENT.search(line)
            if match:
                found[int(match[1], 16)].append(int(match[2], 16))
        for numbers in found.values():
            require(all(a < b for a, b in zip(numbers, numbers[1:])), 'numbers come twice, or backwards')
        return found, discarded

    def gone(self):
        """What was in a directory that somebody removed."""
        with open(os.path.join(self.trace, 'kymo.json')) as f:
            return json.load(f).get('removed', {}).get('events', 0)

    def check_trace(self, complete=True):
        """All is in the trace, or counted as dropped in it; with complete in the accounts as well."""
        found, discarded = self.read()
        recorded = sum(len(numbers) for numbers in found.values())
        produced = sum(self.noted())
        gone = self.gone() if complete else 0
        if gone:        # and what was told as lost in it: the accounts have that
            with open(os.path.join(self.trace, 'kymo.json')) as f:
                dropped = json.load(f)['totals']['dropped']
            require(discarded <= dropped, 'babeltrace2 says %d, kymo.json %d are lost' % (discarded, dropped))
            discarded = dropped
        require(recorded + discarded + gone == produced, '%d recorded, %d discarded, %d gone are not %d; it said: %s' % (
            recorded, discarded, gone, produced, self.said()))
        if not complete:
            return
        for thread, last in enumerate(self.noted()):
            require(discarded or found[thread][-1] == last, 'the last event of thread %d is not there' % thread)
        with open(os.path.join(self.trace, 'kymo.json')) as f:
            accounts = json.load(f)
        totals = accounts['totals']
        recorded += gone
        require(accounts['ended'], 'kymo.json does not say that it ended')
        require((totals['recorded'], totals['dropped'], totals['unwritten']) == (recorded, discarded, 0),
                'kymo.json says %s, the trace has %d and %d' % (totals, recorded, discarded))

    def check_accounts(self):
        """The accounts are complete, and so is what is told of them, where the files do not show what they lack."""
        with open(os.path.join(self.trace, 'kymo.json')) as f:
            accounts = json.load(f)
        totals = accounts['totals']
        lost = totals['dropped'] + totals['unwritten']
        require(accounts['ended'], 'kymo.json does not say that it ended')
        require(lost and totals['recorded'] + lost == sum(self.noted()), '%s are not %d' % (totals, sum(self.noted())))
        require(os.listdir(self.trace).count('kymo.json.reserve') == 0, 'the reserve is still there')
        info = subprocess.run([KYMO, 'info', self.trace], stdout=subprocess.PIPE, text=True)
        require('Lost events: %d\n' % lost in info.stdout, info.stdout)
        report = subprocess.run([KYMO, 'report', self.trace], stdout=subprocess.PIPE, text=True)
        require('Lost: %d events\n' % lost in report.stdout, report.stdout[:1000])

    def close(self):
        for process in self.program, self.recorder:
            if process.poll() is None:
                process.kill()
                process.wait()


def comes_and_goes(case, worse, better, error, remedy):
    """Something that ends again, with both told."""
    worse()
    case.wait_until_said('cannot write to ' + case.trace)
    case.go_on(FULL_RINGS)
    better()
    case.wait_until_said('can be written again')
    case.go_on(1000)
    case.end_program()
    case.end_recorder(1)
    case.check_said(error, remedy)
    _, discarded = case.read()
    require(discarded, 'nothing was dropped')
    case.check_trace()


# ---- mounts, in a mount namespace of this test ----

def mount(root, *arguments):
    place = os.path.join(root, 'disk')
    os.makedirs(place, exist_ok=True)
    done = subprocess.run(['mount', *arguments, place], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Skip('cannot mount: ' + done.stderr.strip().splitlines()[0])
    return place


def unmount(place):
    subprocess.run(['umount', '-l', place], stderr=subprocess.DEVNULL)


def mount_ext4(root, *options):
    image = os.path.join(root, 'image')
    if not shutil.which('mkfs.ext4', path=os.environ['PATH'] + ':/usr/sbin:/sbin'):
        raise Skip('there is no mkfs.ext4')
    with open(image, 'wb') as f:
        f.truncate(64 << 20)
    subprocess.run(['mkfs.ext4', '-q', '-F', image], check=True,
                   env=dict(os.environ, PATH=os.environ['PATH'] + ':/usr/sbin:/sbin'))
    return mount(root, '-o', ','.join(('loop',) + options), image)


class Faults:
    """A file system whose writes are slow or fail, as one asks."""

    def __init__(self, root):
        tool = os.path.join(BUILD, 'tests/fuse_faults')
        if not os.path.exists(tool) or not os.access('/dev/fuse', os.R_OK | os.W_OK):
            raise Skip('no libfuse3, or no /dev/fuse')
        self.path, self.place = os.path.join(root, 'faults'), os.path.join(root, 'disk')
        self.set()
        for name in 'behind', 'disk':
            os.mkdir(os.path.join(root, name))
        before = os.stat(self.place).st_dev
        self.tool = subprocess.Popen([tool, self.path, os.path.join(root, 'behind'), self.place],
                                     stderr=subprocess.PIPE, text=True)
        wait_for('the file system', lambda: self.tool.poll() is not None or os.stat(self.place).st_dev != before)
        if self.tool.poll() is not None:
            raise Skip('cannot mount: ' + self.tool.stderr.read().strip())

    def set(self, error=0, write_us=0):
        if not os.path.exists(self.path):
            open(self.path, 'wb').close()
        with open(self.path, 'r+b', buffering=0) as f:
            f.write(struct.pack('<II', error, write_us))

    def close(self):
        unmount(self.place)
        try:
            self.tool.wait(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            self.tool.kill()
            self.tool.wait()
        self.tool.stderr.close()


# ---- cases ----

def fill(path):
    with open(path, 'wb', buffering=0) as f:
        size = 1 << 20
        while size:     # to the last page
            try:
                f.write(bytes(size))
            except OSError:
                size //= 2


def full(root):
    place = mount(root, '-t', 'tmpfs', '-o', 'size=64M', 'none')
    filler = os.path.join(place, 'filler')
    case = Case(root, place)
    try:
        comes_and_goes(case, lambda: fill(filler), lambda: os.unlink(filler), 'No space left', 'free space')
    finally:
        case.close()
        unmount(place)


def full_to_the_end(root):
    """Nobody frees space: the trace says all the same how much it lacks."""
    for name, make in ('tmpfs', lambda part: mount(part, '-t', 'tmpfs', '-o', 'size=64M', 'none')), ('ext4', mount_ext4):
        part = os.path.join(root, name)
        os.mkdir(part)
        try:
            place = make(part)
        except Skip as why:
            print('disk.py: full_to_the_end: %s is left out: %s' % (name, why))
            continue
        case = Case(part, place)
        try:
            fill(os.path.join(place, 'filler'))
            case.wait_until_said('cannot write to ' + case.trace)
            case.go_on(FULL_RINGS)
            case.end_program()
            case.end_recorder(1)
            case.check_accounts()
        finally:
            case.close()
            unmount(place)


def limit_on_files(root):
    """Of the recorder, which must not be so small that it cannot say so: that is a file here, too."""
    case = Case(root, root)

    def limit(size):
        resource.prlimit(case.recorder.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    try:
        comes_and_goes(case, lambda: limit(64 << 10), lambda: limit(resource.RLIM_INFINITY), 'File too large', 'ulimit -f')
    finally:
        case.close()


def quota(root):
    """A real one, of btrfs: those of ext4 and XFS are not in every kernel."""
    tools = dict(os.environ, PATH=os.environ['PATH'] + ':/usr/sbin:/sbin')
    image, place = os.path.join(root, 'image'), None
    if not shutil.which('mkfs.btrfs', path=tools['PATH']):
        raise Skip('there is no mkfs.btrfs')
    with open(image, 'wb') as f:
        f.truncate(256 << 20)
    subprocess.run(['mkfs.btrfs', '-q', '-f', image], check=True, env=tools, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    case = None
    try:
        place = mount(root, '-o', 'loop', image)
        inside = os.path.join(place, 'inside')

        def btrfs(*arguments):
            done = subprocess.run(['btrfs', *arguments], env=tools, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if done.returncode:
                raise Skip('btrfs %s: %s' % (' '.join(arguments), done.stderr.strip()))

        btrfs('quota', 'enable', place)
        btrfs('subvolume', 'create', inside)
        btrfs('qgroup', 'limit', '2M', inside)
        case = Case(root, inside)
        comes_and_goes(case, lambda: None, lambda: btrfs('qgroup', 'limit', 'none', inside), 'quota', 'raise the quota')
    finally:
        if case:
            case.close()
        if place:
            unmount(place)


def refuses(root):
    """What a file system may say, and take back."""
    for number in errno.EDQUOT, errno.EROFS, errno.EIO:
        part = os.path.join(root, str(number))
        os.mkdir(part)
        faults, case = Faults(part), None
        try:
            case = Case(part, faults.place)
            comes_and_goes(case, lambda: faults.set(error=number), faults.set, os.strerror(number), REMEDY[number])
        finally:
            if case:
                case.close()
            faults.close()


def slow(root):
    """Writes return, but late: the recorder waits, the program goes on."""
    faults, case = Faults(root), None
    try:
        case = Case(root, faults.place)
        faults.set(write_us=300000)
        case.go_on(FULL_RINGS)
        faults.set()
        case.end_with_loss()
    finally:
        if case:
            case.close()
        faults.close()


def read_only(root):
    read_only_after(root, 1000)


def read_only_at_once(root):
    """Most often before anything was written."""
    read_only_after(root, 1)


def read_only_after(root, events):
    """The kernel makes a file system read-only when it finds it damaged: there is no way back."""
    place = mount_ext4(root, 'errors=remount-ro')
    device = os.path.basename(subprocess.run(['findmnt', '-no', 'SOURCE', place], stdout=subprocess.PIPE,
                                             text=True).stdout.strip())
    trigger = '/sys/fs/ext4/%s/trigger_fs_error' % device
    case = None
    try:
        if not os.access(trigger, os.W_OK):
            raise Skip('no ' + trigger)
        case = Case(root, place, events)
        with open(trigger, 'w') as f:
            f.write('a test')
        case.wait_until_said('cannot write to ' + case.trace)
        case.go_on(FULL_RINGS)
        case.end_program()
        case.end_recorder(1)
        case.check_said('could not be written all the time', 'kymo.json could not be brought up to date')
        found, _ = case.read()
        lost = re.search(r'(\d+) events were dropped and (\d+) not written', case.said())
        recorded = sum(len(numbers) for numbers in found.values())
        require(lost and recorded + int(lost[1]) + int(lost[2]) == sum(case.noted()),
                '%d are in the trace, and of %d it said: %s' % (recorded, sum(case.noted()), case.said()))
    finally:
        if case:
            case.close()
        unmount(place)


def hangs(root):
    """Writes do not return for a while."""
    place = None
    try:
        place = mount_ext4(root)
        stop = lambda: subprocess.run(['/usr/sbin/fsfreeze', '-f', place], check=True)
        go = lambda: subprocess.run(['/usr/sbin/fsfreeze', '-u', place], check=True)
        if not os.path.exists('/usr/sbin/fsfreeze'):
            raise Skip('there is no fsfreeze')
    except Skip as why:
        print('disk.py: hangs: %s; the recorder is stopped instead' % why)
        stop = lambda: case.recorder.send_signal(signal.SIGSTOP)
        go = lambda: case.recorder.send_signal(signal.SIGCONT)
    case = Case(root, place or root)
    stopped = False
    try:
        stop()
        stopped = True
        case.go_on(FULL_RINGS)
        go()
        stopped = False
        case.end_with_loss()
    finally:
        if stopped:
            go()
        case.close()
        if place:
            unmount(place)


def removed(root):
    """What was recorded is gone with the directory, and counted; it goes on in a new one of that name."""
    case = Case(root, root)
    try:
        taken_away(case, lambda: shutil.rmtree(case.trace, ignore_errors=True))
    finally:
        case.close()


def removed_in_chunks(root):
    """A complete chunk: the recording has nothing to do with it any more, but for its counts."""
    case = Case(root, root, options=['--rotate-size', '256K'])
    archives = os.path.join(case.trace, 'archives')

    def number(name):
        return int(name.rsplit('-', 1)[1])

    try:
        wait_for('chunks', lambda: len(os.listdir(archives)) > 3)
        shutil.rmtree(os.path.join(archives, min(os.listdir(archives), key=number)))
        wait_for('the accounts', case.gone)
        case.go_on(1000)
        case.end_program()
        case.end_recorder(0)
        case.check_trace()
    finally:
        case.close()


def removed_partly(root):
    """Only what is written just now: the traces in the directory, or the present chunk."""
    for options, name in ([], 'ust'), (['--rotate-size', '1M'], 'archives'):
        part = os.path.join(root, name)
        os.mkdir(part)
        case = Case(part, part, options=options)
        try:
            taken_away(case, lambda: os.rename(os.path.join(case.trace, name), os.path.join(part, 'away')))
        finally:
            case.close()


def removed_above(root):
    """Not even the directory that it was in is there: nothing can be made there until somebody makes that."""
    place, away = os.path.join(root, 'place'), os.path.join(root, 'away')
    os.mkdir(place)
    case = Case(root, place)
    try:
        os.rename(place, away)
        case.wait_until_said('cannot be created again')
        case.go_on(FULL_RINGS)
        taken_away(case, lambda: os.mkdir(place))
        require('create the directory again' in case.said(), case.said())
    finally:
        case.close()


def removed_of_one(root):
    """The trace of one of many programs, which declare events of their own: they are looked at in turn."""
    trace, runtime, said = (os.path.join(root, name) for name in ('trace', 'run', 'said'))
    os.mkdir(runtime, 0o700)
    environment = dict(os.environ, KYMO_DIR=runtime, KYMO_RING_SIZE='16K')
    with open(said, 'w') as file:
        recorder = subprocess.Popen([KYMO, 'record', '-o', trace], env=environment, stdout=subprocess.DEVNULL, stderr=file)
    wait_for('the recorder', lambda: os.path.exists(os.path.join(trace, 'kymo.json')))
    fleet = subprocess.Popen([os.path.join(BUILD, 'tests/fleet'), str(FLEET), '1', '2000', '100000'], env=environment,
                             stdout=subprocess.PIPE)

    def traces():
        return [path for path in glob.glob(os.path.join(trace, '*-*')) if os.path.exists(os.path.join(path, 'metadata'))]

    def number(path):
        return int(path.rsplit('-', 1)[1])

    try:
        wait_for('%d traces' % FLEET, lambda: len(traces()) > FLEET)      # who starts them has one, too
        ordered = sorted(traces(), key=number)
        shutil.rmtree(ordered[1])       # it is not among those that came last
        wait_for('what the recorder says', lambda: 'the recording continues there' in open(said).read())
        fleet.terminate()
        produced = sum(events for line in fleet.communicate(timeout=DEADLINE)[0].splitlines()
                       for _, events in json.loads(line)['threads'].values())
        recorder.send_signal(signal.SIGINT)
        require(recorder.wait(timeout=DEADLINE) == 1, 'the recorder ended with %d' % recorder.returncode)
    finally:
        for process in fleet, recorder:
            if process.poll() is None:
                process.kill()
                process.wait()
    with open(os.path.join(trace, 'kymo.json')) as file:
        accounts = json.load(file)
    require(accounts['totals']['recorded'] + accounts['totals']['dropped'] == produced,
            '%s are not %d' % (accounts['totals'], produced))
    require('removed' in accounts, 'kymo.json does not tell what was removed')


def taken_away(case, take):
    take()
    case.wait_until_said('the recording continues there')
    case.go_on(1000)
    case.end_program()
    case.end_recorder(1)
    require(case.trace + ' was removed' in case.said(), 'said: ' + case.said())
    case.check_trace()
    info = subprocess.run([KYMO, 'info', case.trace], stdout=subprocess.PIPE, text=True)
    require('Events in that: %d\n' % case.gone() in info.stdout, info.stdout)


def main():
    failed = False
    only = sys.argv[1:]
    for case in full, full_to_the_end, limit_on_files, quota, refuses, slow, read_only, read_only_at_once, hangs, removed, removed_in_chunks, removed_partly, removed_above, removed_of_one:
        if only and case.__name__ not in only:
            continue
        root = tempfile.mkdtemp(prefix='kymo-disk-')
        try:
            case(root)
            print('%s: well' % case.__name__)
        except Skip as why:
            print('disk.py: %s is left out: %s' % (case.__name__, why))
        except libctf.Mismatch as error:
            print('disk.py: %s: %s' % (case.__name__, error), file=sys.stderr)
            failed = True
        finally:
            shutil.rmtree(root, ignore_errors=True)
    sys.exit(failed)


# Mounts of the test vanish with it.
if 'KYMO_DISK_INSIDE' not in os.environ and shutil.which('unshare'):
    os.environ['KYMO_DISK_INSIDE'] = '1'
    for how in ('-m',), ('-Urm',):
        if subprocess.run(['unshare', *how, 'true'], stderr=subprocess.DEVNULL).returncode == 0:
            os.execvp('unshare', ['unshare', *how, sys.executable, os.path.abspath(__file__), *sys.argv[1:]])
main()
