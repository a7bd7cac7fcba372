/* SPDX-License-Identifier: Apache-2.0 */
/* Where this kernel has the fields of its tracepoints, from the format files of tracefs; and an
 * event's bytes from a record. */
#include <errno.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "kernel/kernel_format.h"
#include "base/array.h"
#include "base/syscalls.h"

#define MAX_RT_PRIO 100
#define NUMBER_FIELD 0 /* of a system call, in both of its events */
#define NUMBER_SIZE 4u /* in the trace */

/* clang-format off */
#define KEVENT(system, raw, name, fields) { #system, #raw, #name, 0, false, 0, { fields } },
#define KCOUNTER(counter, id, name, fields) { NULL, NULL, #name, counter, false, 0, { fields } },
#define KCOUNT(type, counter, id, name, fields) \
	{ NULL, NULL, #name, counter, true, type, { fields } },
#define KFIELD(name, raw, kind) { #name, #raw, kind },
/* clang-format on */
const struct kevent kevents[] = {
#include "kernel/events.def"
};
const unsigned kevent_count = COUNT_OF(kevents);

/* ---- tracefs ---- */

static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
#define PLACES (COUNT_OF(places))

const char *format_tracefs(void)
{
	char path[128];

	for (unsigned i = 0; i < PLACES; i++) {
		(void)snprintf(path, sizeof(path), "%s/events/sched/sched_switch/format", places[i]);
		if (access(path, R_OK) == 0)
			return places[i];
	}
	return NULL;
}

/* Is tracefs mounted there, even if this user cannot read it? */
static bool is_mounted(const char *place)
{
	struct statfs there;

	return statfs(place, &there) == 0 && there.f_type == TRACEFS_MAGIC;
}

/*
 * Why tracefs cannot be read, and which commands grant it. They set the group, because the mode of
 * the mount is not enough: the files in tracefs are closed to everybody else.
 */
static void refused_tracefs(struct kymo_err *err)
{
	bool mounted = false;

	for (unsigned i = 0; i < PLACES; i++)
		mounted |= is_mounted(places[i]);
	if (!namespace_is_first("user"))
		(void)err_set(err, KYMO_EXIT_FAILED, NAMESPACE_NO_RIGHTS);
	else if (mounted)
		(void)err_set(err, KYMO_EXIT_FAILED, "kernel events need tracefs, and this user cannot read it: run kymo as root; or sudo "
			      "mount -o remount,mode=755,gid=$(id -g) /sys/kernel/tracing and, once, sudo setcap cap_perfmon+ep "
			      "$(command -v kymo)");
	else if (geteuid() == 0)
		(void)err_set(err, KYMO_EXIT_FAILED, "kernel events need tracefs, and it is not mounted here: mount -t tracefs tracefs "
			      "/sys/kernel/tracing; where that is refused (a container), record on the host, or start the container "
			      "with --pid=host -v /sys/kernel/tracing:/sys/kernel/tracing (docker, podman)");
	else
		(void)err_set(err, KYMO_EXIT_FAILED, "kernel events need tracefs, and it is not mounted here: run kymo as root after mount "
			      "-t tracefs tracefs /sys/kernel/tracing; or sudo mount -t tracefs -o mode=755,gid=$(id -g) tracefs "
			      "/sys/kernel/tracing and, once, sudo setcap cap_perfmon+ep $(command -v kymo)");
}

/* "	field:char prev_comm[16];	offset:8;	size:16;	signed:0;" */
static void take_field(char *line, const struct kevent *event, struct kformat *format)
{
	char *declared = strstr(line, "field:"), *end, *name;
	unsigned offset, size, is_signed;

	end = declared ? strchr(declared, ';') : NULL;
	if (!end || sscanf(end + 1, " offset:%u; size:%u; signed:%u", &offset, &size, &is_signed) != 3 ||
	    offset > UINT16_MAX || size > UINT16_MAX)
		return;
	*end = '\0';
	name = strrchr(declared, ' ');
	if (!name)
		return;
	name++;
	name[strcspn(name, "[")] = '\0';
	for (unsigned i = 0; event->field[i].kind != KEVENT_NONE; i++)
		if (strcmp(event->field[i].raw, name) == 0)
			format->place[i] = (struct kplace){
				(uint16_t)offset, (uint16_t)size, strncmp(declared, "field:__data_loc ", 17) == 0,
				is_signed != 0,
			};
}

int format_read(const char *tracefs, const struct kevent *event, struct kformat *format)
{
	char path[256], line[512];
	FILE *file;

	*format = (struct kformat){ 0 };
	if (event->counts) {
		format->id = KCOUNT_ID | (uint32_t)(event - kevents);
		format->place[0] = (struct kplace){ offsetof(struct kcount_record, tid),
						    sizeof(int32_t), false, true };
		format->place[1] = (struct kplace){ offsetof(struct kcount_record, ns),
						    sizeof(int64_t), false, true };
		format->place[2] = (struct kplace){ offsetof(struct kcount_record, count),
						    sizeof(int64_t), false, true };
		return 0;
	}
	if (!event->system) {
		format->id = KCOUNTER_ID | event->counter;
		format->place[0] = (struct kplace){ offsetof(struct kcounter_record, address),
						    sizeof(uint64_t), false, false };
		return 0;
	}
	(void)snprintf(path, sizeof(path), "%s/events/%s/%s/format", tracefs, event->system, event->raw);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, "ID:", 3) == 0)
			format->id = (uint32_t)strtoul(line + 3, NULL, 10);
		else
			take_field(line, event, format);
	(void)fclose(file);
	return format->id ? 0 : -ENOENT;
}

struct kformat *format_read_all(struct kymo_err *err)
{
	const char *tracefs = format_tracefs();
	struct kformat *format;

	if (!tracefs) {
		refused_tracefs(err);
		return NULL;
	}
	format = calloc(kevent_count, sizeof(*format));
	if (!format)
		(void)err_no_memory(err);
	for (unsigned i = 0; format && i < kevent_count; i++)
		if (format_read(tracefs, &kevents[i], &format[i]) < 0 && !i) {
			(void)err_set(err, KYMO_EXIT_FAILED, "kernel events need the tracepoint %s, and this kernel does not have it",
				      kevents[i].raw);
			free(format);
			return NULL;
		}
	return format;
}

/* ---- an event ---- */

/* The text of a field: in the record itself, or where a __data_loc points. @size: bytes that may be
 * read. */
static const uint8_t *text_at(const struct krecord *record, const struct kplace *place,
			      size_t *size)
{
	uint32_t loc;
	size_t offset = place->offset;

	*size = place->size;
	if (place->is_data_loc) {
		memcpy(&loc, record->raw + place->offset, sizeof(loc));
		offset = loc & 0xffff;
		*size = loc >> 16;
	}
	if (offset > record->raw_size)
		offset = record->raw_size;
	if (*size > record->raw_size - offset)
		*size = record->raw_size - offset;
	*size = strnlen((const char *)record->raw + offset, *size);
	return record->raw + offset;
}

static int64_t integer_at(const struct krecord *record, const struct kplace *place)
{
	const uint8_t *at = record->raw + place->offset;
	int64_t i64;
	int32_t i32;
	uint32_t u32;
	uint16_t u16;

	switch (place->size) {
	case 8:
		memcpy(&i64, at, sizeof(i64));
		return i64;
	case 4:
		memcpy(&i32, at, sizeof(i32));
		memcpy(&u32, at, sizeof(u32));
		return place->is_signed ? i32 : (int64_t)u32;
	case 2:
		memcpy(&u16, at, sizeof(u16));
		return u16;
	case 1:
		return *at;
	default:
		return 0;
	}
}

int64_t record_integer(const struct krecord *record, const struct kplace *place)
{
	return (size_t)place->offset + place->size > record->raw_size ? 0
								      : integer_at(record, place);
}

unsigned format_find(const struct kformat *format, const struct krecord *record)
{
	uint16_t id;

	if (record->raw_size < sizeof(id))
		return kevent_count;
	memcpy(&id, record->raw, sizeof(id));
	for (unsigned i = 0; i < kevent_count; i++)
		if (id && format[i].id == id)
			return i;
	return kevent_count;
}

static size_t put(uint8_t *out, const void *value, size_t size)
{
	memcpy(out, value, size);
	return size;
}

static size_t encode_field(enum kevent_kind kind, const struct krecord *record,
			   const struct kplace *place, uint8_t *out)
{
	int64_t value =
		kind == KEVENT_COMM || kind == KEVENT_STRING ? 0 : integer_at(record, place);
	int32_t narrow = (int32_t)(kind == KEVENT_PRIO ? value - MAX_RT_PRIO : value);
	const uint8_t *text;
	size_t size;

	switch (kind) {
	case KEVENT_COMM:
	case KEVENT_STRING:
		text = text_at(record, place, &size);
		if (size > (kind == KEVENT_COMM ? KEVENT_COMM_SIZE : KEVENT_STRING_MAX) - 1)
			size = (kind == KEVENT_COMM ? KEVENT_COMM_SIZE : KEVENT_STRING_MAX) - 1;
		memset(out, 0, kind == KEVENT_COMM ? KEVENT_COMM_SIZE : size + 1);
		memcpy(out, text, size);
		return kind == KEVENT_COMM ? KEVENT_COMM_SIZE : size + 1;
	case KEVENT_I64:
	case KEVENT_PTR:
		return put(out, &value, sizeof(value));
	default:
		return put(out, &narrow, sizeof(narrow));
	}
}

size_t event_encode(const struct kevent *event, const struct kformat *format,
		    const struct krecord *record, uint8_t out[KEVENT_SIZE_MAX])
{
	size_t used = 0;

	for (unsigned i = 0; event->field[i].kind != KEVENT_NONE; i++) {
		if ((size_t)format->place[i].offset + format->place[i].size > record->raw_size)
			return 0;
		used += encode_field(event->field[i].kind, record, &format->place[i], out + used);
	}
	return used;
}

/* ---- system calls ---- */

/*
 * System calls. The kernel has one event for the entry of any call and one for the exit, with the
 * number of the call. The trace has events of each call, as LTTng's, with ids after those of the
 * table: entry, exit, entry of the next call, ...
 */
bool calls_is_one(unsigned event)
{
	return event == KEVENT_ID_syscall_entry_unknown || event == KEVENT_ID_syscall_exit_unknown;
}

unsigned calls_id(unsigned number, bool exit)
{
	return KEVENT_ID_COUNT + 2 * number + exit;
}

unsigned calls_class(unsigned event, const struct kformat *format, const struct krecord *record,
		     unsigned *skip)
{
	const int64_t number = record_integer(record, &format->place[NUMBER_FIELD]);

	*skip = 0;
	if (!calls_is_one(event) || !syscall_name(number))
		return event;
	*skip = NUMBER_SIZE;
	return calls_id((unsigned)number, event == KEVENT_ID_syscall_exit_unknown);
}

void calls_leave_out(struct kformat *format)
{
	format[KEVENT_ID_syscall_entry_unknown].id = 0;
	format[KEVENT_ID_syscall_exit_unknown].id = 0;
}
