/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by stacks.c (beginning, end, processes), stacks_records.c (threads and samples),
 * stacks_rings.c (perf's events and rings), stacks_files.c (files and functions behind addresses)
 * and stacks_place.c (the trace).
 *
 * Context of all functions: as stacks.h.
 */
#ifndef KYMO_KERNEL_STACKS_INTERNAL_H
#define KYMO_KERNEL_STACKS_INTERNAL_H

#include <stddef.h>

#include "base/map.h"
#include "kernel/kernel_stream.h"
#include "kernel/stacks.h"

#define STACKS_FRAMES_MAX 512u
#define STACKS_NAME 17u

/* ---- perf's rings ---- */

enum stacks_kind { STACKS_RUNS, STACKS_LEAVES, STACKS_KINDS };

/* A record of perf, with what all of them have. */
struct stacks_record {
	uint64_t ns;
	uint32_t type; /* PERF_RECORD_... */
	uint16_t misc;
	int32_t pid, tid;
	uint64_t id; /* of the event, as when it was opened: also for threads that inherited it */
	const uint8_t *body; /* of a sample: the call chain; of others: behind the header */
	size_t size;
};

struct stacks_ring {
	int fd; /* of an event without samples, which has the ring; -1: the CPU is switched off */
	void *map;
	size_t size;
	uint64_t head, at, from; /* captured up to head; `record` begins at from, and ends at at */
	uint8_t *copy;           /* of a record that lies across the end of the ring */
	bool known;              /* record is valid, and not yet walked over */
	struct stacks_record record;
};

/* The events of a thread that was opened by name; other threads inherited them. */
struct stacks_opened {
	int32_t tid;
	unsigned users; /* threads that have its events and are alive */
	int *fd;        /* [cpus * STACKS_KINDS], -1: none; NULL: closed */
};

struct stacks_rings {
	unsigned cpus, hz;
	bool user_only;
	struct stacks_ring *ring; /* [cpus] */
	struct stacks_opened *opened;
	unsigned count, room;
	struct map ids; /* (id of an event, 0) -> 1 + kind + STACKS_KINDS * its index in opened */
};

/** stacks_rings_open() - Return: 0; -errno: nothing is open. */
int stacks_rings_open(struct stacks_rings *rings, unsigned hz);

/** stacks_rings_add() - open the events of thread @tid. Return: its index in `opened`; -errno. */
int stacks_rings_add(struct stacks_rings *rings, int32_t tid);

/** stacks_rings_user() - a thread with these events appeared (1) or ended (-1); without any, they
 * are closed. */
void stacks_rings_user(struct stacks_rings *rings, unsigned opened, int change);

/** stacks_rings_find() - which of `opened` an id belongs to. Return: false: none. */
bool stacks_rings_find(const struct stacks_rings *rings, uint64_t id, unsigned *opened,
		       enum stacks_kind *kind);

/** stacks_rings_capture() - stacks_rings_next() sees what the rings have now. */
void stacks_rings_capture(struct stacks_rings *rings);

/** stacks_rings_next() - the oldest record of all rings, up to @to_ns, valid until the next call.
 * Return: NULL: there is none. @cpu: set to its CPU. */
const struct stacks_record *stacks_rings_next(struct stacks_rings *rings, uint64_t to_ns,
					      unsigned *cpu);

/** stacks_rings_release() - the kernel may overwrite what was walked over. */
void stacks_rings_release(struct stacks_rings *rings);
void stacks_rings_close(struct stacks_rings *rings);

/* ---- the trace ---- */

/* Ids of events. */
enum stacks_event {
	STACKS_SAMPLE,
	STACKS_OFF_CPU,
	STACKS_BIN_INFO,
	STACKS_BUILD_ID,
	STACKS_FUNCTION,
};

/* Before the fields of each event: its context. */
struct __attribute__((packed)) stacks_context {
	int32_t pid, tid;
	char name[STACKS_NAME];
};

struct __attribute__((packed)) stacks_sample {
	struct stacks_context context;
	int64_t ns;
	uint32_t kernel; /* so many of the frames, the first ones, are the kernel's */
	uint64_t frames;
	uint64_t frame[STACKS_FRAMES_MAX];
};

struct stacks_place {
	char *dir; /* NULL: not yet */
	int dir_fd;
	uint8_t uuid[16];
	struct kstream *stream;  /* by CPU, and the last one for facts */
	unsigned facts, streams; /* the number of the last one; of all */
	int rc;                  /* the first error */
};

int stacks_trace_into(struct stacks_place *place, const struct stacks_rings *rings, const char *dir,
		      const struct ctf_trace_desc *desc, uint64_t now_ns, struct kymo_err *err);
void stacks_trace_event(struct stacks_place *place, unsigned cpu, enum stacks_event event,
			uint64_t ns, const void *payload, size_t size);
void stacks_trace_flush(struct stacks_place *place, uint64_t now_ns);
void stacks_trace_end(struct stacks_place *place, uint64_t now_ns, bool remove);

/* ---- files and functions ---- */

/* A file in the memory of a process. */
struct stacks_file {
	int32_t pid;
	uint64_t base, size;
	const char *path; /* of the image */
	uint8_t build_id[24];
	bool has_id;
};

struct stacks_image;

struct stacks_symbol {
	uint64_t address;
	uint32_t name;
	bool told;
};

struct stacks_files {
	struct stacks_file *file;
	unsigned count, room;
	struct stacks_image *images;  /* a list of the files on this machine */
	struct stacks_symbol *symbol; /* of the kernel, by address */
	unsigned symbols, symbol_room;
	char *names;
	size_t names_size, names_room;
	bool read; /* the kernel's were read */
};

/** stacks_files_mapped() - @length bytes at @address of @pid are executable code of @path at
 * @offset. Return: the new file; NULL: none, or it is known. */
const struct stacks_file *stacks_files_mapped(struct stacks_files *files, int32_t pid,
					      uint64_t address, uint64_t length, uint64_t offset,
					      const char *path);

/** stacks_files_forget() - process @pid has ended, or executes another program. */
void stacks_files_forget(struct stacks_files *files, int32_t pid);

/** stacks_files_symbol() - the function of the kernel at @address. @size: set to its size. Return:
 * NULL: unknown. */
struct stacks_symbol *stacks_files_symbol(struct stacks_files *files, uint64_t address,
					  uint64_t *size);
void stacks_files_free(struct stacks_files *files);

/* ---- records ---- */

/* A thread that is sampled, or known to perf. */
struct stacks_thread {
	int32_t tid, pid;
	char name[STACKS_NAME];
	bool has_events; /* of `opened` */
	unsigned opened;
	uint64_t since_ns; /* it has them since then; 0: it inherited them */
	uint64_t left_ns;  /* it left its CPU then, with the stack below; 0: it runs */
	uint32_t kernel, frames;
	uint64_t *frame;
};

struct stacks {
	struct stacks_rings rings;
	struct stacks_place place;
	struct stacks_files files;
	struct map threads;          /* (tid, 0) -> struct stacks_thread */
	struct stacks_sample sample; /* room for the one that is written */
	struct stacks_stats stats;
	uint64_t events_before; /* in earlier directories */
	uint64_t events, flushed_ns;
	bool failed;
};

/** stacks_read() - records of all rings up to @to_ns become events. */
void stacks_read(struct stacks *stacks, uint64_t to_ns);

/** stacks_put_file() - an event that says where @file is. */
void stacks_put_file(struct stacks *stacks, unsigned cpu, uint64_t ns,
		     const struct stacks_file *file);

/** stacks_find() - the thread @tid, or NULL. */
struct stacks_thread *stacks_find(const struct stacks *stacks, int32_t tid);

/** stacks_add() - the thread @tid of @pid with its name; if it has no events yet, it has those of
 * @opened. @since_ns: they were opened then; 0: it inherited them. Return: false without memory. */
bool stacks_add(struct stacks *stacks, int32_t pid, int32_t tid, unsigned opened,
		uint64_t since_ns);

#endif
