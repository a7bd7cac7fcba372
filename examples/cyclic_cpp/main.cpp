/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A 1 kHz control thread and a slower thread that gives it targets, with a mutex between them:
 *
 *     cyclic_cpp [CYCLES] [PRIORITY]
 *
 * With a PRIORITY (1 to 99) the control thread is SCHED_FIFO, its memory is locked, and it stays on
 * the first CPU; that needs permission.
 */
#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include <kymo/cyclic.hpp>

using namespace std::chrono_literals;

namespace
{

class arm
{
      public:
	void step()
	{
		KYMO_FUNCTION("arm");
		const std::lock_guard guard(lock_);

		for (auto &position : positions_)
			position += (target_ - position) * 0.01;
		KYMO_COUNTER("arm", "position_rad", positions_[0]);
	}

	void aim(double target)
	{
		KYMO_SPAN("arm", "aim", ("target", target));
		const std::lock_guard guard(lock_);

		target_ = target;
	}

      private:
	kymo::mutex lock_{ KYMO_MUTEX("arm", "state") };
	std::array<double, 6> positions_{};
	double target_ = 0;
};

int run(uint64_t cycles, int priority)
{
	arm robot;
	kymo::cyclic_options fast, slow;

	fast.period = 1ms;
	fast.deadline = 800us;
	fast.priority = priority;
	fast.lock_memory = priority > 0;
	if (priority > 0)
		fast.cpus = { 0 };
	slow.period = 10ms;

	kymo::cyclic_thread control(KYMO_LOOP("arm", "control"), fast, [&](const kymo::loop &loop) {
		robot.step();
		return loop.cycles() < cycles;
	});
	kymo::cyclic_thread planner(KYMO_LOOP("arm", "planner"), slow, [&](const kymo::loop &loop) {
		robot.aim(loop.cycles() / 10 % 2 ? 1.0 : -1.0);
		return true;
	});

	control.join();
	planner.stop();
	planner.join();
	return 0;
}

} /* namespace */

int main(int argc, char **argv)
{
	try {
		return run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000,
			   argc > 2 ? std::atoi(argv[2]) : 0);
	} catch (const std::system_error &error) {
		std::fprintf(stderr, "cyclic_cpp: %s\n", error.what());
		return 1;
	}
}
