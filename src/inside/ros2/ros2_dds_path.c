/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of a message inside the middleware. Three events have the message's source timestamp:
 *
 *                 CycloneDDS                                    Fast DDS
 *   dds_send      the first ddsrt_sendmsg() of a write          RTPSMessageGroup::add_data()
 *   dds_receive   nn_defrag_rsample() has the whole message     change_received() of a reader
 *   dds_cached    dds_reader_data_available_cb()                DataReaderImpl::on_new_cache_change_added()
 *
 * Functions of Fast DDS have the message as argument. Of CycloneDDS, only
 * ddsi_tkmap_lookup_instance_ref() has: it is called for each message that is written, before it is
 * sent, and for each message that was received, before it is put into the caches of readers. So the
 * thread remembers the time of this message.
 *
 * What the middleware writes for itself (discovery) is not recorded: the entity ids of such writers
 * and readers have the two highest bits set.
 *
 * Context: as kymo__reserve(); the first message of a reader of CycloneDDS acquires the lock of its
 * table of entities.
 */
#include <dlfcn.h>
#include <string.h>
#include <time.h>

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_libraries.h"

#define GID_BYTES 16u

static bool is_builtin(const uint8_t gid[GID_BYTES])
{
	return (gid[GID_BYTES - 1] & 0xc0) == 0xc0;
}

static bool is_zero(const uint8_t gid[GID_BYTES])
{
	static const uint8_t zero[GID_BYTES];

	return !memcmp(gid, zero, GID_BYTES);
}

#define RECORD(id, ...)                                        \
	do {                                                   \
		if (kymo_enable_byte(KYMO_POINT_##id))         \
			kymo_emit_##id(__VA_ARGS__);           \
	} while (0)

/* ---- CycloneDDS ---- */

static __thread struct {
	bool writes;		/* in a write of the program */
	/* of the message that is written, or that was received last; 0: none */
	int64_t source_ns;
} cyclone;

/* As dds/ddsi/ddsi_serdata.h documents it: programs may define their own. */
struct serdata {
	const void *ops;
	uint32_t hash, users;
	uint32_t kind;
	const void *type;
	int64_t source_ns;
};

/* In 0.9 and 0.10; plausible_sample() checks it. */
struct sample_info {
	int64_t number;
	const void *receiver;
	const struct proxy_writer {
		uint32_t kind;
		uint32_t guid[4];	/* host byte order */
	} *writer;
	uint32_t size, fragment_size;
	int64_t source_ns, received_ns;
};

void kymo_write_begins(struct kymo_call *call)
{
	(void)call;
	cyclone.writes =
		kymo_enable_byte(KYMO_POINT_dds_send) || kymo_enable_byte(KYMO_POINT_dds_cached);
	cyclone.source_ns = 0;
}

void kymo_write_ends(struct kymo_call *call)
{
	(void)call;
	cyclone.writes = false;
	cyclone.source_ns = 0;
}

void kymo_instance_looked_up(struct kymo_call *call)
{
	const struct serdata *data = (const struct serdata *)call->first;

	if (!data)
		return;
	cyclone.source_ns = data->source_ns;
	/* dds_writecdr() sets the time itself: it is not known before. */
	if (kymo_message_written && data->source_ns > 0)
		kymo_written_at((uint64_t)data->source_ns);
}

/* source timestamp of the last message that dds_send reports */
static __thread int64_t sent_ns;

void kymo_packet_sent(struct kymo_call *call)
{
	(void)call;
	if (!cyclone.writes || cyclone.source_ns <= 0 || cyclone.source_ns == sent_ns)
		return;
	sent_ns = cyclone.source_ns;
	RECORD(dds_send, NULL, cyclone.source_ns);
}

/* Is the layout the known one? Then the time at which the packet was received is now. */
static bool plausible_sample(const struct sample_info *info)
{
	static int known;	/* 1: yes; -1: no */
	int is = __atomic_load_n(&known, __ATOMIC_RELAXED);
	struct timespec now;

	if (!is && !clock_gettime(CLOCK_REALTIME, &now)) {
		const int64_t late_ns =
			(now.tv_sec - info->received_ns / 1000000000) * 1000000000ll;

		is = late_ns >= 0 && late_ns < 60000000000ll ? 1 : -1;
		__atomic_store_n(&known, is, __ATOMIC_RELAXED);
	}
	return is > 0;
}

/*
 * Only the first part of a message has its source timestamp. Here are the messages whose parts this
 * thread received last.
 */
#define PARTED 16u
static __thread struct {
	const struct proxy_writer *writer;
	int64_t number, source_ns;
} parted[PARTED];

static int64_t source_of_parts(const struct sample_info *info)
{
	const unsigned at =
		(unsigned)((uint64_t)info->number ^ (uintptr_t)info->writer >> 6) % PARTED;

	if (info->source_ns > 0 && info->source_ns < INT64_MAX) {
		parted[at].writer = info->writer;
		parted[at].number = info->number;
		parted[at].source_ns = info->source_ns;
		return info->source_ns;
	}
	return parted[at].writer == info->writer && parted[at].number == info->number
		       ? parted[at].source_ns
		       : 0;
}

void kymo_sample_completed(struct kymo_call *call)
{
	const struct sample_info *info = (const struct sample_info *)call->second;
	uint8_t gid[GID_BYTES];
	int64_t source_ns;

	if (!info || !kymo_enable_byte(KYMO_POINT_dds_receive) || !plausible_sample(info) ||
	    !info->writer)
		return;
	source_ns = source_of_parts(info);
	if (!call->result || !source_ns)
		/* parts are missing, or the message has no source timestamp */
		return;
	for (unsigned i = 0; i < 4; i++) {
		const uint32_t word = __builtin_bswap32(info->writer->guid[i]);

		memcpy(gid + 4 * i, &word, 4);
	}
	if (!is_builtin(gid))
		RECORD(dds_receive, gid, source_ns);
}

/*
 * The gids of the readers that this thread used last. A struct dds_reader begins with its handle.
 */
#define READERS 16u
static __thread struct {
	const void *reader;
	int32_t handle;
	uint8_t gid[GID_BYTES];
} readers[READERS];

typedef int32_t guid_function(int32_t handle, uint8_t gid[GID_BYTES]);

static const uint8_t *gid_of_reader(const void *reader, const void *caller)
{
	static void *known;
	const unsigned at = ((uint64_t)(uintptr_t)reader * 0x9e3779b97f4a7c15ull >> 40) % READERS;
	guid_function *get;
	int32_t handle;

	memcpy(&handle, reader, sizeof handle);
	if (readers[at].reader == reader && readers[at].handle == handle)
		return readers[at].gid;
	get = (guid_function *)kymo_below(&known, "dds_get_guid", caller, NULL);
	if (!get || get(handle, readers[at].gid))
		memset(readers[at].gid, 0, GID_BYTES);
	readers[at].reader = reader;
	readers[at].handle = handle;
	return readers[at].gid;
}

void kymo_reader_has_data(struct kymo_call *call)
{
	const uint8_t *gid;

	if (!call->self || cyclone.source_ns <= 0 || !kymo_enable_byte(KYMO_POINT_dds_cached))
		return;
	gid = gid_of_reader((const void *)call->self, call->caller);
	if (!is_zero(gid) && !is_builtin(gid))
		RECORD(dds_cached, gid, cyclone.source_ns);
}

/* ---- Fast DDS ---- */

/* Return: false: a message of the middleware's own, or of a layout that is not known. */
static bool is_message(struct kymo_change *its, const struct kymo_call *call)
{
	return kymo_change_read(its, call, (const void *)call->first) && !is_builtin(its->writer);
}

void kymo_change_sent(struct kymo_call *call)
{
	struct kymo_change its;

	if (!kymo_enable_byte(KYMO_POINT_dds_send) || !is_message(&its, call) ||
	    its.source_ns == sent_ns)
		/* not wanted, or another part of the message, or to another reader */
		return;
	sent_ns = its.source_ns;
	RECORD(dds_send, its.writer, its.source_ns);
}

void kymo_change_received(struct kymo_call *call)
{
	struct kymo_change its;

	if (kymo_enable_byte(KYMO_POINT_dds_receive) && is_message(&its, call))
		RECORD(dds_receive, its.writer, its.source_ns);
}

void kymo_change_cached(struct kymo_call *call)
{
	static void *known;
	const uint8_t *(*gid_of)(uintptr_t);
	struct kymo_change its;

	if (!kymo_enable_byte(KYMO_POINT_dds_cached) || !is_message(&its, call))
		return;
	gid_of = (const uint8_t *(*)(uintptr_t))kymo_below(&known, "_ZNK8eprosima7fastdds3dds14DataReaderImpl4guidEv",
							   call->caller, NULL);
	if (gid_of)
		RECORD(dds_cached, gid_of(call->self), its.source_ns);
}
