/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of messages: their size when serialized, and the time in their header. No tracepoint
 * reports it. The hooks of the rmw functions, which librcl calls, record:
 *
 *   rmw_create_publisher()   ──▶  message_type      once: the type, and the size if all messages
 *                                                   have the same
 *   rmw_publish()            ──▶  publish_content   before rmw_publish
 *   rmw_take()               ──▶  take_content      after rmw_take
 *
 * A message of fixed size without a header needs no event of its own.
 *
 * The types are in a table by the address of the publisher or subscription. The table is read
 * without a lock while other threads change other entries: an entry is written first and gets its
 * address last, and an entry that is removed keeps its place.
 *
 * Context: publishing and taking are wait-free, as kymo__reserve(); creating is not for real time.
 */
#include <string.h>

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_libraries.h"
#include "inside/ros2/ros2_types.h"

/* The beginning of rmw_publisher_t and rmw_subscription_t. */
struct rmw_object {
	const char *implementation_identifier;
};

/* rmw_serialized_message_t */
struct serialized {
	const uint8_t *bytes;
	size_t length;
};

/* ---- the types of publishers and subscriptions ---- */

#define TYPES_MAX 4096u /* more publishers and subscriptions have no sizes */
#define PROBES 64u
enum { FREE, REMOVED, BEING_WRITTEN }; /* instead of an address */

/* What a message needs of struct kymo_type. */
static struct entry {
	uintptr_t object; /* the last one that is written */
	const void *members;
	uint32_t (*measure)(const void *);
	uint32_t fixed, stamp_at;
	bool begins_with_stamp;
} table[TYPES_MAX];

static struct entry *entry_at(uintptr_t object, unsigned probe)
{
	return &table[(((uint64_t)object * 0x9e3779b97f4a7c15ull >> 40) + probe) % TYPES_MAX];
}

static struct entry *entry_of(uintptr_t object)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct entry *entry = entry_at(object, i);
		const uintptr_t there = __atomic_load_n(&entry->object, __ATOMIC_ACQUIRE);

		if (there == object)
			return entry;
		if (there == FREE)
			return NULL;
	}
	return NULL;
}

static void forget(uintptr_t object)
{
	struct entry *entry = object > BEING_WRITTEN ? entry_of(object) : NULL;

	if (entry)
		__atomic_store_n(&entry->object, REMOVED, __ATOMIC_RELEASE);
}

static bool claim(struct entry *entry)
{
	uintptr_t there = __atomic_load_n(&entry->object, __ATOMIC_RELAXED);

	return there <= REMOVED &&
	       __atomic_compare_exchange_n(&entry->object, &there, BEING_WRITTEN, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void remember(uintptr_t object, const struct kymo_type *type)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct entry *entry = entry_at(object, i);

		if (!claim(entry))
			continue;
		entry->members = type->members;
		entry->measure = type->measure;
		entry->fixed = type->fixed;
		entry->stamp_at = type->stamp_at;
		entry->begins_with_stamp = type->begins_with_stamp;
		__atomic_store_n(&entry->object, object, __ATOMIC_RELEASE);
		return;
	}
}

void kymo_typed_made(struct kymo_call *call)
{
	const struct rmw_object *object = (const struct rmw_object *)call->result;
	struct kymo_type type;

	if (!object)
		return;
	kymo_tracetools_known();
	kymo_qos_tell(object, (const void *)call->third);
	forget((uintptr_t)object);
	if (!kymo_type_read(&type, (const struct kymo_type_support *)call->first,
			    object->implementation_identifier,
			    kymo_tracetools.version >= KYMO_V(6, 0)))
		return;
	remember((uintptr_t)object, &type);
	kymo_emit_message_type(object, type.name, type.fixed);
}

void kymo_typed_ends(struct kymo_call *call)
{
	forget(call->first);
}

/* ---- what a message contains ---- */

struct content {
	uint64_t size;
	int64_t stamp_ns; /* 0: none, or the message's is zero */
};

static int64_t stamp_in(const uint8_t *bytes, bool swap)
{
	uint32_t word[2];

	memcpy(word, bytes, sizeof word);
	if (swap)
		for (unsigned i = 0; i < 2; i++)
			word[i] = __builtin_bswap32(word[i]);
	return (int64_t)(int32_t)word[0] * 1000000000 + word[1];
}

/* Return: false: the type is not known, or its messages are all alike. */
static bool read_message(struct content *content, uintptr_t object, const uint8_t *message)
{
	const struct entry *entry = message ? entry_of(object) : NULL;

	if (!entry || (entry->fixed && entry->stamp_at == KYMO_NO_STAMP))
		return false;
	content->size = entry->fixed     ? entry->fixed
			: entry->members ? kymo_introspection_size(entry->members, message)
					 : KYMO_CDR_HEADER + (uint64_t)entry->measure(message);
	content->stamp_ns =
		entry->stamp_at == KYMO_NO_STAMP ? 0 : stamp_in(message + entry->stamp_at, false);
	return true;
}

/* A serialized message begins with KYMO_CDR_HEADER. The lowest bit of its second byte says that
 * numbers begin with the low byte. */
static bool read_serialized(struct content *content, uintptr_t object, const uint8_t *message)
{
	const struct entry *entry = entry_of(object);
	struct serialized serialized;

	if (!message)
		return false;
	memcpy(&serialized, message, sizeof serialized);
	content->size = serialized.length;
	content->stamp_ns = 0;
	if (entry && entry->begins_with_stamp && serialized.bytes &&
	    serialized.length >= KYMO_CDR_HEADER + KYMO_STAMP_BYTES)
		content->stamp_ns = stamp_in(serialized.bytes + KYMO_CDR_HEADER,
					     (serialized.bytes[1] & 1) !=
						     (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__));
	return true;
}

#define RECORD(id, object, message, read)                                                         \
	do {                                                                                      \
		const uint8_t wanted = kymo_enable_byte(KYMO_POINT_##id);                         \
		struct content its;                                                               \
                                                                                                  \
		if (wanted && read(&its, object, (const uint8_t *)(message)) &&                   \
		    (wanted == KYMO_ENABLE_YES ||                                                 \
		     !kymo_left_out_##id((const void *)(object), (const void *)(message),         \
					 its.size, its.stamp_ns)))                                \
			kymo_emit_##id((const void *)(object), (const void *)(message), its.size, \
				       its.stamp_ns);                                             \
	} while (0)

void kymo_message_published(struct kymo_call *call)
{
	RECORD(publish_content, call->self, call->first, read_message);
}

void kymo_serialized_published(struct kymo_call *call)
{
	RECORD(publish_content, call->self, call->first, read_serialized);
	kymo_bytes_written((const void *)call->first);
}

/* rmw_take*(subscription, message, taken, ...) took a message. */
static bool was_taken(const struct kymo_call *call)
{
	const bool *taken = (const bool *)call->second;

	return (int32_t)call->result == 0 && taken && *taken;
}

void kymo_message_taken(struct kymo_call *call)
{
	if (was_taken(call))
		RECORD(take_content, call->self, call->first, read_message);
}

void kymo_serialized_taken(struct kymo_call *call)
{
	if (was_taken(call))
		RECORD(take_content, call->self, call->first, read_serialized);
}

/* The message is in memory of the middleware, whose address the function returned. */
void kymo_loaned_taken(struct kymo_call *call)
{
	const uintptr_t *loaned = (const uintptr_t *)call->first;

	if (was_taken(call) && loaned)
		RECORD(take_content, call->self, *loaned, read_message);
}
