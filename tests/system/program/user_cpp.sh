#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: plain
# Events of include/kymo/kymo.hpp as others read them: two files that share an inline function and a
# template, static objects, a library that is loaded and unloaded; with every C++ compiler there is.
TMPDIR=/dev/shm
. "$(dirname "$0")/../lib/libtest.sh"
set -e
work=$scratch
evidence=$work/text
export KYMO_DIR=$work/run
flags=(-std=c++17 -Wall -Wextra -Wshadow -Werror -pedantic -fno-exceptions -I"$KYMO_SOURCE/include")
library=(-L"$KYMO_BUILD/lib" -lkymo -Wl,-rpath,"$KYMO_BUILD/lib")

count() {
	grep -c -E "$1" "$work/text" || true
}
has() {	# PATTERN [TIMES]
	[ "$(count "$1")" = "${2:-1}" ] || die "$(count "$1") times instead of ${2:-1}: $1"
}

cat >"$work/shared.hpp" <<'CPP'
#include <kymo/kymo.hpp>
inline int shared(int n)
{
	KYMO_SPAN("cpp", "shared", ("n", n));
	KYMO_INSTANT("cpp", "in inline");
	return n + 1;
}
template <class T> struct box {
	T value;
	void show() const
	{
		KYMO_SPAN("cpp", "show");
		KYMO_TRACEPOINT("cpp", "box", ("value", this->value), ("size", sizeof(T)));
	}
};
int other();
CPP
cat >"$work/other.cpp" <<'CPP'
#include "shared.hpp"
static void local() { KYMO_INSTANT("cpp", "local of other"); }
int other()
{
	local();
	box<double>{2.5}.show();
	return shared(20);
}
CPP
cat >"$work/main.cpp" <<'CPP'
#include "shared.hpp"
#include <dlfcn.h>
#include <string>
#include <string_view>
#include <utility>
#include <sys/wait.h>
#include <unistd.h>

struct early { early() { KYMO_INSTANT("cpp", "early", ("who", "constructor")); }
	       ~early() { KYMO_INSTANT("cpp", "late"); } };
static early before_main;
static int from_lambda = [] { KYMO_SPAN("cpp", "lambda"); return 1; }();
__attribute__((constructor(101))) static void earliest() { KYMO_INSTANT("cpp", "earliest"); }

enum class color : uint8_t { red = 3 };
struct limits { static const int most = 9; };
static void local() { KYMO_INSTANT("cpp", "local of main"); }

static void types()
{
	const std::string text = "text";
	const std::string_view view = std::string_view("a viewed one").substr(2, 6);
	auto [first, second] = std::pair<int, long long>(1, -2);
	char array[] = "array", *null = nullptr;
	volatile short moved = -7;

	KYMO_TRACEPOINT("cpp", "integers", ("u8", uint8_t{200}), ("c", 'A'), ("i16", moved), ("u32", 4000000000u),
			("i64", second), ("first", first), ("ok", true), ("color", color::red));
	KYMO_TRACEPOINT("cpp", "others", ("f", 0.25f), ("d", 1e9), ("p", reinterpret_cast<void *>(0x1234)),
			("s", text), ("v", view), ("a", array), ("nothing", null), ("most", limits::most));
	KYMO_TRACEPOINT("cpp", "long", ("s", std::string(1000, 'x')), ("empty", std::string_view()));
	KYMO_COUNTER("cpp", "depth", 7);
	KYMO_COUNTER("cpp", "load", 0.5, ("called", [] { return 8; }()));
}

class robot {
public:
	void step() noexcept { KYMO_INSTANT("cpp", "member", ("x", x_), ("also", this->x_)); }
private:
	int x_ = 5;
};

static void named()
{
	kymo::span outer("cpp", std::string("at run time").c_str());
	KYMO_BEGIN("cpp", "by hand", ("flow", uint64_t{42}));
	KYMO_END("cpp", "by hand");
	outer.finish();
	outer.finish();
}

static void categories()
{
	KYMO_SPAN("cpp", "across the switch");
	kymo_set_category("cpp", false);
	KYMO_INSTANT("cpp", "must not be there");
	KYMO_SPAN("cpp", "must not be there either");
	KYMO_INSTANT("other", "stays on");
	kymo_set_category("cpp", true);
}

int main(int argc, char **argv)
{
	if (from_lambda)
		KYMO_INSTANT("cpp", "no braces");
	else
		KYMO_INSTANT("cpp", "must not be there");
	shared(10);
	box<int>{1}.show();
	box<double>{1.5}.show();
	local();
	other();
	types();
	robot().step();
	named();
	categories();
	if (const pid_t child = fork(); child == 0) {
		shared(30);
		_exit(0);
	} else {
		waitpid(child, nullptr, 0);
	}
	for (int i = 0; argc > 1 && i < 3; i++) {
		void *plugin = dlopen(argv[1], RTLD_NOW);
		if (!plugin)
			return 1;
		reinterpret_cast<void (*)()>(dlsym(plugin, "say"))();
		dlclose(plugin);
		if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
			return 2;	/* it must really go */
	}
	return 0;
}
CPP
cat >"$work/plugin.cpp" <<'CPP'
#include "shared.hpp"
extern "C" void say();
extern "C" void say() { KYMO_INSTANT("plugin", "loaded", ("answer", 42)); shared(40); box<int>{4}.show(); }
CPP

# All the program's events, once; $1 says what was built.
check() {
	rm -rf "$work/trace"
	"$KYMO_BUILD/bin/kymo" record --quiet -o "$work/trace" -- "$work/main" "$work/plugin.so" \
		2>"$work/err" || die "$1: record: $(cat "$work/err")"
	babeltrace2 "$work/trace" >"$work/text" 2>"$work/warnings" || die "$1: $(cat "$work/warnings")"
	[ ! -s "$work/warnings" ] || die "$1: babeltrace2 warns: $(cat "$work/warnings")"
	has 'cpp:shared_begin: .*\{ n = 10 \}'
	has 'cpp:shared_begin: .*\{ n = 20 \}'
	has 'cpp:shared_begin: .*\{ n = 30 \}'
	has 'cpp:shared_begin: .*\{ n = 40 \}' 3
	has 'cpp:shared_end: ' 6
	has 'cpp:in inline: ' 6
	has 'cpp:box: .*\{ value = 1, size = 4 \}'
	has 'cpp:box: .*\{ value = 4, size = 4 \}' 3
	has 'cpp:box: .*\{ value = 1.5, size = 8 \}'
	has 'cpp:box: .*\{ value = 2.5, size = 8 \}'
	has 'cpp:show_begin: ' 6
	has 'cpp:show_end: ' 6
	has 'cpp:local of main: '
	has 'cpp:local of other: '
	has 'cpp:integers: .*\{ u8 = 200, c = 65, i16 = -7, u32 = 4000000000, i64 = -2, first = 1, ok = 1, color = 3 \}'
	has 'cpp:others: .*\{ f = 0.25, d = 1e\+09, p = 0x1234, s = "text", v = "viewed", a = "array", nothing = "\(null\)", most = 9 \}'
	has 'cpp:long: .*\{ s = "x{255}", empty = "\(null\)" \}'
	has 'cpp:depth: .*\{ value = 7 \}'
	has 'cpp:load: .*\{ value = 0.5, called = 8 \}'
	has 'cpp:member: .*\{ x = 5, also = 5 \}'
	has 'kymo:begin_begin: .*name = "at run time"'
	has 'kymo:begin_end: '
	has 'cpp:by hand_begin: .*\{ flow = 42 \}'
	has 'cpp:by hand_end: '
	has 'cpp:across the switch_begin: '
	has 'cpp:across the switch_end: '
	has 'must not be there' 0
	has 'other:stays on: '
	has 'cpp:no braces: '
	has 'cpp:earliest: '
	has 'cpp:early: .*\{ who = "constructor" \}'
	has 'cpp:lambda_begin: '
	has 'cpp:lambda_end: '
	has 'cpp:late: '
	has 'plugin:loaded: .*\{ answer = 42 \}' 3
}

# build COMPILER FLAG...
build() {
	local cxx=$1
	shift
	for part in main other plugin; do
		"$cxx" "${flags[@]}" "$@" -fPIC -c -o "$work/$part.o" "$work/$part.cpp" || die "$cxx $*: $part"
	done
	"$cxx" -shared -o "$work/plugin.so" "$work/plugin.o" "${library[@]}" || die "$cxx $*: plugin.so"
	"$cxx" -o "$work/main" "$work/main.o" "$work/other.o" "${library[@]}" -ldl || die "$cxx $*: main"
}

tried=0
for cxx in g++ clang++; do
	command -v "$cxx" >/dev/null || continue
	tried=$((tried + 1))
	for level in -O0 -O2; do
		build "$cxx" "$level"
		check "$cxx $level"
		# What is hidden cannot be unique, and what is unique cannot be unloaded.
		! readelf -sW "$work/plugin.so" | grep -E 'UNIQUE.*kymo' || die "$cxx $level: plugin.so stays loaded"
	done

	# Compiled out: no library, no symbol, no argument evaluated.
	cat >"$work/out.cpp" <<'CPP'
#include <kymo/kymo.hpp>
int main()
{
	int n = 0;
	KYMO_INSTANT("a", "b", ("n", ++n));
	KYMO_COUNTER("a", "b", ++n);
	KYMO_SPAN("a", "c", ("n", ++n));
	kymo::span span("a", "d");
	return n;
}
CPP
	"$cxx" "${flags[@]}" -DKYMO_COMPILE_OUT -o "$work/out" "$work/out.cpp" || die "$cxx: does not compile out"
	"$work/out" || die "$cxx: arguments are evaluated when compiled out"

	# The name of the function is that of the user's, at the begin and at the end.
	cat >"$work/named.cpp" <<'CPP'
#include <kymo/kymo.hpp>
template <class T> struct planner {
	void plan(T n)
	{
		KYMO_FUNCTION("named", ("n", n));
		KYMO_SPAN("pretty", __PRETTY_FUNCTION__);
		KYMO_BEGIN("by hand", __func__);
		KYMO_END("by hand", __func__);
	}
	void stop() { KYMO_FUNCTION(); }
};
int main()
{
	planner<int>().plan(3);
	planner<double>().stop();
	KYMO_SPAN("named", __func__);
	return 0;
}
CPP
	"$cxx" "${flags[@]}" -o "$work/named" "$work/named.cpp" "${library[@]}" || die "$cxx: KYMO_FUNCTION does not compile"
	rm -rf "$work/named.trace"
	"$KYMO_BUILD/bin/kymo" record -o "$work/named.trace" -- "$work/named" >/dev/null 2>&1 || die "$cxx: named: $?"
	"$KYMO_BUILD/bin/kymo" dump "$work/named.trace" >"$work/text" || die "$cxx: named: dump"
	for event in named:plan 'by hand:plan' function:stop named:main 'pretty:.*plan\(.*'; do
		has " ${event}_begin:"
		has " ${event}_end:"
	done
	! "$KYMO_BUILD/bin/kymo" report "$work/named.trace" | grep -E 'without an end|whose begin is not' ||
		die "$cxx: ends do not match begins"

	# A field that is no pair is told by one error.
	echo '#include <kymo/kymo.hpp>
	int main() { KYMO_INSTANT("a", "b", "step", 3); }' >"$work/wrong.cpp"
	! "$cxx" "${flags[@]}" -fsyntax-only "$work/wrong.cpp" 2>"$work/err" || die "$cxx: a field without parentheses compiles"
	[ "$(grep -c 'error:' "$work/err")" = 1 ] && grep -q 'a field is a pair in parentheses' "$work/err" || die "$cxx: $(cat "$work/err")"

	# More fields than an event can have is told by the compiler.
	echo '#include <kymo/kymo.hpp>
	struct none {}; int main() { KYMO_INSTANT("a", "b", ("n", none())); }' >"$work/wrong.cpp"
	! "$cxx" "${flags[@]}" -fsyntax-only "$work/wrong.cpp" 2>"$work/err" || die "$cxx takes a field of any type"
done
[ "$tried" -gt 0 ] || skip "no C++ compiler"
