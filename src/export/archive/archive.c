/* SPDX-License-Identifier: Apache-2.0 */
/* See archive.h. */
#include "export/archive/archive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "ctf/read/reader.h"
#include "export/archive/tar.h"
#include "export/perfetto/perfetto.h"

#define NAME_BYTES 64			/* of a host or trace, with its NUL */
#define SUFFIX ".pftrace"
#define MANIFEST "perfetto_manifest.json"
#define SAME_BOOT_NS 1000000000		/* wall clocks are set by less while a host runs */

struct archive_host {
	char name[NAME_BYTES];	/* in the manifest */
	char *hostname;			/* as the trace has it */
	int64_t offset_ns;		/* epoch minus its CLOCK_MONOTONIC */
};

struct archived_file {
	char name[NAME_BYTES]; /* without the suffix */
	uint32_t machine;      /* the number of its first host: the index in archive.host */
	unsigned hosts;
};

struct archive {
	struct archived_file *member;
	unsigned members;
	struct archive_host *host;
	unsigned hosts, hosts_capacity;
	int64_t offset_ns;		/* the least of all hosts */
	struct tar tar;
	char name[NAME_BYTES + sizeof(SUFFIX)];	/* of the file that is being written */
};

/* @text with only characters that file names and JSON take as they are. Readers skip hidden files,
 * so no dot at the front. */
static void clean_name(char name[NAME_BYTES], const char *text)
{
	static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
	size_t length = strnlen(text, NAME_BYTES - 12);	/* room for a number */

	memcpy(name, text, length);
	name[length] = 0;
	for (size_t i = 0; i < length; i++)
		if (!strchr(good, name[i]) || (!i && name[i] == '.'))
			name[i] = '_';
	if (!length)
		memcpy(name, "_", sizeof("_"));
}

/* Makes @name differ from @count others, which are @stride bytes apart. */
static void make_unique(char name[NAME_BYTES], const void *others, unsigned count, size_t stride)
{
	size_t length = strlen(name);

	for (unsigned number = 2, i = 0; i < count; i++) {
		if (strcmp((const char *)others + i * stride, name) != 0)
			continue;
		snprintf(name + length, NAME_BYTES - length, "-%u", number++);
		i = UINT32_MAX;		/* from the first again */
	}
}

static const struct archive_host *find_host(const struct archive *archive, const char *hostname,
				    int64_t offset_ns)
{
	for (unsigned i = 0; i < archive->hosts && *hostname; i++)
		if (!strcmp(archive->host[i].hostname, hostname) &&
		    llabs(archive->host[i].offset_ns - offset_ns) < SAME_BOOT_NS)
			return &archive->host[i];
	return NULL;
}

/* Return: 0, or -1: no memory. */
static int add_host(struct archive *archive, const struct archived_file *member,
		    const struct kymo_ctf_trace_info *info)
{
	const struct archive_host *same;
	struct archive_host *host;

	if (!ARRAY_ROOM(archive->host, archive->hosts, archive->hosts_capacity))
		return -1;
	same = find_host(archive, info->hostname, info->clock_offset_ns);
	host = &archive->host[archive->hosts];
	*host = (struct archive_host){ .hostname = strdup(info->hostname),
				       .offset_ns = info->clock_offset_ns };
	if (!host->hostname)
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

/* The last part of the path of @trace, cut. */
static int name_of(const char *trace, char name[NAME_BYTES], struct kymo_err *err)
{
	char *whole = realpath(trace, NULL);

	if (!whole)
		return err_set(err, KYMO_EXIT_INPUT, "cannot open the trace %s: %m", trace);
	(void)snprintf(name, NAME_BYTES, "%.*s", NAME_BYTES - 1, strrchr(whole, '/')[1] ? strrchr(whole, '/') + 1 : "trace");
	free(whole);
	return 0;
}

static int plan_member(struct archive *archive, const char *trace, struct kymo_err *err)
{
	struct archived_file *member = &archive->member[archive->members];
	char whole[NAME_BYTES];
	struct kymo_ctf_reader *reader;
	int64_t offset_ns;
	int status = 0;

	if (name_of(trace, whole, err) || kymo_ctf_open(trace, &reader, err))
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
static void write_machines(const struct archive *archive, const struct archived_file *member,
			   FILE *out)
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
 * All files have one clock, that of the first host. Without being told, readers would align the
 * others by their wall clocks again, and undo what little the recorder saw these move.
 */
static void write_clock(const struct archive *archive, const struct archived_file *member,
			FILE *out)
{
	const struct archived_file *first = archive->member;
	const char *name = archive->host[member->machine].name, *to = archive->host[0].name;

	if (strcmp(name, to) != 0)
		fprintf(out, ",\n \"clocks\": {\"machine\": \"%s\", \"clock\": \"MONOTONIC\", \"sync_to\": "
			"{\"file\": \"%s" SUFFIX "\", \"machine\": \"%s\", \"clock\": \"MONOTONIC\"}}",
			name, first->name, to);
}

static int write_manifest(const struct archive *archive, FILE *out)
{
	fprintf(out, "{\"perfetto_manifest\": {\"version\": 1,\n\"trace_time\": {\"clock\": \"MONOTONIC\", "
		"\"file\": \"%s" SUFFIX "\", \"machine\": \"%s\"},\n\"files\": [", archive->member->name,
		archive->host->name);
	for (unsigned i = 0; i < archive->members; i++) {
		const struct archived_file *member = &archive->member[i];

		fprintf(out, "%s\n{\"path\": \"%s" SUFFIX "\"", i ? "," : "", member->name);
		write_machines(archive, member, out);
		write_clock(archive, member, out);
		fputs("}", out);
	}
	fputs("\n]}}\n", out);
	return fclose(out);
}

int archive_create(struct archive **result, const char *const *path, unsigned count,
		   struct kymo_err *err)
{
	struct archive *archive = calloc(1, sizeof(*archive));
	int status = 0;

	if (archive)
		archive->member = calloc(count, sizeof(*archive->member));
	if (!archive || !archive->member)
		status = err_no_memory(err);
	for (unsigned i = 0; i < count && !status; i++)
		status = plan_member(archive, path[i], err);
	if (status)
		archive_free(archive);
	else
		*result = archive;
	return status;
}

void archive_free(struct archive *archive)
{
	if (!archive)
		return;
	for (unsigned i = 0; i < archive->hosts; i++)
		free(archive->host[i].hostname);
	free(archive->host);
	free(archive->member);
	free(archive);
}

int archive_begin(struct archive *archive, int fd, struct kymo_err *err)
{
	FILE *out;

	if (tar_open(&archive->tar, fd, err) || tar_begin(&archive->tar, MANIFEST, err))
		return -1;
	out = fdopen(dup(fd), "w");
	if (!out || write_manifest(archive, out))
		return err_set(err, KYMO_EXIT_FAILED, "cannot write the manifest: %m");
	return tar_end(&archive->tar, err);
}

int archive_member_begin(struct archive *archive, unsigned index, struct archive_member *place,
			 struct kymo_err *err)
{
	const struct archived_file *member = &archive->member[index];

	(void)snprintf(archive->name, sizeof(archive->name), "%s" SUFFIX, member->name);
	*place = (struct archive_member){ .name = member->name,
					  .file = archive->name,
					  .fd = archive->tar.fd,
					  .machine = member->machine,
					  .offset_ns = archive->offset_ns };
	return tar_begin(&archive->tar, archive->name, err);
}

int archive_member_end(struct archive *archive, struct kymo_err *err)
{
	return tar_end(&archive->tar, err);
}

int archive_end(struct archive *archive, struct kymo_err *err)
{
	return tar_close(&archive->tar, err);
}
