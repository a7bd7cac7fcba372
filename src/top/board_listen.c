/* SPDX-License-Identifier: Apache-2.0 */
/* What the model reports goes into the present slice. See board.h. */
#include <stdio.h>
#include <string.h>

#include "analysis/model/model_startup.h"
#include "top/board_internal.h"

/* ---- rows of the model's objects ---- */

/* The row of object @index, which make() finds or creates the first time. */
static struct row *row_at(struct board *board, enum board_page page, unsigned index,
			  const void *object,
			  struct row *(*make)(struct board *board, const void *object))
{
	struct row **row = array_at(&board->row_of[page], index, sizeof(*row));

	if (!row) {
		board->no_memory = true;
		return NULL;
	}
	if (!*row)
		*row = make(board, object);
	return *row;
}

bool board_wants_process(const struct board *board, const struct model_process *process)
{
	return (!board->options.pid || process->pid == board->options.pid) &&
	       selection_process(board->options.selection, process->name, process->pid);
}

static struct row *make_callback(struct board *board, const void *object)
{
	const struct model_callback *callback = object;
	const struct model_node *node = model_callback_node(callback);
	char source[80], what[128], label[512], entity[512];
	const char *from = model_callback_source(callback, source, sizeof(source));

	(void)snprintf(what, sizeof(what), "%s%s",
		       callback->kind == MODEL_CALLBACK_TIMER ? "timer " : "", from);
	(void)model_callback_label(callback, label, sizeof(label));
	(void)summary_callback_name(callback, entity, sizeof(entity));
	return board_find(board, &(struct board_row){
					 .page = BOARD_CALLBACKS,
					 .name = node ? node->full_name : entity,
					 .what = node ? what : "",
					 .process = callback->process->name,
					 .pid = callback->process->pid,
					 .ask = label,
					 .entity = entity,
				 });
}

static struct row *make_topic(struct board *board, const void *object)
{
	const char *name = ((const struct model_topic *)object)->name;

	return board_find(
		board, &(struct board_row){ .page = BOARD_TOPICS, .name = name, .entity = name });
}

static struct row *make_thread(struct board *board, const void *object)
{
	const struct model_thread *thread = object;

	return board_find(board, &(struct board_row){
					 .page = BOARD_THREADS,
					 .name = thread->name,
					 .process = thread->process->name,
					 .pid = thread->process->pid,
					 .tid = thread->tid,
				 });
}

static bool hides_topic(const struct board *board, const struct model_topic *topic)
{
	return topic && ((!board->options.all && chains_is_infrastructure(topic)) ||
			 !selection_topic(board->options.selection, topic->name));
}

static bool hides_callback(const struct board *board, const struct model_callback *callback)
{
	const struct model_node *node = model_callback_node(callback);

	return !selection_node(board->options.selection, node ? node->full_name : "") ||
	       !board_wants_process(board, callback->process) ||
	       hides_topic(board, callback->subscription ? callback->subscription->topic : NULL);
}

/* NULL: it is not shown. */
static struct row *callback_row(struct board *board, const struct model_callback *callback)
{
	if (hides_callback(board, callback))
		return NULL;
	return row_at(board, BOARD_CALLBACKS, callback->index, callback, make_callback);
}

static struct row *worker_row(struct board *board, const struct model_instance *instance)
{
	return row_at(board, BOARD_WORKERS, instance->thread->index, instance, board_make_worker);
}

/* ---- what happens ---- */

/* @of: the callback whose run or message it was; NULL: it is not shown. */
static void add_of(struct board *board, struct row *row, const struct row *of, int64_t ns,
		   int64_t at_ns)
{
	struct board_slice *slice = board_now(board, row);

	board_add(board, row, ns, at_ns);
	if (of && of != row && slice->max_at_ns == at_ns && slice->max_ns == ns)
		slice->worst_of = &of->pub;
}

static void on_instance(void *context, const struct model_instance *instance)
{
	struct board *board = context;
	const int64_t end_ns = instance->start_ns + instance->duration_ns;
	struct row *row[4] = { 0 };

	if (board->skips)
		return;
	row[0] = callback_row(board, instance->callback);
	/* A nested run is inside another one, and takes no more of the thread's time. */
	if (!instance->depth && instance->thread &&
	    board_wants_process(board, instance->thread->process)) {
		row[1] = worker_row(board, instance);
		row[3] = row[1] ? board_executor(row[1]) : NULL;
		row[2] = row_at(board, BOARD_THREADS, instance->thread->index, instance->thread,
				make_thread);
	}
	for (unsigned i = 0; i < COUNT_OF(row); i++)
		if (row[i]) {
			board_now(board, row[i])->count++;
			add_of(board, row[i], row[0], instance->duration_ns, end_ns);
		}
}

static struct row *topic_row(struct board *board, const struct model_topic *topic)
{
	if (board->skips || !topic || hides_topic(board, topic))
		return NULL;
	return row_at(board, BOARD_TOPICS, topic->index, topic, make_topic);
}

static void on_published(void *context, const struct model_message *message)
{
	struct board *board = context;
	struct row *row =
		message->publisher && board_wants_process(board, message->publisher->process)
			? topic_row(board, message->topic)
			: NULL;

	/* A call that goes both ways is reported twice, with one id. */
	if (!row || row->last == message->id)
		return;
	row->last = message->id;
	board_now(board, row)->count++;
}

static void on_taken(void *context, const struct model_message *message)
{
	struct board *board = context;
	struct row *row = topic_row(board, message->topic);

	if (!row ||
	    (message->take_thread && !board_wants_process(board, message->take_thread->process)))
		return;
	board_now(board, row)->more++;
	/* Clocks of two hosts are not comparable. */
	if (message->callback_ns && message->publish_ns && message->publish_thread &&
	    message->publish_thread->process->host == message->callback->process->host)
		add_of(board, row, callback_row(board, message->callback),
		       message->callback_ns - message->publish_ns, message->callback_ns);
}

void board_count_runs(struct board *board, const struct model_callback *callback, uint64_t count)
{
	struct row *row = callback_row(board, callback);

	if (row)
		board_now(board, row)->count += count;
	row = callback->subscription ? topic_row(board, callback->subscription->topic) : NULL;
	if (row && board_wants_process(board, callback->process))
		board_now(board, row)->more += count;
}

void board_count_messages(struct board *board, const struct model_publisher *publisher,
			  uint64_t count)
{
	struct row *row = board_wants_process(board, publisher->process)
				  ? topic_row(board, publisher->topic)
				  : NULL;

	if (row)
		board_now(board, row)->count += count;
}

static const struct model_listener listener = {
	.instance = on_instance,
	.published = on_published,
	.taken = on_taken,
};

static const struct waits_piece *largest(const struct waits_wait *wait)
{
	const struct waits_piece *most = wait->piece;

	for (unsigned i = 1; i < wait->pieces; i++)
		if (wait->piece[i].ns > most->ns)
			most = &wait->piece[i];
	return most;
}

static void wait_of(struct board *board, struct row *row, const struct waits_wait *wait)
{
	struct board_slice *slice = row ? board_now(board, row) : NULL;
	const struct row *behind;

	if (!slice || wait->to_ns - wait->from_ns <= slice->wait_ns)
		return;
	behind = row_at(board, BOARD_CALLBACKS, largest(wait)->by->index, largest(wait)->by,
			make_callback);
	slice->wait_ns = wait->to_ns - wait->from_ns;
	slice->wait_at_ns = wait->to_ns;
	slice->behind = behind ? &behind->pub : NULL;
}

/* Only waits behind other callbacks: why else something waited, the board does not know. */
static void on_wait(void *context, const struct waits_wait *wait)
{
	struct board *board = context;
	const struct model_instance *instance = wait->instance;
	struct row *worker;

	if (board->skips || !wait->pieces ||
	    2 * (wait->thread_ns + wait->group_ns) < wait->to_ns - wait->from_ns)
		return;
	wait_of(board, callback_row(board, instance->callback), wait);
	worker = instance->thread && board_wants_process(board, instance->thread->process)
			 ? worker_row(board, instance)
			 : NULL;
	wait_of(board, worker, wait);
	wait_of(board, worker ? board_executor(worker) : NULL, wait);
}

/* ---- events ---- */

static void tell_hosts(struct board *board)
{
	for (; board->traces < kymo_ctf_trace_count(board->reader); board->traces++) {
		const struct kymo_ctf_trace_info *info =
			kymo_ctf_trace(board->reader, board->traces);

		board->no_memory |= model_set_host(board->model, board->traces, info->hostname,
						   info->clock_offset_ns) != 0;
	}
}

void board_count_process(struct board *board, int32_t pid, const char *name, uint64_t count)
{
	struct board_proc *process = map_get(&board->processes, (uint32_t)pid, 0);

	if (!process) {
		process = map_at(&board->processes, (uint32_t)pid, 0, sizeof(*process));
		if (!process ||
		    !ARRAY_ROOM(board->process, board->process_count, board->process_capacity)) {
			board->no_memory = true;
			return;
		}
		process->pid = pid;
		process->cpu = -1;
		board->process[board->process_count++] = process;
	}
	if (!process->name[0])
		(void)snprintf(process->name, sizeof(process->name), "%.20s", name);
	process->events += count;
}

int board_event(struct board *board, const struct kymo_ctf_event *event, struct kymo_err *err)
{
	if (event->trace >= board->traces)
		tell_hosts(board);
	if (event->bound == KYMO_CTF_LOSS) {
		board->lost += board->skips ? 0 : event->lost + event->lost_packets;
	} else {
		board->events[board->at] += !board->skips;
		if (event->vpid && (!board->options.pid || event->vpid == board->options.pid))
			board_count_process(board, event->vpid, event->procname, !board->skips);
	}
	if (!board->skips && !board->begin_ns[board->at])
		board->begin_ns[board->at] = event->ns;
	if (event->ns > board->last_ns)
		board->last_ns = event->ns;
	if (spans_event(board->spans, event) != 0 || model_event(board->model, event) < 0 ||
	    board->no_memory)
		return err_no_memory(err);
	return 0;
}

/* ---- life ---- */

int board_listen(struct board *board, struct kymo_err *err)
{
	struct why_callbacks_options unused;
	struct chains_options chains;

	/* The chains of the summary, but of one slice after the other. */
	summary_options(board->reader, INT64_MIN, INT64_MAX, &chains, &unused);
	chains.all_topics = board->options.all;
	chains.worst = 1;
	chains.hops = chains.steady_first = false;
	board->traces = kymo_ctf_trace_count(board->reader);
	if (model_create(&board->model, err) < 0)
		return -1;
	if (board->options.all)
		model_without_startup(board->model);
	if (model_listen(board->model, &listener, board, err) < 0 ||
	    waits_create(&board->waits, board->model, on_wait, board, err) < 0 ||
	    board_listen_spans(board, err) < 0 || board_listen_summary(board, err) < 0)
		return -1;
	if (board->options.whole && chains_create(&board->chains, board->model, &chains, err))
		return -1;
	/* Last: the reader is bound to what all of them listen to. */
	return spans_attach(board->spans, board->reader, err);
}

/* Objects of the next model have other numbers; a message's number says nothing any more. */
void board_unlisten(struct board *board)
{
	for (unsigned i = 0; i < board->count[BOARD_TOPICS]; i++)
		board->row[BOARD_TOPICS][i]->last = 0;
	if (board->model)
		board->nodes = model_count(board->model, MODEL_NODE);
	if (board->options.whole)
		chains_destroy(board->chains);
	map_free(&board->publisher_at);
	board->publishers = 0;
	passes_free(&board->analyses);
	board->collect = NULL;
	board->view = NULL;
	model_destroy(board->model);
	spans_destroy(board->spans);
	board->spans = NULL;
	waits_destroy(board->waits);
	board->model = NULL;
	board->waits = NULL;
	board->chains = NULL;
}
