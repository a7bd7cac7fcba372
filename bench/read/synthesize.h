/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes ROS 2 traces for the benchmarks of what reads traces (synthesize.c, synthesize_robot.c):
 * a side is a stream of events of one thread, which are written in the order of their times.
 */
#ifndef BENCH_SYNTHESIZE_H
#define BENCH_SYNTHESIZE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "abi/points.h"
#include "ctf/write/writer.h"

#define SIDE_PACKET (64u << 10)
#define SIDE_EPOCH_NS 1700000000000000000ll

/* A number as an argument of side_event(). */
#define N(value) ((uint64_t)(value))

/* Between header and payload of init events. */
struct init_context {
	uint64_t init_timestamp;
	int32_t vpid, vtid;
	char procname[CTF_PROCNAME_SIZE];
} __attribute__((packed));

struct side {
	struct ctf_out *out;
	struct init_context init;	/* of a stream of init events */
	bool is_init;
	struct ctf_packet packet;
	unsigned char bytes[SIDE_PACKET];
};

static inline void side_fail(const char *what)
{
	fprintf(stderr, "bench_synthesize: %s\n", what);
	exit(1);
}

static inline void side_flush(struct side *side)
{
	side->packet.events = side->bytes;
	if (side->packet.size && ctf_out_packet(side->out, &side->packet))
		side_fail("cannot write");
	side->packet.size = 0;
}

static inline void side_put(struct side *side, const void *from, size_t size)
{
	memcpy(side->bytes + side->packet.size, from, size);
	side->packet.size += size;
}

/* Arguments as the point's descriptor says: uint64_t for numbers, const char * for strings. */
static inline void side_event_list(struct side *side, uint64_t ns, unsigned id, va_list list)
{
	const struct kymo_point *point = &kymo_points[id];
	const uint16_t id16 = (uint16_t)id;

	if (side->packet.size > SIDE_PACKET - 1024)
		side_flush(side);
	if (!side->packet.size)
		side->packet.begin = ns;
	side->packet.end = ns;
	side_put(side, &id16, 2);
	side_put(side, &ns, 8);
	if (side->is_init) {
		side->init.init_timestamp = ns;
		side_put(side, &side->init, sizeof(side->init));
	}
	for (unsigned i = 0; i < point->field_count; i++) {
		uint64_t number;

		if (point->field[i].kind == KYMO_KIND_STR) {
			const char *text = va_arg(list, const char *);

			side_put(side, text, strlen(text) + 1);
			continue;
		}
		number = va_arg(list, uint64_t);
		side_put(side, &number, point->field[i].kind == KYMO_KIND_BOOL ? 4 : 8);
	}
}

static inline void side_open(struct side *side, struct ctf_writer *writer, enum ctf_class class,
			     unsigned pid, const char *name)
{
	char file[32];

	snprintf(file, sizeof(file), "%s_%u", class == CTF_CLASS_INIT ? "init" : "ros2", pid);
	side->out = ctf_out_create(writer, class, file);
	if (!side->out)
		side_fail("no memory");
	side->is_init = class == CTF_CLASS_INIT;
	side->init.vpid = side->init.vtid = (int32_t)pid;
	snprintf(side->init.procname, sizeof(side->init.procname), "%.16s", name);
	side->packet.vpid = side->packet.vtid = (int32_t)pid;
	snprintf(side->packet.procname, sizeof(side->packet.procname), "%.16s",
		 name);
}

static inline void side_close(struct side *side)
{
	side_flush(side);
	ctf_out_close(side->out);
}

/* An empty trace in a new directory. */
static inline struct ctf_writer *side_writer(const char *directory)
{
	const struct ctf_trace_desc desc = {
		.name = "bench", .hostname = "bench", .boot_id = "", .clock_offset_ns = SIDE_EPOCH_NS,
		.created_s = SIDE_EPOCH_NS / 1000000000, .version_minor = 1,
	};
	struct ctf_writer *writer;
	struct kymo_err err;

	if (mkdir(directory, 0777) || ctf_writer_create(directory, &desc, &writer, &err))
		side_fail("cannot create the trace");
	for (unsigned i = 0; i < KYMO_POINTS_TABLE; i++)
		if (KYMO_V(8, 2) >= kymo_points[i].from && KYMO_V(8, 2) <= kymo_points[i].to)
			ctf_writer_declare(writer, i);
	return writer;
}

#endif
