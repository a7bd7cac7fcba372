/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same trace in Chrome's JSON: simpler, larger, and read by more programs.
 *
 *   {"displayTimeUnit":"ns","traceEvents":[
 *   {"ph":"X","pid":10,"tid":11,"ts":1.500,"dur":0.100,"name":"tick","cat":"timer","args":{...}},
 *   ...
 *   ],"otherData":{...}}
 *
 * It only has processes and threads. Any other track becomes a thread of the process it is below; a
 * track of the two highest levels ("ROS 2", its nodes) becomes a process. Their ids, and those of
 * processes and threads of other machines, begin at ID_BASE. Times are microseconds.
 */
#include "export/pft/pft_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

#define ID_BASE INT64_C(1000000000)	/* above any process id of Linux */
#define JSON_BUFFER (128u << 10)

static ssize_t json_write(void *cookie, const char *data, size_t size)
{
	struct pft *pft = cookie;

	pft_write(pft, (const uint8_t *)data, size);
	return pft->error ? 0 : (ssize_t)size;
}

int pft_chrome_open(struct pft *pft)
{
	const cookie_io_functions_t functions = { .write = json_write };

	pft->json = fopencookie(pft, "w", functions);
	if (!pft->json)
		return -1;
	(void)setvbuf(pft->json, NULL, _IOFBF, JSON_BUFFER);
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", pft->json);
	return 0;
}

void pft_chrome_flush(struct pft *pft)
{
	(void)fflush(pft->json);
}

void pft_chrome_close(struct pft *pft)
{
	fputs("\n],\"otherData\":{", pft->json);
	if (pft->facts.size)
		(void)fwrite(pft->facts.data, 1, pft->facts.size, pft->json);
	fputs("}}\n", pft->json);
	if (fclose(pft->json))
		pft_fail(pft, EIO, "cannot write");
	pft->json = NULL;
}

void pft_chrome_fact(struct pft *pft, const char *key, const char *text, uint64_t value)
{
	char *line = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&line, &size);

	if (!out) {
		pft_fail(pft, ENOMEM, "cannot write");
		return;
	}
	if (pft->facts.size)
		fputc(',', out);
	text_put_json(out, key);
	fputc(':', out);
	if (text)
		text_put_json(out, text);
	else
		fprintf(out, "%" PRIu64, value);
	if (fclose(out))
		pft_fail(pft, ENOMEM, "cannot write");
	else
		pb_raw(&pft->facts, line, size);
	free(line);
}

/* ---- process and thread of a track ---- */

static bool is_top(const struct pft_track *track)
{
	return track->kind == PFT_SLICES && (!track->parent || (track->parent->kind == PFT_SLICES &&
								 !track->parent->parent));
}

static int64_t pid_of(const struct pft_track *track)
{
	while (track->parent && track->kind != PFT_PROCESS && !is_top(track))
		track = track->parent;
	return track->kind == PFT_PROCESS && !track->machine ? track->pid
							     : ID_BASE + (int64_t)track->uuid;
}

static int64_t tid_of(const struct pft_track *track)
{
	if (track->kind == PFT_PROCESS && !track->machine)
		return track->pid;
	return track->kind == PFT_THREAD && !track->machine ? track->tid
							    : ID_BASE + (int64_t)track->uuid;
}

static const char *text_of(const struct pft *pft, uint32_t number)
{
	return number ? pft->string[number - 1].text : "";
}

static void begin(struct pft *pft, const char *phase, const struct pft_track *track)
{
	fprintf(pft->json, "%s{\"ph\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%" PRId64, pft->lines++ ? ",\n" : "",
		phase, pid_of(track), tid_of(track));
}

static void put_microseconds(FILE *out, const char *key, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	fprintf(out, ",\"%s\":%s%" PRIu64 ".%03u", key, ns < 0 ? "-" : "", size / 1000,
		(unsigned)(size % 1000));
}

static void put_name(const struct pft_track *track, const char *what)
{
	struct pft *pft = track->pft;
	const char *above = is_top(track) && track->parent ? text_of(pft, track->parent->name) : "";
	char name[2 * PFT_TEXT_MAX + 64];

	snprintf(name, sizeof(name), "%s%s%s", above, *above ? " " : "", text_of(pft, track->name));
	if (track->machine && track->kind == PFT_PROCESS)
		snprintf(name, sizeof(name), "%s (pid %d, machine %u)", text_of(pft, track->name), track->pid,
			 track->machine);
	begin(pft, "M", track);
	fprintf(pft->json, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	text_put_json(pft->json, name);
	fputs("}}", pft->json);
}

/* Viewers show a process even if it has no events, so a track is described with its first event. */
static void describe_once(struct pft_track *track)
{
	struct pft_track *above = track;

	if (track->started)
		return;
	track->started = true;
	while (above->parent && !is_top(above))
		above = above->parent;
	if (!above->started && above->kind != PFT_PROCESS) {
		above->started = true;
		put_name(above, "process_name");
	} else if (above == track && track->kind != PFT_PROCESS) {
		put_name(track, "process_name");
	}
	if (track->kind == PFT_COUNTER || track->kind == PFT_PROCESS)
		return;
	put_name(track, "thread_name");
	if (!track->look.rank)
		return;
	begin(track->pft, "M", track);
	fprintf(track->pft->json, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%d}}",
		track->look.rank);
}

void pft_chrome_describe(const struct pft_track *track)
{
	if (track->kind == PFT_PROCESS)
		put_name(track, "process_name");
	else if (track->kind == PFT_THREAD)
		put_name(track, "thread_name");
}

/* ---- events ---- */

static void put_arg(struct pft *pft, const struct pft_arg *arg, bool *any)
{
	char real[TEXT_QUANTITY_MAX];

	if (!arg->name || (arg->kind == PFT_TEXT && !arg->text))
		return;
	fputs(*any ? "," : ",\"args\":{", pft->json);
	*any = true;
	text_put_json(pft->json, text_of(pft, arg->name));
	fputc(':', pft->json);
	switch (arg->kind) {
	case PFT_BOOL:
		fputs(arg->u ? "true" : "false", pft->json);
		break;
	case PFT_INT:
		fprintf(pft->json, "%" PRId64, arg->i);
		break;
	case PFT_UINT:
		fprintf(pft->json, "%" PRIu64, arg->u);
		break;
	case PFT_DOUBLE:
		fputs(isfinite(arg->f) ? text_f64_exact(real, arg->f) : "null", pft->json);
		break;
	case PFT_POINTER:
		fprintf(pft->json, "\"0x%" PRIx64 "\"", arg->u);
		break;
	case PFT_TEXT:
		text_put_json(pft->json, text_of(pft, arg->text));
		break;
	}
}

static void put_flow(struct pft_track *track, int64_t ns, const char *phase, uint64_t flow)
{
	struct pft *pft = track->pft;

	begin(pft, phase, track);
	put_microseconds(pft->json, "ts", ns);
	fprintf(pft->json, ",\"name\":\"flow\",\"cat\":\"flow\",\"id\":\"0x%" PRIx64 "\"%s}", flow,
		*phase == 'f' ? ",\"bp\":\"e\"" : "");
}

/* With PFT_FLOW_UNKNOWN, a flow begins if its number was not used lately. */
static bool is_new(struct pft *pft, uint64_t flow)
{
	uint64_t *seen = &pft->seen[(flow * 0x9e3779b97f4a7c15u) >> 52];
	bool new = *seen != flow;

	*seen = flow;
	return new;
}

static void put_flows(struct pft_track *track, int64_t ns, const struct pft_event *event)
{
	for (unsigned i = 0; i < event->flows && event->role != PFT_FLOW_OF_PARTS; i++) {
		bool begins =
			event->role == PFT_FLOW_BEGINS ||
			(event->role == PFT_FLOW_UNKNOWN && is_new(track->pft, event->flow[i]));

		put_flow(track, ns, begins ? "s" : "t", event->flow[i]);
	}
	for (unsigned i = 0; i < event->end_flows; i++)
		put_flow(track, ns, "f", event->end_flow[i]);
}

void pft_chrome_event(struct pft_track *track, const char *phase, int64_t ns, int64_t duration_ns,
		      const struct pft_event *event)
{
	struct pft *pft = track->pft;
	bool any = false;

	describe_once(track);
	begin(pft, phase, track);
	put_microseconds(pft->json, "ts", ns);
	if (*phase == 'X')
		put_microseconds(pft->json, "dur", duration_ns);
	if (event && event->name) {
		fputs(",\"name\":", pft->json);
		text_put_json(pft->json, text_of(pft, event->name));
	}
	if (event && event->category) {
		fputs(",\"cat\":", pft->json);
		text_put_json(pft->json, text_of(pft, event->category));
	}
	for (unsigned i = 0; event && i < event->args; i++)
		put_arg(pft, &event->arg[i], &any);
	fputs(any ? "}}" : "}", pft->json);
	if (event)
		put_flows(track, ns, event);
}

void pft_chrome_counter(struct pft_track *track, int64_t ns, const char *value)
{
	struct pft *pft = track->pft;

	describe_once(track);
	begin(pft, "C", track);
	put_microseconds(pft->json, "ts", ns);
	fputs(",\"name\":", pft->json);
	text_put_json(pft->json, text_of(pft, track->name));
	fprintf(pft->json, ",\"args\":{\"value\":%s}}", value);
}
