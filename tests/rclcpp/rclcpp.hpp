/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of rclcpp's public classes as the hooks of abi/symbols.def are about: the same names and
 * arguments, so that a compiler gives them the same symbols, and the same calls among them. JAZZY:
 * executors have a collector inside; else they have a map of groups, as up to Iron.
 */
#pragma once
#include <chrono>
#include <functional>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <vector>

struct rcl_timer_t { long fill; };
struct rcl_subscription_t { long fill; };
struct rcl_service_t { long fill; };
struct rcl_client_t { long fill; };

namespace rclcpp
{
enum class CallbackGroupType { MutuallyExclusive, Reentrant };
struct ExecutorOptions { int fill = 0; };

/* The member type and the getter of what a group holds. */
#define ENTITY(Class, what, handle_constness)						\
	class Class {									\
	public:										\
		Class();								\
		virtual ~Class();							\
		std::shared_ptr<handle_constness rcl_##what##_t> get_##what##_handle();	\
		long users() const { return handle_.use_count(); }			\
	private:									\
		std::shared_ptr<rcl_##what##_t> handle_;				\
	};
ENTITY(TimerBase, timer, const)
ENTITY(SubscriptionBase, subscription, )
ENTITY(ServiceBase, service, )
ENTITY(ClientBase, client, )

class Waitable;
template<class Entity> using EntityFunction = std::function<void(const std::shared_ptr<Entity> &)>;

class CallbackGroup {
public:
	explicit CallbackGroup(CallbackGroupType type);
	~CallbackGroup();
	const CallbackGroupType &type() const;
	void add_timer(const std::shared_ptr<TimerBase> timer);
	void add_subscription(const std::shared_ptr<SubscriptionBase> subscription);
	void add_service(const std::shared_ptr<ServiceBase> service);
	void add_client(const std::shared_ptr<ClientBase> client);
	void collect_all_ptrs(EntityFunction<SubscriptionBase> subscription,
			      EntityFunction<ServiceBase> service,
			      EntityFunction<ClientBase> client, EntityFunction<TimerBase> timer,
			      EntityFunction<Waitable> waitable) const;

      private:
	CallbackGroupType type_;
	std::vector<std::weak_ptr<void>> members_;
};
using GroupPtr = std::shared_ptr<CallbackGroup>;

namespace node_interfaces
{
class NodeBaseInterface {
public:
	virtual ~NodeBaseInterface();
	std::vector<GroupPtr> groups;
};
}
using NodePtr = std::shared_ptr<node_interfaces::NodeBaseInterface>;
using GroupMap =
	std::map<std::weak_ptr<CallbackGroup>, std::weak_ptr<node_interfaces::NodeBaseInterface>,
		 std::owner_less<std::weak_ptr<CallbackGroup>>>;
using GroupSet =
	std::set<std::weak_ptr<CallbackGroup>, std::owner_less<std::weak_ptr<CallbackGroup>>>;

namespace executors
{
class ExecutorNotifyWaitable {};

class ExecutorEntitiesCollector {
public:
	explicit ExecutorEntitiesCollector(std::shared_ptr<ExecutorNotifyWaitable> waitable);
	~ExecutorEntitiesCollector();
	void add_callback_group_to_collection(GroupPtr group, GroupSet &collection);
	GroupSet groups;
private:
	std::shared_ptr<ExecutorNotifyWaitable> waitable_;
};

class StaticExecutorEntitiesCollector {
public:
	bool add_node(NodePtr node);
	bool add_callback_group(GroupPtr group, NodePtr node, GroupMap &map);
private:
	GroupMap map_;
};
}

class Executor {
public:
	explicit Executor(const ExecutorOptions &options);
	virtual ~Executor();
	virtual void spin() = 0;
	static void execute_client(std::shared_ptr<ClientBase> client);
	static void execute_subscription(std::shared_ptr<SubscriptionBase> subscription);
	virtual void add_node(NodePtr node, bool notify = true);
	virtual void add_callback_group(GroupPtr group, NodePtr node, bool notify = true);
	virtual const void *collector() const;
protected:
  virtual void add_callback_group_to_map(GroupPtr group, NodePtr node, GroupMap &map,
					 bool notify = true);

private:
	GroupMap map_;
#ifdef JAZZY
	executors::ExecutorEntitiesCollector collector_;
#endif
};

namespace executors
{
class SingleThreadedExecutor : public Executor {
public:
	explicit SingleThreadedExecutor(const ExecutorOptions &options = ExecutorOptions());
	virtual ~SingleThreadedExecutor();
	void spin() override;
};

class MultiThreadedExecutor : public Executor {
public:
  explicit MultiThreadedExecutor(const ExecutorOptions &options = ExecutorOptions(),
				 size_t number_of_threads = 0, bool yield_before_execute = false,
				 std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1));
  virtual ~MultiThreadedExecutor();
  void spin() override;
  size_t threads;
  bool yields;
  std::chrono::nanoseconds timeout;
};

class StaticSingleThreadedExecutor : public Executor {
public:
	explicit StaticSingleThreadedExecutor(const ExecutorOptions &options = ExecutorOptions());
	virtual ~StaticSingleThreadedExecutor();
	void spin() override;
#ifndef JAZZY
	void add_node(NodePtr node, bool notify = true) override;
	void add_callback_group(GroupPtr group, NodePtr node, bool notify = true) override;
	const void *collector() const override;
private:
	std::shared_ptr<StaticExecutorEntitiesCollector> collector_;
#endif
};
}

#ifdef JAZZY
namespace executors
{
/* It has its groups in a list of its own, and looks at them later. */
class EventsCBGExecutor : public Executor {
public:
  explicit EventsCBGExecutor(const ExecutorOptions &options = ExecutorOptions(),
			     size_t number_of_threads = 0,
			     std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1));
  virtual ~EventsCBGExecutor();
  void spin() override;
  void add_callback_group(GroupPtr group, NodePtr node, bool notify = true) override;
  void sync_callback_groups();
  size_t threads;
  std::chrono::nanoseconds timeout;
private:
	std::vector<GroupPtr> groups_;
};
}
#endif

/* It has a collector beside the one of its base class. */
#ifdef JAZZY
namespace experimental
{
namespace executors
{
class EventsQueue {
public:
	virtual ~EventsQueue();
};

class EventsExecutor : public Executor {
public:
  explicit EventsExecutor(std::unique_ptr<EventsQueue> queue = std::make_unique<EventsQueue>(),
			  bool in_thread = false,
			  const ExecutorOptions &options = ExecutorOptions());
  virtual ~EventsExecutor();
  void spin() override;
  void add_callback_group(GroupPtr group, NodePtr node, bool notify = true) override;
  const void *collector() const override;
  bool timers_in_thread;
private:
	std::unique_ptr<EventsQueue> queue_;
	std::shared_ptr<rclcpp::executors::ExecutorEntitiesCollector> collector_;
};
}
}
#endif
}
