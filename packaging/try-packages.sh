#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages, asks lintian, and tries them in a Debian 12 that has nothing else: installs them,
# records the demo's robot there, builds foreign projects with them, removes them, and looks at what is left.
#
#   packaging/try-packages.sh [DIR]      DIR: where the packages are put (default build-packages)
#
# As root (debootstrap, chroot), with network for apt. Some five minutes; nothing outside DIR is changed.
set -eu
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-build-packages}")
[ "$(id -u)" = 0 ] || { echo "try-packages.sh: debootstrap needs root" >&2; exit 1; }
packaging/install-packages.sh build packages

fail() {
	echo "try-packages.sh: $*" >&2
	exit 1
}
step() { echo "== $*"; }

step "packages, into $out"
mkdir -p "$out"
rm -rf "$out"/source "$out"/*.deb "$out"/*.changes "$out"/*.buildinfo
mkdir "$out/source"
git ls-files -z --cached --others --exclude-standard | tar -c --null -T - --ignore-failed-read | tar -x -C "$out/source"
(cd "$out/source" && dpkg-buildpackage -us -uc -b) >"$out/build.log" 2>&1 || { tail -30 "$out/build.log"; fail "$out/build.log"; }

step "lintian"
lintian --allow-root --fail-on error,warning -i "$out"/*.changes || fail "lintian has complaints"

step "the robot that is recorded"
cmake -S . -B "$out/robot" -DKYMO_TESTS=OFF -DKYMO_BENCH=OFF >"$out/robot.log" 2>&1 &&
	cmake --build "$out/robot" -j"$(nproc)" --target robot robot_perception robot_driver robot_control >>"$out/robot.log" 2>&1 || fail "$out/robot.log"

step "a Debian 12 that has nothing"
root=$out/root
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -1)
mounted=
leave() {
	for at in $mounted; do umount "$at"; done
}
trap leave EXIT
rm -rf --one-file-system "$root"
debootstrap --variant=minbase bookworm "$root" "${mirror:-http://deb.debian.org/debian}" >"$out/debootstrap.log" 2>&1 ||
	fail "$out/debootstrap.log"
for at in proc dev/shm; do
	mkdir -p "$root/$at"
	case $at in
	proc) mount -t proc proc "$root/proc" ;;
	*) mount -t tmpfs tmpfs "$root/$at" ;;
	esac
	mounted="$root/$at $mounted"
done
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || :
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || :
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/opt LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
install_there() { inside apt-get install -y --no-install-recommends "$@" >>"$out/apt.log" 2>&1 || { tail -5 "$out/apt.log"; fail "$out/apt.log"; }; }
: >"$out/apt.log"
inside apt-get update -q >>"$out/apt.log" 2>&1 || fail "$out/apt.log"
mkdir "$root/debs"
cp "$out"/*.deb "$root/debs/"
rm -f "$root"/debs/*-dbgsym*
# What they need comes first, so that what is left over afterwards is theirs alone.
needed=$(for deb in "$root"/debs/*.deb; do dpkg-deb -f "$deb" Depends Pre-Depends; done |
	sed 's/^[A-Za-z-]*: //; s/([^)]*)//g; s/|[^,]*//g; s/,/ /g' | tr -s ' ' '\n' | grep -v -e kymo -e '^$' | sort -u)
# shellcheck disable=SC2086
install_there $needed gcc g++ libc6-dev cmake make pkg-config
everything() { (cd "$root" && find . -xdev \( -path ./debs -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/log -o -path ./var/cache \
	-o -path ./proc -o -path ./dev -o -path ./tmp -o -path ./opt \) -prune -o -print) | sort; }
everything >"$out/before"
install_there $(cd "$root" && ls debs/*.deb | sed 's,^,/,')

step "there: record, report, why"
robot=$(find "$out/robot" -type f -name robot -perm -u+x | head -1)
mkdir -p "$root/opt/robot"
cp -r "$(dirname "$robot")"/. "$root/opt/robot/"
cp "$(find "$out/robot" -path '*jazzy*' -name libtracetools.so)" "$root/opt/robot/"
inside env LD_LIBRARY_PATH=/opt/robot ROS_DISTRO=jazzy kymo record -o /opt/trace -- /opt/robot/robot --seconds 3 2>"$out/record.log" || { cat "$out/record.log"; fail "kymo record"; }
tail -3 "$out/record.log"
inside kymo report /opt/trace >"$out/report.txt" || fail "kymo report"
grep -q 'robot::Costmap::on_update_timer' "$out/report.txt" || fail "the report does not know the costmap: $out/report.txt"
inside kymo why /opt/trace | head -1
inside kymo agent --help >/dev/null || fail "kymo agent"
for page in $(inside kymo --version | sed -n 's/^  verbs: *//p'); do
	[ -e "$root/usr/share/man/man1/kymo-$page.1.gz" ] || fail "no manual page of kymo $page"
done

step "there: a foreign project, pkg-config and find_package"
mkdir "$root/opt/foreign"
cat >"$root/opt/foreign/main.c" <<'C'
#include <kymo/kymo.h>
#include <kymo/session.h>
#include <kymo/ctf.h>
int main(void) { KYMO_SPAN("foreign", "main"); return kymo_session_error() && ctf_open("/nowhere", NULL, NULL) < 0 ? 0 : 1; }
C
cat >"$root/opt/foreign/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.18)
project(foreign LANGUAGES C)
find_package(kymo 0.1 REQUIRED)
add_executable(with_cmake main.c)
target_link_libraries(with_cmake PRIVATE kymo::kymo kymo::session kymo::ctf)
CMAKE
inside sh -ec 'cd /opt/foreign; cc -o with_pkg_config main.c $(pkg-config --cflags --libs kymo kymo-session kymo-ctf)
	./with_pkg_config; cmake -S . -B build; cmake --build build; build/with_cmake' >"$out/foreign.log" 2>&1 ||
	{ tail -20 "$out/foreign.log"; fail "$out/foreign.log"; }

step "there: removed"
inside apt-get purge -y $(cd "$root/debs" && for deb in *.deb; do echo "${deb%%_*}"; done) >>"$out/apt.log" 2>&1 || fail "purge: $out/apt.log"
everything >"$out/after"
diff "$out/before" "$out/after" >"$out/left" || { cat "$out/left"; fail "this is left"; }
echo "nothing is left; the packages are in $out"
