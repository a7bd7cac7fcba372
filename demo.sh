#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, records the robot of examples/robot and says what was slow.
#
#   ./demo.sh [SECONDS]      how long to record (default 5)
set -eu
cd "$(dirname "$0")"
packaging/install-packages.sh build

seconds=${1:-5}
build=${KYMO_DEMO_BUILD:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
mkdir -p "$build"
log=$build/demo.log
echo "Building; the log is $log"
: >"$log"
{ cmake -S . -B "$build" -DKYMO_TESTS=OFF -DKYMO_BENCH=OFF &&
	cmake --build "$build" -j"$(nproc)"; } >"$log" 2>&1 &
building=$!

# The last step of the build, as "[ 42%]" of make or "[12/345]" of ninja: on one line of a terminal, else a line a minute.
seen=
turn=0
while kill -0 "$building" 2>/dev/null; do
	step=$(grep -o '^\[[^]]*\]' "$log" | tail -n 1)
	if [ -t 1 ]; then
		printf '\r  %s\033[K' "${step:-[preparing]}"
	elif [ $((turn % 60)) -eq 0 ] && [ "$step" != "$seen" ]; then
		echo "  $step"
		seen=$step
	fi
	turn=$((turn + 1))
	sleep 1
done
[ ! -t 1 ] || printf '\r\033[K'
wait "$building" || { tail -30 "$log"; exit 1; }

# Traces and shared memory of the demo are its own, whatever else is recorded on this machine.
PATH=$(cd "$build" && pwd)/bin:$PATH
ROS_TRACE_DIR=$build/demo
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
	KYMO_DIR=$(mktemp -d /dev/shm/kymo-demo.XXXXXX)
else
	KYMO_DIR=$(mktemp -d)
fi
export PATH ROS_TRACE_DIR KYMO_DIR
trap 'rm -rf "$KYMO_DIR"' EXIT

echo "A robot of three processes and nine nodes, none of which knows of kymo:"
echo
robot=$build/robot/robot
case $robot in "$PWD"/*) robot=${robot#"$PWD"/} ;; esac
echo "\$ kymo record -- $robot --seconds $seconds"
kymo record --quiet -- "$robot" --seconds "$seconds"
echo
echo "\$ kymo report"
kymo report --no-pager

# The command that explains the first finding; a robot without one has only its slowest reaction.
why=$(kymo report --section findings --format json | sed -n 's/.*"command": "\(kymo why [^"]*\)".*/\1/p' | head -n 1)
why=${why:-kymo why}
echo
echo "\$ $why"
eval "$why --no-pager"

newest=$(basename "$(printf '%s\n' "$ROS_TRACE_DIR"/session-* | sort | tail -n 1)")
cat <<END

Now you: the first line lets your shell find kymo and this trace.
  export PATH=$build/bin:\$PATH ROS_TRACE_DIR=$build/demo
  kymo report --all          # every table
  kymo top "\$ROS_TRACE_DIR/$newest"  # on one screen
  kymo open                  # the same as a page in your browser
  kymo open --perfetto       # the same on a time line
  kymo record -- $robot --seconds 5
END
