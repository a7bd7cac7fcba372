/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the filter share. Not for others.
 *
 * Context of all functions: as filter.h.
 */
#ifndef KYMO_RECORDER_FILTER_INTERNAL_H
#define KYMO_RECORDER_FILTER_INTERNAL_H

#include "abi/points.h"
#include "abi/region.h"
#include "base/map.h"
#include "base/pool.h"
#include "recorder/filter/filter.h"
#include "recorder/records/classes.h"
#include "recorder/runtime/region_view.h"

struct filter {
	const struct filter_regex *regex;
	struct filter_rules rules;
	struct filter_caret *caret;	/* for all; NULL: none */
	unsigned generation;		/* grows with every change of the two */
};

/* A name of nodes or topics, and what the rules say about it. */
struct filter_name {
	struct filter_name *next;	/* with the same hash */
	unsigned generation;		/* of the rules by which the next four were decided */
	bool node, topic;		/* wanted as such */
	unsigned all_node, all_topic;	/* as caret_..., of the lists for all */
	bool caret_known;
	unsigned caret_node, caret_topic;
	char text[];
};

/*
 * The object at an address. Some objects belong to another one (a callback to a timer, a buffer to
 * a subscription). Where the other one is not known yet, the object waits for it, and is wanted
 * meanwhile.
 */
struct filter_object {
	uint64_t address;
	uint64_t since_ns;		/* when this object was created */
	struct filter_name *node, *topic;	/* NULL: not known, has none */
	struct filter_object *waiting;	/* the first that waits for this one */
	struct filter_object *next_waiting, **waits_in;
	struct filter_object *next_queued;
	unsigned made;              /* init events that had this address */
	unsigned proposed;          /* `made` when it was proposed to be left out */
	bool known;                 /* node and topic are final */
	bool is_service;            /* topic is the name of a service */
	bool wanted, wanted_before; /* the second: of the object that was at this address before
				       since_ns */
	bool queued;                /* in one of the two lists of the process */
};

struct filter_process {
	struct filter *filter;
	struct filter_subject process;
	struct filter_rules own;	/* $KYMO_FILTER of the program */
	struct filter_caret *caret;	/* NULL: no CARET_... of the program */
	unsigned generation;		/* of the rules by which the next ones were decided */
	bool wanted;
	bool events;       /* some classes may be left out */
	bool objects;      /* some objects may be left out */
	bool looks_up;     /* `objects` was true before: rclcpp_publish may be on hold */
	uint8_t *enable;   /* [KYMO_POINTS_MAX] as decided, enum kymo_enable */
	unsigned declared; /* classes of its own when that was decided */
	struct map object, name;
	struct pool pool;		/* of both */
	struct filter_object *queue;	/* for filter_propose() */
	struct filter_object *proposed;	/* for filter_confirm() */
};

/** filter_decide_events() - which event classes are wanted, now that it has declared more. */
void filter_decide_events(struct filter_process *mine);

/** filter_want() - whether the rules for all and those of the program want it; as
 * filter_rules_want(). */
static inline bool filter_want(const struct filter_process *mine, enum filter_kind kind,
			       const char *name, const char *other)
{
	return filter_rules_want(&mine->filter->rules, kind, name, other) &&
	       filter_rules_want(&mine->own, kind, name, other);
}

/** filter_decide() - whether the rules want it, and queue it if the region has to know. */
void filter_decide(struct filter_process *mine, struct filter_object *object);

/** filter_object() - the object at @address; NULL: none is known. */
static inline struct filter_object *filter_object(const struct filter_process *mine,
						  uint64_t address)
{
	return map_get(&mine->object, address, 0);
}

/** filter_requeue() - filter_propose() decides about it. */
static inline void filter_requeue(struct filter_process *mine, struct filter_object *object)
{
	if (object->queued)
		return;
	object->queued = true;
	object->next_queued = mine->queue;
	mine->queue = object;
}

/** filter_read_environment() - the rules in the environment of the program. */
void filter_read_environment(struct filter_process *mine, const struct sayer *sayer);

#endif
