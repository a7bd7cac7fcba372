#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""kymo attach and detach at random times, while programs allocate, compute, throw, fork, load libraries, wait and take signals, and
while a stand-in for rclcpp runs executors: each program goes on, with the same result. Programs that kymo attach must refuse (in a
debugger, sandboxed, static, of musl, setuid) go on, too, and it says why.

usage: attach_load.py [ROUNDS [KIND...]]     for each program; KYMO_ATTACH_ROUNDS=ROUNDS"""
import contextlib
import os
import random
import shutil
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from lib_attach import HEADERS, SOURCES, attach, begun, compile_all, compile_late, setuid_of
from lib_test import SOURCE, check, in_directory, private, run, running, until

ROUNDS = int((sys.argv[1:] or [os.environ.get("KYMO_ATTACH_ROUNDS", "1")])[0])
# What attach says to those that it refuses; None: it does not.
KINDS = {"allocate": None, "compute": None, "fork": None, "load": None, "epoll": None, "sleep": None, "signals": None, "throw": None,
         "stripped": None, "rclcpp": None, "debugger": "already traces", "sandbox": "sandboxed (seccomp)", "static": "statically linked",
         "musl": "musl", "setuid": "setuid"}
SLOW = ("compute", "fork", "rclcpp", "musl")      # left out of the suite's single round
WORDS = sys.argv[2:] or [kind for kind in KINDS if ROUNDS > 1 or kind not in SLOW]


def rounds(pid, environment, why):
    for _ in range(ROUNDS):
        time.sleep(random.random() * 0.03)
        done = attach("attach", "-p", str(pid), environment=environment, status=(0, 1))
        if why:
            check(done.returncode == 1 and why in done.stderr, done, "and not", why)
            continue
        check("attached" in done.stdout or "looked again" in done.stdout, done)
        time.sleep(random.random() * 0.03)
        said = attach("detach", "-p", str(pid), environment=environment).stdout
        check("detached" in said, said)


def alone(directory, name, compiler, *flags):
    """load with the empty tracetools in it."""
    program = os.path.join(directory, name)
    run(compiler, "-std=gnu11", "-O1", "-w", "-pthread", "-DSTUB_MAJOR=8", "-DSTUB_MINOR=2", *HEADERS, *flags, "-o", program,
        os.path.join(SOURCES, "load.c"), os.path.join(SOURCE, "examples/tracetools-stub/stub.c"))
    return program


def musl(directory):
    kernel = os.path.join(directory, "kernel")    # the kernel's headers, and nothing of glibc beside them
    os.makedirs(kernel, exist_ok=True)
    for name, place in (("linux", "/usr/include/linux"), ("asm", "/usr/include/x86_64-linux-gnu/asm"),
                        ("asm-generic", "/usr/include/asm-generic")):
        if not os.path.lexists(os.path.join(kernel, name)):
            os.symlink(place, os.path.join(kernel, name))
    return alone(directory, "musl", "musl-gcc", "-I" + kernel)


def command(directory, made, kind, threads):
    """Return: a program and its arguments; None: cannot be made here, which is said."""
    reason, compiler = None, os.environ.get("CC", "cc")
    program = [made["load"], kind if kind in ("allocate", "compute", "fork", "load", "epoll", "sleep", "signals") else "allocate",
               threads, made["plugin.so"]]
    if kind in ("throw", "rclcpp"):
        reason = None if "throw" in made else "there is no C++ compiler"
        program = None if reason else [made["throw"], threads] if kind == "throw" else [compile_late(directory)]
    elif kind == "stripped":
        program[0] = os.path.join(directory, "stripped")
        run("strip", "-s", "-o", program[0], made["load"])
    elif kind == "sandbox":
        program.append("sandbox")
    elif kind == "static":
        program[0] = alone(directory, "static", compiler, "-static")
    elif kind == "musl":
        reason = None if shutil.which("musl-gcc") else "there is no musl-gcc"
        program[0] = program[0] if reason else musl(directory)
    elif kind == "setuid":
        reason = "not root, so there is no other user" if os.geteuid() else None
        program[0] = program[0] if reason else setuid_of(directory, made["load"])
    elif kind == "debugger":
        reason = None if shutil.which("gdb") else "there is no gdb"
    if reason:
        print("skipped in part:", reason)
    return None if reason else program


@contextlib.contextmanager
def debugger(pid):
    """gdb lets the program run, and detaches at the end."""
    with running("gdb", "-nx", "-q", "--interpreter=mi2", "-iex", "set mi-async on", "-p", str(pid), stdin=subprocess.PIPE,
                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as gdb:
        def says(order, answer):
            gdb.stdin.write(order)
            gdb.stdin.flush()
            for line in gdb.stdout:
                if line.startswith(answer):
                    return
            check(False, "gdb ended without", answer)

        says("", "*stopped")
        says("-exec-continue\n", "*running")
        yield
        says("-exec-interrupt --all\n", "*stopped")
        says("-target-detach\n-gdb-exit\n", "^exit")


def test(directory):
    os.chmod(directory, 0o755)
    environment = private(directory)
    made = compile_all(directory)
    for kind in WORDS:
        for threads in ("1", "5") if ROUNDS > 1 or kind in ("allocate", "load") else ("5",):
            its = command(directory, made, kind, threads)
            if not its:
                continue
            with begun(*its) as process, debugger(process.pid) if kind == "debugger" else contextlib.nullcontext():
                rounds(process.pid, environment, KINDS[kind])
            print(f"{kind}, {threads} threads: {ROUNDS} rounds{', refused' if KINDS[kind] else ''}", flush=True)


in_directory(test)
