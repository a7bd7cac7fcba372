# SPDX-License-Identifier: Apache-2.0
"""The bridge from `kymo serve` to /diagnostics and /statistics, on stand-ins of the messages and of a node."""
import http.server
import sys
import threading
import types

import pytest
from kymo_ros2 import bridge

FIRST = '''# TYPE ros2_topic_published_messages_total counter
ros2_topic_published_messages_total{topic="/scan"} 100
ros2_topic_lost_messages_total{topic="/scan",cause="overwritten"} 1
ros2_topic_published_messages_total{topic="/a \\"b\\" \\\\ {,} c\\nd"} 5
ros2_callback_duration_seconds_sum{callback="/n /scan",node="/n",topic="/scan",process="p"} 1
ros2_callback_duration_seconds_count{callback="/n /scan",node="/n",topic="/scan",process="p"} 10
kymo_events_total 1000
kymo_events_lost_total 0
nonsense {{{
x NaNsense
'''
SECOND = FIRST.replace('"} 100', '"} 150').replace('overwritten"} 1', 'overwritten"} 4').replace('process="p"} 10', 'process="p"} 14').replace(
    'process="p"} 1\n', 'process="p"} 1.002\n').replace('total 1000', 'total 1700')


class Message:
    """Any message: its fields are what it is given."""

    def __init__(self, **fields):
        self.header = types.SimpleNamespace(stamp=None)
        self.status = []
        self.__dict__.update(fields)


class Node:
    def __init__(self):
        self.published, self.warnings, self.time = [], [], 0

    def create_publisher(self, _, topic, __):
        return types.SimpleNamespace(publish=lambda message: self.published.append((topic, message)))

    def get_clock(self):
        self.time += 1
        return types.SimpleNamespace(now=lambda: types.SimpleNamespace(to_msg=lambda: self.time))

    def get_logger(self):
        return types.SimpleNamespace(warning=self.warnings.append)


@pytest.fixture
def messages(monkeypatch):
    for package, names in (('diagnostic_msgs', ('DiagnosticArray', 'DiagnosticStatus', 'KeyValue')),
                           ('statistics_msgs', ('MetricsMessage', 'StatisticDataPoint'))):
        module = types.ModuleType(package + '.msg')
        for name in names:
            setattr(module, name, Message)
        monkeypatch.setitem(sys.modules, package, types.ModuleType(package))
        monkeypatch.setitem(sys.modules, package + '.msg', module)


@pytest.fixture
def server():
    """Answers what `texts` has, one after the other."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = self.server.texts.pop(0).encode()
            if body == b'nonsense':
                self.wfile.write(b'nonsense\r\n')
                return
            self.send_response(200 if body else 500)
            self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with http.server.HTTPServer(('127.0.0.1', 0), Handler) as one:
        one.texts = []
        one.url = f'http://127.0.0.1:{one.server_port}/metrics'
        thread = threading.Thread(target=one.serve_forever)
        thread.start()
        yield one
        one.shutdown()
        thread.join()


def test_names_are_only_names():
    topics = {dict(labels)['topic'] for (name, labels) in bridge.parse(FIRST) if name == 'ros2_topic_published_messages_total'}
    assert topics == {'/scan', '/a "b" \\ {,} c\nd'}
    assert len(bridge.parse(FIRST)) == 7


def test_between_two_answers():
    before, after = bridge.parse(FIRST), bridge.parse(SECOND)
    found = {one.name: one for one in bridge.diagnostics(before, after)}
    assert (found['kymo: /scan'].level, found['kymo: /scan'].message) == (bridge.WARN, 'lost 3 messages')
    assert found['kymo: /scan'].values == {'published': '50', 'overwritten': '3'}
    assert found['kymo'].level == bridge.OK and found['kymo'].values['events'] == '700'
    (one,) = bridge.statistics(before, after)
    assert (one.source, one.metric, one.count) == ('/n /scan', 'callback_duration', 4) and abs(one.average_ms - 0.5) < 1e-9
    # kymo serve began again: its counters count from 0.
    assert {one.name: one for one in bridge.diagnostics(after, before)}['kymo'].values['events'] == '1000'


def test_published(messages, server):
    node = Node()
    one = bridge.Bridge(node, server.url)
    server.texts = [FIRST, SECOND, '', SECOND.replace('total 1700', 'total 1800')]
    one.tick()
    assert node.published == []     # nothing to compare with
    one.tick()
    assert [topic for topic, _ in node.published] == ['/diagnostics', '/statistics']
    statistic = node.published[1][1]
    assert (statistic.window_start, statistic.window_stop, statistic.measurement_source_name) == (1, 2, '/n /scan')
    assert [(point.data_type, round(point.data, 6)) for point in statistic.statistics] == [(1, 0.5), (5, 4.0)]
    one.tick()
    status = node.published[-1][1].status
    assert [(bytes(one.level), one.message) for one in status] == [(b'\3', 'kymo serve does not answer')] and len(node.warnings) == 1
    server.texts.insert(0, 'nonsense')
    one.tick()
    assert len(node.warnings) == 2
    one.tick()
    status = {one.name: one for one in node.published[-1][1].status}
    assert status['kymo'].values[0].value == '100' and status['kymo: /scan'].level == b'\0'
