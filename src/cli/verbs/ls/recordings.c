/* SPDX-License-Identifier: Apache-2.0 */
/* See recordings.h. */
#include "cli/verbs/ls/recordings.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>

#include "accounts/accounts.h"
#include "base/array.h"
#include "base/order.h"
#include "cli/input/found.h"
#include "ctf/read/reader.h"
#include "live/watch.h"

#define DEPTH_MAX 4u /* directories between the one that is listed and a recording: host, day */

bool recording_is(const char *path)
{
	static const char *const marks[] = { ACCOUNTS_FILE, "metadata", "ust",
					     "kernel",      "archives", "snapshot-1",
					     "stacks" };
	char name[CLI_PATH_MAX + 16];
	struct stat status;

	for (unsigned i = 0; i < COUNT_OF(marks); i++) {
		(void)snprintf(name, sizeof(name), "%s/%s", path, marks[i]);
		if (!stat(name, &status))
			return true;
	}
	return false;
}

static void add_streams(struct recording *recording, const struct kymo_ctf_reader *reader)
{
	bool any = false;

	for (unsigned i = 0; i < kymo_ctf_stream_count(reader); i++) {
		const struct kymo_ctf_stream_info *stream = kymo_ctf_stream(reader, i);
		int64_t begin_ns, end_ns;

		recording->bytes += stream->bytes;
		recording->lost += stream->lost;
		recording->lost_packets += stream->lost_packets;
		if (!stream->packets || !stream->end_ns) /* a packet need not say its time */
			continue;
		begin_ns = kymo_ctf_time_of(reader, stream->trace, stream->begin_ns);
		end_ns = kymo_ctf_time_of(reader, stream->trace, stream->end_ns);
		if (!any || begin_ns < recording->begin_ns)
			recording->begin_ns = begin_ns;
		if (!any || end_ns > recording->end_ns)
			recording->end_ns = end_ns;
		any = true;
	}
}

static void add_accounts(struct recording *recording, const struct accounts *accounts)
{
	const uint64_t lost = accounts->dropped + accounts->unwritten;

	if (lost > recording->lost)
		recording->lost = lost;
	recording->counted = accounts->ended;
	recording->events =
		accounts->recorded + accounts->totals.init_events + accounts->kernel.recorded;
	recording->processes = accounts->totals.processes;
}

/* "recording since 23:41:05" */
static void being_recorded(struct recording *recording)
{
	const time_t begin = (time_t)(recording->begin_ns / 1000000000);
	char since[32];
	struct tm at;

	(void)snprintf(recording->note, sizeof(recording->note), "being recorded");
	if (recording->end_ns && localtime_r(&begin, &at) &&
	    strftime(since, sizeof(since), "%H:%M:%S", &at))
		(void)snprintf(recording->note, sizeof(recording->note), "recording since %s",
			       since);
}

/* What is wrong, the worst first. */
static void judge(struct recording *recording, const struct kymo_ctf_reader *reader,
		  const struct accounts *accounts, const char *problem)
{
	char *const note = recording->note;
	const size_t size = sizeof(recording->note);
	const enum accounts_end end = accounts_end(accounts, recording->running);

	if (recording->running)
		being_recorded(recording);
	else if (*problem)
		(void)snprintf(note, size, "damaged: %.200s", problem);
	else if (kymo_ctf_warning_count(reader))
		(void)snprintf(note, size, "damaged: %s", kymo_ctf_warning(reader, 0));
	else if (end == ACCOUNTS_NOT_ENDED)
		(void)snprintf(note, size, "incomplete: the recorder %s", accounts_end_text(end));
	else if (recording->lost)
		(void)snprintf(note, size, "%llu events lost", (unsigned long long)recording->lost);
	else if (recording->lost_packets)
		(void)snprintf(note, size, "%llu packets missing",
			       (unsigned long long)recording->lost_packets);
	else if (!recording->end_ns)
		(void)snprintf(note, size, "no events");
	recording->complete = !*note;
}

/* Of a verb that read all of it before. */
static int add_findings(struct recording *recording, struct kymo_err *err)
{
	struct found found;

	if (!found_get(recording->path, &found))
		return 0;
	recording->findings = found.findings;
	recording->finding = strdup(found.first);
	recording->ask = strdup(found.ask);
	return recording->finding && recording->ask ? 0 : err_no_memory(err);
}

int recording_read(struct recording *recording, const char *path, struct kymo_err *err)
{
	struct kymo_ctf_reader *reader;
	struct accounts accounts;
	struct kymo_err why;
	char problem[512];

	*recording = (struct recording){ .path = strdup(path) };
	if (!recording->path)
		return err_no_memory(err);
	if (kymo_ctf_open(path, &reader, &why)) {
		(void)snprintf(recording->note, sizeof(recording->note), "damaged: %.200s",
			       why.text);
		return 0;
	}
	recording->running = watch_alive(reader, "");
	accounts_read(&accounts, path, problem);
	add_streams(recording, reader);
	add_accounts(recording, &accounts);
	judge(recording, reader, &accounts, problem);
	accounts_free(&accounts);
	kymo_ctf_close(reader);
	return recording->running ? 0 : add_findings(recording, err);
}

void recording_free(struct recording *recording)
{
	free(recording->path);
	free(recording->finding);
	free(recording->ask);
}

static int add(struct recordings *recordings, const char *path, struct kymo_err *err)
{
	if (!ARRAY_ROOM(recordings->item, recordings->count, recordings->capacity))
		return err_no_memory(err);
	if (recording_read(&recordings->item[recordings->count], path, err))
		return -1;
	recordings->count++;
	return 0;
}

static int look(struct recordings *recordings, const char *directory, unsigned depth,
		struct kymo_err *err);

/* Looks at @name in @directory. Return: 0, or -1 with @err: no memory. */
static int look_at(struct recordings *recordings, const char *directory, const char *name,
		   unsigned depth, struct kymo_err *err)
{
	char path[CLI_PATH_MAX];
	struct stat status;
	struct kymo_err unread;

	if (name[0] == '.' ||
	    (size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path) ||
	    lstat(path, &status) || !S_ISDIR(status.st_mode))
		return 0;
	if (recording_is(path))
		return add(recordings, path, err);
	if (depth >= DEPTH_MAX || !look(recordings, path, depth + 1, &unread))
		return 0;
	if (unread.status == KYMO_EXIT_INPUT) /* a directory of others, say */
		return 0;
	*err = unread;
	return -1;
}

static int look(struct recordings *recordings, const char *directory, unsigned depth,
		struct kymo_err *err)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	int status = 0;

	if (!dir)
		return err_set(err, KYMO_EXIT_INPUT, "cannot look for recordings in %s: %s",
			       directory, strerror(errno));
	while (!status && (entry = readdir(dir)))
		status = look_at(recordings, directory, entry->d_name, depth, err);
	(void)closedir(dir);
	return status;
}

static int newest_first(const void *a, const void *b)
{
	const struct recording *x = a, *y = b;

	return ORDER(y->begin_ns, x->begin_ns) ?: strverscmp(y->path, x->path);
}

int recordings_find(struct recordings *recordings, const char *directory, struct kymo_err *err)
{
	*recordings = (struct recordings){ 0 };
	if (recording_is(directory) ? add(recordings, directory, err)
				    : look(recordings, directory, 0, err)) {
		recordings_free(recordings);
		return -1;
	}
	if (recordings->count)
		qsort(recordings->item, recordings->count, sizeof(*recordings->item), newest_first);
	return 0;
}

void recordings_free(struct recordings *recordings)
{
	for (unsigned i = 0; i < recordings->count; i++)
		recording_free(&recordings->item[i]);
	free(recordings->item);
	*recordings = (struct recordings){ 0 };
}
