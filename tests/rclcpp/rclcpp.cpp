/* SPDX-License-Identifier: Apache-2.0 */
/* The library of rclcpp.hpp. What rcl and rclcpp tell through tracetools, it tells, too. */
#include "rclcpp.hpp"

#include <cstdint>
#include <stdexcept>

extern "C" {
void ros_trace_rcl_timer_init(const void *timer, int64_t period);
void ros_trace_rcl_subscription_init(const void *subscription, const void *node, const void *rmw, const char *topic,
				     size_t depth);
void ros_trace_rcl_service_init(const void *service, const void *node, const void *rmw, const char *name);
void ros_trace_rcl_client_init(const void *client, const void *node, const void *rmw, const char *name);
const char *rmw_get_implementation_identifier(void);
const char *rmw_get_implementation_identifier(void) { return "rmw_of_this_test"; }
}

namespace rclcpp
{
#define MADE(Class, what, handle_constness, ...)					\
	Class::Class() : handle_(std::make_shared<rcl_##what##_t>())			\
	{										\
		ros_trace_rcl_##what##_init(handle_.get(), __VA_ARGS__);		\
	}										\
	Class::~Class() {}								\
	std::shared_ptr<handle_constness rcl_##what##_t> Class::get_##what##_handle() { return handle_; }
static char node;
MADE(TimerBase, timer, const, 1000000)
MADE(SubscriptionBase, subscription, , &node, &node + 1, "/scan", 10)
MADE(ServiceBase, service, , &node, &node + 2, "/plan")
MADE(ClientBase, client, , &node, &node + 3, "/plan")

CallbackGroup::CallbackGroup(CallbackGroupType type) : type_(type) {}
CallbackGroup::~CallbackGroup() {}
const CallbackGroupType &CallbackGroup::type() const { return type_; }
void CallbackGroup::add_timer(const std::shared_ptr<TimerBase> timer) { members_.push_back(timer); }
void CallbackGroup::add_subscription(const std::shared_ptr<SubscriptionBase> subscription) { members_.push_back(subscription); }
void CallbackGroup::add_service(const std::shared_ptr<ServiceBase> service) { members_.push_back(service); }
void CallbackGroup::add_client(const std::shared_ptr<ClientBase> client) { members_.push_back(client); }

node_interfaces::NodeBaseInterface::~NodeBaseInterface() {}

Executor::Executor(const ExecutorOptions &options)
#ifdef JAZZY
: collector_(std::make_shared<executors::ExecutorNotifyWaitable>())
#endif
{
	(void)options;
}
Executor::~Executor() {}
void Executor::execute_client(std::shared_ptr<ClientBase> client)
{
	(void)client;
}
void Executor::execute_subscription(std::shared_ptr<SubscriptionBase> subscription)
{
	(void)subscription;
}
void Executor::add_node(NodePtr node, bool notify)
{
	for (const auto &group : node->groups)
		add_callback_group(group, node, notify);
}
void Executor::add_callback_group(GroupPtr group, NodePtr node, bool notify)
{
#ifdef JAZZY
	(void)node, (void)notify;
	collector_.add_callback_group_to_collection(group, collector_.groups);
#else
	add_callback_group_to_map(group, node, map_, notify);
#endif
}
void Executor::add_callback_group_to_map(GroupPtr group, NodePtr node, GroupMap &map, bool notify)
{
	(void)notify;
	map.insert({ group, node });
}
const void *Executor::collector() const
{
#ifdef JAZZY
	return &collector_;
#else
	return nullptr;
#endif
}

namespace executors
{
SingleThreadedExecutor::SingleThreadedExecutor(const ExecutorOptions &options) : Executor(options) {}
SingleThreadedExecutor::~SingleThreadedExecutor() {}
void SingleThreadedExecutor::spin() {}
MultiThreadedExecutor::MultiThreadedExecutor(const ExecutorOptions &options, size_t number_of_threads,
					     bool yield_before_execute, std::chrono::nanoseconds next)
: Executor(options), threads(number_of_threads), yields(yield_before_execute), timeout(next)
{
}
MultiThreadedExecutor::~MultiThreadedExecutor() {}
void MultiThreadedExecutor::spin() {}
StaticSingleThreadedExecutor::StaticSingleThreadedExecutor(const ExecutorOptions &options) : Executor(options)
{
#ifndef JAZZY
	collector_ = std::make_shared<StaticExecutorEntitiesCollector>();
#endif
}
StaticSingleThreadedExecutor::~StaticSingleThreadedExecutor() {}
void StaticSingleThreadedExecutor::spin() {}
#ifndef JAZZY
void StaticSingleThreadedExecutor::add_node(NodePtr node, bool notify)
{
	(void)notify;
	collector_->add_node(node);
}
void StaticSingleThreadedExecutor::add_callback_group(GroupPtr group, NodePtr node, bool notify)
{
	GroupMap map;

	(void)notify;
	collector_->add_callback_group(group, node, map);
}
const void *StaticSingleThreadedExecutor::collector() const { return collector_.get(); }
#endif
}

void CallbackGroup::collect_all_ptrs(EntityFunction<SubscriptionBase>, EntityFunction<ServiceBase>, EntityFunction<ClientBase>,
				     EntityFunction<TimerBase>, EntityFunction<Waitable> waitable) const
{
	if (waitable)
		waitable(nullptr);
}

#ifdef JAZZY
namespace executors
{
EventsCBGExecutor::EventsCBGExecutor(const ExecutorOptions &options, size_t number_of_threads, std::chrono::nanoseconds next)
: Executor(options), threads(number_of_threads), timeout(next)
{
}
EventsCBGExecutor::~EventsCBGExecutor() {}
void EventsCBGExecutor::spin() { sync_callback_groups(); }
void EventsCBGExecutor::add_callback_group(GroupPtr group, NodePtr, bool) { groups_.push_back(group); }
void EventsCBGExecutor::sync_callback_groups()
{
	unsigned waitables = 0;

	for (const auto &group : groups_)
		group->collect_all_ptrs(nullptr, nullptr, nullptr, nullptr, [&waitables](auto &) { waitables++; });
	if (waitables != groups_.size())
		throw std::runtime_error("the last argument does not come through");
}
}

namespace experimental
{
namespace executors
{
EventsQueue::~EventsQueue() {}
EventsExecutor::EventsExecutor(std::unique_ptr<EventsQueue> queue, bool in_thread, const ExecutorOptions &options)
: Executor(options), timers_in_thread(in_thread), queue_(std::move(queue))
{
	if (!queue_)
		throw std::invalid_argument("no queue");
	collector_ = std::make_shared<rclcpp::executors::ExecutorEntitiesCollector>(
		std::make_shared<rclcpp::executors::ExecutorNotifyWaitable>());
}
EventsExecutor::~EventsExecutor() {}
void EventsExecutor::spin() {}
void EventsExecutor::add_callback_group(GroupPtr group, NodePtr, bool)
{
	collector_->add_callback_group_to_collection(group, collector_->groups);
}
const void *EventsExecutor::collector() const { return collector_.get(); }
}
}
#endif
}
