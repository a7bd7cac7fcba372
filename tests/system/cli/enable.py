#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain, quick
"""`kymo enable` and `kymo disable`: a program gets the library, once from what systemd makes of environment.d, once from the setup
files of a workspace; twice is as once; what was there before is there afterwards; files of others are left alone."""
import json
import os
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, check, in_directory

GENERATOR = "/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator"
NOTHING = 6


def run(*words, status=0, **more):
    done = subprocess.run([KYMO, *words], capture_output=True, text=True, timeout=300, check=False, env=dict(os.environ, **more))
    check(done.returncode == status, words, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def listing(directory):
    return sorted(os.path.join(at, name) for at, directories, files in os.walk(directory) for name in directories + files)


def state(*words, status=0):
    return json.loads(run("enable", "--status", "--format", "json", *words, status=status))["enabled"][0]


def of_user(home):
    """@home has something else in environment.d, or not even that."""
    before = listing(home)
    check(state(status=NOTHING)["state"] == "off", "off")
    run("enable")
    written = state()
    with open(written["file"], encoding="utf-8") as file:
        text = file.read()
    check("nothing to do" in run("enable"), "a second time")
    check("programs of this user start with" in run("doctor"), "doctor does not know")
    if os.access(GENERATOR, os.X_OK):
        made = subprocess.run([GENERATOR], capture_output=True, text=True, check=True, timeout=300).stdout
        check(f"LD_PRELOAD={written['library']}\n" in made and "TRACETOOLS_RUNTIME_DISABLE=1\n" in made, made)
    run("enable", "--flight")
    with open(written["file"], encoding="utf-8") as file:
        check(file.read() == text + "KYMO_FLIGHT=1\n", "--flight")
    with open(written["file"], "w", encoding="utf-8") as file:
        file.write(text.replace(written["library"], "/nowhere/libkymo-ros2.so"))
    check(state()["state"] == "library missing" and "does not exist" in run("doctor", status=1), "gone")
    run("disable")
    check(listing(home) == before, before, listing(home))
    check("nothing to do" in run("disable"), "a second time")


def of_workspace(directory, layout):
    """setup.bash of colcon: each package that its index names; lines of package.dsv without a type are an error to it."""
    install = os.path.join(directory, layout, "install")
    prefix = os.path.join(install, "kymo_preload") if layout == "isolated" else install
    os.makedirs(os.path.join(install, "share/colcon-core/packages") if layout == "merged" else install)
    with open(os.path.join(install, ".colcon_install_layout"), "w", encoding="utf-8") as file:
        file.write(layout + "\n")
    before = listing(install)
    words = "--workspace", os.path.join(directory, layout)
    run("enable", *words, "--flight")
    check("nothing to do" in run("enable", "-w", install, "--flight"), "a second time, by its install space")
    check(os.path.isfile(os.path.join(prefix, "share/colcon-core/packages/kymo_preload")), "the index of colcon")
    with open(os.path.join(prefix, "share/kymo_preload/package.dsv"), encoding="utf-8") as file:
        lines = [line.split(";") for line in file.read().splitlines()]
    check(all(line[0] in ("prepend-non-duplicate", "set", "set-if-unset") and len(line) == 3 for line in lines), lines)
    values = {name: value for _, name, value in lines}
    check(values["LD_PRELOAD"] == state(*words)["library"] and values["KYMO_FLIGHT"] == "1", values)
    run("disable", *words)
    check(listing(install) == before, before, listing(install))


def refused(directory):
    mine = os.path.join(directory, "mine/environment.d/50-kymo.conf")
    os.makedirs(os.path.dirname(mine))
    with open(mine, "w", encoding="utf-8") as file:
        file.write("LD_PRELOAD=/usr/lib/mine.so\n")
    for verb in "enable", "disable":
        check("not written by kymo" in run(verb, status=1, XDG_CONFIG_HOME=os.path.join(directory, "mine")), verb)
    check(os.path.getsize(mine) == 28, "my file")
    check("not a workspace" in run("enable", "--workspace", directory, status=3), "no workspace")
    check("one at a time" in run("enable", "--user", "-w", directory, status=2), "both")
    broken = os.path.join(directory, "libkymo-ros2.so")
    with open(broken, "w", encoding="utf-8") as file:
        file.write("no library")
    check("the loader rejects" in run("enable", status=1, KYMO_PRELOAD=broken), "a library that is none")
    check(state(status=NOTHING)["state"] == "off", "nothing was written")


def main(directory):
    home = os.path.join(directory, "home")
    os.mkdir(home)
    os.environ.update(HOME=home, KYMO_DIR=os.path.join(directory, "run"))
    for name in "XDG_CONFIG_HOME", "LD_PRELOAD":
        os.environ.pop(name, None)
    of_user(home)
    os.makedirs(os.path.join(home, ".config/environment.d"))
    of_user(home)
    for layout in "merged", "isolated":
        of_workspace(directory, layout)
    refused(directory)


in_directory(main)
