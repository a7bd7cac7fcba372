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
echo "Building (the log is $build/demo.log) ..."
mkdir -p "$build"
{ cmake -S . -B "$build" -DKYMO_TESTS=OFF -DKYMO_BENCH=OFF &&
	cmake --build "$build" -j"$(nproc)"; } >"$build/demo.log" 2>&1 ||
	{ tail -30 "$build/demo.log"; exit 1; }

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
echo "\$ kymo record -- robot --seconds $seconds"
kymo record -- "$build/robot/robot" --seconds "$seconds"
echo
echo "\$ kymo report"
kymo report
echo
echo "\$ kymo why '/scan -> /cmd_vel'"
kymo why '/scan -> /cmd_vel'

cat <<END

To type such commands yourself:
  export PATH=$build/bin:\$PATH ROS_TRACE_DIR=$build/demo
END
