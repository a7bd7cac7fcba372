/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Middleware that only keeps the time of what is written, and a program that publishes through it.
 *
 *     -DCYCLONE          libddsc: dds_write() and what it is made of
 *     -DSTAMP=OFFSET     libfastrtps: a change has its source timestamp there
 *     neither            written MIDDLEWARE COUNT: prints the message and the time of each write
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

extern "C" {
int64_t dds_time(void);
int32_t dds_write(int32_t writer, const void *data);
int32_t dds_write_ts(int32_t writer, const void *data, int64_t time);
int64_t last_written(void);		/* the test's: ns since the epoch */
extern void (*on_arrival)(const void *data);	/* the test's: who takes what is written, at once */
void ros_trace_rcl_init(const void *context);
void ros_trace_rcl_publish(const void *publisher, const void *message);
void ros_trace_rmw_publish(const void *message);
void ros_trace_rmw_take(const void *subscription, const void *message, int64_t source_ns, bool taken);
}

namespace eprosima { namespace fastrtps { namespace rtps {
struct CacheChange_t { unsigned char bytes[256]; };
class WriterHistory {
public:
	void set_fragments(CacheChange_t *change);
};
} } }
using eprosima::fastrtps::rtps::CacheChange_t;
using eprosima::fastrtps::rtps::WriterHistory;
extern "C" void write_change(WriterHistory *history, CacheChange_t *change);

#if defined CYCLONE || defined STAMP
static int64_t written;
extern "C" int64_t last_written(void) { return written; }
void (*on_arrival)(const void *data);
#endif

#ifdef CYCLONE
extern "C" int64_t dds_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}
extern "C" int32_t dds_write_ts(int32_t writer, const void *data, int64_t time)
{
	written = time;
	if (on_arrival)
		on_arrival(data);
	return data ? writer : -1;
}
extern "C" int32_t dds_write(int32_t writer, const void *data) { return dds_write_ts(writer, data, dds_time()); }
#elif defined STAMP
void WriterHistory::set_fragments(CacheChange_t *change) { change->bytes[0]++; }
extern "C" void write_change(WriterHistory *history, CacheChange_t *change)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	const int32_t seconds = (int32_t)now.tv_sec;
	const uint32_t rest[2] = { 0xdeadbeef, (uint32_t)now.tv_nsec };

	std::memcpy(change->bytes + STAMP, &seconds, 4);
	std::memcpy(change->bytes + STAMP + 4, rest, 8);
	written = seconds * INT64_C(1000000000) + rest[1];
	history->set_fragments(change);
	if (on_arrival)
		on_arrival(nullptr);
}
#else
/* The fastest reader there can be. */
static void take(const void *)
{
	ros_trace_rmw_take(&on_arrival, nullptr, last_written(), true);
}

static void write(const char *message)
{
#ifdef CYCLONE_PROGRAM
	if (dds_write(77, message) != 77)
		std::abort();
#else
	static CacheChange_t change;
	static WriterHistory history;
	const unsigned char before = change.bytes[0];

	(void)message;
	write_change(&history, &change);
	if (change.bytes[0] != (unsigned char)(before + 1))
		std::abort();
#endif
}

int main(int argc, char **argv)
{
	static char messages[1000];

	ros_trace_rcl_init(argv);
	for (int i = 0; i < (argc > 1 ? std::atoi(argv[1]) : 0) && i < 1000; i++) {
		write(&messages[i]);			/* of the middleware's own: nobody published it */
		ros_trace_rcl_publish(argv, &messages[i]);
		ros_trace_rmw_publish(&messages[i]);
		on_arrival = take;
		write(&messages[i]);
		on_arrival = nullptr;
		std::printf("%#jx %jd\n", (uintmax_t)(uintptr_t)&messages[i], (intmax_t)last_written());
	}
	return 0;
}
#endif
