# SPDX-License-Identifier: Apache-2.0
"""Summaries made by hand: spans whose durations are all the same in a process."""
import gzip
import json


def coarse(value):
    """The bucket of a file that @value is in; see docs/answers/summary.md."""
    if value < 16:
        return value
    shift = value.bit_length() - 5
    return shift * 16 + (value >> shift)


def write_summary(path, spans, instances=200, **changes):
    """@spans: name -> nanoseconds; of several processes of one name a list of them."""
    def span(name, ns, process):
        return {"kind": "span", "name": name, "of": f"robot #{process}" if process > 1 else "robot", "runs": instances, "duration": {
            "count": instances, "sum": ns * instances, "min": ns, "max": ns, "quantiles": [ns] * 4, "buckets": [coarse(ns), instances]}}

    summary = {"kymo_summary": 1, "origin_ns": 1, "begin_ns": 1, "end_ns": 5_000_000_001, "host": "robot", "clock": "system",
               "machine": {"cpu": "A"}, "events": 1000, "windows": 1,
               "entities": [span(name, one, process) for name, ns in spans.items() for process, one in enumerate(ns if isinstance(ns, list) else [ns], 1)],
               **changes}
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
        json.dump(summary, file, separators=(",", ":"))
