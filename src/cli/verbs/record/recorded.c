/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/record/recorded.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/common/common.h"

/* The next size that may help: four times the ring that overflowed, at least 4 MiB; none beyond the
 * largest. */
#define LOUD_PERCENT 20        /* an event below this is not what filled a ring */
#define RING_MAX (64ull << 20) /* as KYMO_RING_SIZE allows */

static void larger_rings(const struct session_stats *stats, char *text, size_t size)
{
	uint64_t bytes = 4ull << 20;

	*text = 0;
	while (bytes <= stats->full_ring)
		bytes *= 4;
	if (bytes <= RING_MAX)
		(void)snprintf(text, size, "use larger rings (--ring-size %uM, KYMO_RING_SIZE)",
			       (unsigned)(bytes >> 20));
}

/* Why, and what helps: other rings, and to leave out what filled them. */
static void print_dropped(const char *verb, const struct session_stats *stats)
{
	char rings[80], clean[2 * sizeof stats->loudest];
	const bool remains = strcmp(verb, "recover") == 0;

	larger_rings(stats, rings, sizeof rings);
	text_clean(clean, sizeof clean, stats->loudest);
	fprintf(stderr, "kymo %s: %" PRIu64 " events were dropped, because %s", verb,
		stats->dropped - stats->dropped_no_ring,
		remains ? "the rings were full when no recorder emptied them"
			: "the recorder was slower than the program for a while");
	if (*rings && !remains)
		fprintf(stderr, "; %s", rings);
	if (stats->loudest_share >= LOUD_PERCENT)
		fprintf(stderr, "%s %u %% of what filled the rings was %s (-e '!%s' leaves it out)",
			*rings && !remains ? ", or record less:" : ";", stats->loudest_share, clean,
			clean);
	fputc('\n', stderr);
}

/* Why threads got no ring, and what to do. The number comes from the traced process, so it may be
 * anything. */
static void print_no_ring(const char *verb, const struct session_stats *stats)
{
	fprintf(stderr,
		"kymo %s: %" PRIu64 " events were dropped, because their threads got no ring: ",
		verb, stats->dropped_no_ring);
	switch (stats->no_ring_why) {
	case 0:
	case ENOMEM:
		fputs("all rings of a process share KYMO_RING_MEMORY (64M); start it with more, or "
		      "with a smaller KYMO_RING_SIZE\n",
		      stderr);
		break;
	case ENOSPC:
		fputs("there is no room in the file system of KYMO_DIR, or the process has 2048 "
		      "rings\n",
		      stderr);
		break;
	case EDQUOT:
		fputs("the quota of its user in the file system of KYMO_DIR is used up; raise the "
		      "quota\n",
		      stderr);
		break;
	case EFBIG:
		fputs("the limit of the process for the size of files is too small; start it with "
		      "a larger \"ulimit -f\"\n",
		      stderr);
		break;
	case EMFILE:
	case ENFILE:
		fputs("no file descriptor was free for a moment; start it with a larger \"ulimit "
		      "-n\"\n",
		      stderr);
		break;
	default:
		fprintf(stderr,
			"the process can no longer open its file in KYMO_DIR (%s): it changed its "
			"user or root directory, or a seccomp filter forbids it; use "
			"kymo_thread_ready() in its threads before that\n",
			stats->no_ring_why < 200 ? strerror((int)stats->no_ring_why)
						 : "unknown error");
	}
}

static void print_loss(const char *verb, const struct session_stats *stats)
{
	if (stats->dropped > stats->dropped_no_ring)
		print_dropped(verb, stats);
	if (stats->dropped_no_ring)
		print_no_ring(verb, stats);
	if (stats->init_dropped)
		fprintf(stderr, "kymo %s: %" PRIu64 " init events were dropped: names of nodes, topics "
			"or callbacks may be missing\n", verb, stats->init_dropped);
	if (stats->unwritten)
		fprintf(stderr, "kymo %s: %" PRIu64 " events could not be written\n", verb,
			stats->unwritten);
	if (stats->lost_bytes)
		fprintf(stderr, "kymo %s: %" PRIu64 " bytes in corrupt buffers were left out\n", verb,
			stats->lost_bytes);
}

static void print_waits(const char *verb, const struct session_stats *stats)
{
	char time[TEXT_QUANTITY_MAX];

	if (stats->waits)
		fprintf(stderr,
			"kymo %s: the programs waited %" PRIu64
			" times for room, %s in all threads together (--block): their "
			"times are longer by that\n",
			verb, stats->waits, text_ns(time, (int64_t)stats->waited_ns));
}

static void print_summary(const struct session_stats *stats)
{
	char time[TEXT_QUANTITY_MAX], bytes[TEXT_QUANTITY_MAX], left_out[64] = "";

	if (stats->filtered)
		(void)snprintf(left_out, sizeof left_out, ", %" PRIu64 " left out by rules", stats->filtered);
	fprintf(stderr, "%" PRIu64 " events and %" PRIu64 " init events of %u process%s in %s, %s, "
		"%" PRIu64 " dropped%s\n", stats->recorded, stats->init_events, stats->processes,
		stats->processes == 1 ? "" : "es", text_ns(time, (int64_t)stats->duration_ns),
		text_bytes(bytes, stats->bytes), stats->dropped, left_out);
}

void recorded_kernel(const char *verb, const struct kernel_stats *kernel, bool quiet)
{
	if (kernel->lost)
		fprintf(stderr, "kymo %s: %" PRIu64 " of the kernel's events were lost%s\n", verb, kernel->lost,
			kernel->full ? ": the rings were full" : ": the kernel counted them but did not deliver them");
	if (kernel->unseen)
		fprintf(stderr,
			"kymo %s: the kernel did not report %" PRIu64
			" or more switches between threads\n",
			verb, kernel->unseen);
	if (kernel->unseen_calls)
		fprintf(stderr,
			"kymo %s: the kernel did not report %" PRIu64
			" or more events of system calls\n",
			verb, kernel->unseen_calls);
	if (kernel->cpus && !quiet)
		fprintf(stderr, "kernel: %" PRIu64 " events of %u CPUs through %s%s\n", kernel->events, kernel->cpus, kernel->source,
			kernel->all ? "" : ", of what is traced and what ran instead");
}

static void print_stacks(const char *verb, const struct stacks_stats *stacks, bool quiet)
{
	if (stacks->lost)
		fprintf(stderr,
			"kymo %s: %" PRIu64 " records of call stacks were lost: the rings were full; use a "
			"smaller --stacks-rate\n", verb, stacks->lost);
	if (quiet)
		return;
	fprintf(stderr, "stacks: %" PRIu64 " samples at %u Hz, ", stacks->samples, stacks->hz);
	if (stacks->user_only)
		fputs("without the kernel's functions, and without waits\n", stderr);
	else
		fprintf(stderr, "%" PRIu64 " waits\n", stacks->waits);
}

static int print_table(const char *verb, const struct session_stats *stats,
		       const struct kernel_stats *kernel, const struct stacks_stats *stacks,
		       const char *output, int format)
{
	struct table *table;

	if (cli_table(verb, format, &table))
		return KYMO_EXIT_FAILED;
	table_value_text(table, "trace", "Trace", output);
	table_value_u64(table, "events", "Events", stats->recorded);
	table_value_u64(table, "init_events", "Init events", stats->init_events);
	table_value_u64(table, "dropped", "Dropped", stats->dropped);
	table_value_u64(table, "filtered", "Left out by rules", stats->filtered);
	table_value_u64(table, "init_dropped", "Init events dropped", stats->init_dropped);
	table_value_u64(table, "unwritten", "Not written", stats->unwritten);
	table_value_u64(table, "waits", "Waits for room", stats->waits);
	table_value_ns(table, "waited_ns", "Waited for room", (int64_t)stats->waited_ns);
	table_value_u64(table, "corrupt_bytes", "Corrupt bytes", stats->lost_bytes);
	table_value_u64(table, "bytes", "Bytes", stats->bytes);
	table_value_u64(table, "processes", "Processes", stats->processes);
	table_value_u64(table, "threads", "Threads", stats->threads);
	table_value_ns(table, "duration_ns", "Duration", (int64_t)stats->duration_ns);
	if (kernel) {
		table_value_u64(table, "kernel_events", "Kernel events", kernel->events);
		table_value_u64(table, "kernel_lost", "Kernel events lost", kernel->lost);
		table_value_u64(table, "kernel_unseen_switches",
				"Switches not reported by the kernel", kernel->unseen);
		table_value_u64(table, "kernel_unseen_calls",
				"Events of system calls not reported by the kernel",
				kernel->unseen_calls);
		table_value_u64(table, "kernel_left_out", "Kernel events of other threads, left out", kernel->left_out);
		table_value_text(table, "kernel_source", "Kernel events through", kernel->source);
		table_value_u64(table, "kernel_bytes", "Bytes of kernel events", kernel->bytes);
	}
	if (stacks) {
		table_value_u64(table, "stacks_samples", "Samples of call stacks", stacks->samples);
		table_value_u64(table, "stacks_waits", "Waits with call stacks", stacks->waits);
		table_value_u64(table, "stacks_lost", "Call stacks lost", stacks->lost);
	}
	return cli_close(verb, table, KYMO_EXIT_OK);
}

int recorded_once(const struct session_options *options, struct session_stats *stats,
		  struct kymo_err *err)
{
	struct session *session;
	int rc;

	if (session_begin(options, &session, err) < 0)
		return -1;
	(void)session_poll(session);
	rc = session_end(session, err);
	session_stats(session, stats);
	session_free(session);
	return rc;
}

bool recorded_lossy(const struct session_stats *stats)
{
	return stats->dropped || stats->init_dropped || stats->unwritten || stats->lost_bytes;
}

int recorded_print(const char *verb, const struct session_stats *stats,
		   const struct kernel_stats *kernel, const struct stacks_stats *stacks,
		   const char *output, int format, bool quiet)
{
	char word[4 * CLI_PATH_MAX];
	int status = KYMO_EXIT_OK;

	if (format != TABLE_TEXT)
		status = print_table(verb, stats, kernel, stacks, output, format);
	if (status != KYMO_EXIT_OK)
		return status;
	if (!quiet)
		print_summary(stats);
	print_loss(verb, stats);
	print_waits(verb, stats);
	if (kernel)
		recorded_kernel(verb, kernel, quiet);
	if (stacks)
		print_stacks(verb, stacks, quiet);
	if (!quiet && output)
		fprintf(stderr, "trace: %s\nnext:  kymo report %s\n", output,
			text_shell(word, sizeof(word), output));
	return KYMO_EXIT_OK;
}

/* Why, the recorder has said where it ran; the accounts do not have it. */
static void print_lost(const char *verb, const struct accounts *accounts)
{
	const struct accounts_totals *totals = &accounts->totals;
	const struct {
		uint64_t count;
		const char *what;
	} lost[] = {
		{ totals->dropped, "events were dropped" },
		{ totals->init_dropped, "init events were dropped" },
		{ totals->unwritten, "events could not be written" },
		{ totals->corrupt_bytes, "bytes in corrupt buffers were left out" },
		{ accounts->kernel.lost, "of the kernel's events were lost" },
		{ accounts->stacks.lost, "records of call stacks were lost" },
	};

	for (unsigned i = 0; i < COUNT_OF(lost); i++)
		if (lost[i].count)
			fprintf(stderr, "kymo %s: %" PRIu64 " %s\n", verb, lost[i].count,
				lost[i].what);
}

void recorded_accounts(const char *verb, const struct accounts *accounts)
{
	const struct accounts_totals *totals = &accounts->totals;
	const struct accounts_kernel *of_kernel = &accounts->kernel;
	const struct session_stats stats = {
		.recorded = totals->recorded,
		.init_events = totals->init_events,
		.processes = (unsigned)totals->processes,
		.duration_ns = (uint64_t)accounts->root.duration_ns,
		.bytes = totals->bytes,
		.dropped = totals->dropped,
		.filtered = totals->filtered,
	};
	const struct kernel_stats kernel = {
		.events = of_kernel->recorded,
		.cpus = (unsigned)of_kernel->cpus,
		.source = of_kernel->source,
		.all = of_kernel->threads && strcmp(of_kernel->threads, "all") == 0,
	};
	const struct stacks_stats stacks = {
		.samples = accounts->stacks.samples,
		.waits = accounts->stacks.waits,
		.hz = (unsigned)accounts->stacks.hz,
		.user_only = accounts->stacks.user_only,
	};

	print_summary(&stats);
	print_lost(verb, accounts);
	recorded_kernel(verb, &kernel, false);
	if (stacks.hz)
		print_stacks(verb, &stacks, false);
}
