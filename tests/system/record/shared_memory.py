#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Files in the runtime directory that another process shortens while a verb has them mapped, and a runtime directory that is full.

A program whose region is cut off dies of it, as it would of any damage to its own memory. No verb of kymo does: it names the file and
the process, and goes on with the others."""
import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, TESTS, accounts, check, fewer, in_directory, private, ros_domain, run, running, until

NUMBERS = os.path.join(TESTS, "numbers")
SIZES = (0, 4096, 65536, 290816)        # nothing; the header; a part of the init log; a part of the rings


def regions(env):
    return set(glob.glob(env["KYMO_DIR"] + "/*.region"))


@contextlib.contextmanager
def program(env, out, user=None):
    """A traced program that emits 1000 numbers a second. Yields its process and its region."""
    before = regions(env)
    with running(KYMO, "run", "--", NUMBERS, "--threads", "1", "--rate", "1000", "--seconds", "300", out, env=env, user=user,
                 stderr=subprocess.DEVNULL) as process:
        yield process, until("its region", lambda: regions(env) - before).pop()


def made(env):
    os.mkdir(env["KYMO_DIR"], 0o700)
    return env


def text(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def status_text(env):
    return run(KYMO, "status", "--format", "csv", env=env).stdout


def region_under_record(directory):
    """Each size, once for good, and once as if nothing had happened: the file is long again at the next look."""
    for size in SIZES:
        for again in False, True:
            place = os.path.join(directory, f"{size}-{again}")
            os.mkdir(place)
            env, trace = made(private(place)), os.path.join(place, "trace")
            with open(os.path.join(place, "err"), "w") as err, \
                    running(KYMO, "record", "-o", trace, env=env, stderr=err, stdout=subprocess.DEVNULL) as recorder:
                with program(env, os.path.join(place, "sound")) as (sound, _):
                    with program(env, os.path.join(place, "cut")) as (cut, region):
                        until("two that are recorded", lambda: status_text(env).count(",record,") >= 2)
                        whole = os.path.getsize(region)
                        os.truncate(region, size)
                        if again:
                            until("its end by SIGBUS", lambda: cut.poll() is not None)
                            os.truncate(region, whole)
                        said = f"process {cut.pid} (numbers) is not recorded any more: its region {region} was truncated"
                        if not again:
                            until("the report", lambda: recorder.poll() is not None or said in text(err.name))
                    check(recorder.poll() is None, "the recorder ended", size, again, text(err.name))
                    before = status_text(env)
                    until("more events", lambda: status_text(env) != before)
                    for verb in "pause", "resume", "status", "doctor":
                        run(KYMO, verb, env=env, status=(0, 1) if verb == "doctor" else 0)
                    check(sound.poll() is None, "the other program ended")
                recorder.send_signal(signal.SIGINT)
                check(recorder.wait() == 0, "status", recorder.returncode, size, again, text(err.name))
            check(again or said in text(err.name), "not said:", text(err.name))
            others = [one for one in accounts(trace)["processes"] if one["pid"] == sound.pid]
            check(others and others[0]["recorded"] > 0, "events of the other program", accounts(trace)["processes"])
            run("babeltrace2", "-o", "dummy", trace)


def region_under_start(directory):
    """All verbs that talk to a recorder in the background, while one of its regions is gone."""
    env, trace = made(private(directory)), os.path.join(directory, "trace")
    with program(env, os.path.join(directory, "sound")) as (sound, _), program(env, os.path.join(directory, "cut")) as (cut, region):
        run(KYMO, "start", "-o", trace, env=env)
        os.kill(cut.pid, signal.SIGSTOP)        # it lives on, and does not touch its memory
        os.truncate(region, 0)
        for words in (["status"], ["pause"], ["resume"], ["sink", "add", os.path.join(directory, "second")], ["sink", "list"],
                      ["filter", "show"], ["sink", "remove", os.path.join(directory, "second")], ["doctor"], ["stop"]):
            done = run(KYMO, *words, env=env, status=None)
            check(done.returncode in (0, 1) if words[0] == "doctor" else done.returncode == 0, words, done)
        check(f"process {cut.pid} (numbers) is not recorded any more: its region {region} was truncated" in text(trace + ".log"),
              text(trace + ".log"))
        check(any(one["pid"] == sound.pid and one["recorded"] for one in accounts(trace)["processes"]), "the other program")


def domain_truncated(directory):
    """The page that tells new programs to record."""
    env, trace = made(private(directory)), os.path.join(directory, "trace")
    page = os.path.join(env["KYMO_DIR"], "domain")
    with program(env, os.path.join(directory, "sound")):
        run(KYMO, "start", "-o", trace, env=env)
        for size in 0, 100:
            os.truncate(page, size)
            until("the page", lambda: os.path.getsize(page) >= 4096 and trace in run(KYMO, "status", env=env).stdout)
            for verb in "pause", "resume", "status":
                run(KYMO, verb, env=env)
        with program(env, os.path.join(directory, "later")) as (later, _):
            until("a program that starts later", lambda: status_text(env).count(",record,") == 2)
        os.truncate(page, 0)
        until("the page", lambda: os.path.getsize(page) >= 4096 and trace in run(KYMO, "status", env=env).stdout)
        run(KYMO, "stop", env=env)
    said = text(trace + ".log")
    check(said.count(f"{page} was truncated by another process, and written again") == 1, said)
    check(any(one["pid"] == later.pid and one["recorded"] for one in accounts(trace)["processes"]), "the later program")
    check(accounts(trace)["totals"]["recorded"] > 0, "events", accounts(trace)["totals"])


def domain_at_the_end(directory):
    """The page is gone at the moment when the recorder tells programs to end."""
    env, trace = made(private(directory)), os.path.join(directory, "trace")
    page = os.path.join(env["KYMO_DIR"], "domain")
    with program(env, os.path.join(directory, "sound")), \
            running(KYMO, "record", "-q", "-o", trace, env=env, stderr=subprocess.PIPE, text=True) as recorder:
        until("the recording", lambda: ",record," in status_text(env))
        os.kill(recorder.pid, signal.SIGSTOP)
        os.truncate(page, 0)
        recorder.send_signal(signal.SIGINT)
        os.kill(recorder.pid, signal.SIGCONT)
        said = recorder.communicate()[1]
        check(recorder.returncode == 0, "status", recorder.returncode, said)
    check(accounts(trace)["totals"]["recorded"] > 0, "events", accounts(trace)["totals"])


class Flickering:
    """A file that is long, then short, then long again, for the length of a `with`."""

    def __init__(self, path):
        self.path, self.ends = path, False
        with open(path, "rb") as file:
            self.content = file.read()
        self.thread = threading.Thread(target=self.work)

    def work(self):
        size = 0
        while not self.ends:
            with os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
                file.write(self.content)
                file.flush()
                time.sleep(0.0005)
                size = (size + 65536 + 4096) % len(self.content)
                file.truncate(size)
            time.sleep(0.0002)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ends = True
        self.thread.join()


def region_that_flickers(directory):
    """Verbs that have a region mapped for a moment only: of a program that keeps its last events itself, and of one that died."""
    env = made(private(directory, KYMO_FLIGHT="1"))
    with program(env, os.path.join(directory, "n")) as (one, region):
        until("its events", lambda: ",flight," in status_text(env) or ",record," in status_text(env))
        os.kill(one.pid, signal.SIGSTOP)
        with Flickering(region):
            for i in fewer(range(30)):
                for words in (["status"], ["doctor"], ["snapshot", "-o", f"{directory}/s{i}"], ["record", "-o", f"{directory}/r{i}", "-d", "0.02"]):
                    done = run(KYMO, *words, env=env, status=None)
                    check(done.returncode >= 0, words, done)
        one.kill()
        one.wait()
        with Flickering(region):
            for i in fewer(range(30)):
                done = run(KYMO, "recover", "-o", f"{directory}/d{i}", env=env, status=None)
                check(done.returncode >= 0, "recover", done)


def agent_beside_it(directory):
    """`kymo agent` looks at the regions again and again."""
    env = made(private(directory, ROS_DOMAIN_ID=str(ros_domain())))
    with program(env, os.path.join(directory, "n")) as (one, region), \
            running(KYMO, "agent", env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as agent:
        check(agent.stdout.readline(), "the agent did not begin")
        os.kill(one.pid, signal.SIGSTOP)
        with Flickering(region):
            time.sleep(1)       # it looks five times a second
        check(agent.poll() is None, "the agent ended", agent.returncode)


FULL = """
mount -t tmpfs -o size=64k,mode=1777 none "$1" && mkdir -m 700 "$1/run" && export KYMO_DIR="$1/run" && "$2" run -- true || exit 77
head -c 1M /dev/zero >"$1/fill" 2>/dev/null
"$2" record -o "$3" -- sh -c "touch '$3.ran'"; echo "record $?"
HOME="$3.home" "$2" record --relay net://127.0.0.1:1 -- true; echo "relay $?"
"$2" start -o "$3"; echo "start $?"
"$2" top --once; echo "top $?"
"$2" serve -l 127.0.0.1:0; echo "serve $?"
"$2" status >/dev/null; echo "status $?"
"$2" stop; echo "stop $?"
"$2" run -- true; echo "run $?"
rm "$1/fill"
"$2" record -o "$3" -- "$4" --rate 1000 --seconds 0.1 "$3.m" >/dev/null; echo "little $?"
umount "$1"; mkdir -m 700 "$KYMO_DIR"; "$2" record -o "$3" -- "$4" --rate 1000 --seconds 0.1 "$3.n" >/dev/null; echo "after $?"
"""


def full(directory):
    """No room for a page: that is an error with its reason, and not a signal."""
    place = os.path.join(directory, "full")
    os.mkdir(place)
    done = run("unshare", "-m", "sh", "-c", FULL, "sh", place, KYMO, os.path.join(directory, "trace"), NUMBERS, status=None)
    if done.returncode == 77 or "unshare" in done.stderr:
        print("skipped in part: mounting a tmpfs:", done.stderr.strip())
        return
    check(done.stdout.split() == "record 1 relay 1 start 1 top 1 serve 1 status 0 stop 6 run 0 little 6 after 0".split(), done.stdout, done.stderr)
    said = f"cannot allocate a page for {place}/run/domain: No space left on device; free space on that file system"
    check(done.stderr.count(said) == 5, done.stderr)
    check(f"nothing was traced, so there is no trace: {place}/run has only" in done.stderr, done.stderr)
    check(f"kymo run: true cannot be recorded: {place}/run has only" in done.stderr, done.stderr)
    check(not os.path.exists(os.path.join(directory, "trace.ran")), "the command was started")


MEMORY = """
mount -t tmpfs -o size=16m,mode=1777 none /dev/shm && mkdir -m 700 "$KYMO_DIR" || exit 77
fill() { head -c 32M /dev/zero >/dev/shm/fill 2>/dev/null; }
wait_for() { for try in $(seq 300); do "$@" && return; sleep 0.2; done; }
recorded() { "$kymo" status --format csv | grep -q numbers,record; }
kymo=$1
"$kymo" run -- "$2" --threads 1 --rate 1000 --seconds 300 "$3" & program=$!
wait_for test -s "$3"
fill
"$kymo" top --once --interval 1s --format json >"$3.top"; echo "full $?"
rm /dev/shm/fill
"$kymo" serve -l 127.0.0.1:0 2>"$3.said" & serve=$!
wait_for recorded
fill
wait_for grep -q "has only" "$3.said"
kill $serve; wait $serve; echo "serve $?"
cat "$3.said" >&2
case $kymo in
/tmp/*) echo "left - none -";;
*) rm /dev/shm/fill
   mkdir -p /dev/shm/kymo-top.left/trace
   head -c 32M /dev/zero >/dev/shm/kymo-top.left/trace/fill 2>/dev/null
   touch -d @0 /dev/shm/kymo-top.left/trace
   unshare -m sh -c 'mount -t tmpfs -o size=64k none /tmp && exec "$1" top --once --interval 1s' sh "$kymo" >/dev/null; echo "left $?"
   fill
   unshare -m sh -c 'mount -t tmpfs -o size=64k none /tmp && exec "$1" top --once' sh "$kymo"; echo "none $?";;
esac
kill $program; wait $program; echo "program $?"
"""


def full_memory(directory):
    """What `top` and `serve` keep for a moment goes to the place that has room; if it fills up meanwhile, they say so."""
    env, out = private(directory), os.path.join(directory, "n")
    if KYMO.startswith("/dev/shm"):
        print("skipped in part: a full /dev/shm: kymo is there")
        return
    done = run("unshare", "-m", "sh", "-c", MEMORY, "sh", KYMO, NUMBERS, out, env=env, status=None)
    if done.returncode == 77 or "unshare" in done.stderr:
        print("skipped in part: mounting a tmpfs:", done.stderr.strip())
        return
    wanted = [f"full 0 serve 0 {its} program 0" for its in ("left 0 none 1", "left - none -")]
    check(done.stdout.split() in (its.split() for its in wanted), done.stdout, done.stderr)
    check(re.search(r"kymo serve: /dev/shm/kymo-top.* has only .* left: events of this time are lost; free some", done.stderr), done.stderr)
    check("none -" in done.stdout or "/tmp has only 64.0 KiB; free some space there" in done.stderr, done.stderr)
    check(json.loads(text(out + ".top"))["events"] > 0, "top saw nothing")


def file_limit(directory):
    """A limit on the size of files is as a full file system, and no signal."""
    env = made(private(directory))
    env["TMPDIR"] = KYMO + "/none"      # no place for the file that the thread sanitizer makes
    for verb in "record", "start", "recover":
        done = run("sh", "-c", 'ulimit -f 0; exec "$@"', "sh", KYMO, verb, "-o", os.path.join(directory, "trace"), env=env, status=1)
        check("File too large; raise the limit on file sizes (ulimit -f)" in done.stderr, verb, done.stderr)
    done = run(KYMO, "run", "--", "grep", "SigIgn", "/proc/self/status", env=env)
    check(int(done.stdout.split()[1], 16) == int(run("grep", "SigIgn", "/proc/self/status").stdout.split()[1], 16), "signals of a command")


def users(directory):
    """What one user truncates does not end the recorder of root, who records another one, too."""
    numbers = [1000000 + os.getpid() * 4 + i for i in range(2)]
    if os.geteuid() or run("setpriv", "--reuid", str(numbers[0]), "--clear-groups", "test", "-x", NUMBERS, status=None).returncode:
        print("skipped in part: only root can be other users, and they must get to the build directory")
        return
    root, homes = made(private(directory)), []
    os.chmod(directory, 0o711)
    for number in numbers:
        homes.append(private(os.path.join(directory, str(number))))
        os.makedirs(homes[-1]["KYMO_DIR"], 0o700)
        for path in homes[-1]["KYMO_DIR"], os.path.dirname(homes[-1]["KYMO_DIR"]):
            os.chown(path, number, number)
    trace = os.path.join(directory, "trace")
    with program(homes[0], os.path.dirname(homes[0]["KYMO_DIR"]) + "/n", numbers[0]) as (cut, region), \
            program(homes[1], os.path.dirname(homes[1]["KYMO_DIR"]) + "/n", numbers[1]) as (sound, _):
        run(KYMO, "start", "-o", trace, *(word for home in homes for word in ("--user", home["KYMO_DIR"])), env=root)
        until("both", lambda: all(",record," in status_text(home) for home in homes))
        for path in region, os.path.join(homes[0]["KYMO_DIR"], "domain"):
            run("setpriv", "--reuid", str(numbers[0]), "--clear-groups", "truncate", "-s", "0", path)
        until("the reports", lambda: text(trace + ".log").count(" was truncated by another process") == 2)
        for verb in "pause", "resume", "stop":
            run(KYMO, verb, env=root)
        check(f"process {cut.pid} (numbers) is not recorded any more" in text(trace + ".log"), text(trace + ".log"))
        check(any(one["pid"] == sound.pid and one["recorded"] for one in accounts(trace)["processes"]), "the other user's events")


if __name__ == "__main__":
    tests = region_under_record, region_under_start, domain_truncated, domain_at_the_end, region_that_flickers, agent_beside_it, full, full_memory, file_limit, users
    for test in tests:
        if len(sys.argv) == 1 or test.__name__ in sys.argv[1:]:
            in_directory(test, "/var/tmp" if test == full_memory else "/dev/shm")
