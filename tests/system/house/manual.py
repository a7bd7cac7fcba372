#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain, quick
"""Manual pages of the libraries and formats, and the overview, as installed: man reads them without a warning; every function that a library
shows has a page, and each verb a place in the overview; and the first example of each is compiled with the line of its synopsis, and does what the page says."""
import glob
import os
import re
import shutil
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import require
from lib_test import BUILD, check, in_directory, run

# page: what stands around the example (%s), where it is recorded, and what kymo dump must then say
EXAMPLES = {
    "kymo": ("static int depth = 3;\n%s\nint main(void) { plan(1); return 0; }\n", True, "control:plan_begin.*step = 1"),
    "kymo.hpp": ("#include <string>\n%s\nint main() { plan(1); load(\"arm\"); return 0; }\n", True, "control:replanned.*cost = 1.5"),
    "kymo-loop": ("#include <kymo/loop.h>\nint main(void)\n{\n\tint running = 1;\n%s\n\treturn 0;\n}\n", True, "control:loop_end"),
    "kymo-thread": ("#include <stdio.h>\n#include <kymo/kymo.h>\n#include <kymo/thread.h>\n%s\nint main(void) { camera(NULL); return 0; }\n",
                    True, "camera:frame"),
    "kymo-session": ("#include <stdio.h>\n#include <kymo/kymo.h>\n#include <kymo/session.h>\nint main(void)\n{\n%s\n\treturn 0;\n}\n",
                     False, "demo:told"),
    "kymo-ctf": ("#include <stdio.h>\n#include <kymo/ctf.h>\nint main(void)\n{\n%s\n\treturn 0;\n}\n", False, None),
}
# What stands for the "..." of an example.
MEANWHILE = {"kymo-session": "KYMO_INSTANT(\"demo\", \"told\");", "kymo-loop": "running = loop.cycles < 3;"}


def plain(roff):
    for code, character in ((r"\(aq", "'"), (r"\(ga", "`"), (r"\(ha", "^"), (r"\(ti", "~"), (r"\-", "-"), (r"\&", ""), (r"\e", "\\")):
        roff = roff.replace(code, character)
    return re.sub(r"\\f[BRI]", "", roff)


def pages(man):
    found = {os.path.basename(path)[:-2] for path in glob.glob(man + "/man3/*.3")}
    for page in sorted(found):
        check(re.fullmatch(r"[\w.-]+", page), "odd name of a page:", page)
        text = open(f"{man}/man3/{page}.3", encoding="utf-8").read()
        check(not text.startswith(".so") or os.path.exists(os.path.join(man, text.split()[1])), f"{page}.3 leads nowhere")
    for library in "kymo", "kymo-session", "kymo-ctf":
        shown = run("nm", "-D", "--defined-only", f"{BUILD}/lib/lib{library}.so").stdout
        names = {line.split()[2].split("@")[0] for line in shown.splitlines() if line.split()[1] == "T"}
        names = {name for name in names if "__" not in name and re.match("kymo|ctf", name)}
        check(names, f"lib{library}.so shows nothing")
        check(names <= found, f"functions of lib{library}.so without a manual page:", sorted(names - found))
    overview = plain(open(f"{man}/man7/kymo.7", encoding="utf-8").read())
    verbs = re.search(r"verbs: (.*)", run(f"{BUILD}/bin/kymo", "--version").stdout)[1].split()
    told = re.findall(r"^\.BR kymo-([a-z]+) \(1\)$", overview, re.M)
    check(sorted(told) == sorted(verbs), "kymo(7) has the verbs", told, "instead of", verbs)
    if shutil.which("man"):
        for words in [("3", page) for page in (*EXAMPLES, "kymo_now")] + [("5", "kymo-trace"), ("7", "kymo"), ("1", "kymo")]:
            done = run("man", "-M", man, "--warnings", *words, env=dict(os.environ, LC_ALL="C", MANWIDTH="100"), status=None)
            check(done.returncode == 0 and not done.stderr and len(done.stdout) > 1000, "man", *words, "says", done.stderr)


def examples(prefix, work):
    libraries = os.path.dirname(glob.glob(prefix + "/lib/**/libkymo.so", recursive=True)[0])
    environment = dict(os.environ, PKG_CONFIG_PATH=libraries + "/pkgconfig", LD_LIBRARY_PATH=libraries,
                       KYMO_DIR=os.path.join(work, "run"))
    os.mkdir(environment["KYMO_DIR"], 0o700)
    for page, (around, recorded, says) in EXAMPLES.items():
        text = open(f"{prefix}/share/man/man3/{page}.3", encoding="utf-8").read()
        order = plain(re.search(r"^\\fB(c(?:c|\+\+) .*)\\fR$", text, re.M)[1])
        example = plain(re.search(r"^\.SH DESCRIPTION\n.*?^\.nf\n(.*?)^\.fi", text, re.M | re.S)[1])
        example = re.sub(r"^\s*\.\.\.$", MEANWHILE.get(page, ""), example, flags=re.M).replace("/data/trace", f"{work}/kymo-session")
        with open(os.path.join(work, re.search(r"program\.c\w*", order)[0]), "w", encoding="utf-8") as file:
            file.write(around % example)
        done = run("sh", "-c", f"{order} -Wall -Wextra -Werror", cwd=work, env=environment, status=None)
        check(done.returncode == 0, page, "does not compile:", done.stderr)
        trace = os.path.join(work, page)
        command = ["./a.out"] if not recorded else [f"{BUILD}/bin/kymo", "record", "-o", trace, "--", "./a.out"]
        done = run(*command, cwd=work, env=environment, status=None)
        check(done.returncode == 0 and ("rror" not in done.stderr), page, "ended with", done.returncode, done.stderr)
        if says:
            shown = run(f"{BUILD}/bin/kymo", "dump", trace).stdout
            check(re.search(says, shown), page, "recorded", shown or done.stderr)
        else:
            check(not done.stderr, page, "says", done.stderr)


def main(work):
    require()
    prefix = os.path.join(work, "installed")
    run("cmake", "--install", BUILD, "--prefix", prefix)
    pages(prefix + "/share/man")
    examples(prefix, work)


in_directory(main)
