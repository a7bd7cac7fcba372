#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The publication protocol of the ring, in every interleaving; and that the model can fail.
set -eu
command -v spin >/dev/null || { echo "skipped: spin is not installed"; exit 77; }
grep -q 'KYMO_SANITIZE:STRING=.' "$KYMO_BUILD/CMakeCache.txt" && { echo "skipped: a model has no sanitizers"; exit 77; }
work=$(mktemp -d /tmp/kymo-model-XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"

# errors DEFINE...: how many errors the checker finds
errors() {
	spin "$@" -a "$KYMO_SOURCE/tests/model/ring.pml" >spin.log 2>&1 || { cat spin.log >&2; exit 1; }
	${CC:-cc} -O1 -w -DSAFETY -DCOLLAPSE -o pan pan.c
	./pan -m100000 >pan.log
	sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log
}

[ "$(errors -DSHORT)" = 0 ] || { echo "model.sh: the protocol fails" >&2; cat pan.log >&2; exit 1; }
for broken in "-DSHORT -DNO_NEST" "-DSHORT -DNO_LAST_LOOK" "-DSHORT -DNO_NSEQ" "-DSHORT -DNO_CATCH_UP" \
	      "-DSHORT -DTIME_BEFORE_WORD" -DNO_LOOK_BEHIND_CLOCK; do
	[ "$(errors $broken)" != 0 ] || { echo "model.sh: does not notice $broken" >&2; exit 1; }
done
