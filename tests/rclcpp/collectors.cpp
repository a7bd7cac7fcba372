/* SPDX-License-Identifier: Apache-2.0 */
/* What rclcpp.cpp sees no more of than its declaration, as in rclcpp. */
#include "rclcpp.hpp"

namespace rclcpp
{
namespace executors
{
ExecutorEntitiesCollector::ExecutorEntitiesCollector(std::shared_ptr<ExecutorNotifyWaitable> waitable)
: waitable_(waitable)
{
}
ExecutorEntitiesCollector::~ExecutorEntitiesCollector() {}
void ExecutorEntitiesCollector::add_callback_group_to_collection(GroupPtr group, GroupSet &collection)
{
	collection.insert(group);
}

bool StaticExecutorEntitiesCollector::add_node(NodePtr node)
{
	bool added = false;

	for (const auto &group : node->groups)
		added |= add_callback_group(group, node, map_);
	return added;
}
bool StaticExecutorEntitiesCollector::add_callback_group(GroupPtr group, NodePtr node, GroupMap &map)
{
	return map.insert({ group, node }).second;
}
}
}
