/* SPDX-License-Identifier: Apache-2.0 */
/* Whether objects are requested; see concern_request.h. */
#include "analysis/model/concern/concern_request.h"

/* A name is compared with globs once, not for each event. */
enum said {
	SAID = 1, /* the other bits are known */
	SAID_ASKED = 2,
	SAID_LEFT_OUT = 4,
};

static unsigned said_of(struct array *said, uint32_t index, const struct opt_list *globs,
			const char *name)
{
	uint8_t *known = array_at(said, index, sizeof(*known)), bits;

	if (known && *known)
		return *known;
	bits = SAID | (selection_matches(globs, name) ? SAID_ASKED : 0) |
	       (selection_leaves_out(globs, name) ? SAID_LEFT_OUT : 0);
	if (known)
		*known = bits;
	return bits;
}

void concern_judge(struct concern_request *request, struct concern_verdict *verdict,
		   struct concern_about about)
{
	const struct selection *selection = request->selection;
	const unsigned node = about.node ? said_of(&request->node_said, about.node->index,
						   &selection->node, about.node->full_name)
			      : request->no_node;
	const unsigned topic = about.topic ? said_of(&request->topic_said, about.topic->index,
						     &selection->topic, about.topic->name)
			       : request->no_topic;

	verdict->objects++;
	verdict->node |= (node & SAID_ASKED) != 0;
	verdict->topic |= (topic & SAID_ASKED) != 0;
	verdict->left_out |= ((node | topic) & SAID_LEFT_OUT) != 0;
}

bool concern_is_asked(struct concern_request *request, struct concern_verdict verdict)
{
	if (!verdict.objects)
		concern_judge(request, &verdict, (struct concern_about){ NULL, NULL });
	return verdict.node && verdict.topic && !verdict.left_out;
}

void concern_request_open(struct concern_request *request, const struct selection *selection)
{
	request->selection = selection;
	request->no_node = selection_node(selection, NULL) ? SAID_ASKED : 0;
	request->no_topic = selection_topic(selection, NULL) ? SAID_ASKED : 0;
}

void concern_request_forget(struct concern_request *request)
{
	array_free(&request->node_said);
	array_free(&request->topic_said);
}
