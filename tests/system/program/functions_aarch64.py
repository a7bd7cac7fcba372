#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""As functions_pg.py: programs built with -pg, cross-built for aarch64 and run by qemu. Their return addresses are elsewhere in each
frame, may be signed, and a file may be loaded where another one was."""
import contextlib
import glob
import os
import re
import shutil
import signal
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_functions import C, CXX, built, calls, compare_ends
from lib_perfetto import with_checks
from lib_test import KYMO, SOURCE, accounts, kymo, lossless, private, report, run, running, sanitized, skip, until, until_lossless

CC, CXX_COMPILER, QEMU = "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64"
PREFIX = "/usr/aarch64-linux-gnu"
# Two libraries whose functions begin at the same addresses, and whose frames differ; they are loaded in turn, in the same place.
PLUGIN = r"""
int plugin(int n);
__attribute__((noinline)) int plugin(int n) { volatile char text[SIZE]; text[0] = (char)n; return text[0] + 1; }
"""
LOADER = r"""
#include <dlfcn.h>
#include <stdio.h>
static void *seen;
static int moved;
__attribute__((noinline)) int once(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*plugin)(int) = (int (*)(int))dlsym(library, "plugin");
	int n = plugin(1) + plugin(2);
	moved += seen && seen != (void *)plugin;
	seen = (void *)plugin;
	return n + dlclose(library);
}
int main(int argc, char **argv)
{
	int sum = 0;
	for (int i = 0; i < 20; i++)
		sum += once(argv[1 + i % (argc - 1)]);
	printf("%d, moved %d\n", sum, moved);
	return 0;
}
"""
# Prints what functions_read_frame() says of the addresses that it reads, in a file that it loads.
FRAMES = r"""
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include "inside/functions/functions_frames.h"
int main(int argc, char **argv)
{
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	struct link_map *map;
	unsigned long at;
	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map))
		return 1;
	while (scanf("%lx", &at) == 1) {
		struct functions_frame frame = functions_read_frame(map->l_addr + at);
		printf(frame.is_known ? "%s%+d c%+d\n" : "none\n", frame.from_x29 ? "x29" : "sp", frame.end, frame.place);
	}
	return 0;
}
"""


def frames(check, scratch):
    """The frames of all functions of a library, at each address where one changes, are those that readelf finds."""
    library, columns, wanted = f"{PREFIX}/lib/libc.so.6", [], []
    for line in run("aarch64-linux-gnu-readelf", "--debug-dump=frames-interp", library).stdout.splitlines():
        words = line.split()
        if words[:2] == ["LOC", "CFA"]:
            columns = words
        elif columns and re.match("[0-9a-f]{16} (sp|x29|exp)", line):
            row = dict(zip(columns, words))
            is_known = re.match(r"c-\d", row.get("ra", "")) and row["CFA"] != "exp"
            wanted.append((int(row["LOC"], 16), f"{row['CFA']} {row['ra']}" if is_known else "none"))
    wanted = [(at, frame) for at, frame in wanted if at]        # without those that are shared by functions
    check.ok("readelf knows frames", len(wanted) > 1000, len(wanted))
    source, program = os.path.join(scratch, "frames.c"), os.path.join(scratch, "frames")
    with open(source, "w", encoding="utf-8") as file:
        file.write(FRAMES)
    run(CC, "-O1", "-D_GNU_SOURCE", "-Isrc", "-Iinclude", "-o", program, source, "src/inside/functions/functions_unwind.c", cwd=SOURCE)
    # An address to which a call returns is behind the call.
    found = run(QEMU, "-L", PREFIX, program, library, input="\n".join(f"{at + 4:x}" for at, _ in wanted)).stdout.splitlines()
    check.equal("frames are as readelf finds them", [(hex(at), frame, its) for (at, frame), its in zip(wanted, found) if frame != its][:5], [])
    check.equal("all frames were asked for", len(found), len(wanted))


def libraries(scratch):
    """The libraries, as they are built at home. Return: what the program is started with."""
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wno-format-truncation", "-Werror", "-D_GNU_SOURCE", "-Isrc", "-Iinclude",
             "-DKYMO_IS_SHARED", "-shared", "-fPIC", "-fvisibility=hidden", "-ftls-model=initial-exec", "-Wl,-z,now", "-Wl,--no-undefined"]

    def library(name, sources, *more):
        run(CC, *flags, f"-Wl,-soname,{name}", "-o", os.path.join(scratch, name), *sources, *more, cwd=SOURCE)

    library("libkymo.so.0", glob.glob("src/inside/tracer/*.c", root_dir=SOURCE))
    os.symlink("libkymo.so.0", os.path.join(scratch, "libkymo.so"))
    library("libkymo-functions.so", [*glob.glob("src/inside/functions/*.c", root_dir=SOURCE), "src/inside/tracer/tracer_lock.c"],
            f"-L{scratch}", "-lkymo", "-Wl,-rpath,$ORIGIN")
    return ["-E", f"LD_PRELOAD={scratch}/libkymo-functions.so"]


@contextlib.contextmanager
def recorded(trace, environment):
    """The functions of the programs that run meanwhile."""
    with running(KYMO, "record", "--quiet", "-o", trace, env=environment) as recorder:
        until("the recorder", lambda: trace in run(KYMO, "status", env=environment, status=None).stdout)
        yield
        until("the recorder to read all", lambda: not glob.glob(environment["KYMO_DIR"] + "/*.region"))
        recorder.send_signal(signal.SIGINT)
        recorder.wait(300)


def compare(check, scratch, preload, program, cpu, *words, test=None):
    """@test: called with a trace that lost nothing."""
    qemu = [QEMU, "-L", PREFIX, "-cpu", cpu]
    alone = run(*qemu, program, *words, cwd=scratch).stdout

    def once(directory):
        trace, environment = os.path.join(directory, "trace"), private(directory)
        with recorded(trace, environment):
            done = run(*qemu, *preload, program, *words, env=environment, cwd=scratch, status=None)
        check.ok(f"{program} {cpu} ends as alone", done.returncode == 0, done)
        check.equal(f"{program} {cpu} prints what it prints alone", done.stdout, alone)
        lossless(accounts(trace)["totals"]["dropped"])
        test(trace)

    until_lossless(once)


def test(check, scratch):
    if sanitized():
        skip("cross-built without sanitizers")
    if not all(map(shutil.which, (CC, QEMU))):
        skip(f"{CC} and {QEMU} are needed")
    frames(check, scratch)
    preload = libraries(scratch)
    # The emulator's vfork() is a fork() that libc does not know of.
    c = [*"-pg -DVFORK=fork".split()]
    # The signatures of "max" are checked; an older CPU takes them for no instructions.
    kinds = [("c", C, CC, "cortex-a57", [*c, "-O0"]), ("c", C, CC, "max", [*c, "-O2", "-march=armv8-a+sve"]),
             ("c", C, CC, "cortex-a57", [*c, "-O2", "-mbranch-protection=standard"])]
    if shutil.which(CXX_COMPILER):
        kinds += [("x", CXX, CXX_COMPILER, "max", ["-pg", "-O2", "-fstack-clash-protection"])]
    else:
        print(f"skipped in part: no {CXX_COMPILER}")
    for name, text, compiler, cpu, flags in kinds:
        what = " ".join((name, cpu, *flags))
        program = built(scratch, name, text, compiler, *flags)
        compare(check, scratch, preload, program, cpu, test=lambda trace: compare_ends(check, trace, name, what))

    program = built(scratch, "c", C, CC, *c, "-O1", "-mbranch-protection=standard")
    def no_ends(trace):
        events = kymo("dump", trace)
        check.ok("functions that sign have begins and no ends", events.count("func_entry") > 1000 and "func_exit" not in events)

    compare(check, scratch, preload, program, "max", test=no_ends)

    for size in 16, 200:
        with open(os.path.join(scratch, "plugin.c"), "w", encoding="utf-8") as file:
            file.write(PLUGIN)
        # Where it is to be loaded: the emulator would choose another place each time.
        run(CC, "-O1", "-pg", "-shared", "-fPIC", f"-DSIZE={size}", "-Wl,-Ttext-segment=0x5600000000",
            "-o", os.path.join(scratch, f"plugin-{size}.so"), os.path.join(scratch, "plugin.c"))
    program = built(scratch, "loader", LOADER, CC, "-O1", "-pg")
    plugins = "./plugin-16.so", "./plugin-200.so"
    check.equal("each plugin is where the other was", run(QEMU, "-L", PREFIX, program, *plugins, cwd=scratch).stdout, "100, moved 0\n")
    compare(check, scratch, preload, program, "max", *plugins,
            test=lambda trace: check.equal("the functions of plugins end", calls(report(trace, "profile")["profile"])["once"], [20, 0]))


with_checks(test)
