#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""examples/ci/bench.sh: a commit that is slower than the one that its branch began at fails, also as the jobs of GitHub and GitLab call it."""
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

import yaml

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, TESTS, check, private

CI = os.path.join(os.environ["KYMO_SOURCE"], "examples/ci")


def jobs():
    """What both services run, and with which variables."""
    with open(os.path.join(CI, "github-bench.yml"), encoding="utf-8") as file:
        step = yaml.safe_load(file)["jobs"]["bench"]["steps"][1]
    yield "github", step["env"], step["run"]
    with open(os.path.join(CI, "gitlab-bench.yml"), encoding="utf-8") as file:
        job = yaml.safe_load(file)["bench"]
    yield "gitlab", job["variables"], "\n".join(job["script"])


def make_repository(place, environment):
    """main is ten times quicker than the branch; the build writes the setup file that the jobs read."""
    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.example", *words], cwd=place, check=True, env=environment,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    git("init", "-q", "-b", "main")
    for branch, ns in (("main", 100000), ("slower", 1000000)):
        with open(os.path.join(place, "build.sh"), "w", encoding="utf-8") as file:
            file.write(f"mkdir -p install; echo 'ros2() {{ {TESTS}/spans_for {ns} 120; }}' >install/setup.sh\n")
        if branch != "main":
            git("checkout", "-q", "-b", branch)
        git("add", "build.sh")
        git("commit", "-q", "-m", branch)
    git("remote", "add", "origin", ".")
    git("fetch", "-q", "origin")


def main():
    with tempfile.TemporaryDirectory() as place:
        repository = os.path.join(place, "robot")
        os.mkdir(repository)
        environment = {**private(place), "PATH": os.path.dirname(KYMO) + ":" + os.environ["PATH"], "BUILD": "sh build.sh"}
        make_repository(repository, environment)
        os.symlink(CI, os.path.join(repository, "ci"))
        for service, variables, script in jobs():
            check("ci/bench.sh" in script, service, script)
            own = {"github": {"GITHUB_ACTIONS": "true", "BASE": "origin/main"},
                   "gitlab": {"GITLAB_CI": "true", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}}[service]
            done = subprocess.run(["sh", "-ec", script.replace("exec ros2", "ros2")], cwd=repository, capture_output=True, text=True, check=False,
                                  env={**environment, **{name: str(value) for name, value in variables.items()}, **own, "PLACE": service})
            check(done.returncode == 5, service, "exits with", done.returncode, done.stdout, done.stderr)
            check("WORSE      span control:step" in done.stdout and ("::error " in done.stdout) == (service == "github"), done.stdout)
            suite = tree.parse(os.path.join(repository, service, "bench.xml")).getroot()
            check(int(suite.get("failures")) > 0 and os.path.exists(os.path.join(repository, service, "diff.html")), service)
            listed = subprocess.run(["git", "worktree", "list"], cwd=repository, capture_output=True, text=True, check=True).stdout
            check(len(listed.splitlines()) == 1, "the sources of the base stay:", listed)
        check(os.path.exists(os.path.join(repository, "gl-code-quality-report.json")), "no report for GitLab")


main()
