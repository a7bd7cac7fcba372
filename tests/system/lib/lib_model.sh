# SPDX-License-Identifier: Apache-2.0
# For tests of the models in tests/model: Spin in a directory of its own. Sourced.
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
	${CC:-cc} $level -w -DSAFETY -o pan pan.c
	./pan -m100000 $table >pan.log
	sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log
}

holds() {	# MODEL DEFINE...
	level=${optimize:--O1} table=
	[ "$(errors "$@")" = 0 ] || { echo "the protocol fails: $*" >&2; cat pan.log >&2; exit 1; }
}

notices() {	# MODEL DEFINE...
	level=-O0 table=-w18	# what fails, fails soon: compiling, and clearing a table of states, takes longer
	[ "$(errors "$@")" != 0 ] || { echo "the model does not notice $*" >&2; exit 1; }
}
