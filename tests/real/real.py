#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares kymo with a real installation of ROS 2.

usage: real.py --ros DIR [--more DIR] [--rmw NAME] [--only EXECUTOR]... [--seconds N] [--rounds N] [--keep DIR] [--write FILE] [-v]

Compiles the programs of this directory against DIR, runs them in each kind of executor, and records them unmodified: started with
kymo, and attached to later. The programs write down what they have and do (zoo.hpp); this prints whether the traces say the same, for
each kind of entity: right, absent, or wrong. Exits with 1 if anything is wrong.

  --more DIR     packages that are not in DIR: cm_executors, which has the EventsCBGExecutor where rclcpp has none
  --rounds N     instead: attach to each program and detach N times at random moments, and see that it ends with its own result
  --keep DIR     leave programs, logs and traces there; programs that are there already are not compiled again
  --write FILE   write the table into this page, between the two marks of this distribution and middleware; those of others stay

With RMW_FASTRTPS_USE_QOS_FROM_XML=1 in the environment, rmw_fastrtps_cpp lends the memory of messages.
"""
import argparse
import collections
import contextlib
import datetime
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../system/lib")]
from lib_attach import attach
from lib_test import KYMO, ros_domain, run
from zoo_log import KINDS, Comparison, Score

# Kinds of executors: the type that they must have, and how a program gets one.
EXECUTORS = {
    "single": "single_threaded_executor", "multi": "multi_threaded_executor", "static": "static_single_threaded_executor",
    "events": "events_executor", "events-timers": "events_executor", "events-cbg": "events_cbg_executor",
    "groups": "single_threaded_executor",
    "component_container": "single_threaded_executor", "component_container_mt": "multi_threaded_executor",
    "component_container_isolated": "single_threaded_executor",
    "ros2_control": "multi_threaded_executor",
    "rclpy-single": "single_threaded_executor", "rclpy-multi": "multi_threaded_executor",
    "rclpy-asyncio": "single_threaded_executor",
}
# Without Doer and Wisher: rclcpp_action may throw when a container ends by SIGINT, and the container with it.
COMPONENTS = ("Talker", "Listener", "Within", "Lent", "Generic", "Server", "Asker", "Living")
# Of control.cpp, and one of ros2_control itself.
CONTROLLERS = {"stepper": "kymo_zoo/Stepper", "joint_state_broadcaster": "joint_state_broadcaster/JointStateBroadcaster"}
QUESTIONS = ("events", "names", "latencies", "groups", "losses", "blocked")
# By the first number of rclcpp's version.
DISTRIBUTIONS = {"16": "Humble", "21": "Iron", "28": "Jazzy", "29": "Kilted"}
RMW = "rmw_cyclonedds_cpp"      # the tables of other middleware have a place of their own
HOWS = {"run": "kymo run", "attach": "kymo attach"}
# It lists neither its nodes nor their groups: after an attach, the names of most objects stay unknown.
WITHOUT_ATTACH = ("events-cbg",)


class Installation:
    """Programs for an installation of ROS 2, compiled into @directory."""
    def __init__(self, ros, more, directory, rmw):
        both = f"{more}:{ros}" if more else ros
        # Humble has some of its packages in the second.
        version = f"python3.{sys.version_info[1]}"
        python = f"{ros}/lib/{version}/site-packages", f"{ros}/local/lib/{version}/dist-packages"
        self.ros, self.directory, self.zoo = ros, directory, os.path.join(directory, "install")
        self.environment = dict(
            os.environ, AMENT_PREFIX_PATH=f"{self.zoo}:{both}", CMAKE_PREFIX_PATH=both,
            LD_LIBRARY_PATH=":".join(f"{prefix}/lib" for prefix in (self.zoo, *both.split(":"))),
            PYTHONPATH=":".join(python), RMW_IMPLEMENTATION=rmw, ROS_LOG_DIR=directory,
            ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST", ROS_DOMAIN_ID=str(ros_domain()),
            KYMO_DIR=os.path.join(directory, "run"), KYMO_PAGER="")
        if self.version("rclcpp").startswith("16."):    # Humble does not know the discovery range
            self.environment["ROS_LOCALHOST_ONLY"] = "1"

    def compile(self):
        if os.path.exists(f"{self.zoo}/lib/kymo_zoo/zoo"):
            return
        build = os.path.join(self.directory, "build")
        run("cmake", "-G", "Ninja", "-S", HERE, "-B", build, "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0",
            f"-DCMAKE_INSTALL_PREFIX={self.zoo}", "-DBUILD_TESTING=OFF", "-DPython3_EXECUTABLE=/usr/bin/python3", env=self.environment)
        done = run("cmake", "--build", build, "--target", "install", env=self.environment, status=None)
        if done.returncode:
            sys.exit("real.py: the programs do not compile:\n" + done.stdout[-5000:])

    def version(self, package):
        path = os.path.join(self.ros, "share", package, "package.xml")
        if not os.path.exists(path):
            return "none"
        with open(path, encoding="utf-8") as file:
            return file.read().partition("<version>")[2].partition("<")[0].strip()

    def executors(self):
        """The kinds of executors that it has."""
        rclpy = any(os.path.isdir(f"{path}/rclpy") for path in self.environment["PYTHONPATH"].split(":"))
        usage = run(f"{self.zoo}/lib/kymo_zoo/zoo", env=self.environment, status=2).stderr.strip().split(" ")[-1].split("|")
        has = {"rclpy": rclpy, "component": True, "ros2": os.path.exists(f"{self.zoo}/lib/kymo_zoo/control_load")}
        return [name for name in EXECUTORS if has.get(re.split("[-_]", name)[0], name in usage)]

    def words(self, executor):
        """The program whose nodes run in this executor, and its arguments."""
        if executor.startswith("component"):
            return [f"{self.ros}/lib/rclcpp_components/{executor}"]
        if executor.startswith("rclpy-"):
            return [sys.executable, f"{HERE}/zoo.py", executor[6:]]
        if executor == "ros2_control":
            types = [word for name, type_ in CONTROLLERS.items() for word in ("-p", f"{name}.type:={type_}")]
            return [f"{self.ros}/lib/controller_manager/ros2_control_node", "--ros-args", "-p", "update_rate:=100", *types]
        return [f"{self.zoo}/lib/kymo_zoo/zoo", executor]

    @contextlib.contextmanager
    def running(self, executor, log, preloaded):
        """A program whose nodes run in this executor. It ends with 0, and has written @log then."""
        # Some executors spin busily; a thread for each group has less to say than memory for a ring.
        self.environment["KYMO_RING_SIZE"] = "512K" if executor == "groups" else "4M"
        environment = dict(self.environment, ZOO_LOG=log)
        words = self.words(executor)
        with subprocess.Popen([KYMO, "run", "--", *words] if preloaded else words, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as process:
            try:
                if executor.startswith("component"):
                    run(f"{self.zoo}/lib/kymo_zoo/load", *COMPONENTS, env=self.environment, timeout=120)
                elif executor == "ros2_control":
                    run(f"{self.zoo}/lib/kymo_zoo/control_load", *CONTROLLERS, env=self.environment, timeout=120)
                else:
                    said = ""
                    for line in process.stdout:
                        if line == "begun\n":
                            break
                        said += line
                    else:
                        raise AssertionError(f"{executor} ended before it began: {said[-2000:]}")
                time.sleep(1)           # until the nodes have discovered each other
                yield process
                if executor == "component_container_isolated":  # in Humble, it may wait forever for its nodes at SIGINT
                    ids = map(str, range(1, len(COMPONENTS) + 1))
                    run(f"{self.zoo}/lib/kymo_zoo/load", "-u", *ids, env=self.environment, timeout=120)
                process.send_signal(signal.SIGINT)
                said = process.communicate(timeout=60)[0]
                if process.returncode:
                    raise AssertionError(f"{executor} ended with {process.returncode}: {said[-2000:]}")
            finally:
                if process.poll() is None:
                    process.kill()


def compare(its, executor, how, options):
    """Return: {kind of entity: {question: Score}}."""
    name = os.path.join(its.directory, f"{executor}-{how}")
    log, trace = name + ".log", name
    shutil.rmtree(trace, ignore_errors=True)     # of an earlier run with --keep
    with its.running(executor, log, how == "run") as process:
        words = ["--attach", "-p", str(process.pid)] if how == "attach" else ["-p", str(process.pid)]
        run(KYMO, "record", *words, "-d", f"{options.seconds}s", "-o", trace, env=its.environment)
        if how == "attach":
            attach("detach", "-p", str(process.pid), environment=its.environment)
    comparison = Comparison(trace, log, lambda node: EXECUTORS[executor])
    return {kind: {question: getattr(comparison, question)(nodes) for question in QUESTIONS} for kind, nodes in KINDS.items()}


def one_score(scores):
    """All kinds of entities together."""
    total = Score()
    for score in scores:
        total.right += score.right
        total.absent += score.absent
        total.wrong += score.wrong
    return total


def table(results, together):
    """The results as a table of Markdown. @together: one row for all kinds of entities."""
    head = ["executor", "recorded with", *([] if together else ["entities"]),
            *(question.replace("blocked", "blocked by") for question in QUESTIONS)]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for (executor, how), kinds in results.items():
        totals = [one_score(scores[question] for scores in kinds.values()) for question in QUESTIONS]
        rows = [[f"{score} ({score.right})" if score.right else str(score) for score in totals]] if together else [
            [kind, *(str(scores[question]) for question in QUESTIONS)] for kind, scores in kinds.items()]
        for row in rows:
            lines.append("| " + " | ".join([executor, HOWS[how], *row]) + " |")
    return "\n".join(lines)


def absences(results):
    """A list in Markdown of what was absent, and in which rows; messages are not listed one by one."""
    rows = collections.defaultdict(dict)
    for (executor, how), kinds in results.items():
        for scores in kinds.values():
            for question, score in scores.items():
                for fact in score.absent:
                    fact = re.sub(r"^((?:publications|latency) of .*) \d+$", r"\1", fact)
                    rows[f"{question}: {fact}"][f"{executor} with `{HOWS[how]}`"] = None
    return [f"- {fact} ({len(where)} rows)" if len(where) > 3 else f"- {fact} ({', '.join(where)})" for fact, where in rows.items()]


def write(path, its, results):
    """Put the table into the page at @path, between the marks of the distribution."""
    rclcpp, rmw = its.version("rclcpp"), its.environment["RMW_IMPLEMENTATION"]
    name = DISTRIBUTIONS.get(rclcpp.partition(".")[0], "rclcpp " + rclcpp) + (f" with {rmw}" if rmw != RMW else "")
    mark = f"<!-- real.py writes {name} from here -->\n"
    with open(path, encoding="utf-8") as file:
        before, begin, rest = file.read().partition(mark)
    if not begin:
        sys.exit(f"real.py: {path} has no place for the table: add the lines {mark}<!-- to here -->")
    _, end, after = rest.partition("<!-- to here -->")
    absent = absences(results)
    packages = "rclcpp", "rclpy", "rcl", rmw, "tracetools"
    versions = ", ".join(f"{package} {its.version(package)}" for package in packages)
    said = "Absent:\n\n" + "\n".join(absent[:20]) + "\n" if absent else "Nothing was absent.\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{begin}{datetime.date.today()}: {versions}.\n\n{table(results, True)}\n\n{said}{end}{after}")


def complain(results, verbose):
    """Print what is wrong, or absent. Return: the number of wrong cells."""
    wrong = 0
    for (executor, how), kinds in results.items():
        for kind, scores in kinds.items():
            for question, score in scores.items():
                wrong += bool(score.wrong)
                for text in score.wrong[:5 if not verbose else None]:
                    print(f"WRONG: {executor}, {how}, {kind}, {question}: {text}")
                for text in score.absent[:None if verbose else 0]:
                    print(f"absent: {executor}, {how}, {kind}, {question}: {text}")
    return wrong


def matrix(its, options):
    results = {}
    for executor in options.only or its.executors():
        for how in HOWS if executor not in WITHOUT_ATTACH else ("run",):
            results[executor, how] = compare(its, executor, how, options)
            wrong = complain({(executor, how): results[executor, how]}, options.verbose)
            print(f"{executor}, {how}: {wrong} wrong cells", flush=True)
    return results


def rounds(its, options):
    """Attach and detach at random moments."""
    for executor in options.only or its.executors():
        done, refused = 0, 0
        with its.running(executor, os.path.join(its.directory, "rounds.log"), False) as process:
            for _ in range(options.rounds):
                time.sleep(random.random() / 20)
                for verb in "attach", "detach":
                    said = run(KYMO, verb, "-p", str(process.pid), env=its.environment, status=None)
                    refused += said.returncode != 0
                    if said.returncode and options.verbose:
                        print(said.stderr.strip())
                if process.poll() is not None:
                    raise AssertionError(f"{executor} ended with {process.returncode} in round {done + 1}, {refused} orders refused")
                done += 1
        print(f"{executor}: {done} rounds of {options.rounds}, {refused} orders refused, it ended with 0", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2].partition("\n")[0], description=__doc__.partition("\n\n")[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ros", required=True)
    parser.add_argument("--more")
    parser.add_argument("--rmw", default=RMW)
    parser.add_argument("--only", action="append", choices=EXECUTORS)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--keep")
    parser.add_argument("--write")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        directory = options.keep or stack.enter_context(tempfile.TemporaryDirectory(prefix="kymo-real."))
        os.makedirs(directory, exist_ok=True)
        its = Installation(os.path.abspath(options.ros), options.more and os.path.abspath(options.more), os.path.abspath(directory), options.rmw)
        its.compile()
        if options.rounds:
            rounds(its, options)
            return 0
        results = matrix(its, options)
        print(table(results, False))
        if options.write:
            write(options.write, its, results)
        return complain(results, False) > 0


sys.exit(main())
