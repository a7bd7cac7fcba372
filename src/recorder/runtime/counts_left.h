/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that still count (KYMO_ENABLE_COUNT) because their recorder was killed: nobody reads
 * these counts. A killed recorder can't switch them off, so the next verb does.
 */
#ifndef KYMO_RECORDER_COUNTS_LEFT_H
#define KYMO_RECORDER_COUNTS_LEFT_H

#include "recorder/runtime/rundir.h"

/**
 * counts_left_end() - let the programs of @dir that count for a dead recorder be as before: they
 * wait, or are flight recorders again
 *
 * Programs of a living recorder, and those that do not count, stay as they are. What can't be done
 * is left for the next call.
 * Return: number of programs. Context: allocates and blocks.
 */
unsigned counts_left_end(const struct rundir *dir);

#endif
