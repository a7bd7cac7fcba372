/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands for ros2_control: -DHARDWARE makes libhardware_interface.so, -DMANAGER libcontroller_manager.so, neither the
 * program, which calls as ros2_control_node does: read(), update() and write() of the manager, N times. update() publishes,
 * read() and write() go on to two components.
 */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tracetools/tracetools.h"

namespace rclcpp
{
struct Time {
	long ns;
};
struct Duration {
	long ns;
};
}

namespace hardware_interface
{
enum class return_type : unsigned char { OK, ERROR, DEACTIVATE };

class HardwareComponent {
public:
	explicit HardwareComponent(const std::string &name);
	const std::string &get_name() const;
	return_type read(const rclcpp::Time &time, const rclcpp::Duration &period);
	return_type write(const rclcpp::Time &time, const rclcpp::Duration &period);

private:
	std::string name_;
};
}

namespace controller_manager
{
class ControllerManager {
public:
	ControllerManager();
	void read(const rclcpp::Time &time, const rclcpp::Duration &period);
	hardware_interface::return_type update(const rclcpp::Time &time, const rclcpp::Duration &period);
	void write(const rclcpp::Time &time, const rclcpp::Duration &period);

private:
	std::vector<hardware_interface::HardwareComponent> components_;
};
}

static inline const void *at(unsigned long number) { return reinterpret_cast<const void *>(number); }

#if defined(HARDWARE)
namespace hardware_interface
{
HardwareComponent::HardwareComponent(const std::string &name) : name_(name) {}
const std::string &HardwareComponent::get_name() const { return name_; }
return_type HardwareComponent::read(const rclcpp::Time &time, const rclcpp::Duration &period)
{
	return time.ns > 0 && period.ns == 1000 ? return_type::OK : return_type::ERROR;
}
return_type HardwareComponent::write(const rclcpp::Time &, const rclcpp::Duration &) { return return_type::DEACTIVATE; }
}
#elif defined(MANAGER)
namespace controller_manager
{
ControllerManager::ControllerManager()
{
	components_.emplace_back("arm");
	components_.emplace_back("a gripper whose name has more than fifteen letters");
}
void ControllerManager::read(const rclcpp::Time &time, const rclcpp::Duration &period)
{
	for (auto &component : components_)
		if (component.read(time, period) != hardware_interface::return_type::OK)
			throw std::runtime_error("arguments do not come through");
}
hardware_interface::return_type ControllerManager::update(const rclcpp::Time &time, const rclcpp::Duration &)
{
	ros_trace_rclcpp_publish(at(0), at(0x500));
	ros_trace_rcl_publish(at(0x300), at(0x500));
	ros_trace_rmw_publish(at(0x301), at(0x500), time.ns);
	return hardware_interface::return_type::DEACTIVATE;
}
void ControllerManager::write(const rclcpp::Time &time, const rclcpp::Duration &period)
{
	for (auto &component : components_)
		if (component.write(time, period) != hardware_interface::return_type::DEACTIVATE)
			throw std::runtime_error("results do not come through");
}
}
#else
int main(int argc, char **argv)
{
	const long cycles = argc > 1 ? std::atol(argv[1]) : 10;

	ros_trace_rcl_init(at(0x100));
	ros_trace_rcl_node_init(at(0x10), at(0x11), "controller_manager", "/");
	ros_trace_rcl_node_init(at(0x20), at(0x21), "planner", "/");
	ros_trace_rcl_publisher_init(at(0x300), at(0x10), at(0x301), "/joint_states", 10);
	ros_trace_rcl_subscription_init(at(0x400), at(0x20), at(0x401), "/joint_states", 10);
	ros_trace_rclcpp_subscription_init(at(0x400), at(0x402));
	ros_trace_rclcpp_subscription_callback_added(at(0x402), at(0x403));
	auto manager = std::make_unique<controller_manager::ControllerManager>();
	for (long i = 1; i <= cycles; i++) {
		const rclcpp::Time time{ i };
		const rclcpp::Duration period{ 1000 };

		manager->read(time, period);
		if (manager->update(time, period) != hardware_interface::return_type::DEACTIVATE)
			throw std::runtime_error("results do not come through");
		manager->write(time, period);
		ros_trace_rmw_take(at(0x401), at(0x600), time.ns, true);
		ros_trace_callback_start(at(0x403), false);
		ros_trace_callback_end(at(0x403));
	}
	std::printf("%ld cycles\n", cycles);
	return 0;
}
#endif
