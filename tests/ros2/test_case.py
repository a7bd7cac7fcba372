# SPDX-License-Identifier: Apache-2.0
"""TraceTestCase, as its users write it: on a command, and on launch's actions. And when it must fail."""
import os
import sys
import unittest

from kymo import case
import upstream

from launch.actions import ExecuteProcess

PROGRAM = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'program.py')]
EVENTS = ['ros2:rcl_init', 'ros2:rmw_publisher_init', 'ros2:rcl_publisher_init', 'ros2:rcl_publish', 'ros2:rmw_publish',
          'ros2:rmw_take', 'ros2:callback_start', 'ros2:callback_end']


class OfCommand(case.TraceTestCase):
    def __init__(self, *args):
        super().__init__(*args, session_name_prefix='session-test', events_ros=[*EVENTS, 'lttng_ust_tracef:event'],
                         command=PROGRAM)

    def test_all(self):
        self.assertEventsSet(EVENTS)
        publisher = self.get_events_with_name('ros2:rcl_publisher_init')
        self.assertNumEventsEqual(publisher, 1)
        self.assertValidHandle(publisher[0], ['publisher_handle', 'node_handle', 'rmw_publisher_handle'])
        self.assertValidQueueDepth(publisher[0])
        self.assertStringFieldNotEmpty(publisher[0], 'topic_name')
        self.assertFieldEquals(publisher[0], 'topic_name', '/chatter')
        rmw = self.get_events_with_name('ros2:rmw_publisher_init')[0]
        self.assertValidStaticArray(rmw, 'gid', int, 24)
        self.assertMatchingField(rmw, 'rmw_publisher_handle', 'ros2:rcl_publisher_init')
        self.assertEventOrder([rmw, publisher[0]])
        sent = self.get_events_with_name('ros2:rmw_publish')
        taken = self.get_events_with_name('ros2:rmw_take')
        self.assertEqual([event['timestamp'] for event in sent], [event['source_timestamp'] for event in taken])
        self.assertNumEventsGreaterEqual(self.get_events_with_field_value('message', 0x500), 20)
        self.assertEqual(self.get_events_with_field_not_value('taken', [1]), [])
        self.assertTrue(self.are_events_ordered(sent[:2]))
        self.assertFieldType(taken[0], 'taken', int)
        self.assertEqual(self.get_procname(taken[0]), self.get_procname(sent[0]))
        self.get_event_with_field_value_and_assert('topic_name', '/chatter')
        for wrong in (lambda: self.assertNumEventsEqual(sent, 9), lambda: self.assertEventOrder(sent[::-1]),
                      lambda: self.assertFieldEquals(publisher[0], 'topic_name', '/x'),
                      lambda: self.assertMatchingField(publisher[0], 'queue_depth', 'ros2:rcl_init'),
                      lambda: self.assertValidStaticArray(rmw, 'gid', int, 16),
                      lambda: self.assertValidPointer({'_name': 'x', 'p': 0}, 'p'),
                      lambda: self.get_field(rmw, 'no_such_field'), lambda: self.assertEventsSet(EVENTS[1:]),
                      lambda: self.assertProcessNamesExist(['nobody']),
                      lambda: self.get_event_with_field_value_and_assert('message', 0x500)):
            with self.assertRaises(AssertionError):
                wrong()
        self.recording.assert_latency('/chatter', 10)


class OfLaunch(case.TraceTestCase):
    def __init__(self, *args):
        super().__init__(*args, session_name_prefix='session-test', events_ros=['ros2:rcl_init', 'ros2:callback_*'],
                         package='test_tracetools', nodes=[], additional_actions=[ExecuteProcess(cmd=PROGRAM)])
        self._wanted = {'ros2:rcl_init', 'ros2:callback_start', 'ros2:callback_end'}

    def test_events(self):
        self.assertNumEventsEqual(self.get_events_with_name('ros2:callback_end'), 10)


class OfNodes(case.TraceTestCase):
    """Nodes that really run, each a process with executors, timers and topics of its own."""

    def __init__(self, *args):
        super().__init__(*args, session_name_prefix='session-test', package='robot', nodes=['driver', 'perception'],
                         events_ros=['ros2:rcl_init', 'ros2:rcl_node_init', 'ros2:rcl_publisher_init', 'ros2:rcl_publish',
                                     'ros2:callback_start', 'ros2:callback_end'])

    def setUp(self):
        if upstream.is_real('launch_ros'):
            self.skipTest('the robot is no package of ROS 2')
        super().setUp()

    def test_nodes(self):
        self.assertProcessNamesExist(['driver', 'perception'])
        nodes = self.get_events_with_name('ros2:rcl_node_init')
        for process, name in ('driver', 'imu_driver'), ('perception', 'obstacle_detector'):
            mine = self.get_events_with_procname(process)
            node = self.get_event_with_field_value_and_assert('node_name', name, nodes)
            self.assertEventOrder([self.get_events_with_name('ros2:rcl_init', mine)[0], node])
            self.assertNumEventsGreaterEqual(self.get_events_with_name('ros2:callback_start', mine), 1)
            for publisher in self.get_events_with_name('ros2:rcl_publisher_init', mine):
                self.assertValidHandle(publisher, ['publisher_handle', 'node_handle', 'rmw_publisher_handle'])
        self.assertNotEqual(*(self.get_events_with_procname(name)[0]['vpid'] for name in ('driver', 'perception')))
        self.recording.assert_callback('/imu_driver*', at_least=1)


def outcome(case):
    result = unittest.TestResult()
    case.run(result)
    return result


def test_missing_event_fails():
    class Case(case.TraceTestCase):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, session_name_prefix='x', command=PROGRAM, **kwargs)

        def test(self):
            pass

    missing = outcome(Case('test', events_ros=['ros2:rcl_init', 'ros2:rcl_timer_init']))
    assert len(missing.failures) == 1 and 'ros2:rcl_timer_init' in missing.failures[0][1]
    nobody = outcome(Case('test', events_ros=['ros2:rcl_init'], nodes=['test_ping']))
    assert len(nobody.failures) == 1 and 'no process test_ping' in nobody.failures[0][1]


def test_status_and_trace(monkeypatch, tmp_path):
    class Case(case.TraceTestCase):
        def __init__(self, *args):
            super().__init__(*args, session_name_prefix='x', events_ros=['ros2:rcl_init'], base_path=str(tmp_path),
                             command=[*PROGRAM, '--status', '3'])

        def test(self):
            pass

    failed = outcome(Case('test'))
    assert len(failed.failures) == 1 and '3 != 0' in failed.failures[0][1] and not os.listdir(tmp_path)
    monkeypatch.setenv('TRACETOOLS_TEST_DEBUG', '1')
    outcome(Case('test'))
    assert len(os.listdir(tmp_path)) == 1

