# SPDX-License-Identifier: Apache-2.0
"""The test case of tracetools_test, on kymo: from kymo.case import TraceTestCase."""
import os
import shutil
import tempfile
import unittest

from . import reader
from .session import from_ros2_tracing, with_timestamp
from .testing import private_runtime, record, Recording


def record_launch(actions, output, options=None):
    """
    Run actions of launch under the launch action of kymo_ros2, separate from all other recordings.

    Return: launch's status and a Recording. Needs `launch` and kymo_ros2.
    """
    from kymo_ros2.action import Trace
    from launch import LaunchDescription, LaunchService

    with private_runtime() as runtime:
        trace = Trace(session_name=os.path.basename(output), base_path=os.path.dirname(output),
                      runtime_directory=runtime, **(options or {}))
        service = LaunchService()
        service.include_launch_description(LaunchDescription([trace, *actions]))
        status = service.run()
    return status, Recording(output, status)


class TraceTestCase(unittest.TestCase):
    """
    Like the class of this name in tracetools_test: runs nodes under trace, and then tests their events.

    Arguments and what is checked before each test are those of tracetools_test: launch ends with 0, the names of the
    events are exactly the ones that were asked for, each node is there as a process. `command` is another way to
    say what is run, without launch and ROS 2. Facts of the start that were not asked for are recorded, too, and are
    left out of the events. TRACETOOLS_TEST_DEBUG, if set, keeps the trace.

    `self.recording` is the Recording.
    """

    def __init__(self, *args, session_name_prefix, events_ros, package=None, nodes=(), base_path=None, events_kernel=(),
                 additional_actions=None, namespace=None, command=None):
        super().__init__(methodName=args[0])
        middleware = os.environ.get('RMW_IMPLEMENTATION')
        self._prefix = session_name_prefix + (f'__{middleware}' if middleware else '')
        # tracetools_test marks its processes with this event; here they have a runtime directory of their own.
        self._wanted = {name for name in [*events_ros, *events_kernel] if name != 'lttng_ust_tracef:event'}
        self._events_ros = [name for name in events_ros if name in self._wanted]
        self._events_kernel = list(events_kernel)
        self._package, self._nodes, self._namespace = package, list(nodes), namespace
        self._actions = list(additional_actions or ())
        self._command = command
        self._base_path = base_path or tempfile.gettempdir()

    def setUp(self):
        directory = tempfile.mkdtemp(prefix=f'{with_timestamp(self._prefix)}-', dir=self._base_path)
        self.addCleanup(self._remove, directory)
        output = os.path.join(directory, self._prefix)
        if self._command is not None:
            options, _ = from_ros2_tracing(self._events_ros, self._events_kernel)
            self.recording = record(self._command, output, options)
        else:
            _, self.recording = record_launch([*self._node_actions(), *self._actions], output, {
                'events_ust': self._events_ros, 'events_kernel': self._events_kernel})
        self.assertEqual(self.recording.status, 0, self.recording.output)
        self._events = [event for event in self.recording.events if event['_name'] in self._wanted]
        self._event_names = reader.get_event_names(self._events)
        self.assertGreater(len(self._events), 0, 'there are no events in the trace')
        self.assertEventsSet(self._wanted)
        self.assertProcessNamesExist(self._nodes)

    @staticmethod
    def _remove(directory):
        if not os.environ.get('TRACETOOLS_TEST_DEBUG'):
            shutil.rmtree(directory, ignore_errors=True)

    def _node_actions(self):
        if not self._nodes:
            return []
        from launch_ros.actions import Node
        return [Node(package=self._package, executable=name, namespace=self._namespace, output='screen', env=None)
                for name in self._nodes]

    # ---- what is there ----

    def get_field(self, event, field_name):
        """The value of a field; the test fails if there is none."""
        if event.get(field_name) is None:
            self.fail(f"{event['_name']} has no field '{field_name}': {event}")
        return event[field_name]

    def get_procname(self, event):
        """The name of its process."""
        return reader.get_procname(event)

    def get_tid(self, event):
        """The number of its thread."""
        return reader.get_tid(event)

    def _all(self, events):
        return self._events if events is None else events

    def get_events_with_name(self, event_name, events=None):
        """Events of this name."""
        return reader.get_events_with_name(event_name, self._all(events))

    def get_events_with_procname(self, procname, events=None):
        """Events of processes of this name; its first 15 characters count."""
        return [event for event in self._all(events) if event['procname'] == procname[:15]]

    def get_events_with_field_value(self, field_name, field_values, events=None):
        """Events whose field has this value, or one of these."""
        return reader.get_events_with_field_value(field_name, field_values, self._all(events))

    def get_events_with_field_not_value(self, field_name, field_values, events=None):
        """Events that have the field, with another value, or with none of these."""
        values = field_values if isinstance(field_values, (list, set)) else [field_values]
        return [event for event in self._all(events) if field_name in event and event[field_name] not in values]

    def get_event_with_field_value_and_assert(self, field_name, field_values, events=None, *, allow_multiple=False):
        """The event, or the first one, with this value; the test fails if there is none, or more than one."""
        found = self.get_events_with_field_value(field_name, field_values, events)
        if allow_multiple:
            self.assertNumEventsGreaterEqual(found, 1, f'no event with {field_name} = {field_values}')
        else:
            self.assertNumEventsEqual(found, 1, f'{len(found)} events with {field_name} = {field_values}')
        return found[0]

    def are_events_ordered(self, events):
        """Whether each is later than the one before it."""
        return all(a['_timestamp'] < b['_timestamp'] for a, b in zip(events, events[1:]))

    # ---- what must be so ----

    def assertEventsSet(self, event_names):  # noqa: N802
        """The events have these names, each of them, and no other."""
        self.assertSetEqual(set(self._event_names), set(event_names), 'other events than expected')

    def assertProcessNamesExist(self, names):  # noqa: N802
        """There are events of processes of these names; their first 15 characters count."""
        there = {event.get('procname') for event in self._events}
        for name in names:
            self.assertIn(name[:15], there, f'no process {name}')

    def assertFieldType(self, event, field_names, field_type):  # noqa: N802
        """The fields have values of this type."""
        for name in _names(field_names):
            self.assertIsInstance(self.get_field(event, name), field_type, f"field '{name}' of {event}")

    def assertValidPointer(self, event, pointer_field_names, *, can_be_null=False):  # noqa: N802
        """The fields are addresses, and not null unless they may be."""
        for name in _names(pointer_field_names):
            self.assertFieldType(event, name, int)
            self.assertGreaterEqual(self.get_field(event, name), 0 if can_be_null else 1, f"field '{name}' of {event}")

    def assertValidHandle(self, event, handle_field_names, *, can_be_null=False):  # noqa: N802
        """As assertValidPointer()."""
        self.assertValidPointer(event, handle_field_names, can_be_null=can_be_null)

    def assertValidStaticArray(self, event, array_field_names, array_type=None, array_length=None):  # noqa: N802
        """The fields are arrays with this number of elements of this type."""
        for name in _names(array_field_names):
            value = self.get_field(event, name)
            self.assertIsInstance(value, list, f"field '{name}' of {event}")
            if array_length is not None:
                self.assertEqual(len(value), array_length, f"field '{name}' of {event}")
            if array_type is not None:
                for element in value:
                    self.assertIsInstance(element, array_type, f"field '{name}' of {event}")

    def assertValidQueueDepth(self, event, queue_depth_field_name='queue_depth'):  # noqa: N802
        """The field is the length of a queue: an integer above 0."""
        self.assertValidPointer(event, queue_depth_field_name)

    def assertStringFieldNotEmpty(self, event, string_field_name):  # noqa: N802
        """The field is a text that is not empty."""
        self.assertFieldType(event, string_field_name, str)
        self.assertNotEqual(self.get_field(event, string_field_name), '', f"field '{string_field_name}' of {event}")

    def assertFieldEquals(self, event, field_name, value, msg=None):  # noqa: N802
        """The field has this value."""
        self.assertEqual(self.get_field(event, field_name), value, msg or f"field '{field_name}' of {event}")

    def assertEventAfterTimestamp(self, event, timestamp):  # noqa: N802
        """It happened later than this, ns since 1970."""
        self.assertGreater(event['_timestamp'], timestamp, event)

    def assertEventOrder(self, events):  # noqa: N802
        """Their times do not go back."""
        self.assertListEqual(events, sorted(events, key=reader.get_event_timestamp), 'in another order')

    def assertNumEventsEqual(self, events, expected_number, msg=None):  # noqa: N802
        """The number of events is this."""
        self.assertEqual(len(events), expected_number, msg or events)

    def assertNumEventsGreaterEqual(self, events, min_expected_number, msg=None):  # noqa: N802
        """The number of events is this or more."""
        self.assertGreaterEqual(len(events), min_expected_number, msg or events)

    def assertMatchingField(self, initial_event, field_name, matching_event_name=None, events=None,  # noqa: N802
                            check_order=True):
        """There is an event (of this name) with the same value of the field, later than the first."""
        events = self._all(events)
        if matching_event_name is not None:
            events = self.get_events_with_name(matching_event_name, events)
        found = self.get_events_with_field_value(field_name, self.get_field(initial_event, field_name), events)
        self.assertNumEventsGreaterEqual(found, 1, f"no event with {field_name} of {initial_event}")
        if check_order:
            self.assertTrue(any(self.are_events_ordered([initial_event, event]) for event in found),
                            f'no later event with {field_name} of {initial_event}')


def _names(names):
    return names if isinstance(names, list) else [names]
