# SPDX-License-Identifier: Apache-2.0
"""Connections through a proxy of a test."""
import socket


def hang_up(*sockets):
    """Ends both directions; whoever reads or writes there is woken up."""
    for one in sockets:
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:                 # the other side was faster
            pass


def carry(source, sink, change=lambda data: [data], piece=4096):
    """Passes on what @source sends, at most @piece bytes at a time, as change() makes it. When one side hangs up, both have."""
    try:
        while data := source.recv(piece):
            for part in change(data):
                sink.sendall(part)
    except OSError:
        pass
    hang_up(source, sink)
