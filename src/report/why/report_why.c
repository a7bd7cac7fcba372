/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo why`: the passes. The first finds whose instances are taken apart, when the worst were, and
 * what is usual for them; if nothing was named, it is the summary's, which follows the same chains.
 * The second keeps the worst and a usual one, and all that ran while they were under way. A third
 * is read if the second did not know which ones these are. Paths and callbacks have the same
 * numbers in each.
 */
#include "report/why/report_why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/why/report_why_internal.h"
#include "base/text.h"
#include "report/why/report_why_goals.h"
#include "report/why/report_why_spans.h"

static bool is_whole(const struct why_options *options)
{
	return options->begin_ns == INT64_MIN && options->end_ns == INT64_MAX;
}

/* So many of the longest instances are kept of all chains, before one of them is chosen. */
#define EARLY_MAX 10u

static struct chains_options chains_of(const struct why_answer *answer)
{
	const struct why_options *o = answer->options;

	return (struct chains_options){
		.calls = reader_declares(answer->reader, "ros2:rmw_take_response"),
		.pattern = o->pattern,
		.all_topics = o->all_topics || o->message,
		.latest = o->latest,
		.begin_ns = o->begin_ns,
		.end_ns = o->end_ns,
		.worst = o->worst <= EARLY_MAX ? o->worst : 1,
		.steady_first = true,
		.named_id = o->message,
		.at_ns = o->at_ns,
		.follow_ns = INT64_MIN,
	};
}

static int choose_of(struct why_answer *answer, const struct why_options *options,
		     struct chains_options *chains, struct kymo_err *err)
{
	answer->options = options;
	*chains = chains_of(answer);
	if ((!answer->is_summary_pass || chains->pattern) &&
	    why_pass(answer, chains, NULL, 0, NULL, err))
		return -1;
	why_choose(answer);
	why_alike_find(answer);
	return answer->alike.failed ? err_no_memory(err) : 0;
}

/*
 * A trigger about a chain of topics fires when the callback that receives the last message ends,
 * but the chain itself ends where that message is published. Of the chain and the chain with that
 * callback, explain the one that took as long as the trigger measured.
 */
static int choose_fired(struct why_answer *answer, struct chains_options *chains,
			struct kymo_err *err)
{
	const struct why_options *o = answer->options;
	const int64_t from = why_from_fired(answer);
	const size_t size = sizeof(answer->ask);

	if (!from || !o->pattern ||
	    (size_t)snprintf(answer->ask, size, "%s -> *", o->pattern) >= size)
		return 0;
	answer->chosen = *o;
	answer->chosen.pattern = answer->ask;
	if (choose_of(answer, &answer->chosen, chains, err))
		return -1;
	return why_from_fired(answer) < from ? 0 : choose_of(answer, o, chains, err);
}

/* The passes: which instances are the worst, and what they are made of. */
static int find(struct why_answer *answer, struct kymo_err *err)
{
	const struct why_options *o = answer->options;
	struct chains_options chains;

	if (why_choose_finding(answer, err))
		return -1;
	if (choose_of(answer, answer->options, &chains, err))
		return -1;
	if (!answer->target.is_found && !answer->is_of_programs && !answer->is_of_goals &&
	    (answer->options != o || *answer->name)) {
		/* What the finding names cannot be taken apart: the worst of all, then. */
		*answer->name = *answer->ways = '\0';
		answer->tells_finding = *answer->finding;
		if (choose_of(answer, o, &chains, err))
			return -1;
	}
	if (choose_fired(answer, &chains, err))
		return -1;
	if (answer->target.is_found && why_take_apart(answer, &chains, err))
		return -1;
	if (is_whole(o) && o->told_lost > answer->lost_events) {
		answer->lost_events = o->told_lost;
		answer->lost_here = true;
	}
	return 0;
}

static int print_answer(struct why_answer *answer)
{
	char text[2560], whole[4096];

	if (answer->instances) {
		why_print(answer);
		return KYMO_EXIT_OK;
	}
	if (fates_at(answer->fates, 0)) {
		why_print_fate(answer);
		return KYMO_EXIT_OK;
	}
	table_value_text(answer->table, "trace", "Trace", answer->path);
	table_value_text(answer->table, "why_empty", "Nothing to show",
			 text_hints(whole, sizeof(whole), why_empty(answer, text, sizeof(text)),
				    answer->options->operand));
	return KYMO_EXIT_EMPTY;
}

static struct why_answer *answer_new(struct kymo_ctf_reader *reader,
				     const struct why_options *options, struct kymo_err *err)
{
	struct why_answer *answer = calloc(1, sizeof(*answer));

	if (!answer) {
		(void)err_no_memory(err);
		return NULL;
	}
	answer->options = options;
	answer->reader = reader;
	answer->usual.total_ns = -1;
	why_ways_asked(answer);
	return answer;
}

static void answer_free(struct why_answer *answer)
{
	why_drop_instances(answer);
	passes_free(&answer->cpu_passes);
	passes_free(&answer->passes);
	why_alike_clear(&answer->alike);
	free(answer->ids);
	free(answer);
}

/* What is no callback: a goal, a loop, a span. Return: as why_spans_answer(). */
static int answer_others(struct why_answer *answer, struct why_said *said, struct kymo_err *err)
{
	const int status = why_goals_answer(answer, said, err);

	return status ? status : why_spans_answer(answer, said, err);
}

int why_run(struct kymo_ctf_reader *reader, const char *path, const struct why_options *options,
	    struct table *table, bool *lost, struct kymo_err *err)
{
	struct why_answer *answer = answer_new(reader, options, err);
	int status = -1;

	if (!answer)
		return -1;
	answer->path = path;
	answer->table = table;
	if (!find(answer, err)) {
		*lost = answer->lost_events || answer->lost_packets;
		status = answer->instances ? 0 : answer_others(answer, NULL, err);
		if (status >= 0)
			status = status ? KYMO_EXIT_OK : print_answer(answer);
	}
	answer_free(answer);
	return status;
}

static void say_instance(const struct why_answer *answer, struct why_said *said)
{
	const struct why_instance *instance = &answer->instance[0];

	said->begin_ns = instance->begin_ns;
	said->total_ns = instance->total_ns;
	for (unsigned i = 0; answer->target.is_chain && i < instance->hops; i++)
		if (instance->hop[i].publisher)
			said->message = instance->hop[i].at.id;
}

int why_say(struct kymo_ctf_reader *reader, const struct why_options *options,
	    struct why_said *said, struct kymo_err *err)
{
	struct why_answer *answer = answer_new(reader, options, err);
	int status;

	*said = (struct why_said){ 0 };
	if (!answer)
		return -1;
	status = find(answer, err);
	if (!status && answer->instances) {
		why_target_label(answer, said->worst, sizeof(said->worst));
		why_sentence(answer, 0, said->why, sizeof(said->why));
		say_instance(answer, said);
	} else if (!status && answer_others(answer, said, err) < 0) {
		status = -1;
	}
	answer_free(answer);
	return status;
}
