#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: check.sh BUDGETS COMMAND [ARG...]
# Record COMMAND some times and check the runs. Exits as kymo check does: 5 if a budget is violated.
#
# RUNS=3          how many runs
# DURATION=10s    end COMMAND after this time; without it, COMMAND ends by itself
# PLACE=DIR       where the recordings and check.xml go (kymo-runs), which must not exist
# REQUIRE=1       also fail if a budget is not known to be kept
set -eu
[ $# -ge 2 ] || { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
budgets=$1
shift
place=${PLACE:-kymo-runs}

mkdir "$place"
run=1
while [ "$run" -le "${RUNS:-3}" ]; do
	kymo record --quiet --output "$place/$run" ${DURATION:+--duration "$DURATION"} -- "$@" || {
		status=$?
		# A command that is ended has the status of its signal: SIGINT, SIGTERM.
		case ${DURATION:+$status} in 130 | 143) ;; *) exit "$status" ;; esac
	}
	run=$((run + 1))
done

annotate=never
[ -z "${GITHUB_ACTIONS:-}" ] || annotate=github
[ -z "${GITLAB_CI:-}" ] || annotate=gitlab
exec kymo check --config "$budgets" --junit "$place/check.xml" --annotate "$annotate" \
	${REQUIRE:+--require} "$place"
