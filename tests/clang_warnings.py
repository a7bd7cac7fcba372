#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does clang accept every C file, without a warning? usage: clang_warnings.py BUILD

BUILD is configured with Ninja and clang, and need not be built: the files that other files include are generated here.
clang parses and checks the files, and writes no objects. Most of the time of a run of clang is its start, so one run
checks all files that have the same options.
"""
import concurrent.futures, json, os, pathlib, shlex, subprocess, sys

MOST = 40  # files of one run of clang

build = pathlib.Path(sys.argv[1]).resolve()


def ninja(*words):
    return subprocess.run(["ninja", "-C", build, "-t", *words], check=True, capture_output=True, text=True).stdout.splitlines()


# The commands that generate sources, alone: ninja itself would first build the libraries that these sources use.
for name in ninja("targets", "rule", "CUSTOM_COMMAND"):
    if name.endswith((".h", ".c")) and not name.startswith("/") and not (build / name).exists():
        subprocess.run(ninja("commands", name)[-1], shell=True, cwd=build, check=True)

groups = {}  # directory and options: the files
for entry in json.loads((build / "compile_commands.json").read_text()):
    words = shlex.split(entry["command"])
    name = os.path.basename(words[0])
    if not name.startswith("clang") or name.startswith("clang++"):
        continue
    at = words.index("-o")
    options = [word for word in words[:at] + words[at + 2:] if word not in ("-c", entry["file"])]
    groups.setdefault((entry["directory"], *options), []).append(entry["file"])


def check(directory, options, files):
    """Only the compiler proper takes several files; the driver says how it is called."""
    said = subprocess.run([*options, "-fsyntax-only", "-###", files[0]], cwd=directory, capture_output=True, text=True, check=True).stderr
    call = shlex.split(next(line for line in said.splitlines() if '"-cc1"' in line))
    call.remove(files[0])
    done = subprocess.run([*call, *files], cwd=directory, capture_output=True, text=True)
    return done.returncode, done.stderr


runs = [(options[0], options[1:], files[i:i + MOST]) for options, files in groups.items() for i in range(0, len(files), MOST)]
failed = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for status, said in pool.map(lambda run: check(*run), runs):
        failed += status != 0
        print(said, end="")
count = sum(len(run[2]) for run in runs)
print(f"{count} files checked by {len(runs)} runs of clang, {failed} of them with errors")
sys.exit(failed > 0 or not count)
