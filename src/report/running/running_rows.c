/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of the running tables. See running.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/chains/chains.h"
#include "base/array.h"
#include "base/order.h"
#include "report/running/running_internal.h"

/* What a row is sorted by, largest first. */
struct running_row {
	double key;
	const void *of;
	const char *name;
	uint64_t count;
};

#define SECTION_LINES 3u /* of a terminal: one that is empty, title, head */
#define NOTE_LINES 2u
#define LEAST_LINES 6u /* with fewer a section is left out, */
#define FAIR_LINES 8u  /* and with fewer for each, the last ones are */

/* What a section may take. */
struct running_room {
	unsigned rows;     /* at most, if lines are not limited */
	unsigned lines;    /* that are left; 0: not limited */
	unsigned sections; /* that are to come, with this one */
};

/* ---- rows ---- */

/* Return: the rows of a section, of @count that there are; takes their lines. */
static unsigned take_room(struct running_room *room, unsigned count, bool note)
{
	const unsigned around = SECTION_LINES + (note ? NOTE_LINES : 0);
	unsigned sections = room->lines / FAIR_LINES, share;

	if (!room->lines)
		return count < room->rows ? count : room->rows;
	sections = !sections ? 1 : sections < room->sections ? sections : room->sections;
	share = room->lines / sections;
	share = share > around ? share - around : 1;
	count = count < share ? count : share;
	/* One that has no rows says so in a line. */
	share = around + (count ? count : 1);
	room->lines -= share < room->lines ? share : room->lines - 1;
	room->sections--;
	return count;
}

static int by_key(const void *a, const void *b)
{
	const struct running_row *x = a, *y = b;

	return ORDER(y->key, x->key) ?: strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct running_row *)a)->name, ((const struct running_row *)b)->name);
}

static double span_s(const struct running *running)
{
	return (double)(running->last_ns - running->first_ns) / 1e9;
}

static void cell_rate(const struct running *running, struct table *table, uint64_t count)
{
	const double span = span_s(running);

	if (span > 0)
		table_f64(table, (double)count / span);
	else
		table_none(table);
}

static void cell_name(struct table *table, const char *name)
{
	if (name && *name)
		table_text(table, name);
	else
		table_none(table);
}

static void cells_times(struct table *table, const struct histogram *times)
{
	static const double shares[] = { 0.5, 0.99, 1 };

	for (unsigned i = 0; i < COUNT_OF(shares); i++)
		if (times->count)
			table_ns(table, (int64_t)histogram_quantile(times, shares[i]));
		else
			table_none(table);
}

/* Sorts. Return: how many rows there is room for. */
static unsigned order(struct running *running, struct running_row *row, unsigned count,
		      struct running_room *room)
{
	/* A row says more than the note. */
	if (room->lines && room->lines <= SECTION_LINES + NOTE_LINES)
		running->hidden = 0;
	qsort(row, count, sizeof(*row), by_key);
	return take_room(room, count, running->hidden);
}

/* ---- sections ---- */

static const struct table_column callback_columns[] = {
	{ "node", "Node" }, { "kind", "Kind" }, { "source", "Topic/period/service" }, { "count", "Count" },
	{ "rate_hz", "Hz" }, { "p50_ns", "p50" }, { "p99_ns", "p99" }, { "max_ns", "Max" }, { "busy", "Busy" },
	{ "process", "Process" }, { "pid", NULL },
};

static const char *node_name(const struct model_callback *callback)
{
	const struct model_node *node = model_callback_node(callback);

	return node ? node->full_name : "";
}

static bool wants_callback(const struct running *running, const struct model_callback *callback)
{
	const struct model_process *process = callback->process;

	return selection_node(running->selection, node_name(callback)) &&
	       selection_process(running->selection, process->name, process->pid);
}

/* Counts what it hides. */
static bool hides(struct running *running, const struct model_topic *topic)
{
	const bool hidden = running->hides && topic && chains_is_infrastructure(topic);

	running->hidden += hidden;
	return hidden;
}

static const struct model_topic *topic_of(const struct model_callback *callback)
{
	return callback->subscription ? callback->subscription->topic : NULL;
}

static void note_hidden(struct running *running, struct table *table)
{
	if (running->hidden)
		table_note(table, "%u start-up row%s hidden; --all shows %s", running->hidden,
			   running->hidden > 1 ? "s" : "", running->hidden > 1 ? "them" : "it");
	running->hidden = 0;
}

static void callback_row(const struct running *running, struct table *table,
			 const struct model_callback *callback)
{
	const struct running_tally *tally = &running->callbacks.of[callback->index];
	const double span = span_s(running);
	char source[80];

	cell_name(table, node_name(callback));
	table_text(table, model_callback_kind_name(callback));
	table_text(table, model_callback_what(callback, source, sizeof(source)));
	table_u64(table, tally->count);
	cell_rate(running, table, tally->count);
	cells_times(table, &tally->times);
	if (span > 0)
		table_f64(table, (double)tally->times.sum / 1e9 / span);
	else
		table_none(table);
	cell_name(table, callback->process->name);
	table_i64(table, callback->process->pid);
}

static void callbacks(struct running *running, struct table *table, struct running_row *row,
		      struct running_room *room)
{
	unsigned count = 0;

	table_section(table, "callbacks", "Callbacks, busiest first", callback_columns, COUNT_OF(callback_columns));
	table_rank(table, "node source busy max_ns count p99_ns");
	for (unsigned i = 0; i < running->callbacks.count; i++) {
		const struct running_tally *tally = &running->callbacks.of[i];
		const struct model_callback *callback =
			tally->count ? model_callback(running->model, i) : NULL;

		if (callback && wants_callback(running, callback) &&
		    !hides(running, topic_of(callback)))
			row[count++] = (struct running_row){
				(double)tally->times.sum, callback, node_name(callback), 0,
			};
	}
	count = order(running, row, count, room);
	for (unsigned i = 0; i < count; i++)
		callback_row(running, table, row[i].of);
	note_hidden(running, table);
}

static const struct table_column topic_columns[] = {
	{ "topic", "Topic" }, { "published", "Published" }, { "rate_hz", "Hz" }, { "taken", "Received" },
	{ "latency_p50_ns", "Latency p50" }, { "latency_p99_ns", "p99" }, { "latency_max_ns", "Max" },
};

static void topics(struct running *running, struct table *table, struct running_row *row,
		   struct running_room *room)
{
	unsigned count = 0;

	table_section(table, "topics", "Topics, most messages first", topic_columns, COUNT_OF(topic_columns));
	for (unsigned i = 0; i < running->topics.count; i++) {
		const struct running_tally *tally = &running->topics.of[i];
		const struct model_topic *topic =
			tally->count + tally->taken ? model_topic(running->model, i) : NULL;

		if (topic && selection_topic(running->selection, topic->name) &&
		    !hides(running, topic))
			row[count++] = (struct running_row){
				(double)(tally->count + tally->taken), topic, topic->name, 0,
			};
	}
	count = order(running, row, count, room);
	for (unsigned i = 0; i < count; i++) {
		const struct model_topic *topic = row[i].of;
		const struct running_tally *tally = &running->topics.of[topic->index];

		cell_name(table, topic->name);
		table_u64(table, tally->count);
		cell_rate(running, table, tally->count);
		table_u64(table, tally->taken);
		cells_times(table, &tally->times);
	}
	note_hidden(running, table);
}

static const struct table_column process_columns[] = {
	{ "process", "Process" }, { "pid", "Pid" }, { "count", "Events" }, { "rate_hz", "Hz" },
};

static void processes(struct running *running, struct table *table, struct running_row *row,
		      struct running_room *room)
{
	const struct map_slot *slot;
	unsigned count = 0;
	size_t at = 0;

	table_section(table, "processes", "Processes, most events first", process_columns, COUNT_OF(process_columns));
	while ((slot = map_next(&running->processes, &at))) {
		const struct running_process *process = slot->value;

		if (process->count &&
		    selection_process(running->selection, process->name, process->pid))
			row[count++] = (struct running_row){
				(double)process->count, process, process->name, 0,
			};
	}
	count = order(running, row, count, room);
	for (unsigned i = 0; i < count; i++) {
		const struct running_process *process = row[i].of;

		cell_name(table, process->name);
		table_i64(table, process->pid);
		table_u64(table, process->count);
		cell_rate(running, table, process->count);
	}
}

static const struct table_column event_columns[] = {
	{ "event", "Event" }, { "count", "Events" }, { "rate_hz", "Hz" },
};

/* Traces of several processes have classes of one name. */
static unsigned join_names(struct running_row *row, unsigned count)
{
	unsigned kept = 0;

	qsort(row, count, sizeof(*row), by_name);
	for (unsigned i = 0; i < count; i++) {
		if (kept && strcmp(row[kept - 1].name, row[i].name) == 0) {
			row[kept - 1].count += row[i].count;
			row[kept - 1].key += row[i].key;
		} else {
			row[kept++] = row[i];
		}
	}
	return kept;
}

static void events(struct running *running, struct table *table, struct running_row *row,
		   struct running_room *room)
{
	unsigned count = 0;

	table_section(table, "events_by_name", "Events, most frequent first", event_columns, COUNT_OF(event_columns));
	for (unsigned i = 0; i < running->class_count; i++)
		if (running->classes[i])
			row[count++] = (struct running_row){
				(double)running->classes[i], NULL,
				kymo_ctf_class(running->reader, i)->name, running->classes[i],
			};
	count = order(running, row, join_names(row, count), room);
	for (unsigned i = 0; i < count; i++) {
		cell_name(table, row[i].name);
		table_u64(table, row[i].count);
		cell_rate(running, table, row[i].count);
	}
}

/* ---- a block ---- */

static size_t rows_most(const struct running *running)
{
	const size_t counts[] = { running->callbacks.count, running->topics.count,
				  running->processes.count, running->class_count };
	size_t most = 1;

	for (unsigned i = 0; i < COUNT_OF(counts); i++)
		most = counts[i] > most ? counts[i] : most;
	return most;
}

static unsigned facts(const struct running *running, struct table *table)
{
	unsigned lines = 2;

	table_value_u64(table, "events", "Events", running->events);
	table_value_ns(table, "span_ns", "In", running->last_ns - running->first_ns);
	if (running->lost_events) {
		table_value_u64(table, "lost_events", "Lost events", running->lost_events);
		lines++;
	}
	if (running->lost_packets) {
		table_value_u64(table, "lost_packets", "Missing packets", running->lost_packets);
		lines++;
	}
	return lines;
}

int running_write(struct running *running, struct table *table, unsigned rows, unsigned lines,
		  struct kymo_err *err)
{
	static void (*const write[])(struct running *, struct table *, struct running_row *,
				     struct running_room *) = { callbacks, topics, processes,
								events };
	const bool is_there[] = { running->callbacks.count, running->topics.count,
				  running->processes.count, true };
	struct running_row *row = calloc(rows_most(running), sizeof(*row));
	struct running_room room = { .rows = rows };
	bool is_first = true;
	unsigned used;

	if (!row)
		return err_no_memory(err);
	used = facts(running, table);
	if (lines)
		room.lines = lines > used ? lines - used : 1;
	for (unsigned i = 0; i < COUNT_OF(write); i++)
		room.sections += is_there[i];
	for (unsigned i = 0; i < COUNT_OF(write); i++)
		if (is_there[i] && (is_first || !room.lines || room.lines >= LEAST_LINES)) {
			write[i](running, table, row, &room);
			is_first = false;
		}
	free(row);
	running_forget(running);
	return 0;
}
