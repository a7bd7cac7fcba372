/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The permanent switch: a file from which programs get the preload library at their start.
 *
 *   of a user      ~/.config/environment.d/50-kymo.conf, which systemd reads
 *   of a workspace install/share/kymo_preload/package.dsv, which the setup files of colcon read,
 *                  and beside it the notes of kymo: colcon knows no comments
 *
 * Context of all functions: block; not thread-safe.
 */
#ifndef KYMO_RECORDER_ENABLE_H
#define KYMO_RECORDER_ENABLE_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"

struct enable_place {
	char file[PATH_MAX];	/* the notes; of a user also the variables */
	char settings[PATH_MAX]; /* of a workspace: the variables; "": of a user */
	char index[PATH_MAX];	/* of a workspace: by this empty file colcon finds them; "": of a user */
	char setup[PATH_MAX];	/* of a workspace: its setup.bash */
};

enum enable_state {
	ENABLE_OFF,
	ENABLE_ON,
	ENABLE_GONE,	/* the library that it names does not exist */
	ENABLE_FOREIGN, /* somebody else wrote the file */
};

/** enable_of_user() - where the switch of this user is. Return: 0; -1 with @err. */
int enable_of_user(struct enable_place *place, struct kymo_err *err);

/** enable_of_workspace() - of the colcon workspace, or its install space, @directory. Return: 0; -1
 * with @err. */
int enable_of_workspace(struct enable_place *place, const char *directory, struct kymo_err *err);

/** enable_look() - what there is. @library: receives the path that it names; "": none */
enum enable_state enable_look(const struct enable_place *place, char library[PATH_MAX]);

/**
 * enable_write() - switch on
 * @libdir: as of preload_find(). @flight: also KYMO_FLIGHT=1
 *
 * Return: 1; 0: it was as it shall be; -1 with @err: nothing was changed.
 */
int enable_write(const struct enable_place *place, const char *libdir, bool flight,
		 struct kymo_err *err);

/** enable_remove() - switch off, and remove directories that enable_write() created. Return: 1; 0:
 * it was off; -1 with @err. */
int enable_remove(const struct enable_place *place, struct kymo_err *err);

#endif
