#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""include/kymo/cyclic.hpp: the loop, the cyclic thread and the mutex of C++, as the report and SQL see them; errors at construction;
the same compiled out; and examples/cyclic_cpp."""
import os
import shutil
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_perfetto import with_checks
from lib_test import BUILD, SOURCE, accounts, lossless, query, record, report, run, skip

PROGRAM = r"""
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <cstring>
#include <kymo/cyclic.hpp>
using namespace std::chrono_literals;

static bool refused(int priority, int cpu, int expected)
{
	kymo::cyclic_options options;

	options.priority = priority;
	if (cpu >= 0)
		options.cpus = { cpu };
	try {
		kymo::cyclic_thread thread(KYMO_LOOP("test", "never"), options, [](const kymo::loop &) { return false; });
	} catch (const std::system_error &error) {
		return error.code().value() == expected;
	}
	return false;
}

/* The thread has the priority and the CPU that it was asked for; without the permission, an error says so. */
static bool has_what_it_asks_for()
{
	kymo::cyclic_options options;
	cpu_set_t allowed, mine;
	sched_param param{};
	bool is_set = false;
	int cpu = 0;

	CPU_ZERO(&allowed);
	(void)sched_getaffinity(0, sizeof allowed, &allowed);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	options.priority = 3;
	options.cpus = { cpu };
	try {
		kymo::cyclic_thread thread(KYMO_LOOP("test", "asked"), options, [&](const kymo::loop &) {
			is_set = sched_getscheduler(0) == SCHED_FIFO && sched_getparam(0, &param) == 0 && param.sched_priority == 3 &&
				 sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_COUNT(&mine) == 1 && CPU_ISSET(cpu, &mine);
			return false;
		});
		thread.join();
	} catch (const std::system_error &error) {
		return error.code().value() == EPERM && std::strstr(error.what(), "ulimit -r");
	}
	return is_set;
}

static bool asleep(int tid)
{
	const std::string path = "/proc/self/task/" + std::to_string(tid) + "/stat";
	FILE *file = tid ? std::fopen(path.c_str(), "r") : nullptr;
	char state = 0;

	if (file && std::fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (file)
		std::fclose(file);
	return state == 'S';
}

int main()
{
	kymo::mutex lock(KYMO_MUTEX("test", "state"));
	kymo::cyclic_options options;
	int cycles = 0;

	if (!refused(1000, -1, EINVAL) || !refused(0, 1000000, EINVAL) || !refused(0, CPU_SETSIZE - 1, EINVAL) || !has_what_it_asks_for())
		return 1;
	options.period = 2ms;
	options.deadline = 1500us;
	options.thread_name = "arm";
	options.ring_bytes = 1 << 20;
	{
		kymo::cyclic_thread thread(KYMO_LOOP("test", "step"), options, [&](const kymo::loop &loop) {
			const std::lock_guard guard(lock);

			if (loop.period() != 2ms || loop.cycles() != uint64_t(++cycles))
				return false;
			if (cycles == 5)
				std::this_thread::sleep_for(7ms);
			return cycles < 20;
		});
		thread.join();
	}
	{
		/* The other thread waits; until it does, this one does not release the mutex. */
		std::unique_lock<kymo::mutex> held(lock);
		std::atomic<int> tid{ 0 };
		std::thread other([&] {
			(void)kymo_thread_ready();
			tid = gettid();
			const std::lock_guard guard(lock);
		});

		if (lock.try_lock())
			return 2;
		while (!asleep(tid))
			std::this_thread::sleep_for(1ms);
		held.unlock();
		other.join();
	}
	kymo::cyclic_thread endless(KYMO_LOOP("test", "endless"), kymo::cyclic_options(), [](const kymo::loop &) { return true; });
	endless.stop();
	endless.join();
	endless.join();
	return cycles == 20 ? 0 : 3;
}
"""


def compiled(scratch, source, *flags):
    compiler, program = os.environ.get("CXX", "c++"), os.path.join(scratch, "program")
    if not shutil.which(compiler):
        skip("there is no C++ compiler")
    libraries = () if "-DKYMO_COMPILE_OUT" in flags else ("-L" + BUILD + "/lib", "-lkymo", "-Wl,-rpath," + BUILD + "/lib")
    run(compiler, "-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror", "-pthread", "-o", program, source,
        "-I" + os.path.join(SOURCE, "include"), *libraries, *flags)
    return program


def recorded(scratch, name, *command):
    trace = os.path.join(scratch, name)
    record(trace, "-q", "--", *command)
    lossless(sum(p["dropped"] for p in accounts(trace)["processes"]))
    return trace


def classes(check, scratch):
    source = os.path.join(scratch, "program.cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    trace = recorded(scratch, "trace", compiled(scratch, source))
    loops = {row["name"]: row for row in report(trace, "loops")["loops"]}
    step = loops.get("step", {})
    check.equal("loop: its thread and cycles", (step.get("thread"), step.get("cycles"), step.get("unfinished")), ("arm", 20, 0))
    check.ok("loop: the fifth cycle missed its deadline", step.get("missed", 0) >= 1 and step["overruns"] >= 1, step)
    late = query(trace, "SELECT missed_ns, overrun_ns FROM loop_cycles WHERE name = 'step' AND cycle = 5")
    check.ok("loop: by as much as it slept", late and late[0]["missed_ns"] >= 5_500_000 and late[0]["overrun_ns"] >= 5_000_000, late)
    check.ok("loop: ends when it is stopped", loops.get("endless", {}).get("cycles", 0) >= 1, loops)
    check.ok("no thread, no loop", "never" not in loops, loops)
    spans = {row["name"]: row["n"] for row in query(trace, "SELECT name, count(*) AS n FROM spans WHERE unfinished = 0 GROUP BY name")}
    check.equal("mutex: held", spans.get("state_hold"), 22)
    check.equal("mutex: waited for", spans.get("state_wait"), 1)
    overlap = query(trace, "SELECT count(*) AS n FROM spans a JOIN spans b ON a.name = 'state_hold' AND b.name = 'state_hold' AND "
                    "a.id < b.id AND a.begin_ns < b.end_ns AND b.begin_ns < a.end_ns")
    check.equal("mutex: never held by two", overlap[0]["n"], 0)
    run(compiled(scratch, source, "-DKYMO_COMPILE_OUT"))


def example(check, scratch):
    program = os.path.join(BUILD, "cyclic_cpp", "cyclic_cpp")
    if not os.path.exists(program):
        return
    trace = recorded(scratch, "example", program, "200")
    loops = {row["name"]: row["cycles"] for row in report(trace, "loops")["loops"]}
    check.equal("example: cycles", loops.get("control"), 200)
    counted = query(trace, "SELECT (SELECT count(*) FROM counters WHERE name = 'position_rad') AS c, "
                    "(SELECT count(*) FROM spans WHERE name = 'step') AS s")[0]
    check.equal("example: steps", counted, {"c": 200, "s": 200})


with_checks(classes, example)
