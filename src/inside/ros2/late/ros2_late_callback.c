/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A callback that runs belongs to what the executor took from just before. In rclcpp, the callback
 * is a member of the object, at the same place in all objects of one kind:
 *
 *     rclcpp::WallTimer<F>          │ TimerBase        │ F callback_                   │
 *     rclcpp::Subscription<M, A>    │ SubscriptionBase │ AnySubscriptionCallback<M, A> │
 *
 * So the first callback that runs shows where the others of its kind are that have not run yet. The
 * kinds are told apart by the name of the class: a class of the user derived from TimerBase may
 * look different. A service that nobody ever calls shows it by its function object, if another
 * service has one at the same place.
 */
#include "inside/ros2/late/ros2_late_callback.h"

#include <stdlib.h>
#include <string.h>

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/late/ros2_late_ask.h"
#include "inside/ros2/late/ros2_late_cxx.h"
#include "inside/tracer/tracer_calm.h"

#define OBJECT_MAX 4096u /* bytes of an object that are before its callback */

/* The kinds of objects that have a callback. */
enum place { OF_SUBSCRIPTION, OF_TIMER, OF_SERVICE, OF_WITHIN, PLACES };

static uint32_t place[PLACES]; /* of the callback in the object; 0: not known */
static uint32_t guess;         /* of a service's callback */
static const void *guess_of;   /* the service */
static unsigned generation;

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static enum place kind_of_class(const void *object)
{
	const char *its = kymo_cxx_class(object);

	if (begins(its, "N6rclcpp12SubscriptionI"))
		return OF_SUBSCRIPTION;
	if (begins(its, "N6rclcpp9WallTimerI") || begins(its, "N6rclcpp12GenericTimerI"))
		return OF_TIMER;
	if (begins(its, "N6rclcpp7ServiceI"))
		return OF_SERVICE;
	if (begins(its, "N6rclcpp12experimental24SubscriptionIntraProcessI"))
		return OF_WITHIN;
	return PLACES;
}

bool kymo_late_is_within(const void *waitable)
{
	return kind_of_class(waitable) == OF_WITHIN;
}

unsigned kymo_late_places(void)
{
	return __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
}

void kymo_late_forget_places(void)
{
	memset(place, 0, sizeof place);
	guess = 0;
	guess_of = NULL;
}

/* rclcpp's object of @owner; NULL: not known. */
static const void *object_of(const struct kymo_seen *owner)
{
	return kymo_seen_kind(owner) == SEEN_WITHIN ? (const void *)owner->address : owner->object;
}

/* The node of @owner; of SEEN_WITHIN: of its subscription. */
static const void *node_of(const struct kymo_seen *owner)
{
	const struct kymo_seen *its = kymo_seen_kind(owner) == SEEN_WITHIN ?
					      kymo_seen_find((uintptr_t)owner->object) :
					      owner;

	return its ? __atomic_load_n(&its->node, __ATOMIC_ACQUIRE) : NULL;
}

static void tell_owner(const struct kymo_seen *owner, struct kymo_seen *callback, const char *how)
{
	const uintptr_t address = callback->address;
	const void *handle = (const void *)owner->address, *its = (const void *)address;
	const void *object = object_of(owner) ? object_of(owner) : its;

	__atomic_store_n(&callback->node, node_of(owner), __ATOMIC_RELEASE);
	switch (kymo_seen_kind(owner)) {
	case SEEN_TIMER:
		kymo_emit_rclcpp_timer_callback_added(handle, its);
		kymo_late_won(address, "rclcpp_timer_callback_added", how);
		break;
	case SEEN_SERVICE:
		kymo_emit_rclcpp_service_callback_added(handle, its);
		kymo_late_won(address, "rclcpp_service_callback_added", how);
		break;
	case SEEN_WITHIN:
		handle = owner->object;
		/* fallthrough */
	case SEEN_SUBSCRIPTION:
		kymo_emit_rclcpp_subscription_init(handle, object);
		kymo_emit_rclcpp_subscription_callback_added(object, its);
		kymo_late_won(address, "rclcpp_subscription_callback_added", how);
		break;
	default:
		break;
	}
}

static void tell_symbol(enum place kind, const void *object, uintptr_t address, const void *caller)
{
	const void *callback = (const void *)address;
	char *symbol = kind == OF_TIMER ? kymo_cxx_timer_symbol(object, callback, caller)
					: kymo_cxx_symbol(callback, caller);

	if (symbol) {
		kymo_emit_rclcpp_callback_register(callback, symbol);
		kymo_late_won(address, "rclcpp_callback_register", KYMO_BY_TYPE);
	}
	free(symbol);
}

static void learn(enum place kind, uintptr_t its)
{
	if (!__atomic_exchange_n(&place[kind], (uint32_t)its, __ATOMIC_RELAXED))
		(void)__atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
}

/* Two services that have their first function object at the same place have their callback there:
 * what ServiceBase has is not set, unless the user sets it, and then not in all services. */
static void guess_service(const void *service)
{
	const void *other = __atomic_exchange_n(&guess_of, service, __ATOMIC_RELAXED);
	const uint32_t its = (uint32_t)kymo_cxx_first_function(service);

	if (__atomic_exchange_n(&guess, its, __ATOMIC_RELAXED) == its && its && other != service)
		learn(OF_SERVICE, its);
}

void kymo_late_begins(struct kymo_seen *owner, uintptr_t address, const void *caller)
{
	struct kymo_seen *seen = kymo_seen_add(address, SEEN_CALLBACK);
	const void *object = object_of(owner);
	const uintptr_t its = address - (uintptr_t)object;
	enum place kind;

	if (!seen || !kymo_seen_take(seen))
		return;
	tell_owner(owner, seen, KYMO_BY_ORDER);
	kind = object && its < OBJECT_MAX ? kind_of_class(object) : PLACES;
	if (kind == PLACES)
		return;
	tell_symbol(kind, object, address, caller);
	learn(kind, its);
}

void kymo_late_silent(struct kymo_seen *owner, const void *caller)
{
	const void *object = object_of(owner);
	const enum place kind = object ? kind_of_class(object) : PLACES;
	const uint32_t its = kind < PLACES ? __atomic_load_n(&place[kind], __ATOMIC_RELAXED) : 0;
	struct kymo_seen *seen;

	if (kind == OF_SERVICE && !its)
		guess_service(object);
	if (!its)
		return;
	seen = kymo_seen_add((uintptr_t)object + its, SEEN_CALLBACK);
	if (!seen || !kymo_seen_take(seen))
		return;
	tell_owner(owner, seen, KYMO_BY_PLACE);
	tell_symbol(kind, object, seen->address, caller);
}

/* ---- ring buffers ---- */

/*
 * A subscription that gets messages within the process has a buffer, which has the ring buffer:
 *
 *     SubscriptionIntraProcess: .. buffer ..  ──▶  TypedIntraProcessBuffer: .. ring buffer ..
 *
 * Where these words are differs between versions and types. So the object is found whose words lead
 * to the address of the ring buffer in this way.
 */
#define OWNER_WORDS 64u /* of a subscription that are looked at */
#define BUFFER_WORDS 8u /* of a buffer */

static uintptr_t owners; /* how often kymo_late_buffers_again() was called */

struct search {
	uintptr_t buffer, between; /* between: the buffer that has the ring buffer */
	struct kymo_seen *owner;
};

void kymo_late_buffers_again(void)
{
	(void)__atomic_fetch_add(&owners, 1, __ATOMIC_RELEASE);
}

static bool leads_to(uintptr_t from, uintptr_t buffer)
{
	uintptr_t word[BUFFER_WORDS];
	const unsigned count = kymo_cxx_may_point(from) ?
				       kymo_cxx_read_some((const void *)from, word, BUFFER_WORDS) :
				       0;

	for (unsigned i = 0; i < count; i++)
		if (word[i] == buffer)
			return true;
	return false;
}

static void look_into(struct kymo_seen *seen, void *context)
{
	struct search *search = context;
	uintptr_t word[OWNER_WORDS];
	const unsigned count =
		search->owner ? 0
			      : kymo_cxx_read_some((const void *)seen->address, word, OWNER_WORDS);

	for (unsigned i = 0; i < count; i++)
		if (leads_to(word[i], search->buffer)) {
			search->owner = seen;
			search->between = word[i];
			return;
		}
}

static void tell_buffer(const struct search *search)
{
	const void *between = (const void *)search->between;

	kymo_emit_rclcpp_buffer_to_ipb((const void *)search->buffer, between);
	kymo_late_won(search->buffer, "rclcpp_buffer_to_ipb", KYMO_BY_BUFFER);
	kymo_emit_rclcpp_ipb_to_subscription(between, (const void *)search->owner->address);
	kymo_late_won(search->between, "rclcpp_ipb_to_subscription", KYMO_BY_BUFFER);
}

static void find_owner(struct kymo_seen *seen)
{
	struct search search = { .buffer = seen->address };
	struct kymo_calm calm;

	kymo_calm_begin(&calm);
	kymo_seen_each(SEEN_WITHIN, look_into, &search);
	if (search.owner && kymo_seen_take(seen)) {
		tell_buffer(&search);
		__atomic_store_n(&seen->object, (const void *)search.owner->address,
				 __ATOMIC_RELEASE);
	}
	kymo_calm_end(&calm);
}

struct kymo_seen *kymo_late_buffer_owner(uintptr_t buffer)
{
	const void *now = (const void *)(__atomic_load_n(&owners, __ATOMIC_ACQUIRE) + 1);
	struct kymo_seen *seen = kymo_seen_add(buffer, SEEN_BUFFER), *owner;

	if (!seen)
		return NULL;
	if (!seen->object && __atomic_exchange_n(&seen->node, now, __ATOMIC_RELAXED) != now)
		find_owner(seen);
	owner = kymo_seen_find((uintptr_t)__atomic_load_n(&seen->object, __ATOMIC_ACQUIRE));
	return owner && kymo_seen_kind(owner) == SEEN_WITHIN ? owner : NULL;
}
