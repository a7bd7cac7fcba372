/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands for ros2_control: -DHARDWARE makes libhardware_interface.so, -DCONTROLLER libcontroller_interface.so, -DMANAGER
 * libcontroller_manager.so, none of them the program, which calls as ros2_control_node does: read(), update() and write() of
 * the manager, N times. read() and write() go on to two components, update() to four controllers. One publishes, one throws
 * in each second cycle, and one is asynchronous. -DPAIR: with the result of trigger_update() of ros2_control before 4.21.0.
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tracetools/tracetools.h"

namespace rclcpp
{
struct Time {
	explicit Time(long from) : ns(from) {}
	virtual ~Time();
	long ns;
};
struct Duration {
	explicit Duration(long from) : ns(from) {}
	virtual ~Duration() = default;
	long ns;
};
}

namespace rclcpp_lifecycle
{
class LifecycleNode {
public:
	explicit LifecycleNode(const std::string &name);
	virtual ~LifecycleNode() = default;
	const char *get_name() const;

private:
	std::string name_;
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

namespace controller_interface
{
enum class return_type : unsigned char { OK, ERROR };

#ifdef PAIR
using Status = std::pair<bool, return_type>;
#else
struct Status {
	bool successful = true;
	return_type result = return_type::OK;
	std::optional<std::chrono::nanoseconds> execution_time = std::nullopt;
	std::optional<rclcpp::Duration> period = std::nullopt;
};
#endif
#ifdef PAIR
static inline bool is_error(const Status &status) { return status.second == return_type::ERROR; }
#else
static inline bool is_error(const Status &status) { return status.result == return_type::ERROR; }
#endif

class ControllerInterfaceBase {
public:
	ControllerInterfaceBase(const std::string &name, bool is_async);
	virtual ~ControllerInterfaceBase() = default;
	virtual return_type update(const rclcpp::Time &time, const rclcpp::Duration &period) = 0;
	Status trigger_update(const rclcpp::Time &time, const rclcpp::Duration &period);
	std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node();
	bool is_async() const;
	long references() const { return node_.use_count(); }

private:
	std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_;
	bool is_async_;
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
	std::vector<std::unique_ptr<controller_interface::ControllerInterfaceBase>> controllers_;
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
rclcpp::Time::~Time() = default;
#elif defined(CONTROLLER)
rclcpp_lifecycle::LifecycleNode::LifecycleNode(const std::string &name) : name_(name) {}
const char *rclcpp_lifecycle::LifecycleNode::get_name() const { return name_.c_str(); }
namespace controller_interface
{
ControllerInterfaceBase::ControllerInterfaceBase(const std::string &name, bool is_async)
	: node_(std::make_shared<rclcpp_lifecycle::LifecycleNode>(name)), is_async_(is_async)
{
}
Status ControllerInterfaceBase::trigger_update(const rclcpp::Time &time, const rclcpp::Duration &period)
{
	Status status;
	const return_type result = is_async_ ? return_type::OK : update(time, period);
#ifdef PAIR
	status.first = true;
	status.second = result;
#else
	status.result = result;
	status.period = period;
#endif
	return status;
}
std::shared_ptr<rclcpp_lifecycle::LifecycleNode> ControllerInterfaceBase::get_node() { return node_; }
bool ControllerInterfaceBase::is_async() const { return is_async_; }
}
#elif defined(MANAGER)
namespace controller_manager
{
using controller_interface::ControllerInterfaceBase;
using controller_interface::return_type;

struct Broadcaster : ControllerInterfaceBase {
	using ControllerInterfaceBase::ControllerInterfaceBase;
	return_type update(const rclcpp::Time &time, const rclcpp::Duration &) override
	{
		ros_trace_rclcpp_publish(at(0), at(0x500));
		ros_trace_rcl_publish(at(0x300), at(0x500));
		ros_trace_rmw_publish(at(0x301), at(0x500), time.ns);
		return return_type::OK;
	}
};
struct Failing : ControllerInterfaceBase {
	using ControllerInterfaceBase::ControllerInterfaceBase;
	return_type update(const rclcpp::Time &time, const rclcpp::Duration &) override
	{
		if (time.ns % 2)
			throw std::runtime_error("in update()");
		return return_type::ERROR;
	}
};
struct Quiet : ControllerInterfaceBase {
	using ControllerInterfaceBase::ControllerInterfaceBase;
	return_type update(const rclcpp::Time &time, const rclcpp::Duration &period) override
	{
		return time.ns > 0 && period.ns == 1000 ? return_type::OK : return_type::ERROR;
	}
};

ControllerManager::ControllerManager()
{
	controllers_.push_back(std::make_unique<Failing>("failing", false));
	controllers_.push_back(std::make_unique<Broadcaster>("joint_state_broadcaster", false));
	controllers_.push_back(std::make_unique<Quiet>("with_a_thread", true));
	controllers_.push_back(std::make_unique<Quiet>("arm_controller", false));
	components_.emplace_back("arm");
	components_.emplace_back("a gripper whose name has more than fifteen letters");
}
void ControllerManager::read(const rclcpp::Time &time, const rclcpp::Duration &period)
{
	for (auto &component : components_)
		if (component.read(time, period) != hardware_interface::return_type::OK)
			throw std::runtime_error("arguments do not come through");
}
hardware_interface::return_type ControllerManager::update(const rclcpp::Time &time, const rclcpp::Duration &period)
{
	for (auto &controller : controllers_) {
		bool failed = false, has_thrown = false;
		try {
			const auto status = controller->trigger_update(time, period);
			failed = is_error(status);
#ifndef PAIR
			if (!status.successful || !status.period || status.period->ns != period.ns || status.execution_time)
				throw std::logic_error("results of controllers do not come through");
#endif
		} catch (const std::runtime_error &) {
			has_thrown = true;
		}
		const bool is_failing = controller == controllers_.front();
		if (failed != (is_failing && time.ns % 2 == 0) || has_thrown != (is_failing && time.ns % 2))
			throw std::logic_error("arguments, results or exceptions of controllers do not come through");
		if (controller->references() != 1)
			throw std::logic_error("the node of a controller has another owner");
	}
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
		const rclcpp::Time time(i);
		const rclcpp::Duration period(1000);

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
