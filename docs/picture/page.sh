#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: page.sh [BUILD [TRACE]] -- records examples/robot with the kymo of BUILD (default: build), or takes the recording
# TRACE, makes its page, and draws page.png (what it opens with), page-topic.png (one topic, dark), page-executors.png
# (time lines of executors), page-services.png (the service calls), page-flame.png (examples/cyclic), page-diff.png (kymo bench --html of the robot and a slower one), and as root page-cpus.png (the CPUs,
# with the kernel's events) as Chromium shows them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
command -v chromium >/dev/null || { echo "page.sh: chromium is not installed; apt install chromium" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -m 700 "$scratch/kymo"
export KYMO_DIR="$scratch/kymo" KYMO_RING_SIZE=2M
[ $# -lt 2 ] || cp -r "$2" "$scratch/robot"
cd "$scratch"
[ -d robot ] || "$build/bin/kymo" record -q -o robot -- "$build/robot/robot" --seconds 5 >&2
"$build/bin/kymo" report robot --html >&2
"$build/bin/kymo" record -q -o cyclic -- "$build/cyclic/cyclic" --seconds 2 >&2
"$build/bin/kymo" report cyclic --html >&2
if [ "$(id -u)" = 0 ]; then
	# shellcheck disable=SC2016
	unshare -m sh -c 'mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing; exec "$@"' sh \
		"$build/bin/kymo" record -q --kernel -o kernel -- "$build/robot/robot" --seconds 5 >&2
	"$build/bin/kymo" report kernel --html >&2
fi

"$build/bin/kymo" bench -q --reject 100 --html -o bench --base "$build/robot/robot --seconds 4" \
	--new "$build/robot/robot --seconds 4 --slow detector:30" >&2 || [ $? -eq 5 ]

# draw PNG PAGE HEIGHT [OPTION...]
draw() {
	png=$1 page=$2 height=$3
	shift 3
	chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/profile" "$@" \
		--window-size="1280,$height" --virtual-time-budget=5000 --screenshot="$here/$png" \
		"file://$scratch/$page" 2>"$scratch/errors" || { cat "$scratch/errors" >&2; exit 1; }
}
draw page.png robot.html 1560
draw page-diff.png bench/diff.html 1040
draw page-topic.png "robot.html#/topic/%2Fscan" 900 --blink-settings=preferredColorScheme=0
draw page-executors.png "robot.html#/executors" 1120
draw page-services.png "robot.html#/service/%2Fset_mode" 1260
draw page-flame.png cyclic.html 760
[ ! -e kernel.html ] || draw page-cpus.png "kernel.html#/cpus" 760
