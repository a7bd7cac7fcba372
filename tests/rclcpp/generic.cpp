/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A generic publisher and a generic subscription, as rcl, rclcpp, rmw_implementation and CycloneDDS
 * make them, with the functions that the hooks of ros2_serialized.c are about.
 *
 * -DLIBRARY: the libraries. Those of Humble have no tracepoints for such messages.
 *
 * Otherwise the program `generic COUNT DISTRIBUTION` publishes COUNT messages. Two subscriptions
 * of their topic take them by turns, the generic one first: the other one has a type and takes
 * bytes. After each of them, the executor finds none. The generic callback publishes, too. Prints
 * how many users the subscription's handle has.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

struct rmw_object {
	const char *implementation_identifier;
	void *data;
	const char *topic;
};
struct rcl_publisher_t {
	rmw_object *rmw;
};
struct rcl_subscription_t {
	rmw_object *rmw;
};
struct serialized_message {
	const uint8_t *buffer;
	size_t length, capacity;
};
struct message_info {
	int64_t source_timestamp, received_timestamp;
};
/* ddsi_serdata */
struct serdata {
	const void *ops;
	uint32_t hash, users, kind;
	const void *type;
	int64_t time;
};

extern "C" {
extern bool distribution_tells; /* the test's */
int rcl_publish_serialized_message(const rcl_publisher_t *publisher,
				   const serialized_message *message, void *allocation);
int rcl_take_serialized_message(const rcl_subscription_t *subscription, serialized_message *message,
				message_info *info, void *allocation);
int rmw_publish_serialized_message(const rmw_object *publisher, const serialized_message *message,
				   void *allocation);
int rmw_take_serialized_message_with_info(const rmw_object *subscription,
					  serialized_message *message, bool *taken,
					  message_info *info, void *allocation);
int32_t dds_writecdr(int32_t writer, serdata *data);
void *ddsi_tkmap_lookup_instance_ref(void *map, serdata *data);

void ros_trace_rcl_init(const void *context);
void ros_trace_rcl_node_init(const void *node, const void *rmw, const char *name,
			     const char *space);
void ros_trace_rmw_publisher_init(const void *publisher, const uint8_t *gid);
void ros_trace_rcl_publisher_init(const void *publisher, const void *node, const void *rmw,
				  const char *topic, size_t depth);
void ros_trace_rmw_subscription_init(const void *subscription, const uint8_t *gid);
void ros_trace_rcl_subscription_init(const void *subscription, const void *node, const void *rmw,
				     const char *topic, size_t depth);
void ros_trace_rclcpp_subscription_init(const void *handle, const void *subscription);
void ros_trace_rclcpp_subscription_callback_added(const void *subscription, const void *callback);
void ros_trace_rcl_publish(const void *publisher, const void *message);
void ros_trace_rmw_publish(const void *publisher, const void *message, int64_t stamp);
void ros_trace_rmw_take(const void *subscription, const void *message, int64_t stamp, bool taken);
void ros_trace_callback_start(const void *callback, bool is_intra);
void ros_trace_callback_end(const void *callback);
}

namespace rclcpp
{
class SubscriptionBase
{
      public:
	SubscriptionBase(rmw_object *rmw, const void *node);
	virtual ~SubscriptionBase();
	std::shared_ptr<rcl_subscription_t> get_subscription_handle();
	bool take_serialized(serialized_message &message, message_info &info);
	virtual void handle_serialized_message(const serialized_message &message) = 0;
	long users() const
	{
		return handle_.use_count();
	}

      protected:
	std::shared_ptr<rcl_subscription_t> handle_;
};

class GenericSubscription : public SubscriptionBase
{
      public:
	template <typename F>
	GenericSubscription(rmw_object *rmw, const void *node, F callback)
	    : SubscriptionBase(rmw, node), callback_(callback)
	{
		if (!distribution_tells)
			return;
		ros_trace_rclcpp_subscription_init(handle_.get(), this);
		ros_trace_rclcpp_subscription_callback_added(this, &callback_);
	}
	void handle_serialized_message(const serialized_message &message) override;

      private:
	std::function<void(const serialized_message &)> callback_;
};

/* Reports its callback in all versions. */
class TypedSubscription : public SubscriptionBase
{
      public:
	TypedSubscription(rmw_object *rmw, const void *node) : SubscriptionBase(rmw, node)
	{
		ros_trace_rclcpp_subscription_init(handle_.get(), this);
		ros_trace_rclcpp_subscription_callback_added(this, &callback_);
	}
	void handle_serialized_message(const serialized_message &) override
	{
		ros_trace_callback_start(&callback_, false);
		ros_trace_callback_end(&callback_);
	}

      private:
	char callback_ = 0;
};

class CallbackGroup
{
      public:
	void add_subscription(const std::shared_ptr<SubscriptionBase> subscription);
};

class Executor
{
      public:
	static void execute_subscription(std::shared_ptr<SubscriptionBase> subscription);
	static void spin_some(std::shared_ptr<SubscriptionBase> subscription);
};
} // namespace rclcpp

#ifdef LIBRARY
bool distribution_tells;
static int64_t written; /* when the message that waits was; 0: none */
static serialized_message waits;

static int64_t now()
{
	static int64_t time = 1700000000000000000;

	return ++time;
}

int rcl_publish_serialized_message(const rcl_publisher_t *publisher,
				   const serialized_message *message, void *allocation)
{
	return rmw_publish_serialized_message(publisher->rmw, message, allocation) ? 1 : 0;
}
int rmw_publish_serialized_message(const rmw_object *publisher, const serialized_message *message,
				   void *)
{
	serdata data = { nullptr, 0, 1, 0, nullptr, now() };

	waits = *message;
	if (distribution_tells)
		ros_trace_rmw_publish(publisher, message, data.time);
	return dds_writecdr(1, &data) ? 1 : 0;
}
int32_t dds_writecdr(int32_t, serdata *data)
{
	written = data->time;
	return ddsi_tkmap_lookup_instance_ref(nullptr, data) ? 1 : 0;
}
void *ddsi_tkmap_lookup_instance_ref(void *, serdata *)
{
	return nullptr;
}
int rcl_take_serialized_message(const rcl_subscription_t *subscription, serialized_message *message,
				message_info *info, void *allocation)
{
	bool taken = false;
	const int rc = rmw_take_serialized_message_with_info(subscription->rmw, message, &taken,
							     info, allocation);

	return rc || !taken;
}
int rmw_take_serialized_message_with_info(const rmw_object *subscription,
					  serialized_message *message, bool *taken,
					  message_info *info, void *)
{
	*taken = written != 0;
	*message = waits;
	info->source_timestamp = written;
	if (distribution_tells)
		ros_trace_rmw_take(subscription, message, written, *taken);
	return 0;
}

namespace rclcpp
{
SubscriptionBase::SubscriptionBase(rmw_object *rmw, const void *node)
    : handle_(std::make_shared<rcl_subscription_t>(rcl_subscription_t{ rmw }))
{
	static const uint8_t gid[24] = { 2 };

	ros_trace_rmw_subscription_init(rmw, gid);
	ros_trace_rcl_subscription_init(handle_.get(), node, rmw, rmw->topic, 10);
}
SubscriptionBase::~SubscriptionBase()
{
}
std::shared_ptr<rcl_subscription_t> SubscriptionBase::get_subscription_handle()
{
	return handle_;
}
bool SubscriptionBase::take_serialized(serialized_message &message, message_info &info)
{
	return !rcl_take_serialized_message(handle_.get(), &message, &info, nullptr);
}
void GenericSubscription::handle_serialized_message(const serialized_message &message)
{
	if (distribution_tells)
		ros_trace_callback_start(&callback_, false);
	callback_(message);
	if (distribution_tells)
		ros_trace_callback_end(&callback_);
}
void CallbackGroup::add_subscription(const std::shared_ptr<SubscriptionBase>)
{
}
void Executor::execute_subscription(std::shared_ptr<SubscriptionBase> subscription)
{
	serialized_message message = {};
	message_info info = {};

	if (subscription->take_serialized(message, info))
		subscription->handle_serialized_message(message);
}
void Executor::spin_some(std::shared_ptr<SubscriptionBase> subscription)
{
	const int64_t before = written;

	execute_subscription(subscription);
	written = 0;
	execute_subscription(subscription);
	written = before;
}
} // namespace rclcpp
#else
static rmw_object rmw(const char *topic)
{
	return { "rmw_cyclonedds_cpp", nullptr, topic };
}

int main(int argc, char **argv)
{
	static const uint8_t bytes[24] = { 0, 1 }, gid[2][24] = { { 1 }, { 3 } };
	static char node, rmw_node;
	static rmw_object rmws[] = { rmw("/numbers"), rmw("/echo"), rmw("/numbers"),
				     rmw("/numbers") };
	const serialized_message message = { bytes, sizeof bytes, sizeof bytes };
	rcl_publisher_t publisher = { &rmws[0] }, echo = { &rmws[1] };

	distribution_tells = argc > 2 && std::strcmp(argv[2], "humble") != 0;
	ros_trace_rcl_init(&node);
	ros_trace_rcl_node_init(&node, &rmw_node, "bag", "/");
	ros_trace_rmw_publisher_init(&rmws[0], gid[0]);
	ros_trace_rcl_publisher_init(&publisher, &node, &rmws[0], "/numbers", 10);
	ros_trace_rmw_publisher_init(&rmws[1], gid[1]);
	ros_trace_rcl_publisher_init(&echo, &node, &rmws[1], "/echo", 10);
	auto generic = std::make_shared<rclcpp::GenericSubscription>(
		&rmws[2], &node, [&echo](const serialized_message &) {
			const serialized_message other = { bytes, 12, 12 };

			rcl_publish_serialized_message(&echo, &other, nullptr);
		});
	auto typed = std::make_shared<rclcpp::TypedSubscription>(&rmws[3], &node);
	rclcpp::CallbackGroup group;

	group.add_subscription(generic);
	group.add_subscription(typed);
	for (int i = argc > 1 ? std::atoi(argv[1]) : 0; i; i--) {
		rcl_publish_serialized_message(&publisher, &message, nullptr);
		rclcpp::Executor::spin_some(typed);
		rclcpp::Executor::spin_some(generic);
	}
	std::printf("%ld\n", generic->users());
	return 0;
}
#endif
