// SPDX-License-Identifier: Apache-2.0
// usage: load CLASS... -- loads these components of the package kymo_zoo into the container /ComponentManager.
#include <composition_interfaces/srv/load_node.hpp>
#include <cstdio>
#include <rclcpp/rclcpp.hpp>

using Load = composition_interfaces::srv::LoadNode;

int main(int argc, char **argv)
{
	int status = 0;

	rclcpp::init(argc, argv);
	const auto node = std::make_shared<rclcpp::Node>("load");
	const auto client = node->create_client<Load>("/ComponentManager/_container/load_node");

	client->wait_for_service();
	for (int i = 1; i < argc && !status; i++) {
		auto request = std::make_shared<Load::Request>();

		request->package_name = "kymo_zoo";
		request->plugin_name = argv[i];
		auto future = client->async_send_request(request);
		status = rclcpp::spin_until_future_complete(node, future) != rclcpp::FutureReturnCode::SUCCESS || !future.get()->success;
		if (status)
			(void)std::fprintf(stderr, "load: %s cannot be loaded\n", argv[i]);
	}
	rclcpp::shutdown();
	return status;
}
