/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the frame of a function ends, and where its return address is, on machines whose functions
 * choose the place themselves (aarch64).
 */
#ifndef KYMO_FUNCTIONS_FRAMES_H
#define KYMO_FUNCTIONS_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* The frame of a function at one of its instructions. */
struct functions_frame {
	int32_t end;    /* bytes from the register to the end of the frame */
	int32_t place;  /* bytes from there to the return address: less than 0 */
	bool from_x29;  /* the register is x29, not sp */
	bool is_signed; /* the return address has a signature (pointer authentication) */
	bool is_known;
};

/**
 * functions_find_frame() - what the unwind table says about the frame at @pc
 *
 * A frame that the table does not describe in these simple terms is not known. Context: wait-free
 * for an address that was asked for before; else the loader's lock; no memory of libc.
 */
struct functions_frame functions_find_frame(uintptr_t pc);

/** functions_read_frame() - the slow path of functions_find_frame(). Context: the loader's lock; no
 * memory of libc. */
struct functions_frame functions_read_frame(uintptr_t pc);

/** functions_frames_in_child() - after fork(), in the child: a dlclose() of another thread does not
 * go on here. */
void functions_frames_in_child(void);

#endif
