#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a window to ClickHouse would have on the wire if the receiver knew those before it: packed windows of a made-up robot with some
500 entities (wire.py), one after the other.

  alone          as kymo serve sends it: zstd
  together       all windows in one request
  dictionary     zstd with the window before as its dictionary
  window before  a coder of the buckets that knows those of the window before (negative binomial)
  others         one that knows those of all other windows
  floor          one that knows the mean of each bucket over all windows, this one too (Poisson)
  sums           what the sums, least and largest values have beside the buckets, at least

usage: wire_history.py [MINUTES]   with KYMO_BUILD, BENCH_BUCKETS (clickhouse.buckets), BENCH_WINDOW (seconds)"""
import ctypes
import math
import os
import subprocess
import sys
import tempfile

from wire import BUCKETS, Bytes, Handler, Window, definition
from lib_http import Server
from lib_test import BUILD, KYMO, running, until

MINUTES = int(sys.argv[1]) if sys.argv[1:] else 10
LENGTH = int(os.environ.get("BENCH_WINDOW", "60"))
PRIOR = 0.3         # how often a bucket was seen before it was seen
LEVEL = 19


def send(place):
    """Return: the bodies of whole windows, as they came and unpacked."""
    trace, config = os.path.join(place, "trace"), os.path.join(place, "kymo.yaml")
    subprocess.run([os.path.join(BUILD, "bench", "bench_synthesize_robot"), trace, str(MINUTES * 60 + LENGTH), "47"], check=True,
                   stdout=subprocess.DEVNULL)
    with Server(Handler) as server:
        server.zstd, server.packed, server.bodies = True, True, []
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"robot: r2d2\nsoftware: 1.4.0\nlabels: {{site: hall-3}}\nserve: {{listen: '127.0.0.1:0', window: {LENGTH}s}}\n"
                       f"clickhouse: {{url: '{server.address}', every: 10ms, buckets: {BUCKETS}}}\nspool: {{directory: '{place}/spool'}}\n")
        environment = dict(os.environ, KYMO_CONFIG=config, KYMO_DIR=os.path.join(place, "run"), KYMO_CACHE="off")
        with running(KYMO, "serve", "-q", trace, env=environment):
            until("windows", lambda: len(server.bodies) >= MINUTES * 60 // LENGTH, 600)
    return server.bodies[1:MINUTES * 60 // LENGTH]      # the first one is not whole


def packed_size(data, before=b""):
    """With zstd, and with a dictionary."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_createCCtx.restype = ctypes.c_void_p
    for name in "ZSTD_compressBound", "ZSTD_compress_usingDict":
        getattr(library, name).restype = ctypes.c_size_t
    room = library.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    return library.ZSTD_compress_usingDict(ctypes.c_void_p(library.ZSTD_createCCtx()), ctypes.create_string_buffer(room), ctypes.c_size_t(room),
                                           data, ctypes.c_size_t(len(data)), before, ctypes.c_size_t(len(before)), LEVEL)


def lists_of(body):
    found = Bytes(body)
    for _ in range(4):
        found.text()
    found.skip(24)
    return {name: [Window.value(found, kind) for _ in range(found.length())] for name, kind in definition("window_packed.def")}


def counts_of(body):
    """Return: {(distribution, number of the bucket): count}."""
    lists, counts = lists_of(body), {}
    for row, buckets in enumerate(Window(body).buckets):
        name = tuple(lists[column][row] for column in ("kinds", "entities", "processes", "metrics"))
        first = lists["offsets"][row] - (lists["offsets"][row] >> 15 << 16)
        counts.update({(name, first + i): number for i, number in enumerate(buckets) if number})
    return counts


def poisson_bits(number, mean):
    return (mean - number * math.log(mean) + math.lgamma(number + 1)) / math.log(2)


def history_bits(number, seen, windows):
    """With a mean of which `windows` windows with `seen` together are known."""
    a, p = seen + PRIOR, windows / (windows + 1)
    return -(math.lgamma(number + a) - math.lgamma(a) - math.lgamma(number + 1) + a * math.log(p) + number * math.log(1 - p)) / math.log(2)


def sums_bytes(body):
    """The least and the largest value are anywhere in their bucket, the sum as far from the middle of the buckets as chance has it."""
    lists, bits, scale = lists_of(body), 0, int(BUCKETS)
    for row, buckets in enumerate(Window(body).buckets):
        if not buckets:
            continue
        first = lists["offsets"][row] - (lists["offsets"][row] >> 15 << 16)
        width = [max(1, 2 ** ((first + i + 1) / scale) - 2 ** ((first + i) / scale)) for i in range(len(buckets))]
        variance = sum(number * one * one / 12 for number, one in zip(buckets, width))
        bits += 0.5 * math.log2(2 * math.pi * math.e * max(variance, 0.06))
        if sum(buckets) > 1:
            bits += sum(max(0, math.log2(width[end] / max(1, buckets[end]))) for end in (0, -1))
    return bits / 8


def main():
    with tempfile.TemporaryDirectory(prefix="kymo-wire-") as place:
        sent = send(place)
    bodies = [body for _, body in sent]
    counts = [counts_of(body) for body in bodies]
    buckets, windows = set().union(*counts), len(counts)
    total = {bucket: sum(one.get(bucket, 0) for one in counts) for bucket in buckets}
    def mean(sizes):
        return f"{sum(sizes) / len(sizes):,.0f} bytes"
    print(f"{windows} windows of {LENGTH} s, {BUCKETS} buckets for each power of two; {len(counts[0]):,} buckets are not empty")
    print("alone:", mean([size for size, _ in sent]))
    if windows < 2:
        return
    print("together:", mean([packed_size(b"".join(bodies)) / windows]))
    print("dictionary:", mean([packed_size(body, before) for before, body in zip(bodies, bodies[1:])]))
    print("window before:", mean([sum(history_bits(now.get(one, 0), before.get(one, 0), 1) for one in buckets) / 8
                                  for before, now in zip(counts, counts[1:])]))
    print("others:", mean([sum(history_bits(now.get(one, 0), total[one] - now.get(one, 0), windows - 1) for one in buckets) / 8 for now in counts]))
    print("floor:", mean([sum(poisson_bits(now.get(one, 0), total[one] / windows) for one in buckets) / 8 for now in counts]))
    print("sums:", mean([sums_bytes(body) for body in bodies]))


if __name__ == "__main__":
    main()
