#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: answers
# Events of include/kymo/kymo.h as others read them, and what they cost when compiled out.
TMPDIR=/dev/shm
. "$(dirname "$0")/../lib/libtest.sh"
set -e
work=$scratch
evidence=$work/text
export KYMO_DIR=$work/run
cc=${CC:-cc}

count() {
	grep -c -E "$1" "$work/text" || true
}
has() {	# PATTERN [TIMES]
	[ "$(count "$1")" = "${2:-1}" ] || die "$(count "$1") times instead of ${2:-1}: $1"
}

cat >"$work/plugin.c" <<'C'
#include <kymo/kymo.h>
void say(void);
void say(void) { KYMO_INSTANT("plugin", "loaded", ("answer", 42)); }
C
$cc -std=gnu11 -Wall -Wextra -Werror -I"$KYMO_SOURCE/include" -shared -fPIC -o "$work/plugin.so" \
	"$work/plugin.c" -L"$KYMO_BUILD/lib" -lkymo -Wl,-rpath,"$KYMO_BUILD/lib"

"$KYMO_BUILD/bin/kymo" record --quiet -o "$work/trace" -- "$KYMO_BUILD/tests/user_events" "$work/plugin.so" \
	2>"$work/err" || die "record: $(cat "$work/err")"
babeltrace2 --names=payload "$work/trace" >"$work/text" 2>"$work/warnings" || die "$(cat "$work/warnings")"
[ ! -s "$work/warnings" ] || die "babeltrace2 warns: $(cat "$work/warnings")"
babeltrace2 "$work/trace" >"$work/text" 2>/dev/null

has 'test:types: .*\{ u8 = 200, i16 = -3, u32 = 4000000000, i64 = -5, ok = 1, f = 0.25, p = 0x1234, s = "an array" \}'
has 'test:nothing: .*\{ s = "\(null\)" \}'
has 'test:depth: .*\{ value = 7 \}'
has 'test:load: .*\{ value = 0.5 \}'
has 'test:outer_begin: .*\{ n = 1 \}'
has 'test:outer_end: '
has 'test:inner_begin: ' 2
has 'test:inner_end: ' 2
has 'test:step: .*\{ flow = 42 \}' 2
has 'test:by hand_begin: '
has 'test:by hand_end: '
has 'kymo:begin_begin: .*category = "test", name = "dynamic"'
has 'kymo:begin_end: '
has 'kymo:instant: .*name = "a name made at run time"'
has 'kymo:counter: .*value = 2.5, category = "test", name = "a counter made at run time"'
has 'must not be there' 0
has 'other:category stays on: '
has 'test:across the switch_begin: '
has 'test:across the switch_end: '
has 'kymo:track: .*init_timestamp = .*parent = 0, name = "my track"'
has 'test:on a track: .*track = [0-9]+, at_ns = [0-9]+'
has 'kymo:thread_name: .*name = "worker"'
has 'test:from a thread: .*procname = "worker"'
has 'test:from a child: '
has 'plugin:loaded: .*\{ answer = 42 \}' 3
has 'test:early: '
has 'ros2:' 0
# One trace for the program, one for its child; both have their declarations.
[ "$(ls -d "$work"/trace/*-* | wc -l)" = 2 ] || die "traces: $(ls "$work/trace")"

# Attached to late: the declarations are still there.
"$KYMO_BUILD/bin/kymo" list "$work/trace" --format csv >"$work/text" || die "list"
has 'test:types'

# The name of the function, and a field that is no pair.
cat >"$work/named.c" <<'C'
#include <kymo/kymo.h>
static void plan(int n) { KYMO_FUNCTION("named", ("n", n)); }
static void stop(void) { KYMO_FUNCTION(); }
int main(void) { KYMO_INSTANT("named", __func__); plan(3); stop(); return 0; }
C
$cc -std=gnu11 -Wall -Wextra -Werror -I"$KYMO_SOURCE/include" -o "$work/named" "$work/named.c" -L"$KYMO_BUILD/lib" -lkymo \
	-Wl,-rpath,"$KYMO_BUILD/lib" || die "KYMO_FUNCTION does not compile"
"$KYMO_BUILD/bin/kymo" record -o "$work/named.trace" -- "$work/named" >/dev/null 2>&1 || die "named: $?"
"$KYMO_BUILD/bin/kymo" dump "$work/named.trace" >"$work/text" || die "named: dump"
for event in named:main: named:plan_begin: named:plan_end: function:stop_begin: function:stop_end:; do
	has " $event"
done
# Of a program without ROS 2, nothing is said about ROS 2.
"$KYMO_BUILD/bin/kymo" report --section spans "$work/named.trace" >"$work/text" || die "named: report"
has 'named +plan ' && has 'ROS 2|Nodes|one host' 0
"$KYMO_BUILD/bin/kymo" flow "$work/named.trace" >"$work/text" 2>&1 || die "flow: $(cat "$work/text")"
has '^Worst: span (named|function):'
# One instance has nothing usual.
has '^Why: .* itself took ' && has 'usually' 0
"$KYMO_BUILD/bin/kymo" why "$work/named.trace" >"$work/text" 2>&1 || die "why: $(cat "$work/text")"
has '^Worst: span (named|function):'
# A program of instants only has nothing that `flow` or `why` could take apart; they say where the instants are.
echo '#include <kymo/kymo.h>
int main(void) { KYMO_INSTANT("only", "once"); return 0; }' >"$work/only.c"
$cc -std=gnu11 -I"$KYMO_SOURCE/include" -o "$work/only" "$work/only.c" -L"$KYMO_BUILD/lib" -lkymo -Wl,-rpath,"$KYMO_BUILD/lib" || die "only"
"$KYMO_BUILD/bin/kymo" record -q -o "$work/only.trace" -- "$work/only" || die "only: $?"
for verb in flow why; do
	status=0; "$KYMO_BUILD/bin/kymo" $verb "$work/only.trace" >"$work/text" 2>&1 || status=$?
	[ $status = 6 ] && has '^Nothing to show: The trace has no events of ROS 2, and no loop or span of kymo.h ended: .kymo report [^ ]*only.trace. shows instants' ||
		die "$verb: $status: $(cat "$work/text")"
done
"$KYMO_BUILD/bin/kymo" report "$work/only.trace" >"$work/text" && has '^only +once ' || die "report: $(cat "$work/text")"
"$KYMO_BUILD/bin/kymo" report --section cputime "$work/named.trace" >"$work/text" 2>&1 && die "cputime shows something"
has 'lttng' 0 && has 'Nothing to show: .*kymo record --kernel'
echo '#include <kymo/kymo.h>
int main(void) { KYMO_INSTANT("a", "b", "step", 3); return 0; }' >"$work/wrong.c"
! $cc -std=gnu11 -I"$KYMO_SOURCE/include" -fsyntax-only "$work/wrong.c" 2>"$work/err" || die "a field without parentheses compiles"
[ "$(grep -c 'error:' "$work/err")" = 1 ] && grep -q 'a field is a pair in parentheses' "$work/err" || die "$(cat "$work/err")"

# Compiled out: no library, no symbol, no argument evaluated.
cat >"$work/out.c" <<'C'
#include <kymo/kymo.h>
int main(void) { int n = 0; KYMO_INSTANT("a", "b", ("n", ++n)); { KYMO_SPAN("a", "c", ("n", ++n)); } return n; }
C
$cc -std=gnu11 -Wall -Wextra -Werror -DKYMO_COMPILE_OUT -I"$KYMO_SOURCE/include" -o "$work/out" "$work/out.c" ||
	die "does not compile out"
"$work/out" || die "arguments are evaluated when compiled out"
