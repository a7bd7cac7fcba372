/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes with each kind of entity. They say what they have and write down what they do, so that a
 * trace of them can be compared. The environment variable ZOO_LOG names the file that they write
 * when the program ends, with one line for each fact:
 *
 *   node NAME
 *   publisher|subscription|service|client NODE NAME, timer NODE NANOSECONDS
 *   group TYPE NODE MEMBER...        a member is a topic, a service, or nanoseconds
 *   symbol CALLBACK NAME             its function is called so in the source (only zoo.py and control.cpp)
 *   run CALLBACK NS                  the callback ran, and this was a moment within its run
 *   receive CALLBACK NUMBER NS       the same, and it got this number
 *   resume CALLBACK NS NS            a coroutine that ran first at one moment ran on at another (only zoo.py)
 *   publish TOPIC NUMBER NS NS       this number was published between these two moments
 *   lends NODE                       the middleware lends this node the memory of its messages
 *   ask|state ...                    what services and lifecycles did
 *   wish NUMBER NS                   a goal was about to be sent
 *   refused NUMBER NS                its client knows that it was refused
 *   end ID STATUS ACTION COUNT NS    the server was about to end a goal so, after so many feedbacks
 *   feedback ID NS, result ID NS     the client got them
 *
 * A CALLBACK is "NODE TOPIC", "NODE SERVICE" or "NODE NANOSECONDS". Times are those of CLOCK_MONOTONIC.
 */
#pragma once
#include <rclcpp/rclcpp.hpp>

#include "log.hpp"

namespace zoo
{
using Nodes = std::vector<rclcpp::node_interfaces::NodeBaseInterface::SharedPtr>;

/** all_nodes() - make a node of each kind; they live until forget(). */
Nodes all_nodes();
void forget();
}
