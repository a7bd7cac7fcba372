/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the events of requested objects; see concern.h.
 *
 * The idea: the first pass reads the whole trace, and learns the objects that each init event
 * names, even if an object becomes known only later. The second pass judges each event by its
 * handles or by its thread, with the objects known at that time. Most events name one handle, that
 * of an event before: what was judged is remembered until the next init event.
 */
#include "analysis/model/concern/concern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/concern/concern_about.h"
#include "analysis/model/concern/concern_request.h"
#include "analysis/model/model_internal.h"
#include "base/array.h"

/* A process, including a process without ROS 2 events. */
struct owner {
	char name[32];
	bool of_main;			/* the name is of the main thread */
};

/* An object to which an init event belongs. */
struct reference {
	uint64_t init;			/* number of the init event, from 0 */
	const struct process *process;
	enum handle kind;
	uint64_t address;
	const void *object;		/* NULL: not known yet */
};

/* An event with one handle that was judged. */
struct judged {
	const struct process *process; /* NULL: none */
	uint64_t address, inits;       /* inits: of the model, at that time */
	unsigned point;
	bool is_asked;
};
#define JUDGED 512u

struct concern {
	const struct selection *selection;
	struct concern_names names[KYMO_POINTS_TABLE];
	struct kymo_ctf_reader *reader;
	struct model *model;
	bool learned;			/* the first pass is over, or was skipped */
	bool growing;

	struct concern_request request;
	bool of_objects;		/* it selects by nodes or topics */
	struct map owners;		/* (pid, host) */
	struct pool pool;
	struct reference *reference;	/* of init events, during the first pass */
	size_t references, reference_room;
	uint64_t inits;			/* number of init events so far in this pass */
	uint8_t *init_wanted;		/* one bit per init event, from the first pass */
	uint64_t init_count;
	struct judged judged[JUDGED]; /* by address and point */
};

/* ---- one event ---- */

static bool remember(struct concern *concern, struct reference reference)
{
	return ARRAY_ADD(concern->reference, concern->references, concern->reference_room,
			 reference);
}

/*
 * The address in field @field of @event. If the field is a list (message_link_*), the first
 * address.
 */
static bool address_of(const struct kymo_field *field, const struct kymo_ctf_value *value,
		       uint64_t *address)
{
	if (!value->present)
		return false;
	*address = value->u;
	if (field->kind != KYMO_KIND_PTRS)
		return field->kind == KYMO_KIND_PTR;
	if (!value->size || !value->bytes)
		return false;
	memcpy(address, value->bytes, sizeof(*address));
	return true;
}

/* Judges each object that @event names. Return: 0, or -ENOMEM. */
static int judge_handles(struct concern *concern, const struct kymo_ctf_event *event,
			 const struct process *process, struct concern_verdict *verdict)
{
	const struct bound_row *bound = &concern->model->bound[event->bound];
	const struct kymo_point *point = &kymo_points[bound->point];
	const struct concern_names *names = &concern->names[bound->point];

	for (unsigned i = 0; i < names->count; i++) {
		unsigned field = names->at[i].field;
		enum handle kind = (enum handle)names->at[i].kind;
		const void *object;
		uint64_t address;

		if (!address_of(&point->field[field], &event->value[field], &address))
			continue;
		object = model_handle(concern->model, process, kind, address);
		if (object)
			concern_judge(&concern->request, verdict,
				      concern_about_object(kind, object));
		if (bound->is_init && !concern->learned &&
		    !remember(concern, (struct reference){ concern->inits, process, kind, address,
							   object }))
			return -ENOMEM;
	}
	return 0;
}

/* An event without handles belongs to the activity of its thread. */
static void judge_thread(struct concern *concern, struct thread *thread,
			 struct concern_verdict *verdict)
{
	const struct frame *frame = model_frame_of(thread);
	struct concern_about about = { NULL, NULL };

	if (frame)
		about.node = model_callback_node(&frame->callback->pub);
	else if (thread->has_taken)
		about = concern_about_subscription(thread->taken.subscription);
	if (about.node || about.topic)
		concern_judge(&concern->request, verdict, about);
}

/*
 * Where the verdict about @event of @process is remembered. @key: set to all that must be the same.
 * Return: NULL: nowhere, since it does not name one handle.
 */
static struct judged *judged_at(struct concern *concern, const struct kymo_ctf_event *event,
				const struct process *process, struct judged *key)
{
	const unsigned point = concern->model->bound[event->bound].point;
	const struct concern_names *names = &concern->names[point];
	const struct kymo_ctf_value *value = &event->value[names->at[0].field];

	if (!names->is_one || !value->present)
		return NULL;
	*key = (struct judged){ process, value->u, concern->model->facts.init_events, point,
				false };
	return &concern->judged[map_hash(value->u, (uint64_t)process->pub.index << 8 | point) %
				JUDGED];
}

static bool is_same(const struct judged *a, const struct judged *b)
{
	return a->process == b->process && a->address == b->address && a->inits == b->inits &&
	       a->point == b->point;
}

static int objects_asked(struct concern *concern, const struct kymo_ctf_event *event)
{
	struct model *model = concern->model;
	bool is_init = event->bound >= 0 && model->bound[event->bound].is_init;
	struct judged *judged = NULL, key;
	struct thread *thread;
	struct concern_verdict verdict = { 0 };
	int status = 0;

	if (!is_init && !concern->learned)
		return 1;		/* the first pass judges init events only */
	if (is_init && concern->learned && !concern->growing) {
		uint64_t init = concern->inits++;

		return init < concern->init_count &&
		       concern->init_wanted[init / 8] >> (init % 8) & 1;
	}
	thread = event->bound >= 0 ? model_thread_of(model, event) : model_thread_at(model, event);
	if (thread && event->bound >= 0 && !is_init)
		judged = judged_at(concern, event, thread->process, &key);
	if (judged && is_same(judged, &key))
		return judged->is_asked;
	if (thread && event->bound >= 0)
		status = judge_handles(concern, event, thread->process, &verdict);
	concern->inits += is_init;
	/* An object that is not known yet may become known without an init event. */
	if (judged && verdict.objects) {
		key.is_asked = concern_is_asked(&concern->request, verdict);
		*judged = key;
	}
	if (thread && !verdict.objects)
		judge_thread(concern, thread, &verdict);
	return status ? status : concern_is_asked(&concern->request, verdict);
}

static uint32_t host_of(const struct concern *concern, const struct kymo_ctf_event *event)
{
	return event->trace < concern->model->trace_count ? concern->model->trace[event->trace].host
							  : 0;
}

static const struct owner *owner_at(const struct concern *concern,
				    const struct kymo_ctf_event *event)
{
	return map_get(&concern->owners, (uint32_t)event->vpid, host_of(concern, event));
}

static struct owner *owner_of(struct concern *concern, const struct kymo_ctf_event *event)
{
	uint32_t host = host_of(concern, event);
	struct owner *owner = map_get(&concern->owners, (uint32_t)event->vpid, host);

	if (!owner) {
		owner = pool_new(&concern->pool, sizeof(*owner));
		if (!owner || map_put(&concern->owners, (uint32_t)event->vpid, host, owner))
			return NULL;
	}
	if (!owner->of_main && *event->procname && (event->vtid == event->vpid || !*owner->name)) {
		size_t length = strnlen(event->procname, sizeof(owner->name) - 1);

		memcpy(owner->name, event->procname, length);
		owner->name[length] = '\0';
		owner->of_main = event->vtid == event->vpid;
	}
	return owner;
}

int concern_event(struct concern *concern, const struct kymo_ctf_event *event)
{
	const struct selection *selection = concern->selection;
	const struct owner *owner;
	int asked = 1;

	if (event->bound == KYMO_CTF_LOSS) {
		if (model_event(concern->model, event))
			return -ENOMEM;
		owner = event->vpid ? owner_at(concern, event) : NULL;
		return !owner || selection_process(selection, owner->name, event->vpid);
	}
	if (concern->of_objects) {
		if (model_event(concern->model, event))
			return -ENOMEM;
		asked = objects_asked(concern, event);
	}
	owner = selection->process.count ? owner_of(concern, event) : NULL;
	if (asked < 0 || (selection->process.count && !owner))
		return -ENOMEM;
	return asked && (!owner || selection_process(selection, owner->name, event->vpid));
}

/* ---- the first pass ---- */

/* @learns: only objects are of interest, and are found without the other events. */
static int bind_model(struct concern *concern, bool learns, struct kymo_err *err)
{
	model_destroy(concern->model);
	concern_request_forget(&concern->request);
	concern->model = NULL;
	concern->inits = 0;
	if (model_create(&concern->model, err))
		return -1;
	model_want_all(concern->model);
	model_only_objects(concern->model, learns);
	/* The name of a process is in each of its events. */
	kymo_ctf_only_bound(concern->reader, learns && !concern->selection->process.count);
	return model_attach(concern->model, concern->reader, err);
}

/* Now judge the objects that init events named before the objects were known. */
static int judge_inits(struct concern *concern)
{
	concern->init_count = concern->inits;
	concern->init_wanted = calloc(1, concern->init_count / 8 + 1);
	if (!concern->init_wanted)
		return -ENOMEM;
	/* Init events that name no object. */
	if (concern_is_asked(&concern->request, (struct concern_verdict){ 0 }))
		memset(concern->init_wanted, 0xff, concern->init_count / 8 + 1);
	for (size_t i = 0; i < concern->references;) {
		uint64_t init = concern->reference[i].init;
		struct concern_verdict verdict = { 0 };

		for (; i < concern->references && concern->reference[i].init == init; i++) {
			struct reference *r = &concern->reference[i];

			if (!r->object)
				r->object = model_handle(concern->model, r->process, r->kind,
							 r->address);
			if (r->object)
				concern_judge(&concern->request, &verdict,
					      concern_about_object(r->kind, r->object));
		}
		concern->init_wanted[init / 8] &= (uint8_t)~(1u << (init % 8));
		if (concern_is_asked(&concern->request, verdict))
			concern->init_wanted[init / 8] |= (uint8_t)(1u << (init % 8));
	}
	free(concern->reference);
	concern->reference = NULL;
	return 0;
}

static int learn_event(void *context, const struct kymo_ctf_event *event)
{
	return concern_event(context, event) < 0 ? -1 : 0;
}

static int learn(struct concern *concern, const struct pass_options *progress, struct kymo_err *err)
{
	static const struct pass_ops ops = { .event = learn_event };
	struct passes passes = { 0 };

	pass_add(&passes, &ops, concern);
	if (pass_run(&passes, concern->reader, progress, err))
		return -1;
	if (judge_inits(concern))
		return err_no_memory(err);
	return bind_model(concern, false, err);
}

int concern_create(struct concern **result, struct kymo_ctf_reader *reader,
		   const struct selection *selection, bool growing,
		   void (*progress)(void *context, uint64_t events, uint64_t clock_ns),
		   void *context, struct kymo_err *err)
{
	const struct pass_options options = { .progress = progress, .context = context };
	struct concern *concern = calloc(1, sizeof(*concern));

	if (!concern)
		return err_no_memory(err);
	concern->reader = reader;
	concern->selection = selection;
	concern->of_objects = selection_objects(selection);
	concern_request_open(&concern->request, selection);
	concern->growing = growing;
	concern->learned = growing;
	concern_find_names(concern->names);
	if (bind_model(concern, !growing, err) || (!growing && learn(concern, &options, err))) {
		concern_destroy(concern);
		return -1;
	}
	concern->learned = true;
	*result = concern;
	return 0;
}

void concern_destroy(struct concern *concern)
{
	if (!concern)
		return;
	model_destroy(concern->model);
	concern_request_forget(&concern->request);
	map_free(&concern->owners);
	pool_free(&concern->pool);
	free(concern->reference);
	free(concern->init_wanted);
	free(concern);
}
