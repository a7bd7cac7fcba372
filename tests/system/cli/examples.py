#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain, long
"""Every command line of the help texts (which are the manual pages), of packaging/man and of docs/ is executed: as it stands there, but with
places, addresses and numbers of this test (SWAPS). How each is surrounded, SCENES says: the first pattern that matches.
A line that none matches, or a pattern that matches no line any more, is a failure.

usage: examples.py [PATTERN]     only the lines that match, with their output"""
import contextlib
import glob
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_capture
from lib_test import BUILD, KYMO, SOURCE, another_trace, ros_domain, until

NOTHING = 6			# exit status: the robot of these tests has no such thing
SECONDS = "0.6"

# What examples name, and what stands for it here.
SWAPS = [
    (r"/mnt/usb/", "{work}/usb/"), (r"(?<![\w/])/data/", "{work}/data/"), (r"(?<![\w/])/tmp/", "{work}/tmp/"),
    (r"/dev/shm/kymo-(?:robot|1000)", "{work}/robot.dir"), (r"--user alice --user 1001", f"--user {os.getuid()}"),
    (r"nets://collector\.example", "nets://127.0.0.1:{dead}"), (r"--bind 0\.0\.0\.0", "--bind 127.0.0.1"),
    (r"(kymo (?:live|top) net://)(?:robot-base|robot|desk|127\.0\.0\.1)", r"\g<1>127.0.0.1:{live}"),
    (r"(net://)(?:robot-base|robot|desk|127\.0\.0\.1)/", r"\g<1>127.0.0.1:{control}:{data}/"),
    (r"udp://robot-base/", "udp://127.0.0.1:{control}:{datagram}/"),
    (r"/host/robot/", "/host/$(hostname)/"), (r"--(expect) 3", r"--\1 1"), (r"\b4711\b", "{pid}"),
    (r"\$\(pidof driver\)", "{pid}"), (r"install/my_robot/lib/my_robot/driver|\bbuild/robot/driver|\bPROGRAM\b", "{build}/robot/driver"),
    (r"kymo relay ", "kymo relay --control 0 --data 0 --live 0 "), (r"--duration \S+", f"--duration {SECONDS}"),
    (r"\+10s", "+0.1s"), (r"\+20s", "+0.3s"), (r"\+12\.3s", "+0.1s"), (r"\+12\.5s", "+0.3s"),
    (r"build/(robot/robot|cyclic/cyclic)", r"{build}/\1 --seconds " + SECONDS), (r"-- (\./)?(robot|loop)\b", "-- ros2 launch"),
    (r"kymo agent", "kymo agent --domain {domain}"), (r"--hosts", "--hosts --domain {domain}"),
    (r"--domain 0 --domain 42", ""), (r" --seconds \S+ --seconds \S+", f" --seconds {SECONDS}"), (r"^sudo ", ""),
    (r"ros2 caret check_ctf for_caret", "true"), (r" \.\.\.$", " robot"), (r"-o ring\b", "-o {work}/ring"),
    (r"\bbraked/1\b", "my_session"), (r" --kernel\b(?![=-])", " --kernel=if-possible"),
    (r" --(kernel-all|syscalls|cycles)\b", r" --\1 --kernel=if-possible"), (r" record --kernel-event", " record --kernel=if-possible --kernel-event"),
]

PATH = """named_paths:
- path_name: target
  node_chain:
  - node_name: /lidar_driver
    publish_topic_name: /scan
    subscribe_topic_name: UNDEFINED
  - node_name: /perception/obstacle_detector
    publish_topic_name: UNDEFINED
    subscribe_topic_name: /scan"""

# No examples; those that tests/ros2/test_docs.py runs; those that need captures, which system/dds_path makes.
ELSEWHERE = ("benchmarks.md", "ros2.md", "capture.md")

# (pattern of lines, scene, exit statuses that are right). A scene is a method of Scenes.
SCENES = [
    (r"kymo status --watch", "followed", {0, -signal.SIGINT}),
    (r"kymo open\b", "opened", {0}),
    (r"kymo export --follow|kymo live \S+ --now|kymo live traces/\S+ --top$", "followed", {0}),
    (r"kymo query TRACE$", "prompt", {0}),
    (r"--realtime|--section realtime|--section node-costs|callback_costs", "lint", {0, 5}),
    (r"--model robot.yaml", "read", {0, 5}),
    (r"--clock sim", "without_clock", {3, NOTHING}),
    (r"--at trigger", "snapshot_of", {0}),
    (r"kymo top .*--once", "recording", {0}),
    (r"kymo top\b", "on_terminal", {0}),
    (r"kymo (ls|info|list|events|dump|report|flow|why|query|export|doctor|help)\b", "read", {0, 1, NOTHING}),
    (r"kymo (attach|detach)\b", "attached", {0}),
    (r"kymo (enable|disable)\b", "switched", {0, NOTHING}),
    (r"kymo serve\b", "served", {0}),
    (r"kymo config\b", "configured", {0}),
    (r"kymo (store|diff --store)\b", "stored", {0, NOTHING}),
    (r"kymo live traces", "read", {0}),
    (r"kymo live net://[^/ ]+$", "listed", {0}),
    (r"kymo live", "relayed", {0}),
    (r"kymo (run|record)\b.* -- |kymo run --", "command", {0}),
    (r"kymo record --hosts", "agents", {0, NOTHING}),
    (r"kymo (record|agent|relay)\b", "until_interrupted", {0, NOTHING}),
    (r"kymo start", "started", {0}),
    (r"kymo (pause|resume|filter|stop|status|snapshot|sink)\b", "recording", {0}),
    (r"kymo rm\b", "removed", {0}),
    (r"kymo incidents\b", "incident", {0}),
    (r"kymo diff\b", "compared", {0, 5, NOTHING}),
    (r"kymo bench\b", "benched", {0, 5}),
    (r"kymo check\b", "checked", {0, 5, NOTHING}),
    (r"kymo recover", "recover", {0, NOTHING}),
]


def commands():
    """Lines with where they stand: of help texts and docs, comments and the text behind them taken off."""
    found = {}
    verbs = subprocess.run([KYMO, "--version"], capture_output=True, text=True).stdout
    for verb in re.search(r"verbs: (.*)", verbs)[1].split():
        page = subprocess.run([KYMO, "help", verb], capture_output=True, text=True).stdout
        lines = page.partition("\nExamples:\n")[2].splitlines()
        for number, line in enumerate(lines):
            if line.startswith("  kymo "):
                while line.count("'") % 2:			# SQL on several lines
                    number += 1
                    line += "\n" + lines[number]
                found.setdefault(line.strip(), f"kymo help {verb}")
    for path in sorted(glob.glob(os.path.join(SOURCE, "packaging", "man", "*"))):
        for line in open(path, encoding="utf-8"):
            if line.startswith("kymo "):
                found.setdefault(line.strip().replace("\\-", "-"), os.path.basename(path))
    example = False
    for line in subprocess.run([KYMO, "--man", "7"], capture_output=True, text=True).stdout.splitlines():
        example = line == ".nf" or (example and line != ".fi")
        if example and line.startswith("kymo "):
            found.setdefault(line.replace("\\-", "-").replace("\\(aq", "'"), "kymo.7")
    pages = [page for page in glob.glob(os.path.join(SOURCE, "docs", "**", "*.md"), recursive=True) if not re.search("/docs/(decisions|developers)/", page)]
    for path in sorted(pages) + [os.path.join(SOURCE, "README.md")]:
        name = os.path.basename(path)
        fenced = False
        with open(path, encoding="utf-8") as file:
            lines = re.sub(r" \\\n +", " ", file.read()).splitlines()	# a command on several lines
        for line in lines:
            fenced ^= line.startswith("```")
            match = re.match(r"(?:    |\$ )?(?:\$ )?((?:sudo |[A-Z_]+=\S+ )*kymo [a-z].*)", line)
            if match and (fenced or line.startswith("    ")) and name not in ELSEWHERE:
                text = re.split(r"  +(?:#|[a-z])|  +|\s#", match[1])[0].strip()
                if not re.search(r"\[[A-Z'-]|^kymo top ·", text):		# a synopsis; the first line of a screen
                    found.setdefault(text, name)
        with open(path, encoding="utf-8") as file:
            for table in re.findall(r"^\|[^|]*\| you now type \|.*\n((?:\|.*\n)*)", file.read(), re.M):
                for text in re.findall(r"`(kymo [a-z][^`]*)`", "".join(row.split("|")[2] for row in table.splitlines())):
                    found.setdefault(text, name)
    return found


class Scenes:
    """A place with a robot that runs, a relay that has its sessions, and traces."""

    def __init__(self, work):
        self.work, self.programs, self.made, self.senders, self.unprepared = work, [], 0, [], 0
        self.domain = ros_domain()
        path = os.path.join
        for name in ("bin", "home/perfetto-ui", "usb", "data", "tmp", "state", "traces/robot"):
            os.makedirs(path(work, name))
        os.makedirs(path(work, "run"), 0o700)
        self.environment = dict(
            os.environ, HOME=path(work, "home"), ROS_TRACE_DIR=path(work, "traces"), KYMO_DIR=path(work, "run"),
            PATH=":".join([path(work, "bin"), path(BUILD, "bin"), os.environ["PATH"]]), NO_COLOR="1",
            XDG_STATE_HOME=path(work, "state"), ROS_DOMAIN_ID=str(self.domain), CYCLONEDDS_URI="<General><AllowMulticast>false</AllowMulticast>"
            "<Interfaces><NetworkInterface name='lo'/></Interfaces></General><Discovery><ParticipantIndex>auto"
            "</ParticipantIndex><MaxAutoParticipantIndex>99</MaxAutoParticipantIndex><Peers><Peer address='127.0.0.1'/></Peers>"
            "</Discovery>")
        self.robot = f"{path(BUILD, 'robot/robot')} --domain {self.domain} --seconds"
        self.program("ros2", f"exec {self.robot} ${{ROBOT_SECONDS:-0.2}}")
        self.program("xdg-open", "exit 0")
        self.files()
        self.relay = self.begin("kymo relay --control 0 --data 0 --live 0 --datagram 0 -o relayed")
        said = "".join(self.relay.stdout.readline() for _ in range(4))
        control, data, live, _, datagram = re.findall(r":(\d+)", said)
        self.names = dict(work=work, build=BUILD, domain=self.domain, control=control, data=data, live=live, datagram=datagram, dead=1)
        self.runner = self.begin(f"kymo run --flight -- {self.robot} 1200")
        self.names["pid"] = until("the robot", lambda: self.processes("driver"))

    def program(self, name, text):
        path = os.path.join(self.work, "bin", name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)

    def files(self):
        """What the examples name: traces, and files beside them."""
        def into(*words):
            subprocess.run(words, cwd=self.work, env=self.environment, check=True, capture_output=True, timeout=300)
        into("env", f"ROBOT_SECONDS={SECONDS}", "kymo", "record", "-o", "TRACE", "--", "ros2")
        for name in ("my_session", "session-20261120220000", "left-robot", "right-robot", "spikes/1",
                     "traces/robot/walk-20261120-200115", "traces/robot/walk", "traces/session-20261120220000",
                     "home/.ros/tracing/my_session", "data/trace"):
            another_trace(os.path.join(self.work, "TRACE"), os.path.join(self.work, name))
        into("kymo", "export", "TRACE", "--format", "caret-architecture", "-o", "architecture.yaml")
        with open(os.path.join(self.work, "architecture.yaml"), "r+", encoding="utf-8") as file:
            text = file.read()
            file.seek(0)
            file.write(re.sub(r"^named_paths:.*", PATH, text, flags=re.M))
        for name in ("monday", "tuesday", "week"):
            into("kymo", "report", "TRACE", "--format", "summary", "-o", f"{name}.summary")
        into("openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", "relay.key", "-out", "relay.pem", "-days", "1",
             "-subj", "/CN=relay")
        for end in ("pem", "key"):
            into("cp", f"relay.{end}", f"r.{end}")
        for name, text in (("home/perfetto-ui/index.html", "<title>a UI</title>\n"), ("token", "a-token-of-some-length\n"), ("t", "a-token-of-some-length\n"), ("everyday.rules", "topic !/rosout\n"),
                           ("realtime.txt", "# of this robot\n/imu_driver\n\ncontrol:step\n!control:startup\n"),
                           ("robot.yaml", "activities:\n  scan to wheels: {begin: {publish: /scan}, end: {publish: /cmd_vel}, budget: 1ms}\n"
                            "regions:\n  costmap update: {begin: {start: '/perception/costmap timer*'}, "
                            "end: {end: '/perception/costmap timer*'}, budget: 5ms}\n"),
                           ("callback_list.csv", "node_name,callback_name,callback_type,trigger,expected\n")):
            with open(os.open(os.path.join(self.work, name), os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
        with open(os.path.join(self.work, "robot.pcap"), "wb") as file:
            file.write(lib_capture.head())

    def begin(self, line, **more):
        self.programs.append(subprocess.Popen(["bash", "-c", line], cwd=self.work, env=dict(self.environment, **more),
                                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                              text=True, start_new_session=True))
        return self.programs[-1]

    def finish(self, program, number=signal.SIGINT):
        """Returns (exit status, what it said)."""
        if program.poll() is None:
            os.killpg(program.pid, number)
        try:
            out = program.communicate(timeout=300)[0]
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            return "none after Ctrl-C", program.communicate()[0]
        return program.returncode, out

    def end(self, but=None):
        for program in self.programs:
            if program != but and program.poll() is None:
                os.killpg(program.pid, signal.SIGKILL)
                program.wait()

    def ask(self, *words):
        return json.loads(subprocess.run([KYMO, *words, "--format", "json"], env=self.environment, capture_output=True,
                                         text=True, timeout=300).stdout or "{}")

    def processes(self, name):
        for process in self.ask("status").get("processes", []):
            if process.get("name") == name:
                return process["pid"]
        return 0

    def recorder(self):
        return self.ask("status").get("recorder_pid")

    # ---- scenes ----

    def run(self, line, **more):
        """To its end, within five minutes."""
        program = self.begin(line, **more)
        try:
            out = program.communicate(timeout=300)[0]
        except subprocess.TimeoutExpired:
            return "none within 120 s", self.finish(program)[1]
        return program.returncode, out

    def read(self, line):
        return self.run(line)

    def without_clock(self, line):
        """These robots have no simulation: said so, and not misunderstood."""
        status, out = self.run(line)
        return status if "/clock" in out else f"{status} without a word about /clock", out

    def lint(self, line):
        """Of a trace with allocations, of a robot and a program with spans: they are looked at, and something of each name is."""
        traces = os.path.join(self.work, "lint")
        if not os.path.isdir(traces):
            os.mkdir(traces)
            status, out = self.run(f"kymo record --malloc -o lint/session-20261120220000 -- sh -c '{self.robot} 1.5 & {BUILD}/tests/own_realtime; wait'",
                                   KYMO_DIR=os.path.join(self.work, "run-lint"))
            if status:
                return f"none: no trace ({status})", out
        status, out = self.run(re.sub(r"\bTRACE\b", "lint/session-20261120220000", line), ROS_TRACE_DIR=traces)
        looked = "Looked at: allocations" in out or "SELECT" in line or "-costs" in line
        return status if looked and "' ran." not in out and "not looked at: alloc" not in out.lower() else f"{status}, but not looked", out

    def command(self, line):
        """Records or runs a command, with a runtime directory of its own."""
        self.made += 1
        more = {"ROBOT_SECONDS": SECONDS} if "--trigger" in line else {}		# something must happen meanwhile
        return self.run(line, KYMO_DIR=os.path.join(self.work, f"run{self.made}"), **more)

    def relayed(self, line):
        """Of a viewer: until it has shown something, of a session that is being recorded."""
        if not self.senders:
            for name in ("walk", "robot"):
                to = f"net://127.0.0.1:{self.names['control']}:{self.names['data']}/{name}"
                self.senders.append(self.begin(f"kymo record --relay {to} -- {self.robot} 1200",
                                               KYMO_DIR=os.path.join(self.work, f"sends-{name}")))
            until("sessions", lambda: {"walk", "robot"} <= {session.get("session") for session in self.ask(
                "live", f"net://127.0.0.1:{self.names['live']}").get("sessions", [])})
        return self.followed(line)

    def end_sending(self):
        for sender in self.senders:
            self.finish(sender)
        self.senders = []

    def end_robots(self):
        """Robots and their recorders, which need a third of a CPU; not the relay."""
        if self.runner.poll() is None:
            self.end_sending()
            self.stop()
            self.end(but=self.relay)

    def listed(self, line):
        self.relayed("true")
        return self.run(line)

    def followed(self, line):
        """Until it has said something, or ends."""
        if "net://" in line and not self.senders:
            self.relayed("true")
        program = self.begin(line)
        output = re.search(r" -o (\S+)", line)
        if not output:
            program.stdout.readline()
        else:
            path = os.path.join(self.work, output[1])
            until("a copy", lambda: program.poll() is not None or os.path.isfile(path) or
                  glob.glob(os.path.join(path, "**/metadata"), recursive=True))
        return self.finish(program)

    def opened(self, line):
        """Until it has said what to do."""
        program = self.begin(line)
        while not program.stdout.readline().startswith(("Then:", "")[program.poll() is not None]):
            pass
        return self.finish(program)

    def on_terminal(self, line):
        """A screen, until it has drawn its last line; then q."""
        if "net://" in line:
            self.relayed("true")
        else:
            self.recording("true")
        out, (pid, screen) = b"", pty.fork()
        if not pid:
            os.chdir(self.work)
            os.execvpe("bash", ["bash", "-c", line], dict(self.environment, TERM="linux"))
        termios.tcsetwinsize(screen, (24, 80))
        with contextlib.suppress(OSError):		# of a terminal whose program has ended
            while b"callbacks" not in out:
                out += os.read(screen, 65536)
            os.write(screen, b"q")
            while data := os.read(screen, 65536):
                out += data
        os.close(screen)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out.decode(errors="replace")

    def until_interrupted(self, line):
        """A recorder until it records, an agent or a relay until it has said something."""
        self.stop()
        if "kymo record" not in line:
            program = self.begin(line)
            while not re.search("serves|producers", shown := program.stdout.readline()) and shown:
                pass
            return self.finish(program)
        self.begin_recording(line)
        return self.finish(self.programs[-1])

    def begin_recording(self, line):
        program = self.begin(line)
        until("a recorder", lambda: program.poll() is not None or self.recorder())

    def agents(self, line):
        """kymo record --hosts, with an agent on this host."""
        self.stop()
        agent = self.begin(f"kymo agent --active always -o agent --domain {self.domain}")
        program = self.begin(line)
        until("a recorder", lambda: program.poll() is not None or self.recorder())
        result = self.finish(program)
        self.finish(agent)
        return result

    def started(self, line):
        self.stop()
        result = self.run(line)
        self.stop()
        return result

    def stop(self):
        self.run(f"kymo stop; KYMO_DIR={self.work}/robot.dir kymo stop")

    def recording(self, line):
        """While `kymo start` records; snapshot without it."""
        if "snapshot" in line:
            self.stop()
        elif not self.recorder():
            self.made += 1
            self.run(f"kymo start -o recorded{self.made}")
        return self.run(line)

    def recover(self, line):
        self.stop()
        return self.run(line)

    def removed(self, line):
        """Copies of the recordings that it names, which other lines read."""
        place = tempfile.mkdtemp(dir=self.work)
        for name in re.findall(r"[\w/-]*session\S*", line):
            shutil.copytree(os.path.join(self.work, "TRACE"), os.path.join(place, name))
        return self.run(f"cd {place} && yes | {line.replace('rm ', 'rm --yes ', 1)} && ! ls -d $(ls) 2>&1 | grep session")

    def attached(self, line):
        """Of a program that was started without kymo; other programs of this machine are left alone."""
        if not self.unprepared:
            self.begin(f"{self.robot} 1200")
            self.unprepared = until("an unprepared robot", lambda: self.child("driver", self.programs[-1].pid))
        words, pid = line.split(), f"-p {self.unprepared}"
        line = re.sub(r" (--all\b|-p \S+)", "", line)
        if words[1] == "detach":
            return self.run(f"kymo attach {pid} && {line} {pid}")
        return self.run(line if words[2:] == [] else f"{line} {pid} && kymo detach {pid}")

    def child(self, name, group):
        """The process called @name in the process group @group, or 0."""
        for status in glob.glob("/proc/[0-9]*/stat"):
            with contextlib.suppress(OSError), open(status, encoding="utf-8", errors="replace") as file:
                pid, comm, rest = re.match(r"(\d+) \((.*)\) (.*)", file.read()).groups()
                if comm == name and int(rest.split()[2]) == group:
                    return int(pid)
        return 0

    def served(self, line):
        """Until it serves; then Ctrl-C."""
        if "--once" in line:
            return self.run(line)
        line = re.sub(r" --listen \S+", "", line).replace("robot.crt", "r.pem").replace("robot.key", "r.key").replace("r.crt", "r.pem")
        program = self.begin(re.sub(r"/etc/kymo/token", "token", line) + " --listen 127.0.0.1:0")
        while "/metrics" not in (shown := program.stdout.readline()) and shown:
            pass
        return self.finish(program)

    def configured(self, line):
        """Where there is a file."""
        place = tempfile.mkdtemp(dir=self.work)
        shutil.copy(os.path.join(SOURCE, "packaging", "fleet", "kymo.yaml"), place)
        return self.run(f"cd {place} && {line}", KYMO_CONFIG=os.path.join(place, "kymo.yaml"))

    def stored(self, line):
        """In a place with a store of two commits, and with runs to add."""
        place = tempfile.mkdtemp(dir=self.work)
        for name in ("TRACE", "bench/new/1", "bench/new/2"):
            shutil.copytree(os.path.join(self.work, "TRACE"), os.path.join(place, name))
        line = line.replace('"$(git rev-parse --short HEAD)"', "0a1b2c3")
        commits = "" if "store add" in line else "".join(f"kymo store add perf --commit {commit} TRACE && " for commit in ("4f1c2aa", "9b02e11"))
        return self.run(f"cd {place} && {commits}{line}")

    def snapshot_of(self, line):
        """The recording, as if a trigger had fired half a second after its begin."""
        place = tempfile.mkdtemp(dir=self.work)
        shutil.copytree(os.path.join(self.work, "TRACE"), os.path.join(place, "SNAPSHOT"))
        with open(os.path.join(place, "SNAPSHOT", "kymo.json"), "r+", encoding="utf-8") as file:
            accounts = json.load(file)
            accounts["snapshot"] = {"cause": "trigger", "at_ns": accounts["start_ns"] + accounts["duration_ns"] // 2, "trigger": "chain(/scan -> /cmd_vel) > 1ms",
                                    "what": "/scan -> /cmd_vel", "value": 1}
            file.seek(0)
            json.dump(accounts, file)
            file.truncate()
        return self.run(f"cd {place} && {line} || [ $? = 6 ]")

    def switched(self, line):
        """In a home of its own, with a workspace in it."""
        home = tempfile.mkdtemp(dir=self.work)
        install = os.path.join(home, "ros2_ws", "install")
        os.makedirs(install)
        with open(os.path.join(install, ".colcon_install_layout"), "w", encoding="utf-8") as file:
            file.write("isolated\n")
        return self.run(line, HOME=home, XDG_CONFIG_HOME=os.path.join(home, ".config"))

    def incident(self, line):
        """Where a recorder kept the recording as an incident, and ended before it wrote more: nothing is complete, or uploaded."""
        place = tempfile.mkdtemp(dir=self.work)
        shutil.copytree(os.path.join(self.work, "TRACE"), os.path.join(place, "I", "20261124-031244", "trace"))
        return self.run(f"cd {place} && {line}", KYMO_INCIDENTS=os.path.join(place, "I"), AWS_ACCESS_KEY_ID="AKID", AWS_SECRET_ACCESS_KEY="s")

    def benched(self, line):
        """Both commands are a short program with spans; 6 pairs are enough."""
        line = re.sub(r"--(base|new) ('[^']*'|\S+)", rf"--\1 '{BUILD}/tests/spans_for 20000 30'", line).replace("--pairs 10", "--pairs 6")
        output = f"--output {tempfile.mkdtemp(dir=self.work)}/bench"
        line = line.replace(">", f"{output} >") if ">" in line else f"{line} {output}"
        return self.run(line, KYMO_DIR=os.path.join(self.work, "run-bench"))

    def checked(self, line):
        """In a place with a file of budgets that the trace keeps, and with runs."""
        place = tempfile.mkdtemp(dir=self.work)
        for name in ("TRACE", "test", "runs/1", "runs/2"):
            shutil.copytree(os.path.join(self.work, "TRACE"), os.path.join(place, name))
        with open(os.path.join(place, "callback_list.csv"), "w", encoding="utf-8") as file:
            file.write("/base_driver,subscription_callback,/cmd_vel,40\n")
        first = "" if "--init" in line else f"{KYMO} check --init -o budgets.yaml TRACE && "
        return self.run(f"cd {place} && {first}{line}")

    def compared(self, line):
        """Every run that it names is the recording that other lines read."""
        place = tempfile.mkdtemp(dir=self.work)
        for name in set(re.findall(r"(?:base|new)\d|\w+\.trace", line)) | {"runs/base/1", "runs/base/2", "runs/new/1", "runs/new/2"}:
            shutil.copytree(os.path.join(self.work, "TRACE"), os.path.join(place, name))
        return self.run(f"cd {place} && {line}")

    def prompt(self, line):
        return self.run(f"echo 'SELECT * FROM nodes' | {line}")


def scene_of(line):
    """(scene, exit statuses that are right); None where there is none."""
    return next(((scene, right) for pattern, scene, right in SCENES if re.search(pattern, line)), (None, None))


def needs_no_robot(line):
    """It reads traces, or starts what it records."""
    alone = ("read", "command", "lint", "without_clock", "opened", "prompt", "stored", "benched", "checked", "compared", "removed", "recover", "incident")
    return scene_of(line)[0] in alone and not re.search(r"4711|pidof|kymo (list|doctor|events)|live", line)


def perform(scenes, line, where):
    """Returns what is wrong with it, or None."""
    scene, right = scene_of(line)
    if not scene:
        return "no scene for it in examples.py"
    text = re.sub(r" &$", "", line)
    for pattern, instead in SWAPS:
        text = re.sub(pattern, instead, text)
    for name, value in scenes.names.items():
        text = text.replace("{" + name + "}", str(value))
    output = re.search(r"kymo (?:record|start|agent|live)\b.* -o (\S+)", text)
    if output:
        shutil.rmtree(os.path.join(scenes.work, output[1]), ignore_errors=True)
    output = re.search(r"kymo report .* -o (\S+)", text)
    if output:
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(scenes.work, output[1]))
    status, out = getattr(scenes, scene)(text)
    if len(sys.argv) > 1:
        print(f"-- {line}\n   {text}\n   {scene}: {status}\n{out[:2000]}")
    if status in right and "unknown option" not in out:
        return None
    return f"ran as: {text}\n   ended with {status}: {out[-600:]}"


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    lines = {line: where for line, where in commands().items() if re.search(wanted, line)}
    if not os.access(os.path.join(BUILD, "robot", "robot"), os.X_OK):
        print("skipped: examples/robot is not built")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="kymo-examples-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as work:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))	# what runs is ended, too
        scenes = Scenes(work)
        try:
            # Viewers first, while sessions are short: a viewer reads the index of a session from its beginning.
            # Then what looks at a robot that runs.
            for line, where in sorted(lines.items(), key=lambda item: ("kymo live" not in item[0], needs_no_robot(item[0]))):
                if "kymo live" not in line:
                    scenes.end_sending()
                if needs_no_robot(line):
                    scenes.end_robots()
                wrong = perform(scenes, line, where)
                if wrong:
                    failed += 1
                    print(f"FAILED: {line}  ({where})\n   {wrong}", flush=True)
        finally:
            scenes.end()
    print(f"{len(lines) - failed} of {len(lines)} examples work")
    return 1 if failed or (not wanted and len(lines) < 100) else 0


sys.exit(main())
