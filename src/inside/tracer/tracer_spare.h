/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spare blocks: memory for those rings of a process that fill up at the moment. Private to
 * src/inside/tracer.
 *
 * The spare blocks are allocated and mapped in when the process registers, so a ring that grows
 * causes no page fault and no system call. Each spare block has a word that says which block of
 * which ring it contains. The spare block is free when the consumer has moved the ring's rpos past
 * that block. So nobody gives spare blocks back: a thread that needs one looks at the words, and
 * takes a free one by an exchange of its word. tests/model/spare.pml is this protocol for a model
 * checker.
 *
 * Context of all functions: wait-free, no system call. kymo_spare_install(): while the process
 * registers.
 */
#ifndef KYMO_TRACER_SPARE_H
#define KYMO_TRACER_SPARE_H

#include <stdbool.h>
#include <stdint.h>

struct kymo_block;
struct kymo_process;
struct kymo_thread;

/** kymo_spare_used() - whether the rings of this process use spare blocks. */
bool kymo_spare_used(void);
/** kymo_spare_fits() - whether a ring with @bytes of its own can grow into spare blocks. */
bool kymo_spare_fits(const struct kymo_process *process, uint64_t bytes);
/** kymo_spare_count() - spare blocks of a new region whose first rings have @used bytes. */
uint32_t kymo_spare_count(uint64_t used);
/** kymo_spare_install() - @count spare blocks are mapped at @at, @page of the new region. */
void kymo_spare_install(struct kymo_process *process, uint32_t count, uint8_t *at, uint32_t page);

/**
 * kymo_block_memory() - find memory for a block of the thread's ring
 * @start: position where the block begins
 *
 * Enters the block's place in the ring, if the block is not at home.
 *
 * Context: wait-free; on the ring's own thread, in a slow path. Return: NULL: no memory is free.
 */
struct kymo_block *kymo_block_memory(struct kymo_thread *thread, uint64_t start);

#endif
