// SPDX-License-Identifier: Apache-2.0
// A hardware component and a controller for ros2_control_node, which write down what they do.
#include <cinttypes>
#include <controller_interface/controller_interface.hpp>
#include <hardware_interface/system_interface.hpp>
#include <pluginlib/class_list_macros.hpp>
#include <std_msgs/msg/u_int64.hpp>

#include "log.hpp"

using hardware_interface::CallbackReturn;
using Number = std_msgs::msg::UInt64;
using zoo::log_;
using zoo::moment;

namespace
{
/* This run, which is also a moment within a run of the controller manager. */
void ran_within_manager(const std::string &node, const char *verb)
{
	const int64_t now = moment();

	log_.say("run %s %s %" PRId64, node.c_str(), verb, now);
	log_.say("run %s manager_%s %" PRId64, node.c_str(), verb, now);
}

void has_symbol(const std::string &node, const char *verb)
{
	log_.say("symbol %s %s %s::%s", node.c_str(), verb, node.c_str() + 1, verb);
	log_.say("symbol %s manager_%s ControllerManager::%s", node.c_str(), verb, verb);
}
}

class Arm : public hardware_interface::SystemInterface {
public:
	CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
	{
		has_symbol("/arm", "read");
		has_symbol("/arm", "write");
		return CallbackReturn::SUCCESS;
	}
	hardware_interface::return_type read(const rclcpp::Time &, const rclcpp::Duration &) override
	{
		ran_within_manager("/arm", "read");
		return hardware_interface::return_type::OK;
	}
	hardware_interface::return_type write(const rclcpp::Time &, const rclcpp::Duration &) override
	{
		ran_within_manager("/arm", "write");
		return hardware_interface::return_type::OK;
	}
};

/* Publishes a number in each update(), and gets it back. */
class Stepper : public controller_interface::ControllerInterface {
public:
	CallbackReturn on_init() override { return CallbackReturn::SUCCESS; }
	controller_interface::InterfaceConfiguration command_interface_configuration() const override { return {}; }
	controller_interface::InterfaceConfiguration state_interface_configuration() const override { return {}; }
	CallbackReturn on_configure(const rclcpp_lifecycle::State &) override
	{
		const auto node = get_node();

		out_ = node->create_publisher<Number>(topic_, 10);
		in_ = node->create_subscription<Number>(topic_, 10, [this](Number::ConstSharedPtr message) {
			zoo::received("/stepper " + topic_, message->data);
		});
		log_.say("node /stepper");
		log_.say("publisher /stepper %s", topic_.c_str());
		log_.say("subscription /stepper %s", topic_.c_str());
		has_symbol("/stepper", "update");
		return CallbackReturn::SUCCESS;
	}
	CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
	{
		out_->on_activate();
		return CallbackReturn::SUCCESS;
	}
	controller_interface::return_type update(const rclcpp::Time &, const rclcpp::Duration &) override
	{
		Number message;
		const int64_t before = moment();

		ran_within_manager("/stepper", "update");
		message.data = ++number_;
		out_->publish(message);
		log_.say("publish %s %" PRIu64 " %" PRId64 " %" PRId64, topic_.c_str(), number_, before, moment());
		return controller_interface::return_type::OK;
	}

private:
	const std::string topic_ = "/stepper/numbers";
	uint64_t number_ = 0;
	rclcpp_lifecycle::LifecyclePublisher<Number>::SharedPtr out_;
	rclcpp::Subscription<Number>::SharedPtr in_;
};

PLUGINLIB_EXPORT_CLASS(Arm, hardware_interface::SystemInterface)
PLUGINLIB_EXPORT_CLASS(Stepper, controller_interface::ControllerInterface)
