#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""When messages were written, where tracetools does not tell (up to Iron): by CycloneDDS, and by the Fast DDS of
Humble and of Iron. What a middleware writes for itself is not told, nor by a Fast DDS of unknown layout."""
import os
import re
import subprocess
import sys
import tempfile

from lib_cxx import BUILD, COMPILE, KYMO, SOURCE, dump, require

COUNT = 100
BIND = re.compile(r"ros2_caret:dds_bind_addr_to_stamp: .*\{ addr = (0x\w+), source_stamp = (\d+) \}$")
LIBRARIES = {	# the library's file, how it is built, its program; whether its writes are told
    "cyclone": ("libddsc.so.0", ["-DCYCLONE"], ["-DCYCLONE_PROGRAM"], True),
    "humble": ("libfastrtps.so.2.6", ["-DSTAMP=100"], [], True),
    "iron": ("libfastrtps.so.2.10", ["-DSTAMP=108"], [], True),
    "unknown": ("libfastrtps.so.2.99", ["-DSTAMP=108"], [], False),
}


def built(work, name):
    file, library_defines, program_defines, _ = LIBRARIES[name]
    folder, tracetools = f"{work}/{name}", f"{BUILD}/stub/humble/lib"
    os.mkdir(folder)
    source = f"{SOURCE}/tests/rclcpp/dds.cpp"
    subprocess.run([*COMPILE, *library_defines, "-shared", f"-Wl,-soname,{file}", "-o", f"{folder}/{file}", source],
                   check=True)
    subprocess.run([*COMPILE, *program_defines, "-o", f"{folder}/written", source, f"{folder}/{file}",
                    f"-L{tracetools}", "-ltracetools", f"-Wl,-rpath,{folder}", f"-Wl,-rpath,{tracetools}"], check=True)
    return f"{folder}/written"


def main():
    require()
    with tempfile.TemporaryDirectory(prefix="kymo-written-", dir="/dev/shm") as work:
        os.environ["KYMO_DIR"] = f"{work}/run"
        for name, (_, _, _, told) in LIBRARIES.items():
            trace = f"{work}/{name}-trace"
            said = subprocess.run([KYMO, "record", "-q", "-o", trace, "--", built(work, name), str(COUNT)], check=True,
                                  capture_output=True, text=True).stdout
            wanted = [tuple(line.lower().split()) for line in said.splitlines()]
            seen = [(m[1].lower(), m[2]) for m in map(BIND.search, dump(trace)) if m]
            if len(wanted) != COUNT or seen != (wanted if told else []):
                sys.exit(f"written.py: {name}: {len(wanted)} written, {len(seen)} told: {seen[:2]} {wanted[:2]}")
    print(f"{COUNT} writes each of {', '.join(LIBRARIES)}")


if __name__ == "__main__":
    main()
