#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""Waiting for Python's lock (GIL): a callback of a plain python3 waits for a thread that keeps the lock in one long call of C. The trace has
each wait and who released the lock, `kymo why` names that thread, and a program of one thread has no such events. A child of fork(2) has
none of the threads that waited. A thread that was asked to release the lock waits until another one took it; how often depends on the
scheduler, so a program stands for the interpreter."""
import os
import re
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import SOURCE, answer, check, in_directory, kymo, record, run, sanitized, skip

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


# In the child, gettid(2) is the end: only who releases the lock while others wait asks for its number.
FORKS = """
import ctypes, functools, os, platform, struct, threading, time
import kymo.rclpy_hook

NUMBER = {"x86_64": 186, "aarch64": 178}[platform.machine()]
LINES = (0x20, 0, 0, 0), (0x15, 0, 1, NUMBER), (6, 0, 0, 0x80000000), (6, 0, 0, 0x7fff0000)
libc, over = ctypes.CDLL(None), False


def busy():
    while not over:
        pass


def quiet():
    lines = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in LINES))
    filter = struct.pack("HP", len(LINES), ctypes.addressof(lines))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filter):
        return 3
    for _ in range(20):
        time.sleep(0.0001)
    return 0


thread = threading.Thread(target=busy)
thread.start()
time.sleep(0.05)
# In one call of C, so that the thread waits all the time.
calls = functools.partial(ctypes.PyDLL(None).usleep, 20000), functools.partial(os.fork)
child = list(map(functools.partial.__call__, calls))[1]
if not child:
    os._exit(quiet())
over = True
thread.join()
print("status", os.waitpid(child, 0)[1])
"""

# drop_gil() and take_gil() of CPython, as far as the second variable is concerned.
ASKED = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

struct { pthread_mutex_t mutex; pthread_cond_t switched; bool waits, taken; } _PyRuntime = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false };

static void *drop(void *unused)
{
	pthread_mutex_lock(&_PyRuntime.mutex);
	printf("asked %d main %d\\n", gettid(), getpid());
	for (_PyRuntime.waits = true; !_PyRuntime.taken;)
		pthread_cond_wait(&_PyRuntime.switched, &_PyRuntime.mutex);
	pthread_mutex_unlock(&_PyRuntime.mutex);
	return unused;
}

int main(void)
{
	void (*gil)(bool) = (void (*)(bool))dlsym(RTLD_DEFAULT, "kymo__python_gil");
	pthread_t thread;

	gil(true);
	pthread_create(&thread, NULL, drop, NULL);
	while (!_PyRuntime.taken) {
		usleep(1000);
		pthread_mutex_lock(&_PyRuntime.mutex);
		_PyRuntime.taken = _PyRuntime.waits;
		pthread_cond_signal(&_PyRuntime.switched);
		pthread_mutex_unlock(&_PyRuntime.mutex);
	}
	return pthread_join(thread, NULL);
}
"""


def waits_of(trace):
    """Return: (thread, ns, by) of each wait."""
    return [(int(tid), int(ns), int(by)) for tid, ns, by in re.findall(
        r"gil_wait: .*?vtid = (\d+).*?duration = (\d+), released_by = (\d+)", kymo("dump", trace))]


def check_asked(work):
    """The wait of a thread until another one has taken the lock."""
    source, program, trace = (os.path.join(work, name) for name in ("asked.c", "asked", "asked.trace"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(ASKED)
    run(os.environ.get("CC", "cc"), "-rdynamic", "-pthread", "-o", program, source)
    said = dict(re.findall(r"(\w+) (\d+)", record(trace, "-q", "--", program).stdout))
    waits = waits_of(trace)
    check(waits and {tid for tid, _, _ in waits} == {int(said["asked"])} and waits[-1][2] == int(said["main"]), said, waits)


def recorded(work, name, program=PROGRAM):
    path = os.path.join(work, "snake.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(program)
    trace = os.path.join(work, name)
    done = record(trace, "-q", "--", "env", f"PYTHONPATH={SOURCE}/ros2/kymo_py", sys.executable, path, name)
    return trace, dict(re.findall(r"(\w+) (\d+)", done.stdout))


def main(work):
    if sanitized():
        skip("the hooks have no sanitizers")
    trace, said = recorded(work, "two")
    hog, snake = int(said["hog"]), int(said["main"])
    waits = waits_of(trace)
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
    trace, said = recorded(work, "forks", FORKS)
    check("gil_wait" in kymo("dump", trace), "no thread waited before the fork")
    if said["status"] == str(3 << 8):
        print("skipped in part: no seccomp(2)")
    else:
        check(said["status"] == "0", "the child asks which thread releases the lock, for nobody", said)
    check_asked(work)
    trace, _ = recorded(work, "one")
    check("gil_wait" not in kymo("dump", trace) and answer("why", trace, "/snake")["count"] == 40, "a program of one thread waits for nobody")


in_directory(main)
