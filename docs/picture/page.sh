#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: page.sh [BUILD [TRACE]] -- records examples/robot with the kymo of BUILD (default: build), or takes the recording
# TRACE, makes its page, and draws page.png (what it opens with) and page-topic.png (one topic, dark) as Chromium shows them.
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

# draw PNG FRAGMENT HEIGHT [OPTION...]
draw() {
	png=$1 fragment=$2 height=$3
	shift 3
	chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/profile" "$@" \
		--window-size="1280,$height" --virtual-time-budget=5000 --screenshot="$here/$png" \
		"file://$scratch/robot.html$fragment" 2>"$scratch/errors" || { cat "$scratch/errors" >&2; exit 1; }
}
draw page.png "" 1560
draw page-topic.png "#/topic/%2Fscan" 900 --blink-settings=preferredColorScheme=0
