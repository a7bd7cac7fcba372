#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""`kymo why` of messages that were lost: in a made-up trace, in which each way to lose one happens, the answer is that way, and so
are the counts of the chain. The trace is one of LTTng's shape, of three programs and one that publishes.

A second trace has two subscriptions of one topic: what one of them received is lost for the other one all the same, and `why`, `flow`,
`report`, SQL and the exports count the same messages."""
import collections
import os
import re
import struct
import sys
import tarfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import SHARED, answer, in_directory, kymo, query, report

MS = 1_000_000
EVENTS = {
    "rcl_node_init": "node_handle rmw_handle $node_name $namespace",
    "rcl_publisher_init": "publisher_handle node_handle rmw_publisher_handle $topic_name queue_depth",
    "rcl_subscription_init": "subscription_handle node_handle rmw_subscription_handle $topic_name queue_depth",
    "rclcpp_subscription_init": "subscription_handle subscription",
    "rclcpp_subscription_callback_added": "subscription callback",
    "rclcpp_publish": "publisher_handle message", "rcl_publish": "publisher_handle message",
    "rmw_publish": "rmw_publisher_handle message timestamp",
    "rmw_take": "rmw_subscription_handle message source_timestamp taken",
    "callback_start": "callback is_intra_process", "callback_end": "callback",
    "rclcpp_executor_wait_for_work": "timeout", "rclcpp_executor_get_next_ready": "",
}
METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = true; encoding = UTF8; } := char_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.mono.value; } := time_ns_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; }; };
env { hostname = "made-up"; domain = "ust"; tracer_name = "lttng-ust"; };
clock { name = mono; freq = 1000000000; offset = 0; };
stream { packet.context := struct { time_ns_t timestamp_begin; time_ns_t timestamp_end; uint64_t content_size; uint64_t packet_size;
		uint64_t events_discarded; uint32_t cpu_id; };
	event.header := struct { uint32_t id; time_ns_t timestamp; };
	event.context := struct { uint32_t vpid; uint32_t vtid; char_t procname[16]; }; };
"""


class Program:
    """Its events, and packets of them: a loss ends one."""

    def __init__(self, pid, name):
        self.pid, self.name, self.packets, self.body, self.since, self.lost = pid, name, [], b"", 0, 0
        self.node, self.last = pid << 16, 0

    def put(self, ns, event, *values):
        self.since, self.last = self.since or ns, ns
        self.body += struct.pack("<IQII16s", list(EVENTS).index(event), ns, self.pid, self.pid, self.name.encode())
        for value in values:
            self.body += value.encode() + b"\0" if isinstance(value, str) else struct.pack("<Q", value)

    def cut(self, lost=0):
        bits = 8 * (4 + 5 * 8 + 4 + len(self.body))
        self.lost += lost
        self.packets.append(struct.pack("<IQQQQQI", 0xC1FC1FC1, self.since, self.last, bits, bits, self.lost, 0) + self.body)
        self.body, self.since = b"", 0

    def born(self, ns, depth=None, topic=None):
        self.put(ns, "rcl_node_init", self.node, 1, self.name, "/")
        if topic:
            self.subscribe(ns, topic, depth)

    def subscribe(self, ns, topic, depth, at=0):
        h = self.node + at
        self.put(ns, "rcl_subscription_init", h + 1, self.node, h + 2, topic, depth)
        self.put(ns, "rclcpp_subscription_init", h + 1, h + 3)
        self.put(ns, "rclcpp_subscription_callback_added", h + 3, h + 4)

    def take(self, ns, stamp, run_ns=1000, at=0):
        h = self.node + at
        self.put(ns, "rclcpp_executor_get_next_ready")
        self.put(ns + 100, "rmw_take", h + 2, 7, stamp, 1)
        if run_ns:
            self.put(ns + 200, "callback_start", h + 4, 0)
            self.put(ns + 200 + run_ns, "callback_end", h + 4)
        self.put(ns + 300 + run_ns, "rclcpp_executor_wait_for_work", 2**64 - 1)


def write(path, programs):
    os.makedirs(path)
    text = METADATA
    for number, (name, fields) in enumerate(EVENTS.items()):
        fields = " ".join(f"string {f[1:]};" if f[0] == "$" else f"uint64_t {f};" for f in fields.split())
        text += f'event {{ name = "ros2:{name}"; id = {number}; fields := struct {{ {fields} }}; }};\n'
    with open(os.path.join(path, "metadata"), "w", encoding="utf-8") as file:
        file.write(text)
    for program in programs:
        program.cut()
        with open(os.path.join(path, f"channel_{program.pid}"), "wb") as file:
            file.write(b"".join(program.packets))


def made_up(path):
    """Messages 1 to 28 on /scan, one in 10 ms, of three subscriptions; 29 to 31 on /quiet, of one, and 32 on /alone, of none.
    Return: {(message, who it did not come to): why}."""
    driver, worker, late, quits = (Program(*p) for p in ((100, "driver"), (200, "worker"), (300, "late"), (400, "quits")))
    driver.born(MS)
    for at, topic in ((0, "/scan"), (16, "/quiet"), (32, "/alone")):
        driver.put(MS, "rcl_publisher_init", driver.node + at + 1, driver.node, driver.node + at + 2, topic, 5)
    for program, depth in ((worker, 3), (late, 10), (quits, 10)):
        program.born(MS, depth, "/scan")
    worker.subscribe(MS, "/quiet", 1, at=16)

    def publish(ns, at):
        driver.put(ns, "rclcpp_publish", driver.node + at + 1, 9)
        driver.put(ns + 10, "rcl_publish", driver.node + at + 1, 9)
        driver.put(ns + 20, "rmw_publish", driver.node + at + 2, 9, ns)

    why = {}
    for k in range(1, 29):
        ns = k * 10 * MS
        publish(ns, 0)
        if k < 5:
            why[k, "/late"] = "not_yet"
        elif k == 22:
            why[k, "/late"] = "gap"
            late.cut()
        elif k < 28:
            late.take(ns + MS, ns)
        if k == 23:
            late.cut(lost=3)
        if k <= 9:
            quits.take(ns + MS, ns)
        else:
            why[k, "/quits"] = "gone"
        if k in (6, 7):
            why[k, "/worker"] = "underway"      # its executor waits
        elif k == 9:
            worker.take(ns + MS, ns, run_ns=1059 * MS // 10)
        elif 10 <= k <= 16:
            why[k, "/worker"] = "overrun"       # 9 runs up to behind 19; the queue holds 3
        elif k == 19:
            for i in (17, 18, 19):
                worker.take(ns + 7 * MS + (i - 17) * 10000, i * 10 * MS)
        elif k == 21:
            why[k, "/worker"] = "no_callback"
            worker.take(ns + MS, ns, run_ns=0)
        elif k == 28:
            why[k, "/worker"] = why[k, "/late"] = "no_more"
        elif k not in (17, 18):
            worker.take(ns + MS, ns)
    for k, is_taken in ((29, True), (30, False), (31, True)):
        publish(k * 10 * MS, 16)
        if is_taken:
            worker.take(k * 10 * MS + MS, k * 10 * MS, at=16)
    why[30, "/worker"] = "underway"
    publish(320 * MS, 32)
    why[32, "(nobody)"] = "unknown"
    for program in (worker, late, driver):      # they live on
        program.put(600 * MS, "rclcpp_executor_get_next_ready")
    write(path, (driver, worker, late, quits))
    return why


def ask(*arguments):
    return answer("why", *arguments)


def lost(answer, message=None):
    return {(row["message"], row["to"]): row["why"] for row in answer["lost"] if message in (None, row["message"])}


def single(trace, why):
    """Each message by its number."""
    for message in range(1, 33):
        answer = ask(trace, str(message))
        assert lost(answer, message) == {k: v for k, v in why.items() if k[0] == message}, (message, answer["lost"])
        assert sum(part["ns"] for part in answer["parts"] if part["rank"] == 1) == answer.get("latency_ns", 0)
        assert ("latency_ns" in answer) == (message not in (28, 30, 32)), answer     # these came to nobody


def words(trace):
    """What is said of some, as people read it."""
    answer = ask(trace, "30")
    assert answer["sentence"] == ("message 30 of /quiet, published by /driver, never reached /worker: lost between rmw_publish and its queue: "
                                  "its executor waited for work 11.0 ms until its next one, message 31, received 11.0 ms later"), answer["sentence"]
    assert "(nobody)" not in ask(trace, "32")["sentence"] and "no subscription" in ask(trace, "32")["sentence"]
    row = next(r for r in ask(trace, "10")["lost"] if r["message"] == 10 and r["to"] == "/worker")
    assert (row["next_message"], row["newer"], row["depth"], row["waited_ns"]) == (17, 9, 3, 99700), row
    assert "its queue holds 3, its executor was busy, and 9 newer ones" in row["reason"] and "KEEP_LAST" in row["reason"], row
    row = next(r for r in ask(trace, "21")["lost"] if r["message"] == 21 and r["to"] == "/worker")
    assert (row["from_point"], row["to_point"]) == ("rmw_take", "callback"), row
    text = kymo("why", trace, "30")
    assert text.startswith("Why: message 30 of /quiet, published by /driver, never reached /worker: ") and "Lost on the way\n" in text, text


def chain(trace, why):
    """The chain to one of them has all that did not come to that one."""
    answer = ask(trace, "/scan -> /worker")
    mine = {k: v for k, v in why.items() if k[1] == "/worker" and k[0] < 29}
    assert lost(answer) == mine, (lost(answer), mine)
    assert answer["lost_messages"] == ("11 of 28 messages of /scan never reached /worker (1 received, but no callback ran, 1 after it received its "
                                       "last one, 2 while its executor waited for work, 7 probably dropped from its queue by newer ones)"), answer
    answer = ask(trace, "/scan -> /late")
    assert lost(answer) == {k: v for k, v in why.items() if k[1] == "/late"}, answer["lost"]


def one_of_two(path):
    """Messages 1 to 12 on /count, one in 10 ms. /fast receives all. /slow has a queue of 3 and is busy until 61 ms and from then
    until 101 ms: the queue holds 4, 5, 6 at first, and 8, 9, 10 next, when it received only 4."""
    driver, fast, slow = (Program(*p) for p in ((100, "driver"), (200, "fast"), (300, "slow")))
    driver.born(MS)
    driver.put(MS, "rcl_publisher_init", driver.node + 1, driver.node, driver.node + 2, "/count", 3)
    fast.born(MS, 3, "/count")
    slow.born(MS, 3, "/count")
    for k in range(1, 13):
        ns = k * 10 * MS
        driver.put(ns, "rclcpp_publish", driver.node + 1, 9)
        driver.put(ns + 10, "rcl_publish", driver.node + 1, 9)
        driver.put(ns + 20, "rmw_publish", driver.node + 2, 9, ns)
        fast.take(ns + MS, ns)
        if k == 6:
            slow.take(ns + MS, 40 * MS, run_ns=39 * MS)
        elif k == 10:
            for i in (8, 9, 10):
                slow.take(ns + MS + (i - 8) * 10000, i * 10 * MS)
        elif k > 10:
            slow.take(ns + MS, ns)
    for program in (driver, fast, slow):
        program.put(600 * MS, "rclcpp_executor_get_next_ready")
    write(path, (driver, fast, slow))


def agree(trace, topic, to, count, why):
    """All of kymo's answers name the same @count messages of @topic as never received by @to, for this reason."""
    told = answer("why", trace, f"{topic} -> {to}")
    assert collections.Counter(lost(told).values()) == {why: count}, told["lost"]
    assert f"{count} of " in told["lost_messages"], told["lost_messages"]
    rows = [r for r in answer("flow", trace)["stops"] if r["where"] == topic and r["before"] == to]
    assert [r["stopped"] for r in rows] == [count], rows
    assert next(t["untaken"] for t in report(trace, "topics")["topics"] if t["topic"] == topic) == count
    rows = query(trace, f"SELECT subscriber_node, count(*) AS lost FROM messages WHERE topic_name = '{topic}' AND outcome = 'untaken' GROUP BY 1")
    assert rows == [{"subscriber_node": to, "lost": count}], rows
    drawn = kymo("export", trace, "--format", "dot", "-o", "-")
    assert f"{count} untaken" in next(line for line in drawn.splitlines() if f'label="{topic}\\n' in line), drawn


def counted_for_each(directory):
    trace = os.path.join(directory, "two")
    one_of_two(trace)
    agree(trace, "/count", "/slow", 6, "overrun")
    for row in answer("why", trace, "/count -> /slow")["lost"]:
        assert "its next one, message " in row["reason"] and "first" not in row["reason"], row
    packed = os.path.join(SHARED, "data", "ros2-traces", "mix_overrun", "ctf.tar.xz")
    if not os.path.exists(packed):
        print("skipped in part: no trace of a real queue that overran")
        return
    with tarfile.open(packed) as archive:
        archive.extractall(directory)
    agree(os.path.join(directory, "ctf_ust"), "/mix/count", "/mix/sink", 13, "overrun")


def bars(trace, what):
    """Of two parts, the longer one has the longer bar."""
    lines = kymo("why", trace, what).split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith("Part "))
    rows = [re.split(r"  +", line.strip()) for line in lines[begin + 1:lines.index(next(x for x in lines if x.startswith("= all")))]]
    unit = {"ns": 1, "us": 1000, "ms": MS, "s": 1000 * MS}
    sized = [(float(row[2].split()[0]) * unit[row[2].split()[1]], row[-1].count("#")) for row in rows if set(row[-1]) == {"#"}]
    assert len(sized) > 2, rows
    for time, marks in sized:
        assert all(marks >= other for less, other in sized if less < time), sized


def without_callbacks(directory):
    """rclpy has no tracepoints for callbacks: the report says what to do."""
    trace, node = os.path.join(directory, "python"), Program(500, "node.py")
    node.born(MS)
    node.put(MS, "rcl_subscription_init", node.node + 1, node.node, node.node + 2, "/scan", 10)
    node.put(2 * MS, "rmw_take", node.node + 2, 7, MS, 1)
    write(trace, [node])
    text = kymo("report", trace)
    assert "No callbacks of node.py (500) are in the trace. If it is a Python program" in text and "kymo.rclpy_hook" in text, text
    assert "are in the trace. If it is" not in kymo("report", os.path.join(directory, "two"))


def main(directory):
    trace = os.path.join(directory, "trace")
    why = made_up(trace)
    single(trace, why)
    words(trace)
    chain(trace, why)
    counted_for_each(directory)
    bars(os.path.join(directory, "two"), "/count -> /slow")
    without_callbacks(directory)


in_directory(main)
