#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: plain
# Another project builds with an installed kymo, in C and C++, by pkg-config and by CMake, against the
# shared and the static library, and records itself with that installation, which has been moved.
TMPDIR=/dev/shm
. "$(dirname "$0")/../lib/libtest.sh"
set -e
work=$scratch
evidence=$work/log
export KYMO_DIR=$work/run

cmake --install "$KYMO_BUILD" --prefix "$work/first" >"$work/log" 2>&1 || die "cmake --install"
mv "$work/first" "$work/prefix"
prefix=$work/prefix
pc=$(find "$prefix" -name kymo.pc)
[ -n "$pc" ] || die "kymo.pc is not installed"
export PKG_CONFIG_PATH=${pc%/kymo.pc}
libdir=$(pkg-config --variable=libdir kymo) || die "pkg-config does not find kymo"
pkg-config --exists 'kymo >= 0.1' || die "kymo.pc: version"
! grep -r -l -F -e "$KYMO_SOURCE" -e "$work/first" "$prefix/include" "${pc%/*}" "$libdir/cmake" ||
	die "installed files name the place they come from"
# A sanitized libkymo.a asks for the sanitizer in every program.
static=1
! nm "$libdir/libkymo.a" 2>/dev/null | grep -q -E '__(asan|ubsan|tsan)_' || static=

mkdir "$work/project"
cd "$work/project"
cat >main.c <<'C'
#include <kymo/kymo.h>
int main(void) { KYMO_SPAN("foreign", "main"); KYMO_INSTANT("foreign", "in_c", ("n", 1)); return 0; }
C
cat >main.cpp <<'CPP'
#include <kymo/kymo.hpp>
inline void inner() { KYMO_INSTANT("foreign", "in_cpp", ("n", 2)); }
int main() { KYMO_SPAN("foreign", "main"); inner(); }
CPP
cat >self.c <<'C'
#include <stdio.h>
#include <kymo/kymo.h>
#include <kymo/session.h>
int main(int argc, char **argv)
{
	struct kymo_session_stats stats;
	struct kymo_session *session;
	if (argc != 2 || kymo_session_start(argv[1], NULL, &session) < 0)
		return fprintf(stderr, "%s\n", kymo_session_error()), 1;
	for (int i = 0; i < 100; i++)
		KYMO_INSTANT("self", "event", ("i", i));
	return kymo_session_stop(session, &stats) < 0 || stats.recorded != 100;
}
C
cat >self.cpp <<'CPP'
#include <kymo/kymo.hpp>
#include <kymo/session.h>
int main(int argc, char **argv)
{
	kymo_session_stats stats;
	kymo::session session(argc == 2 ? argv[1] : "");
	if (!session || kymo::session("/proc/nonexistent/x") || !session.add_sink(std::string(argv[1]) + "-2"))
		return 1;
	for (int i = 0; i < 100; i++)
		KYMO_INSTANT("self", "event", ("i", i));
	if (session.remove_sink("nowhere") || session.error().find("nowhere") == std::string::npos)
		return 2;
	if (!session.remove_sink(std::string(argv[1]) + "-2", &stats) || stats.recorded != 100)
		return 3;
	return 0;			/* its destructor stops it */
}
CPP
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.18)
project(foreign LANGUAGES C CXX)
find_package(kymo 0.1 REQUIRED)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_EXTENSIONS OFF)
foreach(library ${LIBRARIES})
	add_executable(cmake_c_${library} main.c)
	target_link_libraries(cmake_c_${library} PRIVATE kymo::${library})
	add_executable(cmake_cpp_${library} main.cpp)
	target_link_libraries(cmake_cpp_${library} PRIVATE kymo::${library})
endforeach()
add_executable(cmake_reader callbacks.c)
target_link_libraries(cmake_reader PRIVATE kymo::ctf)
add_executable(cmake_self_c self.c)
add_executable(cmake_self_cpp self.cpp)
target_link_libraries(cmake_self_c PRIVATE kymo::kymo kymo::session)
target_link_libraries(cmake_self_cpp PRIVATE kymo::kymo kymo::session)
CMAKE

# Records $1, which must say $2 of itself.
records() {
	rm -rf "$work/trace"
	LD_LIBRARY_PATH=${3-} "$prefix/bin/kymo" record --quiet -o "$work/trace" -- "$1" >"$work/log" 2>&1 ||
		die "$1 cannot be recorded"
	babeltrace2 "$work/trace" >"$work/text" 2>"$work/log" || die "babeltrace2 on what $1 left"
	[ "$(grep -c "foreign:$2: .*{ n = " "$work/text")" = 1 ] || die "$1: no $2 in its trace"
	[ "$(grep -c 'foreign:main_end: ' "$work/text")" = 1 ] || die "$1: no end of its span"
}

# $1 records itself.
records_itself() {
	rm -rf "$work/self" "$work/self-2"
	LD_LIBRARY_PATH=${2-} "$1" "$work/self" >"$work/log" 2>&1 || die "$1 does not record itself: $?"
	[ "$(babeltrace2 "$work/self" 2>"$work/log" | grep -c self:event:)" = 100 ] || die "$1: its trace"
}

# shellcheck disable=SC2046 # lists of options
{
	${CC:-cc} -o pc_self_c self.c $(pkg-config --cflags --libs kymo kymo-session) >"$work/log" 2>&1 ||
		die "pkg-config kymo-session, C"
	${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -o pc_self_cpp self.cpp \
		$(pkg-config --cflags --libs kymo kymo-session) >"$work/log" 2>&1 || die "pkg-config kymo-session, C++"
	records_itself ./pc_self_c "$libdir"
	records_itself ./pc_self_cpp "$libdir"
	if [ "$static" ]; then
		${CC:-cc} -o static_self self.c $(pkg-config --cflags kymo) "$libdir/libkymo.a" \
			"$libdir/libkymo-session.a" -luv -ljson-c -lzstd -lz -pthread >"$work/log" 2>&1 || die "libkymo-session.a"
		records_itself ./static_self
	fi
	${CC:-cc} -o pc_c main.c $(pkg-config --cflags --libs kymo) >"$work/log" 2>&1 || die "pkg-config, C"
	${CXX:-c++} -std=c++17 -o pc_cpp main.cpp $(pkg-config --cflags --libs kymo) >"$work/log" 2>&1 ||
		die "pkg-config, C++"
	records ./pc_c in_c "$libdir"
	records ./pc_cpp in_cpp "$libdir"
	if [ "$static" ]; then
		${CC:-cc} -o static_c main.c $(pkg-config --cflags kymo) "$libdir/libkymo.a" -pthread \
			>"$work/log" 2>&1 || die "libkymo.a, C"
		${CXX:-c++} -std=c++17 -o static_cpp main.cpp $(pkg-config --cflags kymo) \
			"$libdir/libkymo.a" -pthread >"$work/log" 2>&1 || die "libkymo.a, C++"
		records ./static_c in_c
		records ./static_cpp in_cpp
	fi
}

# The reader: the example is built from what is installed, reads a trace, and sees no more than the header says.
example=$KYMO_SOURCE/examples/callbacks/callbacks.c
fixture=$KYMO_SOURCE/tests/fixtures/lifecycle
wanted=$("$prefix/bin/kymo" dump "$fixture" --event ros2:callback_end | wc -l)
[ "$wanted" -gt 0 ] || die "the fixture has no callbacks"
reads() {
	LD_LIBRARY_PATH=$libdir "$1" "$fixture" >"$work/log" 2>&1 || die "$1 cannot read a trace"
	[ "$(sed -n 's/.*: \([0-9]*\) callbacks.*/\1/p' "$work/log" | awk '{ n += $1 } END { print n }')" = "$wanted" ] ||
		die "$1 does not count $wanted callbacks"
}
cp "$example" callbacks.c
cat >reader.cpp <<'CPP'
#include <kymo/ctf.h>
int main() { kymo_ctf_event event{}; event.event_class = nullptr; return kymo_ctf_open("/proc/nowhere", nullptr, nullptr) + event.vpid + 1; }
CPP
# shellcheck disable=SC2046
{
	${CC:-cc} -std=c11 -Wall -Wextra -pedantic -Werror -o pc_reader callbacks.c \
		$(pkg-config --cflags --libs kymo-ctf) >"$work/log" 2>&1 || die "pkg-config, reader"
	${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -o pc_reader_cpp reader.cpp \
		$(pkg-config --cflags --libs kymo-ctf) >"$work/log" 2>&1 || die "pkg-config, reader from C++"
}
reads ./pc_reader
LD_LIBRARY_PATH=$libdir ./pc_reader_cpp || die "the reader from C++"
nm -D --defined-only "$libdir/libkymo-ctf.so" | awk '{ print $3 }' | sort >"$work/seen"
[ -s "$work/seen" ] || die "libkymo-ctf.so shows nothing"
while read -r symbol; do
	grep -q "\b$symbol(" "$prefix/include/kymo/ctf.h" || die "libkymo-ctf.so shows $symbol"
done <"$work/seen"
for symbol in $(grep -oE '\bctf_[a-z_]+\(struct' "$prefix/include/kymo/ctf.h" | tr -d '('); do
	grep -qx "${symbol%struct}" "$work/seen" || die "libkymo-ctf.so does not have ${symbol%struct}"
done

cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" "-DLIBRARIES=kymo${static:+;static}" >"$work/log" 2>&1 ||
	die "find_package(kymo)"
cmake --build build >"$work/log" 2>&1 || die "does not build with CMake"
for program in build/cmake_c_*; do
	records "./$program" in_c
done
for program in build/cmake_cpp_*; do
	records "./$program" in_cpp
done
reads ./build/cmake_reader
for program in build/cmake_self_*; do
	records_itself "./$program"
done
