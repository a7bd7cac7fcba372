# SPDX-License-Identifier: Apache-2.0
"""Events of a trace as dictionaries, with the names and keys of tracetools_read."""
import os

from .command import call, Error, INPUT, lines

# What belongs to packets and not to events.
_OF_PACKETS = frozenset((
    'content_size', 'events_discarded', 'id', 'magic', 'packet_seq_num', 'packet_size', 'stream_id',
    'stream_instance_id', 'timestamp_begin', 'timestamp_end', 'uuid', 'v',
))


def _flat(event):
    flat = {'_name': event['name'], '_timestamp': event['ts_ns']}
    for key, value in (event.get('packet') or {}).items():
        if key not in _OF_PACKETS:
            flat[key] = value
    for part in ('context', 'event_context', 'fields'):
        flat.update(event.get(part) or {})
    return flat


def events(trace=None, *options):
    """
    The events of a trace, one after the other, in time order.

    `trace`: its directory; None: the newest one. `options`: those of `kymo dump`, as '--event=ros2:callback_*' or
    '--begin', '+1s'. Each is a dictionary: `_name`, `_timestamp` (ns since 1970), the context (vpid, vtid, procname,
    cpu_id) and the fields. Raises kymo.Error.
    """
    operand = () if trace is None else (os.path.expanduser(trace),)
    for event in lines('dump', *options, *operand):
        yield _flat(event)


def get_trace_events(trace_directory, *options):
    """A list of all that events() yields."""
    return list(events(trace_directory, *options))


def is_trace_directory(path):
    """Whether `path` is a CTF trace, or a directory with CTF traces below it."""
    path = os.path.expanduser(path)
    if not os.path.isdir(path):
        return False
    try:
        call('dump', '-n', '1', path)
    except Error as error:
        if error.status == INPUT:
            return False
        raise
    return True


def get_field(event, field_name, default=None, raise_if_not_found=True):
    """The value of a field; without that field `default`, or an AttributeError."""
    value = event.get(field_name, default)
    if value is None and raise_if_not_found:
        raise AttributeError(f"{event['_name']} has no field '{field_name}': {event}")
    return value


def get_event_name(event):
    """Its name, as 'ros2:callback_start'."""
    return event['_name']


def get_event_timestamp(event):
    """Its time in ns since 1970."""
    return event['_timestamp']


def get_event_pid(event):
    """Its process id, as the process itself sees it."""
    return event['vpid']


def get_tid(event):
    """Its thread id."""
    return event['vtid']


def get_procname(event):
    """The name of its process, 15 bytes at most."""
    return event['procname']


def get_event_names(events):
    """The name of each event."""
    return [event['_name'] for event in events]


def get_events_with_name(event_name, events):
    """The events with this name."""
    return [event for event in events if event['_name'] == event_name]


def get_events_with_field_value(field_name, field_values, events):
    """The events whose field has this value, or one of a list or set of values."""
    if not isinstance(field_values, (list, set)):
        field_values = [field_values]
    return [event for event in events if field_name in event and event[field_name] in field_values]
