/* SPDX-License-Identifier: Apache-2.0 */
/* libkymo-ros2.so in a process that was started without it: what `kymo attach` orders. */
#ifndef KYMO_HOOKS_ATTACH_H
#define KYMO_HOOKS_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

/* enum kymo_attach_held. Other than KYMO_ATTACH_NEVER: the library came late, so it is not in the
 * global scope. */
extern __attribute__((visibility("default"))) uint32_t kymo__attach_held;

/** kymo_came_late() - was the library loaded into the running process? Context: wait-free. */
static inline bool kymo_came_late(void)
{
	return __atomic_load_n(&kymo__attach_held, __ATOMIC_RELAXED) != 0;
}

/** kymo_attach_look() - let objects that were loaded since the last look call kymo, too. Context:
 * the dynamic linker's locks; as dlopen() if there are such objects. Called by init events: who
 * loads a component creates nodes with it. */
void kymo_attach_look(void);

#endif
