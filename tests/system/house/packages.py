#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""What debian/ and package.xml say is what the build makes: every installed file is in one package, the libraries show
what debian/libkymo0.symbols has, versions and build dependencies are the same everywhere. What takes a build of its own,
packaging/try-packages.sh does."""
import fnmatch
import glob
import os
import re
import shutil
import sys
import tempfile
import xml.etree.ElementTree as tree

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import BUILD, SOURCE, check, run, skip


def lines(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read().splitlines()


def installed(prefix):
    run("cmake", "--install", BUILD, "--prefix", prefix)
    return {os.path.relpath(os.path.join(at, name), prefix) for at, _, names in os.walk(prefix) for name in names}


def files():
    """Each in exactly one package. A build's library directory may be lib or lib/MACHINE."""
    patterns = [(package, line.removeprefix("usr/").replace("lib/*/", "lib/"))
                for package in map(os.path.basename, glob.glob(os.path.join(SOURCE, "debian", "*.install")))
                for line in lines("debian", package) if "python3" not in package and "ros2" not in package]
    with tempfile.TemporaryDirectory(prefix="kymo-packages-") as prefix:
        found = {re.sub(r"^lib/[^/]*-linux-gnu[^/]*/", "lib/", path) for path in installed(prefix)}

    def covers(pattern, path):
        """As dh_install understands it: a file, or the folder it is in; * is no slash."""
        parts = path.split("/")
        return fnmatch.fnmatch("/".join(parts[:pattern.count("/") + 1]), pattern)

    used = set()
    for path in sorted(found):
        homes = [package for package, pattern in patterns if covers(pattern, path)]
        used |= {pattern for _, pattern in patterns if covers(pattern, path)}
        check(len(homes) == 1, path, "is in", homes or "no package of debian/*.install")
    for package, pattern in patterns:
        check(pattern in used, f"debian/{package}: {pattern} is not installed")


def symbols():
    expected = {}
    for line in lines("debian", "libkymo0.symbols"):
        if not line.startswith((" ", "*")):
            library = expected.setdefault(line.split()[0], set())
        elif line.startswith(" "):
            library.add(line.split("@")[0].strip())
    for library, names in expected.items():
        shown = run("nm", "-D", "--defined-only", os.path.join(BUILD, "lib", library)).stdout
        shown = {line.split()[-1].split("@")[0] for line in shown.splitlines()}
        for name in sorted(names ^ shown):
            if not name.startswith(("__start_", "__stop_")):		# of the linker, some hide them
                check(False, f"debian/libkymo0.symbols, {library}: {name} is",
                      "not in the library" if name in names else "missing")


def one_fact():
    control = "\n".join(lines("debian", "control"))
    wanted = set(re.sub(r"\([^)]*\)", "", re.search(r"Build-Depends: (.*?)\n\S", control, re.S)[1]).replace(" ", "").replace("\n", "").split(","))
    packages, section = {}, None
    for line in lines("packaging", "debian-packages.txt"):
        if re.match(r"\[", line):
            section = packages.setdefault(line.strip("[]"), set())
        elif re.match(r"[a-z0-9]", line):
            section.add(line)
    every = {"gcc", "libc6-dev", "make"}				# what Debian's builds always have
    check(packages["build"] - every == wanted - {"debhelper-compat", "dh-python", "python3", "python3-setuptools"},
          "debian/control and packaging/debian-packages.txt differ:", sorted((packages["build"] - every) ^ wanted))

    version = re.search(r"project\(kymo VERSION (\S+)", "\n".join(lines("CMakeLists.txt")))[1]
    places = {"debian/changelog": re.search(r"\((.*?)\)", lines("debian", "changelog")[0])[1]}
    for path in glob.glob(os.path.join(SOURCE, "**/package.xml"), recursive=True):
        places[os.path.relpath(path, SOURCE)] = tree.parse(path).findtext("version")
    for path in glob.glob(os.path.join(SOURCE, "ros2/*/setup.py")):
        places[os.path.relpath(path, SOURCE)] = re.search(r"version='(.*?)'", open(path, encoding="utf-8").read())[1]
    check(len(places) >= 6, "where versions stand:", places)
    for place, other in places.items():
        check(other == version or "build" in place.split("/")[0], f"{place} has version {other}, CMakeLists.txt {version}")


def unit():
    """systemd understands the units."""
    verify = shutil.which("systemd-analyze")
    paths = glob.glob(os.path.join(BUILD, "packaging", "kymo-*.service"))
    if not verify or not paths:
        return
    done = run(verify, "verify", "--user", "--man=no", *paths, status=None, env=dict(os.environ, XDG_RUNTIME_DIR="/tmp"))
    for line in done.stderr.splitlines():
        check(".service" not in line or "is not executable" in line, line)


def main():
    if not os.path.exists(os.path.join(BUILD, "lib", "kymo-dds")):
        skip("without CycloneDDS not all that debian/ packs is built")
    for step in files, symbols, one_fact, unit:
        step()


main()
