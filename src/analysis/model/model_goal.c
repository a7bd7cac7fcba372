/* SPDX-License-Identifier: Apache-2.0 */
/* What a goal says; see model_goal.h. */
#include "analysis/model/model_goal.h"

#include <stddef.h>
#include <stdio.h>

int64_t model_goal_end_ns(const struct model_goal *goal)
{
	for (unsigned state = MODEL_GOAL_SUCCEEDED; state < MODEL_GOAL_STATES; state++)
		if (goal->state_ns[state])
			return goal->state_ns[state];
	return 0;
}

static void earlier(int64_t *first_ns, int64_t ns)
{
	if (ns && (!*first_ns || ns < *first_ns))
		*first_ns = ns;
}

int64_t model_goal_first_ns(const struct model_goal *goal)
{
	int64_t ns = 0;

	for (unsigned i = 0; i < MODEL_GOAL_CALLS; i++) {
		earlier(&ns, goal->way[i].request_ns);
		earlier(&ns, goal->way[i].request_taken_ns);
	}
	for (unsigned i = 0; i < MODEL_GOAL_STATES; i++)
		earlier(&ns, goal->state_ns[i]);
	earlier(&ns, goal->sent.first_ns);
	return ns;
}

const char *model_goal_status(const struct model_goal *goal)
{
	static const char *const names[MODEL_GOAL_STATES] = {
		NULL, "accepted", "executing", "canceling", "succeeded", "canceled", "aborted",
	};
	const struct model_goal_way *result = &goal->way[MODEL_GOAL_RESULT],
				    *send = &goal->way[MODEL_GOAL_SEND];

	if (goal->state)
		return names[goal->state];
	if (result->is_answered && result->answer > 0 && result->answer < MODEL_GOAL_STATES)
		return names[result->answer];
	if (send->is_answered)
		return send->answer ? "accepted" : "rejected";
	return send->request_ns || send->request_taken_ns ? "sent" : NULL;
}

const char *model_goal_uuid(const struct model_goal *goal, char *buffer, unsigned size)
{
	unsigned used = 0;

	for (unsigned i = 0; i < sizeof(goal->goal_id); i++)
		used += (unsigned)snprintf(buffer + used, size - used,
					   i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
					   goal->goal_id[i]);
	return buffer;
}
