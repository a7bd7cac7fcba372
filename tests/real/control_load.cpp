// SPDX-License-Identifier: Apache-2.0
// usage: control_load CONTROLLER... -- gives ros2_control_node a robot with two hardware components, one of control.cpp and one of
// ros2_control itself, and activates these controllers.
#include <controller_manager_msgs/srv/configure_controller.hpp>
#include <controller_manager_msgs/srv/load_controller.hpp>
#include <controller_manager_msgs/srv/switch_controller.hpp>
#include <cstdio>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/string.hpp>

using namespace controller_manager_msgs::srv;

static const char robot[] = R"(<?xml version="1.0"?>
<robot name="zoo">
  <link name="base"/>
  <link name="upper"/>
  <link name="lower"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/><child link="lower"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/>
  </joint>
  <ros2_control name="arm" type="system">
    <hardware><plugin>kymo_zoo/Arm</plugin></hardware>
    <joint name="shoulder"><command_interface name="position"/><state_interface name="position"/></joint>
  </ros2_control>
  <ros2_control name="mock" type="system">
    <hardware><plugin>mock_components/GenericSystem</plugin></hardware>
    <joint name="elbow"><command_interface name="position"/><state_interface name="position"/></joint>
  </ros2_control>
</robot>
)";

template<class Service> static bool ask(rclcpp::Node::SharedPtr node, const char *name, typename Service::Request::SharedPtr request)
{
	const auto client = node->create_client<Service>(name);

	client->wait_for_service();
	auto future = client->async_send_request(request);
	return rclcpp::spin_until_future_complete(node, future) == rclcpp::FutureReturnCode::SUCCESS && future.get()->ok;
}

int main(int argc, char **argv)
{
	rclcpp::init(argc, argv);
	const auto node = std::make_shared<rclcpp::Node>("control_load");
	const auto description = node->create_publisher<std_msgs::msg::String>("/robot_description", rclcpp::QoS(1).transient_local());
	auto activate = std::make_shared<SwitchController::Request>();
	std_msgs::msg::String text;
	bool done = true;

	text.data = robot;
	description->publish(text);
	for (int i = 1; i < argc && done; i++) {
		auto load = std::make_shared<LoadController::Request>();
		auto configure = std::make_shared<ConfigureController::Request>();

		load->name = configure->name = argv[i];
		done = ask<LoadController>(node, "/controller_manager/load_controller", load) &&
			ask<ConfigureController>(node, "/controller_manager/configure_controller", configure);
		activate->activate_controllers.push_back(argv[i]);
	}
	activate->strictness = SwitchController::Request::STRICT;
	done = done && ask<SwitchController>(node, "/controller_manager/switch_controller", activate);
	rclcpp::shutdown();
	return !done;
}
