# SPDX-License-Identifier: Apache-2.0
"""
A traced program: tells the tracer what a node does that gets its own messages.

    program.py [--messages N] [--second-thread] [--until-interrupt FILE] [--status N]

--second-thread: another thread does the same. --until-interrupt: makes FILE when it is done, waits for SIGINT, and
publishes one more message then.
"""
import argparse
import ctypes
import os
import pathlib
import signal
import sys
import threading
import time

# That of Jazzy: which one a process has says what its tracepoints are called with.
ctypes.CDLL(os.path.join(os.environ['KYMO_BUILD'], 'stub', 'jazzy', 'lib', 'libtracetools.so'))
process = ctypes.PyDLL(None)


def trace(name, *arguments):
    function = getattr(process, 'ros_trace_' + name, None)
    if function is not None:
        function.restype = None
        function(*[ctypes.c_void_p(one) if type(one) is int else one for one in arguments])


def facts():
    gid = bytes(range(24))
    trace('rcl_init', 0x100)
    trace('rcl_node_init', 0x200, 0x201, b'talker', b'/test')
    trace('rmw_publisher_init', 0x301, gid)
    trace('rcl_publisher_init', 0x300, 0x200, 0x301, b'/chatter', ctypes.c_size_t(10))
    trace('rmw_subscription_init', 0x401, gid)
    trace('rcl_subscription_init', 0x400, 0x200, 0x401, b'/chatter', ctypes.c_size_t(10))
    trace('rclcpp_subscription_init', 0x400, 0x402)
    trace('rclcpp_subscription_callback_added', 0x402, 0x403)
    trace('rclcpp_callback_register', 0x403, b'Talker::heard()')


def message(number):
    stamp = time.time_ns()
    trace('rclcpp_publish', 0, 0x500)
    trace('rcl_publish', 0x300, 0x500)
    trace('rmw_publish', 0x301, 0x500, ctypes.c_int64(stamp))
    trace('rmw_take', 0x401, 0x600, ctypes.c_int64(stamp), ctypes.c_bool(True))
    trace('rcl_take', 0x600)
    trace('rclcpp_take', 0x600)
    trace('callback_start', 0x403, ctypes.c_bool(False))
    trace('callback_end', 0x403)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--messages', type=int, default=10)
    parser.add_argument('--second-thread', action='store_true')
    parser.add_argument('--until-interrupt')
    parser.add_argument('--status', type=int, default=0)
    args = parser.parse_args()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    facts()
    for number in range(args.messages):
        message(number)
    if args.second_thread:
        other = threading.Thread(target=lambda: [message(number) for number in range(args.messages)])
        other.start()
        other.join()
    if args.until_interrupt:
        pathlib.Path(args.until_interrupt).touch()
        signal.sigwait([signal.SIGINT])
        time.sleep(0.5)     # who ends the recording too early has the time to do so
        message(args.messages)
    print('done')
    return args.status


sys.exit(main())
