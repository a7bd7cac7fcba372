/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of call stacks as a CTF trace: its metadata, and a stream for each CPU. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/points.h"
#include "ctf/write/metadata.h"
#include "kernel/kernel_place.h"
#include "kernel/stacks_internal.h"

/* clang-format off */
#define NUMBER "integer { align = 8; encoding = none; "
#define I64 NUMBER "size = 64; signed = true; base = 10; }"
#define U64 NUMBER "size = 64; signed = false; base = 10; }"
#define U32 NUMBER "size = 32; signed = false; base = 10; }"
#define POINTER NUMBER "size = 64; signed = false; base = 16; }"

static const char stream[] =
	"stream {\n"
	"	id = %u;\n"
	"	event.header := struct event_header;\n"
	"	packet.context := struct packet_context;\n"
	"	event.context := struct {\n"
	"		int32_t _vpid;\n"
	"		int32_t _vtid;\n"
	"		procname_t _procname[17];\n"
	"	};\n"
	"};\n\n";

static const char event_begin[] =
	"event {\n"
	"	name = \"kymo_stacks:%s\";\n"
	"	id = %u;\n"
	"	stream_id = %u;\n"
	"	fields := struct {\n";

/* The first `kernel` frames are of the kernel; the innermost function comes first. */
static const char stack_fields[] =
	"		" I64 " _ns;\n"
	"		" U32 " _kernel;\n"
	"		" U64 " __frames_length;\n"
	"		" POINTER " _frames[ __frames_length ];\n"
	"	};\n"
	"};\n\n";

static const char function_fields[] =
	"		" POINTER " _address;\n"
	"		" U64 " _size;\n"
	"		string _name;\n"
	"	};\n"
	"};\n\n";
/* clang-format on */

#define FACTS_FILE "facts"

/* The facts have the class of those of kymo's other traces: a part that is cut out of the trace
 * later keeps them. */
static void put_metadata(FILE *out, const struct ctf_trace_desc *desc, const uint8_t uuid[16],
			 unsigned stream_id, const void *of)
{
	(void)stream_id;
	(void)of;
	ctf_metadata_head(out, desc, "ust", uuid);
	fprintf(out, stream, CTF_CLASS_RUN);
	fprintf(out, stream, CTF_CLASS_INIT);
	fprintf(out, event_begin, "sample", STACKS_SAMPLE, CTF_CLASS_RUN);
	fputs(stack_fields, out);
	fprintf(out, event_begin, "off_cpu", STACKS_OFF_CPU, CTF_CLASS_RUN);
	fputs(stack_fields, out);
	ctf_metadata_event(out, &kymo_points[KYMO_POINT_bin_info], STACKS_BIN_INFO, CTF_CLASS_INIT);
	ctf_metadata_event(out, &kymo_points[KYMO_POINT_build_id], STACKS_BUILD_ID, CTF_CLASS_INIT);
	fprintf(out, event_begin, "kernel_function", STACKS_FUNCTION, CTF_CLASS_INIT);
	fputs(function_fields, out);
}

/* ---- places ---- */

static int open_streams(struct stacks_place *place, const struct stacks_rings *rings, int dir_fd,
			uint64_t now_ns)
{
	int rc = 0;

	place->stream = calloc(rings->cpus + 1, sizeof(*place->stream));
	if (!place->stream)
		return -ENOMEM;
	place->facts = rings->cpus;
	place->streams = rings->cpus + 1;
	for (unsigned i = 0; rc == 0 && i < rings->cpus; i++) {
		if (!rings->ring[i].map)
			continue;
		rc = stream_open(&place->stream[i], dir_fd, i, place->uuid);
		rc = rc ? rc : stream_front(&place->stream[i], now_ns);
	}
	if (rc == 0)
		rc = stream_open_class(&place->stream[place->facts], dir_fd, FACTS_FILE,
				       CTF_CLASS_INIT, place->uuid);
	return rc ? rc : stream_front(&place->stream[place->facts], now_ns);
}

static int turn_streams(struct stacks_place *place, int dir_fd)
{
	int rc = 0, turned;

	for (unsigned i = 0; i < place->streams; i++) {
		turned = place->stream[i].events ? stream_turn(&place->stream[i], dir_fd) : 0;
		rc = rc ? rc : turned;
	}
	return rc;
}

int stacks_trace_into(struct stacks_place *place, const struct stacks_rings *rings, const char *dir,
		      const struct ctf_trace_desc *desc, uint64_t now_ns, struct kymo_err *err)
{
	char *path = strdup(dir);
	uint8_t uuid[16];
	int dir_fd = -1, rc;

	if (!path)
		return err_no_memory(err);
	if (trace_create(dir, desc, put_metadata, NULL, uuid, &dir_fd, err) < 0) {
		if (dir_fd >= 0) {
			trace_remove(dir, dir_fd, NULL, 0);
			(void)close(dir_fd);
		}
		free(path);
		return -1;
	}
	for (unsigned i = 0; i < place->streams && place->rc == 0; i++)
		if (place->stream[i].events)
			place->rc = stream_flush(&place->stream[i], place->stream[i].last_ns);
	memcpy(place->uuid, uuid, sizeof(uuid));
	rc = place->stream ? turn_streams(place, dir_fd)
			   : open_streams(place, rings, dir_fd, now_ns);
	place->rc = place->rc ? place->rc : rc;
	if (place->dir)
		(void)close(place->dir_fd);
	free(place->dir);
	place->dir = path;
	place->dir_fd = dir_fd;
	return 0;
}

void stacks_trace_event(struct stacks_place *place, unsigned cpu, enum stacks_event event,
			uint64_t ns, const void *payload, size_t size)
{
	struct kstream *to;

	if (place->rc || !place->stream)
		return;
	to = &place->stream[event >= STACKS_BIN_INFO ? place->facts : cpu];
	/* A fact comes before the sample that needs it. */
	if (to->events)
		place->rc = stream_add(to, (unsigned)event, ns - (event >= STACKS_BIN_INFO),
				       payload, size);
}

void stacks_trace_flush(struct stacks_place *place, uint64_t now_ns)
{
	for (unsigned i = 0; place->rc == 0 && i < place->streams; i++)
		if (place->stream[i].events)
			place->rc = stream_flush(&place->stream[i], now_ns);
}

void stacks_trace_end(struct stacks_place *place, uint64_t now_ns, bool remove)
{
	int rc;

	for (unsigned i = 0; i < place->streams; i++) {
		rc = stream_close(&place->stream[i], now_ns);
		place->rc = place->rc ? place->rc : rc;
	}
	if (place->dir && remove)
		trace_remove(place->dir, place->dir_fd, place->stream, place->streams);
	if (place->dir)
		(void)close(place->dir_fd);
	free(place->stream);
	free(place->dir);
	*place = (struct stacks_place){ .rc = place->rc };
}
