# SPDX-License-Identifier: Apache-2.0
"""
Tests on what a program did: run it under trace, then assert.

    recording = kymo.testing.record(['robot', '--seconds', '2'])
    recording.assert_order('ros2:rmw_publisher_init', 'ros2:rcl_publisher_init')
    recording.assert_latency('/scan -> /cmd_vel', p99='50ms')

With pytest there is the fixture kymo_record; kymo.case has the TraceTestCase of tracetools_test.
"""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile

from . import reader
from .command import ask, BUDGET, EMPTY, Error, error_of, find
from .frames import frames, query
from .session import check_loss

_UNITS = {'ns': 1, 'us': 10**3, 'ms': 10**6, 's': 10**9, 'min': 60 * 10**9}


def nanoseconds(time):
    """A duration as kymo accepts it ('50ms', '1.5s'), or an integer of ns, in ns."""
    if isinstance(time, int):
        return time
    match = re.fullmatch(r'(\d+(?:\.\d+)?)(ns|us|ms|s|min)', time)
    if not match:
        raise ValueError(f"'{time}' is not a duration such as 50ms, 1.5s or 250us")
    return round(float(match[1]) * _UNITS[match[2]])


@contextlib.contextmanager
def private_runtime():
    """A KYMO_DIR of its own during a test, without other recorders and programs."""
    shared = '/dev/shm'
    path = tempfile.mkdtemp(prefix='kymo-test-', dir=shared if os.access(shared, os.W_OK) else None)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


class Recording:
    """A trace, and assertions about it for tests. A false assertion raises AssertionError."""

    def __init__(self, trace, status=0, output=''):
        self.trace = trace
        self.status = status
        self.output = output
        self._events = None

    @property
    def events(self):
        """All events, as dictionaries; read once."""
        if self._events is None:
            self._events = reader.get_trace_events(self.trace)
        return self._events

    @property
    def event_names(self):
        """The set of their names."""
        return set(reader.get_event_names(self.events))

    def named(self, name, **fields):
        """Events of this name (without provider: of ROS 2) with these values of fields."""
        name = name if ':' in name else 'ros2:' + name
        return [event for event in self.events if event['_name'] == name
                and all(event.get(key) == value for key, value in fields.items())]

    def query(self, sql):
        """The rows of `kymo query`, as dictionaries."""
        return query(sql, self.trace)

    def frames(self, library='pandas'):
        """The tables as frames; see kymo.frames."""
        return frames(self.trace, library=library)

    def assert_events(self, *names):
        """There is an event of each of these names."""
        missing = [name for name in names if not self.named(name)]
        assert not missing, f'no event {", ".join(missing)} in {self.trace}; there are {sorted(self.event_names)}'

    def assert_count(self, name, at_least=1, at_most=None, **fields):
        """The number of events with this name and these values of fields."""
        count = len(self.named(name, **fields))
        wish = f'{at_least}' if at_most == at_least else f'at least {at_least}' if at_most is None else \
            f'{at_least} to {at_most}'
        assert count >= at_least and (at_most is None or count <= at_most), \
            f'{count} events {name} {fields or ""} in {self.trace}, expected {wish}'

    def assert_order(self, *names, **fields):
        """The first events of these names (with these values of fields) happened in this order."""
        before = None
        for name in names:
            found = self.named(name, **fields)
            assert found, f'no event {name} {fields or ""} in {self.trace}'
            # What is of the start may carry its true time beside the one in the trace.
            at = found[0]['_timestamp']
            assert before is None or before[1] <= at, \
                f'{name} was {before[1] - at} ns before {before[0]}, expected behind it'
            before = name, at

    def assert_fields(self, name, *fields):
        """Each event of this name has these fields, and they are neither empty nor null."""
        found = self.named(name)
        assert found, f'no event {name} in {self.trace}'
        for event in found:
            for field in fields:
                assert event.get(field) not in (None, '', 0), f'{field} of {name} is {event.get(field)!r}: {event}'

    def assert_callback(self, callback, at_least=1, **limits):
        """
        Callbacks whose name matches the GLOB (`/planner /scan`, '*costmap*': node and source) ran so often, and their
        durations keep the limits: max, mean, p50 ... p99 with durations, as in max='20ms'.
        """
        durations = [row['duration_ns'] for row in self.query(
            f"SELECT duration_ns FROM callback_instances WHERE callback GLOB {_quoted(callback)}")]
        assert len(durations) >= at_least, \
            f"{len(durations)} runs of callbacks '{callback}' in {self.trace}, expected at least {at_least}"
        _keep(f"callback '{callback}'", durations, limits)

    def assert_latency(self, what, at_least=1, **limits):
        """
        Messages of a topic ('/scan': from publish to the start of the callback), or a chain ('/scan -> /cmd_vel': as
        `kymo flow` has it), arrived so often, and their latencies keep the limits, as in p99='50ms'; of a chain there are
        min, mean, p50, p90, p99 and max.
        """
        if '->' not in what:
            latencies = [row['latency_ns'] for row in self.query(
                f"SELECT latency_ns FROM messages WHERE latency_ns IS NOT NULL AND topic_name = {_quoted(what)}")]
            assert len(latencies) >= at_least, \
                f'{len(latencies)} messages of {what} arrived in {self.trace}, expected at least {at_least}'
            _keep(f'latency of {what}', latencies, limits)
            return
        chains = ask('flow', self.trace, what, ok=(0, EMPTY)).get('chains', [])
        arrived = sum(chain['arrived'] for chain in chains)
        assert arrived >= at_least, f'{arrived} instances of {what} arrived in {self.trace}, expected {at_least}'
        for chain in chains:
            for name, limit in limits.items():
                if f'{name}_ns' not in chain:
                    raise ValueError(f'a chain has the limits min, mean, p50, p90, p99 and max, not {name}')
                value = chain[f'{name}_ns']
                assert value is None or value <= nanoseconds(limit), \
                    f'{name} of {chain["path"]} is {value} ns, expected at most {limit}'

    def assert_nothing_lost(self):
        """The trace and its recorder count no lost event."""
        try:
            check_loss(self.trace)
        except Error as error:
            raise AssertionError(str(error)) from error


def _quoted(text):
    return "'" + text.replace("'", "''") + "'"


def _percentile(values, percent):
    """Interpolated between neighbours, as percentile() of `kymo query`."""
    at = percent / 100 * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def _keep(what, values, limits):
    values = sorted(values)
    for name, limit in limits.items():
        if name == 'max':
            value = values[-1]
        elif name == 'mean':
            value = sum(values) / len(values)
        elif re.fullmatch(r'p\d+(_\d+)?', name):
            value = _percentile(values, float(name[1:].replace('_', '.')))
        else:
            raise ValueError(f'a limit is max, mean or p50 ... p99, p99_9, not {name}')
        assert value <= nanoseconds(limit), f'{name} of {what} is {round(value)} ns, expected at most {limit}'


def assert_budgets(file, *recordings):
    """The recordings (or paths of traces) keep the budgets of the file, as `kymo check` judges them."""
    traces = [getattr(recording, 'trace', recording) for recording in recordings]
    answer = ask('check', '--config', file, *traces, ok=(0, BUDGET, EMPTY))
    broken = [f'{row["kind"]} {row["name"] or ""}: {row["budget"]} ({file}:{row["line"]}); {_found(row)}'
              for row in answer['budgets'] if row['verdict'] == 'violated']
    assert not broken, 'violated budgets:\n' + '\n'.join(broken)
    assert any(row['verdict'] != 'not judged' for row in answer['budgets']), \
        f'events were lost in all recordings: no budget of {file} can be judged'


def _found(row):
    if row['value'] is None:
        return row['why']
    return f'it was {row["value"]:.6g} {"" if row["unit"] == "count" else row["unit"]}'.strip()


def record(command, output=None, options=(), env=None, timeout=None):
    """
    Run a command under `kymo record`, apart from all other recordings.

    `command`: a list, or a text for the shell. `output`: the trace's directory, None: a new one in the temporary
    directory. `options`: those of `kymo record`. `timeout`: seconds until it is sent SIGINT. Return: a Recording, with
    the command's status and what it printed. Raises kymo.Error when nothing was traced (status 6) or kymo failed.
    """
    command = ['sh', '-c', command] if isinstance(command, str) else [os.fspath(word) for word in command]
    output = os.fspath(output) if output else os.path.join(tempfile.mkdtemp(prefix='kymo-'), 'trace')
    limit = [] if timeout is None else [f'--duration={timeout}s']
    with private_runtime() as runtime:
        env = dict(os.environ if env is None else env, KYMO_DIR=runtime)
        line = [find(env), 'record', '-q', '-o', output, *limit, *options, '--', *command]
        done = subprocess.run(line, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors='replace', check=False)
    if not os.path.isdir(output):
        raise error_of(line, done.returncode or EMPTY, done.stdout)
    return Recording(output, done.returncode, done.stdout)
