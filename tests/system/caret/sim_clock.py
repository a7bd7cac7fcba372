#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: network
"""From a simulator's /clock, over DDS and `kymo agent`, into a recording and out of `kymo report --clock sim`: a pause, a
rate, a jump back and silence are where they were. How exact the pairs are the unit test control_sim_clock says: here
what is compared differs by seconds. A message that comes late makes times wrong by as much: where the machine was so
slow, it is done again."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, KYMO, answer, kymo, ros_domain, run, until

S = 10**9
PLAYER, EVENTS = (os.path.join(BUILD, "tests", name) for name in ("clock_player", "sim_events"))
# On loopback alone, and in a domain of its own.
URI = ('<General><Interfaces><NetworkInterface name="lo" multicast="false"/></Interfaces><AllowMulticast>false</AllowMulticast>'
       '</General><Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>99</MaxAutoParticipantIndex>'
       '<Peers><Peer address="127.0.0.1"/></Peers></Discovery>')
TRIES, LATE = 5, 0.1 * S
PHASES = ["1.5:1", "1.5:0", "1.5:4", "=50", "1:1", "1.5:silent", "1:1"]
programs = []


def start(*command, **more):
    programs.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **more))
    return programs[-1]


def end(program, number=signal.SIGINT):
    program.send_signal(number)
    out = program.communicate(timeout=300)[0]
    assert program.returncode == 0, (program.args, program.returncode)
    return out


def record(trace, domain):
    """Returns the player's phases as (CLOCK_MONOTONIC, simulation, rate), after spans of one second in each were said."""
    events = start(EVENTS, stdin=subprocess.PIPE)
    base = int(events.stdout.readline())
    recorder = start(KYMO, "record", "-q", "-o", trace)
    until("a session", lambda: answer("status").get("state") == "recording" or "recorder_pid" in answer("status"))
    agent = start(KYMO, "agent", "--domain", str(domain), "--sim-rate", "2")
    player = start(PLAYER, str(domain), *PHASES)
    phases = [tuple(map(float, line.split())) for line in player.communicate(timeout=300)[0].splitlines()]
    assert player.returncode == 0 and len(phases) == 7, phases
    for ns, _, _ in phases[:-1]:
        # From a quarter of the phase on, for half of it.
        for what, at in ("begin", 0.25), ("end", 0.75):
            events.stdin.write(f"{what} {int(ns + at * S) - base}\n")
    # And one over the jump.
    for what, at in ("begin", -0.5), ("end", 0.5):
        events.stdin.write(f"{what} {int(phases[3][0] + at * S) - base}\n")
    events.stdin.close()
    events.wait(300)
    said = end(agent)
    # It is a traced process now, and stands for the others alone.
    assert "the time of a simulation" in said, said
    assert f"process {events.pid} " in said and f"process {agent.pid} " not in said, said
    end(recorder)
    return phases


def lateness(trace, phases):
    """By how much what was heard last, and kept, was off what the player meant, in its time."""
    dump = kymo("dump", trace, "--event", "*sim_time", "--format", "json")
    late = 0
    for fields in (json.loads(line)["fields"] for line in dump.splitlines()):
        begin, sim, rate = [p for p in phases if p[0] <= fields["at_ns"]][-1]
        late = max(late, abs(sim + rate * (fields["at_ns"] - begin) - fields["stamp"]) / max(rate, 1))
    return late


def check(trace, phases):
    pairs = answer("query", "-q", trace, "SELECT timestamp_ns, sim_ns FROM sim_times")["rows"]
    # Two a second for eight seconds, and two at each of the bends; a slow machine has more bends, or hears less.
    assert 8 <= len(pairs) < 400, len(pairs)
    assert min(p["sim_ns"] for p in pairs) >= 50 * S and max(p["sim_ns"] for p in pairs) <= 108 * S, pairs
    spans = answer("query", "-q", trace, "--clock", "sim", "SELECT begin_ns, duration_ns FROM spans ORDER BY id")["rows"]
    assert len(spans) == len(phases), spans
    off = [s["begin_ns"] - sim - rate * 0.25 * S for (_, sim, rate), s in zip(phases[:-1], spans)]
    for (_, sim, rate), span in zip(phases[:-1], spans):
        assert abs(span["begin_ns"] - (sim + rate * 0.25 * S)) < 0.4 * S * max(rate, 1), (sim, rate, span)
        assert abs(span["duration_ns"] - rate * 0.5 * S) < 0.2 * S * max(rate, 1), (sim, rate, span)
    # Half a second at four times the speed, and half a second behind the jump; the jump takes nothing from it.
    assert abs(spans[-1]["duration_ns"] - 2.5 * S) < 0.8 * S, spans[-1]
    row = answer("report", trace, "--clock", "sim", "--section", "spans")["spans"][0]
    assert row["count"] == len(phases) and row["max_ns"] == max(s["duration_ns"] for s in spans), row
    assert row["total_ns"] == sum(s["duration_ns"] for s in spans), row
    clock = answer("report", trace, "--clock", "sim", "--section", "spans")["clock"]
    assert "jump" in clock and "pause" in clock, clock
    print(f"sim_clock: {clock}; spans begin off by {max(map(abs, off)) / 1e6:.1f} ms at most")


def two_domains(trace, domain):
    """Two simulations, in two domains of one agent: each pair says whose it is, and --clock sim wants to know which."""
    events = start(EVENTS, stdin=subprocess.PIPE)
    base = int(events.stdout.readline())
    recorder = start(KYMO, "record", "-q", "-o", trace)
    until("a session", lambda: "recorder_pid" in answer("status"))
    agent = start(KYMO, "agent", "--domain", str(domain), "--domain", str(domain + 1), "--sim-rate", "20")
    # Each begins when the agent listens to its domain, which on a busy machine is not at the same time.
    players = [start(PLAYER, str(domain + i), *phases) for i, phases in enumerate((["6:1"], ["=5000", "6:0"]))]
    outputs = [player.communicate(timeout=300)[0].splitlines() for player in players]
    begin = max(float(lines[0].split()[0]) for lines in outputs)
    for what, at in ("begin", 0.2), ("end", 0.7):
        events.stdin.write(f"{what} {int(begin + at * S) - base}\n")
    events.stdin.close()
    events.wait(300)
    said = end(agent)
    assert all(f"/clock of ROS domain {domain + i} has the time of a simulation" in said for i in (0, 1)), said
    end(recorder)
    for number, first, stands in (domain, 100, False), (domain + 1, 5000, True):
        span, = answer("query", "-q", trace, "--clock", f"sim:{number}", "SELECT begin_ns, duration_ns FROM spans")["rows"]
        assert abs(span["begin_ns"] - first * S) < 30 * S and (span["duration_ns"] == 0) == stands, (number, span)
    for choice, says in ("sim", f"in ROS domains {domain}, {domain + 1}; choose one with --clock sim:N"), (
            f"sim:{domain + 2}", f"in ROS domain {domain + 2}, only in {domain}, {domain + 1}"):
        assert says in run(KYMO, "report", trace, "--clock", choice, status=2).stderr, choice
    done = run("babeltrace2", trace)
    pairs = [line for line in done.stdout.splitlines() if "ros2_caret:sim_time" in line]
    assert not done.stderr and pairs, done.stderr
    assert all(f"ros_domain = {domain} }}" in line or f"ros_domain = {domain + 1} }}" in line for line in pairs), pairs[0]


def beside_a_command(trace, domain):
    """`kymo record -- CMD` also records the agent's readings, and nothing at all if nothing of the command is traced."""
    agent = start(KYMO, "agent", "--domain", str(domain), "--sim-rate", "100", "-q")
    player = start(PLAYER, str(domain), "60:1")
    until("a reading", lambda: answer("status")["processes"])
    assert run(KYMO, "record", "-o", trace, "--", "true", status=6) and not os.path.exists(trace)
    recorder = start(KYMO, "record", "-q", "-o", trace, "--", EVENTS, stdin=subprocess.PIPE)
    base = int(recorder.stdout.readline())
    recorder.stdin.write(f"begin {time.monotonic_ns() - base}\nend {time.monotonic_ns() - base}\n")
    recorder.stdin.flush()
    until("readings", lambda: sum(p["recorded"] or 0 for p in answer("status", "--interval", "0")["processes"]
                                  if p["pid"] == agent.pid) > 2)
    recorder.stdin.close()
    recorder.stdin = None
    recorder.communicate(timeout=300)
    assert recorder.returncode == 0
    player.kill()
    player.communicate()
    end(agent)
    assert len(answer("query", "-q", trace, "SELECT * FROM sim_times")["rows"]) > 2
    pids = {row["pid"] for row in answer("query", "-q", trace, "SELECT pid FROM processes")["rows"]}
    assert len(pids) == 2 and agent.pid in pids, pids


def main():
    if not os.path.exists(PLAYER):
        print("skipped: it needs CycloneDDS")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="kymo-simclock-", dir="/dev/shm") as work:
        os.environ.update(KYMO_DIR=f"{work}/run", CYCLONEDDS_URI=URI)
        os.mkdir(f"{work}/run", 0o700)
        try:
            for number in range(TRIES):
                trace = f"{work}/trace{number}"
                phases = record(trace, ros_domain())
                if lateness(trace, phases) < LATE:
                    break
                print(f"sim_clock: a message came {lateness(trace, phases) / 1e6:.0f} ms late")
            check(trace, phases)
            two_domains(f"{work}/two", ros_domain(2))
            beside_a_command(f"{work}/command", ros_domain())
        finally:
            for program in programs:
                if program.poll() is None:
                    program.kill()
                    program.wait(300)


if __name__ == "__main__":
    main()
