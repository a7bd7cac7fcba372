/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's events as a CTF trace: its directory and its metadata. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/syscalls.h"
#include "ctf/write/metadata.h"
#include "kernel/kernel_place.h"

/* ---- metadata ---- */

static const char *const kind_text[] = {
	[KEVENT_COMM] = "integer { size = 8; align = 8; signed = true; encoding = UTF8; base = 10; }",
	[KEVENT_I32] = "integer { size = 32; align = 8; signed = true; encoding = none; base = 10; }",
	[KEVENT_U32] = "integer { size = 32; align = 8; signed = false; encoding = none; base = 10; }",
	[KEVENT_I64] = "integer { size = 64; align = 8; signed = true; encoding = none; base = 10; }",
	[KEVENT_PTR] = "integer { size = 64; align = 8; signed = false; encoding = none; base = 16; }",
	[KEVENT_STRING] = "string",
	[KEVENT_PRIO] = "integer { size = 32; align = 8; signed = true; encoding = none; base = 10; }",
};

static void put_event(FILE *out, unsigned stream, unsigned id, const char *name,
		      const struct kevent_field *field)
{
	fprintf(out, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = %u;\n\tfields := struct {\n", name, id, stream);
	for (; field->kind != KEVENT_NONE; field++)
		fprintf(out, "\t\t%s _%s%s;\n", kind_text[field->kind], field->name,
			field->kind == KEVENT_COMM ? "[16]" : "");
	fprintf(out, "\t};\n};\n\n");
}

static void put_calls(FILE *out, unsigned stream)
{
	char name[80];

	for (unsigned i = 0; i < syscall_count(); i++) {
		if (!syscall_name(i))
			continue;
		(void)snprintf(name, sizeof(name), "syscall_entry_%s", syscall_name(i));
		put_event(out, stream, calls_id(i, false), name,
			  kevents[KEVENT_ID_syscall_entry_unknown].field + 1);
		(void)snprintf(name, sizeof(name), "syscall_exit_%s", syscall_name(i));
		put_event(out, stream, calls_id(i, true), name,
			  kevents[KEVENT_ID_syscall_exit_unknown].field + 1);
	}
}

void trace_put_kernel(FILE *out, const struct ctf_trace_desc *desc, const uint8_t uuid[16],
		      unsigned stream, const void *formats)
{
	const struct kformat *format = formats;

	ctf_metadata_head(out, desc, "kernel", uuid);
	fprintf(out, "stream {\n\tid = %u;\n\tevent.header := struct event_header;\n\tpacket.context := struct packet_context;\n};\n\n",
		stream);
	for (unsigned i = 0; i < kevent_count; i++)
		if (format[i].id)
			put_event(out, stream, i, kevents[i].name, kevents[i].field);
	if (format[KEVENT_ID_syscall_entry_unknown].id)
		put_calls(out, stream);
}

/* Return: 0 and the whole metadata, for free(), in the form that @desc wants; -errno. */
static int make_metadata(const struct ctf_trace_desc *desc, const uint8_t uuid[16], trace_put *put,
			 const void *of, unsigned stream, char **text, size_t *size)
{
	FILE *out = open_memstream(text, size);
	char *tsdl;
	int rc;

	if (!out)
		return -ENOMEM;
	put(out, desc, uuid, stream, of);
	rc = fclose(out) == 0 ? 0 : -ENOMEM;
	if (rc == 0 && !desc->form)
		return 0;
	tsdl = *text;
	*text = NULL;
	out = rc == 0 ? open_memstream(text, size) : NULL;
	if (out) {
		rc = desc->form(tsdl, 0, strlen(tsdl), out);
		if (fclose(out) != 0 && rc == 0)
			rc = -ENOMEM;
	}
	free(tsdl);
	return out ? rc : -ENOMEM;
}

static int trace_metadata(int dir_fd, const struct ctf_trace_desc *desc, const uint8_t uuid[16],
			  trace_put *put, const void *of)
{
	char *text = NULL;
	size_t size = 0;
	int rc = make_metadata(desc, uuid, put, of, 0, &text, &size), fd = -1;

	if (rc == 0) {
		fd = openat(dir_fd, "metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
		rc = fd < 0 ? -errno : write_all(fd, text, size);
	}
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = -errno;
	free(text);
	return rc;
}

int trace_create(const char *dir, const struct ctf_trace_desc *desc, trace_put *put, const void *of,
		 uint8_t uuid[16], int *dir_fd, struct kymo_err *err)
{
	int rc;

	*dir_fd = -1;
	ctf_metadata_uuid(uuid);
	if (mkdir(dir, 0755) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot create %s: %s", dir, strerror(errno));
	*dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*dir_fd < 0 || mkdirat(*dir_fd, "index", 0755) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot write into %s: %s", dir, strerror(errno));
	rc = trace_metadata(*dir_fd, desc, uuid, put, of);
	return rc < 0 ? err_set(err, KYMO_EXIT_FAILED, "cannot write into %s: %s", dir, strerror(-rc)) : 0;
}

int trace_store(const struct ctf_store *store, const struct ctf_trace_desc *desc,
		const struct kformat *format, uint8_t uuid[16], struct kymo_err *err)
{
	char *text = NULL;
	size_t size = 0;
	int rc;

	ctf_metadata_uuid(uuid);
	rc = make_metadata(desc, uuid, trace_put_kernel, format, CTF_CLASS_KERNEL, &text,
			   &size);
	if (rc == 0)
		rc = store->metadata(store->context, uuid, text, size);
	free(text);
	return rc < 0 ? err_set(err, KYMO_EXIT_FAILED, "cannot send kernel events: %s", strerror(-rc)) : 0;
}

void trace_remove(const char *dir, int dir_fd, const struct kstream *stream, unsigned count)
{
	char name[48];

	for (unsigned i = 0; i < count; i++) {
		if (!stream[i].name[0])
			continue;
		(void)snprintf(name, sizeof(name), "index/%s.idx", stream[i].name);
		(void)unlinkat(dir_fd, stream[i].name, 0);
		(void)unlinkat(dir_fd, name, 0);
	}
	(void)unlinkat(dir_fd, "metadata", 0);
	(void)unlinkat(dir_fd, "index", AT_REMOVEDIR);
	(void)rmdir(dir);
}
