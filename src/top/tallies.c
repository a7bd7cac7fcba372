/* SPDX-License-Identifier: Apache-2.0 */
/* See tallies.h. */
#include "top/tallies.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "recorder/runtime/region_view.h"
#include "recorder/runtime/status.h"
#include "top/tally_names.h"

/* One object of a program. */
struct tally {
	uint64_t sum[COUNT_KINDS]; /* of all tables, in this look */
	uint64_t last[COUNT_KINDS];
};

struct program {
	struct region region;
	struct map tally; /* address -> struct tally */
	struct tally_names *names; /* of its spans; NULL: not read yet */
	uint64_t missed;  /* kymo_region.uncounted, at the last look */
	bool is_seen, is_new;
};

struct tallies {
	struct rundir dir;
	int pid;
	struct program **program;
	unsigned count, capacity;
	uint64_t missed;
	bool has_looked, no_memory;
};

/* ---- programs come and go ---- */

static void program_free(struct program *program)
{
	map_free_all(&program->tally);
	tally_names_free(program->names);
	region_close(&program->region);
	free(program);
}

static void add_program(struct tallies *tallies, const char *name)
{
	struct program *program = calloc(1, sizeof(*program));
	struct kymo_err err;

	if (!program || !ARRAY_ROOM(tallies->program, tallies->count, tallies->capacity)) {
		tallies->no_memory = true;
		free(program);
		return;
	}
	program->region.fd = -1;
	if (region_open(&program->region, &tallies->dir, name, false, &err) != 0 ||
	    (tallies->pid && program->region.pid != (uint32_t)tallies->pid)) {
		program_free(program);
		return;
	}
	program->is_seen = program->is_new = true;
	tallies->program[tallies->count++] = program;
}

static void on_file(void *context, const char *name)
{
	struct tallies *tallies = context;

	if (!region_is_name(name))
		return;
	for (unsigned i = 0; i < tallies->count; i++)
		if (strcmp(tallies->program[i]->region.name, name) == 0) {
			tallies->program[i]->is_seen = true;
			return;
		}
	add_program(tallies, name);
}

static void find_programs(struct tallies *tallies)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < tallies->count; i++)
		tallies->program[i]->is_seen = false;
	(void)rundir_list(&tallies->dir, on_file, tallies);
	for (unsigned i = 0; i < tallies->count; i++) {
		if (tallies->program[i]->is_seen)
			tallies->program[kept++] = tallies->program[i];
		else
			program_free(tallies->program[i]);
	}
	tallies->count = kept;
}

/* ---- tables ---- */

static void add_table(struct tallies *tallies, struct program *program,
		      const struct kymo_count *table)
{
	for (unsigned i = 0; i < KYMO_COUNTS; i++) {
		const uint64_t key = __atomic_load_n(&table[i].key, __ATOMIC_RELAXED);
		struct tally *tally;

		if (!key)
			continue;
		tally = map_at(&program->tally, key >> 2, 0, sizeof(*tally));
		if (!tally) {
			tallies->no_memory = true;
			return;
		}
		tally->sum[key & 3] += __atomic_load_n(&table[i].count, __ATOMIC_RELAXED);
	}
}

static void add_tables(struct tallies *tallies, struct program *program)
{
	const struct kymo_region *header = region_header(&program->region);
	const uint32_t rings = __atomic_load_n(&header->ring_count, __ATOMIC_ACQUIRE);
	const uint32_t *page = region_page(&program->region, KYMO_RING_DIR_PAGE, 2);

	for (uint32_t i = 0; i < rings && i < KYMO_RINGS_MAX; i++) {
		const struct kymo_ring *ring = region_page(
			&program->region, __atomic_load_n(&page[i], __ATOMIC_ACQUIRE), 1);
		const uint32_t at = ring ? __atomic_load_n(&ring->count_page, __ATOMIC_ACQUIRE) : 0;
		const void *table =
			at ? region_page(&program->region, at, KYMO_COUNT_PAGES) : NULL;

		if (table)
			add_table(tallies, program, table);
	}
}

/* The span that counted, by the number of its event. Return: false: it is not shown. */
static bool name_span(struct program *program, struct tally_of *of)
{
	if (!program->names || !tally_names_find(program->names, of)) {
		tally_names_free(program->names);
		program->names = tally_names_read(&program->region);
	}
	return program->names && tally_names_find(program->names, of) && of->name;
}

/* @is_base: the counts of a first look are only what the next one is compared with. */
static void report(struct program *program, bool is_base,
		   void (*each)(void *context, const struct tally_of *of), void *context)
{
	const struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&program->tally, &at))) {
		struct tally_of of = { .pid = (int32_t)program->region.pid,
				       .process = program->region.procname,
				       .address = slot->key };
		struct tally *tally = slot->value;
		bool any = false;

		for (unsigned kind = 0; kind < COUNT_KINDS; kind++) {
			of.more[kind] = tally->sum[kind] - tally->last[kind];
			any |= of.more[kind] != 0;
			tally->last[kind] = tally->sum[kind];
			tally->sum[kind] = 0;
		}
		if (any && !is_base && (!of.more[KYMO_COUNT_NOT] || name_span(program, &of)))
			each(context, &of);
	}
}

/* ---- all of them ---- */

int tallies_open(struct tallies **out, int pid, struct kymo_err *err)
{
	struct tallies *tallies = calloc(1, sizeof(*tallies));

	if (!tallies)
		return err_no_memory(err);
	tallies->pid = pid;
	if (rundir_open(&tallies->dir, NULL, true, err) < 0) {
		free(tallies);
		return -1;
	}
	*out = tallies;
	return 0;
}

void tallies_close(struct tallies *tallies)
{
	if (!tallies)
		return;
	for (unsigned i = 0; i < tallies->count; i++)
		program_free(tallies->program[i]);
	free(tallies->program);
	rundir_close(&tallies->dir);
	free(tallies);
}

int tallies_read(struct tallies *tallies, void (*each)(void *context, const struct tally_of *of),
		void *context, struct kymo_err *err)
{
	find_programs(tallies);
	for (unsigned i = 0; i < tallies->count; i++) {
		struct program *program = tallies->program[i];
		uint64_t missed;

		if (!region_intact(&program->region) || region_grow(&program->region) < 0)
			continue;
		missed = __atomic_load_n(&region_header(&program->region)->uncounted,
					 __ATOMIC_RELAXED);
		tallies->missed += program->is_new && !tallies->has_looked ? 0
									 : missed - program->missed;
		program->missed = missed;
		add_tables(tallies, program);
		report(program, program->is_new && !tallies->has_looked, each, context);
		program->is_new = false;
	}
	tallies->has_looked = true;
	return tallies->no_memory ? err_no_memory(err) : 0;
}

uint64_t tallies_missed(const struct tallies *tallies)
{
	return tallies->missed;
}

static void count_program(void *context, const struct process_status *status)
{
	unsigned *count = context;

	*count += status->alive != ALIVE_DEAD;
}

unsigned tallies_programs(void)
{
	struct kymo_err err;
	struct rundir dir;
	unsigned count = 0;

	if (rundir_open(&dir, NULL, false, &err) != 0)
		return 0;
	(void)status_read(&dir, count_program, NULL, &count, &err);
	rundir_close(&dir);
	return count;
}
