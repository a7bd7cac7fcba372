#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain, quick
"""What packaging/release.sh puts together fits together: placeholders stand in one file, package.xml has a rosdep key for each
package that debian/control builds with, files for ros/rosdistro are YAML, the Dockerfile installs packages that exist, and the
page about releases lists the parts. Making a release takes half an hour and root: docs/developers/releasing.md."""
import glob
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import SOURCE, check

# Keys of rosdep, and the packages of Debian that they stand for: as in ros/rosdistro on 2026-08-22.
KEYS = {"cmake": "cmake", "pkg-config": "pkg-config", "libuv1-dev": "libuv1-dev", "libjson-c-dev": "libjson-c-dev", "zlib": "zlib1g-dev",
        "libzstd-dev": "libzstd-dev", "libsqlite3-dev": "libsqlite3-dev", "libedit-dev": "libedit-dev", "libncurses-dev": "libncurses-dev",
        "yaml": "libyaml-dev", "libssl-dev": "libssl-dev", "libcurl-dev": "libcurl4-openssl-dev", "python3-setuptools": "python3-setuptools"}
ROS_PACKAGES = {"cyclonedds": {"cyclonedds-dev", "cyclonedds-tools"}}		# they are in distribution.yaml
ONLY_DEBIAN = {"debhelper-compat", "dh-python", "python3"}


def text(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def placeholders():
    lines = [line.split("\t") for line in text("packaging", "placeholders.txt").splitlines() if re.match("[a-z]", line)]
    check(all(len(line) == 2 for line in lines), "packaging/placeholders.txt: one tab a line", lines)
    values = dict(lines)
    allowed = set(re.findall(r"[\w.-]+\.example\b", " ".join(values.values())))
    for path in [*glob.glob(os.path.join(SOURCE, "packaging", "**"), recursive=True), *glob.glob(os.path.join(SOURCE, "debian", "*")),
                 *glob.glob(os.path.join(SOURCE, "ros2", "*", "*.*")), os.path.join(SOURCE, "package.xml")]:
        if not os.path.isfile(path) or path.endswith(("placeholders.txt", ".pyc")) or "/fleet/" in path or "/man/" in path:
            continue
        with open(path, encoding="utf-8") as file:
            found = set(re.findall(r"[\w.-]*kymo\.example\b", file.read()))
        check(found <= allowed, os.path.relpath(path, SOURCE), "has a placeholder of its own:", found - allowed)
    for name in "maintainer-mail", "maintainer-name", "homepage":
        check(values[name] in text("debian", "control"), "debian/control does not have", name, values[name])
    check(values["maintainer-mail"] in text("package.xml"), "package.xml has another maintainer")
    return set(values)


def keys():
    import yaml
    wanted = set(re.sub(r"\([^)]*\)|\s", "", re.search(r"Build-Depends: (.*?)\n\S", text("debian", "control"), re.S)[1]).split(","))
    new = yaml.safe_load(text("packaging", "rosdistro", "rosdep.yaml"))
    got = set()
    for tag in tree.fromstring(text("package.xml")):
        if not tag.tag.endswith("depend"):
            continue
        key = tag.text
        check(key in KEYS or key in ROS_PACKAGES or key in new, "package.xml:", key, "is no key of rosdep")
        got |= set(new[key]["debian"]) if key in new else ROS_PACKAGES.get(key) or {KEYS[key]}
    check(got == wanted - ONLY_DEBIAN, "package.xml and debian/control differ:", got ^ (wanted - ONLY_DEBIAN))
    check(not set(new) & set(KEYS), "packaging/rosdistro/rosdep.yaml defines again", set(new) & set(KEYS))


def for_rosdistro(names):
    import yaml
    for name in "distribution.yaml", "tracks.yaml":
        content = text("packaging", "rosdistro", name)
        marks = set(re.findall("@([a-z-]+)@", content))
        check(marks <= names | {"version", "distro"}, name, marks)
        content = re.sub("@[a-z-]+@", "jazzy", content)
        check(yaml.safe_load(content), name)


def parts():
    script, page = text("packaging", "release.sh"), text("docs", "developers", "releasing.md")
    made = set(re.findall(r"^make_([a-z0-9]+)\(\)", script, re.M)) - {"openssl"}
    head = set(re.findall(r"^#   ([a-z0-9]+)  ", script, re.M))
    check(made == head, "release.sh makes", made, "and its head lists", head)
    check(made == set(re.findall(r"^\| `([a-z0-9]+)` ", page, re.M)), "releasing.md lists other parts than", made)
    for name in glob.glob(os.path.join(SOURCE, "packaging", "*.sh")):
        with open(name, encoding="utf-8") as file:
            check(not re.search(r"https?://", file.read()), name, "names a host; apt's own mirror is meant")
    for package in re.findall(r'"(\S+)=\$KYMO_VERSION', text("packaging", "Dockerfile")):
        check(f"\nPackage: {package}\n" in text("debian", "control"), "Dockerfile:", package)
    done = subprocess.run([os.path.join(SOURCE, "packaging", "release.sh"), "/dev/null/nowhere", "nonsense"], capture_output=True,
                          text=True, check=False)
    check(done.returncode == 1 and ("no part 'nonsense'" in done.stderr or "need root" in done.stderr), done)


def main():
    names = placeholders()
    parts()
    try:
        keys()
        for_rosdistro(names)
    except ImportError:
        print("skipped in part: no python3-yaml")


main()
