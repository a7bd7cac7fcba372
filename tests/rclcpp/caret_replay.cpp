/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the calls again that a trace of CARET tells of, one after the other in its order, each on a thread of its own as
 * there: with the same handles, addresses, texts and source timestamps, whatever the hooks in front make of them.
 *
 *     -DLIBRARY      librclcpp, the middleware and CycloneDDS, as far as the hooks ask them
 *     neither        caret_replay FILE
 *
 * A line of FILE: thread number, what to call, arguments; tabs between them. Arguments are numbers, or a text behind a
 * quotation mark. What to call is a function of tracetools, or
 *     rmw NAME                       of all that follows
 *     executor ADDRESS TYPE          its constructor
 *     group EXECUTOR GROUP TYPE      Executor::add_callback_group_to_map()
 *     KIND GROUP HANDLE              timer, subscription, service or client: CallbackGroup::add_KIND()
 *     write MESSAGE STAMP            rmw_publish of Humble, and dds_write() at that time
 */
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

/* Functions of C++ by their symbols: all arguments are words. */
#define MULTI _ZN6rclcpp9executors21MultiThreadedExecutorC1ERKNS_15ExecutorOptionsEmbNSt6chrono8durationIlSt5ratioILl1ELl1000000000EEEE
#define SINGLE _ZN6rclcpp9executors22SingleThreadedExecutorC1ERKNS_15ExecutorOptionsE
#define TO_MAP _ZN6rclcpp8Executor25add_callback_group_to_mapESt10shared_ptrINS_13CallbackGroupEES1_INS_15node_interfaces17NodeBaseInterfaceEERSt3mapISt8weak_ptrIS2_ES8_IS5_ESt10owner_lessIS9_ESaISt4pairIKS9_SA_EEEb
#define TYPE _ZNK6rclcpp13CallbackGroup4typeEv
#define KINDS(X)							\
	X(timer, _ZN6rclcpp13CallbackGroup9add_timerESt10shared_ptrINS_9TimerBaseEE, _ZN6rclcpp9TimerBase16get_timer_handleEv)	\
	X(subscription, _ZN6rclcpp13CallbackGroup16add_subscriptionESt10shared_ptrINS_16SubscriptionBaseEE,			\
	  _ZN6rclcpp16SubscriptionBase23get_subscription_handleEv)								\
	X(service, _ZN6rclcpp13CallbackGroup11add_serviceESt10shared_ptrINS_11ServiceBaseEE, _ZN6rclcpp11ServiceBase18get_service_handleEv) \
	X(client, _ZN6rclcpp13CallbackGroup10add_clientESt10shared_ptrINS_10ClientBaseEE, _ZN6rclcpp10ClientBase17get_client_handleEv)

/* A std::shared_ptr, and what returns one: something that is too large for registers. */
struct shared { const void *object, *control; };
struct returned { shared pointer; void *fill[2]; };

/* What is added to a group; its class has virtual functions, as those of rclcpp. */
struct object {
	explicit object(const void *its) : handle(its) {}
	virtual ~object() = default;
	const void *handle;
};

extern "C" {
void MULTI(const void *self, const void *options, uint64_t threads, bool yields, int64_t timeout);
void SINGLE(const void *self, const void *options);
void TO_MAP(const void *self, const shared *group, const shared *node, void *map, bool notify);
const int *TYPE(const void *group);
#define X(kind, add, get) void add(const void *self, const shared *object); returned get(const void *self);
KINDS(X)
#undef X
const char *rmw_get_implementation_identifier(void);
int64_t dds_time(void);
int32_t dds_write_ts(int32_t writer, const void *data, int64_t time);
int32_t dds_write(int32_t writer, const void *data);

/* The test's. */
void stub_rmw(const char *name);
void stub_type(const void *group, int type);
void stub_time(int64_t ns);
}

#ifdef LIBRARY
static std::string rmw;
static std::map<const void *, int> types;
static int64_t time_ns;

void stub_rmw(const char *name) { rmw = name; }
void stub_type(const void *group, int type) { types[group] = type; }
void stub_time(int64_t ns) { time_ns = ns; }
void MULTI(const void *, const void *, uint64_t, bool, int64_t) {}
void SINGLE(const void *, const void *) {}
void TO_MAP(const void *, const shared *, const shared *, void *, bool) {}
const int *TYPE(const void *group) { return &types[group]; }
#define X(kind, add, get)								\
	void add(const void *, const shared *) {}					\
	returned get(const void *self) { return { { static_cast<const object *>(self)->handle, nullptr }, {} }; }
KINDS(X)
#undef X
const char *rmw_get_implementation_identifier(void) { return rmw.c_str(); }
int64_t dds_time(void) { return time_ns; }
int32_t dds_write_ts(int32_t writer, const void *, int64_t) { return writer; }
int32_t dds_write(int32_t writer, const void *) { return writer; }
#else

struct call {
	std::string what;
	std::vector<std::string> text;		/* kept alive; with its quotation mark, of a number as it is written */
	std::vector<uint64_t> word;		/* of a text: where it is */
};

static const void *at(uint64_t word) { return (const void *)(uintptr_t)word; }

static void trace(const call &c)
{
	using function = void (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
	function f = (function)dlsym(RTLD_DEFAULT, ("ros_trace_" + c.what).c_str());
	uint64_t a[5] = {};

	if (!f || c.word.size() > 5) {
		std::fprintf(stderr, "no such function: ros_trace_%s, of %zu arguments\n", c.what.c_str(), c.word.size());
		std::exit(1);
	}
	for (size_t i = 0; i < c.word.size(); i++)
		a[i] = c.word[i];
	f(a[0], a[1], a[2], a[3], a[4]);
}

static void add(const call &c, void (*to_group)(const void *, const shared *))
{
	const object its(at(c.word[1]));
	const shared pointer = { &its, nullptr };

	to_group(at(c.word[0]), &pointer);
}

static void make(const call &c)
{
	if (c.what == "rmw") {
		stub_rmw(c.text[0].c_str() + 1);
	} else if (c.what == "executor" && c.text[1] == "\"multi_threaded_executor") {
		MULTI(at(c.word[0]), nullptr, 0, false, -1);
	} else if (c.what == "executor") {
		SINGLE(at(c.word[0]), nullptr);
	} else if (c.what == "group") {
		const shared group = { at(c.word[1]), nullptr };

		stub_type(group.object, c.text[2] == "\"reentrant");
		TO_MAP(at(c.word[0]), &group, nullptr, nullptr, false);
#define X(kind, to_group, get) } else if (c.what == #kind) { add(c, to_group);
	KINDS(X)
#undef X
	} else if (c.what == "write") {
		trace({ "rmw_publish", {}, { c.word[0] } });
		stub_time((int64_t)c.word[1]);
		dds_write(77, at(c.word[0]));
	} else {
		trace(c);
	}
}

int main(int argc, char **argv)
{
	std::map<std::string, std::vector<size_t>> threads;
	std::vector<std::thread> running;
	std::ifstream file(argc > 1 ? argv[1] : "");
	std::condition_variable turned;
	std::vector<call> calls;
	std::string line, field;
	std::mutex lock;
	size_t turn = 0;

	while (std::getline(file, line)) {
		std::istringstream fields(line);
		call c;

		std::getline(fields, field, '\t');
		threads[field].push_back(calls.size());
		std::getline(fields, c.what, '\t');
		while (std::getline(fields, field, '\t')) {
			c.text.push_back(field);
			c.word.push_back(std::strtoull(field.c_str(), nullptr, 0));
		}
		calls.push_back(c);
	}
	for (call &c : calls)			/* they no longer move */
		for (size_t i = 0; i < c.text.size(); i++)
			if (c.text[i][0] == '"')
				c.word[i] = (uint64_t)(uintptr_t)c.text[i].c_str() + 1;
	const auto run = [&](const std::vector<size_t> &mine) {
		for (size_t i : mine) {
			std::unique_lock<std::mutex> mine_now(lock);

			turned.wait(mine_now, [&] { return turn == i; });
			make(calls[i]);
			turn++;
			turned.notify_all();
		}
	};
	for (const auto &[name, mine] : threads)
		if (mine[0])
			running.emplace_back(run, std::ref(mine));
	for (const auto &[name, mine] : threads)
		if (!mine[0])			/* who began is the main thread */
			run(mine);
	for (std::thread &thread : running)
		thread.join();
	return calls.empty();
}
#endif
