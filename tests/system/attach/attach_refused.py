#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""What kymo attach refuses, with the reason, and the program goes on: debuggers, stopped, static, setuid, sandboxed and 32-bit
programs, threads of the kernel, programs without tracepoints, a library that others may write to; other users' programs."""
import os
import shutil
import signal
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from lib_attach import SOURCES, HEADERS, TRACETOOLS, attach, begun, compile_all
from lib_test import BUILD, check, in_directory, private, run, running, stop, until

SLEEPER = """
#include <sys/prctl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static void on_end(int number) { (void)number; _exit(0); }
int main(int argc, char **argv)
{
	/* mmap kills, all else is allowed */
	struct sock_filter code[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
				      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { sizeof code / sizeof *code, code };

	(void)argv;
	signal(SIGTERM, on_end);
	puts("begun");
	fflush(stdout);
	if (argc > 1 && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)))
		return 1;
	for (;;)
		pause();
}
"""


def compiled(directory, name, *flags):
    source, program = os.path.join(directory, "sleeper.c"), os.path.join(directory, name)
    with open(source, "w", encoding="utf-8") as file:
        file.write(SLEEPER)
    run(os.environ.get("CC", "cc"), "-o", program, source, *flags)
    return program


def refused(environment, pid, *texts, words=(), status=(1, 3)):
    said = attach("attach", "-p", str(pid), *words, environment=environment, status=status).stderr
    check(all(text in said for text in texts), "attach says:", said, "and not", texts)


def seccomp(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return "Seccomp:\t2" in file.read()


def test_programs(directory, environment):
    plain = compiled(directory, "sleeper")
    with begun(plain) as process:
        refused(environment, process.pid, "calls a function that kymo records", "kymo doctor -p")
        refused(environment, process.pid, "calls a function that kymo records")
        check("kymo is not attached" in attach("detach", "-p", str(process.pid), environment=environment).stdout, "detach")
    with begun(plain, "sandbox") as process:
        until("the sandbox", lambda: seccomp(process.pid))
        refused(environment, process.pid, "sandboxed (seccomp)")
    with begun(plain) as process:
        stop(process.pid)
        refused(environment, process.pid, "is stopped", "kill -CONT")
        process.send_signal(signal.SIGCONT)
    with begun(compiled(directory, "static", "-static")) as process:
        refused(environment, process.pid, "statically linked")


def test_traced(environment, load):
    if not shutil.which("strace"):
        print("skipped in part: no strace")
        return
    with begun(load, "sleep", "2") as process:
        with running("strace", "-f", "-o", "/dev/null", "-p", str(process.pid), stderr=subprocess.DEVNULL) as strace:
            until("strace", lambda: f"TracerPid:\t{strace.pid}" in open(f"/proc/{process.pid}/status", encoding="utf-8").read())
            refused(environment, process.pid, f"process {strace.pid} already traces load")
            strace.send_signal(signal.SIGINT)
            strace.wait(300)
        check("attached" in attach("attach", "-p", str(process.pid), environment=environment).stdout, "after strace")


def test_words(environment, load):
    refused(environment, 2**22 + 1, "no process 4194305 exists", status=3)
    refused(environment, "no such robot", "no process is called no such robot", status=3)
    with begun(load, "sleep", "2") as process:
        threads = sorted(map(int, os.listdir(f"/proc/{process.pid}/task")))
        refused(environment, threads[1], f"{threads[1]} is a thread; name its process, {process.pid}")
        refused(environment, process.pid, "gave up", "the program is as it was", words=("--max-pause", "1us"))
        check("attached" in attach("attach", "-p", str(process.pid), environment=environment).stdout, "after giving up")
        check("looked again" in attach("attach", "-p", str(process.pid), environment=environment).stdout, "again")
    started = begun("env", "LD_PRELOAD=" + os.path.join(BUILD, "lib/libkymo-ros2.so"), load, "sleep", "2", env=environment)
    with started as process:
        until("its program", lambda: os.readlink(f"/proc/{process.pid}/exe") == load)
        check("was started with kymo" in attach("attach", "-p", str(process.pid), environment=environment).stdout, "preloaded")
        check("cannot be detached" in attach("detach", "-p", str(process.pid), environment=environment).stdout, "preloaded")


def test_library(directory, environment, load):
    """Another user may write to the copy of the library."""
    copy = os.path.join(directory, "open")
    os.mkdir(copy)
    os.chmod(copy, 0o777)
    shutil.copy(os.path.join(BUILD, "lib/libkymo-ros2.so"), copy)
    with begun(load, "sleep", "2") as process:
        refused(dict(environment, KYMO_PRELOAD=os.path.join(copy, "libkymo-ros2.so")), process.pid,
                "could be replaced by another user")
        os.chmod(copy, 0o755)
        open_too = os.path.join(copy, "libkymo-attach.so")
        shutil.copy(os.path.join(BUILD, "lib/libkymo-attach.so"), open_too)
        os.chmod(open_too, 0o666)
        refused(dict(environment, KYMO_PRELOAD=os.path.join(copy, "libkymo-ros2.so")), process.pid,
                "libkymo-attach.so could be replaced by another user")
        os.unlink(open_too)
        # libkymo.so and libkymo-attach.so are not beside it.
        refused(dict(environment, KYMO_PRELOAD=os.path.join(copy, "libkymo-ros2.so")), process.pid, "cannot load")


def test_users(directory, environment, load):
    if os.geteuid():
        print("skipped in part: not root, so there is no other user")
        return
    setuid = os.path.join(directory, "setuid")
    run(os.environ.get("CC", "cc"), "-std=gnu11", "-pthread", *HEADERS, "-o", setuid, os.path.join(SOURCES, "load.c"), *TRACETOOLS)
    os.chown(setuid, 1, 1)
    os.chmod(setuid, 0o4755)
    with begun(setuid, "sleep", "1") as process:
        refused(environment, process.pid, "setuid")
    with begun(load, "sleep", "1") as process:
        said = subprocess.run(["setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups",
                               os.path.join(BUILD, "bin/kymo"), "attach", "-p", str(process.pid)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, env=environment)
        check(said.returncode == 1 and "only root may attach to other users' programs" in said.stderr, said)


def test(directory):
    os.chmod(directory, 0o755)
    environment = private(directory)
    load = compile_all(directory)["load"]
    test_programs(directory, environment)
    test_traced(environment, load)
    test_words(environment, load)
    test_library(directory, environment, load)
    test_users(directory, environment, load)


in_directory(test)
