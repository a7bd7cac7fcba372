/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with nodes, publishers, subscriptions, timers, services, clients and servers of actions, as rcl and rclcpp
 * make them. Some never do anything. It creates NODES nodes, prints "begun", and runs an executor until SIGTERM: with
 * the argument "events" an EventsExecutor, with "static" a StaticSingleThreadedExecutor of Humble. Meanwhile it also
 * destroys and creates publishers, so that new objects come to lie where others were. Its thread has an error of rcutils
 * from before, and has to keep it.
 */
#include "late_static.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>

#define NODES 3

static std::atomic<bool> ends;

struct Message { char text[8]; };
struct Other { double number; };
struct Request { int number; };

static std::string numbered(const char *name, unsigned number)
{
	return name + std::to_string(number);
}

/* One behind the other: who reads past the end of a base finds the groups of another node. */
static std::aligned_storage_t<sizeof(rclcpp::Base), alignof(rclcpp::Base)> bases[NODES];

struct BaseEnds {
	void operator()(rclcpp::Base *base) const { base->~NodeBase(); }
};

static void on_message(const Message &) {}

/* The server of an action has its service "goal" where no executor lists it. */
namespace rclcpp_action
{
template<class A> class Server : public rclcpp::Waitable {
public:
	Server(rcl_node_t *node, const std::string &name) : impl_(std::make_unique<Impl>()), node_(node)
	{
		rcl_service_init(&impl_->goal, node, (name + "/_action/send_goal").c_str(), 0);
		impl_->its.impl = &impl_->goal;
		impl_->server = &impl_->its;
	}
	~Server() { rcl_service_fini(&impl_->goal, node_); }
	void run(const void *) override
	{
		char request = 0;

		rcl_take_request_with_info(impl_->server->impl, nullptr, &request);
	}
private:
	struct rcl_action_server_t { rcl_service_t *impl; };
	struct Impl {
		uintptr_t fill = 1;
		rcl_action_server_t *server, its;
		rcl_service_t goal;
	};

	std::unique_ptr<Impl> impl_;
	rcl_node_t *node_;
};
}

class Node {
public:
	explicit Node(unsigned number, rclcpp::Executor &executor);
	~Node();
	void renew(const void *message);
private:
	template<class T, class... Arguments> std::shared_ptr<T> make(const std::string &name, int64_t value, Arguments... more)
	{
		return std::make_shared<T>(base_.get(), name.c_str(), value, more...);
	}
	template<class F> std::shared_ptr<rclcpp::WallTimer<F>> timer(int64_t period, const F &function)
	{
		return make<rclcpp::WallTimer<F>>("", period, function);
	}
	rclcpp::GroupPtr group(rclcpp::CallbackGroupType type, rclcpp::Executor &executor);
	void on_timer();

	std::unique_ptr<rclcpp::Base, BaseEnds> base_;
	std::shared_ptr<rcl_publisher_t> publisher_, temporary_;
	std::shared_ptr<rclcpp::Client> client_;
	std::vector<rclcpp::GroupPtr> groups_;
};

rclcpp::GroupPtr Node::group(rclcpp::CallbackGroupType type, rclcpp::Executor &executor)
{
	groups_.push_back(std::make_shared<rclcpp::CallbackGroup>(type));
	base_->groups.push_back(groups_.back());
	executor.add_callback_group(groups_.back());
	return groups_.back();
}

Node::Node(unsigned number, rclcpp::Executor &executor)
	: base_(new (&bases[number]) rclcpp::Base(numbered("node", number))), publisher_(std::make_shared<rcl_publisher_t>())
{
	const auto exclusive = rclcpp::CallbackGroupType::MutuallyExclusive;
	const int64_t period = PERIOD_NS + number;
	rclcpp::AnySubscriptionCallback<Message> plain, within;
	rclcpp::AnySubscriptionCallback<Other> shared;
	std::shared_ptr<rclcpp::Subscription<Message>> subscription;
	rclcpp::GroupPtr its;

	plain.variant_ = std::function<void(const Message &)>(on_message);
	within.variant_ = [](std::shared_ptr<const Message>) {};
	shared.variant_ = [this](std::shared_ptr<const Other>) { base_->get_rcl_node_handle(); };
	rcl_publisher_init(publisher_.get(), base_->get_rcl_node_handle(), numbered("/out", number).c_str(), 7);

	its = group(exclusive, executor); /* says its node by services */
	its->add_timer(timer(period, std::bind(&Node::on_timer, this)));
	its->add_service(make<rclcpp::Service<Request>>(numbered("/serve", number), 0, [](std::shared_ptr<Request>) {}));
	client_ = make<rclcpp::Client>(numbered("/ask", number), 0);
	its->add_client(client_);

	its->waitables.push_back(std::make_shared<rclcpp_action::Server<Request>>(base_->get_rcl_node_handle(), numbered("/do", number)));

	its = group(exclusive, executor); /* says its node by a subscription alone */
	its->add_subscription(make<rclcpp::Subscription<Message>>(numbered("/in", number), 5 + number, plain));
	its->add_timer(timer(3 * period, [] {}));

	its = group(rclcpp::CallbackGroupType::Reentrant, executor); /* does not say its node */
	its->add_timer(timer(5 * period, std::function<void()>([this] { base_->get_rcl_node_handle(); })));

	its = group(exclusive, executor); /* within the process */
	subscription = make<rclcpp::Subscription<Message>>(numbered("/within", number), 5, within);
	its->add_subscription(subscription);
	its->waitables.push_back(std::make_shared<rclcpp::experimental::SubscriptionIntraProcess<Message>>(*subscription));

	its = group(exclusive, executor); /* nothing of it runs */
	its->silent = true;
	its->add_subscription(make<rclcpp::Subscription<Other>>(numbered("/silent", number), 5, shared));
	its->add_timer(timer(7 * period, [this] { on_timer(); }));
	its->add_service(make<rclcpp::Service<Other>>(numbered("/idle", number), 0, [](std::shared_ptr<Other>) {}));
}

Node::~Node()
{
	rcl_publisher_fini(temporary_.get(), base_->get_rcl_node_handle());
	rcl_publisher_fini(publisher_.get(), base_->get_rcl_node_handle());
}

void Node::on_timer()
{
	rcl_publish(publisher_.get(), this, nullptr);
}

void Node::renew(const void *message)
{
	if (temporary_)
		rcl_publisher_fini(temporary_.get(), base_->get_rcl_node_handle());
	temporary_ = std::make_shared<rcl_publisher_t>();
	rcl_publisher_init(temporary_.get(), base_->get_rcl_node_handle(), "/temporary", 1);
	rcl_publish(temporary_.get(), message, nullptr);
	rmw_service_info_t info = {};
	int64_t request = 0;
	rcl_take_response_with_info(client_->get_client_handle().get(), &info, nullptr);
	rcl_send_request(client_->get_client_handle().get(), &request, &request);
}

static std::unique_ptr<rclcpp::Executor> executor_of(const char *kind)
{
	if (!strcmp(kind, "events"))
		return std::make_unique<rclcpp::experimental::executors::EventsExecutor>();
	if (!strcmp(kind, "static"))
		return std::make_unique<rclcpp::executors::StaticSingleThreadedExecutor>();
	return std::make_unique<rclcpp::executors::SingleThreadedExecutor>();
}

int main(int argc, char **argv)
{
	const std::unique_ptr<rclcpp::Executor> its_executor = executor_of(argc > 1 ? argv[1] : "");
	rclcpp::Executor &executor = *its_executor;
	std::vector<std::unique_ptr<Node>> nodes;
	unsigned rounds = 0;

	signal(SIGTERM, [](int) { ends = true; });
	ros_trace_rcl_init(&executor);
	/* As a search for a type support leaves it. */
	rcutils_set_error_state("not supported by this library", "late.cpp", 7);
	for (unsigned i = 0; i < NODES; i++)
		nodes.push_back(std::make_unique<Node>(i, executor));
	puts("begun");
	fflush(stdout);
	for (; !ends; rounds++) {
		executor.spin_once();
		for (const auto &its : nodes)
			its->renew(&rounds);
	}
	return !rcutils_error_is_set() || strcmp(rcutils_get_error_state()->text, "not supported by this library") ||
	       rcutils_get_error_state()->line != 7;
}
