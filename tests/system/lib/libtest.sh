# SPDX-License-Identifier: Apache-2.0
# For the shell tests: a private directory that vanishes, and checks that say what they saw.
set -u
export KYMO_PAGER=	# nobody types q
: "${KYMO_BUILD:?the build directory}" "${KYMO_SOURCE:?the source directory}"
kymo=$KYMO_BUILD/bin/kymo
: "${KYMO_SHARED:=$([ -d "$KYMO_SOURCE/../shared/data" ] && echo "$KYMO_SOURCE/../shared" || echo "$KYMO_BUILD/tests/shared")}"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/kymo-test.XXXXXX")
# A failure that was noted fails the test, also where a script ends without finish.
trap 'status=$?; [ ! -e "$scratch/failed" ] || status=1; rm -rf "$scratch"; exit $status' EXIT

# Scripts of a few lines, many times: the system's interpreter without its site packages starts in a fifth of the time of a shim's.
python3() {
	/usr/bin/python3 -S "$@"
}

fail() {
	echo "FAIL: $*" >&2
	echo >>"$scratch/failed"	# a file: it may be said in a subshell
}

# die WHAT: the test ends here, as failed: without this the rest makes no sense. Shows the end of the files in $evidence.
die() {
	local file
	echo "FAIL: $*" >&2
	for file in ${evidence-}; do
		[ ! -s "$file" ] || tail -40 "$file" >&2
	done
	exit 1
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

# wait_for COMMAND...: until it succeeds, up to five minutes on a slow machine. Asked less and less often: the CPUs are for what is
# waited for.
wait_for() {
	local until=$((SECONDS + 300)) pause=0.05
	while ! "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$until" ] || { fail "never happened: $*"; return 1; }
		sleep $pause
		case $pause in 0.05) pause=0.1 ;; *) pause=0.2 ;; esac
	done
}

# in_status PATTERN: a line of `kymo status --format csv` matches; for wait_for.
in_status() {
	"$kymo" status --format csv | grep -q -- "$1"
}

# listens SOCKET: somebody accepts connections there; for wait_for. The file exists a moment before that.
listens() {
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$1"
}

# stopped PID: each of its threads stands still; for wait_for. SIGSTOP reaches one thread, and that one stops the others.
stopped() {
	! sed 's/.*) \(.\).*/\1/' "/proc/$1"/task/*/stat | grep -qv T
}

# emitted FILE COUNT: waits until tests/numbers, which writes FILE, has emitted so many events more.
emitted() {
	local least=$(($(noted "$1") + $2))
	beyond() { [ "$(noted "$1")" -ge "$2" ]; }
	wait_for beyond "$1" "$least"
}

# same WHAT WANTED SEEN
same() {
	[ "$2" = "$3" ] || fail "$1: wanted $2, got $3"
}

# field TRACE KEY...: a value in its kymo.json.
field() {
	python3 -c 'import json,sys
v=json.load(open(sys.argv[1]+"/kymo.json"))
for k in sys.argv[2:]: v=v[int(k)] if k.isdigit() else v[k]
print(v)' "$@"
}

# reads TRACE: babeltrace2 opens it and has nothing to say; its text is in $scratch/text. Prints the number of events.
reads() {
	babeltrace2 "$1" >"$scratch/text" 2>"$scratch/warnings" || fail "babeltrace2 cannot read $1"
	[ -s "$scratch/warnings" ] && fail "$1: babeltrace2 warns: $(head -1 "$scratch/warnings")"
	wc -l <"$scratch/text"
}

# noted FILE: the sum of the counters in it, which tests/numbers wrote.
noted() {
	od -An -v -t u8 -w8 "$1" | awk '{ n += $1 } END { printf "%d\n", n }'
}

# sanitized: this is a build with a sanitizer.
sanitized() {
	grep -q 'KYMO_SANITIZE:STRING=.' "$KYMO_BUILD/CMakeCache.txt"
}

# skip REASON: ends the test as skipped. test.sh adds up the reasons.
skip() {
	echo "skipped: $*"
	exit 77
}

# existing PATH: a trace below $KYMO_SHARED exists. Without it the test proves less, which test.sh reports.
existing() {
	[ -e "$1" ] && return
	echo "skipped in part: ${1#"$KYMO_SHARED"/} exists in ../shared only"
	return 1
}

# promised COMMAND...: runs the command, which runs tests/rt_check, three times. There must be no system call, allocation or lock
# in any of the runs. Only a page fault may be the machine's, which takes pages back: one run must be free of them. Returns 77 if
# there is no seccomp here.
promised() {
	local run status faults=
	for run in 1 2 3; do
		status=0
		"$@" >"$scratch/out" 2>&1 || status=$?
		[ $status != 77 ] || return 77
		grep -q '^system calls: none, allocations: 0, locks: 0, page faults: ' "$scratch/out" ||
			{ fail "run $run of '$*' ended with $status: $(cat "$scratch/out")"; return 1; }
		! grep -q 'page faults: 0$' "$scratch/out" || faults=none
	done
	[ "$faults" = none ] || fail "page faults in each run of '$*': $(cat "$scratch/out")"
}

finish() {
	[ -e "$scratch/failed" ] || exit 0
	echo "$(wc -l <"$scratch/failed") failed" >&2
	exit 1
}
