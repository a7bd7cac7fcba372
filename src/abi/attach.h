/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `kymo attach` and the code that it puts into a running process agree on. Layout only.
 *
 * The scratch is memory that `kymo attach` maps in the process:
 *
 *   page 0       code (src/attach/attach_code.c), read and execute
 *   page 1       struct kymo_attach_block
 *   page 2...    a stack for the thread that calls pthread_create() there, and a stack for the new
 *                thread
 *
 * The new thread loads libkymo-ros2.so and calls its function KYMO_ATTACH_ENTRY with the block. The
 * function carries out the order, writes the answer and returns; then the thread ends. The scratch
 * stays mapped: the library remembers its address in the variable KYMO_ATTACH_SCRATCH, and the next
 * order uses it again.
 *
 * Trust: `kymo attach` checks the numbers that it reads from the block. The process trusts the
 * block, which only somebody can write who may trace the process.
 */
#ifndef KYMO_ABI_ATTACH_H
#define KYMO_ABI_ATTACH_H

/* Offsets in struct kymo_attach_block that the assembler code uses. */
#define KYMO_ATTACH_AT_ERRNO 0
#define KYMO_ATTACH_AT_INIT 8
#define KYMO_ATTACH_AT_STACK 16
#define KYMO_ATTACH_AT_DETACHED 24
#define KYMO_ATTACH_AT_CREATE 32
#define KYMO_ATTACH_AT_DLOPEN 40
#define KYMO_ATTACH_AT_DLSYM 48
#define KYMO_ATTACH_AT_DLERROR 56
#define KYMO_ATTACH_AT_RUN 64
#define KYMO_ATTACH_AT_MEMORY 72
#define KYMO_ATTACH_AT_BYTES 80
#define KYMO_ATTACH_AT_ENTRY 88
#define KYMO_ATTACH_AT_THREAD 96
#define KYMO_ATTACH_AT_STATE 104
#define KYMO_ATTACH_AT_CREATED 108
#define KYMO_ATTACH_AT_TID 112
#define KYMO_ATTACH_AT_ATTRIBUTES 128
#define KYMO_ATTACH_AT_SYMBOL 256
#define KYMO_ATTACH_AT_TEXT 288
#define KYMO_ATTACH_AT_LIBRARY 544

#define KYMO_ATTACH_TEXT_MAX 256

/* Values of the word `state`. */
#define KYMO_ATTACH_IDLE 0
#define KYMO_ATTACH_RUNNING 1    /* the new thread has the block */
#define KYMO_ATTACH_ANSWERED 2   /* the library wrote the answer */
#define KYMO_ATTACH_NOT_LOADED 3 /* `text` is what dlopen() or dlsym() said */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define KYMO_ATTACH_VERSION 2u
#define KYMO_ATTACH_ENTRY "kymo__attach"
#define KYMO_ATTACH_SCRATCH "kymo__attach_scratch"
#define KYMO_ATTACH_HELD "kymo__attach_held"
#define KYMO_ATTACH_PATH_MAX 2048
#define KYMO_ATTACH_SETTINGS_MAX 1024
#define KYMO_ATTACH_PAGE 4096u
#define KYMO_ATTACH_CALLER_STACK (32u << 10) /* bytes */
#define KYMO_ATTACH_THREAD_STACK (512u << 10)
#define KYMO_ATTACH_BYTES \
	(3 * KYMO_ATTACH_PAGE + KYMO_ATTACH_CALLER_STACK + KYMO_ATTACH_THREAD_STACK)

enum kymo_attach_order {
	KYMO_ATTACH_ON =
		1, /* let the loaded objects call kymo; again: also those that were loaded since */
	KYMO_ATTACH_OFF, /* let them call what they called before */
};

/* The word KYMO_ATTACH_HELD of a loaded libkymo-ros2.so. */
enum kymo_attach_held {
	KYMO_ATTACH_NEVER, /* the library was loaded with the program, or nothing was ordered yet */
	KYMO_ATTACH_IS_ON,
	KYMO_ATTACH_IS_OFF,
};

enum kymo_attach_result {
	KYMO_ATTACH_OK,
	KYMO_ATTACH_OTHER_VERSION, /* the library is of another version of kymo */
	KYMO_ATTACH_NO_CALLS,      /* nothing in the process calls a function that kymo records */
	KYMO_ATTACH_DISABLED,      /* KYMO_DISABLE=1, or a setuid program */
	KYMO_ATTACH_NO_REGION,     /* the process cannot create its shared memory */
	KYMO_ATTACH_NO_HELPER,     /* libkymo-attach.so could not be loaded */
};

/* The hook for the callbacks of rclpy. */
enum kymo_python {
	KYMO_PYTHON_NONE, /* the process has no Python interpreter */
	KYMO_PYTHON_HOOKED,
	KYMO_PYTHON_FAILED, /* the hook could not be loaded */
};

struct kymo_attach_block {
	/* Addresses of functions of libc in the process, then of the code and the memory of this
	 * block. */
	uint64_t errno_location, attr_init, attr_setstack, attr_setdetachstate, create;
	uint64_t load, symbol_of, load_error;
	uint64_t run;           /* where the new thread begins, in page 0 */
	uint64_t memory, bytes; /* its stack */
	uint64_t entry;         /* KYMO_ATTACH_ENTRY, if the library is already loaded; else 0 */
	uint64_t thread;        /* pthread_t */
	uint32_t state;
	int32_t created; /* what pthread_create() returned */
	uint32_t tid;    /* of the new thread, in its pid namespace */
	uint32_t spare[3];
	uint64_t attributes[16]; /* pthread_attr_t */
	char symbol[32];         /* KYMO_ATTACH_ENTRY */
	char text[KYMO_ATTACH_TEXT_MAX];
	char library[KYMO_ATTACH_PATH_MAX];

	/* The order. */
	uint32_t version;                        /* KYMO_ATTACH_VERSION */
	uint32_t order;                          /* enum kymo_attach_order */
	uint64_t self;                           /* address of the scratch in the process */
	char settings[KYMO_ATTACH_SETTINGS_MAX]; /* "KYMO_DIR=/tmp/x\nKYMO_RING_SIZE=1M\n", instead
						    of the environment's */

	/* The answer. */
	uint32_t result;      /* enum kymo_attach_result */
	uint32_t entries;     /* through which objects call kymo now; OFF: which were restored */
	uint32_t objects;     /* that have such entries */
	uint32_t elsewhere;   /* entries left alone: they lead to another function of that name */
	uint32_t tracepoints; /* entries that lead to functions of tracetools */
	uint32_t tracetools;  /* KYMO_V(); 0: unknown */
	uint32_t python;      /* enum kymo_python */
};

static_assert(offsetof(struct kymo_attach_block, create) == KYMO_ATTACH_AT_CREATE,
	      "as in the code");
static_assert(offsetof(struct kymo_attach_block, load_error) == KYMO_ATTACH_AT_DLERROR,
	      "as in the code");
static_assert(offsetof(struct kymo_attach_block, entry) == KYMO_ATTACH_AT_ENTRY, "as in the code");
static_assert(offsetof(struct kymo_attach_block, thread) == KYMO_ATTACH_AT_THREAD,
	      "as in the code");
static_assert(offsetof(struct kymo_attach_block, state) == KYMO_ATTACH_AT_STATE, "as in the code");
static_assert(offsetof(struct kymo_attach_block, tid) == KYMO_ATTACH_AT_TID, "as in the code");
static_assert(offsetof(struct kymo_attach_block, attributes) == KYMO_ATTACH_AT_ATTRIBUTES,
	      "as in the code");
static_assert(offsetof(struct kymo_attach_block, symbol) == KYMO_ATTACH_AT_SYMBOL,
	      "as in the code");
static_assert(offsetof(struct kymo_attach_block, text) == KYMO_ATTACH_AT_TEXT, "as in the code");
static_assert(offsetof(struct kymo_attach_block, library) == KYMO_ATTACH_AT_LIBRARY,
	      "as in the code");
static_assert(sizeof(struct kymo_attach_block) <= KYMO_ATTACH_PAGE, "page 1");

#endif
