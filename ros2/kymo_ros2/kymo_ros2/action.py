# SPDX-License-Identifier: Apache-2.0
"""The launch action: records everything that is launched after it, until the last program has ended."""
import asyncio
import os
import sys
from typing import List

from kymo import call, Error, Session
from kymo import command as kymo_command
from kymo import session as kymo_session

from launch import logging
from launch.action import Action
from launch.actions import SetEnvironmentVariable
from launch.event_handlers import OnProcessExit, OnProcessStart, OnShutdown
from launch.frontend import expose_action
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

# Options of `kymo start` that the action gives itself, or that make no sense here.
_OWN = frozenset(('output', 'format', 'quiet', 'strict', 'hosts', 'expect', 'domain', 'recording-frequency'))

# ros2_tracing's attributes that mean nothing to kymo, and why.
_IGNORED = {
    'dual_session': 'the facts of the start are kept by every program, also before a session',
}


_RING_LEAST = 16384


def kymo_options():
    """Options of `kymo start` that are attributes of the action, by their names in Python."""
    return {row['option'].replace('-', '_'): row['kind'] for row in kymo_command.options('start')
            if row['option'] not in _OWN}


def _substitutions(value):
    """Texts in `value`, alone or in a list, as substitutions that can be performed; everything else unchanged."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return normalize_to_list_of_substitutions(value)


def _performed(context, value):
    if isinstance(value, _Several):
        return [_performed(context, one) for one in value]
    return perform_substitutions(context, value) if isinstance(value, (list, tuple)) else value


class _Several(list):
    """Several values, each of which may be a list of substitutions."""


def _several(values):
    return None if values is None else _Several(_substitutions(value) for value in values)


class _End(Action):
    """Completes the recording when all programs have ended; launch waits for it."""

    def __init__(self, trace):
        super().__init__()
        self._trace = trace
        self._future = None

    def execute(self, context):
        self._future = context.asyncio_loop.create_task(self._trace.end())

    def get_asyncio_future(self):
        return self._future


@expose_action('kymo')
class Trace(Action):
    """
    Record what is launched from here on.

    The attributes are those of ros2_tracing's Trace action, and the options of `kymo start` under their own names, with
    underscores (in XML and YAML with dashes): flight, trigger, post, node, topic, process, event, category,
    filter_file, rotate_time, max_size, compress, relay, perfetto, streams, paused, ...

    session_name, append_timestamp, base_path, append_trace: the trace is base_path/session_name[-YYYYMMDDHHMMSS].
    events_ust: None: all; a list of names with '*': these; empty: only the facts of the start.
    events_kernel: these events of the kernel are recorded; if kymo knows none of them, the launch fails. syscalls: if
    there are any, all system calls are recorded. subbuffer_size_ust: twice as much for each thread;
    subbuffer_size_kernel: twice as much for each CPU. context_fields: perf:thread:cycles counts cycles. The other ones,
    and dual_session: a log message says what kymo does instead.
    snapshot_mode: flight='30s' unless that is given.
    strict: launch fails if events were lost. rclpy: False: callbacks of rclpy are not recorded; True: launch fails if the
    hook for them cannot be loaded; None: they are recorded.
    ring_size: memory for each thread of the launched programs. runtime_directory: a KYMO_DIR of their own, so that
    nothing else is recorded.

    After the action was executed, `env` has the variables that launched programs get in addition.
    """

    def __init__(self, *, session_name=None, append_timestamp=False, base_path=None, append_trace=False,
                 events_ust=None, events_kernel=(), syscalls=(), context_fields=None, snapshot_mode=False,
                 strict=False, rclpy=None, runtime_directory=None, **kwargs):
        known = kymo_options()
        options = {name: kwargs.pop(name) for name in list(kwargs) if name in known}
        sizes = {name: kwargs.pop(name, None) for name in ('subbuffer_size_ust', 'subbuffer_size_kernel')}
        self._said = [f'{name} is ignored: {_IGNORED[name]}' for name in _IGNORED if kwargs.pop(name, None)]
        super().__init__(**kwargs)
        self._logger = logging.get_logger('kymo')
        self._session_name = _substitutions('session' if session_name is None else session_name)
        self._append_timestamp = append_timestamp or session_name is None
        self._base_path = _substitutions(base_path)
        self._append_trace = append_trace
        self._events_ust = _several(events_ust)
        self._events_kernel = _several(events_kernel)
        self._syscalls = _several(syscalls)
        self._context_fields = {domain: _several(fields) for domain, fields in context_fields.items()} \
            if isinstance(context_fields, dict) else _several(context_fields)
        if snapshot_mode:
            options.setdefault('flight', '30s')
        self._options = {name: _several(value if isinstance(value, (list, tuple)) else [value])
                         if known[name] == 'list' else _substitutions(value) for name, value in options.items()}
        self._ring_size = self._options.pop('ring_size', None)
        self._use_sizes(**sizes)
        self._strict = strict
        self._rclpy = rclpy
        self._runtime_directory = _substitutions(runtime_directory)
        self._session = None
        self._running = set()
        self._changed = None
        self._trace_directory = None
        self.env = {}

    def _use_sizes(self, subbuffer_size_ust, subbuffer_size_kernel):
        """LTTng has two sub-buffers per CPU; kymo has a ring per thread, and one per CPU for the kernel's events."""
        if subbuffer_size_ust and self._ring_size is None:
            self._ring_size = max(2 * subbuffer_size_ust, _RING_LEAST)
            self._said.append(f'subbuffer_size_ust: a ring of {self._ring_size} bytes for each thread')
        if subbuffer_size_kernel and (self._events_kernel or self._syscalls):
            self._options.setdefault('kernel_ring_size', str(2 * subbuffer_size_kernel))

    session_name = property(lambda self: self._session_name)
    base_path = property(lambda self: self._base_path)
    append_trace = property(lambda self: self._append_trace)
    trace_directory = property(lambda self: self._trace_directory)
    events_ust = property(lambda self: self._events_ust)
    events_kernel = property(lambda self: self._events_kernel)
    syscalls = property(lambda self: self._syscalls)
    context_fields = property(lambda self: self._context_fields)
    options = property(lambda self: self._options)
    strict = property(lambda self: self._strict)

    # ---- XML and YAML ----

    @classmethod
    def parse(cls, entity, parser):
        """Attributes have dashes; lists are words (events-*, syscalls, context-fields), or YAML's, or XML's with -sep."""
        _, kwargs = super().parse(entity, parser)
        for name in ('session_name', 'base_path', 'runtime_directory'):
            value = _attribute(entity, name, (str,))
            if value is not None:
                kwargs[name] = parser.parse_substitution(value)
        for name in ('append_timestamp', 'append_trace', 'snapshot_mode', 'dual_session', 'strict', 'rclpy'):
            value = _attribute(entity, name, (bool,))
            if value is not None:
                kwargs[name] = value
        for name in ('subbuffer_size_ust', 'subbuffer_size_kernel'):
            value = _attribute(entity, name, (int,))
            if value is not None:
                kwargs[name] = value
        for name in ('events_ust', 'events_kernel', 'syscalls', 'context_fields'):
            value = _attribute(entity, name, (str, List[str]))
            if value is not None:
                words = _words(value) if isinstance(value, str) else value
                kwargs[name] = [parser.parse_substitution(word) for word in words]
        for name, kind in kymo_options().items():
            value = _attribute(entity, name, (bool,) if kind == 'flag' else (bool, str) if kind == 'switch' else
                               (str, List[str], int, float))
            if isinstance(value, str):
                value = parser.parse_substitution(value)
                value = [value] if kind == 'list' else value
            elif isinstance(value, list):
                value = [parser.parse_substitution(one) for one in value]
            if value is not None:
                kwargs[name] = value
        return cls, kwargs

    # ---- begin ----

    def execute(self, context):
        """Begin to record. A RuntimeError (kymo.Error) says why that failed."""
        # A copy: the programs get the preload library, kymo itself must not.
        outside = dict(context.environment)
        if self._runtime_directory:
            outside['KYMO_DIR'] = os.path.abspath(_performed(context, self._runtime_directory))
        arguments = self._arguments(context)
        session = Session(self._directory(context), arguments, env=outside)
        self.env = self._environment(context, outside)
        try:
            self._trace_directory = session.start()
        except Error as error:
            raise RuntimeError(f'tracing setup failed: {error}') from error
        self._session = session
        self._changed = asyncio.Event()
        self._logger.info(f'Writing tracing session to: {self._trace_directory}')
        for line in self._said:
            self._logger.info(line)
        context.register_event_handler(OnProcessStart(on_start=self._started))
        context.register_event_handler(OnProcessExit(on_exit=self._exited))
        context.register_event_handler(OnShutdown(on_shutdown=lambda event, context: _End(self)))
        return [SetEnvironmentVariable(name, value) for name, value in self.env.items()]

    def _directory(self, context):
        name = _performed(context, self._session_name)
        if self._append_timestamp:
            name = kymo_session.with_timestamp(name)
        return kymo_session.new_directory(_performed(context, self._base_path), name, self._append_trace)

    def _arguments(self, context):
        fields = self._context_fields
        if isinstance(fields, dict):
            fields = {domain: _performed(context, names) for domain, names in fields.items()}
        arguments, notes = kymo_session.from_ros2_tracing(
            _performed(context, self._events_ust), _performed(context, self._events_kernel),
            _performed(context, self._syscalls), _performed(context, fields))
        self._said += notes
        for name, value in self._options.items():
            arguments += kymo_session.option(name, _performed(context, value))
        return arguments

    def _environment(self, context, outside):
        """The environment that `kymo run` would give a program, without what is already set."""
        if self._ring_size is not None:
            outside = dict(outside, KYMO_RING_SIZE=str(_performed(context, self._ring_size)))
        if self._rclpy is not None:
            outside = dict(outside, KYMO_RCLPY='1' if self._rclpy else '0')
        try:
            if self._rclpy:
                call('run', '--', sys.executable, '-c', '', env=outside)  # fails if the hook cannot be loaded
            there = call('run', '--', 'env', '-0', env=outside)
        except Error as error:
            raise RuntimeError(f'tracing setup failed: {error}') from error
        inside = dict(entry.split('=', 1) for entry in there.split('\0') if '=' in entry)
        return {name: value for name, value in inside.items()
                if context.environment.get(name) != value and name != '_'}

    # ---- end ----

    def _started(self, event, context):
        self._running.add(event.pid)

    def _exited(self, event, context):
        self._running.discard(event.pid)
        self._changed.set()

    async def end(self):
        """Wait for the programs, then for the recorder; so the trace contains their shutdown."""
        while self._running:
            self._changed.clear()
            await self._changed.wait()
        # An error is launch's failure, as one of any other action.
        there = await asyncio.get_running_loop().run_in_executor(None, self._session.stop, self._strict)
        if there:
            self._logger.info(f'next: kymo report {self._trace_directory}')
        else:
            self._logger.error('nothing was traced, so there is no trace; "kymo doctor PROGRAM" says why')

    def __repr__(self):
        return (f'Trace(session_name={self._session_name}, base_path={self._base_path}, '
                f'append_trace={self._append_trace}, trace_directory={self._trace_directory}, '
                f'events_ust={self._events_ust}, events_kernel={self._events_kernel}, syscalls={self._syscalls}, '
                f'context_fields={self._context_fields}, options={self._options}, strict={self._strict})')


def _attribute(entity, name, types):
    """An attribute of one of these types; None if it does not exist."""
    for data_type in types:
        try:
            return entity.get_attr(name.replace('_', '-'), data_type=data_type, optional=True, can_be_str=False)
        except (TypeError, ValueError) as error:
            failure = error
    raise failure


def _words(text):
    """Words between spaces, as in "ros2:callback_* $(var more)": what is in parentheses is one word."""
    words, depth, word = [], 0, ''
    for character in text:
        depth += {'(': 1, ')': -1}.get(character, 0)
        if character.isspace() and depth <= 0:
            words.append(word)
            word = ''
        else:
            word += character
    return [word for word in words + [word] if word]
