/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client and a service, as rclcpp, rmw_implementation and a middleware make them, with the
 * functions that the hooks of ros2_services.c are about.
 *
 * -DLIBRARY=CYCLONE: the libraries, with CycloneDDS. The client's gid is the instance handle of
 * its writer.
 *
 * -DLIBRARY=FAST: the libraries, with Fast DDS. The client's gid is the GUID of its reader.
 *
 * Neither: the program `services COUNT DISTRIBUTION [overtake]` makes COUNT calls, of which every
 * fifth gets no answer. Each callback of the client publishes once; the third one throws. The
 * middleware of Rolling has tracepoints. With "overtake", the service serves each request on a
 * thread of its own before the client's send call returns, and a callback sends it.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>

struct rcl_client_t {
	void *rmw;
};
struct rmw_object {
	const char *implementation_identifier;
	void *data;
	const char *name;
};
struct rmw_request_id {
	int8_t writer_guid[16];
	int64_t sequence_number;
};
struct rmw_service_info {
	int64_t source_timestamp, received_timestamp;
	rmw_request_id request_id;
};

extern "C" {
rmw_object *rmw_create_client(const void *node, const void *type, const char *name,
			      const void *qos);
int rmw_send_request(const rmw_object *client, const void *request, int64_t *sequence_number);
int rmw_take_request(const rmw_object *service, rmw_service_info *header, void *request,
		     bool *taken);
int rmw_send_response(const rmw_object *service, rmw_request_id *header, void *response);
int rmw_take_response(const rmw_object *client, rmw_service_info *header, void *response,
		      bool *taken);
extern bool middleware_tells; /* the test's */
extern void (*middleware_wrote)(void); /* the test's: a request can be taken */
const char *client_gid(void); /* the test's: in hexadecimal */

void ros_trace_rcl_init(const void *context);
void ros_trace_rcl_node_init(const void *node, const void *rmw, const char *name,
			     const char *space);
void ros_trace_rmw_client_init(const void *client, const uint8_t *gid);
void ros_trace_rcl_client_init(const void *client, const void *node, const void *rmw,
			       const char *name);
void ros_trace_rcl_service_init(const void *service, const void *node, const void *rmw,
				const char *name);
void ros_trace_rclcpp_service_callback_added(const void *service, const void *callback);
void ros_trace_rmw_publisher_init(const void *publisher, const uint8_t *gid);
void ros_trace_rcl_publisher_init(const void *publisher, const void *node, const void *rmw,
				  const char *topic, size_t depth);
void ros_trace_callback_start(const void *callback, bool is_intra);
void ros_trace_callback_end(const void *callback);
void ros_trace_rclcpp_publish(const void *publisher, const void *message);
void ros_trace_rcl_publish(const void *publisher, const void *message);
void ros_trace_rmw_publish(const void *first, const void *message,
			   int64_t stamp); /* Humble: only the message */
void ros_trace_rmw_send_request(const void *client, const void *request, int64_t number);
void ros_trace_rmw_take_request(const void *service, const void *request, const uint8_t *gid,
				int64_t number, bool taken);
void ros_trace_rmw_send_response(const void *service, const void *response, const uint8_t *gid,
				 int64_t number, int64_t stamp);
void ros_trace_rmw_take_response(const void *client, const void *response, int64_t number,
				 int64_t stamp, bool taken);
}

namespace rclcpp
{
class ClientBase
{
      public:
	explicit ClientBase(rmw_object *rmw)
	    : handle_(std::make_shared<rcl_client_t>(rcl_client_t{ rmw }))
	{
	}
	virtual ~ClientBase()
	{
	}
	std::shared_ptr<rcl_client_t> get_client_handle();
	virtual void handle_response(int64_t number) = 0;
	long users() const
	{
		return handle_.use_count();
	}

      protected:
	std::shared_ptr<rcl_client_t> handle_;
};

class Executor
{
      public:
	static void execute_client(std::shared_ptr<ClientBase> client);
	static void spin_some(std::shared_ptr<ClientBase> client);
};
} // namespace rclcpp

#ifdef LIBRARY
bool middleware_tells;
void (*middleware_wrote)(void);

/* One request and one response may be on their way. */
static struct way {
	bool full;
	int8_t gid[16];
	int64_t number;
} requests, responses;
static uint8_t gid[16];
static rmw_object client_object, service_object;

#if LIBRARY == CYCLONE
#define IDENTIFIER "rmw_cyclonedds_cpp"
#define LOCAL_HALF 8 /* from here on, a request's gid is the receiver's own number */
extern "C" int32_t dds_get_instance_handle(int32_t entity, uint64_t *handle);
extern "C" int32_t dds_get_instance_handle(int32_t entity, uint64_t *handle)
{
	*handle = UINT64_C(0x1122334455667700) + (uint64_t)entity;
	return 0;
}
static void learn_gid()
{
	uint64_t handle;

	dds_get_instance_handle(0x42, &handle);
	std::memcpy(gid, &handle, sizeof handle);
}
#else
#define IDENTIFIER "rmw_fastrtps_cpp"
#define LOCAL_HALF 16
namespace eprosima
{
namespace fastrtps
{
namespace rtps
{
struct GUID_t {
	uint8_t prefix[12], entity[4];
};
} // namespace rtps
} // namespace fastrtps
namespace fastdds
{
namespace dds
{
class DataReader
{
      public:
	const fastrtps::rtps::GUID_t &guid();
};
static fastrtps::rtps::GUID_t its = { { 1, 15, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, { 0, 0, 0x12, 4 } };
const fastrtps::rtps::GUID_t &DataReader::guid()
{
	return its;
}
} // namespace dds
} // namespace fastdds
} // namespace eprosima
static void learn_gid()
{
	static eprosima::fastdds::dds::DataReader reader;

	std::memcpy(gid, &reader.guid(), sizeof gid);
}
#endif

extern "C" const char *client_gid(void)
{
	static char text[33];

	for (int i = 0; i < 16; i++)
		std::snprintf(text + 2 * i, 3, "%02x", gid[i]);
	return text;
}

rmw_object *rmw_create_client(const void *, const void *, const char *name, const void *)
{
	client_object = service_object = { IDENTIFIER, nullptr, name };
	learn_gid();
	if (middleware_tells)
		ros_trace_rmw_client_init(&client_object, gid);
	return &client_object;
}
int rmw_send_request(const rmw_object *client, const void *request, int64_t *sequence_number)
{
	static int64_t last;

	if (!request)
		return 1; /* RMW_RET_ERROR */
	requests = { true, {}, ++last };
	std::memcpy(requests.gid, gid, sizeof gid);
	std::memset(requests.gid + LOCAL_HALF, 0x77, 16 - LOCAL_HALF);
	*sequence_number = last;
	if (middleware_tells)
		ros_trace_rmw_send_request(client, request, last);
	if (middleware_wrote)
		middleware_wrote();
	return 0;
}
int rmw_take_request(const rmw_object *service, rmw_service_info *header, void *request,
		     bool *taken)
{
	*taken = requests.full;
	if (*taken)
		std::memcpy(header->request_id.writer_guid, requests.gid, 16),
			header->request_id.sequence_number = requests.number;
	requests.full = false;
	if (middleware_tells)
		ros_trace_rmw_take_request(service, request, gid,
					   header->request_id.sequence_number, *taken);
	return 0;
}
int rmw_send_response(const rmw_object *service, rmw_request_id *header, void *response)
{
	responses = { true, {}, header->sequence_number };
	if (middleware_tells)
		ros_trace_rmw_send_response(service, response, gid, header->sequence_number,
					    1000 + header->sequence_number);
	return 0;
}
int rmw_take_response(const rmw_object *client, rmw_service_info *header, void *response,
		      bool *taken)
{
	*taken = responses.full;
	if (*taken)
		header->request_id.sequence_number = responses.number,
		header->source_timestamp = 1000 + responses.number;
	responses.full = false;
	if (middleware_tells)
		ros_trace_rmw_take_response(client, response, header->request_id.sequence_number,
					    header->source_timestamp, *taken);
	return 0;
}

namespace rclcpp
{
std::shared_ptr<rcl_client_t> ClientBase::get_client_handle()
{
	return handle_;
}
void Executor::execute_client(std::shared_ptr<ClientBase> client)
{
	auto header = std::make_shared<rmw_service_info>();
	bool taken = false;
	char response;

	rmw_take_response(static_cast<rmw_object *>(client->get_client_handle()->rmw), header.get(),
			  &response, &taken);
	if (taken)
		client->handle_response(header->request_id.sequence_number);
}
void Executor::spin_some(std::shared_ptr<ClientBase> client)
{
	execute_client(client);
}
} // namespace rclcpp
#else
static bool is_humble;
static char node, service, service_callback, publisher, asks, rmw_publisher,
	rmw_service_object[sizeof(rmw_object)];

static void publish(const void *message)
{
	static int64_t stamp;

	ros_trace_rclcpp_publish(nullptr, message);
	ros_trace_rcl_publish(&publisher, message);
	if (is_humble)
		ros_trace_rmw_publish(message, nullptr, 0);
	else
		ros_trace_rmw_publish(&rmw_publisher, message, ++stamp);
}

class Client : public rclcpp::ClientBase
{
      public:
	explicit Client(rmw_object *rmw) : ClientBase(rmw)
	{
	}
	void handle_response(int64_t number) override
	{
		publish(this);
		if (number == 3)
			throw std::runtime_error("third");
	}
};

static void serve(const rmw_object *rmw_service)
{
	rmw_service_info header = {};
	bool taken = false;
	char request, response;

	rmw_take_request(rmw_service, &header, &request, &taken);
	if (!taken)
		return;
	ros_trace_callback_start(&service_callback, false);
	ros_trace_callback_end(&service_callback);
	if (header.request_id.sequence_number % 5)
		rmw_send_response(rmw_service, &header.request_id, &response);
}

static const rmw_object *overtaken_service;
static void overtake()
{
	std::thread([] { serve(overtaken_service); }).join();
}

int main(int argc, char **argv)
{
	const bool overtakes = argc > 3 && !std::strcmp(argv[3], "overtake");
	const int64_t count = argc > 1 ? std::atoll(argv[1]) : 10;
	static const uint8_t gid[24] = { 9 };
	int64_t number = 0;
	char request;

	middleware_tells = argc > 2 && !std::strcmp(argv[2], "rolling");
	is_humble = argc > 2 && !std::strcmp(argv[2], "humble");
	ros_trace_rcl_init(&node + 1);
	ros_trace_rcl_node_init(&node, &node + 1, "asker", "/");
	rmw_object *rmw = rmw_create_client(&node, nullptr, "/add", nullptr);
	rmw_object *rmw_service = reinterpret_cast<rmw_object *>(rmw_service_object);
	*rmw_service = *rmw;
	auto client = std::make_shared<Client>(rmw);
	ros_trace_rcl_client_init(client->get_client_handle().get(), &node, rmw, "/add");
	ros_trace_rcl_service_init(&service, &node, rmw_service, "/add");
	ros_trace_rclcpp_service_callback_added(&service, &service_callback);
	ros_trace_rmw_publisher_init(&rmw_publisher, gid);
	ros_trace_rcl_publisher_init(&publisher, &node, &rmw_publisher, "/sum", 10);

	if (!rmw_send_request(rmw, nullptr, &number))
		return 1;
	overtaken_service = rmw_service;
	middleware_wrote = overtakes ? overtake : nullptr;
	for (int64_t i = 1; i <= count; i++) {
		if (overtakes)
			ros_trace_callback_start(&asks, false);
		rmw_send_request(rmw, &request, &number);
		if (overtakes)
			ros_trace_callback_end(&asks);
		if (!overtakes)
			rclcpp::Executor::spin_some(client); /* no response yet */
		serve(rmw_service);
		serve(rmw_service); /* no request any more */
		try {
			rclcpp::Executor::spin_some(client);
		} catch (const std::runtime_error &) {
		}
		publish(&i); /* outside of any callback */
	}
	std::printf("%s %p %ld\n", client_gid(),
		    static_cast<void *>(client->get_client_handle().get()), client->users());
	return 0;
}
#endif
