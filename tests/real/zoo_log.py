# SPDX-License-Identifier: Apache-2.0
"""What the programs of tests/real wrote down, and whether a trace of them says the same: for each kind of entity, how many facts are
right, absent or wrong."""
import bisect
import collections
import re
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system/lib"))
from lib_attach import TABLES
from lib_test import kymo, query

# The kinds of entities, and the nodes that have them.
KINDS = {"topics": ("/talker", "/listener"), "intra-process": ("/within",), "lent": ("/lent",), "generic": ("/generic",), "services": ("/server", "/asker"),
         "lifecycle": ("/living",), "actions": ("/doer", "/wisher"), "tasks": ("/tasker",),
         "ros2_control": ("/arm", "/stepper")}
HELD = "/listener late"         # its queue has room for one message, and a timer of its group holds it up
HOLDER = "/listener 160000000"
MARGIN_NS = 100_000_000         # at both ends of a trace, a run may be outside of what was recorded
HELD_NS = 50_000_000            # so long
OVERLAP_NS = 10_000_000         # of a wait and a run of the timer, to count
# Their tables in lib_attach, and where a row has the node and the name.
ENTITIES = {"publisher": ("publishers", 1, 0), "subscription": ("subscriptions", 1, 0), "timer": ("timers", 0, 1),
            "service": ("services", 0, 1), "client": ("clients", 0, 1)}


class Score:
    """How many facts are right, absent and wrong."""
    def __init__(self):
        self.right, self.absent, self.wrong = 0, [], []

    def add(self, found, wanted, *what):
        """@found: what kymo says; None: nothing."""
        if found is None:
            self.absent.append(" ".join(map(str, what)))
        elif found == wanted:
            self.right += 1
        else:
            self.wrong.append(" ".join(map(str, (*what, "is", found, "and not", wanted))))

    def __str__(self):
        if self.wrong:
            return f"WRONG ({len(self.wrong)} of {self.right + len(self.absent) + len(self.wrong)})"
        if not self.right and not self.absent:
            return "-"
        return "right" if not self.absent else f"absent ({len(self.absent)} of {self.right + len(self.absent)})"


class Log:
    """The file of ZOO_LOG; times are those of the trace (@offset_ns later)."""
    def __init__(self, path, offset_ns):
        self.facts = collections.defaultdict(list)
        self.groups, self.publications, self.moments = [], collections.defaultdict(dict), collections.defaultdict(list)
        self.goals, self.results = {}, {}       # by id: (status, action, feedback, when it was about to end); when its client had it
        self.asked = {}         # when the request with this number was about to be sent
        self.symbols = {}       # of callbacks, as in the source
        self.began = {}         # when a coroutine began that ran on at (callback, moment)
        with open(path, encoding="utf-8") as file:
            for line in file:
                self._line(line.split(), offset_ns)

    def _line(self, word, offset_ns):
        if word[0] in ("run", "receive"):
            number = int(word[3]) if word[0] == "receive" else None
            self.moments[f"{word[1]} {word[2]}"].append((int(word[-1]) + offset_ns, number))
        elif word[0] == "publish":
            self.publications[word[1]][int(word[2])] = int(word[3]) + offset_ns, int(word[4]) + offset_ns
        elif word[0] == "resume":
            name, moment = f"{word[1]} {word[2]}", int(word[-1]) + offset_ns
            self.moments[name].append((moment, None))
            self.began[name, moment] = int(word[3]) + offset_ns
        elif word[0] == "ask":
            self.asked[int(word[2])] = int(word[3]) + offset_ns
        elif word[0] == "end":
            self.goals[word[1].replace("-", "")] = (*word[2:4], int(word[4]), int(word[5]) + offset_ns)
        elif word[0] == "result":
            self.results[word[1].replace("-", "")] = int(word[2]) + offset_ns
        elif word[0] == "symbol":
            self.symbols[f"{word[1]} {word[2]}"] = word[3]
        elif word[0] == "group":
            self.groups.append((word[2], word[1], frozenset(word[3:])))
        else:
            self.facts[word[0]].append(tuple(word[1:]))


def offset_of(trace):
    """Return: what is to be added to CLOCK_MONOTONIC to get the times of the trace."""
    for directory, _, files in os.walk(trace):
        if "metadata" in files:
            with open(os.path.join(directory, "metadata"), encoding="utf-8", errors="replace") as file:
                text = file.read()
            seconds, rest = re.search(r"offset_s = (\d+)", text), re.search(r"offset = (\d+)", text)
            return (int(seconds[1]) * 10 ** 9 if seconds else 0) + (int(rest[1]) if rest else 0)
    raise FileNotFoundError(trace)


class Comparison:
    def __init__(self, trace, log, executor):
        """@executor: the type that executors must have, by a function of the node."""
        self.trace, self.log, self.executor = trace, Log(log, offset_of(trace)), executor
        self.rows = {name: query(trace, sql) for name, sql in TABLES.items()}
        self.instances = sorted(query(trace, "SELECT i.id, i.callback_id, c.node, c.source, c.symbol, i.start_ns, i.end_ns, i.publish_ns, "
                                      "i.is_intra FROM callback_instances i JOIN callbacks c ON c.id = i.callback_id"),
                                key=lambda row: row["start_ns"])
        self.starts = [row["start_ns"] for row in self.instances]
        self.begin = min(self.starts, default=0) + MARGIN_NS
        self.end = max((row["end_ns"] for row in self.instances), default=0) - MARGIN_NS
        self.lost = bool(query(trace, "SELECT * FROM lost_events"))
        # Of publications within the process.
        self.within_unknown = "which ROS 2 Humble does not trace" in " ".join(kymo("report", trace).split())
        self.goals = {row["goal_id"].replace("-", ""): row for row in query(trace, "SELECT * FROM action_goals")}
        self.ran = {}           # the instance of each moment, by callback
        for name, moments in self.log.moments.items():
            self.ran[name] = [(moment, number, self._instance(name, moment)) for moment, number in moments
                              if self.begin <= self.log.began.get((name, moment), moment) and moment <= self.end]

    def _instance(self, name, moment):
        """The innermost instance around this moment that has the name, else one without a name. A task has a symbol, but no node."""
        node, source = name.split(" ")
        nameless = None
        for at in range(bisect.bisect_right(self.starts, moment) - 1, -1, -1):
            row = self.instances[at]
            if row["start_ns"] < moment - 2_000_000_000:
                break
            if row["end_ns"] < moment:
                continue
            if row["node"] == node and (name == HELD or self._source(row["source"]) == source):
                return row
            if not row["node"] and row["symbol"] and row["symbol"] == self.log.symbols.get(name):
                return row
            if not row["node"] and nameless is None:
                nameless = row
        return nameless

    @staticmethod
    def _source(text):
        """A callback's source as the log writes it: "20000000" of "timer 20 ms"."""
        found = re.fullmatch(r"(?:timer )?([\d.]+) (ns|us|ms|s)", text or "")
        return str(round(float(found[1]) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[found[2]])) if found else (text or "").split(" ")[-1]

    @staticmethod
    def _within(times, before, after):
        """How many of the sorted @times."""
        return bisect.bisect_right(times, after) - bisect.bisect_left(times, before)

    def _ids(self, name):
        """The callback that is meant by this name, as a set: on another thread, the other subscription of the topic may run meanwhile."""
        ids = collections.Counter(row["callback_id"] for _, _, row in self.ran.get(name, ()) if row)
        return {id_ for id_, count in ids.items() if count > sum(ids.values()) / 2}

    def _callbacks(self, nodes):
        return [name for name in sorted(self.ran) if name.split(" ")[0] in nodes]

    def _goals(self, nodes):
        """What the log says of each goal that ended meanwhile, and its row; None: none."""
        if "/doer" in nodes:
            for id_, (*fact, ended) in self.log.goals.items():
                if self.begin <= ended <= self.end:
                    yield id_, fact, ended, self.goals.get(id_)

    def _unnamed(self):
        """Publications whose publisher was not known when they were recorded, as after an attach: not in the table, or without a topic."""
        known = {row["rcl_ns"] for row in query(self.trace, "SELECT rcl_ns FROM publications WHERE topic_name <> ''")}
        return [row["timestamp_ns"] for row in query(self.trace, "SELECT timestamp_ns FROM events WHERE name = 'ros2:rcl_publish' "
                                                     "ORDER BY timestamp_ns") if row["timestamp_ns"] not in known]

    def events(self, nodes):
        """Each run and each publication; where the trace says that events were lost, they may be absent."""
        score, missing, unnamed = Score(), None if self.lost else False, self._unnamed()
        for name in self._callbacks(nodes):
            for moment, number, instance in self.ran[name]:
                score.add(True if instance else missing, True, "run of", name, number, "at", moment)
        for topic, numbers in self.log.publications.items():
            if not any(name == topic and node in nodes for node, name in self.log.facts["publisher"]):
                continue
            times = sorted({row["publish_ns"] for row in query(self.trace, f"SELECT publish_ns FROM publications WHERE topic_name = '{topic}'")})
            for number, (before, after) in numbers.items():
                if self.begin <= before and after <= self.end:
                    found = self._within(times, before, after)
                    absent = self.lost or self.within_unknown and "/within" in nodes or self._within(unnamed, before, after)
                    score.add(found or (None if absent else 0), 1, "publications of", topic, number)
        for id_, (status, _, feedback), _, row in self._goals(nodes):
            score.add((row["status"], row["feedback_sent"]) if row else missing, (status, feedback), "goal", id_)
        return score

    def names(self, nodes):
        score = Score()
        known = {row["full_name"] for row in self.rows["nodes"]}
        for (node,) in self.log.facts["node"]:
            if node in nodes:
                score.add(node if node in known else None, node, "node", node)
        for kind, (table, node_at, name_at) in ENTITIES.items():
            rows = collections.Counter()
            for row in self.rows[table]:
                row = list(row.values())
                rows[row[node_at], str(row[name_at])] += 1
            facts = collections.Counter(fact for fact in self.log.facts[kind] if fact[0] in nodes)
            for fact, count in facts.items():
                score.add(rows[fact] or None, count, kind, *fact)
            names = {name for _, name in facts}
            everywhere = set(self.log.facts[kind])
            for node, name in rows:
                if node and name in names and (node, name) not in everywhere:
                    score.add((node, name), None, kind, "that does not exist:")
        for name in self._callbacks(nodes):
            node, source = name.split(" ")
            symbol = self.log.symbols.get(name)
            for its in {row["symbol"] for _, _, row in self.ran[name] if row} if symbol else ():
                score.add(its or None, symbol, "symbol of", name)
            if symbol and source.isidentifier() and name != HELD:
                continue        # a task, or of a guard condition: kymo knows no owner
            for owner in {(row["node"], row["source"]) for _, _, row in self.ran[name] if row}:
                right = owner[0] == node and (name == HELD or self._source(owner[1]) == source)
                score.add(right if owner[0] else None, True, "callback", name, owner)
        for id_, (_, action, _), _, row in self._goals(nodes):
            for name, wanted in ("action", action), ("client_node", "/wisher"), ("server_node", "/doer"):
                score.add(row and row[name], wanted, name, "of goal", id_)
        return score

    def latencies(self, nodes):
        score = Score()
        for name in self._callbacks(nodes):
            topic = "/topics/numbers" if name == HELD else name.split(" ")[1]
            numbers = self.log.publications.get(topic)
            if not numbers or topic not in {fact[1] for fact in self.log.facts["subscription"] if fact[0] in nodes}:
                continue
            for _, number, row in self.ran[name]:
                if number not in numbers or not row or numbers[number][0] < self.begin:
                    continue
                before, after = numbers[number]
                published = row["publish_ns"]
                score.add(None if not published else before <= published <= after, True, "latency of", name, number)
        if "/asker" in nodes:
            self._calls(score)
        for id_, _, ended, row in self._goals(nodes):
            client = self.log.results.get(id_, 0)
            if row and client and client <= self.end:
                taken = row["result_taken_ns"]
                score.add(None if not taken or not row["ended_ns"] else ended <= row["ended_ns"] <= client and ended <= taken <= client,
                          True, "times of goal", id_)
        return score

    def _calls(self, score):
        """Each answer belongs to a call, and that to the server's run; the request was sent when the asker says so."""
        calls = {row["response_instance_id"]: row for row in query(self.trace, "SELECT * FROM service_calls")}
        for moment, number, row in self.ran.get("/asker /serve/add", ()):
            asked = self.log.asked.get(number, 0)
            if not row or asked < self.begin:
                continue
            call = calls.get(row["id"])
            if call is None or None in (call["request_ns"], call["request_taken_ns"], call["service_node"], call["client_node"]):
                score.add(None, True, "call of /asker", number)
                continue
            right = (call["client_node"], call["service_node"]) == ("/asker", "/server") and asked <= call["request_ns"] and (
                call["request_ns"] <= call["request_taken_ns"] <= call["response_taken_ns"] <= moment)
            score.add(right, True, "call of /asker", number)

    def groups(self, nodes):
        score = Score()
        known = collections.defaultdict(list)
        for row in self.rows["groups"]:
            members = frozenset(word for table in ("timers", "subscriptions", "services") for word in (row[table] or "").split(",") if word)
            known[members].append((row["type"], row["executor"]))
        for node, type_, members in self.log.groups:
            if node not in nodes:
                continue
            if node == "/asker" and next(iter(members)).startswith("/serve/"):
                continue        # a client's group; clients are not members in the tables
            found = known.get(members)
            wanted = type_, self.executor(node)
            score.add(wanted if found and wanted in found else (found or [None])[0], wanted, "group", node, type_, *members)
        return score

    def losses(self, nodes):
        """Messages that the two subscriptions did not get, and no others."""
        score = Score()
        if "/listener" not in nodes or ("/listener",) not in self.log.facts["node"]:
            return score
        rows = query(self.trace, "SELECT m.publish_ns, m.outcome, m.subscription_id, m.callback_id FROM messages m "
                     "WHERE topic_name = '/topics/numbers'")
        published = sorted(row["publish_ns"] for row in query(self.trace, "SELECT publish_ns FROM publications "
                                                              "WHERE topic_name = '/topics/numbers'"))
        held = self._ids(HELD)
        lost = sorted(row["publish_ns"] for row in rows if row["outcome"] == "untaken")
        moments = [self.log.moments[name] for name in (HELD, "/listener /topics/numbers")]
        got = [{number for _, number in its} for its in moments]
        # What was received after the trace ended, the trace cannot know.
        last = min(max((number for moment, number in its if moment <= self.end), default=0) for its in moments)
        score.add(len(held) == 1 if held else None, True, "the callback of", HELD, held)
        for number, (before, after) in self.log.publications["/topics/numbers"].items():
            if self.begin <= before and after <= self.end and number < last:
                found = self._within(lost, before, after)
                # Without its publication, kymo says nothing of the message; that is counted under events.
                known = self._within(published, before, after) and not self.lost
                score.add(found if known else None, sum(number not in its for its in got), "lost deliveries of message", number)
        return score

    def blocked(self, nodes):
        """The timer that holds the group is among what the held subscription waited for, where it ran meanwhile."""
        score = Score()
        if "/listener" not in nodes:
            return score
        held, holder = self._ids(HELD), self._ids(HOLDER)
        blocked = collections.defaultdict(set)
        for row in query(self.trace, "SELECT callback_instance_id, by_callback_id FROM blocked_by"):
            blocked[row["callback_instance_id"]].add(row["by_callback_id"])
        for row in query(self.trace, "SELECT id, callback_id, ready_ns, until_ns, is_judged FROM callback_waits"):
            if row["callback_id"] in held and any(min(row["until_ns"], moment + HELD_NS) - max(row["ready_ns"], moment) > OVERLAP_NS
                                                  for moment, _, _ in self.ran.get(HOLDER, ())):
                found = bool(blocked[row["id"]] & holder)
                score.add(found or (False if row["is_judged"] else None), True, "what blocked", HELD)
        return score
