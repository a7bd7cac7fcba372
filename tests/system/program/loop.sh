#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: answers
# The periodic loop of include/kymo/loop.h, in C and in C++: every cycle's events, a cycle that takes too
# long, an end without a cycle; the same loop compiled out; and examples/cyclic.
TMPDIR=/dev/shm
. "$(dirname "$0")/../lib/libtest.sh"
set -e
work=$scratch
evidence=$work/text
export KYMO_DIR=$work/run
warn=(-Wall -Wextra -Wshadow -Werror -I"$KYMO_SOURCE/include")

has() {	# PATTERN TIMES
	local count
	count=$(grep -c -E "$1" "$work/text" || true)
	[ "$count" = "$2" ] || die "$what: $count times instead of $2: $1"
}
record() {	# COMMAND...: the text of its trace
	rm -rf "$work/trace"
	"$KYMO_BUILD/bin/kymo" record --quiet -o "$work/trace" -- "$@" >"$work/out" 2>&1 ||
		die "$what: $(cat "$work/out")"
	babeltrace2 "$work/trace" >"$work/text" 2>"$work/warnings" || die "$what: $(cat "$work/warnings")"
	[ ! -s "$work/warnings" ] || die "$what: babeltrace2 warns: $(cat "$work/warnings")"
}

# Ten cycles of 50 ms, the first of them switched off; the fifth sleeps for three and a half periods. Says what it counted itself.
cat >"$work/loop.c" <<'C'
#include <kymo/loop.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
static void nothing(int signal) { (void)signal; }
#ifndef KYMO_COMPILE_OUT
static void mute(bool muted) { kymo_set_category("test", !muted); }
#else
static void mute(bool muted) { (void)muted; }
#endif
int main(void)
{
	struct itimerval often = { { 0, 7000 }, { 0, 7000 } };
	struct kymo_loop loop;

	signal(SIGALRM, nothing);
	KYMO_LOOP_INIT(&loop, "test", "loop", 50000000, 0);
	kymo_loop_end(&loop);
	for (int i = 1; i <= 10; i++) {
		mute(i == 1);			/* not begun, therefore not ended */
		kymo_loop_wait(&loop);
		mute(false);
		if (kymo__loop_now() < loop.due_ns)
			return 1;		/* woken by a signal */
		setitimer(ITIMER_REAL, &often, NULL);
		if (i == 5)
			while (kymo__loop_now() < loop.due_ns + 175000000)
				;
	}
	kymo_loop_end(&loop);
	kymo_loop_end(&loop);
	printf("cycles=%d missed=%d overruns=%d skipped=%d\n", (int)loop.cycles, (int)loop.missed,
	       (int)loop.overruns, (int)loop.skipped);
	return loop.cycles != 10 || loop.overruns < 1 || loop.skipped < 2 || loop.missed < 1;
}
C
sed 's/signal(int signal) { (void)signal; }/signal(int) {}/' "$work/loop.c" >"$work/loop.cpp"

for what in c cpp; do
	if [ "$what" = c ]; then
		compiler=("${CC:-cc}" -std=gnu11 "${warn[@]}" "$work/loop.c")
	else
		command -v "${CXX:-c++}" >/dev/null || continue
		compiler=("${CXX:-c++}" -std=c++17 -pedantic "${warn[@]}" "$work/loop.cpp")
	fi
	"${compiler[@]}" -O2 -o "$work/loop" -L"$KYMO_BUILD/lib" -lkymo -Wl,-rpath,"$KYMO_BUILD/lib" ||
		die "$what: does not compile"
	record "$work/loop"
	eval "$(cat "$work/out")"
	has 'test:loop_begin: .*\{ cycle = [0-9]+, latency_ns = [0-9]+ \}' 9
	has 'test:loop_end: .*\{ \}' 9
	has 'test:loop_latency_ns: .*\{ value = [0-9]+ \}' 9
	# shellcheck disable=SC2154 # said by the program
	has 'test:loop_overrun: ' "$overruns"
	grep -q -E 'test:loop_overrun: .*\{ late_ns = [0-9]+, skipped = [2-9]' "$work/text" || die "$what: nothing skipped"
	# shellcheck disable=SC2154
	has 'test:loop_missed: .*\{ late_ns = [0-9]+ \}' "$missed"
	sleeps=$(grep -c 'test:loop_sleep_begin: ' "$work/text" || true)
	[ "$sleeps" -ge 1 ] && [ "$sleeps" -le $((9 - overruns)) ] || die "$what: $sleeps sleeps"
	has 'test:loop_sleep_end: ' "$sleeps"
	# In order: a cycle never contains a sleep, nor the reverse.
	grep -oE 'test:loop(_sleep)?_(begin|end)' "$work/text" | awk '
		/_begin/ { if (open++) exit 1 } /_end/ { if (--open) exit 1 } END { exit open }' ||
		die "$what: spans overlap"
	# The report and SQL count what the program counted.
	"$KYMO_BUILD/bin/kymo" report "$work/trace" --section loops --format csv | tail -n +2 >"$work/said"
	grep -q "^test,loop,loop,9,[45][0-9]*,.*,$missed,$overruns,$skipped," "$work/said" || die "$what: report: $(cat "$work/said")"
	"$KYMO_BUILD/bin/kymo" query -q "$work/trace" --format csv "SELECT count(*), count(missed_ns), count(overrun_ns), sum(skipped), min(cycle),
		sum(abs(begin_ns - due_ns - latency_ns) + abs(end_ns - begin_ns - busy_ns)) FROM loop_cycles" | tail -n +2 >"$work/said"
	[ "$(cat "$work/said")" = "9,$missed,$overruns,$skipped,2,0" ] || die "$what: loop_cycles: $(cat "$work/said")"
	# Each latency is the one that the program wrote into the counter.
	"$KYMO_BUILD/bin/kymo" query -q "$work/trace" --format csv "SELECT count(*) FROM loop_cycles c JOIN counters v
		ON v.name = 'loop_latency_ns' AND v.value = c.latency_ns" | tail -n +2 >"$work/said"
	[ "$(cat "$work/said")" -ge 9 ] || die "$what: latencies: $(cat "$work/said")"
	"${compiler[@]}" -DKYMO_COMPILE_OUT -o "$work/loop" || die "$what: does not compile out"
	"$work/loop" >"$work/out" || die "$what: is another loop when compiled out: $(cat "$work/out")"
done

what=cyclic
cyclic=$KYMO_BUILD/cyclic/cyclic
[ -x "$cyclic" ] || exit 0
record "$cyclic" --seconds 0.2
cycles=$(sed -n 's/^\([0-9]*\) cycles.*/\1/p' "$work/out")
[ "${cycles:-0}" -gt 1 ] || die "$(cat "$work/out")"
for span in loop sense plan act; do
	has "cyclic:${span}_begin: " "$cycles"
	has "cyclic:${span}_end: " "$cycles"
done
[ "$(grep -c -E '^(wake-up|duration) ' "$work/out")" = 2 ] || die "no distribution: $(cat "$work/out")"
status=0
"$KYMO_BUILD/bin/kymo" record --quiet -o "$work/none" -- "$cyclic" --seconds 0.1 --no-trace >"$work/text" 2>&1 ||
	status=$?
[ "$status" = 6 ] || die "switched off, and still not empty: status $status"

what='cyclic, recording itself'
"$cyclic" --seconds 0.2 --trace "$work/self" >"$work/out" || die "$(cat "$work/out")"
cycles=$(sed -n 's/^\([0-9]*\) cycles.*/\1/p' "$work/out")
babeltrace2 "$work/self" >"$work/text" 2>"$work/said" || die "babeltrace2: $(cat "$work/said")"
has "cyclic:plan_end: " "$cycles"
[ "$(wc -l <"$work/text")" = "$(sed -n 's/^recorded \([0-9]*\) events, 0 dropped$/\1/p' "$work/out")" ] ||
	die "another number of events than it says: $(cat "$work/out")"
