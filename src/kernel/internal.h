/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the kernel's events: kernel.c (all CPUs), format.c (tracefs), ring.c (perf), trace.c (CTF). */
#ifndef KYMO_KERNEL_INTERNAL_H
#define KYMO_KERNEL_INTERNAL_H

#include <stdio.h>

#include "ctf/index.h"
#include "kernel/kernel.h"

/* ---- the table, and where its fields are in this kernel's records ---- */

enum kevent_kind { KEVENT_NONE, KEVENT_COMM, KEVENT_I32, KEVENT_U32, KEVENT_I64, KEVENT_STRING, KEVENT_PRIO };

#define KEVENT_FIELDS_MAX 8
#define KEVENT_COMM_SIZE 16
#define KEVENT_STRING_MAX 64		/* bytes of a string, with its NUL */
#define KEVENT_SIZE_MAX 256		/* bytes of an event in the trace */

struct kevent_field {
	const char *name, *raw;
	enum kevent_kind kind;
};

struct kevent {
	const char *system, *raw, *name;
	struct kevent_field field[KEVENT_FIELDS_MAX + 1];	/* the last one is KEVENT_NONE */
};

extern const struct kevent kevents[];
extern const unsigned kevent_count;

struct kplace {
	uint16_t offset, size;		/* bytes in a record; size 0: this kernel does not have it */
	bool is_data_loc;		/* u32: low half the offset of a text, high half its length */
	bool is_signed;
};

/* A tracepoint of this kernel. */
struct kformat {
	uint32_t id;			/* 0: it does not have it */
	struct kplace place[KEVENT_FIELDS_MAX];
};

/** format_read() - of @event, from tracefs. Return: 0; -errno. */
int format_read(const char *tracefs, const struct kevent *event, struct kformat *format);

/** format_tracefs() - where it is mounted; NULL: nowhere that can be read. */
const char *format_tracefs(void);

/* ---- a CPU's ring ---- */

#define RING_EVENTS_MAX 16

struct kring {
	int fd[RING_EVENTS_MAX];	/* of the tracepoints; the first one has the ring */
	unsigned fds;
	void *map;
	size_t size;			/* of the data, a power of two */
	uint8_t *record;		/* a copy, where one lies across the ring's end */
};

struct krecord {
	uint64_t ns;
	const uint8_t *raw;
	uint32_t raw_size;
};

/** ring_open() - tracepoints @id of CPU @cpu, nothing runs yet. Return: 0; -errno. */
int ring_open(struct kring *ring, int cpu, const uint32_t *id, unsigned count, size_t size);
void ring_start(struct kring *ring);
void ring_stop(struct kring *ring);
void ring_close(struct kring *ring);

/**
 * ring_read() - hand out what is there
 * @take: called for each record, in the ring's order; valid during the call
 * Return: whether the ring was full at some time.
 */
bool ring_read(struct kring *ring, void (*take)(void *context, const struct krecord *record), void *context);

/** ring_counted() - events that happened since ring_start(), by the kernel's own count. */
uint64_t ring_counted(const struct kring *ring);

/* ---- the trace ---- */

#define TRACE_PACKET (64u << 10)	/* bytes of events after which a packet is written */

struct kstream {
	int dir_fd, fd;
	char name[32];
	uint32_t cpu;
	const uint8_t *uuid;
	struct ctf_index index;
	uint64_t begin_ns, last_ns;	/* of the packet in work, of the last event ever */
	uint64_t taken, seq, offset, lost, written_lost;
	uint8_t *events;
	size_t size, room;
};

/** trace_metadata() - write it whole. @there: by event. Return: 0; -errno. */
int trace_metadata(int dir_fd, const struct ctf_trace_desc *desc, const uint8_t uuid[16], const struct kformat *there);

int stream_open(struct kstream *stream, int dir_fd, uint32_t cpu, const uint8_t uuid[16]);

/** stream_add() - an event of @id; into the packet in work. Return: 0; -errno: a packet was due and is not written. */
int stream_add(struct kstream *stream, unsigned id, uint64_t ns, const void *payload, size_t size);

/** stream_front() - an empty packet at the beginning, so that a reader sees what the next one has lost. Return: as ... */
int stream_front(struct kstream *stream, uint64_t now_ns);

/** stream_flush() - write the packet in work, if there is anything in it or lost. Return: 0; -errno. */
int stream_flush(struct kstream *stream, uint64_t now_ns);
int stream_close(struct kstream *stream, uint64_t now_ns);

/** event_encode() - @record of @event as it is in the trace. Return: bytes; 0: it is too short to be one. */
size_t event_encode(const struct kevent *event, const struct kformat *format, const struct krecord *record,
		    uint8_t out[KEVENT_SIZE_MAX]);

#endif
