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

#define NUMBER(bits, sign, base)                                 \
	"integer { size = " #bits "; align = 8; signed = " #sign \
	"; encoding = none; base = " #base "; }"

/* The first `kernel` frames are of the kernel; the innermost function comes first. */
static const char stream[] = "stream {\n"
			     "	id = 0;\n"
			     "	event.header := struct event_header;\n"
			     "	packet.context := struct packet_context;\n"
			     "	event.context := struct {\n"
			     "		int32_t _vpid;\n"
			     "		int32_t _vtid;\n"
			     "		procname_t _procname[17];\n"
			     "	};\n"
			     "};\n\n";

static void put_stacks(FILE *out, const char *name, enum stacks_event id)
{
	fprintf(out,
		"event {\n\tname = \"kymo_stacks:%s\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n"
		"\t\t" NUMBER(
			64, true,
			10) " _ns;\n"
			    "\t\t" NUMBER(
				    32, false,
				    10) " _kernel;\n"
					"\t\t" NUMBER(
						64, false,
						10) " __frames_length;\n"
						    "\t\t" NUMBER(
							    64, false,
							    16) " _frames[ __frames_length ];\n"
								"\t};\n};\n\n",
		name, (unsigned)id);
}

static void put_metadata(FILE *out, const struct ctf_trace_desc *desc, const uint8_t uuid[16],
			 unsigned stream_id, const void *of)
{
	(void)stream_id;
	(void)of;
	ctf_metadata_head(out, desc, "ust", uuid);
	fputs(stream, out);
	put_stacks(out, "sample", STACKS_SAMPLE);
	put_stacks(out, "off_cpu", STACKS_OFF_CPU);
	ctf_metadata_event(out, &kymo_points[KYMO_POINT_bin_info], STACKS_BIN_INFO, 0);
	ctf_metadata_event(out, &kymo_points[KYMO_POINT_build_id], STACKS_BUILD_ID, 0);
	fprintf(out,
		"event {\n\tname = \"kymo_stacks:kernel_function\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n"
		"\t\t" NUMBER(64, false, 16) " _address;\n"
					     "\t\t" NUMBER(64, false,
							   10) " _size;\n"
							       "\t\tstring _name;\n\t};\n};\n\n",
		(unsigned)STACKS_FUNCTION);
}

/* ---- places ---- */

static int open_streams(struct stacks_place *place, const struct stacks_rings *rings, int dir_fd,
			uint64_t now_ns)
{
	int rc = 0;

	place->stream = calloc(rings->cpus, sizeof(*place->stream));
	if (!place->stream)
		return -ENOMEM;
	place->cpus = rings->cpus;
	for (unsigned i = 0; rc == 0 && i < rings->cpus; i++) {
		if (!rings->ring[i].map)
			continue;
		rc = stream_open(&place->stream[i], dir_fd, i, place->uuid);
		rc = rc ? rc : stream_front(&place->stream[i], now_ns);
	}
	return rc;
}

static int turn_streams(struct stacks_place *place, int dir_fd)
{
	int rc = 0, turned;

	for (unsigned i = 0; i < place->cpus; i++) {
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
	for (unsigned i = 0; i < place->cpus && place->rc == 0; i++)
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
	if (place->rc == 0 && place->stream && place->stream[cpu].events)
		place->rc = stream_add(&place->stream[cpu], (unsigned)event, ns, payload, size);
}

void stacks_trace_flush(struct stacks_place *place, uint64_t now_ns)
{
	for (unsigned i = 0; place->rc == 0 && i < place->cpus; i++)
		if (place->stream[i].events)
			place->rc = stream_flush(&place->stream[i], now_ns);
}

void stacks_trace_end(struct stacks_place *place, uint64_t now_ns, bool remove)
{
	int rc;

	for (unsigned i = 0; i < place->cpus; i++) {
		rc = stream_close(&place->stream[i], now_ns);
		place->rc = place->rc ? place->rc : rc;
	}
	if (place->dir && remove)
		trace_remove(place->dir, place->dir_fd, place->stream, place->cpus);
	if (place->dir)
		(void)close(place->dir_fd);
	free(place->stream);
	free(place->dir);
	*place = (struct stacks_place){ .rc = place->rc };
}
