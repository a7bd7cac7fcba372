/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the handles in an event are about: a field names an object, by its address, and the object
 * belongs to a node and a topic.
 */
#ifndef KYMO_ANALYSIS_CONCERN_ABOUT_H
#define KYMO_ANALYSIS_CONCERN_ABOUT_H

#include "analysis/model/model_internal.h"

/* The fields of an event that name objects. */
struct concern_names {
	uint8_t count;
	bool is_one; /* all are the same field, an address */
	struct {
		uint8_t field, kind;
	} at[KYMO_CTF_BIND_FIELDS];
};

/* The fields that name objects, for each tracepoint. */
void concern_find_names(struct concern_names names[KYMO_POINTS_TABLE]);

/* NULL: none, or not known. */
struct concern_about {
	const struct model_node *node;
	const struct model_topic *topic;
};

/* @object: of this kind, as in the model's handles. */
struct concern_about concern_about_object(enum handle kind, const void *object);
/* @subscription: may be NULL. */
struct concern_about concern_about_subscription(const struct model_subscription *subscription);

#endif
