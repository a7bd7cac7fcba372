/* SPDX-License-Identifier: Apache-2.0 */
/* See align.h. */
#include "analysis/align/align.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/align/align_internal.h"

#define TIME_LAST (INT64_MAX / 2 - 2 * ALIGN_MARGIN_NS)

/* ---- the host of each trace: by the same rules as model_set_host() ---- */

static int hosts_find(struct align *align, const struct kymo_ctf_reader *reader)
{
	align->traces = kymo_ctf_trace_count(reader);
	align->of_trace = calloc(align->traces + 1, sizeof(*align->of_trace));
	align->host = calloc(align->traces + 1, sizeof(*align->host));
	if (!align->of_trace || !align->host)
		return -1;
	for (unsigned i = 0; i < align->traces; i++) {
		const char *name = kymo_ctf_trace(reader, i)->hostname, *id;
		unsigned host = 0;

		while (host < align->hosts &&
		       (!*name || strcmp(align->host[host].pub.name, name) != 0))
			host++;
		align->of_trace[i] = host;
		if (host < align->hosts)
			continue;
		align->host[host].pub.name = pool_text(&align->names, name, strlen(name));
		id = kymo_ctf_trace(reader, i)->clock_id;
		align->host[host].clock_id = pool_text(&align->names, id, strlen(id));
		align->host[host].offset_ns = kymo_ctf_trace(reader, i)->clock_offset_ns;
		align->host[host].first_ns = INT64_MAX;
		align->host[host].last_ns = INT64_MIN;
		align->hosts++;
		if (!align->host[host].pub.name || !align->host[host].clock_id)
			return -1;
	}
	return 0;
}

/* ---- the pass ---- */

/* The state of the pass, in addition to the model. */
struct gathering {
	struct align *align;
	struct messages *messages;
};

static int on_event(void *context, const struct kymo_ctf_event *event)
{
	const struct gathering *gathering = context;
	struct aligned_host *host =
		&gathering->align->host[gathering->align->of_trace[event->trace]];

	/* Times outside of this range are damage. */
	if (event->ns < 0 || event->ns >= TIME_LAST)
		return 0;
	if (event->ns < host->first_ns)
		host->first_ns = event->ns;
	if (event->ns > host->last_ns)
		host->last_ns = event->ns;
	return 0;
}

static bool has_failed(const void *context)
{
	return ((const struct gathering *)context)->messages->failed;
}

static int gather(struct align *align, struct messages *messages, struct kymo_ctf_reader *reader,
		  const struct pass_options *progress, struct kymo_err *err)
{
	static const struct pass_ops ops = { .turn = PASS_BEFORE_SPANS,
					     .event = on_event,
					     .failed = has_failed };
	struct gathering gathering = { align, messages };
	struct passes passes = { 0 };
	struct model *model;
	int status = -1;

	if (model_create(&model, err))
		return -1;
	pass_add(&passes, &model_pass, model);
	pass_add(&passes, &ops, &gathering);
	if (!model_listen(model, &messages_listener, messages, err))
		status = pass_run(&passes, reader, progress, err);
	passes_free(&passes);
	return status ? -1 : kymo_ctf_bind(reader, NULL, 0, err);
}

/* ---- life cycle ---- */

int align_find(struct align **result, struct kymo_ctf_reader *reader,
	       void (*progress)(void *context, uint64_t events, uint64_t clock_ns), void *context,
	       struct kymo_err *err)
{
	struct align *align = calloc(1, sizeof(*align));
	struct messages messages = { 0 };
	int status = -1;

	*result = NULL;
	if (!align || hosts_find(align, reader)) {
		err_no_memory(err);
	} else if (align->hosts < 2) {
		status = 0;
	} else if (messages_init(&messages, align->hosts)) {
		err_no_memory(err);
	} else if (!gather(align, &messages, reader,
			   &(struct pass_options){ .progress = progress, .context = context },
			   err)) {
		if (align_settle(align, &messages)) {
			err_no_memory(err);
		} else {
			*result = align;
			align = NULL;
			status = 0;
		}
	}
	messages_free(&messages);
	align_destroy(align);
	return status;
}

int align_apply_from(const struct align *align, unsigned first, struct kymo_ctf_reader *reader,
		     struct kymo_err *err)
{
	for (unsigned i = 0; align && i < kymo_ctf_trace_count(reader) && first + i < align->traces;
	     i++) {
		const struct aligned_host *host = &align->host[align->of_trace[first + i]];

		if (kymo_ctf_align(reader, i, host->shift, host->shifts, err))
			return -1;
	}
	return 0;
}

int align_apply(const struct align *align, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	return align_apply_from(align, 0, reader, err);
}

int64_t align_shift(const struct align *align, unsigned host, int64_t ns)
{
	const struct aligned_host *its = &align->host[host];
	unsigned i = 0;

	if (!its->shifts)
		return 0;
	while (i + 1 < its->shifts && its->shift[i + 1].ns <= ns)
		i++;
	if (ns <= its->shift[i].ns || i + 1 == its->shifts)
		return its->shift[i].by_ns;
	return its->shift[i].by_ns +
	       (int64_t)((double)(its->shift[i + 1].by_ns - its->shift[i].by_ns) *
			 (double)(ns - its->shift[i].ns) /
			 (double)(its->shift[i + 1].ns - its->shift[i].ns));
}

unsigned align_count(const struct align *align)
{
	return align ? align->hosts : 0;
}

const struct align_host *align_host(const struct align *align, unsigned host)
{
	return &align->host[host].pub;
}

void align_destroy(struct align *align)
{
	if (!align)
		return;
	for (unsigned i = 0; align->host && i < align->hosts; i++)
		free(align->host[i].shift);
	free(align->host);
	free(align->of_trace);
	pool_free(&align->names);
	free(align);
}
