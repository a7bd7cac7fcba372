#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
usage: zoo.py single|multi|asyncio -- runs nodes of rclpy in this kind of executor until SIGINT or SIGTERM. Prints "begun" when all of
them exist.

asyncio: an event loop spins the executor by turns with coroutines of its own. The nodes are like those of zoo.cpp, with messages that
rclpy needs itself, and write the same file (zoo.hpp). A callback of a guard condition or of a task is "NODE NAME", with the name of its
function.
"""
import asyncio
import os
import signal
import sys
import threading
import time

import rclpy
from builtin_interfaces.msg import Time
from rcl_interfaces.srv import ListParameters
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
try:
    from example_interfaces.action import Fibonacci
except ImportError:     # no goals then
    Fibonacci = None

LINES = []
SYMBOLS = set()
ENDS = threading.Event()


def moment():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def say(*words):
    LINES.append(" ".join(map(str, words)))     # the interpreter's lock protects it


class Animal(Node):
    """Says what it has, and writes down what it does."""
    def __init__(self, name):
        super().__init__(name, start_parameter_services=False)
        self.number = 0
        say("node", "/" + name)

    def group(self, *members, reentrant=False):
        say("group", "reentrant" if reentrant else "mutually_exclusive", self.path, *members)
        return ReentrantCallbackGroup() if reentrant else MutuallyExclusiveCallbackGroup()

    @property
    def path(self):
        return "/" + self.get_name()

    def ran(self, source, number=None):
        if (self.path, source) not in SYMBOLS:
            code = sys._getframe(1).f_code
            SYMBOLS.add((self.path, source))
            if hasattr(code, "co_qualname"):    # from Python 3.11 on
                say("symbol", self.path, source, f"__main__.{code.co_qualname}")
        say(*(("run",) if number is None else ("receive",)), self.path, source, *(() if number is None else (number,)), moment())
        return moment()

    def goes_on(self, source, began):
        say("resume", self.path, source, began, moment())

    def speaker(self, topic):
        say("publisher", self.path, topic)
        return self.create_publisher(Time, topic, 10)

    def listen(self, topic, callback, group, depth=10):
        say("subscription", self.path, topic)
        return self.create_subscription(Time, topic, callback, depth, callback_group=group)

    def every(self, milliseconds, callback, group=None):
        nanoseconds = milliseconds * 1_000_000
        say("timer", self.path, nanoseconds)
        return self.create_timer(milliseconds / 1000, callback, callback_group=group or self.group(nanoseconds))

    def publish(self, publisher, number):
        before = moment()
        publisher.publish(Time(sec=number))
        say("publish", publisher.topic_name, number, before, moment())


class Talker(Animal):
    """Gets back what the listener makes of its numbers."""
    def __init__(self):
        super().__init__("talker")
        self.out = self.speaker("/topics/numbers")
        self.every(20, self.talk)
        self.listen("/topics/doubled", self.back, self.group("/topics/doubled", reentrant=True))

    def talk(self):
        self.ran(20_000_000)
        self.number += 1
        self.publish(self.out, self.number)

    def back(self, message):
        self.ran("/topics/doubled", message.sec)


class Listener(Animal):
    """Two subscriptions of one topic: one keeps up, and one has room for one message and is held up by a timer of its group."""
    def __init__(self):
        super().__init__("listener")
        self.out = self.speaker("/topics/doubled")
        self.listen("/topics/numbers", self.keep_up, self.group("/topics/numbers"))
        held = self.group("/topics/numbers", 160_000_000)
        self.listen("/topics/numbers", self.late, held, depth=1)
        self.every(160, self.hold, held)

    def keep_up(self, message):
        self.ran("/topics/numbers", message.sec)
        self.publish(self.out, 2 * message.sec)

    def late(self, message):
        self.ran("late", message.sec)

    def hold(self):
        self.ran(160_000_000)
        time.sleep(0.05)


class Server(Animal):
    """One service answers at once, one is a coroutine."""
    def __init__(self):
        super().__init__("server")
        for name, callback in ("/serve/now", self.add), ("/serve/later", self.later):
            say("service", self.path, name)
            self.create_service(ListParameters, name, callback, callback_group=self.group(name))

    def add(self, request, response):
        self.ran("/serve/now", request.depth)
        response.result.names = [str(request.depth)]
        return response

    async def later(self, request, response):
        began = self.ran("/serve/later", request.depth)
        await self.executor.create_task(lambda: None)
        self.goes_on("/serve/later", began)
        return response


class Asker(Animal):
    """Asks one service with a callback for the answer, and awaits the answer of the other."""
    def __init__(self):
        super().__init__("asker")
        self.clients_ = {}
        for name in "/serve/now", "/serve/later":
            say("client", self.path, name)
            self.clients_[name] = self.create_client(ListParameters, name, callback_group=self.group(name))
        self.every(35, self.ask)
        self.every(65, self.wish)

    def ask(self):
        self.ran(35_000_000)
        if self.clients_["/serve/now"].service_is_ready():
            self.number += 1
            future = self.clients_["/serve/now"].call_async(ListParameters.Request(depth=self.number))
            future.add_done_callback(self.answered)

    def answered(self, future):
        self.ran("/serve/now", future.result().result.names[0])

    async def wish(self):
        began = self.ran(65_000_000)
        if self.clients_["/serve/later"].service_is_ready():
            await self.clients_["/serve/later"].call_async(ListParameters.Request(depth=1))
            self.goes_on(65_000_000, began)


class Tasker(Animal):
    """A guard condition that a timer triggers, and tasks: a function and a coroutine."""
    def __init__(self):
        super().__init__("tasker")
        self.guard = self.create_guard_condition(self.guarded, callback_group=MutuallyExclusiveCallbackGroup())
        self.every(55, self.trigger)

    def trigger(self):
        self.ran(55_000_000)
        self.guard.trigger()
        self.executor.create_task(self.task)
        self.executor.create_task(self.steps)

    def guarded(self):
        self.ran("guarded")

    def task(self):
        self.ran("task")

    async def steps(self):
        began = self.ran("steps")
        await self.executor.create_task(self.task)
        self.goes_on("steps", began)


# The goal with number N is refused, aborted, or waits until it is canceled, or succeeds, by N % 5; it has N % 3 feedbacks before.
REFUSED, ABORTED, CANCELED = range(3)


def text(goal_id):
    return bytes(goal_id.uuid).hex()


class Doer(Animal):
    """Ends goals in a timer."""
    def __init__(self):
        super().__init__("doer")
        self.goals = []
        self.server = ActionServer(self, Fibonacci, "/do/count", self.end, handle_accepted_callback=self.goals.append,
                                   goal_callback=lambda goal: GoalResponse.REJECT if goal.order % 5 == REFUSED else GoalResponse.ACCEPT,
                                   cancel_callback=lambda _: CancelResponse.ACCEPT)
        self.every(45, self.work)

    def work(self):
        self.ran(45_000_000)
        for goal in list(self.goals):
            if goal.request.order % 5 != CANCELED or goal.is_cancel_requested:
                # Not remove(): goals are equal if one byte of their ids is (rosidl_generator_py 0.22.0).
                self.goals[:] = [its for its in self.goals if its is not goal]
                goal.execute()

    @staticmethod
    def end(goal):
        number = goal.request.order
        for _ in range(number % 3):
            goal.publish_feedback(Fibonacci.Feedback())
        fate, end = {ABORTED: ("aborted", goal.abort), CANCELED: ("canceled", goal.canceled)}.get(number % 5, ("succeeded", goal.succeed))
        say("end", text(goal.goal_id), fate, "/do/count", number % 3, moment())
        end()
        return Fibonacci.Result()


class Wisher(Animal):
    def __init__(self):
        super().__init__("wisher")
        self.client = ActionClient(self, Fibonacci, "/do/count")
        self.every(55, self.wish)

    def wish(self):
        self.ran(55_000_000)
        if self.client.server_is_ready():
            answer = self.client.send_goal_async(Fibonacci.Goal(order=self.number))
            answer.add_done_callback(lambda future, fate=self.number % 5: self.answered(future.result(), fate))
            self.number += 1

    @staticmethod
    def answered(goal, fate):
        if goal.accepted:
            goal.get_result_async().add_done_callback(lambda _: say("result", text(goal.goal_id), moment()))
        if fate == CANCELED:
            goal.cancel_goal_async()


async def asynchronous(executor):
    """As programs do that have an event loop of their own."""
    while not ENDS.is_set():
        executor.spin_once(timeout_sec=0)
        await asyncio.sleep(0)


def main():
    kind = sys.argv[1] if len(sys.argv) == 2 else ""
    if kind not in ("single", "multi", "asyncio"):
        sys.exit(__doc__)
    # As in main.cpp, the context is shut down when nothing runs any more: rclpy may raise errors otherwise.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, lambda *_: ENDS.set())
    executor = MultiThreadedExecutor(4) if kind == "multi" else SingleThreadedExecutor()
    nodes = [animal() for animal in (Talker, Listener, Server, Asker, Tasker, *((Doer, Wisher) if Fibonacci else ()))]
    for node in nodes:
        executor.add_node(node)
    print("begun", flush=True)
    if kind == "asyncio":
        asyncio.run(asynchronous(executor))
    while not ENDS.is_set():
        executor.spin_once(timeout_sec=0.1)
    if kind == "multi":
        executor._executor.shutdown()
    with open(os.environ["ZOO_LOG"], "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in LINES))


main()
