/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packet headers and contexts: decoded by walk() once per packet. The values are kept for all
 * events of the packet. Sizes are checked against each other and against the file: whatever the
 * packet says is input.
 */
#include <string.h>

#include "base/array.h"
#include "ctf/format/bits.h"
#include "ctf/read/stream_impl.h"

#define MAGIC 0xc1fc1fc1u

struct gather {
	struct ctf_stream *stream;
	struct packet packet;
	unsigned depth;
	unsigned uuid_left;		/* bytes of the UUID that are still to come */
};

static const struct { uint16_t role; uint32_t has; size_t offset; } numbers[] = {
	{ ROLE_STREAM_CLASS, HAS_CLASS, offsetof(struct packet, stream_class) },
	{ ROLE_STREAM, HAS_INSTANCE, offsetof(struct packet, instance) },
	{ ROLE_TIME, HAS_BEGIN, offsetof(struct packet, begin) },
	{ ROLE_END_TIME, HAS_END, offsetof(struct packet, end) },
	{ ROLE_CONTENT_SIZE, HAS_CONTENT, offsetof(struct packet, content) },
	{ ROLE_PACKET_SIZE, HAS_SIZE, offsetof(struct packet, size) },
	{ ROLE_SEQUENCE, HAS_SEQ, offsetof(struct packet, seq) },
	{ ROLE_DISCARDED, HAS_DISCARDED, offsetof(struct packet, discarded) },
};

static struct kymo_ctf_value *bound_value(struct gather *g, const struct ctf_node *node)
{
	struct ctf_stream *s = g->stream;

	for (unsigned i = 0; i < KYMO_CTF_BIND_FIELDS && g->depth == 1 && s->class; i++)
		if (s->class->packet_names[i] && !strcmp(s->class->packet_names[i], node->name))
			return &s->packet_value[i];
	return NULL;
}

static void gather_open(void *arg, const struct ctf_node *node, uint64_t count, const uint8_t *at)
{
	struct gather *g = arg;

	(void)at;
	if (node->roles & ROLE_UUID && count == 16 &&
	    node->child[0].fixed == 8) {
		g->uuid_left = 16;
		g->packet.has |= HAS_UUID;
	}
	g->depth++;
}

static void gather_close(void *arg, const struct ctf_node *node)
{
	struct gather *g = arg;

	(void)node;
	g->depth--;
}

static void gather_number(void *arg, const struct ctf_node *node, uint64_t value)
{
	struct gather *g = arg;
	struct kymo_ctf_value *bound;

	if (g->uuid_left && !node->name[0]) {
		g->packet.uuid[16 - g->uuid_left--] = (uint8_t)value;
		return;
	}
	if (node->roles & ROLE_MAGIC) {
		g->packet.magic = (uint32_t)value;
		g->packet.has |= HAS_MAGIC;
		return;
	}
	for (unsigned i = 0; i < COUNT_OF(numbers) && node->roles; i++) {
		if (!(node->roles & numbers[i].role))
			continue;
		memcpy((char *)&g->packet + numbers[i].offset, &value, sizeof value);
		g->packet.has |= numbers[i].has;
		if (numbers[i].has == HAS_DISCARDED)
			g->packet.discarded_bits = node->type->size;
	}
	if (node->roles)
		return;
	if (node->scope != SCOPE_PACKET_CONTEXT)
		return;
	plan_number(&g->stream->context_out, plan_role(node), node, value);
	bound = bound_value(g, node);
	if (bound) {
		bound->u = value;
		bound->size = node->type->size;
		bound->present = 1;
	}
}

static void gather_text(void *arg, const struct ctf_node *node, const char *bytes, uint64_t size)
{
	struct gather *g = arg;

	if (node->scope == SCOPE_PACKET_CONTEXT)
		plan_text(&g->stream->context_out, plan_role(node), bytes, size, false);
}

static const struct visitor gather = { gather_open, gather_close, gather_number, gather_text,
				       false };

/* Walk @node behind what was read so far; fetches more of the file until it fits. */
static int read_scope(struct ctf_stream *s, struct gather *g, const struct ctf_node *node,
		      uint64_t *pos)
{
	uint64_t left = s->file[s->file_index].size - s->packet_offset;
	uint64_t want = (*pos >> 3) + 512;

	for (;; want *= 4) {
		int64_t have = window_need(s, s->packet_offset, want);
		struct gather attempt = *g;
		struct cursor c = { .slot = s->slot, .pos = *pos, .budget = WALK_BUDGET };
		enum walk_result result;

		if (have < 0)
			return -1;
		c.base = s->window.bytes + (s->packet_offset - s->window.offset);
		c.end = (uint64_t)have * 8;
		if (c.pos > c.end)
			return -1;
		attempt.depth = 0;
		result = walk(&c, node, &gather, &attempt);
		if (result == WALK_OK) {
			*pos = c.pos;
			*g = attempt;
			return 0;
		}
		if (result == WALK_BAD || (uint64_t)have >= left || (uint64_t)have < want)
			return -1;
	}
}

static struct stream_class *class_of(struct ctf_trace *trace, const struct packet *packet)
{
	if (!(packet->has & HAS_CLASS) && trace->class_count == 1)
		return &trace->class[0];
	return trace_class(trace, packet->has & HAS_CLASS ? packet->stream_class : 0);
}

/* Of a growing file: the end is not known to be the end. */
static int not_yet(struct ctf_stream *s)
{
	s->packet_bytes = 0;
	s->window.used = 0;	/* what stands there may not be what will */
	return PACKET_NOT_YET;
}

static bool may_grow(const struct ctf_stream *s)
{
	return s->reader->growing && s->file_index + 1 == s->file_count;
}

static int unusable(struct ctf_stream *s, const char *why)
{
	if (!s->quiet && !s->window.failed)
		reader_warn(s->reader, "%s: byte %llu: %s; the rest of the file is left out",
			    s->file[s->file_index].path, (unsigned long long)s->packet_offset, why);
	return -1;
}

/* The header must name this trace, and the class that the stream had so far. */
static int check_header(struct ctf_stream *s, struct ctf_trace *trace, const struct packet *p)
{
	struct stream_class *class;

	if (p->has & HAS_MAGIC && !p->magic && may_grow(s))
		return not_yet(s);	/* the writer has only reserved room for the packet */
	if (p->has & HAS_MAGIC && p->magic != MAGIC)
		return unusable(s, "no CTF packet begins here");
	if (p->has & HAS_UUID && trace->metadata->has_uuid &&
	    memcmp(p->uuid, trace->metadata->uuid, sizeof p->uuid))
		return unusable(s, "this packet belongs to another trace (its UUID is not the metadata's)");
	class = class_of(trace, p);
	if (!class)
		return unusable(s, "the packet belongs to a stream class that the metadata does not have");
	if (s->class && s->has_before && class != s->class)
		return unusable(s, "the packet belongs to another stream class than those before it");
	s->class = class;
	return 0;
}

/*
 * Fill in the sizes that the packet does not have; check them against each other and against the
 * file.
 */
static int check_sizes(struct ctf_stream *s, struct packet *p)
{
	uint64_t left = s->file[s->file_index].size - s->packet_offset;

	if (!(p->has & (HAS_SIZE | HAS_CONTENT)))
		p->size = left * 8;
	else if (!(p->has & HAS_SIZE))
		p->size = bits_align(p->content, 8);
	if (!(p->has & HAS_CONTENT))
		p->content = p->size;
	if (may_grow(s) && (p->size / 8 > left || (p->has & HAS_SIZE && !p->size)))
		return not_yet(s);
	if (p->size & 7 || p->content > p->size || p->content < p->first_event || !p->size)
		return unusable(s, "the sizes in the packet's context contradict each other");
	s->packet_bytes = p->size / 8;
	s->content_end = p->content;
	s->cut_off = p->content > left * 8;
	if (s->packet_bytes <= left)
		return 0;
	if (s->cut_off) {
		s->content_end = left * 8;
		if (!s->quiet)
			reader_warn(s->reader,
				    "%s: byte %llu: the last packet is cut off: %llu of %llu "
				    "bytes exist; their events are read",
				    s->file[s->file_index].path,
				    (unsigned long long)s->packet_offset, (unsigned long long)left,
				    (unsigned long long)s->packet_bytes);
	}
	s->packet_bytes = left;
	return 0;
}

void packet_forget(struct ctf_stream *s)
{
	s->context.trace = s->info.trace;
	s->context.stream = s->index;
	s->context.vpid = s->context.vtid = 0;
	s->context.cpu = -1;
	s->context.init_ns = 0;
	s->context.procname = "";
	memset(s->packet_value, 0, sizeof s->packet_value);
	s->context_out.event = &s->context;
}

bool packet_keep_head(struct ctf_stream *s, const uint8_t *bytes, uint64_t bits)
{
	size_t size = (size_t)(bits_align(bits, 8) / 8);

	if (!ARRAY_FIT(s->head_bytes, size, s->head_capacity))
		return false;
	if (size)
		memcpy(s->head_bytes, bytes, size);
	s->head_number = __atomic_add_fetch(&s->reader->heads, 1, __ATOMIC_RELAXED);
	return true;
}

/*
 * No clock shows 292 years. Such times come from a writer that computed below zero; without them
 * the packet's events are read, and the times of the stream stay right.
 */
static void check_times(struct ctf_stream *s, struct packet *p)
{
	const uint32_t times = HAS_BEGIN | HAS_END;

	if (!(p->has & times) ||
	    (clock_to_ns(s->class, p->has & HAS_BEGIN ? p->begin : 0) <= INT64_MAX &&
	     clock_to_ns(s->class, p->has & HAS_END ? p->end : 0) <= INT64_MAX))
		return;
	p->has &= ~times;
	if (!s->quiet)
		reader_warn(
			s->reader,
			"%s: byte %llu: the times of this packet are damaged (beyond 292 years)",
			s->file[s->file_index].path, (unsigned long long)s->packet_offset);
}

int packet_open(struct ctf_stream *s)
{
	struct ctf_trace *trace = s->reader->trace[s->info.trace];
	struct gather g = { .stream = s };
	uint64_t pos = 0;
	int result;

	packet_forget(s);
	if (trace->packet_header && read_scope(s, &g, trace->packet_header, &pos))
		return may_grow(s) ? not_yet(s) : unusable(s, "the packet's header is cut off");
	result = check_header(s, trace, &g.packet);
	if (result)
		return result;
	g.packet.context_begin = pos;
	if (s->class->packet_context && read_scope(s, &g, s->class->packet_context, &pos))
		return may_grow(s) ? not_yet(s) : unusable(s, "the packet's context is cut off or makes no sense");
	g.packet.first_event = pos;
	if (!packet_keep_head(s, s->window.bytes + (s->packet_offset - s->window.offset), pos))
		return unusable(s, "out of memory");
	s->packet = g.packet;
	check_times(s, &s->packet);
	return check_sizes(s, &s->packet);
}
