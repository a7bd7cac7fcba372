#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: page.sh [BUILD [TRACE]] -- records examples/robot with the kymo of BUILD (default: build), or takes the recording
# TRACE, makes its page, and draws page.png (what it opens with), page-topic.png (one topic, dark), and
# page-diff.png (kymo bench --html of the robot and a slower one) as Chromium shows them.
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
