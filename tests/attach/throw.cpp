// SPDX-License-Identifier: Apache-2.0
// Threads that throw exceptions all the time; a result that must not depend on kymo. Usage: throw
// THREADS
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern "C" void ros_trace_callback_start(const void *callback, bool intra);
extern "C" void ros_trace_callback_end(const void *callback);

static std::atomic<bool> ends;
static std::atomic<unsigned long> rounds, wrong;

static int deeper(int depth, int number)
{
	std::string text(static_cast<size_t>(depth) * 7 + 1, 'x');

	if (!depth)
		throw std::runtime_error(std::to_string(number));
	return deeper(depth - 1, number) + static_cast<int>(text.size());
}

static void work(int number)
{
	while (!ends) {
		ros_trace_callback_start(&rounds, false);
		try {
			wrong += deeper(12, number) != -1;
		} catch (const std::runtime_error &error) {
			wrong += std::to_string(number) != error.what();
		}
		ros_trace_callback_end(&rounds);
		rounds++;
	}
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;

	std::signal(SIGTERM, [](int) { ends = true; });
	for (int i = 1; i < (argc > 1 ? std::atoi(argv[1]) : 1); i++)
		threads.emplace_back(work, i);
	std::puts("begun");
	std::fflush(stdout);
	work(0);
	for (auto &thread : threads)
		thread.join();
	std::printf("%lu rounds, %lu wrong\n", rounds.load(), wrong.load());
	return wrong ? 1 : 0;
}
