/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a running process traceable that was started without kymo, and undoing that.
 *
 * libkymo-ros2.so is loaded into the process by its own dynamic linker, in a thread of its own that
 * lives for some milliseconds; then all loaded objects call kymo's functions
 * (src/inside/ros2/ros2_slots.c).
 */
#ifndef KYMO_ATTACH_H
#define KYMO_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct attach_wish {
	const char *library; /* path of libkymo-ros2.so */
	const char
		*settings; /* lines "KYMO_DIR=/x\n" for the process; NULL: as in its environment */
	int64_t max_pause; /* ns; give up before a thread is stopped for longer; 0: no limit */
};

enum attach_change {
	ATTACH_CHANGED,
	ATTACH_AGAIN, /* it was attached before; objects that were loaded since now call kymo, too
		       */
	ATTACH_PRELOADED, /* it was started with kymo: there is nothing to do */
	ATTACH_NOTHING,   /* detach: kymo was not attached */
};

struct attach_outcome {
	enum attach_change change;
	char name[64];    /* of the process */
	int64_t pause;    /* ns for which the borrowed thread was stopped; 0: none was */
	unsigned thread;  /* which one */
	bool realtime;    /* it has a real-time priority */
	uint32_t entries; /* entries through which objects call kymo now; detach: that were restored
			   */
	uint32_t objects; /* programs and libraries that have them */
	uint32_t tracepoints; /* of the entries: calls of tracetools; 0: the tracepoints are
				 compiled out */
	uint32_t elsewhere;   /* entries that were left alone */
	uint32_t tracetools;  /* KYMO_V(); 0: unknown */
	bool python_failed;   /* a Python program whose callbacks of rclpy will not be recorded */
};

/**
 * attach_on() - make process @pid traceable
 *
 * Return: 0, or -1 with @err: nothing has changed in the process, and @err says what would allow
 * it. Context: allocates, blocks; up to 40 s if the process is busy. A single thread of the process
 * is stopped, for @outcome.pause.
 */
int attach_on(unsigned pid, const struct attach_wish *wish, struct attach_outcome *outcome,
	      struct kymo_err *err);

/** attach_off() - let the process call again what it called before. The library stays in its
 * memory. Return, Context: as above. */
int attach_off(unsigned pid, const struct attach_wish *wish, struct attach_outcome *outcome,
	       struct kymo_err *err);

enum attach_kind {
	ATTACH_OTHER,    /* neither uses tracetools nor has kymo */
	ATTACH_ROS2,     /* has libtracetools.so, and not kymo's library */
	ATTACH_STARTED,  /* was started with kymo */
	ATTACH_ATTACHED, /* kymo is attached */
	ATTACH_DETACHED, /* kymo was attached */
};

struct attach_found {
	unsigned pid;
	char name[64];
	enum attach_kind kind;
};

/**
 * attach_find() - the processes that we may look into
 * @name: NULL: all; else only those whose name, or whose program's file name, matches this glob
 * @found: set to an array that the caller frees
 *
 * Return: their number, or -1 with @err. Context: allocates, blocks: reads /proc.
 */
int attach_find(const char *name, struct attach_found **found, struct kymo_err *err);

#endif
