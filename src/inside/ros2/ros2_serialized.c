/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that are published and taken as bytes, by generic publishers and subscriptions, as
 * `ros2 bag` has them. Up to Iron, no tracepoint reports them. The hooks record what the
 * tracepoints of Jazzy record, with the same names and fields:
 *
 *   rcl_publish_serialized_message()            ──▶  rcl_publish
 *       rmw_publish_serialized_message()        ──▶  rmw_publish, and when it is written (ros2_dds.c)
 *
 *   Executor::execute_subscription()
 *       rmw_take_serialized_message_with_info() ──▶  rmw_take, callback_start
 *       handle_serialized_message()                  the user's code
 *   return                                      ──▶  callback_end
 *
 * A subscription of a known type that takes bytes reports its callback itself. A
 * GenericSubscription does not: its callback has the address of the GenericSubscription in the
 * trace. Jazzy and later report all of this, and the hooks record nothing.
 *
 * Context: as kymo__reserve() for runtime events, kymo__log_reserve() for facts.
 */
#include <stdlib.h>

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_late.h"
#include "inside/ros2/ros2_libraries.h"
#include "inside/ros2/ros2_symbols.h"

static __thread struct {
	const void *takes; /* SubscriptionBase of the execute_subscription() that has not yet taken
			      a message; NULL: none */
	const void *runs;  /* GenericSubscription whose callback runs; NULL: none */
} here;

static bool distribution_tells(void)
{
	kymo_tracetools_known();
	return kymo_tracetools.version >= KYMO_V(8, 0);
}

static const void *pointee(uintptr_t smart_pointer)
{
	return smart_pointer ? *(const void *const *)smart_pointer : NULL;
}

/* ---- publishing ---- */

void kymo_bytes_published(struct kymo_call *call)
{
	if (!distribution_tells())
		KYMO_RECORD(rcl_publish, (const void *)call->self, (const void *)call->first);
}

void kymo_bytes_written(const void *message)
{
	/* The recorder switches both shapes of rmw_publish together. */
	const uint8_t wanted = kymo_enable_byte(KYMO_POINT_rmw_publish);

	if (!wanted || distribution_tells() ||
	    (wanted != KYMO_ENABLE_YES && kymo_left_out_rmw_publish_message(message)))
		return;
	kymo_emit_rmw_publish_message(message);
	kymo_message_written = message;
}

/* ---- taking ---- */

/* rmw_message_info_t begins with the source timestamp. */
void kymo_bytes_taken(struct kymo_call *call)
{
	const void *message = (const void *)call->first, *subscription = here.takes;
	const bool *taken = (const bool *)call->second;
	const int64_t *source_ns = (const int64_t *)call->third;

	here.takes = NULL;
	if ((int32_t)call->result || !taken || distribution_tells()) {
		kymo_serialized_taken(call);
		return;
	}
	KYMO_RECORD(rmw_take, (const void *)call->self, message,
		    *taken && source_ns ? *source_ns : 0, *taken);
	kymo_serialized_taken(call);
	if (!*taken || !subscription || !kymo_is_generic(subscription))
		return;
	kymo_late_starts((uintptr_t)subscription, call->caller);
	KYMO_RECORD(callback_start, subscription, false);
	here.runs = subscription;
}

/* ---- the callback of a GenericSubscription ---- */

/* A subscription that is added to its group was just made. */
void kymo_generic_to_group(struct kymo_call *call)
{
	static void *known;
	const void *its = pointee(call->first), *handle;
	char *symbol;

	if (!its || distribution_tells() || !kymo_may_be_generic(its))
		return;
	handle = kymo_handle_of(&known, "_ZN6rclcpp16SubscriptionBase23get_subscription_handleEv",
				call->first, call->caller);
	if (!handle)
		return;
	kymo_emit_rclcpp_subscription_init(handle, its);
	kymo_emit_rclcpp_subscription_callback_added(its, its);
	symbol = kymo_generic_symbol(its, call->caller);
	if (symbol)
		kymo_emit_rclcpp_callback_register(its, symbol);
	free(symbol);
}

/* User code in the callback may spin an executor, and so execute another subscription. */
void kymo_subscription_executes(struct kymo_call *call)
{
	call->kept[0] = (uintptr_t)here.takes;
	call->kept[1] = (uintptr_t)here.runs;
	here.takes = pointee(call->self);
	here.runs = NULL;
}

void kymo_subscription_executed(struct kymo_call *call)
{
	if (here.runs) {
		KYMO_RECORD(callback_end, here.runs);
		kymo_late_ends();
	}
	here.takes = (const void *)call->kept[0];
	here.runs = (const void *)call->kept[1];
}
