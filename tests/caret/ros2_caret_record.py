#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`ros2 caret record` itself, from a checkout of ros2caret, with tracetools_trace from one of ros2_tracing and LTTng's Python bindings. Only
rclpy is not the original: the topics go through `caret_client shell`, which speaks DDS as ROS 2 does.

usage: ros2_caret_record.py CHECKOUTS CLIENT DOMAIN [ARGUMENT...]     ARGUMENT: of ros2 caret record
                                                                      CHECKOUTS has ros2caret/ and ros2_tracing/ (branch humble, or that of
                                                                      $KYMO_CARET_DISTRO)"""
import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import time
import types

STATES = {"UNINITIALIZED": 0, "WAIT": 1, "PREPARE": 2, "RECORD": 3}


class Message:
    """Start, End or Status of caret_msgs."""
    RECORD = STATES["RECORD"]

    def __init__(self, **fields):
        self.__dict__.update(fields)


class Start(Message):
    pass


class End(Message):
    pass


class Node:
    """As much of rclpy's as the verb needs. It is created when the agent is found: then the verb asks for a line, and goes on."""
    client = []

    def __init__(self, name):
        assert name == "caret_session_node", name
        self.process = subprocess.Popen([*self.client, "shell"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.nodes, self.statuses, self.answers = [], queue.Queue(), queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        end = time.monotonic() + 60
        while not (self.ask("matched")["start"] and self.get_node_names()):
            if time.monotonic() > end:
                sys.exit("ros2_caret_record.py: no agent found")
            time.sleep(0.02)

    def read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            if event["event"] == "graph":
                self.nodes = [node.rpartition("/")[2] for node in event["nodes"]]
            elif event["event"] == "status":
                self.statuses.put(event)
            elif event["event"] in ("matched", "done"):
                self.answers.put(event)

    def ask(self, *words):
        """Return: what the client says before it is done."""
        self.process.stdin.write("\t".join(words) + "\n")
        self.process.stdin.flush()
        said = None
        while (event := self.answers.get(timeout=300))["event"] != "done":
            said = event
        return said

    def get_node_names(self):
        return [node for node in self.nodes if "caret_trace_" in node]

    def create_publisher(self, kind, topic, _):
        assert (kind, topic) in ((Start, "/caret/start_record"), (End, "/caret/end_record")), topic

        def publish(message):
            self.ask(*(["end"] if isinstance(message, End) else ["start", str(message.recording_frequency)]))
        return types.SimpleNamespace(publish=publish)

    def create_subscription(self, kind, topic, callback, _):
        assert topic == "/caret/status", topic
        self.callback = callback

    def spin_once(self):
        event = self.statuses.get(timeout=300)
        self.callback(Message(caret_node_name=event["node"], status=STATES[event["status"]]))


class AnyName:
    """QoS profiles and policies: caret_client has those of the verb."""

    def __init__(self, *_, **__):
        pass

    def __getattr__(self, name):
        return self


def module(name, **names):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(names)
    return sys.modules[name]


def main():
    checkouts, client, domain, *arguments = sys.argv[1:]
    sys.path[:0] = [os.path.join(checkouts, "ros2caret"), os.path.join(checkouts, "ros2_tracing", "tracetools_trace")]
    Node.client = [client, "--domain", domain]
    os.environ["ROS_DISTRO"] = os.environ.get("KYMO_CARET_DISTRO", "humble")
    any_name = AnyName()
    qos = module("rclpy.qos", QoSProfile=AnyName, HistoryPolicy=any_name, ReliabilityPolicy=any_name, DurabilityPolicy=any_name)
    module("rclpy.node", Node=Node)
    module("rclpy", qos=qos, init=lambda: None, spin_once=Node.spin_once)
    module("caret_msgs.msg", Start=Start, End=End, Status=Message)
    module("caret_msgs")
    module("ros2cli.plugin_system", PLUGIN_SYSTEM_VERSION="0.1", satisfies_version=lambda *_: True)
    module("ros2cli")
    module("tqdm", tqdm=None)
    from ros2caret.verb.record import RecordVerb
    words = argparse.ArgumentParser()
    verb = RecordVerb()
    verb.add_arguments(words, "ros2 caret record")
    return verb.main(args=words.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
