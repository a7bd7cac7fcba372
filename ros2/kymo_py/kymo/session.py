# SPDX-License-Identifier: Apache-2.0
"""Recordings in the background (`kymo start` to `kymo stop`), and options of ros2_tracing as options of kymo."""
import fnmatch
import os
import time

from .command import ask, call, EMPTY, Error, INPUT, LOSS, USAGE

#: Context fields that each event of kymo has.
CONTEXT = ('procname', 'vpid', 'vtid')

#: The kernel's events that can be named; a test compares them with `kymo record --kernel-event`.
KERNEL_EVENTS = (
    'sched_switch', 'sched_waking', 'sched_wakeup_new', 'sched_migrate_task', 'sched_process_fork', 'sched_process_exit',
    'irq_handler_entry', 'irq_handler_exit', 'irq_softirq_entry', 'irq_softirq_exit', 'block_rq_issue', 'block_rq_complete',
    'net_dev_queue', 'net_if_receive_skb', 'x86_exceptions_page_fault_user', 'minor-faults', 'major-faults')

_CYCLES = ('perf:thread:cycles', 'perf:thread:cpu-cycles', 'perf:cpu:cycles', 'perf:cpu:cpu-cycles')


_ENDS_WITHIN_S = 60    # a recorder whose disk stands still


def _is_kernel_event(name):
    return any(fnmatch.fnmatchcase(event, name) for event in KERNEL_EVENTS)


def trace_directory(env=None):
    """Where traces are written: $ROS_TRACE_DIR, else $ROS_HOME/tracing, else ~/.ros/tracing."""
    env = os.environ if env is None else env
    home = env.get('ROS_HOME') or os.path.join('~', '.ros')
    return os.path.expanduser(env.get('ROS_TRACE_DIR') or os.path.join(home, 'tracing'))


def with_timestamp(name):
    """`name`-YYYYMMDDHHMMSS, in local time."""
    return f'{name}-{time.strftime("%Y%m%d%H%M%S")}'


def new_directory(base, name, append=False):
    """
    The directory of a session: `base`/`name`, base None: trace_directory().

    An existing directory is an Error. With `append` the new trace is a directory in it; a reader of `base`/`name`
    reads both.
    """
    path = os.path.join(os.path.expanduser(base) if base else trace_directory(), name)
    if os.path.isdir(path) and os.listdir(path):
        if not append:
            raise Error(f'trace directory already exists, use the append option to append to it: {path}', INPUT)
        path = os.path.join(path, with_timestamp('append'))
    return path


def option(name, value):
    """One option of kymo from a Python value: True, a text or number, or a list of these; None and False give no option."""
    name = '--' + name.replace('_', '-')
    if value is None or value is False:
        return []
    if value is True:
        return [name]
    values = value if isinstance(value, (list, tuple, set)) else [value]
    return [f'{name}={one}' for one in values]


def from_ros2_tracing(events_ust=None, events_kernel=(), syscalls=(), context_fields=None):
    """
    Options of `kymo start` for the arguments of ros2_tracing's Trace action, and notes about them.

    `events_ust` None: all events of ROS 2; empty: only the facts of the start. `context_fields`: a list, or a
    dictionary of lists. Return: a list of options and a list of sentences about what kymo does differently.
    """
    options, notes = [], []
    if events_ust is not None:
        names = list(events_ust)
        if not names:
            options.append('--event=!*')
        elif '*' not in names:
            options += option('event', names)
        foreign = [name for name in names if name.startswith('lttng_ust_')]
        if foreign:
            notes.append(f'not recorded by kymo: {", ".join(foreign)}')
    if events_kernel:
        known = [name for name in events_kernel if _is_kernel_event(name)]
        unknown = [name for name in events_kernel if name not in known]
        if not known:
            raise Error(f'kymo records none of these kernel events: {", ".join(unknown)}; it knows: {", ".join(KERNEL_EVENTS)}',
                        USAGE)
        options += option('kernel-event', known)
        if unknown:
            notes.append(f'kernel events that kymo does not record: {", ".join(unknown)}')
    if syscalls:
        options.append('--syscalls')
        notes.append('system calls: kymo records all of them, whichever are named')
    if isinstance(context_fields, dict):
        context_fields = [field for fields in context_fields.values() for field in fields]
    cycles = [field for field in context_fields or () if field in _CYCLES]
    if cycles:
        options.append('--cycles')
        notes.append(f'{", ".join(cycles)}: counted for each thread from switch to switch, see "kymo report --section cycles"')
    more = [field for field in context_fields or () if field not in (*CONTEXT, *_CYCLES)]
    if more:
        notes.append(f'context fields that kymo does not record: {", ".join(more)}')
    if context_fields is not None and not set(CONTEXT) <= set(context_fields):
        notes.append(f'every event has the context fields {", ".join(CONTEXT)}')
    return options, notes


def check_loss(trace, env=None):
    """Raise an Error with status 4 (kymo.command.LOSS) if events of this trace were lost."""
    try:
        call('info', '--strict', '--format', 'json', trace, env=env)
    except Error as error:
        if error.status != LOSS:
            raise
        lost = ask('info', trace, env=env)['lost']
        raise Error(f'{lost} events were lost: {trace}; "kymo info {trace}" says where', LOSS,
                    error.command) from error


def _runs(pid):
    """Whether this is a kymo that has not ended."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as file:
            name, rest = file.read().split('(', 1)[1].rsplit(')', 1)
    except OSError:
        return False
    return name == 'kymo' and rest.split()[0] not in 'ZX'


class Session:
    """
    A recording in the background, of all traced programs of the runtime directory.

        session = kymo.Session('/data/walk', ['--topic=!/rosout'])
        session.start()
        ...
        session.stop(strict=True)

    `directory`: where the trace goes; None: where `kymo start` puts it. `options`: those of `kymo start`. `env`: the
    environment of the command, None: os.environ; its KYMO_DIR says which programs are meant.
    """

    def __init__(self, directory=None, options=(), env=None):
        self.directory = directory
        self.options = list(options)
        self.recorder = None
        self._env = env

    def start(self):
        """Begin to record; returns when it does. Return: the trace's directory."""
        where = [] if self.directory is None else ['-o', self.directory]
        if where:
            os.makedirs(os.path.dirname(os.path.abspath(self.directory)), exist_ok=True)
        said = ask('start', '-q', *where, *self.options, env=self._env)
        self.recorder = said['recorder_pid']
        self.directory = said['trace']
        return self.directory

    def is_active(self):
        """Whether it is this recorder that the runtime directory has."""
        return self.recorder is not None and \
            ask('status', env=self._env, ok=(0, EMPTY)).get('recorder_pid') == self.recorder

    def _check(self):
        if not self.is_active():
            raise Error('the session is not active: it was not started, or has ended', EMPTY)

    def pause(self):
        """Only facts are taken until resume()."""
        self._check()
        call('pause', env=self._env)

    def resume(self):
        """Go on after pause()."""
        self._check()
        call('resume', env=self._env)

    def snapshot(self):
        """Have a flight recorder write its last events. Return: the directory of that trace."""
        self._check()
        return call('snapshot', env=self._env).strip()

    def stop(self, strict=False):
        """
        End it, and wait until the trace is complete.

        `strict`: Error with status 4 (kymo.command.LOSS) when events were lost. Return: whether there is a trace; there
        is none when nothing was traced. One that ended by itself (duration, snapshots) or by others is no error.
        """
        if self.recorder is None:
            self._check()
        if self.is_active():
            call('stop', env=self._env, ok=(0, EMPTY))
        # One that ends by itself lets the programs go first, and then writes its last snapshot.
        late = time.monotonic() + _ENDS_WITHIN_S
        while _runs(self.recorder) and time.monotonic() < late:
            time.sleep(0.01)
        self.recorder = None
        there = os.path.isdir(self.directory)
        if there and strict:
            check_loss(self.directory, env=self._env)
        return there
