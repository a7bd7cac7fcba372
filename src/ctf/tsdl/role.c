/* SPDX-License-Identifier: Apache-2.0 */
/* The roles, see role.h: one table for both versions of CTF. */
#include "ctf/tsdl/role.h"

#include <string.h>

#include "base/array.h"

/* Bits of the scopes in which a name means something. */
#define PACKET_HEADER (1 << 0)
#define PACKET (1 << 0 | 1 << 1)	/* header and context */
#define EVENT_HEADER_SCOPE 2
#define EVENT_HEADER (1 << EVENT_HEADER_SCOPE)

static const struct {
	uint16_t role, scopes;
	const char *field;		/* CTF 1.8 */
	const char *name;		/* CTF 2 */
} roles[] = {
	{ ROLE_MAGIC, PACKET_HEADER, "magic", "packet-magic-number" },
	{ ROLE_UUID, PACKET_HEADER, "uuid", "metadata-stream-uuid" },
	{ ROLE_STREAM_CLASS, PACKET, "stream_id", "data-stream-class-id" },
	{ ROLE_STREAM, PACKET, "stream_instance_id", "data-stream-id" },
	{ ROLE_TIME, PACKET, "timestamp_begin", "default-clock-timestamp" },
	{ ROLE_END_TIME, PACKET, "timestamp_end", "packet-end-default-clock-timestamp" },
	{ ROLE_CONTENT_SIZE, PACKET, "content_size", "packet-content-length" },
	{ ROLE_PACKET_SIZE, PACKET, "packet_size", "packet-total-length" },
	{ ROLE_SEQUENCE, PACKET, "packet_seq_num", "packet-sequence-number" },
	{ ROLE_DISCARDED, PACKET, "events_discarded", "discarded-event-record-counter-snapshot" },
	{ ROLE_EVENT_CLASS, EVENT_HEADER, "id", "event-record-class-id" },
	{ ROLE_TIME, EVENT_HEADER, "timestamp", "default-clock-timestamp" },
};

uint16_t role_of(unsigned scope, const char *name, const struct ctf_type *type)
{
	if (scope == EVENT_HEADER_SCOPE && type->clock)
		return ROLE_TIME;
	for (unsigned i = 0; i < COUNT_OF(roles); i++)
		if (roles[i].scopes & 1 << scope && !strcmp(roles[i].field, name))
			return roles[i].role;
	return 0;
}

const char *role_field(unsigned scope, uint16_t role)
{
	for (unsigned i = 0; i < COUNT_OF(roles); i++)
		if (roles[i].role == role && roles[i].scopes & 1 << scope)
			return roles[i].field;
	return NULL;
}

const char *role_name(uint16_t role)
{
	for (unsigned i = 0; i < COUNT_OF(roles); i++)
		if (roles[i].role == role)
			return roles[i].name;
	return NULL;
}

uint16_t role_named(const char *name)
{
	for (unsigned i = 0; i < COUNT_OF(roles); i++)
		if (!strcmp(roles[i].name, name))
			return roles[i].role;
	return 0;
}
