/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers the events of the nodes on the paths while the model is fed; see caret_paths.h. */
#include "caret/paths/caret_paths.h"

#include <stdlib.h>
#include <string.h>

#include "caret/paths/caret_internal.h"

/* ---- logs ---- */

static void *log_add(struct caret *caret, struct caret_log *log, size_t size)
{
	void *larger = log->rows < log->room
			       ? log->row
			       : array_fit(log->row, log->rows + 1, &log->room, size);

	if (!larger) {
		caret->failed = true;
		return NULL;
	}
	log->row = larger;
	return (char *)log->row + log->rows++ * size;
}

/* Whether a hop of a path is @node and, unless NULL, @publishes or @subscribes. */
static bool on_path(const struct caret *caret, const struct model_node *node,
		    const struct model_topic *publishes, const struct model_topic *subscribes)
{
	const struct caret_options *options = &caret->options;

	for (unsigned i = 0; node && i < options->paths; i++) {
		const struct arch_path *path = options->path[i];

		for (unsigned j = 0; j < path->hops; j++) {
			const struct arch_hop *hop = &path->hop[j];
			/* Runs of callbacks at the ends of a path count only if asked for. */
			bool runs = (j || options->first_callback) &&
				    (j + 1 < path->hops || options->last_callback);

			if (strcmp(hop->node, node->full_name) != 0)
				continue;
			if (publishes ? strcmp(hop->publish_topic, publishes->name) == 0 :
			    subscribes ? strcmp(hop->subscribe_topic, subscribes->name) == 0 : runs)
				return true;
		}
	}
	return false;
}

/* The log of an object of @node; NULL: it is on no path. */
static struct caret_log *log_of(struct caret *caret, struct array *logs, unsigned index,
			  const struct model_node *node, const struct model_topic *publishes,
			  const struct model_topic *subscribes)
{
	struct caret_log *log = array_at(logs, index, sizeof(*log));

	caret->failed |= !log;
	if (log && !log->looked) {
		log->looked = node != NULL;
		log->wanted = on_path(caret, node, publishes, subscribes);
	}
	return log && log->wanted ? log : NULL;
}

/* ---- events ---- */

static bool inside(const struct caret *caret, int64_t ns)
{
	return ns >= caret->options.begin_ns && ns <= caret->options.end_ns;
}

static void add_publication(struct caret *caret, const struct model_publisher *publisher,
			    const struct caret_publication *publication)
{
	struct caret_log *log = log_of(caret, &caret->publishers, publisher->index, publisher->node,
				 publisher->topic, NULL);
	struct caret_publication *row;

	if (!log || !inside(caret, publication->ns))
		return;
	/* A call with both kinds of receivers is reported twice, first within the process. */
	row = log->rows ? (struct caret_publication *)log->row + log->rows - 1 : NULL;
	for (size_t back = 0; row && publication->id && back < 64 && back < log->rows;
	     back++, row--)
		if (row->id == publication->id) {
			if (publication->ns < row->ns)
				row->ns = publication->ns;
			row->is_intra |= publication->is_intra;
			return;
		}
	row = log_add(caret, log, sizeof(*row));
	if (row)
		*row = *publication;
}

static struct caret_pending *pending_of(struct caret *caret, const struct model_thread *thread)
{
	struct caret_pending *pending = array_at(&caret->pending, thread->index, sizeof(*pending));

	caret->failed |= !pending;
	return pending;
}

static void pending_flush(struct caret *caret, struct caret_pending *pending)
{
	if (pending->address && pending->publisher)
		add_publication(
			caret, pending->publisher,
			&(struct caret_publication){ .ns = pending->ns, .tid = pending->tid });
	pending->address = 0;
}

/* Also a publish call that never reaches the middleware: the trace may end within it. */
static void on_publish_step(void *context, const struct model_publish_step *step)
{
	struct caret *caret = context;
	struct caret_pending *pending;

	if (step->layer != MODEL_LAYER_RCLCPP && step->layer != MODEL_LAYER_RCL)
		return;
	pending = pending_of(caret, step->thread);
	if (!pending)
		return;
	if (step->layer == MODEL_LAYER_RCL && pending->address == step->address) {
		pending->publisher = step->publisher;
		return;
	}
	pending_flush(caret, pending);
	*pending = (struct caret_pending){
		step->publisher, step->address, step->ns, step->thread->tid,
	};
}

static void on_published(void *context, const struct model_message *message)
{
	struct caret *caret = context;
	struct caret_pending *pending;

	if (!message->is_intra && message->publish_thread) {
		pending = pending_of(caret, message->publish_thread);
		if (pending)
			pending->address = 0;
	}
	if (message->publisher)
		add_publication(caret, message->publisher,
				&(struct caret_publication){ .id = message->id,
							     .ns = message->publish_ns,
							     .tid = message->publish_thread->tid,
							     .stamp_ns = message->stamp_ns,
							     .is_intra = message->is_intra });
}

static void on_taken(void *context, const struct model_message *message)
{
	struct caret *caret = context;
	const struct model_subscription *subscription = message->subscription;
	struct caret_log *log;
	struct arrival *row;

	if (!subscription || !message->id || !inside(caret, message->take_ns))
		return;
	log = log_of(caret, &caret->subscriptions, subscription->index, subscription->node, NULL,
		     subscription->topic);
	row = log ? log_add(caret, log, sizeof(*row)) : NULL;
	if (row)
		*row = (struct arrival){ message->id, message->take_ns, message->callback_ns,
					 message->stamp_ns, message->is_intra };
}

static void on_started(void *context, const struct model_instance *instance)
{
	struct caret *caret = context;
	struct caret_log *log = log_of(caret, &caret->callbacks, instance->callback->index,
				 model_callback_node(instance->callback), NULL, NULL);
	struct run_row *row = log && inside(caret, instance->start_ns) ?
				      log_add(caret, log, sizeof(*row)) : NULL;

	if (row)
		*row = (struct run_row){
			instance->id, instance->start_ns, 0, instance->thread->tid,
		};
}

static void on_instance(void *context, const struct model_instance *instance)
{
	struct caret *caret = context;
	struct caret_log *log = log_of(caret, &caret->callbacks, instance->callback->index,
				 model_callback_node(instance->callback), NULL, NULL);
	struct run_row *rows = log ? log->row : NULL;
	size_t i = rows ? log->rows : 0;

	/* It is the newest row, or, if threads run the same callback, one of the newest. */
	while (i && rows[i - 1].id > instance->id)
		i--;
	if (i && rows[i - 1].id == instance->id)
		rows[i - 1].end_ns = instance->start_ns + instance->duration_ns;
}

static const struct model_listener listener = {
	.instance = on_instance,
	.started = on_started,
	.published = on_published,
	.publish_step = on_publish_step,
	.taken = on_taken,
};

/* ---- life ---- */

int caret_create(struct caret **result, struct model *model, const struct caret_options *options,
		 struct kymo_err *err)
{
	struct caret *caret = calloc(1, sizeof(*caret));

	if (caret)
		caret->path = calloc(options->paths + 1, sizeof(*caret->path));
	if (!caret || !caret->path) {
		caret_destroy(caret);
		return err_no_memory(err);
	}
	caret->model = model;
	if (model_listen(model, &listener, caret, err) || caret_tilde_bind(caret, err)) {
		caret_destroy(caret);
		return -1;
	}
	caret->options = *options;
	*result = caret;
	return 0;
}

int caret_finish(struct caret *caret, struct kymo_err *err)
{
	if (architecture_of(&caret->seen, caret->model, err))
		return -1;
	for (unsigned i = 0; i < caret->pending.count; i++)
		pending_flush(caret, &((struct caret_pending *)caret->pending.item)[i]);
	for (unsigned i = 0; !caret->failed && i < caret->options.paths; i++) {
		caret->path[i].path = caret->options.path[i];
		if (caret_path_build(caret, &caret->path[i]) ||
		    caret_response_build(&caret->path[i]))
			caret->failed = true;
	}
	if (caret->failed)
		return err_set(err, KYMO_EXIT_FAILED, "out of memory for the paths; shorten the "
			       "trace with --begin and --end, or choose fewer paths with --path");
	return 0;
}

unsigned caret_path_count(const struct caret *caret)
{
	return caret->options.paths;
}

const struct caret_path *caret_path(const struct caret *caret, unsigned index)
{
	return &caret->path[index];
}

static void logs_free(struct array *logs)
{
	for (unsigned i = 0; i < logs->count; i++)
		free(((struct caret_log *)logs->item)[i].row);
	array_free(logs);
}

static void path_free(struct caret_path *path)
{
	records_free(&path->records);
	free(path->column);
	free(path->process);
	for (unsigned i = 0; i < CARET_CASES; i++) {
		free(path->response[i]);
		records_free(&path->stack[i]);
	}
}

void caret_destroy(struct caret *caret)
{
	if (!caret)
		return;
	for (unsigned i = 0; caret->path && i < caret->options.paths; i++)
		path_free(&caret->path[i]);
	logs_free(&caret->publishers);
	logs_free(&caret->subscriptions);
	logs_free(&caret->callbacks);
	caret_tilde_free(caret);
	architecture_free(caret->seen);
	pool_free(&caret->pool);
	array_free(&caret->pending);
	free(caret->path);
	free(caret);
}

const char *caret_case_name(enum caret_case which)
{
	static const char *const names[CARET_CASES] = {
		[CARET_ALL] = "all",
		[CARET_BEST] = "best",
		[CARET_WORST] = "worst",
		[CARET_WORST_WITH_EXTERNAL] = "worst-with-external-latency",
	};

	return names[which];
}

static int caret_pass_finish(void *analysis, struct kymo_err *err)
{
	return caret_finish(analysis, err);
}

static int caret_pass_event(void *analysis, const struct kymo_ctf_event *event)
{
	struct caret *caret = analysis;

	caret_tilde_event(caret, event);
	return caret->failed ? -1 : 0;
}

PASS_DESTROY(caret)
const struct pass_ops caret_pass = {
	.turn = PASS_AFTER_MODEL,
	.event = caret_pass_event,
	.finish = caret_pass_finish,
	.destroy = caret_pass_destroy,
};
