/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the kernel's events: kernel.c (all of it), place.c (where it goes), namespace.c, format.c (what records look
 * like), tracefs.c and pages.c (a source: tracefs), perf.c and ring.c (another: perf_event_open(2)), select.c and follow.c (which are
 * wanted), calls.c (system calls), trace.c (CTF), kept.c (the last seconds of it).
 */
#ifndef KYMO_KERNEL_INTERNAL_H
#define KYMO_KERNEL_INTERNAL_H

#include <stdio.h>

#include "base/map.h"
#include "ctf/format/index.h"
#include "kernel/kernel.h"

/* ---- the table, and where its fields are in this kernel's records ---- */

enum kevent_kind {
	KEVENT_NONE, KEVENT_COMM, KEVENT_I32, KEVENT_U32, KEVENT_I64, KEVENT_PTR, KEVENT_STRING, KEVENT_PRIO,
};

#define KEVENT_FIELDS_MAX 8
#define KEVENT_COMM_SIZE 16
#define KEVENT_STRING_MAX 64		/* bytes of a string, with its NUL */
#define KEVENT_SIZE_MAX 256		/* bytes of an event in the trace */

struct kevent_field {
	const char *name, *raw;
	enum kevent_kind kind;
};

struct kevent {
	const char *system, *raw, *name;	/* system, raw NULL: a counter */
	uint32_t counter;			/* PERF_COUNT_... */
	bool counts;				/* from switch to switch */
	uint32_t type;				/* then: PERF_TYPE_... */
	struct kevent_field field[KEVENT_FIELDS_MAX + 1];	/* the last one is KEVENT_NONE */
};

extern const struct kevent kevents[];
extern const unsigned kevent_count;

/* Index of each in kevents. */
#define KEVENT(system, raw, name) KEVENT_ID_##name,
#define KCOUNTER(counter, id, name) KEVENT_ID_##id,
#define KCOUNT(type, counter, id, name) KEVENT_ID_##id,
#define KFIELD(name, raw, kind)
#define KEVENT_END
enum kevent_id {
#include "kernel/events.def"
	KEVENT_ID_COUNT
};
#undef KEVENT
#undef KCOUNTER
#undef KCOUNT
#undef KFIELD
#undef KEVENT_END

struct kplace {
	uint16_t offset, size;		/* bytes in a record; size 0: this kernel does not have it */
	bool is_data_loc;		/* u32: low half the offset of a text, high half its length */
	bool is_signed;
};

/*
 * A counter has no record of the kernel's: a source that has counters makes one, with this id and the address.
 */
#define KCOUNTER_ID 0xff00u		/* and PERF_COUNT_SW_...: tracepoints are numbered from the other end */
struct kcounter_record {
	uint16_t id;
	uint64_t address;
};

/* One that counts from switch to switch has these; see ring_counts.c. */
#define KCOUNT_ID 0xfe00u		/* and which one of the table it is */
struct kcount_record {
	uint16_t id;
	int32_t tid;			/* who was on the CPU */
	int64_t ns, count;
};

/* An event of this kernel. */
struct kformat {
	uint32_t id;			/* 0: it does not have it */
	struct kplace place[KEVENT_FIELDS_MAX];
};

struct krecord;

/* ---- what this process may know and do ---- */

/** namespace_is_first() - is its namespace of @kind ("pid", "user") the host's? Also if that cannot be told. */
bool namespace_is_first(const char *kind);

/** namespace_other_pid() - inode of its PID namespace; 0: it is the host's. */
uint64_t namespace_other_pid(void);

#define NAMESPACE_NO_RIGHTS "kernel events need tracefs, or CAP_PERFMON, of the host, and nobody has these in a user namespace like " \
	"this one (a rootless container), root neither: run kymo as root on the host"

/** format_read() - of @event, from tracefs; counters are always there. Return: 0; -errno. */
int format_read(const char *tracefs, const struct kevent *event, struct kformat *format);

/** format_tracefs() - where it is mounted; NULL: nowhere that can be read. */
const char *format_tracefs(void);

/** format_find() - which event a record is. Return: its index; kevent_count: none of ours. */
unsigned format_find(const struct kformat *format, const struct krecord *record);

/** format_read_all() - of all events. Return: by event, to be freed; NULL with @err. */
struct kformat *format_read_all(struct kymo_err *err);

/* ---- system calls ---- */

/** calls_is_one() - is @event one of all system calls? */
bool calls_is_one(unsigned event);

/**
 * calls_class() - the number of @record of @event in the trace; other events have that of @event
 * @skip: bytes at the begin of the encoded event which that class does not have
 */
unsigned calls_class(unsigned event, const struct kformat *format, const struct krecord *record, unsigned *skip);

/** calls_metadata() - declare the events of all calls that have a name, in @stream. */
void calls_metadata(FILE *out, unsigned stream);

/** calls_leave_out() - of @format, by event: they are not recorded. */
void calls_leave_out(struct kformat *format);

/* ---- where records come from ---- */

struct krecord {
	uint64_t ns;			/* CLOCK_MONOTONIC */
	const uint8_t *raw;		/* as tracefs' format files tell */
	uint32_t raw_size;
};

/*
 * All CPUs' buffers of the kernel. capture() takes notice of what is there; peek() and next() walk through that, oldest
 * first, and what was walked over is the kernel's again after release(), not before.
 */
struct ksource;
struct ksource_ops {
	const char *name;
	/** @format: by event. Return: 0, and *@source; -errno with @err, and nothing was changed. */
	int (*open)(struct ksource **source, const struct kformat *format, size_t ring_size, struct kymo_err *err);
	void (*start)(struct ksource *source);
	/** System calls of thread @tid are wanted, and of all that it makes; 0: of all threads. NULL: they come of all, anyway. */
	void (*follow)(struct ksource *source, int32_t tid);
	void (*stop)(struct ksource *source);
	bool (*there)(const struct ksource *source, unsigned cpu);	/* a CPU that is switched off is not */
	void (*capture)(struct ksource *source, unsigned cpu);
	const struct krecord *(*peek)(struct ksource *source, unsigned cpu);	/* NULL: no more captured */
	void (*next)(struct ksource *source, unsigned cpu);
	void (*release)(struct ksource *source, unsigned cpu);
	/** What happened, up to the last capture(), and will never be walked over. @full: some of it because there was no room. */
	uint64_t (*lost)(const struct ksource *source, unsigned cpu, bool *full);
	void (*close)(struct ksource *source);
};

struct ksource {
	const struct ksource_ops *ops;
	unsigned cpus;
};

extern const struct ksource_ops ksource_beside, ksource_tracefs, ksource_tracefs_calls, ksource_perf;

/* ---- tracefs: pages of a CPU's buffer ---- */

struct kpages {
	uint8_t *data;
	size_t size;			/* of a page */
	unsigned count, room;		/* pages */
	unsigned page;			/* walked up to here ... */
	size_t at, end;			/* ... and there in it */
	bool inside;
	uint64_t ns;
	struct krecord record;		/* the one before `at` */
	bool known;			/* it is, and was not yet walked over */
};

const struct krecord *pages_peek(struct kpages *pages);
void pages_next(struct kpages *pages);

/** pages_room() - for one more page, behind the last one. Return: NULL: no memory, or there are @limit. */
uint8_t *pages_room(struct kpages *pages, unsigned limit);

/** pages_forget() - those that were walked over. */
void pages_forget(struct kpages *pages);

/* ---- perf: a CPU's ring ---- */

#define RING_EVENTS_MAX 16

/* A counter that is read at each switch of a CPU: sched_switch leads a group, so that its samples have the counter's value. */
struct kcounts {
	uint32_t event;			/* KCOUNT_ID and which; 0: none */
	uint32_t tracepoint;		/* sched_switch */
	struct kplace prev, next;	/* in its records */
	int fd;				/* of the counter */
	bool known;			/* the rest, of the switch before: */
	int32_t tid;			/* who came */
	uint64_t ns, value;
	struct kcount_record record;
};

struct kring {
	int fd[RING_EVENTS_MAX];	/* of the events; the first one has the ring */
	uint32_t event[RING_EVENTS_MAX];	/* their ids, ... */
	uint64_t id[RING_EVENTS_MAX];	/* ... and by what records know them */
	unsigned fds;
	void *map;
	size_t size;			/* of the data, a power of two */
	uint8_t *copy;			/* where one lies across the ring's end */
	uint64_t head, at;		/* captured up to here, walked up to there */
	uint64_t captured;		/* records */
	uint64_t lost;
	struct krecord record;		/* at `at` */
	struct kcounter_record counter;	/* its bytes, if it is a counter's */
	struct kcounts counts;
	bool known;			/* it is */
	bool full;			/* at some time */
};

/** ring_open() - events @id of CPU @cpu, nothing runs yet. @counts: for the one that counts. Return: 0; -errno. */
int ring_open(struct kring *ring, int cpu, const uint32_t *id, unsigned count, const struct kcounts *counts, size_t size);
void ring_start(struct kring *ring);
void ring_stop(struct kring *ring);
void ring_close(struct kring *ring);

/* ring_counts.c: the counter of this id, with where sched_switch has what is needed to tell who was on a CPU. */
struct kcounts counts_of(uint32_t id);
/* Can it be had on this machine? Return: 0; -errno. */
int counts_probe(uint32_t id);
/* The group's leader, with the counter in counts->fd. Return: its descriptor; -errno. */
int counts_open(struct kcounts *counts, int cpu);
/* A sample of it, behind id and time. Return: false: it tells nothing, as the one before it is not there. */
bool counts_parse(struct kcounts *counts, uint64_t ns, const uint8_t *rest, size_t size, struct krecord *record);

/* As those of a source. */
void ring_capture(struct kring *ring);
const struct krecord *ring_peek(struct kring *ring);
void ring_next(struct kring *ring);
void ring_release(struct kring *ring);

/* ---- which are wanted ---- */

struct select;

/* Takes what is wanted, by CPU in the order of time. */
typedef void select_take(void *context, unsigned cpu, unsigned event, const struct krecord *record);

/** select_create() - nobody is followed yet. Return: NULL without memory. */
struct select *select_create(unsigned cpus, const struct kformat *format, select_take *take, void *context);

/** select_follow() - thread @tid, and all that it makes. Return: 1; 0: it is followed already; -ENOMEM. */
int select_follow(struct select *select, int32_t tid);

/** follow_calls() - @source has system calls of @tid, and of all that it makes; 0: of all threads. */
void follow_calls(struct ksource *source, int32_t tid);

/**
 * follow_threads() - of all threads that process @pid has. What those make that are followed, @select and @source see; what they made
 * while others were looked at, the next look finds.
 */
void follow_threads(struct select *select, struct ksource *source, int pid);

/** select_record() - @record of @event: maybe it is wanted. Over all CPUs in the order of time. */
void select_record(struct select *select, unsigned cpu, unsigned event, const struct krecord *record);
void select_free(struct select *select);

/* ---- the trace ---- */

#define TRACE_PACKET (64u << 10)	/* bytes of events after which a packet is written */

/* Packets of a stream that is not written, the last ones. */
struct kpacket {
	struct kpacket *next;
	uint64_t begin_ns, end_ns, lost;
	uint32_t count;			/* of events */
	size_t size;
	uint8_t events[];
};

struct kkept {
	struct kpacket *first, *last;
	uint64_t window_ns, limit;	/* at most so much */
	uint64_t bytes;
	uint64_t lost_before;		/* up to the last one that was given up */
	uint64_t shortest_ns;		/* what the limit left of the window at worst; 0: all */
};

/* It is written into a directory, or into a store, or kept. */
struct kstream {
	struct kkept *kept;		/* NULL: it is written */
	const struct ctf_store *store;	/* NULL: into files */
	void *stored;			/* the store's own */
	int dir_fd, fd;
	char name[32];
	uint32_t cpu;
	const uint8_t *uuid;
	struct ctf_index index;
	uint64_t begin_ns, last_ns;	/* of the packet in work, of the last event ever */
	uint64_t taken;			/* events ... */
	uint64_t refused;		/* ... less those that the store did not take */
	uint64_t lost, written_lost;	/* elsewhere, and so */
	uint64_t base;			/* of lost: what was told before this place */
	uint64_t seq, offset, bytes;	/* of the present place; bytes of all places */
	uint64_t taken_before;		/* of other places */
	uint8_t *events;
	uint32_t count;			/* of these */
	size_t size, room;
};

/* ---- all of it ---- */

struct kernel {
	char *dir;			/* NULL: it is kept, or stored */
	const struct ctf_store *store;
	int dir_fd;
	uint8_t uuid[16];
	struct kformat *format;		/* by event */
	struct ksource *source;
	struct select *select;		/* NULL: everything is wanted */
	struct kkept *kept;		/* by CPU; NULL: it is written */
	struct kstream *stream;		/* by CPU; without one where it is switched off */
	int *process;			/* [processes] who was followed, to look again when events were lost */
	unsigned processes;
	uint64_t lost;			/* as of the last such look */
	uint64_t seen, seen_before;	/* in all, and in other places */
	bool full;
	uint64_t flushed_ns, told_ns;
	const char *counter;		/* NULL: none */
	int no_cycles;			/* errno; 0: they are there, or nobody wants them */
	int rc;				/* what went wrong first */
};

/** place_open() - where it is to go: a directory, a store, memory. Return: 0; -1 with @err. */
int place_open(struct kernel *kernel, const struct kernel_options *options, struct kymo_err *err);

/** place_unmake() - a trace in which nothing is, goes. */
void place_unmake(const struct kernel *kernel);

/** kernel_read() - what happened up to @until_ns is in the streams. */
void kernel_read(struct kernel *kernel, uint64_t until_ns);

/** kernel_now() - CLOCK_MONOTONIC, ns. */
uint64_t kernel_now(void);

/**
 * trace_make() - a directory with the metadata
 * @there: by event
 * @uuid: its own, made here
 * @dir_fd: of the directory; also after a failure, when it was made
 *
 * Return: 0; -1 with @err.
 */
int trace_make(const char *dir, const struct ctf_trace_desc *desc, const struct kformat *there, uint8_t uuid[16], int *dir_fd,
	       struct kymo_err *err);

/** trace_put_event() - declare an event of @stream. @field: up to one that is KEVENT_NONE. */
void trace_put_event(FILE *out, unsigned stream, unsigned id, const char *name, const struct kevent_field *field);

/** trace_unmake() - take away what trace_make() and stream_open() made. */
void trace_unmake(const char *dir, int dir_fd, const struct kstream *stream, unsigned count);

int stream_open(struct kstream *stream, int dir_fd, uint32_t cpu, const uint8_t uuid[16]);

/** stream_store() - one that goes into @store, which has the metadata. Return: 0; -ENOMEM. */
int stream_store(struct kstream *stream, const struct ctf_store *store, uint32_t cpu, const uint8_t uuid[16]);

/** trace_store() - the metadata into @store. Return: 0; -1 with @err. */
int trace_store(const struct ctf_store *store, const struct ctf_trace_desc *desc, const struct kformat *there, uint8_t uuid[16],
		struct kymo_err *err);

/**
 * stream_turn() - end the file, and go on in one of that name in @dir_fd
 * Return: 0; -errno: the rest of the old one, or the new one, cannot be written.
 */
int stream_turn(struct kstream *stream, int dir_fd);

/** stream_keep() - one that keeps its packets in @kept, which stays the caller's. Return: 0; -ENOMEM. */
int stream_keep(struct kstream *stream, uint32_t cpu, struct kkept *kept);

/** kept_add() - a packet; those that are too old, or too much, go. Return: 0; -ENOMEM. */
int kept_add(struct kkept *kept, uint64_t begin_ns, uint64_t end_ns, uint64_t lost, const uint8_t *events, size_t size, uint32_t count);

/** kept_write() - what is of @begin_ns to @end_ns, by packets, into @stream, which is open. Return: 0; -errno. */
int kept_write(const struct kkept *kept, struct kstream *stream, uint64_t begin_ns, uint64_t end_ns);
void kept_free(struct kkept *kept);

/** stream_add() - an event of @id; into the packet in work. Return: 0; -errno: a packet was due and is not written. */
int stream_add(struct kstream *stream, unsigned id, uint64_t ns, const void *payload, size_t size);

/** stream_front() - an empty packet at the beginning, so that a reader sees what the next one has lost. Return: as ... */
int stream_front(struct kstream *stream, uint64_t now_ns);

/** stream_flush() - write the packet in work, if there is anything in it or lost. Return: 0; -errno. */
int stream_flush(struct kstream *stream, uint64_t now_ns);
int stream_close(struct kstream *stream, uint64_t now_ns);

/** record_integer() - the field at @place. @place is inside of the record, else 0. */
int64_t record_integer(const struct krecord *record, const struct kplace *place);

/** event_encode() - @record of @event as it is in the trace. Return: bytes; 0: it is too short to be one. */
size_t event_encode(const struct kevent *event, const struct kformat *format, const struct krecord *record,
		    uint8_t out[KEVENT_SIZE_MAX]);

#endif
