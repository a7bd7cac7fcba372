#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""The binary interface of each library is what tests/abi/LIBRARY.txt says: exported symbols, types of public functions, and
layouts of the structures and enumerations that public headers define. And each public name begins with kymo.

usage: abi.py [--write]     --write accepts what the libraries have now: read the diff before you commit it, and raise the
                            SOVERSION when a program that was built before would break (docs/developers/compatibility.md)"""
import difflib
import os
import platform
import re
import shutil
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, SOURCE, check, run, skip

HEADERS = {"libkymo": ["kymo/kymo.h", "kymo/loop.h", "kymo/thread.h"], "libkymo-session": ["kymo/session.h", "kymo/sink.h"],
           "libkymo-ctf": ["kymo/ctf.h", "kymo/err.h"], "libkymo-ros2": [], "libkymo-malloc": [], "libkymo-functions": []}
# The preload libraries define functions of others, which is what they are for.
INTERPOSERS = ("libkymo-ros2", "libkymo-malloc", "libkymo-functions")
LINKER = ("__start_kymo_sites", "__stop_kymo_sites")


def exported(library):
    """(kind, name) of each symbol that a library defines for others; data is "D", functions are "T"."""
    lines = run("nm", "-D", "--defined-only", "--no-demangle", f"{BUILD}/lib/{library}.so").stdout.splitlines()
    kinds = {"W": "T", "B": "D", "R": "D", "V": "D"}
    return sorted((kinds.get(kind, kind), name) for _, kind, name in (line.split() for line in lines))


def types_of(header):
    """The structures and enumerations that a header defines."""
    with open(f"{SOURCE}/include/{header}", encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    text = text.split("#ifdef __cplusplus\n}")[0]
    return re.findall(r"^((?:struct|enum|union) \w+) \{", text, re.M)


def described(program, wanted):
    """What gdb says of each type, one after the other."""
    command = ["gdb", "-nx", "-batch"]
    for name in wanted:
        command += ["-ex", f"echo \\n@{name}\\n", "-ex", f"ptype {'/o ' if name.startswith('struct') else ''}{name}"]
    found = {}
    for part in run(*command, program).stdout.split("\n@")[1:]:
        name, _, text = part.partition("\n")
        found[name] = re.sub(r"[ \t]+", " ", text.strip())
    for name in wanted:
        check("type = " in found.get(name, ""), f"{name}: gdb does not know it: {found.get(name)!r}")
    return found


def interface(library):
    lines = [f"# {library}.so: `tests/system/house/abi.py` compares it, `--write` writes it"]
    symbols = exported(library)
    if library in INTERPOSERS:
        return lines + [f"{kind} {name}" for kind, name in symbols]
    for kind, name in symbols:
        check(name.startswith("kymo_") or name in LINKER, f"{library} exports {name}: public names begin with kymo_")
    lines += [f"D {name}" for kind, name in symbols if kind != "T"]
    functions = [name for kind, name in symbols if kind == "T"]
    for name, text in described(f"{BUILD}/lib/{library}.so", functions).items():
        lines.append(f"{name}: {re.sub(r' {[^{}]*}', '', text.removeprefix('type = '))}")		# without bodies: they come below
    with tempfile.TemporaryDirectory() as scratch:
        types = [name for header in HEADERS[library] for name in types_of(header)]
        with open(f"{scratch}/types.c", "w", encoding="utf-8") as file:
            file.writelines(f'#include "{header}"\n' for header in HEADERS[library])
            file.writelines(f"{name} a{number};\n" for number, name in enumerate(types))
        run("cc", "-g", "-c", f"-I{SOURCE}/include", "-o", f"{scratch}/types.o", f"{scratch}/types.c")
        for name, text in described(f"{scratch}/types.o", types).items():
            lines += ["", *text.splitlines()]
    return lines


def check_names():
    """Macros, types, enumerators and functions of public headers begin with kymo; in C++ they are in namespace kymo."""
    for header in sorted(os.listdir(f"{SOURCE}/include/kymo")):
        with open(f"{SOURCE}/include/kymo/{header}", encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read(), flags=re.S)
        names = re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M)
        if header.endswith(".h"):
            names += re.findall(r"^(?:struct|enum|union) (\w+)", text, re.M)
            for body in re.findall(r"^enum \w*\s*\{(.*?)\}", text, re.M | re.S):
                names += re.findall(r"(?:^|,)\s*([A-Za-z_]\w*)", re.sub(r"=[^,}]*", "", body))
            names += re.findall(r"^(?:[a-z][\w *]*[ *])(\w+)\(", re.sub(r"^namespace .*", "", text, flags=re.M | re.S), re.M)
        for name in names:
            check(re.match(r"_*kymo_?|KYMO_", name) or name in ("__attribute__", "__declspec"),
                  f"include/kymo/{header}: {name} does not begin with kymo")
        check(len(names) >= 3, f"include/kymo/{header}: only {names} found: is this test looking right?")


def main():
    check_names()
    if platform.machine() != "x86_64" or not shutil.which("gdb"):
        skip("the layouts in tests/abi are those of x86-64, and gdb prints them")
    for library in HEADERS:
        path = f"{SOURCE}/tests/abi/{library}.txt"
        lines = [line + "\n" for line in interface(library)]
        if sys.argv[1:] == ["--write"]:
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(lines)
            continue
        with open(path, encoding="utf-8") as file:
            known = file.readlines()
        difference = list(difflib.unified_diff(known, lines, f"tests/abi/{library}.txt", f"{library}.so of this build", n=1))
        check(not difference, "".join(difference) + f"{library} changed: if that is meant, run tests/system/house/abi.py --write")


main()
