/* SPDX-License-Identifier: Apache-2.0 */
/* The metadata of a trace: what is declared, appended whole or not at all. */
#include "ctf/write/writer_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "ctf/write/metadata.h"

/* Another descriptor of the metadata that is held locked, or -1: somebody removed it. */
static int metadata_again(const struct ctf_share *share)
{
	struct stat st;

	if (fstat(share->metadata, &st) == 0 && st.st_nlink)
		return fcntl(share->metadata, F_DUPFD_CLOEXEC, 0);
	errno = ENOENT;
	return -1;
}

/*
 * Appends @text whole or not at all. The file gets its name when the first text is complete: a
 * directory without metadata is not a trace, but one with half of it is a broken trace.
 */
static int file_append(struct ctf_writer *writer, const char *text, size_t size)
{
	const uint64_t length = (uint64_t)writer->metadata_length;
	const char *name = length ? "metadata" : "metadata.part";
	int flags = length ? O_NOFOLLOW : O_CREAT | O_EXCL;
	const bool held = length && writer->share.active && writer->share.metadata >= 0;
	int fd, rc, dir = writer_dir(writer);

	if (dir < 0)
		return dir;
	while ((fd = held ? metadata_again(&writer->share)
			  : openat(dir, name, O_WRONLY | O_CLOEXEC | flags, 0644)) < 0)
		if (!writer_frees_descriptor(writer))
			return -errno;
	if (writer->share.active && !held)
		(void)ctf_lock_all(fd, length); /* until it is closed */
	writer_announce(writer, name, length, size, NULL, 0);
	rc = pwrite_all(fd, text, size, writer->metadata_length);
	if (rc < 0)
		(void)writer_cut(fd, length); /* the next append overwrites it */
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (!length && rc == 0 && renameat(dir, name, dir, "metadata") < 0)
		rc = -errno;
	if (rc == 0)
		writer->metadata_length += (off_t)size;
	if (rc == 0 && held)
		(void)ctf_lock_ready(writer->share.metadata, length, size);
	else if (rc < 0 && !length)
		(void)unlinkat(dir, name, 0); /* so that the next call can try again */
	return rc;
}

static int metadata_append(struct ctf_writer *writer, const char *text, size_t size)
{
	int rc;

	if (!writer->store)
		return file_append(writer, text, size);
	rc = writer->store->metadata(writer->store->context, writer->uuid, text, size);
	if (rc == 0)
		writer->metadata_length += (off_t)size;
	return rc;
}

/* Text that is appended to the metadata as a whole: text_begin(), prints to `out`,
 * text_append(). */
struct text {
	FILE *out;
	char *bytes;
	size_t size;
};

static bool text_begin(struct text *text)
{
	*text = (struct text){ 0 };
	text->out = open_memstream(&text->bytes, &text->size);
	return text->out;
}

/* Another form needs the head to know what the events refer to; it is @text itself, the first
 * time. */
static int append_form(struct text *text, struct ctf_writer *writer)
{
	const size_t known = writer->head_size;
	char *whole = realloc(writer->head, known + text->size);
	struct text formed;
	int rc;

	if (!whole)
		return -ENOMEM;
	writer->head = whole;
	memcpy(whole + known, text->bytes, text->size);
	if (!text_begin(&formed))
		return -ENOMEM;
	rc = writer->form(whole, known, known + text->size, formed.out);
	if (fclose(formed.out) != 0 && rc == 0)
		rc = -ENOMEM;
	if (rc == 0)
		rc = metadata_append(writer, formed.bytes, formed.size);
	if (rc == 0 && !known)
		writer->head_size = text->size;
	free(formed.bytes);
	return rc;
}

static int text_append(struct text *text, struct ctf_writer *writer)
{
	int rc = fclose(text->out) == 0 ? 0 : -ENOMEM;

	if (rc == 0 && text->size)
		rc = writer->form ? append_form(text, writer)
				  : metadata_append(writer, text->bytes, text->size);
	free(text->bytes);
	return rc;
}

int writer_metadata_begin(struct ctf_writer *writer, const struct ctf_trace_desc *desc)
{
	struct text text;

	if (!text_begin(&text))
		return -ENOMEM;
	writer->form = desc->form;
	ctf_metadata_uuid(writer->uuid);
	ctf_metadata_begin(text.out, desc, writer->uuid);
	return text_append(&text, writer);
}

/* Declares all ids of @wanted that are not declared in @class yet, in one write. */
static int declare_all(struct ctf_writer *writer, enum ctf_class class,
		       const bool wanted[KYMO_POINTS_TABLE])
{
	bool *declared = writer->declared[class];
	struct text text;
	int rc;

	if (!text_begin(&text))
		return -ENOMEM;
	for (unsigned id = 0; id < KYMO_POINTS_TABLE; id++)
		if (wanted[id] && !declared[id])
			ctf_metadata_event(text.out, &kymo_points[id], id, class);
	rc = text_append(&text, writer);
	for (unsigned id = 0; rc == 0 && id < KYMO_POINTS_TABLE; id++)
		declared[id] |= wanted[id];
	return rc;
}

int ctf_writer_declare(struct ctf_writer *writer, unsigned id)
{
	bool wanted[KYMO_POINTS_TABLE] = { false };
	enum ctf_class class;

	assert(id < KYMO_POINTS_TABLE);
	class = kymo_points[id].phase == KYMO_PHASE_INIT ? CTF_CLASS_INIT : CTF_CLASS_RUN;
	if (writer->declared[class][id])
		return 0;
	wanted[id] = true;
	return declare_all(writer, class, wanted);
}

static bool emits(unsigned version, const struct kymo_point *point)
{
	if (point->phase != KYMO_PHASE_RUN || point->from > point->to)
		return false;
	if (version == CTF_NO_TRACETOOLS)
		return strncmp(point->provider, "ros2", 4) != 0;
	return !version || (point->from <= version && version <= point->to);
}

int ctf_writer_declare_version(struct ctf_writer *writer, enum ctf_class class, unsigned version)
{
	bool wanted[KYMO_POINTS_TABLE] = { false };

	for (unsigned id = 0; id < KYMO_POINTS_TABLE; id++)
		wanted[id] = emits(version, &kymo_points[id]);
	return declare_all(writer, class, wanted);
}

int ctf_writer_declare_own(struct ctf_writer *writer, enum ctf_class class, unsigned id,
			   const struct kymo_point *point)
{
	bool *declared = &writer->own_declared[class][id - KYMO_POINTS_TABLE];
	struct text text;
	int rc;

	assert(id >= KYMO_POINTS_TABLE && id < KYMO_POINTS_MAX);
	if (*declared)
		return 0;
	if (!text_begin(&text))
		return -ENOMEM;
	ctf_metadata_event(text.out, point, id, class);
	rc = text_append(&text, writer);
	*declared = rc == 0;
	return rc;
}
