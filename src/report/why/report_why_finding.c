/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why` without a name explains what `kymo report` names first: one chooser for both. */
#include <stdio.h>
#include <string.h>

#include "report/why/report_why_internal.h"
#include "summary/findings.h"
#include "summary/summary_collect.h"

static bool is_named(const struct why_options *options)
{
	return options->pattern || options->callback || options->message || options->at_ns;
}

static bool is_explained(const struct summary_finding *finding)
{
	return finding->kind == SUMMARY_FINDING_CHAIN || *summary_finding_ask(finding);
}

/*
 * What the other verbs say first is said here, too, unless the sentence about the instance says it.
 * Return: is @finding what is to be explained?
 */
static bool tell(struct why_answer *answer, const struct summary *summary,
		 struct summary_finding *finding)
{
	if (!summary_findings(summary, finding, 1) || finding->kind == SUMMARY_FINDING_TRUST) {
		summary_nothing_text(summary, answer->nothing, sizeof(answer->nothing));
		return false;
	}
	summary_finding_text(summary, finding, answer->finding, sizeof(answer->finding));
	answer->tells_finding = finding->kind == SUMMARY_FINDING_LOSS ||
				finding->kind == SUMMARY_FINDING_TIMER ||
				finding->kind == SUMMARY_FINDING_ABORTED || !is_explained(finding);
	return is_explained(finding);
}

/* A lost message is explained by the chain from its topic to who did not receive it; the others by
 * their names. */
static void choose(struct why_answer *answer, const struct summary *summary)
{
	struct summary_finding finding;
	const char *ask, *ways;
	size_t length;

	if (!tell(answer, summary, &finding) && !summary_slowest(summary, &finding))
		return;
	ask = finding.kind == SUMMARY_FINDING_CHAIN ? finding.entity->name
						    : summary_finding_ask(&finding);
	ways = finding.kind == SUMMARY_FINDING_CHAIN ? NULL : report_ways_in(ask);
	length = ways ? (size_t)(ways - ask) : strlen(ask);
	if (strlen(ask) >= sizeof(answer->ask))
		return;
	answer->is_of_goals = finding.entity->kind == SUMMARY_ACTION;
	answer->is_of_programs =
		finding.kind == SUMMARY_FINDING_LOOP || finding.kind == SUMMARY_FINDING_SPAN;
	if (finding.kind != SUMMARY_FINDING_LOSS && !answer->is_of_programs &&
	    !answer->is_of_goals) {
		why_ways_take(answer, summary_finding_ask(&finding));
		snprintf(answer->name, sizeof(answer->name), "%.*s", (int)length, ask);
		return;
	}
	if (answer->is_of_programs)
		why_ways_take(answer, ask);
	snprintf(answer->ask, sizeof(answer->ask), "%.*s", (int)length, ask);
	answer->chosen = *answer->options;
	if (answer->is_of_programs || answer->is_of_goals)
		answer->chosen.callback = answer->ask;
	else
		answer->chosen.pattern = answer->ask;
	answer->options = &answer->chosen;
}

/*
 * The pass of the summary, whose chains and callbacks stay the answer's: why_choose() needs no pass
 * of its own then.
 */
static int summarize(struct why_answer *answer, struct summary *summary, struct kymo_err *err)
{
	const struct why_options *o = answer->options;
	const struct pass_options progress = { .progress = o->progress, .context = o->context };
	struct summary_reading reading;

	if (summary_reading_open(&reading, answer->reader, o->begin_ns, o->end_ns, err) ||
	    why_listen_losses(answer, reading.from.model, err) ||
	    summary_reading_run(&reading, summary, answer->reader, &progress, err)) {
		passes_free(&reading.passes);
		return -1;
	}
	answer->passes = reading.passes;
	answer->model = reading.from.model;
	answer->chains = reading.from.chains;
	answer->callbacks = reading.from.callbacks;
	answer->is_summary_pass = true;
	answer->kept = SUMMARY_WORST_MAX;
	return 0;
}

int why_choose_finding(struct why_answer *answer, struct kymo_err *err)
{
	const struct why_options *o = answer->options;
	struct summary *summary;
	int status;

	/* Other rules of what a chain is: `kymo report` does not know them. */
	if (is_named(o) || o->all_topics || o->latest)
		return 0;
	summary = summary_new();
	if (!summary)
		return err_no_memory(err);
	status = summarize(answer, summary, err);
	if (!status) {
		if (o->told_lost > summary->trust.lost_events && o->begin_ns == INT64_MIN &&
		    o->end_ns == INT64_MAX)
			summary->trust.lost_events = o->told_lost;
		if (o->summarized)
			o->summarized(o->summarized_context, summary);
		choose(answer, summary);
	}
	summary_free(summary);
	return status;
}
