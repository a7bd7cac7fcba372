#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a trace with Python's bt2 and looks at the fields of each event, as scripts do. Prints events.
usage: read.py TRACE"""
import sys

import bt2

count = total = 0
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is not bt2._EventMessageConst:
        continue
    count += 1
    event = message.event
    fields = {name: event.payload_field[name] for name in event.payload_field} if event.payload_field else {}
    if event.name == 'ros2:callback_start':
        total += int(fields['callback']) + message.default_clock_snapshot.ns_from_origin
print(count)
