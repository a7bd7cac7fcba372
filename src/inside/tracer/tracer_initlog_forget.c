/* SPDX-License-Identifier: Apache-2.0 */
/* Declares all objects of the init log gone, for a process that has not reported for a while what
 * it destroyed. */
#include "inside/tracer/tracer_initlog_internal.h"

/* The object that the record creates is gone. */
static void gone(const struct kymo_log_record *record)
{
	const struct kymo_life *life =
		record->id < KYMO_POINTS_TABLE ? &kymo_life[record->id] : NULL;
	uint64_t handle;

	if (!life || !life->makes.entity || life->makes.entity == KYMO_ENTITY_THREAD ||
	    record->payload_size < (life->makes.field + 1u) * sizeof handle)
		return;
	memcpy(&handle, record->payload + life->makes.field * sizeof handle, sizeof handle);
	kymo__log_gone(life->makes.entity, handle);
}

/* The walk ends at a record that a thread has not completed. */
void kymo__log_forget(void)
{
	struct kymo_process *process = kymo_process;
	uint64_t at, to;

	if (!kymo__is_registered())
		return;
	at = __atomic_load_n(&process->region->log_head, __ATOMIC_ACQUIRE);
	to = __atomic_load_n(&process->region->log_tail, __ATOMIC_ACQUIRE);
	while (at < to) {
		const struct kymo_log_record *record = kymo_log_at(process, at);
		const uint64_t rest = KYMO_LOG_CHUNK - at % KYMO_LOG_CHUNK;

		if (rest < LOG_HEADER) {
			at += rest;
			continue;
		}
		if (__atomic_load_n(&record->stamp, __ATOMIC_ACQUIRE) != (KYMO_LOG_STAMP ^ at) ||
		    record->size < LOG_HEADER)
			return;
		if (record->id != KYMO_LOG_PAD)
			gone(record);
		at += record->size;
	}
}
