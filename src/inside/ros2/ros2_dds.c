/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time at which the middleware writes a message, for versions of tracetools that do not report
 * it; see ros2_libraries.h.
 */

#include <dlfcn.h>
#include <string.h>

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_libraries.h"

__thread const void *kymo_message_written;

void kymo_written_at(uint64_t ns)
{
	const void *message = kymo_message_written;

	kymo_message_written = NULL;
	if (message && kymo_enable_byte(KYMO_POINT_dds_bind_addr_to_stamp))
		kymo_emit_dds_bind_addr_to_stamp(message, ns);
}

/* ---- CycloneDDS ---- */

typedef int32_t write_function(int32_t writer, const void *data);
typedef int32_t write_at_function(int32_t writer, const void *data, int64_t time);
typedef int64_t time_function(void);

KYMO_EXPORT write_function dds_write;

/*
 * dds_write() reads the time itself and does not return it. So the hook reads the time and passes
 * it to dds_write_ts(). The event is recorded before the write: after the write, another thread may
 * already have received the message, and a reader that reads the events in order would not yet know
 * the message's time.
 */
static bool write_at(int32_t writer, const void *data, const void *caller, int32_t *result)
{
	static void *at_known, *time_known;
	write_at_function *at = (write_at_function *)kymo_below(&at_known, "dds_write_ts", caller, NULL);
	time_function *time = (time_function *)kymo_below(&time_known, "dds_time", caller, NULL);
	int64_t now;

	if (!at || !time)
		return false;
	now = time();
	kymo_written_at((uint64_t)now);
	kymo_write_begins(NULL);
	*result = at(writer, data, now);
	kymo_write_ends(NULL);
	return true;
}

KYMO_EXPORT int32_t dds_write(int32_t writer, const void *data)
{
	static void *known;
	const void *caller = __builtin_return_address(0);
	write_function *real;
	int32_t result;

	if (data && data == kymo_message_written && write_at(writer, data, caller, &result))
		return result;
	real = (write_function *)kymo_below(&known, "dds_write", caller, (void *)dds_write);
	if (!real)			/* impossible: somebody defines dds_write() */
		__builtin_trap();
	kymo_write_begins(NULL);
	result = real(writer, data);
	kymo_write_ends(NULL);
	return result;
}

/* ---- Fast DDS ---- */

/*
 * Byte offset of sourceTimestamp in an eprosima::fastrtps::rtps::CacheChange_t, on 64-bit machines.
 */
static const struct {
	const char *library;
	unsigned at;
} stamps[] = {
	{ "libfastrtps.so.2.6", 100 },	/* Humble */
	{ "libfastrtps.so.2.9", 108 },	/* Debian 12 */
	{ "libfastrtps.so.2.10", 108 },	/* Iron */
	{ "libfastrtps.so.2.14", 108 },	/* Jazzy */
};

/* bytes from writerGUID to sourceTimestamp, in all of them */
#define WRITER_BEFORE_STAMP 96u

struct stamp {
	int32_t seconds;
	uint32_t fraction;
	uint32_t nanoseconds;
};

/*
 * The offset of sourceTimestamp in the library that contains @function. Return: 0: an unknown
 * library.
 */
static unsigned stamp_at(const void *function)
{
	const char *base;
	Dl_info info;

	if (!dladdr(function, &info) || !info.dli_fname)
		return 0;
	base = strrchr(info.dli_fname, '/');
	base = base ? base + 1 : info.dli_fname;
	for (unsigned i = 0; i < sizeof stamps / sizeof *stamps; i++) {
		const size_t length = strlen(stamps[i].library);

		if (!strncmp(base, stamps[i].library, length) &&
		    (!base[length] || base[length] == '.'))
			return stamps[i].at;
	}
	return 0;
}

bool kymo_change_read(struct kymo_change *its, const struct kymo_call *call, const void *change)
{
	static unsigned at = ~0u;
	struct stamp stamp;

	if (__atomic_load_n(&at, __ATOMIC_RELAXED) == ~0u)
		__atomic_store_n(&at, stamp_at((const void *)call->real), __ATOMIC_RELAXED);
	if (!at || !change)
		return false;
	memcpy(&stamp, (const uint8_t *)change + at, sizeof stamp);
	its->writer = (const uint8_t *)change + at - WRITER_BEFORE_STAMP;
	its->source_ns = (int64_t)stamp.seconds * 1000000000 + stamp.nanoseconds;
	return stamp.seconds > 0 && stamp.nanoseconds < 1000000000;
}

/*
 * WriterHistory sets the time of the change just before it calls set_fragments(), so this hook can
 * read the time.
 */
void kymo_change_written(struct kymo_call *call)
{
	struct kymo_change its;

	if (kymo_message_written && kymo_change_read(&its, call, (const void *)call->first))
		kymo_written_at((uint64_t)its.source_ns);
}
