# SPDX-License-Identifier: Apache-2.0
"""The kernel's events in tests: where to read them, and how to know that they are being recorded."""
import glob
import os
import subprocess
import sys

from lib_test import lossless, skip, until

TRACEFS = "/sys/kernel/tracing"
PLACES = TRACEFS, "/sys/kernel/debug/tracing"


def with_tracefs(script):
    """Where tracefs isn't mounted and root may mount it: begin the test again in a mount namespace of its own, with tracefs.
    The machine stays as it was."""
    if os.geteuid() != 0 or "KYMO_TRACEFS" in os.environ or any(os.path.isdir(os.path.join(place, "instances")) for place in PLACES):
        return
    mount = ["unshare", "--mount", "sh", "-c", f'mount -t tracefs tracefs {TRACEFS} && exec "$@"', "sh"]
    if subprocess.run([*mount, "true"], capture_output=True, check=False).returncode == 0:
        os.environ["KYMO_TRACEFS"] = "mounted by the test"
        os.execvp(mount[0], [*mount, sys.executable, os.path.abspath(script), *sys.argv[1:]])


def skip_without(said):
    """@said: by a recorder that was to record the kernel's events."""
    if "recording without them" in said:
        skip("the kernel's events are not available: " + said.splitlines()[0])


def until_recorded(trace):
    """Wait until the kernel's rings run, all of them: only then does the recorder read the first one and write what it found."""
    until("events of the kernel", lambda: any(map(os.path.getsize, glob.glob(os.path.join(trace, "kernel", "channel*")))))


def lossless_tasks(lost, said, faults=False):
    """lossless(), but for what perf_event_open(2) counts and never delivers. On some machines that is what happens while a CPU is
    idle, in every recording: events in the context of a task (switches off a CPU, forks, system calls) are not among them. Beside
    tracefs, which has everything else, it is page faults; a test that counts those asks for @faults. @said: by the recorder."""
    only_perf = "perf_event_open" in said + os.environ.get("KYMO_KERNEL_SOURCE", "")
    if "counted them but did not deliver" not in said or (faults and not only_perf):
        lossless(lost, "of the kernel's events")
