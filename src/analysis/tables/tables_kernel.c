/* SPDX-License-Identifier: Apache-2.0 */
/* Rows from the kernel's scheduler events; see analysis/sched/sched_runs.h. */
#include "analysis/tables/tables_internal.h"

#include <string.h>

static void add_spell(struct tables_scan *scan, enum tables_id table,
		      const struct sched_spell *spell)
{
	struct tables_row *row = tables_row_new(scan, table);

	if (!row)
		return;
	row->spell.spell = *spell;
	memcpy(row->spell.name, spell->name, strnlen(spell->name, SCHED_COMM_SIZE - 1));
	memcpy(row->spell.by, spell->by, strnlen(spell->by, SCHED_COMM_SIZE - 1));
	row->spell.host = kymo_ctf_trace(scan->reader, spell->host)->hostname;
}

static void on_spell(void *context, const struct sched_spell *spell)
{
	add_spell(context, TABLE_thread_states, spell);
	if (spell->state == SCHED_ON_CPU)
		add_spell(context, TABLE_cpu_times, spell);
}

static void on_run(void *context, const struct sched_run *run)
{
	struct tables_row *row = tables_row_new(context, TABLE_callback_cpu);

	if (row) {
		row->id = run->instance->id;
		row->cpu.instance = *run->instance;
		row->cpu.instance.message = NULL;	/* valid during the call only */
		row->cpu.is_known = run->is_known;
		row->cpu.usage = run->usage;
		row->cpu.own = run->own;
	}
	for (unsigned i = 0; i < run->bys; i++) {
		row = tables_row_new(context, TABLE_callback_preemptions);
		if (!row)
			return;
		row->preemption.instance = *run->instance;
		row->preemption.instance.message = NULL;
		row->preemption.by = run->by[i];
	}
}

static void on_io(void *context, const struct model_instance *instance, const struct sched_io *wait)
{
	struct tables_row *row = tables_row_new(context, TABLE_io_waits);

	if (!row)
		return;
	row->io.instance = *instance;
	row->io.io = *wait;
}

static const struct sched_runs_listener listener = { .run = on_run,
						     .spell = on_spell,
						     .io = on_io };
static const struct sched_runs_listener without_io = { .run = on_run, .spell = on_spell };

int tables_kernel_attach(struct tables_scan *scan, struct kymo_err *err)
{
	const uint64_t of_kernel = TABLES_BIT(TABLE_thread_states) | TABLES_BIT(TABLE_cpu_times) |
				   TABLES_BIT(TABLE_callback_cpu) |
				   TABLES_BIT(TABLE_callback_preemptions) |
				   TABLES_BIT(TABLE_thread_cpu) | TABLES_BIT(TABLE_io_waits);

	if (!(scan->request.tables & of_kernel) || !sched_is_there(scan->reader))
		return 0;
	return sched_runs_create(&scan->runs, scan->model, scan->reader,
				 tables_wants(scan, TABLE_io_waits) ? &listener : &without_io, scan,
				 err);
}

void tables_kernel_finish(struct tables_scan *scan)
{
	for (unsigned i = 0; scan->runs && i < model_count(scan->model, MODEL_THREAD); i++) {
		const struct model_thread *thread = model_thread(scan->model, i);
		struct tables_row *row = tables_row_new(scan, TABLE_thread_cpu);

		if (!row)
			return;
		row->thread.thread = thread;
		row->thread.is_known = sched_runs_thread(scan->runs, thread, &row->thread.usage);
	}
}
