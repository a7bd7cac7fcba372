/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages in memory of the middleware, which the publisher borrows and the subscription takes as
 * it is. Up to Iron no tracepoint reports that such a message is published, and none reports that
 * it is taken. The hooks record what the tracepoints of other messages record:
 *
 *   rcl_publish_loaned_message()              ──▶  rcl_publish (ros2_serialized.c)
 *       rmw_publish_loaned_message()          ──▶  rmw_publish, and when it is written (ros2_dds.c)
 *
 *   rmw_take_loaned_message_with_info()       ──▶  rmw_take
 *
 * Context: as kymo__reserve().
 */
#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_libraries.h"

__thread bool kymo_take_told;

void kymo_loaned_published(struct kymo_call *call)
{
	kymo_message_published(call);
	kymo_bytes_written((const void *)call->first);
}

void kymo_loaned_takes(struct kymo_call *call)
{
	(void)call;
	kymo_take_told = false;
}

/* rmw_message_info_t begins with the source timestamp. */
void kymo_loaned_taken_at(struct kymo_call *call)
{
	const void *const *loaned = (const void *const *)call->first;
	const bool *taken = (const bool *)call->second;
	const int64_t *source_ns = (const int64_t *)call->third;

	if (!kymo_take_told && !(int32_t)call->result && loaned && taken)
		KYMO_RECORD(rmw_take, (const void *)call->self, *taken ? *loaned : NULL,
			    *taken && source_ns ? *source_ns : 0, *taken);
	kymo_loaned_taken(call);
}
