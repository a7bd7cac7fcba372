/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the kernel's events, where this kernel has their fields, an event's bytes from a
 * record, and which of them are system calls: kernel_format.c; what this process may know:
 * kernel_namespace.c.
 *
 * Context of all functions: any thread. Those that begin with format_, but for format_find(), read
 * tracefs; those that begin with namespace_ make a system call; the others make none.
 */
#ifndef KYMO_KERNEL_FORMAT_H
#define KYMO_KERNEL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"

/* ---- the table, and the places of its fields in the records of this kernel ---- */

enum kevent_kind {
	KEVENT_NONE,
	KEVENT_COMM,
	KEVENT_I32,
	KEVENT_U32,
	KEVENT_I64,
	KEVENT_PTR,
	KEVENT_STRING,
	KEVENT_PRIO,
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
#define KEVENT(system, raw, name, fields) KEVENT_ID_##name,
#define KCOUNTER(counter, id, name, fields) KEVENT_ID_##id,
#define KCOUNT(type, counter, id, name, fields) KEVENT_ID_##id,
enum kevent_id {
#include "kernel/events.def"
	KEVENT_ID_COUNT
};
#undef KEVENT
#undef KCOUNTER
#undef KCOUNT

struct kplace {
	uint16_t offset, size; /* bytes in a record; size 0: this kernel does not have the field */
	bool is_data_loc;      /* u32: low half the offset of a text, high half its length */
	bool is_signed;
};

/* A counter has no record of the kernel: a source that has counters writes one, with this id and
 * the address. */
/* and PERF_COUNT_SW_...: tracepoints are numbered from the other end */
#define KCOUNTER_ID 0xff00u
struct kcounter_record {
	uint16_t id;
	uint64_t address;
};

/* The record of a counter that counts from switch to switch; see perf_counts.c. */
#define KCOUNT_ID 0xfe00u		/* and which one of the table it is */
struct kcount_record {
	uint16_t id;
	int32_t tid;			/* the thread that was on the CPU */
	int64_t ns, count;
};

/* An event of this kernel. */
struct kformat {
	uint32_t id;			/* 0: this kernel does not have it */
	struct kplace place[KEVENT_FIELDS_MAX];
};

struct krecord {
	uint64_t ns;			/* CLOCK_MONOTONIC */
	const uint8_t *raw;		/* as the format files of tracefs describe it */
	uint32_t raw_size;
};

/** record_integer() - the field at @place. Return: 0 also if @place is outside of the record. */
int64_t record_integer(const struct krecord *record, const struct kplace *place);

/** event_encode() - @record of @event as bytes of the trace. @format: of this event. Return: their
 * number; 0: the record is too short. Context: does not allocate. */
size_t event_encode(const struct kevent *event, const struct kformat *format,
		    const struct krecord *record, uint8_t out[KEVENT_SIZE_MAX]);

/** format_read() - the format of @event, from the directory @tracefs; counters always have one.
 * Return: 0; -errno: its file cannot be read; -ENOENT also if the file has no id. */
int format_read(const char *tracefs, const struct kevent *event, struct kformat *format);

/** format_tracefs() - where tracefs is mounted. Return: NULL: nowhere that this user can read. */
const char *format_tracefs(void);

/** format_find() - the event of a record. @format: by event. Return: its index in kevents;
 * kevent_count: not in the table. Context: does not allocate. */
unsigned format_find(const struct kformat *format, const struct krecord *record);

/** format_read_all() - the formats of all events. Return: by event, to be freed; NULL with @err:
 * tracefs cannot be read, and which command grants it. Context: allocates. */
struct kformat *format_read_all(struct kymo_err *err);

/* ---- which events: kernel_events.c ---- */

/** events_wanted() - do @globs choose @event? NULL or none: all but those that must be named. */
bool events_wanted(unsigned event, const struct opt_list *globs);

/** events_select() - does the selection of threads need @event? */
bool events_select(unsigned event);

/* ---- system calls ---- */

/** calls_is_one() - is @event the event of a system call? */
bool calls_is_one(unsigned event);

/**
 * calls_class() - the id in the trace of @record; @event itself if it is not a system call with a
 * name
 * @skip: bytes at the begin of the encoded event which that class does not have
 */
unsigned calls_class(unsigned event, const struct kformat *format, const struct krecord *record,
		     unsigned *skip);

/** calls_id() - the id in the trace of system call @number: of its entry, or of its @exit. */
unsigned calls_id(unsigned number, bool exit);

/** calls_leave_out() - remove system calls from @format, which is by event: they are not
 * recorded. */
void calls_leave_out(struct kformat *format);

/* ---- namespaces of this process ---- */

/** namespace_is_first() - is its namespace of @kind ("pid", "user") that of the host? Return: true
 * also if that is not known. */
bool namespace_is_first(const char *kind);

/** namespace_other_pid() - inode of its PID namespace. Return: 0: it is that of the host. */
uint64_t namespace_other_pid(void);

#define NAMESPACE_NO_RIGHTS "kernel events need tracefs, or CAP_PERFMON, of the host, and nobody has these in a user namespace like " \
	"this one (a rootless container), not even root: run kymo as root on the host"

#endif
