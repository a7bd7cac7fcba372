/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's side of the set of objects that are left out (src/abi/region.h). The set only
 * saves work: the content of the trace does not depend on it, since the filter judges what the
 * process wrote all the same.
 *
 * Context of all functions: wait-free; one recorder, beside the traced process.
 */
#ifndef KYMO_RECORDER_LEFT_OUT_H
#define KYMO_RECORDER_LEFT_OUT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * left_out_propose() - enter @address, without effect yet; entering it again is allowed
 *
 * Then read the init log to its end. If that was possible and the log had no news of @address, call
 * left_out_confirm(), else left_out_withdraw().
 * Return: false: the set has no room, or @address cannot be in a set.
 */
bool left_out_propose(uint64_t *set, uint64_t address);

/** left_out_confirm() - from now on its events are left out, unless the process has ended the
 * proposal. */
void left_out_confirm(uint64_t *set, uint64_t address);

/** left_out_withdraw() - its events are wanted. */
void left_out_withdraw(uint64_t *set, uint64_t address);

/** left_out_has() - whether it is proposed or left out. */
bool left_out_has(const uint64_t *set, uint64_t address);

/** left_out_clear() - nothing is left out. */
void left_out_clear(uint64_t *set);

#endif
