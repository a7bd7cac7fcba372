/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several traces as one archive of Perfetto files. Hosts have numbers of their own and all files the clock
 * of the host that booted first, so that also readers that know no manifest keep them apart and aligned.
 */
#include "cli/verbs/export/export_archive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctf/read/reader.h"
#include "export/perfetto/perfetto.h"
#include "export/tar.h"

#define NAME_MAX_BYTES 64		/* of a host or trace, with its NUL */
#define SUFFIX ".pftrace"
#define MANIFEST "perfetto_manifest.json"
#define SAME_BOOT_NS 1000000000		/* wall clocks are set by less while a host runs */

struct host {
	char name[NAME_MAX_BYTES];	/* in the manifest */
	const char *told;		/* by the trace; freed */
	int64_t offset_ns;		/* epoch minus its CLOCK_MONOTONIC */
};

struct member {
	char name[NAME_MAX_BYTES];	/* without the suffix */
	uint32_t machine;		/* the number of its first host: the index in archive.host */
	unsigned hosts;
};

struct archive {
	struct member *member;
	unsigned members;
	struct host *host;
	unsigned hosts;
	int64_t offset_ns;		/* the least of all hosts */
};

/* @text as it may stand in a file's name and in JSON alike; hidden files are skipped by readers. */
static void clean_name(char name[NAME_MAX_BYTES], const char *text)
{
	static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
	size_t length = strnlen(text, NAME_MAX_BYTES - 12);	/* room for a number */

	memcpy(name, text, length);
	name[length] = 0;
	for (size_t i = 0; i < length; i++)
		if (!strchr(good, name[i]) || (!i && name[i] == '.'))
			name[i] = '_';
	if (!length)
		memcpy(name, "_", sizeof("_"));
}

/* Makes @name differ from @count others, which stand @stride bytes apart. */
static void make_unique(char name[NAME_MAX_BYTES], const void *others, unsigned count, size_t stride)
{
	size_t length = strlen(name);

	for (unsigned number = 2, i = 0; i < count; i++) {
		if (strcmp((const char *)others + i * stride, name) != 0)
			continue;
		snprintf(name + length, NAME_MAX_BYTES - length, "-%u", number++);
		i = UINT32_MAX;		/* from the first again */
	}
}

static const struct host *find_host(const struct archive *archive, const char *hostname, int64_t offset_ns)
{
	for (unsigned i = 0; i < archive->hosts && *hostname; i++)
		if (!strcmp(archive->host[i].told, hostname) &&
		    llabs(archive->host[i].offset_ns - offset_ns) < SAME_BOOT_NS)
			return &archive->host[i];
	return NULL;
}

/* Return: 0, or -1: no memory. */
static int add_host(struct archive *archive, const struct member *member, const struct kymo_ctf_trace_info *info)
{
	const struct host *same = find_host(archive, info->hostname, info->clock_offset_ns);
	struct host *host;

	if (!(archive->hosts & (archive->hosts - 1))) {
		host = realloc(archive->host, sizeof(*host) * (archive->hosts ? 2 * archive->hosts : 1));
		if (!host)
			return -1;
		same = same ? host + (same - archive->host) : NULL;
		archive->host = host;
	}
	host = &archive->host[archive->hosts];
	*host = (struct host){ .told = strdup(info->hostname), .offset_ns = info->clock_offset_ns };
	if (!host->told)
		return -1;
	if (same) {
		memcpy(host->name, same->name, sizeof(host->name));
	} else {
		clean_name(host->name, *info->hostname ? info->hostname : member->name);
		make_unique(host->name, archive->host, archive->hosts, sizeof(*host));
	}
	archive->hosts++;
	return 0;
}

/* The model numbers hosts in the order of the traces, a name once. */
static bool is_new_host(const struct kymo_ctf_reader *reader, unsigned index)
{
	const char *hostname = kymo_ctf_trace(reader, index)->hostname;

	for (unsigned i = 0; i < index && *hostname; i++)
		if (!strcmp(kymo_ctf_trace(reader, i)->hostname, hostname))
			return false;
	return true;
}

static int plan_member(struct archive *archive, const char *trace, struct kymo_err *err)
{
	struct member *member = &archive->member[archive->members];
	char whole[CLI_PATH_MAX];
	struct kymo_ctf_reader *reader;
	int64_t offset_ns;
	int status = 0;

	if (export_name(trace, whole, err) || kymo_ctf_open(trace, &reader, err))
		return -1;
	clean_name(member->name, whole);
	make_unique(member->name, archive->member, archive->members, sizeof(*member));
	member->machine = archive->hosts;
	for (unsigned i = 0; i < kymo_ctf_trace_count(reader) && !status; i++)
		if (is_new_host(reader, i))
			status = add_host(archive, member, kymo_ctf_trace(reader, i));
	member->hosts = archive->hosts - member->machine;
	offset_ns = perfetto_offset(reader);
	if (!archive->members || offset_ns < archive->offset_ns)
		archive->offset_ns = offset_ns;
	archive->members++;
	kymo_ctf_close(reader);
	return status ? err_no_memory(err) : 0;
}

/* What belongs to no host is of number 0. */
static void write_machines(const struct archive *archive, const struct member *member, FILE *out)
{
	fputs(", \"machines\": [", out);
	for (unsigned k = 0; k < member->hosts; k++) {
		uint32_t machine = member->machine + k;
		const char *name = archive->host[machine].name;

		if (!k && machine)
			fprintf(out, "{\"id\": 0, \"name\": \"%s\"}, ", name);
		fprintf(out, "%s{\"id\": %" PRIu32 ", \"name\": \"%s\"}", k ? ", " : "", machine, name);
	}
	fputs("]", out);
}

/*
 * All files have one clock, that of the first host. Without being told, readers would align the others by
 * their wall clocks again, and undo what little the recorder saw these move.
 */
static void write_clock(const struct archive *archive, const struct member *member, FILE *out)
{
	const struct member *first = archive->member;
	const char *name = archive->host[member->machine].name, *to = archive->host[0].name;

	if (strcmp(name, to) != 0)
		fprintf(out, ",\n \"clocks\": {\"machine\": \"%s\", \"clock\": \"MONOTONIC\", \"sync_to\": "
			"{\"file\": \"%s" SUFFIX "\", \"machine\": \"%s\", \"clock\": \"MONOTONIC\"}}",
			name, first->name, to);
}

static int write_manifest(const struct archive *archive, struct tar *tar, struct kymo_err *err)
{
	FILE *out;

	if (tar_begin(tar, MANIFEST, err))
		return -1;
	out = fdopen(dup(tar->fd), "w");
	if (!out)
		return err_set(err, KYMO_EXIT_FAILED, "Writing failed: %m.");
	fprintf(out, "{\"perfetto_manifest\": {\"version\": 1,\n\"trace_time\": {\"clock\": \"MONOTONIC\", "
		"\"file\": \"%s" SUFFIX "\", \"machine\": \"%s\"},\n\"files\": [", archive->member->name,
		archive->host->name);
	for (unsigned i = 0; i < archive->members; i++) {
		const struct member *member = &archive->member[i];

		fprintf(out, "%s\n{\"path\": \"%s" SUFFIX "\"", i ? "," : "", member->name);
		write_machines(archive, member, out);
		write_clock(archive, member, out);
		fputs("}", out);
	}
	fputs("\n]}}\n", out);
	if (fclose(out))
		return err_set(err, KYMO_EXIT_FAILED, "Writing failed: %m.");
	return tar_end(tar, err);
}

static int write_members(const struct archive *archive, const struct export_perfetto *request,
			 char *const *trace, struct tar *tar, bool *lost, struct kymo_err *err)
{
	for (unsigned i = 0; i < archive->members; i++) {
		const struct member *member = &archive->member[i];
		struct export_member place = { .fd = tar->fd, .machine = member->machine,
					       .offset_ns = archive->offset_ns };
		struct export_perfetto one = *request;
		char name[NAME_MAX_BYTES + sizeof(SUFFIX)];
		bool of_one = false;

		snprintf(name, sizeof(name), "%s" SUFFIX, member->name);
		one.trace = trace[i];
		one.output = name;
		one.name = member->name;
		one.member = &place;
		if (tar_begin(tar, name, err) || export_perfetto(&one, &of_one, err) || tar_end(tar, err))
			return -1;
		*lost |= of_one;
	}
	return tar_close(tar, err);
}

static int write_archive(const struct archive *archive, const struct export_perfetto *request,
			 char *const *trace, bool *lost, struct kymo_err *err)
{
	struct tar tar;
	bool made;
	int fd = export_open(request->output, request->force, &made, err), status;

	if (fd < 0)
		return -1;
	status = tar_open(&tar, fd, err) || write_manifest(archive, &tar, err) ||
		 write_members(archive, request, trace, &tar, lost, err);
	if (close(fd) && !status)
		status = err_set(err, KYMO_EXIT_FAILED, "Writing failed: %m.");
	if (status && made)
		(void)unlink(request->output);
	if (status)
		return err_wrap(err, "%s", request->output);
	if (!request->quiet)
		fprintf(stderr, "%s: %u traces. Open it at https://ui.perfetto.dev (it stays in your browser).\n",
			request->output, archive->members);
	return 0;
}

int export_archive(const struct export_perfetto *request, char *const *trace, unsigned count, bool *lost,
		   struct kymo_err *err)
{
	struct archive archive = { .member = calloc(count, sizeof(*archive.member)) };
	int status = 0;

	if (!archive.member)
		return err_no_memory(err);
	for (unsigned i = 0; i < count && !status; i++)
		status = plan_member(&archive, trace[i], err);
	if (!status)
		status = write_archive(&archive, request, trace, lost, err);
	for (unsigned i = 0; i < archive.hosts; i++)
		free((void *)archive.host[i].told);
	free(archive.host);
	free(archive.member);
	return status;
}
