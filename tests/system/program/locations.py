#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""File and line of the source of callbacks: lambdas of a constructor, of a function and generic ones, static functions, members of
std::bind and functions of a library that the program loads; with and without optimization, which puts what throws apart
(function.cold); with old, new and compressed line tables. A program that was built again since, or without debug information, has
none, also where an answer was kept."""
import glob
import os
import shutil
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_cxx import COMPILE, require
from lib_test import BUILD, answer, check, in_directory, kymo, query, record, run, until

# As tracetools and rclcpp do it: the type of a lambda has its name; a std::function of a plain function has its address.
HEAD = """#include <functional>
#include <cstdlib>
#include <typeinfo>
namespace tracetools { namespace detail { char *demangle_symbol(const char *); char *get_symbol_funcptr(const void *); }
template<class T> char *get_symbol(const T &callback) { return detail::demangle_symbol(typeid(callback).name()); }
inline char *get_symbol(const std::function<void()> &f) {
	auto pointer = f.target<void (*)()>();
	return pointer ? detail::get_symbol_funcptr(reinterpret_cast<const void *>(*pointer)) : detail::demangle_symbol(f.target_type().name());
} }
extern "C" { void ros_trace_rcl_init(const void *); void ros_trace_rclcpp_callback_register(const void *, const char *);
void ros_trace_rclcpp_timer_callback_added(const void *, const void *); void ros_trace_rcl_timer_init(const void *, long);
void ros_trace_callback_start(const void *, bool); void ros_trace_callback_end(const void *); }
template<class F> struct Timer {
	F callback;
	explicit Timer(F f) : callback(f) {
		char *symbol = tracetools::get_symbol(callback);
		ros_trace_rcl_timer_init(this, 1000000);
		ros_trace_rclcpp_timer_callback_added(this, &callback);
		ros_trace_rclcpp_callback_register(&callback, symbol);
		std::free(symbol);
	}
	__attribute__((noinline)) void execute_callback() {
		ros_trace_callback_start(&callback, false);
		callback();
		ros_trace_callback_end(&callback);
	}
};
"""
PROGRAM = """#include "rclcpp/head.hpp"
#include <cstdio>
#include <stdexcept>
#include <string>
struct Node {
	std::function<void()> stored, throws;
	Node();
	void bound();
};
void Node::bound() {                                    // line: bound
	std::printf("%p", static_cast<void *>(this));
}
Node::Node()
{
	stored = [this]() {                             // line: stored
		std::printf("%p", static_cast<void *>(this));
	};
	throws = [this]() {                             // line: throws
		std::string text(100, stored ? 'a' : 'b');

		std::puts(text.c_str());
		std::puts(text.c_str() + 1);
		std::puts(text.c_str() + 2);
		if (text.size() != 100)
			throw std::runtime_error(text);
	};
	Timer direct([this]() {                         // line: direct
		std::printf("%p", static_cast<void *>(this));
	});
	direct.execute_callback();
	Timer member(std::bind(&Node::bound, this));
	member.execute_callback();
	Timer<std::function<void()>> wrapped(std::bind(&Node::bound, this));
	wrapped.execute_callback();
}
static void plain() {                                   // line: plain
	std::puts("");
}
void in_library();
int main()
{
	static char context;

	ros_trace_rcl_init(&context);
	Node node;
	Timer<std::function<void()>> stored(node.stored), free_function(plain), throws(node.throws);
	stored.execute_callback();
	throws.execute_callback();
	free_function.execute_callback();
	in_library();
}
"""
LIBRARY = """#include "rclcpp/head.hpp"
#include <cstdio>
void in_library()
{
	Timer component([]() {                          // line: component
		std::puts("component");
	});
	component.execute_callback();
}
"""
LIBRARIES = [f"-L{BUILD}/stub/jazzy/lib", "-ltracetools", f"-Wl,-rpath,{BUILD}/stub/jazzy/lib", "-Wl,--allow-shlib-undefined"]


def lines():
    """Return: where the callbacks begin, by their name."""
    return {line.rpartition("// line: ")[2]: f"{file}:{number}" for file, text in (("rclcpp/program.cpp", PROGRAM), ("rclcpp/library.cpp", LIBRARY))
            for number, line in enumerate(text.splitlines(), 1) if "// line: " in line}


def build(*options):
    """Compiles both, as a workspace does: with the whole paths of the sources."""
    for name, text in ("include/rclcpp/head.hpp", HEAD), ("rclcpp/program.cpp", PROGRAM), ("rclcpp/library.cpp", LIBRARY):
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    here = os.getcwd()
    run(*COMPILE, "-Iinclude", "-Wl,--build-id", *options, "-shared", "-o", f"{here}/libcomponent.so", f"{here}/rclcpp/library.cpp",
        *LIBRARIES)
    run(*COMPILE, "-Iinclude", "-Wl,--build-id", *options, "-o", "program", f"{here}/rclcpp/program.cpp", f"-L{here}", "-lcomponent", f"-Wl,-rpath,{here}",
        "-Wl,--unresolved-symbols=ignore-all", *LIBRARIES)


def in_order(places):
    """Return: the same as (file, line), sorted."""
    return sorted((file, int(line)) for file, _, line in (place.rpartition(":") for place in places))


def locations(trace):
    return in_order(row["location"] for row in query(trace, "SELECT location FROM callbacks WHERE location IS NOT NULL"))


def recorded(work, name):
    trace = os.path.join(work, name)
    shutil.rmtree(trace, ignore_errors=True)
    record(trace, "-q", "--", "./program")
    return trace


def ask_again(work, trace):
    """The program is built again with another build id, between two questions whose answers are kept."""
    questions = ("query", trace, "SELECT location FROM callbacks ORDER BY 1"), ("report", trace, "--all", "--format", "csv")
    environment = {**os.environ, "KYMO_CACHE": "always", "XDG_CACHE_HOME": os.path.join(work, "cache")}

    def ask(words):
        return kymo(*words, env=environment)

    def is_kept(words):
        before = glob.glob(f"{work}/cache/kymo/*.kept")
        ask(words)
        return len(glob.glob(f"{work}/cache/kymo/*.kept")) > len(before)

    for words in questions:
        until("the answer to be kept", lambda words=words: is_kept(words))
    first = [ask(words) for words in questions]
    check(all("program.cpp" in text for text in first), first)
    touched = glob.glob(f"{work}/cache/kymo/*.kept")
    for file in touched:
        os.utime(file, (1, 1))
    check([ask(words) for words in questions] == first, "the second answers differ")
    check(all(os.stat(file).st_mtime > 1 for file in touched), "an answer that was kept is not used")
    build("-g", "-O0", "-DAGAIN=1", "-fno-inline")
    for words in questions:
        check("program.cpp" not in ask(words), words, "still has the lines of the program before:", ask(words))


def main(work):
    require()
    os.chdir(work)
    # Two callbacks are the member function of std::bind.
    expected = in_order(f"{work}/{place}" for place in [*lines().values(), lines()["bound"]])
    for options in (["-g", "-O0"], ["-gdwarf-4", "-O0"], ["-gdwarf-2", "-O0"], ["-gdwarf-5", "-gdwarf64", "-O0"],
                    ["-g", "-gz=zlib", "-O0"], ["-g", "-O2"]):
        build(*options)
        trace = recorded(work, "trace")
        found = locations(trace)
        # Of what was inlined, the first line of its body is known, and not where it begins.
        most = 2 if "-O2" in options else 0
        check([file for file, _ in found] == [file for file, _ in expected] and
              all(abs(a[1] - b[1]) <= most for a, b in zip(found, expected)), options, found, expected)
    told = answer("report", trace, "--section", "callbacks")["callbacks"]
    check(sum(row["location"] is not None for row in told) == len(expected), told)
    names = [row["symbol"] for row in query(trace, "SELECT symbol FROM callbacks")]
    check(names.count("Node::bound()") == 2, names)
    ask_again(work, trace)
    check(locations(trace) == [], "a file that was built again:", locations(trace))
    build("-g", "-O0", "-Wl,--build-id=none")               # nothing says that it was built again
    check(locations(recorded(work, "unnamed")) == [], "a file without a build id")
    build("-O0", "-s")
    check(locations(recorded(work, "stripped")) == [], "a file without debug information")


in_directory(main)
