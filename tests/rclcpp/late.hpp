/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of rcl and rclcpp as the hooks of src/inside/ros2/late are about, for late.cpp: the
 * functions that a library has, with their names, and the templates that a program instantiates,
 * with the members that they have in Jazzy.
 */
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <typeinfo>
#include <variant>
#include <vector>

#include "tracetools/tracetools.h"

/* Each object of rcl leads to a description that only the library knows. */
struct description;
struct rcl_node_t { void *context; description *impl; };
struct rcl_publisher_t { description *impl; };
struct rcl_subscription_t { description *impl; };
struct rcl_timer_t { description *impl; };
struct rcl_service_t { description *impl; };
struct rcl_client_t { description *impl; };
struct rmw_gid_t { const char *implementation; uint8_t data[16]; };
struct rmw_service_info_t {
	int64_t source_timestamp, received_timestamp;
	uint8_t client_gid[16];
	int64_t number;
};
struct rcutils_error_state_t { char text[768], file[229]; uint64_t line; };

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
int rcl_send_request(const rcl_client_t *client, void *request, int64_t *number);
int rmw_send_request(const void *client, void *request, int64_t *number);
int rcl_take_response_with_info(const rcl_client_t *client, rmw_service_info_t *info,
				void *response);
void *rmw_create_client(const void *node, const void *type, const char *name, const void *qos);
int rmw_take_response(const void *client, rmw_service_info_t *info, void *response, bool *taken);
int32_t dds_get_instance_handle(int32_t entity, uint64_t *handle);
bool rcutils_error_is_set(void);
const rcutils_error_state_t *rcutils_get_error_state(void);
void rcutils_set_error_state(const char *text, const char *file, size_t line);
void rcutils_reset_error(void);
}


/* What rclcpp's headers call for the name of a callback; the real libtracetools returns NULL
 * without LTTng. */
namespace tracetools
{
namespace detail
{
char *demangle_symbol(const char *mangled);
char *get_symbol_funcptr(const void *function);
}
template <class Result, class... Arguments>
char *get_symbol(const std::function<Result(Arguments...)> &function)
{
	using Pointer = Result (*)(Arguments...);
	const Pointer *pointer = function.template target<Pointer>();

	return pointer ? detail::get_symbol_funcptr(reinterpret_cast<const void *>(*pointer)) :
			 detail::demangle_symbol(function.target_type().name());
}
template <class F> char *get_symbol(const F &function)
{
	return detail::demangle_symbol(typeid(function).name());
}
}

namespace rclcpp
{
enum class CallbackGroupType { MutuallyExclusive, Reentrant };
struct ExecutorOptions { bool has_collector = true; };
class CallbackGroup;
class Waitable;

namespace node_interfaces
{
class NodeBase {
public:
	explicit NodeBase(const std::string &name);
	virtual ~NodeBase();
	virtual rcl_node_t *get_rcl_node_handle();
	std::shared_ptr<rcl_node_t> handle;
	std::vector<std::weak_ptr<CallbackGroup>> groups;
};
}
using Base = node_interfaces::NodeBase;

/* A base class of rclcpp: what it has, and what the executor calls. */
#define ENTITY(Class, what, members)                                                     \
	class Class {                                                                    \
	public:                                                                          \
		Class(Base *base, const char *name, int64_t number);                     \
		virtual ~Class();                                                        \
		virtual void run(const void *group) = 0;                                 \
		std::shared_ptr<rcl_##what##_t> get_##what##_handle();                   \
		members                                                                  \
		std::shared_ptr<rcl_##what##_t> handle_;                                 \
	};
ENTITY(TimerBase, timer, )
ENTITY(SubscriptionBase, subscription, Base *base_; std::shared_ptr<rcl_node_t> node_;
       std::string topic_;)
ENTITY(ServiceBase, service, rcl_node_t *get_rcl_node_handle(); std::shared_ptr<rcl_node_t> node_;)
ENTITY(ClientBase, client, rcl_node_t *get_rcl_node_handle(); std::shared_ptr<rcl_node_t> node_;)

class Waitable {
public:
	virtual ~Waitable();
	virtual void run(const void *group) = 0;
};

/* ---- templates of the headers ---- */

template<class F> static void registered(const void *callback, const F &function)
{
	if (ros_trace_enabled_rclcpp_callback_register()) {
		char *symbol = tracetools::get_symbol(function);

		ros_trace_do_rclcpp_callback_register(callback, symbol);
		free(symbol);
	}
}

template<class M> class AnySubscriptionCallback {
public:
  std::variant<std::function<void(const M &)>, std::function<void(std::shared_ptr<const M>)>>
	  variant_;
  std::allocator<M> allocator_;

  void registered_() const
  {
	  std::visit([this](const auto &function) { registered(this, function); }, variant_);
	}
	void run(bool within)
	{
		ros_trace_callback_start(this, within);
		if (variant_.index())
			std::get<1>(variant_)(nullptr);
		else
			std::get<0>(variant_)(M());
		ros_trace_callback_end(this);
	}
};

template<class M> class Subscription : public SubscriptionBase {
public:
  Subscription(Base *base, const char *name, int64_t number,
	       const AnySubscriptionCallback<M> &callback)
      : SubscriptionBase(base, name, number), callback_(callback)
  {
	  ros_trace_rclcpp_subscription_init(handle_.get(), static_cast<SubscriptionBase *>(this));
	  ros_trace_rclcpp_subscription_callback_added(static_cast<SubscriptionBase *>(this),
						       &callback_);
	  callback_.registered_();
	}
	void run(const void *) override
	{
		char message = 0;

		rcl_take(handle_.get(), &message, nullptr, nullptr);
		ros_trace_rclcpp_take(&message);
		callback_.run(false);
	}
	AnySubscriptionCallback<M> callback_;
};

template<class F> class GenericTimer : public TimerBase {
public:
	GenericTimer(Base *base, const char *name, int64_t number, const F &function)
		: TimerBase(base, name, number), callback_(function)
	{
		ros_trace_rclcpp_timer_callback_added(handle_.get(), &callback_);
		registered(&callback_, callback_);
	}
	void run(const void *) override
	{
		ros_trace_callback_start(&callback_, false);
		callback_();
		ros_trace_callback_end(&callback_);
	}
	F callback_;
};

template<class F> class WallTimer : public GenericTimer<F> {
public:
	using GenericTimer<F>::GenericTimer;
};

template<class S> class Service : public ServiceBase {
public:
  Service(Base *base, const char *name, int64_t number,
	  const std::function<void(std::shared_ptr<S>)> &function)
      : ServiceBase(base, name, number), callback_(function)
  {
	  ros_trace_rclcpp_service_callback_added(handle_.get(), &callback_);
	  registered(&callback_, function);
	}
	void run(const void *) override
	{
		char request = 0;

		rcl_take_request_with_info(handle_.get(), nullptr, &request);
		ros_trace_callback_start(&callback_, false);
		std::get<1>(callback_)(nullptr);
		ros_trace_callback_end(&callback_);
	}
	std::variant<std::monostate, std::function<void(std::shared_ptr<S>)>> callback_;
};

class Client : public ClientBase {
public:
	using ClientBase::ClientBase;
	void run(const void *) override {}
};

namespace experimental
{
class SubscriptionIntraProcessBase : public Waitable {
public:
	SubscriptionIntraProcessBase(const std::string &topic);
	virtual ~SubscriptionIntraProcessBase();
	const char *get_topic_name() const;
	std::string topic_;
};

template<class M> class SubscriptionIntraProcess : public SubscriptionIntraProcessBase {
public:
  SubscriptionIntraProcess(const Subscription<M> &its)
      : SubscriptionIntraProcessBase(its.topic_), callback_(its.callback_)
  {
	  ros_trace_rclcpp_subscription_init(its.handle_.get(), this);
	  ros_trace_rclcpp_subscription_callback_added(this, &callback_);
	  callback_.registered_();
	}
	void run(const void *) override { callback_.run(true); }
	AnySubscriptionCallback<M> callback_;
};
}

/* ---- groups and executors ---- */

template<class T> using Each = std::function<void(const std::shared_ptr<T> &)>;

class CallbackGroup {
public:
	explicit CallbackGroup(CallbackGroupType type);
	~CallbackGroup();
	const CallbackGroupType &type() const;
	void collect_all_ptrs(Each<SubscriptionBase> a, Each<ServiceBase> b, Each<ClientBase> c,
			      Each<TimerBase> d, Each<Waitable> e) const;
	void add_timer(std::shared_ptr<TimerBase> its);
	void add_subscription(std::shared_ptr<SubscriptionBase> its);
	void add_service(std::shared_ptr<ServiceBase> its);
	void add_client(std::shared_ptr<ClientBase> its);
	CallbackGroupType type_;
	std::vector<std::shared_ptr<SubscriptionBase>> subscriptions;
	std::vector<std::shared_ptr<ServiceBase>> services;
	std::vector<std::shared_ptr<ClientBase>> clients;
	std::vector<std::shared_ptr<TimerBase>> timers;
	std::vector<std::shared_ptr<Waitable>> waitables;
	mutable std::mutex mutex;
	bool silent = false; /* nothing in it ever runs */
};
using GroupPtr = std::shared_ptr<CallbackGroup>;
using GroupSet =
	std::set<std::weak_ptr<CallbackGroup>, std::owner_less<std::weak_ptr<CallbackGroup>>>;

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

namespace executors
{
class ExecutorNotifyWaitable {};

class ExecutorEntitiesCollector {
public:
	explicit ExecutorEntitiesCollector(std::shared_ptr<ExecutorNotifyWaitable> waitable);
	void add_callback_group_to_collection(GroupPtr group, GroupSet &collection);
	std::vector<std::weak_ptr<CallbackGroup>> get_all_callback_groups() const;
	GroupSet groups;
};
}

class Executor {
public:
	explicit Executor(const ExecutorOptions &options);
	virtual ~Executor();
	virtual std::vector<std::weak_ptr<CallbackGroup>> get_all_callback_groups();
	void execute_any_executable(AnyExecutable &executable);
	virtual void add_callback_group(GroupPtr group);
	virtual void spin_once();
	std::mutex mutex;
	std::optional<executors::ExecutorEntitiesCollector> collector; /* from Jazzy on */
protected:
	void wait(const std::vector<GroupPtr> &groups);
};

namespace executors
{
class SingleThreadedExecutor : public Executor {
public:
	explicit SingleThreadedExecutor(const ExecutorOptions &options = ExecutorOptions());
	virtual ~SingleThreadedExecutor();
};
}
}

/* It says which object it executes, a handle or a timer, and has a collector beside the one of its
 * base class. */
namespace rclcpp
{
namespace experimental
{
namespace executors
{
class EventsQueue {
public:
	virtual ~EventsQueue();
};
struct ExecutorEvent { const void *entity_key; int waitable_data; void (*run)(const void *key); };

class EventsExecutor : public Executor {
public:
  explicit EventsExecutor(std::unique_ptr<EventsQueue> queue = nullptr, bool in_thread = false,
			  const ExecutorOptions &options = ExecutorOptions());
  virtual ~EventsExecutor();
  std::vector<std::weak_ptr<CallbackGroup>> get_all_callback_groups() override;
  void add_callback_group(GroupPtr group) override;
  void spin_once() override;
  void execute_event(const ExecutorEvent &event);
private:
	std::shared_ptr<rclcpp::executors::ExecutorEntitiesCollector> collector_;
};
}
}
}
#define PERIOD_NS 2000000ll
