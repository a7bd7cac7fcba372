/* SPDX-License-Identifier: Apache-2.0 */
/* What the handles in an event are about; see concern_about.h. */
#include "analysis/model/concern/concern_about.h"

#include <string.h>

#include "base/array.h"

/* Fields that name objects. For "handle" of rclcpp_executor_execute, several kinds are tried. */
static const struct {
	const char *field;
	enum handle kind;
} fields[] = {
	{ "callback", HANDLE_CALLBACK },
	{ "publisher_handle", HANDLE_PUBLISHER },
	{ "rmw_publisher_handle", HANDLE_RMW_PUBLISHER },
	{ "subscription_handle", HANDLE_SUBSCRIPTION },
	{ "rmw_subscription_handle", HANDLE_RMW_SUBSCRIPTION },
	{ "subscription", HANDLE_SUBSCRIPTION_OBJECT },
	{ "timer_handle", HANDLE_TIMER },
	{ "service_handle", HANDLE_SERVICE },
	{ "rmw_service_handle", HANDLE_RMW_SERVICE },
	{ "client_handle", HANDLE_CLIENT },
	{ "rmw_client_handle", HANDLE_RMW_CLIENT },
	{ "state_machine", HANDLE_STATE_MACHINE },
	{ "buffer", HANDLE_BUFFER },
	{ "ipb", HANDLE_IPB },
	{ "node_handle", HANDLE_NODE },
	{ "subs", HANDLE_SUBSCRIPTION },
	{ "pubs", HANDLE_PUBLISHER },
	{ "handle", HANDLE_TIMER },
	{ "handle", HANDLE_SUBSCRIPTION },
};

static bool is_one_address(const struct concern_names *names, const struct kymo_point *point)
{
	for (unsigned i = 0; i < names->count; i++)
		if (names->at[i].field != names->at[0].field ||
		    point->field[names->at[i].field].kind != KYMO_KIND_PTR)
			return false;
	return names->count > 0;
}

void concern_find_names(struct concern_names names[KYMO_POINTS_TABLE])
{
	for (unsigned p = 0; p < KYMO_POINTS_TABLE; p++) {
		for (unsigned i = 0; i < kymo_points[p].field_count && i < KYMO_CTF_BIND_FIELDS;
		     i++)
			for (size_t k = 0; k < COUNT_OF(fields); k++) {
				if (strcmp(fields[k].field, kymo_points[p].field[i].name) != 0 ||
				    names[p].count == KYMO_CTF_BIND_FIELDS)
					continue;
				names[p].at[names[p].count].field = (uint8_t)i;
				names[p].at[names[p].count++].kind = (uint8_t)fields[k].kind;
			}
		names[p].is_one = is_one_address(&names[p], &kymo_points[p]);
	}
}

struct concern_about concern_about_subscription(const struct model_subscription *subscription)
{
	if (!subscription)
		return (struct concern_about){ NULL, NULL };
	return (struct concern_about){ subscription->node, subscription->topic };
}

static struct concern_about about_callback(const struct model_callback *callback)
{
	struct concern_about about = concern_about_subscription(callback->subscription);

	about.node = model_callback_node(callback);
	return about;
}

struct concern_about concern_about_object(enum handle kind, const void *object)
{
	const struct subscription_object *subscription = object;

	switch (kind) {
	case HANDLE_CALLBACK:
		return about_callback(object);
	case HANDLE_PUBLISHER:
	case HANDLE_RMW_PUBLISHER:
		return (struct concern_about){ ((const struct model_publisher *)object)->node,
					       ((const struct model_publisher *)object)->topic };
	case HANDLE_SUBSCRIPTION:
	case HANDLE_RMW_SUBSCRIPTION:
		return concern_about_subscription(object);
	case HANDLE_BUFFER:
	case HANDLE_IPB:
		subscription = ((const struct buffer *)object)->object;
		/* fall through */
	case HANDLE_SUBSCRIPTION_OBJECT:
		return concern_about_subscription(subscription ? subscription->pub.subscription
							       : NULL);
	case HANDLE_TIMER:
		return (struct concern_about){ ((const struct model_timer *)object)->node, NULL };
	case HANDLE_SERVICE:
	case HANDLE_RMW_SERVICE:
	case HANDLE_CLIENT:
	case HANDLE_RMW_CLIENT:
		return (struct concern_about){ ((const struct model_service *)object)->node, NULL };
	case HANDLE_STATE_MACHINE:
		return (struct concern_about){ ((const struct model_state_machine *)object)->node,
					       NULL };
	case HANDLE_NODE:
		return (struct concern_about){ object, NULL };
	default:
		return (struct concern_about){ NULL, NULL };
	}
}
