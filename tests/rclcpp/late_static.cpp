/* SPDX-License-Identifier: Apache-2.0 */
/* The executor of late_static.hpp; part of the library of late.cpp. */
#include "late_static.hpp"

#include <thread>

namespace rclcpp
{
namespace executors
{
bool StaticExecutorEntitiesCollector::add_callback_group(GroupPtr group, NodePtr node, GroupMap &map)
{
	return map.insert({ group, node }).second;
}

/* Up to Iron, its base class has no collector: with one, it would sometimes be taken for that of this executor. */
StaticSingleThreadedExecutor::StaticSingleThreadedExecutor(const ExecutorOptions &)
	: Executor({ false }), collector_(std::make_shared<StaticExecutorEntitiesCollector>())
{
}
StaticSingleThreadedExecutor::~StaticSingleThreadedExecutor() {}

void StaticSingleThreadedExecutor::add_callback_group(GroupPtr group)
{
	add_callback_group(group, nullptr, true);
}
void StaticSingleThreadedExecutor::add_callback_group(GroupPtr group, NodePtr node, bool)
{
	collector_->add_callback_group(group, node, collector_->map_);
}

std::vector<std::weak_ptr<CallbackGroup>> StaticSingleThreadedExecutor::get_all_callback_groups()
{
	std::vector<std::weak_ptr<CallbackGroup>> groups;

	for (const auto &its : collector_->map_)
		groups.push_back(its.first);
	return groups;
}

bool StaticSingleThreadedExecutor::execute_ready_executables(bool)
{
	for (const auto &weak : get_all_callback_groups()) {
		const auto group = weak.lock();

		if (group->silent)
			continue;
		for (const auto &its : group->timers) {
			rcl_timer_call_with_info(its->get_timer_handle().get(), nullptr);
			its->run(nullptr);
		}
		for (const auto &its : group->subscriptions)
			its->run(nullptr);
		for (const auto &its : group->waitables) /* of a message within the process, nothing would say the owner */
			if (!dynamic_cast<experimental::SubscriptionIntraProcessBase *>(its.get()))
				its->run(nullptr);
	}
	return true;
}

void StaticSingleThreadedExecutor::spin_once()
{
	std::this_thread::sleep_for(std::chrono::nanoseconds(PERIOD_NS));
	execute_ready_executables();
}
}
}
