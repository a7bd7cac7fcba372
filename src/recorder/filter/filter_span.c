/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves out of a ring's records what is not wanted and was written all the same. */
#include <string.h>

#include "recorder/filter/filter_internal.h"
#include "recorder/records/record_walk.h"

/* The object and the message that a record is about. */
struct about {
	uint64_t object, message;	/* 0: it has none */
};

/* Of an event of the table: the first pointer that is not a message, and the message. */
static struct about about(const struct filter_one *one)
{
	const struct kymo_point *point = &kymo_points[one->id];
	const uint8_t *payload = one->at + KYMO_RECORD_HEADER;
	struct about about = { 0 };
	size_t at = 0;

	for (unsigned i = 0; i < point->field_count && point->field[i].kind == KYMO_KIND_PTR;
	     i++, at += 8) {
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
	if (!object->wanted) /* the process did not leave it out: it saw a new object there */
		filter_requeue(mine, object);
	return object->wanted;
}

/* Reads the record at one->at. Return: false: no valid record is there. */
static bool read_record(const struct filter_process *mine, struct filter_one *one)
{
	struct walk_record record;

	if (!walk_record(mine->process.classes, one->at, one->left, &record))
		return false;
	one->size = record.size;
	one->ns = record.ns;
	one->id = record.id;
	return true;
}

static void next_record(struct filter_one *one)
{
	one->at += one->size;
	one->left -= one->size;
}

/* The next record says which publisher sends @message. @one is a copy. */
static bool publish_wanted(struct filter_process *mine, struct filter_one one, uint64_t message)
{
	struct about next;

	next_record(&one);
	if (!read_record(mine, &one) || !is_publish(one.id))
		return true;
	next = about(&one);
	return next.message != message || object_wanted(mine, next.object, one.ns);
}

static bool record_wanted(struct filter_process *mine, uint64_t *left_out_message,
			  const struct filter_one *one)
{
	struct about what;
	bool wanted;

	if (mine->enable[one->id] == KYMO_ENABLE_NO)
		return false;
	if (!mine->objects || one->id >= KYMO_POINTS_TABLE)
		return true;
	what = about(one);
	if (!what.object && !what.message)
		return true;
	if (one->id == KYMO_POINT_rclcpp_publish)
		return publish_wanted(mine, *one, what.message);
	if (!what.object)
		return what.message != *left_out_message;
	wanted = object_wanted(mine, what.object, one->ns);
	if (what.message)
		*left_out_message = wanted ? 0 : what.message;
	return wanted;
}

bool filter_leaves_out(const struct filter_process *mine)
{
	return mine && (!mine->wanted || mine->objects || mine->events);
}

bool filter_begin(struct filter_process *mine)
{
	if (!filter_leaves_out(mine))
		return false;
	if (mine->declared != mine->process.classes->count)
		filter_decide_events(mine);
	return true;
}

bool filter_record(struct filter_process *mine, uint64_t *left_out_message,
		   const struct filter_one *one)
{
	return mine->wanted && record_wanted(mine, left_out_message, one);
}

uint32_t filter_span(struct filter_process *mine, uint64_t *left_out_message, uint8_t *scratch,
		     struct filter_span *span)
{
	struct filter_one one = {.at = scratch, .left = span->size};
	uint32_t dropped = 0, walked = 0;
	uint8_t *to = scratch;

	if (!filter_begin(mine))
		return 0;
	if (!mine->wanted) {
		dropped = span->records;
		*span = (struct filter_span){ .bytes = scratch };
		return dropped;
	}
	if (span->bytes != scratch)
		memcpy(scratch, span->bytes,
		       span->size); /* what is judged must not change meanwhile */
	while (walked < span->records && read_record(mine, &one)) {
		const uint8_t *from = one.at;

		walked++;
		if (record_wanted(mine, left_out_message, &one)) {
			if (to != from)
				memmove(to, from, one.size);
			to += one.size;
		} else {
			dropped++;
		}
		next_record(&one);
	}
	if (to != one.at)
		memmove(to, one.at, one.left); /* bytes that cannot be read stay for readers */
	*span = (struct filter_span){scratch, (size_t)(to - scratch) + one.left,
				     span->records - dropped};
	return dropped;
}
