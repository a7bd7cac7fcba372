#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A first event is no cancellation point, needs little stack and keeps errno; nobody is left waiting for a thread that ended.
# needs: quick
TMPDIR=/dev/shm
. "$(dirname "$0")/../lib/libtest.sh"
export KYMO_DIR=$scratch/run
first=$KYMO_BUILD/tests/first_events

recorded() {	# ARGUMENT...
	rm -rf "$scratch/trace"
	"$kymo" record --quiet -o "$scratch/trace" -- "$first" "$@"
}
complete() {	# ARGUMENT...: ends as ever, and each event is recorded or counted
	run 0 recorded "$@" || return
	same "events of '$*'" "$(cat "$scratch/out")" \
		$(($(field "$scratch/trace" totals recorded) + $(field "$scratch/trace" totals dropped)))
}

complete cancel 100
for kind in run fact user; do
	complete errno $kind
	! sanitized || continue		# their frames are larger
	for where in stack alt; do
		complete $where $kind
		[ $kind != run ] || complete $where run warm
	done
done

# Threads that get no ring: the reason is the process's own.
recorded filter run warm >"$scratch/out" 2>"$scratch/err"
case $? in
0) has err "(Operation not permitted): it changed its user or root directory, or a seccomp filter forbids it" ;;
77) echo "skipped in part: no seccomp here" ;;
*) fail "filter: $(cat "$scratch/out" "$scratch/err")" ;;
esac

# The process also looks at the files that dead processes left.
mkdir -p -m 700 "$KYMO_DIR"
KYMO_FLIGHT=1 "$kymo" run -- "$first" errno run >/dev/null
ls "$KYMO_DIR"/*.region >/dev/null || fail "no region is left"
for where in stack alt; do
	sanitized || run 0 "$kymo" run -- "$first" $where run
done
finish
