# SPDX-License-Identifier: Apache-2.0
# For the shell tests: a private directory that vanishes, and checks that say what they saw.
set -u
: "${KYMO_BUILD:?the build directory}" "${KYMO_SOURCE:?the source directory}"
kymo=$KYMO_BUILD/bin/kymo
scratch=$(mktemp -d "${TMPDIR:-/tmp}/kymo-test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() {
	echo "FAIL: $*" >&2
	failures=$((failures + 1))
}

# run STATUS COMMAND...: runs it, output in $scratch/out and $scratch/err, and checks the status.
run() {
	local wanted=$1 status
	shift
	"$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	[ "$status" -eq "$wanted" ] && return
	fail "'$*' gave $status instead of $wanted"
	sed 's/^/    out: /' "$scratch/out" | head -20 >&2
	sed 's/^/    err: /' "$scratch/err" | head -20 >&2
	return 1
}

# has FILE TEXT: the output file (out or err) contains the fixed text.
has() {
	grep -qF -- "$2" "$scratch/$1" && return
	fail "no '$2' in std$1:"
	sed 's/^/    /' "$scratch/$1" | head -20 >&2
	return 1
}

# empty FILE: nothing was printed there.
empty() {
	[ -s "$scratch/$1" ] || return 0
	fail "std$1 should be empty:"
	sed 's/^/    /' "$scratch/$1" | head -20 >&2
	return 1
}

finish() {
	[ "$failures" -eq 0 ] || { echo "$failures failed" >&2; exit 1; }
	exit 0
}
