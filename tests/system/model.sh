#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The publication protocol of the ring and that of overwriting, in every interleaving; and that the
# models can fail.
set -eu
command -v spin >/dev/null || { echo "skipped: spin is not installed"; exit 77; }
grep -q 'KYMO_SANITIZE:STRING=.' "$KYMO_BUILD/CMakeCache.txt" && { echo "skipped: a model has no sanitizers"; exit 77; }
work=$(mktemp -d /tmp/kymo-model-XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"

# errors MODEL DEFINE...: how many errors the checker finds
errors() {
	model=$1
	shift
	spin "$@" -a "$KYMO_SOURCE/tests/model/$model.pml" >spin.log 2>&1 || { cat spin.log >&2; exit 1; }
	${CC:-cc} $level -w -DSAFETY -DCOLLAPSE -o pan pan.c
	./pan -m100000 >pan.log
	sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log
}

level=-O1
for model in ring overwrite; do
	[ "$(errors $model -DSHORT)" = 0 ] || { echo "model.sh: the protocol fails: $model" >&2; cat pan.log >&2; exit 1; }
done
level=-O0			# what fails, fails soon: compiling takes longer
notices() {	# MODEL DEFINE...
	[ "$(errors "$@")" != 0 ] || { echo "model.sh: does not notice $*" >&2; exit 1; }
}
for broken in NO_NEST NO_LAST_LOOK NO_NSEQ NO_CATCH_UP TIME_BEFORE_WORD; do
	notices ring -DSHORT -D$broken
done
notices ring -DNO_LOOK_BEHIND_CLOCK
for broken in NO_FENCE SEQ_LAST NO_RELEASE NO_LIMIT NO_SECOND_LOOK NO_ACQUIRE_FENCE; do
	notices overwrite -DSHORT -D$broken
done
