// SPDX-License-Identifier: Apache-2.0
// usage: load CLASS..., load -u ID... -- loads these components of the package kymo_zoo into the container /ComponentManager, or unloads
// those with these ids; the first one has the id 1.
#include <composition_interfaces/srv/load_node.hpp>
#include <composition_interfaces/srv/unload_node.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <rclcpp/rclcpp.hpp>

using Load = composition_interfaces::srv::LoadNode;
using Unload = composition_interfaces::srv::UnloadNode;

template<class Service> static bool ask(rclcpp::Node::SharedPtr node, const char *name, typename Service::Request::SharedPtr request)
{
	const auto client = node->create_client<Service>(name);

	client->wait_for_service();
	auto future = client->async_send_request(request);
	return rclcpp::spin_until_future_complete(node, future) == rclcpp::FutureReturnCode::SUCCESS && future.get()->success;
}

static bool load(rclcpp::Node::SharedPtr node, const char *name)
{
	auto request = std::make_shared<Load::Request>();

	request->package_name = "kymo_zoo";
	request->plugin_name = name;
	return ask<Load>(node, "/ComponentManager/_container/load_node", request);
}

static bool unload(rclcpp::Node::SharedPtr node, const char *id)
{
	auto request = std::make_shared<Unload::Request>();

	request->unique_id = std::strtoull(id, nullptr, 10);
	return ask<Unload>(node, "/ComponentManager/_container/unload_node", request);
}

int main(int argc, char **argv)
{
	const bool unloads = argc > 1 && !std::strcmp(argv[1], "-u");
	int status = 0;

	rclcpp::init(argc, argv);
	const auto node = std::make_shared<rclcpp::Node>("load");
	for (int i = 1 + unloads; i < argc && !status; i++) {
		status = !(unloads ? unload(node, argv[i]) : load(node, argv[i]));
		if (status)
			(void)std::fprintf(stderr, "load: %s cannot be %s\n", argv[i], unloads ? "unloaded" : "loaded");
	}
	rclcpp::shutdown();
	return status;
}
