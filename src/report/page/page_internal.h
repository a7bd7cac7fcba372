/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the page. The data of a page is one JSON object; docs/answers/page.md says
 * what a page shows of it, and page/core.js reads it. Times are nanoseconds since the origin of the
 * summary, because numbers of browsers have 53 bits.
 */
#ifndef KYMO_REPORT_PAGE_INTERNAL_H
#define KYMO_REPORT_PAGE_INTERNAL_H

#include <stdio.h>

#include "base/json_text.h"
#include "base/map.h"
#include "report/first/first.h"
#include "report/page/page_series.h"
#include "report/report_internal.h"
#include "summary/findings.h"

/* What a page has at most, so that it stays small. */
#define PAGE_CELLS 56000u       /* columns with values, of all series together */
#define PAGE_HEATS 60u          /* topics with a heat map */
#define PAGE_GAPS 60u            /* topics with the gaps between their publications */
#define PAGE_WORST_CHAINS 8u    /* chains with all their longest arrivals */
#define PAGE_WORST_ALL 1000u    /* of all chains together */
#define PAGE_WORST_SERVICES 3u  /* services with all their longest calls */
#define PAGE_CALLS 600u         /* calls of all services together, about */
#define PAGE_GOALS_WORST 100u   /* goals of an action */
#define PAGE_GOALS 600u         /* goals of all actions together, about */
#define PAGE_INSTANCES 24u      /* instances with the threads around them */
#define PAGE_WAITS 16u          /* waits of callbacks with what their executor ran meanwhile */
#define PAGE_EXECUTOR_WAITS 3u  /* of each executor */
#define PAGE_FRAMES 2500u       /* frames of a flame graph */
#define PAGE_INSTANCE_RUNS 600u /* runs of other callbacks around an instance */

struct page {
	struct report *report; /* of a summary's file: without model and analyses */
	bool is_file;
	struct summary *summary;
	struct json_text json;
	/* page_names.c */
	const struct summary_entity **shown; /* by number */
	unsigned shown_count, shown_size;
	struct map number; /* of an entity, from 1 */
	int *callback;     /* number of each callback of the model */
	unsigned callbacks;
	int *chain;            /* of each path, from 1; 0: it is no chain */
	struct first_options first;
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];
	unsigned findings;
	char cause[2048]; /* `kymo why`'s sentence about the first finding; "" */
	bool failed;      /* no memory */
};

/* page.c */

/* A member that is a time since the origin. */
void page_put_time(struct page *page, const char *key, int64_t ns);
void page_put_text(struct page *page, const char *key, const char *text);
/* The member "segments": the quantiles of each of @parts, and @what it is. */
void page_put_segments(struct page *page, const struct histogram *part, const char *const *what,
		       unsigned parts);
/* The name of the node of a client or service; "": not known. */
const char *page_node_name(const struct model_service *of);

/* Read the trace again, but only the events that @passes bind. Return: 0, or -1 with report->err.
 */
int page_read(struct page *page, const struct passes *passes);

/* page_names.c: numbers of the page's entities; -1: there is none. */
int page_number_all(struct page *page);
void page_numbers_free(struct page *page);
int page_number_of(const struct page *page, const struct summary_entity *entity);
/* Of what belongs to no process, or to several. */
int page_number(const struct page *page, enum summary_kind kind, const char *name);
int page_number_in(const struct page *page, enum summary_kind kind, const char *name,
		   const struct model_process *process);
/* @callback may be of another model of the same trace. */
int page_callback_number(const struct page *page, const struct model_callback *callback);
int page_timer_number(const struct page *page, const struct model_callback *callback);
int page_chain_number(const struct page *page, const struct chains_path *path);
/* "twins", "held": of which process the entities are that share their names */
void page_put_twins(struct page *page);

/* page_entities.c: "entities", "findings" */

/* The quantiles of @h and its coarse buckets, as a member; nothing where it is empty. */
void page_put_distribution(struct page *page, const char *key, const struct histogram *h);
void page_put_entities(struct page *page);
void page_put_findings(struct page *page);

/* page_over_time.c: "series", "heat", "gaps" */
void page_put_series(struct page *page);

/* page_chains.c: "chains": steps, segments, the worst arrivals of each */
void page_put_chains(struct page *page);

/* page_calls_put.c: "calls": what the calls of services were spent with, the longest of each */
void page_put_calls(struct page *page);

/* page_goals.c: "goals": what the goals of actions were spent with, the longest of each */
void page_put_goals(struct page *page);

/* page_system.c: "graph", "processes", "provenance" */
void page_put_graph(struct page *page);
void page_put_provenance(struct page *page);

/* page_fired.c: the path of chains, or the callback, whose instance fired, or contains what fired;
 * NULL: none is known. */
const void *page_fired(const struct page *page);

/* page_instances.c: "instances": the worst ones with the threads around them; with the kernel's
 * events also "cpus": each CPU over time (page_cpus.h); "executors": their threads, and their worst
 * waits (page_waits.c). Reads the trace again. Return: 0, or -1
 * with report->err. */
int page_put_instances(struct page *page);

/* page_flame.c: "flames": of spans, of functions. May read the trace again. Return: 0, or -1 with
 * report->err. */
int page_put_flames(struct page *page);

/* page_tables.c: "tables": sections of the report, and budgets; of a summary only budgets */
void page_put_tables(struct page *page);

/* page_html.c: the file around the data. Return: 0, or -1 with report->err. */
int page_write(struct page *page);

#endif
