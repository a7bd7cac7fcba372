# SPDX-License-Identifier: Apache-2.0
"""Faults of known kind and size in examples/robot, and whether `kymo why` names them: what the robot says that it did is the truth."""
import collections
import json
import os

from lib_test import answer, private, robot
from lib_test import record as recorded

CHAIN = "/scan -> /cmd_vel"
SHARE = 0.05        # of the latency: how far the share of what is named may be from the truth's
# The way into and out of the kernel belongs to no page fault: some 76 ns each, of 95,000 in 120 ms.
PAGES_SHARE = 0.1

Fault = collections.namedtuple("Fault", "asked causes needs_kernel")
FAULTS = {
    "hold": Fault(CHAIN, ("queued",), False),
    "hog": Fault(CHAIN, ("preempted",), True),
    "pages": Fault(CHAIN, ("page_fault", "executing"), False),
    "lock": Fault(CHAIN, ("blocked",), True),
    "late": Fault("/lidar_driver timer 25 ms", ("late",), False),
    "link": Fault(CHAIN, ("transport", "dds"), False),    # the robot holds a message back before it is written
    "loss": Fault(CHAIN, (), False),    # makes nothing late: nothing comes
}
Verdict = collections.namedtuple("Verdict", "fault seed result rank share truth said")


def who(truth):
    """As `kymo why` names the culprit."""
    if truth["fault"] == "hog":
        return f"{truth['what']} ({truth['tid']})"
    if truth["fault"] == "lock":
        return "/control/planner /obstacles"
    return truth["what"]


def record(directory, faults, seed, kernel, seconds):
    """Return: the trace; {fault: what the robot says of it}; what `kymo record` said."""
    trace = os.path.join(directory, "trace")
    words = [*(["--kernel=if-possible"] if kernel else []), "--", *robot(seconds, "--seed", str(seed))]
    for fault in faults:
        words += ["--fault", fault]
    done = recorded(trace, *words, env=private(directory, KYMO_RING_SIZE="2M"))
    truth = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return trace, {t["fault"]: t for t in truth}, done.stderr


def ask(trace, asked, *arguments):
    return answer("why", trace, asked, "--worst", "100", *arguments)


def overlap(truth, instance):
    begin, end = instance["begin_ns"], instance["begin_ns"] + instance["latency_ns"]
    return max(0, min(end, truth["end_ns"]) - max(begin, truth["begin_ns"]))


def true_ns(truth, instance, kernel, cause):
    """Time of the instance that the fault took. Who faults pages is preempted as anybody is: where why can tell, that is another's;
    and so is giving them back."""
    ns = overlap(truth, instance)
    if not kernel or truth["fault"] != "pages":
        return ns
    return min(ns, truth["touched_ns" if cause == "page_fault" else "cpu_ns"])


def named_ns(why, instance, truth, kernel):
    """Time of the cause. Some virtual machines spend most of a page fault before the kernel sees it: that is time of the callback."""
    if not kernel or truth["fault"] != "pages" or instance["cause"] != "executing":
        return instance["cause_ns"]
    return sum(p["ns"] for p in why["parts"]
               if p["rank"] == instance["rank"] and p["kind"] in FAULTS["pages"].causes and p["who"] == instance["cause_who"])


def woken_by(why, instance, truth):
    """Who holds a lock wakes who waits for it."""
    holder = f"{truth['what']} ({truth['tid']})"
    return truth["fault"] != "lock" or any(p["kind"] == "blocked" and p["by"] == holder for p in why["parts"]
                                           if p["rank"] == instance["rank"])


def around(truth):
    """Options for 200 ms more than the fault."""
    begin, end = truth["begin_ns"] - 200000000, truth["end_ns"] + 200000000
    return "--begin", f"{begin // 10**9}.{begin % 10**9:09}", "--end", f"{end // 10**9}.{end % 10**9:09}"


def judge_loss(why, seed, truth):
    """The link is named, and how many of its messages were lost. (More are while the programs do not know each other yet, or
    some of them have ended.)"""
    link = next(link for link in why["links"] if f"{link['topic']} to {link['to']}" == truth["what"])
    words = f"{truth['messages']} of {link['messages']} messages of {link['topic']} never reached {link['to']}"
    return Verdict("loss", seed, "right" if words in why["lost_messages"] else "share", 1, link["lost"] / link["messages"],
                   truth["messages"] / link["messages"], why["lost_messages"])


def judge(trace, seed, truth, kernel):
    """What is said of the instance that the fault delayed the most; None: there is none."""
    if truth["fault"] == "loss":
        return judge_loss(ask(trace, CHAIN, *around(truth)), seed, truth)
    why = ask(trace, FAULTS[truth["fault"]].asked)
    hit = max(why["instances"], key=lambda i: overlap(truth, i))
    true = true_ns(truth, hit, kernel, hit["cause"])
    if not true:        # the recording ended before it did
        return None
    share, true_share = named_ns(why, hit, truth, kernel) / hit["latency_ns"], true / hit["latency_ns"]
    if hit["cause"] not in FAULTS[truth["fault"]].causes or hit["cause_who"] != who(truth):
        # What took longer than the fault is the cause, whoever it was.
        result = "another" if hit["cause_ns"] - hit["cause_usual_ns"] > true else "wrong"
    else:
        allowed = PAGES_SHARE if hit["cause"] == "page_fault" else SHARE
        result = "right" if abs(share - true_share) <= allowed and woken_by(why, hit, truth) else "share"
    return Verdict(truth["fault"], seed, result, hit["rank"], share, true_share, hit["sentence"])
