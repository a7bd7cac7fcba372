# SPDX-License-Identifier: Apache-2.0
"""
Handlers of events: a method for each event that you want, called in the order of time.

kymo leaves out all other events before Python sees them, and sends the rest as columns; so a handler that
only counts gets 1.7 million events per second of CPU time. The format is described in src/cli/verbs/dump/dump_columns.h.
"""
import array
import collections
import fnmatch
import functools
import json
import os
import re
import subprocess

from .command import EMPTY, error_of, find

_TYPES = {'i': 'q', 'u': 'Q', 'f': 'd', 's': 'I', 'x': 'I'}
_WISHES_MAX = 64        # options of a kind that kymo takes; beyond that Python chooses
_FIXED = ('ns', 'vpid', 'vtid', 'cpu_id', 'procname')

#: What on_lost() gets: how many events, how many packets, and between which times (ns since 1970).
Lost = collections.namedtuple('Lost', 'events packets begin_ns end_ns')


def on(*patterns):
    """A method for the events whose names match: `@kymo.on('syscall_entry_*', 'ros2:rclcpp_*')`."""
    def mark(method):
        method.kymo_events = patterns
        return method
    return mark


class Handler:
    """
    What to do with the events of a trace.

        class Longest(kymo.Handler):
            def __init__(self):
                self.open, self.longest = {}, 0

            def on_callback_start(self, event):
                self.open[event.vtid, event.callback] = event.ns

            def on_callback_end(self, event):
                start = self.open.pop((event.vtid, event.callback), event.ns)
                self.longest = max(self.longest, event.ns - start)

        print(Longest().process('TRACE').longest)

    A method `on_NAME` gets the events NAME of any provider: `on_callback_start` those called `ros2:callback_start`. What
    cannot be in a name of Python is an underscore there: `on_page_faults_user`. The decorator `kymo.on()` takes patterns.
    `on_lost(lost)` is called where events were lost, `finish()` at the end of the trace.

    An event is a named tuple: ns (since 1970), vpid, vtid, cpu_id, procname, then its fields; a field with one of these
    names gets an underscore behind it. `event._name` is the event's full name. An event has its first eight fields,
    without structures; arrays of bytes are `bytes`. Use kymo.events() for the others.
    """

    def on_lost(self, lost):
        """Events were lost here; nothing happens unless you define it."""

    def finish(self):
        """The trace is over; nothing happens unless you define it."""

    def process(self, trace=None, begin=None, end=None):
        """Give it the events of a trace. Return: the handler. See process()."""
        process(trace, self, begin=begin, end=end)
        return self


def _methods(handler):
    """Pairs of a pattern of event names and the method for it."""
    for name in dir(type(handler)):
        method = getattr(handler, name, None)
        if not callable(method):
            continue
        patterns = getattr(method, 'kymo_events', None)
        if patterns:
            yield from ((_glob(pattern), method) for pattern in patterns)
        elif name.startswith('on_') and name != 'on_lost':
            yield re.compile('(.*:)?' + re.escape(name[3:]).replace('_', r'[\W_]') + r'\Z'), method


def _glob(pattern):
    return re.compile(fnmatch.translate(pattern))


def _wishes(handlers):
    """The --event options: patterns that match at least what the methods want."""
    for handler in handlers:
        for name in dir(type(handler)):
            method = getattr(handler, name, None)
            patterns = getattr(method, 'kymo_events', None)
            if callable(method) and patterns:
                yield from patterns
            elif callable(method) and name.startswith('on_') and name != 'on_lost':
                # An underscore may stand for any character.
                wish = name[3:].replace('_', '?')
                yield from (wish, '*:' + wish)


class _Row:
    """The events of one name: their class, and what to call."""

    def __init__(self, line, handlers):
        fields = line['fields']
        names = list(_FIXED) + [name + '_' if name in _FIXED else name for name in fields]
        base = collections.namedtuple('Event', names, rename=True)
        self.event = type('Event', (base,), {'__slots__': (), '_name': line['event'], '__module__': __name__})
        self.kinds = list(fields.values())
        calls = []
        for handler in handlers:
            calls += dict.fromkeys(method for pattern, method in _methods(handler) if pattern.match(line['event']))
        self.call = calls[0] if len(calls) == 1 else functools.partial(_call_all, calls)

    def events(self, take, count, strings):
        """The events of a batch, one after the other."""
        columns = [take('q', count), take('i', count), take('i', count), take('i', count),
                   map(strings.__getitem__, take('I', count))]
        for kind in self.kinds:
            column = take(_TYPES[kind], count)
            if kind in 'sx':
                column = map(strings.__getitem__, column)
            columns.append(map(bytes.fromhex, column) if kind == 'x' else column)
        return map(functools.partial(tuple.__new__, self.event), zip(*columns))


def _call_all(calls, event):
    for call in calls:
        call(event)


def _batch(rows, head, data):
    """Call the methods for the events of a batch, in the order of time."""
    text = data[len(data) - head['string_bytes']:].decode(errors='replace')
    strings = text.split('\0')
    at = 0

    def take(code, count):
        nonlocal at
        column = array.array(code)
        begin, at = at, at + count * column.itemsize
        column.frombytes(data[begin:at])
        return column

    order = take('H', head['batch'])
    counts = {int(row): count for row, count in head['rows'].items()}
    if len(counts) == 1:
        (row, count), = counts.items()
        collections.deque(map(rows[row].call, rows[row].events(take, count, strings)), maxlen=0)
        return
    calls, steps = {}, {}
    for row in sorted(counts):
        calls[row] = rows[row].call
        steps[row] = rows[row].events(take, counts[row], strings).__next__
    for row in order:
        calls[row](steps[row]())


def _read(stream, handlers):
    rows = []
    for line in iter(stream.readline, b''):
        said = json.loads(line)
        if 'batch' in said:
            data = stream.read(said['bytes'])
            if len(data) < said['bytes']:
                return
            _batch(rows, said, data)
        elif 'row' in said:
            rows.append(_Row(said, handlers))
        else:
            lost = Lost(said['lost'], said['packets'], said['begin_ns'], said['end_ns'])
            for handler in handlers:
                handler.on_lost(lost)


def process(trace, *handlers, begin=None, end=None):
    """
    Read a trace once, and give each handler the events that it has methods for.

    `trace`: its directory; None: the newest one. `begin`, `end`: as of `kymo dump`, '+1.5s'. Raises kymo.Error, and what
    a method raises.
    """
    wishes = list(dict.fromkeys(_wishes(handlers)))
    if not wishes:
        raise TypeError('none of these handlers has a method on_NAME, or one with @kymo.on(), so no event would reach it')
    if len(wishes) > _WISHES_MAX:
        wishes = ['*']
    command = [find(), 'dump', '--format=columns', *(f'--event={wish}' for wish in wishes)]
    command += [f'--{name}={value}' for name, value in (('begin', begin), ('end', end)) if value is not None]
    if trace is not None:
        command.append(os.path.expanduser(trace))
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:
        try:
            _read(reader.stdout, handlers)
        except BaseException:
            reader.kill()
            raise
        text = reader.stderr.read().decode(errors='replace')
        status = reader.wait()
    if status not in (0, EMPTY):
        raise error_of(command, status, text)
    for handler in handlers:
        handler.finish()
