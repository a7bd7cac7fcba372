/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the nodes and topics of an event's objects are requested. A name is compared with the
 * globs of a selection once, not for each event.
 */
#ifndef KYMO_ANALYSIS_CONCERN_REQUEST_H
#define KYMO_ANALYSIS_CONCERN_REQUEST_H

#include "analysis/model/concern/concern_about.h"
#include "base/array.h"
#include "base/selection.h"

/* What the selection says about names: enum said, by index of the model, and without one. */
struct concern_request {
	const struct selection *selection;
	struct array node_said, topic_said;
	uint8_t no_node, no_topic;
};

/*
 * An event of several objects is requested when at least one of them is requested and none is
 * excluded.
 */
struct concern_verdict {
	bool node, topic, left_out;
	unsigned objects;
};

/* @selection: must stay valid. */
void concern_request_open(struct concern_request *request, const struct selection *selection);
/* The model is another one, with other indexes; also closes it. */
void concern_request_forget(struct concern_request *request);

/* The event has this object, too. */
void concern_judge(struct concern_request *request, struct concern_verdict *verdict,
		   struct concern_about about);
bool concern_is_asked(struct concern_request *request, struct concern_verdict verdict);

#endif
