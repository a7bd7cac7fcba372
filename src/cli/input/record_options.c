/* SPDX-License-Identifier: Apache-2.0 */
/* See record_options.h. */
#include "cli/input/record_options.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "base/text.h"
#include "ctf/tsdl/ctf2_form.h"
#include "recorder/doctor/doctor.h"
#include "recorder/runtime/rundir.h"
#include "recorder/runtime/status.h"

/* ---- rules ---- */

static int add_all(struct filter_rules *rules, enum filter_kind kind, const struct opt_list *list,
		   struct kymo_err *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < list->count; i++)
		rc = filter_rules_add(rules, kind, list->item[i], err);
	return rc;
}

int filter_wish(const struct filter_wishes *wishes, struct filter_rules *rules,
		struct kymo_err *err)
{
	int rc = 0;

	for (unsigned kind = 0; rc == 0 && kind < FILTER_KINDS; kind++)
		rc = add_all(rules, (enum filter_kind)kind, &wishes->kind[kind], err);
	for (unsigned i = 0; rc == 0 && i < wishes->files.count; i++)
		rc = filter_rules_file(rules, wishes->files.item[i], err);
	return rc;
}

/* ---- trace directories ---- */

bool sink_files_any(const struct sink_wishes *wishes)
{
	return wishes->rotate_size || wishes->rotate_time || wishes->max_size || wishes->compress ||
	       wishes->ctf;
}

int sink_files_read(const struct sink_wishes *wishes, struct sink_files *files,
		    struct kymo_err *err)
{
	static const struct sink_files_names names = { "--rotate-size", "--rotate-time", "--max-size" };

	*files = (struct sink_files){
		.rotate_size = wishes->rotate_size,
		.rotate_ns = wishes->rotate_time < 0 ? 1 : (uint64_t)wishes->rotate_time,
		.max_size = wishes->max_size,
		.compress = wishes->compress,
		.form = wishes->ctf ? ctf2_form : NULL,
	};
	return sink_files_check(files, &names, err);
}

/* ---- processes ---- */

#define WHY_MAX 1024	/* bytes of a reason */

/* The first problem that the doctor finds. */
static void keep_problem(void *context, const struct doctor_found *found)
{
	char *why = context;

	if (found->result == DOCTOR_PROBLEM && !*why)
		(void)snprintf(why, WHY_MAX, ": %s%s%s", found->text, found->remedy ? "; " : "", found->remedy ? found->remedy : "");
}

struct search {
	int pid;
	bool found;
};

static void is_it(void *context, const struct process_status *status)
{
	struct search *search = context;

	search->found |= search->pid == (status->host_pid ? status->host_pid : (int)status->pid);
}

/* A process that is not traced is recorded as soon as it is; so the user learns why it is not. */
static void hint(const char *verb, int pid)
{
	char why[WHY_MAX] = "", clean[4 * WHY_MAX];
	struct doctor doctor = { .libdir = KYMO_LIBDIR, .found = keep_problem, .context = why };
	struct search search = { .pid = pid };
	struct rundir dir;

	if (rundir_open(&dir, NULL, false, NULL) == 0) {
		(void)status_read(&dir, is_it, NULL, &search, NULL);
		rundir_close(&dir);
	}
	if (search.found)
		return;
	(void)doctor_process(&doctor, (unsigned)pid, NULL);
	if (!why[0])
		(void)snprintf(why, sizeof why, ": it has no event yet, or it uses another runtime directory (KYMO_DIR)");
	text_clean(clean, sizeof clean, why);
	fprintf(stderr, "kymo %s: process %d is not traced%s; \"kymo doctor -p %d\" shows more\n", verb, pid,
		clean, pid);
}

/* A number is a process, anything else the name of some. */
int select_processes(const char *verb, const struct opt_list *list, struct session_options *session,
		     struct kymo_err *err)
{
	for (unsigned i = 0; i < list->count; i++) {
		const char *item = list->item[i];
		uint64_t pid;

		if (!*item)
			return err_set(err, KYMO_EXIT_USAGE, "--pid requires a process number or a name");
		if (!text_read_u64(item, &pid)) {
			session->names[session->name_count++] = item;
			continue;
		}
		if (!pid || pid > INT32_MAX)
			return err_set(err, KYMO_EXIT_USAGE, "invalid process number '%s'", item);
		if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
			return err_set(err, KYMO_EXIT_INPUT, "no process %" PRIu64 " exists; \"kymo status\" "
				       "lists the processes that can be recorded", pid);
		hint(verb, (int)pid);
		session->pids[session->pid_count++] = (int)pid;
	}
	return 0;
}
static_assert(OPT_LIST_MAX <= SESSION_PIDS_MAX, "every pid fits");
