#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""Where -o names something that is no regular file: it is written and stays what it is, a FIFO or a device, also when writing fails; a
symbolic link stays, and a name that somebody else made beside the output is not written through."""
import os
import stat
import subprocess
import sys
import threading

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, SHARED, check, in_directory, private

TRACE = os.path.join(SHARED, "data/ros2-traces/pair_basic_st")
WHOLE = (("report", "--html"), ("report", "--format", "summary"), ("export", "--format", "html"))
STREAMS = (("export", "--format", "dot"), ("export", "--format", "perfetto"), ("export", "--format", "flamegraph"),
           ("export", "--format", "caret-architecture"), ("export", "--format", "mcap"))


def run(place, words, output):
    return subprocess.run([KYMO, words[0], TRACE, *words[1:], "-q", "--force", "-o", output], env=place, capture_output=True, text=True,
                          timeout=300, check=False)


def read_fifo(path, found):
    with open(path, "rb") as fifo:
        found.append(fifo.read())


@in_directory
def main(work):
    place = private(work)
    at = lambda name: os.path.join(work, name)
    for words in WHOLE:
        with open(at("file"), "w", encoding="utf-8") as file:
            file.write("before")
        with open(at("other"), "w", encoding="utf-8") as file:
            file.write("of somebody else")
        os.symlink("file", at("link"))
        os.symlink(at("other"), at("link.part"))
        os.symlink(at("other"), at("file.part"))
        done = run(place, words, at("link"))
        check(done.returncode == 0, words, "into a link:", done)
        check(os.path.islink(at("link")) and os.path.getsize(at("file")) > 1000, words, "replaces a link")
        check(open(at("other"), encoding="utf-8").read() == "of somebody else", words, "writes through a link that somebody made")
        whole = os.path.getsize(at("file"))
        os.mkfifo(at("fifo"))
        found = []
        reader = threading.Thread(target=read_fifo, args=(at("fifo"), found))
        reader.start()
        done = run(place, words, at("fifo"))
        if done.returncode:     # else it waits for ever
            os.close(os.open(at("fifo"), os.O_RDWR))
        check(done.returncode == 0 and stat.S_ISFIFO(os.stat(at("fifo")).st_mode), words, "into a FIFO:", done)
        reader.join(300)
        check(found and len(found[0]) > whole // 2, words, "wrote", found and len(found[0]), "bytes into a FIFO,", whole, "into a file")
        for name in os.listdir(work):
            if name in ("file", "other", "link", "fifo") or name.endswith(".part"):
                os.remove(at(name))
    for words in WHOLE + STREAMS:
        os.symlink("/dev/full", at("full"))
        done = run(place, words, at("full"))
        check(done.returncode == 1 and "cannot write" in done.stderr, words, "to a full device:", done)
        check(os.path.islink(at("full")) and stat.S_ISCHR(os.stat(at("full")).st_mode), words, "removed what it could not write")
        os.remove(at("full"))

