/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves out of a ring's records what is not wanted and was written all the same. */
#include <string.h>

#include "recorder/filter/filter_internal.h"
#include "recorder/records/record_walk.h"

/* The object and the message that a record is about. */
struct about {
	uint64_t object, message;	/* 0: it has none */
};

/* The first pointer that is not a message, and the message: as the hooks do it. */
static struct about about(const struct kymo_point *point, const uint8_t *payload)
{
	struct about about = { 0 };
	size_t at = 0;

	for (unsigned i = 0; i < point->field_count && point->field[i].kind == KYMO_KIND_PTR; i++, at += 8) {
		uint64_t *to = strcmp(point->field[i].name, "message") == 0 ? &about.message : &about.object;

		if (!*to)
			memcpy(to, payload + at, sizeof *to);
	}
	return about;
}

static bool is_publish(unsigned id)
{
	return id == KYMO_POINT_rcl_publish || id == KYMO_POINT_rclcpp_intra_publish;
}

static bool object_wanted(struct filter_process *mine, uint64_t address, uint64_t ns)
{
	struct filter_object *object = filter_object(mine, address);

	if (!object)
		return true;
	if (ns < object->since_ns)
		return object->wanted_before;
	if (!object->wanted)		/* the process did not leave it out: it saw a new object there */
		filter_requeue(mine, object);
	return object->wanted;
}

/* A position in records that may be invalid. */
struct walker {
	const struct classes *classes;
	const uint8_t *at;
	size_t left;
	/* of the record at `at` */
	const struct kymo_point *point;
	uint16_t id;
	uint64_t ns;
	size_t size;
};

/* Return: false: no valid record is there. */
static bool read_record(struct walker *walker)
{
	long payload;

	if (walker->left < KYMO_RECORD_HEADER)
		return false;
	memcpy(&walker->id, walker->at, sizeof walker->id);
	memcpy(&walker->ns, walker->at + sizeof walker->id, sizeof walker->ns);
	walker->point = classes_get(walker->classes, walker->id);
	payload = walk_payload(walker->classes, walker->id, walker->at + KYMO_RECORD_HEADER,
			       walker->left - KYMO_RECORD_HEADER);
	walker->size = KYMO_RECORD_HEADER + (size_t)payload;
	return payload >= 0;
}

static void next_record(struct walker *walker)
{
	walker->at += walker->size;
	walker->left -= walker->size;
}

/* The next record says which publisher sends @message. @walker is a copy. */
static bool publish_wanted(struct filter_process *mine, struct walker walker, uint64_t message)
{
	struct about next;

	next_record(&walker);
	if (!read_record(&walker) || !is_publish(walker.id))
		return true;
	next = about(walker.point, walker.at + KYMO_RECORD_HEADER);
	return next.message != message || object_wanted(mine, next.object, walker.ns);
}

static bool record_wanted(struct filter_process *mine, uint64_t *left_out_message, const struct walker *walker)
{
	struct about what;
	bool wanted;

	if (mine->enable[walker->id] == KYMO_ENABLE_NO)
		return false;
	if (!mine->objects || walker->id >= KYMO_POINTS_TABLE)
		return true;
	what = about(walker->point, walker->at + KYMO_RECORD_HEADER);
	if (!what.object && !what.message)
		return true;
	if (walker->id == KYMO_POINT_rclcpp_publish)
		return publish_wanted(mine, *walker, what.message);
	if (!what.object)
		return what.message != *left_out_message;
	wanted = object_wanted(mine, what.object, walker->ns);
	if (what.message)
		*left_out_message = wanted ? 0 : what.message;
	return wanted;
}

static bool keeps_all(const struct filter_process *mine)
{
	return mine->wanted && !mine->objects && !mine->events;
}

bool filter_leaves_out(const struct filter_process *mine)
{
	return mine && !keeps_all(mine);
}

bool filter_begin(struct filter_process *mine)
{
	if (!filter_leaves_out(mine))
		return false;
	if (mine->declared != mine->process.classes->count)
		filter_decide_events(mine);
	return true;
}

bool filter_record(struct filter_process *mine, uint64_t *left_out_message, const struct filter_one *one)
{
	const struct walker walker = {
		.classes = mine->process.classes, .at = one->at, .left = one->left,
		.point = classes_get(mine->process.classes, one->id), .id = one->id, .ns = one->ns, .size = one->size,
	};

	return mine->wanted && record_wanted(mine, left_out_message, &walker);
}

uint32_t filter_span(struct filter_process *mine, uint64_t *left_out_message, uint8_t *scratch, struct filter_span *span)
{
	struct walker walker = { .at = scratch, .left = span->size };
	uint32_t dropped = 0, walked = 0;
	uint8_t *to = scratch;

	if (!filter_begin(mine))
		return 0;
	if (!mine->wanted) {
		dropped = span->records;
		*span = (struct filter_span){ .bytes = scratch };
		return dropped;
	}
	walker.classes = mine->process.classes;
	if (span->bytes != scratch)
		memcpy(scratch, span->bytes, span->size);	/* what is judged must not change meanwhile */
	while (walked < span->records && read_record(&walker)) {
		const uint8_t *from = walker.at;

		walked++;
		if (record_wanted(mine, left_out_message, &walker)) {
			if (to != from)
				memmove(to, from, walker.size);
			to += walker.size;
		} else {
			dropped++;
		}
		next_record(&walker);
	}
	if (to != walker.at)
		memmove(to, walker.at, walker.left);	/* bytes that cannot be read stay, for readers of the trace */
	*span = (struct filter_span){ scratch, (size_t)(to - scratch) + walker.left, span->records - dropped };
	return dropped;
}
