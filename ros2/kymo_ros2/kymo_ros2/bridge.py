# SPDX-License-Identifier: Apache-2.0
"""
What `kymo serve` answers at /metrics, as messages of ROS 2: /diagnostics and /statistics.

    ros2 run kymo_ros2 bridge --ros-args -p url:=http://127.0.0.1:9465/metrics -p period:=10.0

It runs only when it is started; nothing starts it by default.
"""
import collections
import http.client
import re
import urllib.request

URL = 'http://127.0.0.1:9465/metrics'
ANSWER_MAX = 64 << 20   # bytes
LINE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
ESCAPES = {'\\n': '\n', '\\"': '"', '\\\\': '\\'}
# Histograms that become statistics: the name of the metric, and the label that names the source.
HISTOGRAMS = {
    'ros2_callback_duration_seconds': ('callback', 'callback_duration'),
    'ros2_topic_latency_seconds': ('topic', 'topic_latency'),
    'ros2_chain_latency_seconds': ('chain', 'chain_latency'),
    'ros2_timer_late_seconds': ('timer', 'timer_late'),
}
OK, WARN, STALE = 0, 1, 3   # diagnostic_msgs/DiagnosticStatus
AVERAGE, SAMPLE_COUNT = 1, 5    # statistics_msgs/StatisticDataType


def parse(text):
    """Return: {(name, labels): value}; labels are a tuple of pairs. A line that is not a metric is left out."""
    series = {}
    for line in text.splitlines():
        found = None if line.startswith('#') else LINE.match(line)
        if found:
            labels = tuple((key, re.sub(r'\\.', lambda code: ESCAPES.get(code[0], code[0]), value))
                           for key, value in LABEL.findall(found[2] or ''))
            try:
                series[found[1], labels] = float(found[3])
            except ValueError:
                continue
    return series


def fetch(url):
    """Return: the series. Raises OSError, ValueError or http.client.HTTPException."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=10) as answer:
        return parse(answer.read(ANSWER_MAX).decode('utf-8', 'replace'))


def _grown(before, after, name):
    """Return: {labels: by how much a counter grew}; a counter that began again counts from 0."""
    return {labels: value - before.get((name, labels), 0) if value >= before.get((name, labels), 0) else value
            for (one, labels), value in after.items() if one == name}


Status = collections.namedtuple('Status', 'level name message values')


def diagnostics(before, after):
    """
    Return: a Status for each topic, and one for kymo itself, of the time between two answers.

    WARN: a topic lost messages, the recording lost events, or an incident happened. STALE: `after` is None, nobody answers.
    """
    if after is None:
        return [Status(STALE, 'kymo', 'kymo serve does not answer', {})]
    found = []
    lost_by = collections.Counter()
    causes = collections.defaultdict(dict)
    for labels, count in _grown(before, after, 'ros2_topic_lost_messages_total').items():
        of = dict(labels)
        lost_by[of.get('topic', '')] += count
        if count:
            causes[of.get('topic', '')][of.get('cause', '')] = f'{count:.0f}'
    for labels, count in _grown(before, after, 'ros2_topic_published_messages_total').items():
        topic = dict(labels).get('topic', '')
        lost = lost_by[topic]
        found.append(Status(WARN if lost else OK, f'kymo: {topic}', f'lost {lost:.0f} messages' if lost else 'no message was lost',
                            {'published': f'{count:.0f}', **causes[topic]}))
    events = sum(_grown(before, after, 'kymo_events_total').values())
    lost = sum(_grown(before, after, 'kymo_events_lost_total').values())
    incidents = sum(_grown(before, after, 'kymo_incidents_total').values())
    found.append(Status(WARN if lost or incidents else OK, 'kymo',
                        f'the recording lost {lost:.0f} events' if lost else f'{incidents:.0f} incidents' if incidents else 'works',
                        {'events': f'{events:.0f}', 'lost events': f'{lost:.0f}', 'incidents': f'{incidents:.0f}'}))
    return found


Statistic = collections.namedtuple('Statistic', 'source metric unit average_ms count')


def statistics(before, after):
    """Return: a Statistic of each distribution that grew between two answers; times in ms."""
    found = []
    for name, (label, metric) in HISTOGRAMS.items():
        sums = _grown(before, after, name + '_sum')
        for labels, count in _grown(before, after, name + '_count').items():
            if count > 0 and labels in sums:
                found.append(Statistic(dict(labels).get(label, ''), metric, 'ms', sums[labels] / count * 1e3, count))
    return found


class Bridge:
    """Reads and publishes, each time when tick() is called. The node is one of rclpy."""

    def __init__(self, node, url=URL):
        from diagnostic_msgs.msg import DiagnosticArray
        from statistics_msgs.msg import MetricsMessage
        self.node, self.url, self.before, self.begin = node, url, None, None
        self.diagnostics = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self.statistics = node.create_publisher(MetricsMessage, '/statistics', 100)

    def tick(self):
        now = self.node.get_clock().now().to_msg()
        try:
            after = fetch(self.url)
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.node.get_logger().warning(f'{self.url}: {error}')
            after = None
        if after is None or self.before is not None:
            self._diagnose(now, diagnostics(self.before, after))
        if after is not None and self.before is not None:
            for one in statistics(self.before, after):
                self._state(now, one)
        # What grew while nobody answered counts with the next answer.
        if after is not None:
            self.before, self.begin = after, now

    def _diagnose(self, now, found):
        from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
        message = DiagnosticArray()
        message.header.stamp = now
        for one in found:
            values = [KeyValue(key=key, value=value) for key, value in one.values.items()]
            message.status.append(DiagnosticStatus(level=bytes([one.level]), name=one.name, message=one.message, hardware_id='',
                                                   values=values))
        self.diagnostics.publish(message)

    def _state(self, now, one):
        from statistics_msgs.msg import MetricsMessage, StatisticDataPoint
        points = [StatisticDataPoint(data_type=AVERAGE, data=float(one.average_ms)),
                  StatisticDataPoint(data_type=SAMPLE_COUNT, data=float(one.count))]
        self.statistics.publish(MetricsMessage(measurement_source_name=one.source, metrics_source=one.metric, unit=one.unit,
                                               window_start=self.begin, window_stop=now, statistics=points))


def main(args=None):
    import rclpy
    rclpy.init(args=args)
    node = rclpy.create_node('kymo_bridge')
    url = node.declare_parameter('url', URL).value
    period = node.declare_parameter('period', 10.0).value
    bridge = Bridge(node, url)
    node.create_timer(period, bridge.tick)
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        pass
    finally:
        node.destroy_node()
