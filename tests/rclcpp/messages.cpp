/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishers and subscriptions as rcl and rmw_implementation have them, and the type supports of
 * three message types, in the layouts of Humble and of Jazzy.
 *
 * -DLIBRARY: librmw_implementation, whose middleware only remembers what was published.
 *
 * Otherwise the program `messages MIDDLEWARE GENERATION [later]` publishes and takes messages, a
 * third of them lent by the middleware, and prints a line for each: the topic, the bytes that a
 * serializer wrote, and the time in the header. later: the middleware reports that it lends one.
 */
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

struct type_support {
	const char *identifier;
	const void *data;
	const type_support *(*find)(const type_support *, const char *identifier);
	const void *(*hash)(const type_support *);
	const void *(*description)(const type_support *);
	const void *(*sources)(const type_support *);
};
struct rmw_object {
	const char *implementation_identifier;
	void *data;
	const char *topic;
};
struct rcl_publisher_t {
	rmw_object *rmw;
};
struct serialized_message {
	const uint8_t *buffer;
	size_t length, capacity;
};

struct duration {
	uint64_t seconds, ns;
};
/* rmw_qos_profile_t */
struct qos_profile {
	int history;
	size_t depth;
	int reliability, durability;
	duration deadline, lifespan;
	int liveliness;
	duration lease;
	bool avoid_ros_namespace_conventions;
};

extern "C" {
extern const char *middleware; /* the test's */
extern bool is_humble;         /* the test's */
extern bool is_later;          /* the test's: the tracepoint rmw_take reports lent messages */
rmw_object *rmw_create_publisher(const void *node, const type_support *type, const char *topic,
				 const void *qos, const void *options);
rmw_object *rmw_create_subscription(const void *node, const type_support *type, const char *topic,
				    const void *qos, const void *options);
int rmw_destroy_publisher(const void *node, rmw_object *publisher);
int rmw_destroy_subscription(const void *node, rmw_object *subscription);
int rmw_publish(const rmw_object *publisher, const void *message, const void *allocation);
int rcl_publish_loaned_message(const rcl_publisher_t *publisher, void *message, void *allocation);
int rmw_publish_loaned_message(const rmw_object *publisher, void *message, const void *allocation);
int rmw_publish_serialized_message(const rmw_object *publisher, const serialized_message *message,
				   const void *allocation);
int rmw_take(const rmw_object *subscription, void *message, bool *taken, const void *allocation);
int rmw_take_with_info(const rmw_object *subscription, void *message, bool *taken, void *info,
		       const void *allocation);
int rmw_take_serialized_message_with_info(const rmw_object *subscription,
					  serialized_message *message, bool *taken, void *info,
					  const void *allocation);
int rmw_take_loaned_message_with_info(const rmw_object *subscription, void **message, bool *taken,
				      void *info, const void *allocation);
int64_t dds_time(void);
int32_t dds_write_ts(int32_t writer, const void *message, int64_t time);
int32_t dds_write(int32_t writer, const void *message);

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
void ros_trace_rmw_publish(const void *first, const void *message,
			   int64_t stamp); /* Humble: only the message */
void ros_trace_rmw_take(const void *subscription, const void *message, int64_t stamp, bool taken);
void ros_trace_rclcpp_intra_publish(const void *publisher, const void *message);
void ros_trace_callback_start(const void *callback, bool is_intra);
void ros_trace_callback_end(const void *callback);
}

#ifdef LIBRARY
const char *middleware;
bool is_humble, is_later;
static int64_t written; /* source time of the message that waits; 0: none */

/* The hook of dds_write() tells the time, which the tracepoint of Humble does not. */
int64_t dds_time(void)
{
	static int64_t now = 1700000000000000000;

	return ++now;
}
int32_t dds_write_ts(int32_t, const void *, int64_t time)
{
	written = time;
	return 0;
}
int32_t dds_write(int32_t writer, const void *message)
{
	return dds_write_ts(writer, message, dds_time());
}

static rmw_object *made(const char *topic)
{
	return new rmw_object{ middleware, nullptr, topic };
}
rmw_object *rmw_create_publisher(const void *, const type_support *, const char *topic,
				 const void *, const void *)
{
	static const uint8_t gid[24] = { 1 };
	rmw_object *publisher = made(topic);

	ros_trace_rmw_publisher_init(publisher, gid);
	return publisher;
}
rmw_object *rmw_create_subscription(const void *, const type_support *, const char *topic,
				    const void *, const void *)
{
	static const uint8_t gid[24] = { 2 };
	rmw_object *subscription = made(topic);

	ros_trace_rmw_subscription_init(subscription, gid);
	return subscription;
}
int rmw_destroy_publisher(const void *, rmw_object *publisher)
{
	delete publisher;
	return 0;
}
int rmw_destroy_subscription(const void *, rmw_object *subscription)
{
	delete subscription;
	return 0;
}
static int publish(const rmw_object *publisher, const void *message)
{
	if (is_humble)
		ros_trace_rmw_publish(message, nullptr, 0);
	else
		ros_trace_rmw_publish(publisher, message, written = dds_time());
	return is_humble ? dds_write(1, message) : 0;
}
int rmw_publish(const rmw_object *publisher, const void *message, const void *)
{
	return publish(publisher, message);
}
/* Without tracepoints on Humble. */
int rmw_publish_loaned_message(const rmw_object *publisher, void *message, const void *)
{
	if (is_humble)
		return dds_write(1, message);
	return publish(publisher, message);
}
int rcl_publish_loaned_message(const rcl_publisher_t *publisher, void *message, void *allocation)
{
	if (!is_humble)
		ros_trace_rcl_publish(publisher, message);
	return rmw_publish_loaned_message(publisher->rmw, message, allocation);
}
/* Without a tracepoint on Humble. */
int rmw_publish_serialized_message(const rmw_object *publisher, const serialized_message *message,
				   const void *)
{
	ros_trace_rmw_publish(publisher, message, written = dds_time());
	return 0;
}
static int take(const rmw_object *subscription, const void *message, bool *taken)
{
	*taken = written != 0;
	ros_trace_rmw_take(subscription, message, written, *taken);
	written = 0;
	return 0;
}
int rmw_take(const rmw_object *subscription, void *message, bool *taken, const void *)
{
	return take(subscription, message, taken);
}
int rmw_take_with_info(const rmw_object *subscription, void *message, bool *taken, void *,
		       const void *)
{
	return take(subscription, message, taken);
}
int rmw_take_serialized_message_with_info(const rmw_object *subscription,
					  serialized_message *message, bool *taken, void *,
					  const void *)
{
	return take(subscription, message, taken);
}
/* Without a tracepoint, unless it is one of a later version. */
int rmw_take_loaned_message_with_info(const rmw_object *subscription, void **message, bool *taken,
				      void *info, const void *)
{
	if (is_later)
		return take(subscription, *message, taken);
	*taken = written != 0;
	std::memcpy(info, &written, sizeof written);
	written = 0;
	return 0;
}
#else

/* ---- a serializer, which writes every byte ---- */

class Writer
{
      public:
	std::string bytes;

	void align(size_t to)
	{
		while (bytes.size() % to)
			bytes.push_back(0);
	}
	template <typename T> void number(T value)
	{
		align(sizeof value);
		bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
	}
	void text(const char *text, size_t length)
	{
		number(static_cast<uint32_t>(length + 1));
		bytes.append(text, length);
		bytes.push_back(0);
	}
};

/* ---- the message types ---- */

struct Time {
	int32_t sec;
	uint32_t nanosec;
};
struct Header {
	Time stamp;
	std::string frame_id;
};
struct Point { /* of fixed size, and another one at each alignment */
	uint8_t tag;
	double x;
	uint16_t y;
};
struct Pose { /* of variable size */
	std::string name;
	Point point;
};
struct Scan {
	Header header;
	uint8_t first;
	std::array<Point, 3> corners;
	std::vector<float> ranges;
	std::vector<double> empty;
	std::vector<std::string> names;
	std::vector<Point> points;
	std::vector<Pose> poses;
	std::vector<bool> flags;
	std::u16string wide;
	int64_t last;
};
struct Speed {
	uint8_t gear;
	double linear;
	uint16_t angular[3];
};
struct CString {
	char *data;
	size_t size, capacity;
};
template <typename T> struct CSequence {
	T *data;
	size_t size, capacity;
};
struct CHeader {
	Time stamp;
	CString frame_id;
};
struct CScan {
	uint16_t before;
	CHeader header;
	CSequence<CString> names;
	CSequence<int16_t> numbers;
};

static void write(Writer &w, const Time &time)
{
	w.number(time.sec), w.number(time.nanosec);
}
static void write(Writer &w, const Point &point)
{
	w.number(point.tag), w.number(point.x), w.number(point.y);
}
template <typename T> static void write_numbers(Writer &w, const T *from, size_t count)
{
	w.number(static_cast<uint32_t>(count));
	for (size_t i = 0; i < count; i++)
		w.number(from[i]);
}
static void write(Writer &w, const Scan &scan)
{
	write(w, scan.header.stamp),
		w.text(scan.header.frame_id.c_str(), scan.header.frame_id.size());
	w.number(scan.first);
	for (const Point &point : scan.corners)
		write(w, point);
	write_numbers(w, scan.ranges.data(), scan.ranges.size());
	write_numbers(w, scan.empty.data(), scan.empty.size());
	w.number(static_cast<uint32_t>(scan.names.size()));
	for (const std::string &name : scan.names)
		w.text(name.c_str(), name.size());
	w.number(static_cast<uint32_t>(scan.points.size()));
	for (const Point &point : scan.points)
		write(w, point);
	w.number(static_cast<uint32_t>(scan.poses.size()));
	for (const Pose &pose : scan.poses)
		w.text(pose.name.c_str(), pose.name.size()), write(w, pose.point);
	w.number(static_cast<uint32_t>(scan.flags.size()));
	for (const bool flag : scan.flags)
		w.number(static_cast<uint8_t>(flag));
	w.number(static_cast<uint32_t>(scan.wide.size()));
	for (const char16_t character : scan.wide)
		w.number(static_cast<uint32_t>(character));
	w.number(scan.last);
}
static void write(Writer &w, const Speed &speed)
{
	w.number(speed.gear), w.number(speed.linear);
	for (const uint16_t angular : speed.angular)
		w.number(angular);
}
static void write(Writer &w, const CScan &scan)
{
	w.number(scan.before), write(w, scan.header.stamp),
		w.text(scan.header.frame_id.data, scan.header.frame_id.size);
	w.number(static_cast<uint32_t>(scan.names.size));
	for (size_t i = 0; i < scan.names.size; i++)
		w.text(scan.names.data[i].data, scan.names.data[i].size);
	write_numbers(w, scan.numbers.data, scan.numbers.size);
}
template <typename T> static std::string serialized(const T &message)
{
	Writer writer;

	write(writer, message);
	return std::string("\0\1\0\0", 4) + writer.bytes;
}

/* ---- introspection ---- */

enum {
	FLOAT = 1,
	DOUBLE,
	BOOLEAN = 6,
	UINT8 = 8,
	INT16 = 11,
	UINT16 = 10,
	UINT32 = 12,
	INT32,
	INT64 = 15,
	STRING,
	WSTRING,
	MESSAGE
};

struct member {
	const char *name;
	uint8_t type;
	size_t string_max;
	const type_support *message;
	bool flag[2]; /* Humble: is_array and nothing; Jazzy: is_key, is_array */
	size_t array_size;
	bool has_upper_bound;
	uint32_t offset;
	const void *default_value;
	size_t (*size)(const void *);
	const void *(*get_const)(const void *, size_t);
	void *(*get)(void *, size_t);
	void (*fetch)(const void *, size_t, void *);
	void (*assign)(void *, size_t, const void *);
	void (*resize)(void *, size_t);
};
struct members {
	const char *space, *name;
	uint32_t count;
	size_t size_of;
	uintptr_t
		rest[4]; /* Jazzy: has_any_key, members, init, fini; Humble: without has_any_key */
};
static_assert(sizeof(member) == 112 && sizeof(members) == 64, "as on 64-bit machines");

static bool has_keys;
static const type_support *no_other(const type_support *, const char *)
{
	return nullptr;
}

template <typename T> static size_t vector_size(const void *field)
{
	return static_cast<const std::vector<T> *>(field)->size();
}
template <typename T> static const void *vector_get(const void *field, size_t index)
{
	return &(*static_cast<const std::vector<T> *>(field))[index];
}
template <typename T> static size_t c_size(const void *field)
{
	return static_cast<const CSequence<T> *>(field)->size;
}
template <typename T> static const void *c_get(const void *field, size_t index)
{
	return &static_cast<const CSequence<T> *>(field)->data[index];
}
template <typename T, size_t N> static size_t array_size(const void *)
{
	return N;
}
template <typename T> static const void *array_get(const void *field, size_t index)
{
	return &static_cast<const T *>(field)[index];
}

static member one(const char *name, uint8_t type, size_t offset,
		  const type_support *message = nullptr)
{
	member m = {};

	m.name = name, m.type = type, m.offset = static_cast<uint32_t>(offset), m.message = message;
	return m;
}
static member many(const char *name, uint8_t type, size_t offset, size_t (*size)(const void *),
		   const void *(*get)(const void *, size_t), const type_support *message = nullptr,
		   size_t array_size = 0)
{
	member m = one(name, type, offset, message);

	m.flag[has_keys] = true, m.size = size, m.get_const = get, m.array_size = array_size;
	return m;
}
static const type_support *introspection(const char *identifier, const char *space,
					 const char *name, size_t size,
					 const std::vector<member> &list)
{
	auto *copy = new std::vector<member>(list);
	auto *type = new members{ space, name, static_cast<uint32_t>(list.size()), size, {} };

	type->rest[has_keys] = reinterpret_cast<uintptr_t>(copy->data());
	return new type_support{ identifier, type, no_other, nullptr, nullptr, nullptr };
}
#define IN_CPP "rosidl_typesupport_introspection_cpp"
#define IN_C "rosidl_typesupport_introspection_c"

static const type_support *time_in(const char *language, const char *space)
{
	return introspection(language, space, "Time", sizeof(Time),
			     { one("sec", INT32, 0), one("nanosec", UINT32, 4) });
}
static const type_support *scan_type()
{
	const type_support *header = introspection(
		IN_CPP, "std_msgs::msg", "Header", sizeof(Header),
		{ one("stamp", MESSAGE, 0, time_in(IN_CPP, "builtin_interfaces::msg")),
		  one("frame_id", STRING, offsetof(Header, frame_id)) });
	const type_support *point =
		introspection(IN_CPP, "test_msgs::msg", "Point", sizeof(Point),
			      { one("tag", UINT8, 0), one("x", DOUBLE, offsetof(Point, x)),
				one("y", UINT16, offsetof(Point, y)) });
	const type_support *pose = introspection(
		IN_CPP, "test_msgs::msg", "Pose", sizeof(Pose),
		{ one("name", STRING, 0), one("point", MESSAGE, offsetof(Pose, point), point) });
	member bounded = many("ranges", FLOAT, offsetof(Scan, ranges), vector_size<float>,
			      vector_get<float>);

	bounded.array_size = 100, bounded.has_upper_bound = true;
	return introspection(
		IN_CPP, "test_msgs::msg", "Scan", sizeof(Scan),
		{ one("header", MESSAGE, offsetof(Scan, header), header),
		  one("first", UINT8, offsetof(Scan, first)),
		  many("corners", MESSAGE, offsetof(Scan, corners), array_size<Point, 3>,
		       array_get<Point>, point, 3),
		  bounded,
		  many("empty", DOUBLE, offsetof(Scan, empty), vector_size<double>,
		       vector_get<double>),
		  many("names", STRING, offsetof(Scan, names), vector_size<std::string>,
		       vector_get<std::string>),
		  many("points", MESSAGE, offsetof(Scan, points), vector_size<Point>,
		       vector_get<Point>, point),
		  many("poses", MESSAGE, offsetof(Scan, poses), vector_size<Pose>, vector_get<Pose>,
		       pose),
		  many("flags", BOOLEAN, offsetof(Scan, flags), vector_size<bool>, nullptr),
		  one("wide", WSTRING, offsetof(Scan, wide)),
		  one("last", INT64, offsetof(Scan, last)) });
}
static const type_support *speed_type()
{
	return introspection(IN_CPP, "test_msgs::msg", "Speed", sizeof(Speed),
			     { one("gear", UINT8, 0),
			       one("linear", DOUBLE, offsetof(Speed, linear)),
			       many("angular", UINT16, offsetof(Speed, angular),
				    array_size<uint16_t, 3>, array_get<uint16_t>, nullptr, 3) });
}
static const type_support *c_scan_type()
{
	const type_support *header =
		introspection(IN_C, "std_msgs__msg", "Header", sizeof(CHeader),
			      { one("stamp", MESSAGE, 0, time_in(IN_C, "builtin_interfaces__msg")),
				one("frame_id", STRING, offsetof(CHeader, frame_id)) });

	return introspection(
		IN_C, "test_msgs__msg", "LateScan", sizeof(CScan),
		{ one("before", UINT16, 0), one("header", MESSAGE, offsetof(CScan, header), header),
		  many("names", STRING, offsetof(CScan, names), c_size<CString>, c_get<CString>),
		  many("numbers", INT16, offsetof(CScan, numbers), c_size<int16_t>,
		       c_get<int16_t>) });
}

/* ---- the type support of Fast DDS, and the description that Iron and later have ---- */

struct fastrtps {
	const char *space, *name;
	void *serialize, *deserialize;
	uint32_t (*size)(const void *);
	size_t (*max_size)(char &bounds);
	void *keys;
};
template <typename T> static uint32_t size_of_message(const void *message)
{
	return static_cast<uint32_t>(serialized(*static_cast<const T *>(message)).size() - 4);
}
static size_t unbounded(char &bounds)
{
	bounds = 0;
	return 1;
}
static size_t plain(char &bounds)
{
	bounds = 3;
	return size_of_message<Speed>(std::array<Speed, 1>{}.data());
}
struct field {
	const char *name;
	size_t name_size, name_capacity;
	uint8_t type;
	uint64_t capacity, string_capacity;
	const char *nested;
	size_t nested_size, nested_capacity, default_value[3];
};
struct description {
	const char *name;
	size_t size, capacity;
	const field *fields;
	size_t count, room, referenced[3];
};
static const field header_field = { "header", 6, 7, 1, 0, 0, "std_msgs/msg/Header", 19, 20, {} };
static const field other_field = { "gear", 4, 5, 3, 0, 0, "", 0, 1, {} };
static const void *header_first(const type_support *)
{
	static const description all = { "test_msgs/msg/Scan", 18, 19, &header_field, 1, 1, {} };

	return &all;
}
static const void *header_missing(const type_support *)
{
	static const description all = { "test_msgs/msg/Speed", 19, 20, &other_field, 1, 1, {} };

	return &all;
}

static bool creates;
static const type_support
	*parts[2]; /* what the next type support consists of: for CycloneDDS, for Fast DDS */
static const type_support *dispatch(const type_support *, const char *identifier)
{
	if (!creates)
		std::abort(); /* not on the path of a message */
	for (const type_support *part : parts)
		if (!std::strcmp(part->identifier, identifier))
			return part;
	std::abort(); /* the middleware has not loaded that one */
}

/* ---- publishers and subscriptions ---- */

static char node, rmw_node, handles[32], callback;
static rcl_publisher_t publishers[3];

struct Topic {
	rmw_object *publisher, *subscription;
	rcl_publisher_t *publisher_handle;
	const char *name;

	/* keep_last 10, reliable, transient_local; "never" is no deadline. keep_all, best_effort, volatile, 20 ms and 1.5 s. */
	static constexpr qos_profile offered = { 1, 10, 1, 1, { 9223372036, 854775807 }, {}, 0, {}, false };
	static constexpr qos_profile wanted = { 2, 5, 2, 2, { 0, 20000000 }, { 1, 500000000 }, 0, {}, false };

	Topic(const char *topic, const char *identifier, const type_support *cyclone,
	      const void *fast, const void *(*describe)(const type_support *))
	    : name(topic)
	{
		static char *next = handles;
		static rcl_publisher_t *next_publisher = publishers;
		const bool is_c = !std::strcmp(identifier, "rosidl_typesupport_c");
		auto *of_fast = new type_support{ is_c ? "rosidl_typesupport_fastrtps_c"
						       : "rosidl_typesupport_fastrtps_cpp",
						  fast,
						  no_other,
						  nullptr,
						  nullptr,
						  nullptr };
		auto *whole = new type_support{ identifier, nullptr,  dispatch,
						nullptr,    describe, nullptr };

		creates = true, parts[0] = cyclone, parts[1] = of_fast;
		publisher = rmw_create_publisher(&node, whole, topic, &offered, nullptr);
		publisher_handle = next_publisher++;
		publisher_handle->rmw = publisher;
		ros_trace_rcl_publisher_init(publisher_handle, &node, publisher, topic, 10);
		subscription = rmw_create_subscription(&node, whole, topic, &wanted, nullptr);
		ros_trace_rcl_subscription_init(next, &node, subscription, topic, 10);
		ros_trace_rclcpp_subscription_init(next, next + 1);
		ros_trace_rclcpp_subscription_callback_added(next + 1, next + 2);
		callback_of = next + 2;
		next += 3;
		creates = false;
	}
	void publish(const void *message) const
	{
		ros_trace_rcl_publish(publisher_handle, message);
		rmw_publish(publisher, message, nullptr);
	}
	template <typename T> void round(T *message, int64_t stamp_ns, int way)
	{
		bool taken = false;
		char info[64];
		void *loaned = message;

		if (way == 2)
			rcl_publish_loaned_message(publisher_handle, message, nullptr);
		else
			publish(message);
		if (way == 0)
			rmw_take(subscription, message, &taken, nullptr);
		else if (way == 1)
			rmw_take_with_info(subscription, message, &taken, info, nullptr);
		else
			rmw_take_loaned_message_with_info(subscription, &loaned, &taken, info,
							  nullptr);
		ros_trace_callback_start(callback_of, false);
		ros_trace_callback_end(callback_of);
		rmw_take(subscription, message, &taken, nullptr); /* nothing more */
		std::printf("%s %zu %lld\n", name, serialized(*message).size(),
			    static_cast<long long>(stamp_ns));
	}
	void round_serialized(const std::string &bytes, int64_t stamp_ns)
	{
		serialized_message message = { reinterpret_cast<const uint8_t *>(bytes.data()),
					       bytes.size(), bytes.size() };
		bool taken = false;
		char info[64];

		rmw_publish_serialized_message(publisher, &message, nullptr);
		rmw_take_serialized_message_with_info(subscription, &message, &taken, info,
						      nullptr);
		ros_trace_callback_start(callback_of, false);
		ros_trace_callback_end(callback_of);
		std::printf("%s %zu %lld\n", name, bytes.size(), static_cast<long long>(stamp_ns));
	}

      private:
	char *callback_of;
};

static const fastrtps scan_fast = { "test_msgs::msg",      "Scan",    nullptr, nullptr,
				    size_of_message<Scan>, unbounded, nullptr };
static const fastrtps speed_fast = { "test_msgs::msg",       "Speed", nullptr, nullptr,
				     size_of_message<Speed>, plain,   nullptr };
static const fastrtps c_scan_fast = { "test_msgs__msg",       "LateScan", nullptr, nullptr,
				      size_of_message<CScan>, unbounded,  nullptr };

static Scan scan_of(unsigned i)
{
	Scan scan = {};

	scan.header.stamp = { static_cast<int32_t>(std::time(nullptr)), i };
	scan.header.frame_id.assign(i, 'f');
	scan.ranges.resize(i * 3);
	scan.names.assign(i % 4, std::string(i, 'n'));
	scan.points.resize(i * 5);
	for (unsigned j = 0; j < i % 7; j++)
		scan.poses.push_back({ std::string(j, 'p'), {} });
	scan.flags.resize(i);
	scan.wide.assign(i % 3, u'w');
	return scan;
}

static std::string turned(std::string bytes) /* the stamp with the high byte first */
{
	bytes[1] = 0;
	for (size_t at = 4; at < 12; at += 4)
		std::swap(bytes[at], bytes[at + 3]), std::swap(bytes[at + 1], bytes[at + 2]);
	return bytes;
}

int main(int argc, char **argv)
{
	middleware = argc > 1 ? argv[1] : "";
	is_humble = argc > 2 && !std::strcmp(argv[2], "humble");
	is_later = argc > 3 && !std::strcmp(argv[3], "later");
	has_keys = !is_humble;
	const bool is_cyclone = std::strcmp(middleware, "rmw_fastrtps_cpp") != 0;

	ros_trace_rcl_init(&callback);
	ros_trace_rcl_node_init(&node, &rmw_node, "messages", "/");
	Topic scans("/scan", "rosidl_typesupport_cpp", scan_type(), &scan_fast,
		    is_humble ? nullptr : header_first);
	Topic speeds("/speed", "rosidl_typesupport_cpp", speed_type(), &speed_fast,
		     is_humble ? nullptr : header_missing);
	Topic late("/late", "rosidl_typesupport_c", c_scan_type(), &c_scan_fast,
		   is_humble ? nullptr : header_missing);
	const bool has_stamp = is_cyclone || !is_humble;

	for (unsigned i = 0; i < 40; i++) {
		Scan scan = scan_of(i);
		Speed speed = {};
		char word[] = "word";
		CString names[2] = { { word, i % 5, 5 }, { word, 4, 5 } };
		int16_t numbers[40] = {};
		CScan c_scan = { 1,
				 { { 1700000000, i }, { word, i % 5, 5 } },
				 { names, i % 3, 2 },
				 { numbers, i, 40 } };
		const int64_t stamp_ns = scan.header.stamp.sec * INT64_C(1000000000) + i;

		scans.round(&scan, has_stamp ? stamp_ns : 0, static_cast<int>(i % 3));
		if (!is_humble)
			scans.round_serialized(i % 2 ? serialized(scan) : turned(serialized(scan)),
					       has_stamp ? stamp_ns : 0);
		speeds.round(&speed, 0, static_cast<int>(i % 3));
		if (!is_humble)
			ros_trace_rclcpp_intra_publish(speeds.publisher_handle, &speed);
		late.round(&c_scan, is_cyclone ? 1700000000000000000 + i : 0,
			   static_cast<int>(i % 3));
	}
	/* Without a type, a message is not read: it has no size. */
	rmw_destroy_subscription(&node, scans.subscription);
	rmw_destroy_publisher(&node, speeds.publisher);
	return 0;
}
#endif
