#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: answers
# `kymo record --functions`: the calls of a program built with -finstrument-functions, and of its plugin, with the names of the
# functions; other programs run as ever.
TMPDIR=/dev/shm
. "$(dirname "$0")/../lib/libtest.sh"
set -e
cd "$scratch"
export KYMO_DIR=$scratch/run
cat >program.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static __attribute__((noinline)) int leaf(int n) { return n + 1; }
static __attribute__((noinline)) int middle(int n) { int s = 0; for (int i = 0; i < 3; i++) s += leaf(n); return s; }
void ros_trace_rcl_node_init(const void *, const void *, const char *, const char *);
void ros_trace_rcl_timer_init(const void *, long);
void ros_trace_rclcpp_timer_callback_added(const void *, const void *);
void ros_trace_rclcpp_timer_link_node(const void *, const void *);
void ros_trace_callback_start(const void *, _Bool);
void ros_trace_callback_end(const void *);
static __attribute__((noinline)) int on_timer(int n) { return middle(n); }
static int node(void)
{
	int total = 0;

	ros_trace_rcl_node_init((void *)2, (void *)3, "node", "/");
	ros_trace_rcl_timer_init((void *)4, 1000000);
	ros_trace_rclcpp_timer_callback_added((void *)4, (void *)5);
	ros_trace_rclcpp_timer_link_node((void *)4, (void *)2);
	for (int i = 0; i < 5; i++) {
		ros_trace_callback_start((void *)5, 0);
		total += on_timer(i);
		ros_trace_callback_end((void *)5);
	}
	return total;
}
static void *thread(void *unused) { (void)unused; return middle(1) ? NULL : &middle; }
int main(int argc, char **argv)
{
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	int (*plugin)(int) = library ? (int (*)(int))dlsym(library, "plugin") : NULL;
	pthread_t other;
	int total = 0;

	if (pthread_create(&other, NULL, thread, NULL) || pthread_join(other, NULL))
		return 1;
	for (int i = 0; i < 100; i++)
		total += middle(i);
	for (int i = 0; plugin && i < 7; i++)
		total += plugin(i);
	printf("%d\n", total + (argc > 2 ? node() : 0));
	return 0;
}
C
cat >plugin.c <<'C'
static __attribute__((noinline)) int inner(int n) { return n * 2; }
int plugin(int n);
int plugin(int n) { return inner(n) + 1; }
C
tracetools="-L$KYMO_BUILD/stub/jazzy/lib -ltracetools -Wl,-rpath,$KYMO_BUILD/stub/jazzy/lib"
flags="-O1 -finstrument-functions -Wl,--build-id -pthread"
${CC:-cc} $flags -o program program.c -ldl $tracetools
${CC:-cc} $flags -shared -fPIC -o plugin.so plugin.c
profile() {	# TRACE: calls of each path
	"$kymo" report "$1" --section profile --format json >profile.json || die "report: $(cat profile.json)"
	python3 - <<'P'
import json
path = {}
for row in json.load(open("profile.json"))["profile"]:
    depth = row.get("depth", 0)
    path = {at: name for at, name in path.items() if at < depth}
    path[depth] = row["function"]
    print("/".join(path[at] for at in sorted(path)), row["file"], row["calls"])
P
}
"$kymo" record -q -o trace --functions -- ./program ./plugin.so >out 2>err || die "record: $(cat err)"
[ "$(cat out)" = "$(./program ./plugin.so)" ] || die "it prints $(cat out)"
babeltrace2 trace >text 2>warnings && [ ! -s warnings ] || die "babeltrace2: $(cat warnings)"
[ "$(grep -c 'func_entry: ' text)" = "$(grep -c 'func_exit: ' text)" ] || die "not as many exits as entries"
wanted="main program 1
main/middle program 100
main/middle/leaf program 300
main/plugin plugin.so 7
main/plugin/inner plugin.so 7
thread program 1
thread/middle program 1
thread/middle/leaf program 3"
told=$(profile trace | sort)
[ "$told" = "$wanted" ] || die "the profile has
$told"
# Within a callback.
"$kymo" record -q -o node --functions -- ./program of_ros2 ./plugin.so >out 2>err || die "record: $(cat err)"
told=$(profile node | grep -E 'node( |/)')
[ "$told" = "main/node program 1
main/node//node timer 1 ms callback 5
main/node//node timer 1 ms/on_timer program 5
main/node//node timer 1 ms/on_timer/middle program 5
main/node//node timer 1 ms/on_timer/middle/leaf program 15" ] || die "within a callback, the profile has
$told"
# Built again since: its names are those of another program.
${CC:-cc} $flags -O2 -o program program.c -ldl $tracetools
told=$(profile trace | grep -c '^0x')
[ "$told" = 8 ] && "$kymo" report trace --section profile | grep -q "build id differs from the one that ran: 1" ||
	die "names of another program: $(cat profile.json)"
# Without the option, and other programs with it.
"$kymo" record -q -o none -- ./program ./plugin.so >out 2>err && die "events without --functions" || [ $? = 6 ]
[ "$("$kymo" record -q -o other --functions -- sh -c 'echo $((6 * 7)); ls / | sort | head -2' 2>/dev/null)" = "42
$(ls / | sort | head -2)" ] || die "another program runs otherwise"
run 2 "$kymo" record --functions && has err "kymo run --functions"
