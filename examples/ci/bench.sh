#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: bench.sh COMMAND
# Is COMMAND slower than with the commit BASE? Builds BASE beside what is checked out, records both in turn, and compares
# them. COMMAND is for sh -c, in the folder of each. Exits as kymo bench does: 5 if something is worse.
#
# BASE=origin/main   the commit to compare with; of a branch, where it began
# BUILD=COMMAND      how to build, in the folder of each (colcon build)
# PAIRS=6            how many pairs; with 10 or more, kymo stops when the verdict is known
# DURATION=10s       end COMMAND after this time; without it, COMMAND ends by itself
# PLACE=DIR          where recordings, bench.xml and diff.html go (kymo-bench), which must not exist
# REQUIRE=1          also fail if it is not known of a metric that it is not worse
set -eu
[ $# -eq 1 ] || { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
command=$1
place=$(realpath -m "${PLACE:-kymo-bench}")
build=${BUILD:-colcon build}
commit=$(git merge-base HEAD "${BASE:-origin/main}")

sources=$(mktemp -d)
trap 'exit 130' INT TERM
trap 'git worktree remove --force "$sources/base" 2>/dev/null; rm -rf "$sources"' EXIT
git worktree add --quiet --detach "$sources/base" "$commit"
(cd "$sources/base" && sh -c "$build") >&2
sh -c "$build" >&2

annotate=never
[ -z "${GITHUB_ACTIONS:-}" ] || annotate=github
[ -z "${GITLAB_CI:-}" ] || annotate=gitlab
kymo bench --pairs "${PAIRS:-6}" ${DURATION:+--duration "$DURATION"} --output "$place" \
	--base "cd '$sources/base' && $command" --new "$command" \
	--html --junit "$place/bench.xml" --annotate "$annotate" ${REQUIRE:+--require}
