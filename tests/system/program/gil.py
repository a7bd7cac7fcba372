#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""Waiting for Python's lock (GIL): a callback of a plain python3 waits for a thread that keeps the lock in one long call of C. The trace has
each wait and who released the lock, `kymo why` names that thread, and a program of one thread has no such events."""
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import SOURCE, answer, check, in_directory, kymo, record, sanitized, skip

PROGRAM = """
import ctypes, sys, threading, time
import kymo.rclpy_hook
ros, tracer = ctypes.PyDLL(None), kymo.rclpy_hook.tracer_of(None)
kymo.rclpy_hook.install(tracer)
ros.ros_trace_rcl_node_init.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
ros.ros_trace_rcl_timer_init.argtypes = (ctypes.c_void_p, ctypes.c_int64)
ros.ros_trace_rcl_node_init(0x10, 0x11, b"snake", b"/")
ros.ros_trace_rcl_timer_init(0x20, 10 ** 7)
tracer.rclcpp_timer_callback_added(0x20, 0x30)
tracer.rclcpp_timer_link_node(0x20, 0x10)
asked, over = threading.Event(), threading.Event()


def hog():
    asked.wait()
    for _ in range(6):
        sum(range(2000000))     # the interpreter cannot switch in here
    over.set()


thread = threading.Thread(target=hog)
if sys.argv[1] == "two":
    thread.start()
    print("hog", thread.native_id, "main", threading.get_native_id(), flush=True)
for number in range(40):
    tracer.callback_start(0x30, False)
    time.sleep(0.001)
    if number == 30 and sys.argv[1] == "two":
        asked.set()
        while not over.is_set():
            time.sleep(0.001)
    tracer.callback_end(0x30)
    time.sleep(0.009)
if sys.argv[1] == "two":
    thread.join()
    tracer.gil(False)
    print("off", time.monotonic_ns(), flush=True)
    thread = threading.Thread(target=lambda: sum(range(2000000)))
    thread.start()
    time.sleep(0.001)
    thread.join()
"""


def recorded(work, name):
    path = os.path.join(work, "snake.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    trace = os.path.join(work, name)
    done = record(trace, "-q", "--", "env", f"PYTHONPATH={SOURCE}/ros2/kymo_py", sys.executable, path, name)
    return trace, dict(re.findall(r"(\w+) (\d+)", done.stdout))


def main(work):
    if sanitized():
        skip("the hooks have no sanitizers")
    trace, said = recorded(work, "two")
    hog, snake = int(said["hog"]), int(said["main"])
    waits = [(int(tid), int(ns), int(by)) for tid, ns, by in re.findall(
        r"gil_wait: .*?vtid = (\d+).*?duration = (\d+), released_by = (\d+)", kymo("dump", trace))]
    check(any(tid == snake and by == hog for tid, _, by in waits), "nobody waited for the thread", hog, waits)
    check({tid for tid, _, _ in waits} <= {hog, snake} and {by for _, _, by in waits} <= {0, hog, snake}, waits, hog, snake)
    # The run after it was due meanwhile, and may have waited longer than this one took.
    why = answer("why", trace, "/snake", "--worst", "3")
    parts = {one["rank"]: [part for part in why["parts"] if part["rank"] == one["rank"]] for one in why["instances"]}
    spent = {rank: sum(part["ns"] for part in its if part["kind"] == "gil") for rank, its in parts.items()}
    rank = max(spent, key=spent.get)
    one, its = why["instances"][rank - 1], parts[rank]
    check(one["cause"] == "gil" and "for Python's lock (GIL), which thread" in one["sentence"] and f"({hog}) had" in one["sentence"], one)
    check(sum(part["ns"] for part in its) == one["latency_ns"], "parts add up", its)
    check(any(f"({hog})" in part["by"] for part in its if part["kind"] == "gil"), its)
    check(0 < spent[rank] <= sum(ns for tid, ns, _ in waits if tid == snake), its, waits)
    trace, _ = recorded(work, "one")
    check("gil_wait" not in kymo("dump", trace) and answer("why", trace, "/snake")["count"] == 40, "a program of one thread waits for nobody")


in_directory(main)
