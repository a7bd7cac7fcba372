/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with nodes, publishers, subscriptions, timers, services and clients, as rcl and rclcpp
 * make them, with the functions that the hooks of ros2_late.c are about.
 *
 * -DLIBRARY: the libraries. Else the program: it creates NODES nodes, prints "begun", and runs an
 * executor until SIGTERM. Meanwhile it also destroys and creates publishers and subscriptions, so
 * that new objects come to lie where others were.
 */
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tracetools/tracetools.h"

#define NODES 3
#define PERIOD_NS 2000000ll

/* Each object of rcl leads to a description that only the library knows. */
struct description;
struct rcl_node_t { void *context; description *impl; };
struct rcl_publisher_t { description *impl; };
struct rcl_subscription_t { description *impl; };
struct rcl_timer_t { description *impl; };
struct rcl_service_t { description *impl; };
struct rcl_client_t { description *impl; };
struct rmw_gid_t { const char *implementation; uint8_t data[16]; };

#define OBJECTS(X) X(node) X(publisher) X(subscription) X(timer) X(service) X(client)

extern "C" {
#define FUNCTIONS(what)                                                                      \
	int rcl_##what##_init(rcl_##what##_t *object, rcl_node_t *node, const char *name,    \
			      int64_t number);                                               \
	int rcl_##what##_fini(rcl_##what##_t *object, rcl_node_t *node);                     \
	int rcl_wait_set_add_##what(void *set, const rcl_##what##_t *object, size_t *index);
OBJECTS(FUNCTIONS)
int rcl_publish(const rcl_publisher_t *publisher, const void *message, void *allocation);
int rcl_take(const rcl_subscription_t *subscription, void *message, void *info, void *allocation);
int rcl_timer_call_with_info(rcl_timer_t *timer, void *info);
int rcl_take_request_with_info(const rcl_service_t *service, void *info, void *request);
const char *rcl_node_get_name(const rcl_node_t *node);
const char *rcl_node_get_namespace(const rcl_node_t *node);
const void *rcl_node_get_rmw_handle(const rcl_node_t *node);
const char *rcl_publisher_get_topic_name(const rcl_publisher_t *publisher);
const void *rcl_publisher_get_rmw_handle(const rcl_publisher_t *publisher);
const void *rcl_publisher_get_options(const rcl_publisher_t *publisher);
int rmw_get_gid_for_publisher(const void *publisher, rmw_gid_t *gid);
const char *rcl_subscription_get_topic_name(const rcl_subscription_t *subscription);
const void *rcl_subscription_get_rmw_handle(const rcl_subscription_t *subscription);
const void *rcl_subscription_get_options(const rcl_subscription_t *subscription);
int rcl_timer_get_period(const rcl_timer_t *timer, int64_t *period);
const char *rcl_service_get_service_name(const rcl_service_t *service);
const void *rcl_service_get_rmw_handle(const rcl_service_t *service);
const char *rcl_client_get_service_name(const rcl_client_t *client);
const void *rcl_client_get_rmw_handle(const rcl_client_t *client);
}

namespace rclcpp
{
namespace node_interfaces
{
class NodeBase {
public:
	explicit NodeBase(const std::string &name);
	virtual ~NodeBase();
	virtual rcl_node_t *get_rcl_node_handle();
	std::shared_ptr<rcl_node_t> handle;
};
}
using Base = node_interfaces::NodeBase;

/* A class of rclcpp: what it has, and where its callback is. */
#define ENTITY(Class, what, members)                                                     \
	class Class {                                                                    \
	public:                                                                          \
		Class(Base *base, const char *name, int64_t number);                     \
		virtual ~Class();                                                        \
		std::shared_ptr<rcl_##what##_t> get_##what##_handle();                   \
		members                                                                  \
		std::shared_ptr<rcl_##what##_t> handle_;                                 \
		char callback = 0;                                                       \
	};
ENTITY(TimerBase, timer, )
ENTITY(SubscriptionBase, subscription, Base *base_; std::shared_ptr<rcl_node_t> node_;)
ENTITY(ServiceBase, service, rcl_node_t *get_rcl_node_handle(); std::shared_ptr<rcl_node_t> node_;)
ENTITY(ClientBase, client, rcl_node_t *get_rcl_node_handle(); std::shared_ptr<rcl_node_t> node_;)
class Waitable;

template<class T> using Each = std::function<void(const std::shared_ptr<T> &)>;

class CallbackGroup {
public:
	void collect_all_ptrs(Each<SubscriptionBase> a, Each<ServiceBase> b, Each<ClientBase> c,
			      Each<TimerBase> d, Each<Waitable> e) const;
	std::vector<std::shared_ptr<SubscriptionBase>> subscriptions;
	std::vector<std::shared_ptr<ServiceBase>> services;
	std::vector<std::shared_ptr<ClientBase>> clients;
	std::vector<std::shared_ptr<TimerBase>> timers;
	mutable std::mutex mutex;
};

struct AnyExecutable {
	virtual ~AnyExecutable();
	std::shared_ptr<SubscriptionBase> subscription;
	std::shared_ptr<TimerBase> timer;
	std::shared_ptr<ServiceBase> service;
	std::shared_ptr<ClientBase> client;
	std::shared_ptr<Waitable> waitable;
	std::shared_ptr<CallbackGroup> callback_group;
	std::shared_ptr<Base> node_base;
	std::shared_ptr<void> data;
};

class Executor {
public:
	void execute_any_executable(AnyExecutable &executable);
	void spin_once();
	std::vector<std::shared_ptr<CallbackGroup>> groups;
	std::function<void(const void *)> user; /* with the callback group */
};
}

#ifdef LIBRARY
struct description {
	std::string name;
	int64_t number; /* a period, or a depth */
	uint64_t options[16]; /* begins with rmw_qos_profile_t */
	char rmw;
};

static description *describe(const char *name, int64_t number)
{
	return new description{ name, number, { 1, static_cast<uint64_t>(number) }, 0 };
}

#define WAIT(what)                                                                         \
	int rcl_wait_set_add_##what(void *, const rcl_##what##_t *object, size_t *)        \
	{                                                                                  \
		return object->impl ? 0 : 1;                                               \
	}                                                                                  \
	int rcl_##what##_fini(rcl_##what##_t *object, rcl_node_t *)                        \
	{                                                                                  \
		object->impl->name = "freed";                                              \
		delete object->impl;                                                       \
		object->impl = nullptr;                                                    \
		return 0;                                                                  \
	}
OBJECTS(WAIT)

#define INIT(what, tell)                                                                   \
	int rcl_##what##_init(rcl_##what##_t *object, rcl_node_t *node, const char *name,  \
			      int64_t number)                                              \
	{                                                                                  \
		object->impl = describe(name, number);                                     \
		const void *rmw = &object->impl->rmw;                                      \
		(void)node;                                                                \
		(void)rmw;                                                                 \
		tell;                                                                      \
		return 0;                                                                  \
	}
static void gid_of(const void *rmw, uint8_t *gid)
{
	for (unsigned i = 0; i < 16; i++)
		gid[i] = static_cast<uint8_t>(reinterpret_cast<uintptr_t>(rmw) >> i % 8 * 8);
}
static void tell_publisher(rcl_publisher_t *object, rcl_node_t *node, const void *rmw, const char *name, int64_t number)
{
	uint8_t gid[24] = { 0 };

	gid_of(rmw, gid);
	ros_trace_rmw_publisher_init(rmw, gid);
	ros_trace_rcl_publisher_init(object, node, rmw, name, static_cast<uint64_t>(number));
}
INIT(node, ros_trace_rcl_node_init(object, rmw, name, "/ns"))
INIT(publisher, tell_publisher(object, node, rmw, name, number))
INIT(subscription, ros_trace_rcl_subscription_init(object, node, rmw, name, static_cast<uint64_t>(number)))
INIT(timer, ros_trace_rcl_timer_init(object, number))
INIT(service, ros_trace_rcl_service_init(object, node, rmw, name))
INIT(client, ros_trace_rcl_client_init(object, node, rmw, name))

int rcl_publish(const rcl_publisher_t *publisher, const void *message, void *)
{
	ros_trace_rcl_publish(publisher, message);
	ros_trace_rmw_publish(&publisher->impl->rmw, message, 1);
	return 0;
}
int rcl_take(const rcl_subscription_t *subscription, void *message, void *, void *)
{
	ros_trace_rmw_take(&subscription->impl->rmw, message, 1, true);
	ros_trace_rcl_take(message);
	return 0;
}
int rcl_timer_call_with_info(rcl_timer_t *, void *) { return 0; }
int rcl_take_request_with_info(const rcl_service_t *, void *, void *) { return 0; }

#define NAME(what, getter) \
	const char *rcl_##what##_get_##getter(const rcl_##what##_t *object) { return object->impl->name.c_str(); }
#define RMW(what) \
	const void *rcl_##what##_get_rmw_handle(const rcl_##what##_t *object) { return &object->impl->rmw; }
#define OPTIONS(what) \
	const void *rcl_##what##_get_options(const rcl_##what##_t *object) { return object->impl->options; }
NAME(node, name) NAME(publisher, topic_name) NAME(subscription, topic_name) NAME(service, service_name) NAME(client, service_name)
RMW(node) RMW(publisher) RMW(subscription) RMW(service) RMW(client)
OPTIONS(publisher) OPTIONS(subscription)
const char *rcl_node_get_namespace(const rcl_node_t *) { return "/ns"; }
int rmw_get_gid_for_publisher(const void *publisher, rmw_gid_t *gid)
{
	gid->implementation = "stand-in";
	gid_of(publisher, gid->data);
	return 0;
}
int rcl_timer_get_period(const rcl_timer_t *timer, int64_t *period)
{
	*period = timer->impl->number;
	return 0;
}

namespace rclcpp
{
Base::NodeBase(const std::string &name) : handle(new rcl_node_t{})
{
	rcl_node_init(handle.get(), nullptr, name.c_str(), 0);
}
Base::~NodeBase() { rcl_node_fini(handle.get(), nullptr); }
rcl_node_t *Base::get_rcl_node_handle() { return handle.get(); }

#define MEMBERS(Class, what, more, tell)                                               \
	Class::Class(Base *base, const char *name, int64_t number) : handle_(new rcl_##what##_t{}) \
	{                                                                              \
		rcl_##what##_init(handle_.get(), base->get_rcl_node_handle(), name, number); \
		more;                                                                  \
		tell;                                                                  \
	}                                                                              \
	Class::~Class() { rcl_##what##_fini(handle_.get(), nullptr); }                 \
	std::shared_ptr<rcl_##what##_t> Class::get_##what##_handle() { return handle_; }

static void tell_subscription(SubscriptionBase *its)
{
	ros_trace_rclcpp_subscription_init(its->handle_.get(), its);
	ros_trace_rclcpp_subscription_callback_added(its, &its->callback);
}
static void tell_timer(TimerBase *its, Base *base)
{
	ros_trace_rclcpp_timer_callback_added(its->handle_.get(), &its->callback);
	ros_trace_rclcpp_timer_link_node(its->handle_.get(), base->get_rcl_node_handle());
}
MEMBERS(TimerBase, timer, , tell_timer(this, base))
MEMBERS(SubscriptionBase, subscription, base_ = base; node_ = base->handle, tell_subscription(this))
MEMBERS(ServiceBase, service, node_ = base->handle, ros_trace_rclcpp_service_callback_added(handle_.get(), &callback))
MEMBERS(ClientBase, client, node_ = base->handle, )
rcl_node_t *ServiceBase::get_rcl_node_handle() { return node_.get(); }
rcl_node_t *ClientBase::get_rcl_node_handle() { return node_.get(); }

void CallbackGroup::collect_all_ptrs(Each<SubscriptionBase> a, Each<ServiceBase> b, Each<ClientBase> c,
				     Each<TimerBase> d, Each<Waitable>) const
{
	std::lock_guard<std::mutex> lock(mutex);

	for (const auto &its : subscriptions)
		a(its);
	for (const auto &its : services)
		b(its);
	for (const auto &its : clients)
		c(its);
	for (const auto &its : timers)
		d(its);
}

AnyExecutable::~AnyExecutable() {}

template<class T> static void called(const T &its, Executor *executor, const AnyExecutable &executable)
{
	ros_trace_callback_start(&its->callback, false);
	executor->user(executable.callback_group.get());
	ros_trace_callback_end(&its->callback);
}

void Executor::execute_any_executable(AnyExecutable &its)
{
	char message = 0;

	if (its.timer) {
		ros_trace_rclcpp_executor_execute(its.timer->get_timer_handle().get());
		called(its.timer, this, its);
	} else if (its.subscription) {
		ros_trace_rclcpp_executor_execute(its.subscription->get_subscription_handle().get());
		rcl_take(its.subscription->get_subscription_handle().get(), &message, nullptr, nullptr);
		ros_trace_rclcpp_take(&message);
		called(its.subscription, this, its);
	} else {
		rcl_take_request_with_info(its.service->get_service_handle().get(), nullptr, &message);
		called(its.service, this, its);
	}
}

void Executor::spin_once()
{
	ros_trace_rclcpp_executor_wait_for_work(PERIOD_NS);
	for (const auto &group : groups) {
		for (const auto &its : group->subscriptions)
			rcl_wait_set_add_subscription(nullptr, its->get_subscription_handle().get(), nullptr);
		for (const auto &its : group->timers)
			rcl_wait_set_add_timer(nullptr, its->get_timer_handle().get(), nullptr);
		for (const auto &its : group->services)
			rcl_wait_set_add_service(nullptr, its->get_service_handle().get(), nullptr);
		for (const auto &its : group->clients)
			rcl_wait_set_add_client(nullptr, its->get_client_handle().get(), nullptr);
	}
	std::this_thread::sleep_for(std::chrono::nanoseconds(PERIOD_NS));
	auto run = [this](const std::shared_ptr<CallbackGroup> &group, auto member, const auto &its) {
		AnyExecutable executable;

		executable.callback_group = group;
		executable.*member = its;
		execute_any_executable(executable);
	};
	for (const auto &group : groups) {
		ros_trace_rclcpp_executor_get_next_ready();
		for (const auto &its : group->timers) {
			rcl_timer_call_with_info(its->get_timer_handle().get(), nullptr);
			run(group, &AnyExecutable::timer, its);
		}
		for (const auto &its : group->subscriptions)
			run(group, &AnyExecutable::subscription, its);
		for (const auto &its : group->services)
			run(group, &AnyExecutable::service, its);
	}
}
}
#else
static std::atomic<bool> ends;

static std::string numbered(const char *name, unsigned number)
{
	return name + std::to_string(number);
}

int main()
{
	struct Owned {
		std::unique_ptr<rclcpp::Base> base;
		std::shared_ptr<rcl_publisher_t> publisher, temporary;
		std::shared_ptr<rclcpp::CallbackGroup> group[2];
	} node[NODES];
	rclcpp::Executor executor;
	unsigned rounds = 0;

	signal(SIGTERM, [](int) { ends = true; });
	ros_trace_rcl_init(&executor);
	for (unsigned i = 0; i < NODES; i++) {
		Owned &its = node[i];
		auto make = [&](auto &list, const std::string &name, int64_t number) {
			using T = typename std::decay_t<decltype(list)>::value_type::element_type;
			list.push_back(std::make_shared<T>(its.base.get(), name.c_str(), number));
		};

		its.base = std::make_unique<rclcpp::Base>(numbered("node", i));
		its.publisher = std::make_shared<rcl_publisher_t>();
		rcl_publisher_init(its.publisher.get(), its.base->get_rcl_node_handle(), numbered("/out", i).c_str(), 7);
		for (auto &group : its.group) {
			group = std::make_shared<rclcpp::CallbackGroup>();
			executor.groups.push_back(group);
		}
		/* The second group says its node by a subscription alone. */
		make(its.group[0]->timers, "", PERIOD_NS + i);
		make(its.group[0]->services, numbered("/serve", i), 0);
		make(its.group[0]->clients, numbered("/ask", i), 0);
		make(its.group[1]->subscriptions, numbered("/in", i), 5 + i);
		make(its.group[1]->timers, "", 3 * PERIOD_NS + i);
	}
	executor.user = [&](const void *group) {
		for (const Owned &its : node)
			if (its.group[0].get() == group)
				rcl_publish(its.publisher.get(), group, nullptr);
	};
	puts("begun");
	fflush(stdout);
	for (; !ends; rounds++) {
		executor.spin_once();
		for (unsigned i = 0; i < NODES; i++) {
			Owned &its = node[i];

			if (its.temporary)
				rcl_publisher_fini(its.temporary.get(), its.base->get_rcl_node_handle());
			its.temporary = std::make_shared<rcl_publisher_t>();
			rcl_publisher_init(its.temporary.get(), its.base->get_rcl_node_handle(), "/temporary", 1);
			rcl_publish(its.temporary.get(), &rounds, nullptr);
		}
	}
	for (Owned &its : node) {
		rcl_publisher_fini(its.temporary.get(), its.base->get_rcl_node_handle());
		rcl_publisher_fini(its.publisher.get(), its.base->get_rcl_node_handle());
	}
	return 0;
}
#endif
