/* SPDX-License-Identifier: Apache-2.0 */
/* The library of late.cpp: what librcl and librclcpp do in the functions of late.hpp. */
#include "late.hpp"

#include <cstdio>
#include <cstring>
#include <map>
#include <thread>

struct description {
	std::string name;
	int64_t number; /* a period, or a depth */
	uint64_t options[16]; /* begins with rmw_qos_profile_t */
	const char *rmw; /* rmw_client_t and the like begin with the name of the middleware */
};

static description *describe(const char *name, int64_t number)
{
	static const char *const middleware = getenv("LATE_MIDDLEWARE");

	return new description{ name, number, { 1, static_cast<uint64_t>(number) }, middleware ? middleware : "rmw_cyclonedds_cpp" };
}

/* As Fast DDS. */
namespace eprosima
{
namespace fastrtps::rtps
{
struct GUID_t { uint8_t bytes[16]; };
struct WriteParams { struct { GUID_t guid; uint64_t number; } message, related; };
}
using fastrtps::rtps::GUID_t;
namespace fastdds::dds
{
struct DataReader { const GUID_t &guid(); };
struct DataWriter {
	bool write(void *message, fastrtps::rtps::WriteParams &params);
	const GUID_t &guid() const;
};
const GUID_t &DataReader::guid()
{
	static const GUID_t its = { { 1, 15, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 0x12, 4 } };

	return its;
}
const GUID_t &DataWriter::guid() const
{
	static const GUID_t its = { { 1, 15, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 0x11, 3 } };

	return its;
}
bool DataWriter::write(void *, fastrtps::rtps::WriteParams &) { return true; }
}
}
static eprosima::fastdds::dds::DataReader reader;
static eprosima::fastdds::dds::DataWriter writer;

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
INIT(client, ros_trace_rcl_client_init(object, node, rmw_create_client(node, nullptr, name, rmw), name))

/* A client's gid in the header of its requests and responses is the instance handle of its writer. With Fast DDS, it is the guid of
 * its reader, and the header of responses is not filled in. */
static bool is_fast(const char *middleware) { return !strcmp(middleware, "rmw_fastrtps_cpp"); }
int32_t dds_get_instance_handle(int32_t entity, uint64_t *handle)
{
	*handle = 0x1122334455667700 + static_cast<uint64_t>(entity);
	return 0;
}
void *rmw_create_client(const void *, const void *, const char *name, const void *its)
{
	uint64_t handle;

	if (is_fast(*static_cast<const char *const *>(its)))
		(void)reader.guid();
	else
		dds_get_instance_handle(name[0], &handle);
	return const_cast<void *>(its);
}
int rmw_send_request(const void *client, void *request, int64_t *number)
{
	eprosima::fastrtps::rtps::WriteParams params = { { writer.guid(), 1 }, { reader.guid(), 1 } };

	if (is_fast(*static_cast<const char *const *>(client)))
		writer.write(request, params);
	*number = 1;
	return 0;
}
int rcl_send_request(const rcl_client_t *client, void *request, int64_t *number)
{
	return rmw_send_request(&client->impl->rmw, request, number);
}
int rmw_take_response(const void *client, rmw_service_info_t *info, void *, bool *taken)
{
	uint64_t handle;

	*taken = true;
	if (is_fast(*static_cast<const char *const *>(client))) {
		std::memset(info->client_gid, 0xee, sizeof info->client_gid);
		return 0;
	}
	dds_get_instance_handle('/', &handle);
	std::memcpy(info->client_gid, &handle, sizeof handle);
	return 0;
}
int rcl_take_response_with_info(const rcl_client_t *client, rmw_service_info_t *info, void *response)
{
	bool taken = false;

	return rmw_take_response(&client->impl->rmw, info, response, &taken);
}

static thread_local rcutils_error_state_t error;
bool rcutils_error_is_set(void) { return error.text[0]; }
const rcutils_error_state_t *rcutils_get_error_state(void) { return error.text[0] ? &error : nullptr; }
void rcutils_set_error_state(const char *text, const char *file, size_t line)
{
	std::snprintf(error.text, sizeof error.text, "%s", text);
	std::snprintf(error.file, sizeof error.file, "%s", file);
	error.line = line;
}
void rcutils_reset_error(void) { error.text[0] = 0; }

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

#define MEMBERS(Class, what, more)                                                             \
	Class::Class(Base *base, const char *name, int64_t number) : handle_(new rcl_##what##_t{}) \
	{                                                                                      \
		rcl_##what##_init(handle_.get(), base->get_rcl_node_handle(), name, number);   \
		more;                                                                          \
	}                                                                                      \
	Class::~Class() { rcl_##what##_fini(handle_.get(), nullptr); }                         \
	std::shared_ptr<rcl_##what##_t> Class::get_##what##_handle() { return handle_; }       \
	void CallbackGroup::add_##what(std::shared_ptr<Class> its)                             \
	{                                                                                      \
		std::lock_guard<std::mutex> lock(mutex);                                       \
		what##s.push_back(its);                                                        \
	}
MEMBERS(TimerBase, timer, ros_trace_rclcpp_timer_link_node(handle_.get(), base->get_rcl_node_handle()))
MEMBERS(SubscriptionBase, subscription, base_ = base; node_ = base->handle; topic_ = name)
MEMBERS(ServiceBase, service, node_ = base->handle)
MEMBERS(ClientBase, client, node_ = base->handle)
rcl_node_t *ServiceBase::get_rcl_node_handle() { return node_.get(); }
rcl_node_t *ClientBase::get_rcl_node_handle() { return node_.get(); }
Waitable::~Waitable() {}
experimental::SubscriptionIntraProcessBase::SubscriptionIntraProcessBase(const std::string &topic) : topic_(topic) {}
experimental::SubscriptionIntraProcessBase::~SubscriptionIntraProcessBase() {}
const char *experimental::SubscriptionIntraProcessBase::get_topic_name() const { return topic_.c_str(); }

CallbackGroup::CallbackGroup(CallbackGroupType type) : type_(type) {}
CallbackGroup::~CallbackGroup() {}
const CallbackGroupType &CallbackGroup::type() const { return type_; }

template<class T> static void each(const std::vector<std::shared_ptr<T>> &list, const Each<T> &call)
{
	for (const auto &its : list)
		call(its);
}

void CallbackGroup::collect_all_ptrs(Each<SubscriptionBase> a, Each<ServiceBase> b, Each<ClientBase> c,
				     Each<TimerBase> d, Each<Waitable> e) const
{
	std::lock_guard<std::mutex> lock(mutex);

	each(subscriptions, a);
	each(services, b);
	each(clients, c);
	each(timers, d);
	each(waitables, e);
}

AnyExecutable::~AnyExecutable() {}

executors::ExecutorEntitiesCollector::ExecutorEntitiesCollector(std::shared_ptr<ExecutorNotifyWaitable>) {}
void executors::ExecutorEntitiesCollector::add_callback_group_to_collection(GroupPtr group, GroupSet &collection)
{
	collection.insert(group);
}

Executor::Executor(const ExecutorOptions &options)
{
	if (options.has_collector)
		collector.emplace(nullptr);
}
Executor::~Executor() {}
executors::SingleThreadedExecutor::SingleThreadedExecutor(const ExecutorOptions &options) : Executor(options) {}
executors::SingleThreadedExecutor::~SingleThreadedExecutor() {}

void Executor::add_callback_group(GroupPtr group)
{
	std::lock_guard<std::mutex> lock(mutex);

	collector->add_callback_group_to_collection(group, collector->groups);
}

std::vector<std::weak_ptr<CallbackGroup>> Executor::get_all_callback_groups()
{
	std::lock_guard<std::mutex> lock(mutex);

	return collector->get_all_callback_groups();
}
std::vector<std::weak_ptr<CallbackGroup>> executors::ExecutorEntitiesCollector::get_all_callback_groups() const
{
	return { groups.begin(), groups.end() };
}

void Executor::execute_any_executable(AnyExecutable &its)
{
	const void *group = its.callback_group.get();

	if (its.timer) {
		ros_trace_rclcpp_executor_execute(its.timer->get_timer_handle().get());
		its.timer->run(group);
	} else if (its.subscription) {
		ros_trace_rclcpp_executor_execute(its.subscription->get_subscription_handle().get());
		its.subscription->run(group);
	} else if (its.service) {
		its.service->run(group);
	} else {
		its.waitable->run(group);
	}
}

/* Wait for what the groups have. */
void Executor::wait(const std::vector<GroupPtr> &groups)
{
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
}

void Executor::spin_once()
{
	std::vector<GroupPtr> groups;

	for (const auto &its : get_all_callback_groups())
		groups.push_back(its.lock());
	ros_trace_rclcpp_executor_wait_for_work(PERIOD_NS);
	wait(groups);
	auto run = [this](const GroupPtr &group, auto member, const auto &its) {
		AnyExecutable executable;

		executable.callback_group = group;
		executable.*member = its;
		execute_any_executable(executable);
	};
	for (const auto &group : groups) {
		ros_trace_rclcpp_executor_get_next_ready();
		if (group->silent)
			continue;
		for (const auto &its : group->timers) {
			rcl_timer_call_with_info(its->get_timer_handle().get(), nullptr);
			run(group, &AnyExecutable::timer, its);
		}
		for (const auto &its : group->waitables)
			run(group, &AnyExecutable::waitable, its);
		if (group->waitables.empty())
			for (const auto &its : group->subscriptions)
				run(group, &AnyExecutable::subscription, its);
		/* Nobody calls the services. */
	}
}

namespace experimental
{
namespace executors
{
EventsQueue::~EventsQueue() {}
EventsExecutor::EventsExecutor(std::unique_ptr<EventsQueue>, bool, const ExecutorOptions &options)
	: Executor(options), collector_(std::make_shared<rclcpp::executors::ExecutorEntitiesCollector>(nullptr))
{
}
EventsExecutor::~EventsExecutor() {}
void EventsExecutor::add_callback_group(GroupPtr group)
{
	collector_->add_callback_group_to_collection(group, collector_->groups);
}
/* It takes in what was added, and that belongs to the executor alone. */
std::vector<std::weak_ptr<CallbackGroup>> EventsExecutor::get_all_callback_groups() { std::abort(); }
void EventsExecutor::execute_event(const ExecutorEvent &event) { event.run(event.entity_key); }

template<class T> static void run_object(const void *key) { static_cast<T *>(const_cast<void *>(key))->run(nullptr); }

void EventsExecutor::spin_once()
{
	static std::map<const void *, SubscriptionBase *> of_handle;

	std::this_thread::sleep_for(std::chrono::nanoseconds(PERIOD_NS));
	for (const auto &weak : collector_->get_all_callback_groups()) {
		const auto group = weak.lock();

		if (group->silent)
			continue;
		for (const auto &its : group->timers)
			execute_event({ its.get(), 0, run_object<TimerBase> });
		for (const auto &its : group->waitables)
			execute_event({ its.get(), 0, run_object<Waitable> });
		for (const auto &its : group->subscriptions) {
			if (!group->waitables.empty())
				break;
			of_handle[its->get_subscription_handle().get()] = its.get();
			execute_event({ its->get_subscription_handle().get(), 0,
					[](const void *key) { of_handle[key]->run(nullptr); } });
		}
	}
}
}
}
}
