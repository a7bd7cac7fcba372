/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which messages and runs belong to the start of a program.
 *
 * The idea: while programs start, publisher and subscription look for each other, executors do not
 * spin yet, and code runs for the first time. What takes long then says little about the program,
 * and it happens once. So:
 *
 *   message    is start-up if its subscription was created within the trace, and it was published
 *              before the subscription received its first message or at most 100 ms later, and at
 *              most a second after the younger of publisher and subscription was created
 *   timer run  is start-up if the timer was created within the trace, and the run was due at most
 *              100 ms after the timer's first run
 *   goal       is start-up if its client was created within the trace, and it was sent before the
 *              client had its first result or at most 100 ms later, and at most a second after the
 *              younger of client and server was created
 *
 * A run that a start-up message causes is start-up, and a chain with such a message or run in it.
 *
 * Start-up counts in all statistics: in counts, quantiles and maxima. It is left out where one
 * instance is chosen to be explained, and so in the findings.
 */
#include "analysis/model/model_startup.h"

#include "analysis/model/model_internal.h"

#define AFTER_FIRST_NS 100000000ll
#define AFTER_BIRTH_NS 1000000000ll

void model_without_startup(struct model *model)
{
	model->without_startup = true;
}

bool model_is_born_here(const struct model *model, int64_t born_ns)
{
	return !model->without_startup && born_ns >= model->facts.first_ns;
}

bool model_message_is_startup(const struct model_message *message)
{
	const struct model_subscription *subscription = message->subscription;
	int64_t born_ns;

	if (!subscription || !subscription->is_born_here || !message->publish_ns ||
	    message->publish_ns > subscription->first_take_ns + AFTER_FIRST_NS)
		return false;
	born_ns = subscription->born_ns;
	if (message->publisher && message->publisher->born_ns > born_ns)
		born_ns = message->publisher->born_ns;
	return message->publish_ns <= born_ns + AFTER_BIRTH_NS;
}

bool model_frame_is_startup(const struct frame *frame)
{
	const struct model_timer *timer = frame->callback->pub.timer;
	const int64_t due_ns = frame->run.due_ns ? frame->run.due_ns : frame->run.start_ns;

	if (timer)
		return timer->is_born_here && due_ns <= timer->first_start_ns + AFTER_FIRST_NS;
	return frame->has_message && model_message_is_startup(&frame->message);
}

bool model_goal_is_startup(const struct model *model, const struct model_goal *goal,
			   int64_t first_result_ns)
{
	const int64_t sent_ns = goal->way[MODEL_GOAL_SEND].request_ns;
	int64_t born_ns;

	if (!goal->client || !sent_ns || !model_is_born_here(model, goal->client->born_ns) ||
	    (first_result_ns && sent_ns > first_result_ns + AFTER_FIRST_NS))
		return false;
	born_ns = goal->client->born_ns;
	if (goal->server && goal->server->born_ns > born_ns)
		born_ns = goal->server->born_ns;
	return sent_ns <= born_ns + AFTER_BIRTH_NS;
}
