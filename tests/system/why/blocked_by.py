#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""What callbacks waited for before they began, and behind whom: the tables and the report against a reading that compares each run with
all others, over traces of ROS 2 with executors of one thread and of several, and of a recorded program whose groups are known."""
import collections
import os
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, SHARED, existing, query, record_robot, report

DATA = os.path.join(SHARED, "data")
TRACES = ("ros2-traces/pair_pipeline_mt", "ros2-traces/pair_basic_st", "ros2-traces/pair_intra", "ros2-traces/pair_components",
          "ros2-traces/caret_runtime", "caret-demo/ctf")


class Naive:
    def __init__(self, trace):
        self.callback = {r["id"]: r for r in query(trace, "SELECT c.id, c.node_id, c.callback_group_id AS grp, t.period_ns, g.type FROM callbacks c "
                                                   "LEFT JOIN timers t ON t.id = c.timer_id "
                                                   "LEFT JOIN callback_groups g ON g.id = c.callback_group_id")}
        self.every = query(trace, "SELECT id, callback_id, thread_id, process_id, start_ns, end_ns, depth FROM callback_instances")
        self.runs = [r for r in self.every if r["depth"] == 0]
        self.message = {r["callback_instance_id"]: r for r in query(trace, "SELECT * FROM messages WHERE callback_instance_id IS NOT NULL "
                                                                    "AND publisher_id IS NOT NULL AND take_ns IS NOT NULL")}
        self.by_thread, self.by_process = collections.defaultdict(list), collections.defaultdict(list)
        for run in sorted(self.runs, key=lambda r: (r["start_ns"], r["id"])):
            self.by_thread[run["thread_id"]].append(run)
            self.by_process[run["process_id"]].append(run)

    def excludes(self, run, other):
        """How the other one's run keeps this one's callback from starting: None, "told", "assumed"."""
        a, b = self.callback[run["callback_id"]], self.callback[other["callback_id"]]
        if other["thread_id"] == run["thread_id"] or a["type"] == "reentrant":
            return None
        if a["grp"] and b["grp"]:
            return "told" if a["grp"] == b["grp"] else None
        return "assumed" if a["node_id"] and a["node_id"] == b["node_id"] else None

    def is_judged(self, run, begin, end):
        """Is it known of each run on another thread meanwhile whether it kept this one's callback from starting?"""
        def is_stranger(one):
            its = self.callback[one["callback_id"]]
            return not its["grp"] and not its["node_id"]

        others = [o for o in self.by_process[run["process_id"]]
                  if o["thread_id"] != run["thread_id"] and o["start_ns"] < end and o["end_ns"] > begin]
        return self.callback[run["callback_id"]]["type"] == "reentrant" or not any(map(is_stranger, [run, *others]))

    def waits(self):
        """id of the run -> (ready, until)."""
        previous, out = {}, {}
        for run in self.every:      # in order of end
            before = previous.get(run["callback_id"])
            previous[run["callback_id"]] = run["start_ns"]
            period, message = self.callback[run["callback_id"]]["period_ns"], self.message.get(run["id"])
            if run["depth"]:
                continue
            if message:
                wait = message["send_ns"] or message["publish_ns"], message["take_ns"]
            elif before and period and before + period <= run["start_ns"]:
                wait = before + period, run["start_ns"]
            else:
                continue
            if wait[0] <= wait[1]:
                out[run["id"]] = wait
        return out

    def pieces(self, run, begin, end):
        """(callback, what was held) -> [ns, runs]."""
        out = collections.defaultdict(lambda: [0, 0])

        def cover(runs, held, begin, end, rest):
            for other in runs:
                since, until = max(begin, other["start_ns"]), min(end, other["end_ns"])
                if until <= since:
                    continue
                rest(begin, since)
                out[other["callback_id"], held][0] += until - since
                out[other["callback_id"], held][1] += 1
                begin = until
            rest(begin, end)

        others = [o for o in self.by_process[run["process_id"]] if self.excludes(run, o)]
        cover(self.by_thread[run["thread_id"]], "thread", begin, end,
              lambda a, b: cover(others, "callback group", a, b, lambda *_: None) if a < b else None)
        return out


def compare(trace):
    """Return: how many pieces were compared, by what was held."""
    naive = Naive(trace)
    runs = {r["id"]: r for r in naive.runs}
    wanted = naive.waits()
    told = {r["id"]: r for r in query(trace, "SELECT * FROM callback_waits")}
    assert set(told) == set(wanted), (trace, set(told) ^ set(wanted))
    ours = collections.defaultdict(dict)
    for row in query(trace, "SELECT * FROM blocked_by"):
        ours[row["callback_instance_id"]][row["by_callback_id"], row["held"]] = [row["ns"], row["runs"]]
        how = naive.excludes(runs[row["callback_instance_id"]], {"callback_id": row["by_callback_id"], "thread_id": None})
        assert row["is_assumed"] == (row["held"] != "thread" and how == "assumed"), row
    held = collections.Counter()
    for number, row in told.items():
        assert (row["ready_ns"], row["until_ns"]) == wanted[number], (row, wanted[number])
        assert row["is_judged"] == naive.is_judged(runs[number], *wanted[number]), row
        pieces = naive.pieces(runs[number], *wanted[number])
        assert ours[number] == dict(pieces), (trace, row, ours[number], dict(pieces))
        sums = collections.Counter()
        for (_, what), (ns, _) in pieces.items():
            sums[what] += ns
            held[what] += 1
        assert (row["behind_thread_ns"], row["behind_group_ns"]) == (sums["thread"], sums["callback group"]), row
        assert row["behind_thread_ns"] + row["behind_group_ns"] + row["other_ns"] == row["wait_ns"] and row["other_ns"] >= 0, row
    reported(trace, naive, told)
    return held


def reported(trace, naive, told):
    """The report has the sums: of each pair, of each executor (threads that ran one callback), and of each group."""
    told_sums = report(trace, "blocked-by", "executor-view")
    pairs = collections.defaultdict(lambda: [0, 0, 0])
    for row in query(trace, "SELECT b.*, c.callback_object AS a, d.callback_object AS b, p.pid FROM blocked_by b JOIN processes p "
                            "ON p.id = b.process_id JOIN callbacks c ON c.id = b.callback_id JOIN callbacks d ON d.id = b.by_callback_id"):
        of = pairs[row["pid"], int(row["a"]), int(row["b"]), row["held"] != "thread"]
        of[:] = of[0] + row["ns"], of[1] + 1, max(of[2], row["ns"])
    ours = {(r["pid"], int(r["victim_callback"], 16), int(r["culprit_callback"], 16), r["held"] != "its thread"):
            [r["ns"], r["count"], r["worst_ns"]] for r in told_sums["blocked-by"]}
    assert ours == dict(pairs), (trace, ours, dict(pairs))
    first = {}
    for _ in range(2):      # threads of one executor may become known to be so late
        for run in naive.runs:
            thread = first.setdefault(("thread", run["thread_id"]), run["thread_id"])
            other = first.setdefault(("callback", run["callback_id"]), thread)
            for key in [k for k, v in first.items() if v in (thread, other)]:
                first[key] = min(thread, other)
    sums = collections.defaultdict(lambda: [0] * 6)
    for run in naive.runs:
        executor, group = first["thread", run["thread_id"]], naive.callback[run["callback_id"]]["grp"]
        wait = told.get(run["id"], {"behind_thread_ns": 0, "behind_group_ns": 0})
        behind = wait["behind_thread_ns"], wait["behind_group_ns"]
        for key in ("executor", executor), ("group", executor, group):
            of = sums[key]
            of[:] = [of[0] + 1, of[1] + run["end_ns"] - run["start_ns"], of[2] + (sum(behind) > 0), of[3] + behind[0], of[4] + behind[1],
                     max(of[5], sum(behind))]
    for what in "executor", "group":
        ours = [[r[k] for k in ("runs", "running_ns", "blocked", "behind_thread_ns", "behind_group_ns", "worst_ns")]
                for r in told_sums["executor-view"] if r["what"] == what]
        assert sorted(ours) == sorted(v for k, v in sums.items() if k[0] == what and k[-1]), (trace, what, ours, dict(sums))
    idle = query(trace, "SELECT sum(duration_ns) AS ns FROM executor_states WHERE state = 'wait_for_work' AND thread_id IN "
                        "(SELECT thread_id FROM callback_instances WHERE depth = 0)")[0]["ns"]
    assert sum(r["wait_for_work_ns"] or 0 for r in told_sums["executor-view"]) == (idle or 0), (trace, idle)


def recorded(directory):
    """The robot's flaw: a timer holds the executor that /scan needs."""
    trace = os.path.join(directory, "robot")
    record_robot(trace, 2)
    held = compare(trace)
    assert query(trace, "SELECT * FROM blocked_by WHERE node = '/perception/obstacle_detector' AND held = 'thread' "
                        "AND by_callback = '/perception/costmap timer 96 ms'")
    return held


if __name__ == "__main__":
    assert os.path.isdir(BUILD)
    total = collections.Counter()
    there = [os.path.relpath(path, DATA) for path in existing(*(os.path.join(DATA, name) for name in TRACES))]
    for name in there:
        total += compare(os.path.join(DATA, name))
    with tempfile.TemporaryDirectory() as private:
        total += recorded(private)
    assert total["thread"] > 500 and total["callback group"] > 50 or not there and total["thread"] > 0, total
    print("pieces of waits are as all runs tell them:", dict(total))
