/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two nodes' worth of callback groups in each kind of executor, as user code makes them, and what should be
 * in a trace of it. Before them COUNT executors and nodes come and go. Then it waits for the end of its input.
 *
 *     groups [COUNT]
 */
#include "rclcpp.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

using namespace rclcpp;

extern "C" void ros_trace_rcl_init(const void *context);

static void expect(const char *event, const char *first, const void *a, const char *second, const void *b,
		   const char *type_name, const char *type)
{
	std::printf("%s %s=0x%jx", event, first, (uintmax_t)(uintptr_t)a);
	if (second)
		std::printf(" %s=0x%jx", second, (uintmax_t)(uintptr_t)b);
	if (type)
		std::printf(" %s=%s", type_name, type);
	std::printf("\n");
}

static void executor_made(const Executor *executor, const char *type, bool is_static)
{
#ifdef JAZZY
	expect("executor_entity_collector_to_executor", "executor_addr", executor, "entities_collector_addr",
	       executor->collector(), nullptr, nullptr);
#endif
	if (is_static)
		expect("construct_static_executor", "executor_addr", executor, "entities_collector_addr",
		       executor->collector(), "executor_type_name", type);
	else
		expect("construct_executor", "executor_addr", executor, nullptr, nullptr, "executor_type_name", type);
}

static void group_added(const Executor *executor, const GroupPtr &group, bool is_static)
{
	const char *type = group->type() == CallbackGroupType::Reentrant ? "reentrant" : "mutually_exclusive";
#ifdef JAZZY
	(void)is_static;
	if (dynamic_cast<const executors::EventsCBGExecutor *>(executor))
		expect("add_callback_group", "executor_addr", executor, "callback_group_addr", group.get(), "group_type_name", type);
	else
		expect("callback_group_to_executor_entity_collector", "entities_collector_addr", executor->collector(),
		       "callback_group_addr", group.get(), "group_type_name", type);
#else
	if (is_static)
		expect("add_callback_group_static_executor", "entities_collector_addr", executor->collector(),
		       "callback_group_addr", group.get(), "group_type_name", type);
	else
		expect("add_callback_group", "executor_addr", executor, "callback_group_addr", group.get(),
		       "group_type_name", type);
#endif
}

/* A member of each kind; its handle has as many users as before. */
template<class Entity, class Handle>
static std::shared_ptr<Entity> member(const GroupPtr &group, void (CallbackGroup::*add)(const std::shared_ptr<Entity>),
				      Handle handle, const char *event, const char *field)
{
	auto entity = std::make_shared<Entity>();

	((*group).*add)(entity);
	if (entity->users() != 1)
		throw std::runtime_error("a handle has users that nobody knows");
	expect(event, "callback_group_addr", group.get(), field, ((*entity).*handle)().get(), nullptr, nullptr);
	return entity;
}

static std::vector<std::shared_ptr<void>> members(const GroupPtr &group)
{
	std::shared_ptr<rcl_subscription_t> (SubscriptionBase::*subscription)() = &SubscriptionBase::get_subscription_handle;

	return {
		member(group, &CallbackGroup::add_timer, &TimerBase::get_timer_handle, "callback_group_add_timer", "timer_handle"),
		member(group, &CallbackGroup::add_subscription, subscription, "callback_group_add_subscription",
		       "subscription_handle"),
		member(group, &CallbackGroup::add_service, &ServiceBase::get_service_handle, "callback_group_add_service",
		       "service_handle"),
		member(group, &CallbackGroup::add_client, &ClientBase::get_client_handle, "callback_group_add_client",
		       "client_handle"),
	};
}

static NodePtr node_with_groups()
{
	auto node = std::make_shared<node_interfaces::NodeBaseInterface>();

	node->groups.push_back(std::make_shared<CallbackGroup>(CallbackGroupType::MutuallyExclusive));
	node->groups.push_back(std::make_shared<CallbackGroup>(CallbackGroupType::Reentrant));
	return node;
}

/* As spinning until a future is complete does, and a container that loads and unloads. */
static void come_and_go(int count)
{
	for (int i = 0; i < count; i++) {
		auto executor = std::make_unique<executors::SingleThreadedExecutor>();
		auto node = node_with_groups();

		executor->add_node(node);
		if (i % 2)			/* which of the two goes first */
			node.reset();
	}
}

#ifdef JAZZY
static void events_executor_throws()
{
	try {
		experimental::executors::EventsExecutor without(nullptr);
	} catch (const std::invalid_argument &) {
		return;
	}
	throw std::runtime_error("it does not throw");
}
#endif

int main(int argc, char **argv)
{
	ros_trace_rcl_init(argv);
	std::printf("rmw_implementation rmw_impl=rmw_of_this_test\n");
	come_and_go(argc > 1 ? std::atoi(argv[1]) : 0);

	executors::SingleThreadedExecutor single;
	executor_made(&single, "single_threaded_executor", false);
	executors::MultiThreadedExecutor multi(ExecutorOptions(), 4, true, std::chrono::nanoseconds(77));
	executor_made(&multi, "multi_threaded_executor", false);
	if (multi.threads != 4 || !multi.yields || multi.timeout.count() != 77)
		throw std::runtime_error("arguments do not come through");
	executors::StaticSingleThreadedExecutor fixed;
	executor_made(&fixed, "static_single_threaded_executor", true);
	std::vector<Executor *> executors = { &single, &multi, &fixed };
#ifdef JAZZY
	events_executor_throws();
	experimental::executors::EventsExecutor events(std::make_unique<experimental::executors::EventsQueue>(), true);
	executor_made(&events, "events_executor", false);
	if (!events.timers_in_thread)
		throw std::runtime_error("arguments do not come through");
	executors.push_back(&events);
	executors::EventsCBGExecutor cbg(ExecutorOptions(), 3, std::chrono::nanoseconds(55));
	executor_made(&cbg, "events_cbg_executor", false);
	if (cbg.threads != 3 || cbg.timeout.count() != 55)
		throw std::runtime_error("arguments do not come through");
	executors.push_back(&cbg);
#endif

	std::vector<std::shared_ptr<void>> kept;
	for (Executor *executor : executors) {
		auto node = node_with_groups();

		for (const auto &group : node->groups)
			for (const auto &entity : members(group))
				kept.push_back(entity);
		executor->add_node(node);
		executor->spin();
		for (const auto &group : node->groups)
			group_added(executor, group, executor == &fixed);
		kept.push_back(node);
	}
	std::printf("ready\n");
	std::fflush(stdout);
	while (std::getchar() != EOF)
		;
	return 0;
}
