/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of chains: '/lidar -> /planner:/odom -> /cmd_vel'. An element is a node, a topic or
 * NODE:TOPIC, each a glob. A step of a path matches when
 *   callback of node N, called with topic T:  N, or N:T
 *   message of node N on topic T:             T, or N:T
 *
 * Elements are matched in order, each to the earliest possible step; other steps may be between two
 * matched steps.
 */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/chains/chains_internal.h"
#include "base/text.h"

static bool element_matches(const struct element *element, const struct model_node *node,
			    const struct model_topic *topic, bool is_callback)
{
	if (element->plain)
		return is_callback ? node && text_ros_glob(element->node, node->full_name) :
				     topic && text_ros_glob(element->topic, topic->name);
	return node && topic && text_ros_glob(element->node, node->full_name) &&
	       text_ros_glob(element->topic, topic->name);
}

bool chains_pattern_matches(struct chains *chains, unsigned element,
			    const struct model_callback *callback,
			    const struct model_publisher *publisher)
{
	const struct model_subscription *subscription = callback ? callback->subscription : NULL;

	if (element >= chains->elements)
		return false;
	if (publisher)
		return element_matches(&chains->element[element], publisher->node,
				       publisher->topic, false);
	return element_matches(&chains->element[element], model_callback_node(callback),
			       subscription ? subscription->topic : NULL, true);
}

/* @text: without surrounding blanks. Return: false: out of memory. */
static bool element_set(struct element *element, const char *text, size_t length)
{
	char *colon;

	element->text = strndup(text, length);
	if (!element->text)
		return false;
	element->node = element->topic = element->text;
	element->plain = true;
	colon = strchr(element->text, ':');
	if (!colon)
		return true;
	*colon = '\0';
	element->topic = colon + 1;
	element->plain = false;
	return true;
}

static int pattern_wrong(const struct chains *chains, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_USAGE, "'%s' is not a chain; write at least two nodes or topics in "
		       "order, such as '/lidar -> /cmd_vel' or '/lidar:/scan -> ... -> /planner'",
		       chains->options.pattern);
}

int chains_pattern_parse(struct chains *chains, struct kymo_err *err)
{
	const char *at = chains->options.pattern, *end, *arrow;
	size_t length;

	chains->element = calloc(CHAINS_STEPS_MAX, sizeof(*chains->element));
	if (!chains->element)
		return err_no_memory(err);
	for (; at; at = arrow ? arrow + 2 : NULL) {
		arrow = strstr(at, "->");
		end = arrow ? arrow : at + strlen(at);
		while (at < end && isspace((unsigned char)*at))
			at++;
		while (end > at && isspace((unsigned char)end[-1]))
			end--;
		length = (size_t)(end - at);
		if (length == 3 && memcmp(at, "...", 3) == 0)
			continue;	/* ignored: other steps may be between any two elements */
		if (!length || *at == ':' || end[-1] == ':' || chains->elements == CHAINS_STEPS_MAX)
			return pattern_wrong(chains, err);
		if (!element_set(&chains->element[chains->elements++], at, length))
			return err_no_memory(err);
	}
	return chains->elements < 2 ? pattern_wrong(chains, err) : 0;
}

void chains_pattern_free(struct chains *chains)
{
	for (unsigned i = 0; i < chains->elements; i++)
		free(chains->element[i].text);
	free(chains->element);
}

/* ---- errors in a pattern ---- */

static void offer(const char *typed, const char *name, const char **near, unsigned *best)
{
	unsigned distance = text_distance(typed, name);

	/* The most frequent mistake is to write only a part of the name. */
	if (strstr(name, typed))
		distance = 0;
	if (distance < *best && (!distance || text_is_near(typed, name, distance))) {
		*best = distance;
		*near = name;
	}
}

static bool is_missing(const struct chains *chains, const struct element *element,
		       const char **near)
{
	bool node_seen = false, topic_seen = false;
	unsigned i, best = UINT_MAX;
	const char *name;

	for (i = 0; i < model_count(chains->model, MODEL_NODE); i++) {
		name = model_node(chains->model, i)->full_name;
		node_seen |= text_ros_glob(element->node, name);
		offer(element->node, name, near, &best);
	}
	for (i = 0; i < model_count(chains->model, MODEL_TOPIC); i++) {
		name = model_topic(chains->model, i)->name;
		topic_seen |= text_ros_glob(element->topic, name);
		if (element->plain || node_seen)
			offer(element->topic, name, near, &best);
	}
	/* The name of a service is the topic of its calls. */
	for (i = 0; i < model_count(chains->model, MODEL_CLIENT); i++) {
		name = model_client(chains->model, i)->name;
		topic_seen |= text_ros_glob(element->topic, name);
		if (chains->options.calls && (element->plain || node_seen))
			offer(element->topic, name, near, &best);
	}
	return element->plain ? !node_seen && !topic_seen : !node_seen || !topic_seen;
}

const char *chains_missing(const struct chains *chains, const char **near)
{
	unsigned i;

	for (i = 0; i < chains->elements; i++) {
		*near = NULL;
		if (is_missing(chains, &chains->element[i], near))
			return chains->element[i].text;
	}
	return NULL;
}
