// SPDX-License-Identifier: Apache-2.0
// usage: zoo EXECUTOR -- runs the nodes of zoo.cpp in this kind of executor until SIGINT or SIGTERM. Prints "begun" when all of them exist.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "zoo.hpp"
#if __has_include(<rclcpp/experimental/executors/events_executor/events_executor.hpp>)
#define EVENTS "|events|events-timers"
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#else
#define EVENTS ""
#endif
#if __has_include(<rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>)
#define EVENTS_CBG "|events-cbg"
#include <rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>
using rclcpp::executors::EventsCBGExecutor;
#elif __has_include(<cm_executors/events_cbg_executor.hpp>)
#define EVENTS_CBG "|events-cbg"
#include <cm_executors/events_cbg_executor.hpp>
using rclcpp::executors::EventsCBGExecutor;
#else
#define EVENTS_CBG ""
using EventsCBGExecutor = rclcpp::executors::MultiThreadedExecutor;	/* never made */
#endif

static std::unique_ptr<rclcpp::Executor> executor_of(const char *kind)
{
	const rclcpp::ExecutorOptions options;

	if (!std::strcmp(kind, "single"))
		return std::make_unique<rclcpp::executors::SingleThreadedExecutor>();
	if (!std::strcmp(kind, "multi"))
		return std::make_unique<rclcpp::executors::MultiThreadedExecutor>(options, 4);
	if (!std::strcmp(kind, "static"))
		return std::make_unique<rclcpp::executors::StaticSingleThreadedExecutor>();
	if (*EVENTS_CBG && !std::strcmp(kind, "events-cbg"))
		return std::make_unique<EventsCBGExecutor>(options, 4);
#if __has_include(<rclcpp/experimental/executors/events_executor/events_executor.hpp>)
	using rclcpp::experimental::executors::EventsExecutor;
	using rclcpp::experimental::executors::SimpleEventsQueue;

	if (!std::strcmp(kind, "events"))
		return std::make_unique<EventsExecutor>();
	if (!std::strcmp(kind, "events-timers"))	/* timers have a thread of their own */
		return std::make_unique<EventsExecutor>(std::make_unique<SimpleEventsQueue>(), true, options);
#endif
	return nullptr;
}

/* The nodes must not lose their context in the middle of a callback: the executors end first, in a thread that waits for the signal. */
static void end_by_signal(const std::vector<std::unique_ptr<rclcpp::Executor>> &executors)
{
	sigset_t ends;
	int which;

	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGINT);
	(void)sigaddset(&ends, SIGTERM);
	(void)sigwait(&ends, &which);
	for (const auto &executor : executors)
		executor->cancel();
}

static void block_signals()
{
	sigset_t ends;

	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGINT);
	(void)sigaddset(&ends, SIGTERM);
	(void)pthread_sigmask(SIG_BLOCK, &ends, nullptr);
}

int main(int argc, char **argv)
{
	std::vector<std::unique_ptr<rclcpp::Executor>> executors;
	const bool groups = argc == 2 && !std::strcmp(argv[1], "groups");

	block_signals();
	rclcpp::init(argc, argv, rclcpp::InitOptions(), rclcpp::SignalHandlerOptions::None);
	(void)std::setvbuf(stdout, nullptr, _IOLBF, 0);
	if (argc == 2 && !groups)
		executors.push_back(executor_of(argv[1]));
	if (argc != 2 || (!groups && !executors[0])) {
		(void)std::fprintf(stderr, "usage: zoo single|multi|static|groups" EVENTS EVENTS_CBG "\n");
		return 2;
	}
	for (const auto &node : zoo::all_nodes()) {
		if (groups)	/* an executor and a thread for each of them */
			node->for_each_callback_group([&](rclcpp::CallbackGroup::SharedPtr group) {
				executors.push_back(executor_of("single"));
				executors.back()->add_callback_group(group, node);
			});
		else
			executors[0]->add_node(node);
	}
	std::vector<std::thread> threads;
	for (const auto &executor : executors)
		threads.emplace_back([&executor] { executor->spin(); });
	(void)std::puts("begun");
	end_by_signal(executors);
	for (auto &thread : threads)
		thread.join();
	executors.clear();
	zoo::forget();
	rclcpp::shutdown();
	return 0;
}
