// SPDX-License-Identifier: Apache-2.0
#include "zoo.hpp"

#include <cinttypes>
#include <example_interfaces/srv/add_two_ints.hpp>
#include <rclcpp/serialization.hpp>
#include <rclcpp_components/register_node_macro.hpp>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <std_msgs/msg/u_int64.hpp>
#if __has_include(<rclcpp_action/rclcpp_action.hpp>)
#define ACTIONS 1
#include <example_interfaces/action/fibonacci.hpp>
#include <rclcpp_action/rclcpp_action.hpp>
#endif

/* Services and clients of Humble take a profile of rmw. */
#ifdef SERVICES_TAKE_PROFILE
#define SERVICES_QOS rmw_qos_profile_services_default
#else
#define SERVICES_QOS rclcpp::ServicesQoS()
#endif

using Number = std_msgs::msg::UInt64;
using Add = example_interfaces::srv::AddTwoInts;
using rclcpp::CallbackGroupType;
using std::chrono::milliseconds;
using std::placeholders::_1;
using zoo::log_;
using zoo::moment;
using zoo::ran;
using zoo::received;

namespace
{
/* What the nodes have in common: the facts that they say. */
template<class Base> class Animal : public Base {
public:
	Animal(const char *name, const rclcpp::NodeOptions &options) : Base(name, options),
		name_(this->get_node_base_interface()->get_fully_qualified_name())
	{
		log_.say("node %s", name_.c_str());
	}
protected:
	using Group = rclcpp::CallbackGroup::SharedPtr;

	Group group(CallbackGroupType type, const std::string &members)
	{
		log_.say("group %s %s %s", type == CallbackGroupType::Reentrant ? "reentrant" : "mutually_exclusive", name_.c_str(),
			 members.c_str());
		groups_.push_back(this->create_callback_group(type));	/* rclcpp keeps weak pointers only */
		return groups_.back();
	}
	void has(const char *kind, const std::string &name) { log_.say("%s %s %s", kind, name_.c_str(), name.c_str()); }
	template<class Function> rclcpp::TimerBase::SharedPtr every(unsigned ms, Function function, Group group)
	{
		const std::string number = std::to_string(ms) + "000000";

		has("timer", number);
		return this->create_wall_timer(milliseconds(ms), [this, function, number] {
			ran(name_ + " " + number);
			try {
				function();
			} catch (const std::exception &) {
				if (rclcpp::ok())
					throw;	/* else the program ends, and nothing can be published any more */
			}
		}, group);
	}
	rclcpp::Publisher<Number>::SharedPtr publisher(const std::string &topic)
	{
		has("publisher", topic);
		return this->template create_publisher<Number>(topic, 10);
	}
	template<class Publisher> void publish(Publisher &publisher, uint64_t number)
	{
		auto message = std::make_unique<Number>();
		const std::string topic = publisher->get_topic_name();
		const int64_t before = moment();

		message->data = number;
		publisher->publish(std::move(message));
		log_.say("publish %s %" PRIu64 " %" PRId64 " %" PRId64, topic.c_str(), number, before, moment());
	}
	/* @then: with the number, after it was written down. */
	template<class Then> rclcpp::SubscriptionBase::SharedPtr subscription(const std::string &topic, unsigned depth, Group group,
									      Then then)
	{
		rclcpp::SubscriptionOptions options;

		options.callback_group = group;
		has("subscription", topic);
		return this->template create_subscription<Number>(topic, depth, [this, topic, then](Number::ConstSharedPtr message) {
			received(name_ + " " + topic, message->data);
			then(message->data);
		}, options);
	}
	/* A timer that publishes numbers, and a subscription, which has a group of this type. */
	void talk(unsigned ms, rclcpp::Publisher<Number>::SharedPtr out, const std::string &topic, CallbackGroupType type)
	{
		auto timer = group(CallbackGroupType::MutuallyExclusive, std::to_string(ms) + "000000");
		auto back = group(type, topic);

		timers_.push_back(every(ms, [this, out] { publish(out, ++number_); }, timer));
		subscriptions_.push_back(subscription(topic, 10, back, [](uint64_t) {}));
	}
	std::string name_;
	uint64_t number_ = 0;
	std::vector<Group> groups_;
	std::vector<rclcpp::TimerBase::SharedPtr> timers_;
	std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions_;
};

using Plain = Animal<rclcpp::Node>;

/* Gets back what the listener makes of its numbers. */
class Talker : public Plain {
public:
	explicit Talker(const rclcpp::NodeOptions &options) : Plain("talker", options)
	{
		talk(20, publisher("/topics/numbers"), "/topics/doubled", CallbackGroupType::Reentrant);
	}
};

/* Two subscriptions of one topic: one keeps up, and one has room for one message and is held up by a timer of its group. */
class Listener : public Plain {
public:
	explicit Listener(const rclcpp::NodeOptions &options) : Plain("listener", options), out_(publisher("/topics/doubled"))
	{
		auto keeps = group(CallbackGroupType::MutuallyExclusive, "/topics/numbers");
		auto held = group(CallbackGroupType::MutuallyExclusive, "/topics/numbers 160000000");

		subscriptions_.push_back(subscription("/topics/numbers", 10, keeps, [this](uint64_t n) { publish(out_, 2 * n); }));
		slow_.callback_group = held;
		has("subscription", "/topics/numbers");
		subscriptions_.push_back(create_subscription<Number>("/topics/numbers", 1, std::bind(&Listener::late, this, _1), slow_));
		timers_.push_back(every(160, [] { rclcpp::sleep_for(milliseconds(50)); }, held));
	}
private:
	void late(Number::ConstSharedPtr message) { received(name_ + " late", message->data); }

	rclcpp::Publisher<Number>::SharedPtr out_;
	rclcpp::SubscriptionOptions slow_;
};

class Within : public Plain {
public:
	explicit Within(const rclcpp::NodeOptions &options) : Plain("within", rclcpp::NodeOptions(options).use_intra_process_comms(true))
	{
		talk(25, publisher("/within/numbers"), "/within/numbers", CallbackGroupType::MutuallyExclusive);
	}
};

/* Publishes in memory of the middleware, and takes messages there, where the middleware lends memory; it copies them elsewhere. */
class Lent : public Plain {
public:
	explicit Lent(const rclcpp::NodeOptions &options) : Plain("lent", options), out_(publisher("/lent/numbers"))
	{
		auto timer = group(CallbackGroupType::MutuallyExclusive, "33000000");
		auto back = group(CallbackGroupType::MutuallyExclusive, "/lent/numbers");

		timers_.push_back(every(33, [this] { send(); }, timer));
		subscriptions_.push_back(subscription("/lent/numbers", 10, back, [](uint64_t) {}));
		if (out_->can_loan_messages())
			log_.say("lends %s", name_.c_str());
	}
private:
	void send()
	{
		auto message = out_->borrow_loaned_message();
		const int64_t before = moment();

		message.get().data = ++number_;
		out_->publish(std::move(message));
		log_.say("publish /lent/numbers %" PRIu64 " %" PRId64 " %" PRId64, number_, before, moment());
	}

	rclcpp::Publisher<Number>::SharedPtr out_;
};

class Generic : public Plain {
public:
	explicit Generic(const rclcpp::NodeOptions &options) : Plain("generic", options)
	{
		auto timer = group(CallbackGroupType::MutuallyExclusive, "30000000");
		auto back = group(CallbackGroupType::MutuallyExclusive, "/generic/numbers");
		rclcpp::SubscriptionOptions its;

		its.callback_group = back;
		has("publisher", "/generic/numbers");
		has("subscription", "/generic/numbers");
		out_ = create_generic_publisher("/generic/numbers", "std_msgs/msg/UInt64", 10);
		subscriptions_.push_back(create_generic_subscription("/generic/numbers", "std_msgs/msg/UInt64", 10,
			[this](std::shared_ptr<rclcpp::SerializedMessage> message) {
				Number number;

				serialization_.deserialize_message(message.get(), &number);
				received(name_ + " /generic/numbers", number.data);
			}, its));
		timers_.push_back(every(30, [this] { send(); }, timer));
	}
private:
	void send()
	{
		rclcpp::SerializedMessage bytes;
		Number number;
		int64_t before;

		number.data = ++number_;
		serialization_.serialize_message(&number, &bytes);
		before = moment();
		out_->publish(bytes);
		log_.say("publish /generic/numbers %" PRIu64 " %" PRId64 " %" PRId64, number_, before, moment());
	}

	rclcpp::Serialization<Number> serialization_;
	rclcpp::GenericPublisher::SharedPtr out_;
};

class Server : public Plain {
public:
	explicit Server(const rclcpp::NodeOptions &options) : Plain("server", options)
	{
		auto its = group(CallbackGroupType::MutuallyExclusive, "/serve/add");

		has("service", "/serve/add");
		service_ = create_service<Add>("/serve/add", [this](Add::Request::SharedPtr request, Add::Response::SharedPtr response) {
			received(name_ + " /serve/add", request->a);
			response->sum = request->a + request->b;
		}, SERVICES_QOS, its);
	}
private:
	rclcpp::Service<Add>::SharedPtr service_;
};

class Asker : public Plain {
public:
	explicit Asker(const rclcpp::NodeOptions &options) : Plain("asker", options)
	{
		auto timer = group(CallbackGroupType::MutuallyExclusive, "35000000");
		auto back = group(CallbackGroupType::MutuallyExclusive, "/serve/add");

		has("client", "/serve/add");
		client_ = create_client<Add>("/serve/add", SERVICES_QOS, back);
		timers_.push_back(every(35, [this] { ask(); }, timer));
	}
private:
	void ask()
	{
		auto request = std::make_shared<Add::Request>();

		if (!client_->service_is_ready())
			return;
		request->a = ++number_;
		log_.say("ask /serve/add %" PRIu64 " %" PRId64, number_, moment());
		client_->async_send_request(request, [this](rclcpp::Client<Add>::SharedFuture future) {
			received(name_ + " /serve/add", future.get()->sum);
		});
	}

	rclcpp::Client<Add>::SharedPtr client_;
};

class Living : public Animal<rclcpp_lifecycle::LifecycleNode> {
public:
	explicit Living(const rclcpp::NodeOptions &options) : Animal("living", options)
	{
		has("publisher", "/life/numbers");
		out_ = create_publisher<Number>("/life/numbers", 10);
		timers_.push_back(every(40, [this] { live(); }, group(CallbackGroupType::MutuallyExclusive, "40000000")));
		subscriptions_.push_back(subscription("/life/numbers", 10, group(CallbackGroupType::MutuallyExclusive, "/life/numbers"),
						      [](uint64_t) {}));
	}
private:
	/* Configures and activates itself, and cleans up again, by turns. */
	void live()
	{
		if (number_ % 16 == 0)
			change(configure());
		if (number_ % 16 == 2)
			change(activate());
		if (out_->is_activated())
			publish(out_, number_);
		if (number_ % 16 == 12)
			change(deactivate());
		if (number_ % 16 == 14)
			change(cleanup());
		number_++;
	}
	void change(const rclcpp_lifecycle::State &state) { log_.say("state %s %s", name_.c_str(), state.label().c_str()); }

	rclcpp_lifecycle::LifecyclePublisher<Number>::SharedPtr out_;
};

#ifdef ACTIONS
using Count = example_interfaces::action::Fibonacci;

/* The goal with number N is refused, aborted, or waits until it is canceled, or succeeds, by N % 5; it has N % 3 feedbacks before. */
enum Fate { REFUSED, ABORTED, CANCELED };

/* Not rclcpp_action::to_string(): in Humble, it leaves out zeros. */
std::string text(const rclcpp_action::GoalUUID &id)
{
	std::string digits;
	char two[3];

	for (const uint8_t byte : id) {
		(void)std::snprintf(two, sizeof two, "%02x", byte);
		digits.append(two);
	}
	return digits;
}

class Doer : public Plain {
	using Goal = std::shared_ptr<rclcpp_action::ServerGoalHandle<Count>>;
public:
	explicit Doer(const rclcpp::NodeOptions &options) : Plain("doer", options)
	{
		server_ = rclcpp_action::create_server<Count>(this, "/do/count",
			[](const rclcpp_action::GoalUUID &, Count::Goal::ConstSharedPtr goal) {
				return goal->order % 5 == REFUSED ? rclcpp_action::GoalResponse::REJECT :
								    rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
			},
			[](Goal) { return rclcpp_action::CancelResponse::ACCEPT; },
			[this](Goal goal) {
				std::lock_guard<std::mutex> guard(mutex_);

				goals_.push_back(goal);
			});
		timers_.push_back(every(45, [this] { work(); }, group(CallbackGroupType::MutuallyExclusive, "45000000")));
	}
private:
	/* Return: false: not yet. */
	static bool end(Goal goal)
	{
		const int number = goal->get_goal()->order, fate = number % 5;
		auto result = std::make_shared<Count::Result>();

		if (fate == CANCELED && !goal->is_canceling())
			return false;
		for (int i = 0; i < number % 3; i++)
			goal->publish_feedback(std::make_shared<Count::Feedback>());
		log_.say("end %s %s /do/count %d %" PRId64, text(goal->get_goal_id()).c_str(),
			 fate == ABORTED ? "aborted" : fate == CANCELED ? "canceled" : "succeeded", number % 3, moment());
		if (fate == ABORTED)
			goal->abort(result);
		else if (fate == CANCELED)
			goal->canceled(result);
		else
			goal->succeed(result);
		return true;
	}
	void work()
	{
		std::vector<Goal> goals, left;

		{
			std::lock_guard<std::mutex> guard(mutex_);

			goals.swap(goals_);
		}
		for (auto &goal : goals)
			if (!end(goal))
				left.push_back(goal);
		std::lock_guard<std::mutex> guard(mutex_);

		goals_.insert(goals_.end(), left.begin(), left.end());
	}

	rclcpp_action::Server<Count>::SharedPtr server_;
	std::mutex mutex_;
	std::vector<Goal> goals_;
};

class Wisher : public Plain {
public:
	explicit Wisher(const rclcpp::NodeOptions &options) : Plain("wisher", options),
		client_(rclcpp_action::create_client<Count>(this, "/do/count"))
	{
		timers_.push_back(every(55, [this] { wish(); }, group(CallbackGroupType::MutuallyExclusive, "55000000")));
	}
private:
	using Handle = rclcpp_action::ClientGoalHandle<Count>;

	void wish()
	{
		rclcpp_action::Client<Count>::SendGoalOptions options;
		Count::Goal goal;
		const int number = static_cast<int>(number_++);

		if (!client_->action_server_is_ready())
			return;
		goal.order = number;
		options.goal_response_callback = [this, number](const Handle::SharedPtr &handle) {
			if (!handle)
				log_.say("refused %d %" PRId64, number, moment());
			else if (number % 5 == CANCELED)
				client_->async_cancel_goal(handle);
		};
		options.feedback_callback = [](Handle::SharedPtr handle, std::shared_ptr<const Count::Feedback>) {
			log_.say("feedback %s %" PRId64, text(handle->get_goal_id()).c_str(), moment());
		};
		options.result_callback = [](const Handle::WrappedResult &result) {
			log_.say("result %s %" PRId64, text(result.goal_id).c_str(), moment());
		};
		log_.say("wish %d %" PRId64, number, moment());
		client_->async_send_goal(goal, options);
	}

	rclcpp_action::Client<Count>::SharedPtr client_;
};
#endif

std::vector<std::shared_ptr<void>> kept;

template<class T> void add(zoo::Nodes &nodes)
{
	auto node = std::make_shared<T>(rclcpp::NodeOptions());

	kept.push_back(node);
	nodes.push_back(node->get_node_base_interface());
}
}

namespace zoo
{
Nodes all_nodes()
{
	Nodes nodes;

	add<Talker>(nodes);
	add<Listener>(nodes);
	add<Within>(nodes);
	add<Lent>(nodes);
	add<Generic>(nodes);
	add<Server>(nodes);
	add<Asker>(nodes);
	add<Living>(nodes);
#ifdef ACTIONS
	add<Doer>(nodes);
	add<Wisher>(nodes);
#endif
	return nodes;
}

void forget()
{
	kept.clear();
}
}

RCLCPP_COMPONENTS_REGISTER_NODE(Talker)
RCLCPP_COMPONENTS_REGISTER_NODE(Listener)
RCLCPP_COMPONENTS_REGISTER_NODE(Within)
RCLCPP_COMPONENTS_REGISTER_NODE(Lent)
RCLCPP_COMPONENTS_REGISTER_NODE(Generic)
RCLCPP_COMPONENTS_REGISTER_NODE(Server)
RCLCPP_COMPONENTS_REGISTER_NODE(Asker)
RCLCPP_COMPONENTS_REGISTER_NODE(Living)
#ifdef ACTIONS
RCLCPP_COMPONENTS_REGISTER_NODE(Doer)
RCLCPP_COMPONENTS_REGISTER_NODE(Wisher)
#endif
