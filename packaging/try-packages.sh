#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages, asks lintian, and tries them in a Debian 12 that has nothing else: installs them, records the
# demo's robot there, runs debian/tests, goes to the next version and back, removes them, and looks at what is left.
# Then colcon builds the sources in a workspace that has nothing else, and what that made records the robot, too.
#
#   packaging/try-packages.sh [DIR]      DIR: where the packages are put (default build-packages)
#
# As root (debootstrap, chroot), with network for apt. Some ten minutes; nothing outside DIR is changed.
set -eu
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-build-packages}")
. packaging/chroot.sh
packaging/install-packages.sh build packages

mkdir -p "$out"
rm -rf "$out"/robot "$out"/*.deb "$out"/*.changes "$out"/*.buildinfo "$out"/*.log

step "packages, into $out"
copy_sources "$out/source"
(cd "$out/source" && logged build dpkg-buildpackage -us -uc -b)
! grep '\[-W' "$out/build.log" || fail "Debian's flags make the compiler warn: $out/build.log"

step "lintian"
# It takes a few bytes of machine code for a misspelt word.
tags=$(lintian --allow-root --display-info --pedantic "$out"/*.changes | grep -v spelling-error-in-binary) || :
[ -z "$tags" ] || { echo "$tags"; fail "lintian has complaints"; }

step "the robot that is recorded"
logged robot cmake -S . -B "$out/robot" -DKYMO_TESTS=OFF -DKYMO_BENCH=OFF
logged robot cmake --build "$out/robot" -j"$(nproc)" --target robot robot_perception robot_driver robot_control
robot=$(find "$out/robot" -type f -name robot -perm -u+x | head -1)
tracetools=$(find "$out/robot" -path '*jazzy*' -name libtracetools.so)

step "a Debian 12 that has nothing"
root=$out/root
new_debian bookworm
mkdir "$root/debs" "$root/next"
cp "$out"/*.deb "$root/debs/"
rm -f "$root"/debs/*-dbgsym*
packages=$(cd "$root/debs" && for deb in *.deb; do echo "${deb%%_*}"; done)
# What they need comes first, so that what is left over afterwards is theirs alone.
needed=$(for deb in "$root"/debs/*.deb; do dpkg-deb -f "$deb" Depends Pre-Depends; done |
	sed 's/^[A-Za-z-]*: //; s/([^)]*)//g; s/|[^,]*//g; s/,/ /g' | tr -s ' ' '\n' | grep -v -e kymo -e '^$' | sort -u)
tests_need=$(sed -n 's/^Depends: @, //p' debian/tests/control | tr -d ,)
# shellcheck disable=SC2086 # lists
install_there $needed $tests_need
everything() { (cd "$root" && find . -xdev \( -path ./debs -o -path ./next -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/log \
	-o -path ./var/cache -o -path ./proc -o -path ./dev -o -path ./tmp -o -path ./opt \) -prune -o -print) | sort; }
everything >"$out/before"
# shellcheck disable=SC2046
install_there $(cd "$root" && ls debs/*.deb | sed 's,^,/,')

step "there: record, report, why"
mkdir -p "$root/opt/robot"
cp -r "$(dirname "$robot")"/. "$root/opt/robot/"
cp "$tracetools" "$root/opt/robot/"
logged record inside env LD_LIBRARY_PATH=/opt/robot ROS_DISTRO=jazzy kymo record -o /opt/trace -- /opt/robot/robot --seconds 3
tail -3 "$out/record.log"
inside kymo report /opt/trace >"$out/report.txt" || fail "kymo report"
grep -q 'robot::Costmap::on_update_timer' "$out/report.txt" || fail "the report does not know the costmap: $out/report.txt"
inside kymo why /opt/trace | head -1
inside kymo agent --help >/dev/null || fail "kymo agent"

step "there: debian/tests"
mkdir -p "$root/opt/source"
cp -r debian packaging tests "$root/opt/source/"
logged tests inside /opt/source/debian/tests/installed
rm -rf "$root/opt/source"

step "there: the next version, and back"
for deb in "$root"/debs/*.deb; do
	dpkg-deb -R "$deb" "$root/next/tree"
	sed -i -E '/^Version:/s/$/+next/; /^Depends:/s/(kymo[a-z0-9-]* \([>=]+ [^)]+)\)/\1+next)/g' "$root/next/tree/DEBIAN/control"
	logged next dpkg-deb -b "$root/next/tree" "$root/next/$(basename "$deb")"
	rm -rf "$root/next/tree"
done
for version in next debs; do
	# shellcheck disable=SC2046
	install_there --allow-downgrades $(cd "$root" && ls "$version"/*.deb | sed 's,^,/,')
	inside kymo --version >/dev/null || fail "kymo does not run after another version was installed over it"
done

step "there: removed"
# shellcheck disable=SC2086
logged apt inside apt-get purge -y $packages
everything >"$out/after"
diff "$out/before" "$out/after" >"$out/left" || { cat "$out/left"; fail "this is left"; }
echo "nothing is left"

step "colcon, in a workspace that has nothing else"
workspace=$out/colcon
rm -rf "$workspace"
mkdir -p "$workspace/src"
cp -r "$out/source" "$workspace/src/kymo"
rm -rf "$workspace"/src/kymo/obj-* "$workspace"/src/kymo/debian
(cd "$workspace" && logged colcon colcon build --cmake-args -DBUILD_TESTING=OFF -DKYMO_BENCH=OFF &&
	logged colcon colcon test-result --all)
# A new shell that has sourced the workspace, as its user has it.
workshop() { env -i PATH=/usr/bin:/bin HOME="$workspace" KYMO_DIR="$workspace/run" bash -ec '. install/setup.sh; cd /; "$@"' - "$@"; }
(
	cd "$workspace"
	[ "$(workshop sh -c 'command -v kymo')" = "$workspace/install/kymo/bin/kymo" ] || fail "kymo is not in the workspace's PATH"
	workshop python3 -c 'import kymo, kymo_ros2' || fail "Python does not find the packages of the workspace"
	logged colcon workshop env LD_LIBRARY_PATH="${tracetools%/*}" ROS_DISTRO=jazzy kymo record -o "$workspace/trace" -- "$robot" --seconds 3
	workshop kymo report "$workspace/trace" >"$out/report.txt"
	grep -q 'robot::Costmap::on_update_timer' "$out/report.txt" || fail "what colcon built does not know the costmap: $out/report.txt"
)
echo "all is well; the packages are in $out"
