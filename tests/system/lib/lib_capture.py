# SPDX-License-Identifier: Apache-2.0
"""What tcpdump does, as far as tests need it: writes the frames of a network interface into a file in the format pcap,
with nanoseconds. capturing() needs the right to open raw sockets.

usage: lib_capture.py INTERFACE FILE        prints "capturing", ends at the end of the standard input"""
import contextlib
import os
import select
import socket
import struct
import subprocess
import sys

SO_TIMESTAMPNS = 35
ETH_P_ALL = 3
HEADER = struct.Struct('=IHHiIII')
FRAME = struct.Struct('=IIII')
MAGIC_NS, ETHERNET = 0xa1b23c4d, 1


def head():
    """The head of a file: a capture without frames."""
    return HEADER.pack(MAGIC_NS, 2, 4, 0, 0, 65535, ETHERNET)


def may_capture():
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def capturing(interface, file, *there):
    """For the length of a `with`. @there: what to put before the command so that it runs on another host."""
    process = subprocess.Popen([*there, sys.executable, os.path.abspath(__file__), interface, file], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == 'capturing\n', f'{interface} cannot be captured'
    try:
        yield
    finally:
        process.communicate(timeout=300)


def shift(file, ns):
    """As if the clock of that host had been @ns ahead."""
    with open(file, 'rb') as old:
        content = old.read()
    with open(file, 'wb') as new:
        new.write(content[:HEADER.size])
        at = HEADER.size
        while at < len(content):
            seconds, nanoseconds, kept, size = FRAME.unpack_from(content, at)
            begin = at + FRAME.size
            new.write(FRAME.pack(*divmod(seconds * 1000000000 + nanoseconds + ns, 1000000000), kept, size))
            new.write(content[begin:begin + kept])
            at = begin + kept


def write_frames(frames, file):
    while select.select([frames], [], [], 0)[0]:
        data, control, _, address = frames.recvmsg(65536, 64)
        # A frame of the loopback interface comes twice: when it is sent, and when it is received.
        if address[0] == 'lo' and address[2] == socket.PACKET_OUTGOING:
            continue
        file.write(FRAME.pack(*struct.unpack('=qq', control[0][2]), len(data), len(data)) + data)


def main(interface, path):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as frames, open(path, 'wb') as file:
        frames.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        frames.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        frames.bind((interface, ETH_P_ALL))
        file.write(head())
        print('capturing', flush=True)
        while sys.stdin not in select.select([frames, sys.stdin], [], [])[0]:
            write_frames(frames, file)
        write_frames(frames, file)


if __name__ == '__main__':
    main(*sys.argv[1:])
