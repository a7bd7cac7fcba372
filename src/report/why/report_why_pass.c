/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why`: one pass over the trace, with the analyses that it needs. */
#include <string.h>

#include "analysis/model/model_startup.h"
#include "report/why/report_why_internal.h"

static void on_loss(void *context, const struct model_loss *loss)
{
	struct why_answer *answer = context;

	answer->lost_events += loss->events;
	answer->lost_packets += loss->packets;
	answer->lost_here |= !loss->is_elsewhere;
}

static const struct model_listener loss_listener = { .loss = on_loss };

int why_listen_losses(struct why_answer *answer, struct model *model, struct kymo_err *err)
{
	answer->lost_events = answer->lost_packets = 0;
	answer->lost_here = false;
	return model_listen(model, &loss_listener, answer, err);
}

/* A new set of analyses for the next pass. */
static int create_all(struct why_answer *answer, struct chains_options *chains,
		      const struct why_window *window, unsigned windows, why_latest *latest,
		      struct kymo_err *err)
{
	const struct why_options *o = answer->options;
	const uint64_t *ids = answer->ids ? answer->ids : &o->message;
	unsigned id_count = answer->ids ? answer->id_count : o->message != 0;
	struct why_callbacks_options runs = {
		.worst = o->worst,
		.named_id = o->message,
		.at_ns = o->at_ns,
		.begin_ns = o->begin_ns,
		.end_ns = o->end_ns,
		.near_index = answer->target.index,
		.near_ns = answer->target.is_chain ? 0 : answer->target.usual_ns,
	};

	passes_free(&answer->passes);
	answer->fates = NULL;
	answer->others = NULL;
	answer->capture = NULL;
	answer->is_summary_pass = false;
	answer->kept = chains->worst < o->worst ? chains->worst : o->worst;
	if (model_create(&answer->model, err))
		return -1;
	if (o->all_topics)
		model_without_startup(answer->model);
	pass_add(&answer->passes, &model_pass, answer->model);
	if (chains_create(&answer->chains, answer->model, chains, err))
		return -1;
	pass_add(&answer->passes, &chains_pass, answer->chains);
	if (why_callbacks_create(&answer->callbacks, answer->model, &runs, err))
		return -1;
	pass_add(&answer->passes, &why_callbacks_pass, answer->callbacks);
	if (windows && why_others_create(&answer->others, answer->model, window, windows, err))
		return -1;
	if (answer->others)
		pass_add(&answer->passes, &why_others_pass, answer->others);
	if (answer->others && latest)
		why_others_follow(answer->others, latest, answer);
	if (o->captures &&
	    capture_create(&answer->capture, o->captures, answer->model, o->align, err))
		return -1;
	if (answer->capture)
		pass_add(&answer->passes, &capture_pass, answer->capture);
	if (id_count && fates_create(&answer->fates, answer->model, ids, id_count, err))
		return -1;
	if (answer->fates)
		pass_add(&answer->passes, &fates_pass, answer->fates);
	return why_listen_losses(answer, answer->model, err);
}

int why_pass(struct why_answer *answer, struct chains_options *chains,
	     const struct why_window *window, unsigned windows, why_latest *latest,
	     struct kymo_err *err)
{
	const struct pass_options progress = { .progress = answer->options->progress,
					       .context = answer->options->context };

	if (create_all(answer, chains, window, windows, latest, err))
		return -1;
	return pass_run(&answer->passes, answer->reader, &progress, err);
}
