/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kymo.json, which stands beside a trace: how the recording ended, and where every event went.
 *
 * accounts.def has the members of each object. The same plain structs are filled by who writes the
 * file and by accounts_read(), so no key is spelled twice.
 */
#ifndef KYMO_ACCOUNTS_ACCOUNTS_H
#define KYMO_ACCOUNTS_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

#include "base/json_text.h"
#include "base/pool.h"

#define ACCOUNTS_FILE "kymo.json"
#define ACCOUNTS_FORMAT 1
#define ACCOUNTS_MAX \
	((size_t)32 << 20) /* bytes; a larger file is not read. 10 000 threads need 2 MiB */
#define ACCOUNTS_UNKNOWN UINT64_MAX	/* a U64 that is not written */

#define ACCOUNTS_U64 uint64_t
#define ACCOUNTS_I64 int64_t
#define ACCOUNTS_NS int64_t
#define ACCOUNTS_BOOL bool
#define ACCOUNTS_TEXT const char *
#define ACCOUNTS_NULLABLE const char *

/* clang-format off */
#define GROUP(GROUP, group) struct accounts_##group {
#define MEMBER(kind, key, meaning) ACCOUNTS_##kind key;
#define END };
/* clang-format on */
#include "accounts/accounts.def"

enum accounts_group {
#define GROUP(GROUP, group) ACCOUNTS_##GROUP,
#include "accounts/accounts.def"
};

/* ---- write ---- */

/**
 * accounts_put() - add the members of @group to @object
 * @of: the struct of that group
 *
 * Context: allocates.
 */
void accounts_put(struct json_object *object, enum accounts_group group, const void *of);

/** accounts_object() - a new object with the members of @group; to be released. Context:
 * allocates. */
struct json_object *accounts_object(enum accounts_group group, const void *of);

/** accounts_text() - the same members as text: for processes and threads, of which there may be
 * thousands. Context: allocates. */
void accounts_text(struct json_text *json, enum accounts_group group, const void *of);

/* ---- read ---- */

/* A process of the trace. Texts are "" where the file has none. */
struct account_process {
	struct accounts_process is;
	struct accounts_thread *thread;
	unsigned thread_count;
};

struct accounts {
	bool present; /* kymo.json exists and could be read */
	bool ended;   /* the recorder completed the trace */
	uint64_t recorded, dropped,
		unwritten; /* of an ended recording, else 0: then only the streams know */
	struct accounts_root root;
	struct accounts_host host;
	struct accounts_totals totals;
	struct accounts_kernel kernel;	/* source "": no events of the kernel */
	struct accounts_stacks stacks; /* hz 0: none */
	struct accounts_chunks chunks;
	struct accounts_removed removed;
	struct accounts_clock_changes clock_changes;
	struct accounts_snapshot snapshot;	/* cause "": this is not a snapshot */
	int64_t snapshot_at_ns;		/* since the trace's start */
	char snapshot_text[1024];	/* why the snapshot was taken, for people; "" without one */
	char *rules;			/* what was recorded, for people; NULL: everything */
	struct account_process *process;	/* with those that ended long ago */
	unsigned process_count;
	struct accounts_clock *clock;	/* through the recording, in order */
	unsigned clock_count;
	struct accounts_pause *pause; /* in order; end_ns 0: it lasts */
	unsigned pause_count;

	/* Its own. */
	struct pool pool;		/* texts, threads */
	unsigned process_capacity;
};

/**
 * accounts_read() - read @directory/kymo.json; what the file does not say is 0 or ""
 * @problem: why the file cannot be used, in a sentence; else ""
 *
 * The file is not trusted. A trace without one is no problem: other tracers write none.
 * Context: allocates, blocks.
 */
void accounts_read(struct accounts *accounts, const char *directory, char problem[512]);
void accounts_free(struct accounts *accounts);

/* How a recording ended; of several, the largest says most. */
enum accounts_end {
	ACCOUNTS_END_UNKNOWN, /* another tracer: nothing says so */
	ACCOUNTS_ENDED,
	ACCOUNTS_GROWING,   /* it is still being recorded */
	ACCOUNTS_NOT_ENDED, /* the recorder was killed, or its machine stopped */
};

/**
 * accounts_end() - how the recording ended
 * @is_written: a recorder holds the trace; asked before accounts_read(), as the recorder writes the
 *	last kymo.json before it lets go
 *
 * Context: wait-free.
 */
enum accounts_end accounts_end(const struct accounts *accounts, bool is_written);

/** accounts_end_text() - "ended in order", "still records", "did not end in order"; "": not known.
 * The subject is the recorder. */
const char *accounts_end_text(enum accounts_end end);

/*
 * What a machine is to measurements: where one of these differs, two recordings do not tell whether
 * a program became slower.
 */
enum accounts_machine {
	MACHINE_CPU,
	MACHINE_CPUS,
	MACHINE_GOVERNOR,
	MACHINE_KERNEL,
	MACHINE_OS,
	MACHINE_RMW,
	MACHINE_KYMO,
	MACHINE_PARTS
};

#define MACHINE_TEXT_MAX 128 /* bytes, with the NUL */

/** accounts_machine_name() - "cpu", "cpus", ... */
const char *accounts_machine_name(enum accounts_machine part);

/** accounts_machine() - @part of the machine of a recording; "" if it is not known; a longer one is
 * cut. Context: wait-free. Return: @text. */
char *accounts_machine(const struct accounts *accounts, enum accounts_machine part,
		       char text[MACHINE_TEXT_MAX]);

#endif
