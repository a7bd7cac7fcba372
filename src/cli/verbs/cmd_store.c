/* SPDX-License-Identifier: Apache-2.0 */
/* kymo store: summaries of runs by commit, in plain files, and what changed over the commits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"
#include "cli/common/common.h"
#include "cli/verbs/diff/diff_runs.h"
#include "cli/verbs/store/store_changes.h"
#include "summary/summary_file.h"

#define BYTES_MOST 50000 /* of one summary: a store in git stays small */

struct options {
	const char *commit, *only;
	uint64_t time, limit;
	int format;
	bool all, with_losses, quiet;
};

static const struct opt opts[] = {
	{ "commit", 'c', OPT_TEXT, offsetof(struct options, commit), "ID",
	  "add: the commit that was recorded", NULL },
	{ "time", 't', OPT_U64, offsetof(struct options, time), "SECONDS",
	  "add: when the commit was made, in seconds since 1970 (default: now); "
	  "git show -s --format=%ct prints it",
	  NULL },
	{ "with-losses", 0, OPT_FLAG, offsetof(struct options, with_losses), NULL,
	  "add: also runs in which events were lost", NULL },
	{ "limit", 'l', OPT_U64, offsetof(struct options, limit), "PERCENT",
	  "changes: a smaller change is none (default 5)", NULL },
	{ "only", 0, OPT_TEXT, offsetof(struct options, only), "GLOB",
	  "changes: only entities whose name matches", NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "changes: all of them, not the latest 10", NULL },
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

/* ---- add ---- */

/* What neither `kymo diff` nor `kymo check` compares with another run becomes empty. */
static void slim(struct summary *summary)
{
	for (unsigned i = 0; i < summary->entities; i++) {
		struct summary_entity *entity = summary->entity[i];

		entity->culprits = entity->worsts = 0;
		if (!entity->is_startup)
			continue;
		entity->segments = 0;
		memset(entity->count, 0, sizeof(entity->count));
		for (unsigned d = 0; d < SUMMARY_DISTRIBUTIONS; d++)
			histogram_free(&entity->histogram[d]);
	}
}

static int write_one(struct summary *summary, const char *file, struct kymo_err *err)
{
	struct stat status;

	if (summary_write(summary, file, err))
		return -1;
	if (stat(file, &status) || status.st_size <= BYTES_MOST)
		return 0;
	slim(summary);
	if (summary_write(summary, file, err))
		return -1;
	if (stat(file, &status) == 0 && status.st_size > BYTES_MOST)
		fprintf(stderr, "kymo store: %s has %" PRId64 " bytes, which is much for a store\n",
			file, (int64_t)status.st_size);
	return 0;
}

static int write_all(const struct options *o, const char *path, struct diff_runs *runs,
		     struct kymo_err *err)
{
	const int64_t now = o->time ? (int64_t)o->time : (int64_t)time(NULL);
	char file[CLI_PATH_MAX];

	for (unsigned i = 0; i < diff_runs_judged(runs); i++) {
		if (store_dir_place(path, o->commit, now, file, err) ||
		    write_one(runs->summary[i], file, err))
			return -1;
		if (!o->quiet)
			printf("%s\n", file);
	}
	if (runs->left_out && !o->quiet)
		fprintf(stderr, "Left out, because events were lost: %u runs.\n", runs->left_out);
	return KYMO_EXIT_OK;
}

static int add(const struct options *o, int argc, char **argv, struct kymo_err *err)
{
	struct diff_runs *runs;
	int status = 0;

	if (!o->commit)
		return err_set(err, KYMO_EXIT_USAGE,
			       "add: which commit was recorded? --commit \"$(git rev-parse --short "
			       "HEAD)\"");
	if (argc < 2)
		return err_set(err, KYMO_EXIT_USAGE,
			       "add: which runs? kymo store add DIR --commit ID TRACE...");
	if (store_dir_check(argv[0], o->commit, err))
		return -1;
	runs = calloc(1, sizeof(*runs));
	if (!runs)
		return err_no_memory(err);
	for (int i = 1; i < argc && !status; i++)
		status = diff_runs_find(runs, argv[i], err);
	if (!status)
		status = diff_runs_read(runs, "store", o->with_losses, err);
	if (!status)
		status = write_all(o, argv[0], runs, err);
	diff_runs_free(runs);
	free(runs);
	return status;
}

/* ---- list ---- */

static int list(const struct options *o, const struct store_dir *store)
{
	static const struct table_column columns[] = {
		{ "commit", "COMMIT" }, { "time", "TIME" }, { "runs", "RUNS" }, { "bytes", "BYTES" }
	};
	struct table *table;

	if (cli_table("store", o->format, &table))
		return KYMO_EXIT_FAILED;
	table_section(table, "commits", NULL, columns, COUNT_OF(columns));
	for (unsigned i = 0; i < store->count; i++) {
		const time_t when = (time_t)store->commit[i].time;
		char text[32] = "";
		struct tm tm;

		if (gmtime_r(&when, &tm))
			(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
		table_text(table, store->commit[i].id);
		table_text(table, text);
		table_u64(table, store->commit[i].runs);
		table_bytes(table, store->commit[i].bytes);
	}
	return cli_close("store", table, store->count ? KYMO_EXIT_OK : KYMO_EXIT_EMPTY);
}

/* ---- the verb ---- */

static int read_and(const struct options *o, const char *what, const char *path,
		    struct kymo_err *err)
{
	struct store_dir store;
	int status;

	if (store_dir_read(&store, path, err))
		return -1;
	if (strcmp(what, "list") == 0) {
		status = list(o, &store);
	} else {
		const struct store_changes changes = { .store = &store,
						       .limit = (double)o->limit / 100,
						       .only = o->only,
						       .most = o->all ? 0 : 10,
						       .format = o->format };

		status = store_changes(&changes, err);
	}
	store_dir_free(&store);
	return status;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options o = { .limit = 5 };

	if (opt_parse(opts, &o, &argc, &argv, NULL, err))
		return -1;
	if (argc < 2 ||
	    (strcmp(argv[0], "add") && strcmp(argv[0], "list") && strcmp(argv[0], "changes")))
		return err_set(err, KYMO_EXIT_USAGE,
			       "write kymo store add DIR --commit ID TRACE..., kymo store list DIR, or "
			       "kymo store changes DIR");
	if (strcmp(argv[0], "add") == 0)
		return add(&o, argc - 1, argv + 1, err);
	if (argc > 2)
		return err_set(err, KYMO_EXIT_USAGE,
			       "%s has one operand, the store; '%.100s' is one more",
			       argv[0], argv[2]);
	return read_and(&o, argv[0], argv[1], err);
}

const struct verb verb_store = {
	.name = "store",
	.synopsis = "add DIR --commit ID TRACE... | list DIR | changes DIR",
	.summary = "keep summaries of runs by commit, and say which commit changed what",
	.description =
		"A store is a folder of plain files: a summary of each run, by commit. Commit it "
		"to a branch of its own, or copy it; nothing else is needed.\n\n"
		"  add      write a summary of each TRACE for the commit; TRACE is a trace, a\n"
		"           summary, or a directory of recordings\n"
		"  list     the commits, oldest first\n"
		"  changes  in which commit a metric changed for good: for a look once a week,\n"
		"           at 20 commits or more\n\n"
		"Then compare: kymo diff --store DIR BASE NEW, where BASE and NEW are commits, and "
		"kymo check --base DIR/COMMIT.\n\n"
		"A summary has some 10 kB. Above 50 kB, what nothing compares is left out.",
	.examples = "kymo store add perf --commit \"$(git rev-parse --short HEAD)\" bench/new\n"
		    "kymo store list perf\n"
		    "kymo store changes perf --only '*/planner*'\n"
		    "kymo diff --store perf 4f1c2aa 9b02e11",
	.opts = opts,
	.run = run,
};
