/* SPDX-License-Identifier: Apache-2.0 */
/* rclcpp's StaticSingleThreadedExecutor as in Humble and Iron, for late.cpp: it has its groups in a
 * collector of its own, and runs what is ready without execute_any_executable(). */
#pragma once
#include <map>

#include "late.hpp"

namespace rclcpp
{
namespace node_interfaces
{
class NodeBaseInterface;
}
using NodePtr = std::shared_ptr<node_interfaces::NodeBaseInterface>;
using GroupMap =
	std::map<std::weak_ptr<CallbackGroup>, std::weak_ptr<node_interfaces::NodeBaseInterface>,
		 std::owner_less<std::weak_ptr<CallbackGroup>>>;

namespace executors
{
class StaticExecutorEntitiesCollector {
public:
	bool add_callback_group(GroupPtr group, NodePtr node, GroupMap &map);
	GroupMap map_;
};

class StaticSingleThreadedExecutor : public Executor {
public:
	explicit StaticSingleThreadedExecutor(const ExecutorOptions &options = ExecutorOptions());
	virtual ~StaticSingleThreadedExecutor();
	std::vector<std::weak_ptr<CallbackGroup>> get_all_callback_groups() override;
	void add_callback_group(GroupPtr group) override;
	void add_callback_group(GroupPtr group, NodePtr node, bool notify);
	void spin_once() override;
private:
	bool execute_ready_executables(bool spin_once = false);

	std::shared_ptr<StaticExecutorEntitiesCollector> collector_;
};
}
}
