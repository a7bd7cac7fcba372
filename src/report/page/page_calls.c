/* SPDX-License-Identifier: Apache-2.0 */
/* Service calls, collected while the trace is read; see page_calls.h. */
#include "report/page/page_calls.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/executors/busy.h"
#include "base/array.h"
#include "base/map.h"
#include "report/report_internal.h"

/* How long a call that is under way has waited for callbacks. */
struct waited {
	int64_t request_ns, response_ns;
};

struct page_calls {
	const struct model *model;
	int64_t begin_ns, end_ns; /* only calls that begin inside */
	struct page_service **service;
	unsigned services, size;
	struct busy **busy; /* by index of the thread */
	uint32_t threads;
	struct map waited; /* id of a call -> struct waited */
	bool failed;
};

/* ---- what calls wait for ---- */

static struct busy *busy_of(struct page_calls *calls, const struct model_thread *thread)
{
	struct busy **slot = ARRAY_AT(calls->busy, calls->threads, thread->index);

	if (slot && !*slot)
		*slot = calloc(1, sizeof(**slot));
	calls->failed |= !slot || !*slot;
	return slot ? *slot : NULL;
}

static void on_instance(void *context, const struct model_instance *instance)
{
	struct page_calls *calls = context;
	struct busy *busy;

	if (!model_count(calls->model, MODEL_CLIENT))
		return;
	busy = busy_of(calls, instance->thread);
	if (busy && !busy_add(busy, instance->start_ns,
			      instance->start_ns + instance->duration_ns))
		calls->failed = true;
}

static void on_step(void *context, const struct model_call_step *step)
{
	struct page_calls *calls = context;
	const bool is_request = step->what == MODEL_CALL_REQUEST_TAKEN;
	const int64_t sent_ns = is_request ? step->call->request_ns : step->call->response_ns;
	struct waited *waited;
	int64_t ns;

	if ((!is_request && step->what != MODEL_CALL_RESPONSE_TAKEN) || !sent_ns ||
	    step->thread->index >= calls->threads || !calls->busy[step->thread->index])
		return;
	ns = busy_between(calls->busy[step->thread->index], sent_ns, step->ns);
	if (!ns)
		return;
	waited = map_at(&calls->waited, step->call->id, 0, sizeof(*waited));
	calls->failed |= !waited;
	if (waited)
		*(is_request ? &waited->request_ns : &waited->response_ns) = ns;
}

/* ---- the parts of a call ---- */

static int64_t between(int64_t ns, int64_t low, int64_t high)
{
	return ns < low ? low : ns > high ? high : ns;
}

/* Without a clock that compares, only the callback's duration is known of the other host. */
static void cut_away(struct page_call *out, const struct model_call *call)
{
	int64_t *part = out->part_ns;

	if (call->callback_start_ns && call->callback_end_ns)
		part[PAGE_CALL_RUN] =
			between(call->callback_end_ns - call->callback_start_ns, 0, out->total_ns);
	part[PAGE_CALL_AWAY] = out->total_ns - part[PAGE_CALL_RUN];
}

static void cut(struct page_call *out, const struct model_call *call, const struct waited *waited)
{
	static const enum page_call_part ends[] = { PAGE_CALL_WAY, PAGE_CALL_TAKE, PAGE_CALL_RUN,
						    PAGE_CALL_ANSWER, PAGE_CALL_BACK };
	const int64_t at[] = { call->request_taken_ns, call->callback_start_ns,
			       call->callback_end_ns, call->response_ns, call->response_taken_ns };
	int64_t *part = out->part_ns, since_ns = call->request_ns;

	for (unsigned i = 0; i < COUNT_OF(at); i++) {
		const int64_t ns =
			at[i] ? between(at[i], since_ns, call->response_taken_ns) : since_ns;

		part[ends[i]] = ns - since_ns;
		since_ns = ns;
	}
	part[PAGE_CALL_WAIT] = between(waited ? waited->request_ns : 0, 0, part[PAGE_CALL_WAY]);
	part[PAGE_CALL_WAY] -= part[PAGE_CALL_WAIT];
	part[PAGE_CALL_BACK_WAIT] =
		between(waited ? waited->response_ns : 0, 0, part[PAGE_CALL_BACK]);
	part[PAGE_CALL_BACK] -= part[PAGE_CALL_BACK_WAIT];
}

static int64_t error_of(const struct model_call *call)
{
	if (!call->client_thread || !call->service_thread || !call->request_taken_ns)
		return KYMO_CTF_ERROR_UNKNOWN;
	return model_clock_error(call->client_thread->process, call->service_thread->process,
				 call->request_taken_ns);
}

/* ---- a call is over ---- */

static struct page_service *service_of(struct page_calls *calls, const char *name)
{
	struct page_service *new;

	for (unsigned i = 0; i < calls->services; i++)
		if (strcmp(calls->service[i]->name, name) == 0)
			return calls->service[i];
	new = ARRAY_ROOM(calls->service, calls->services, calls->size) ? calloc(1, sizeof(*new))
								      : NULL;
	calls->failed |= !new;
	if (!new)
		return NULL;
	new->name = name;
	return calls->service[calls->services++] = new;
}

static void keep(struct page_calls *calls, struct page_service *service,
		 const struct page_call *call)
{
	unsigned at;

	if (service->worsts == PAGE_CALLS_WORST &&
	    service->worst[PAGE_CALLS_WORST - 1].total_ns >= call->total_ns)
		return;
	if (service->worsts < PAGE_CALLS_WORST) {
		if (!ARRAY_ROOM(service->worst, service->worsts, service->worst_size)) {
			calls->failed = true;
			return;
		}
		service->worsts++;
	}
	for (at = service->worsts - 1; at && service->worst[at - 1].total_ns < call->total_ns; at--)
		service->worst[at] = service->worst[at - 1];
	service->worst[at] = *call;
}

static void add(struct page_calls *calls, struct histogram *histogram, int64_t ns)
{
	calls->failed |= histogram_add(histogram, ns > 0 ? (uint64_t)ns : 0) != 0;
}

static void add_answered(struct page_calls *calls, struct page_service *service,
			 const struct model_call *call, const struct waited *waited)
{
	const int64_t error_ns = error_of(call);
	struct page_call new = { .id = call->id,
				 .begin_ns = call->request_ns,
				 .total_ns = between(call->response_taken_ns - call->request_ns, 0,
						     INT64_MAX),
				 .handled_ns = -1,
				 .client = call->client,
				 .service = call->service };

	if (error_ns == KYMO_CTF_ERROR_UNKNOWN)
		cut_away(&new, call);
	else
		cut(&new, call, waited);
	if (error_ns != KYMO_CTF_ERROR_UNKNOWN && error_ns > service->error_ns)
		service->error_ns = error_ns;
	if (call->response_start_ns && call->response_end_ns) {
		new.handled_ns = call->response_end_ns - call->response_start_ns;
		new.handled_after_ns = call->response_start_ns - call->response_taken_ns;
		add(calls, &service->handled, new.handled_ns);
	}
	service->answered++;
	add(calls, &service->total, new.total_ns);
	for (unsigned i = 0; i < PAGE_CALL_PARTS; i++)
		if (i != PAGE_CALL_AWAY || new.part_ns[i])
			add(calls, &service->part[i], new.part_ns[i]);
	keep(calls, service, &new);
}

static void on_call(void *context, const struct model_call *call)
{
	struct page_calls *calls = context;
	const int64_t ns = call->request_ns ? call->request_ns : call->request_taken_ns;
	struct waited *waited = map_del(&calls->waited, call->id, 0);
	struct page_service *service;

	if (call->client && ns >= calls->begin_ns && ns <= calls->end_ns) {
		service = service_of(calls, call->client->name);
		if (service)
			service->calls++;
		/* The trace may end before the response comes. */
		if (service && call->callback_start_ns && call->callback_end_ns)
			add(calls, &service->served,
			    call->callback_end_ns - call->callback_start_ns);
		if (service && call->request_ns && call->response_taken_ns)
			add_answered(calls, service, call, waited);
	}
	free(waited);
}

/* ---- life cycle ---- */

static const struct model_listener listener = { .instance = on_instance,
						.call = on_call,
						.call_step = on_step };

static void service_free(struct page_service *service)
{
	histogram_free(&service->total);
	histogram_free(&service->handled);
	histogram_free(&service->served);
	for (unsigned i = 0; i < PAGE_CALL_PARTS; i++)
		histogram_free(&service->part[i]);
	free(service->worst);
	free(service);
}

static void page_calls_destroy(struct page_calls *calls)
{
	if (!calls)
		return;
	for (unsigned i = 0; i < calls->services; i++)
		service_free(calls->service[i]);
	for (uint32_t i = 0; i < calls->threads; i++) {
		if (calls->busy[i])
			busy_free(calls->busy[i]);
		free(calls->busy[i]);
	}
	map_free_all(&calls->waited);
	free(calls->service);
	free(calls->busy);
	free(calls);
}

int page_calls_create(struct page_calls **out, struct model *model, int64_t begin_ns,
		      int64_t end_ns, struct kymo_err *err)
{
	struct page_calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return err_no_memory(err);
	*calls = (struct page_calls){ .model = model, .begin_ns = begin_ns, .end_ns = end_ns };
	if (model_listen(model, &listener, calls, err)) {
		page_calls_destroy(calls);
		return -1;
	}
	*out = calls;
	return 0;
}

PASS_LISTENER(page_calls);

const struct page_service *page_service(const struct page_calls *calls, unsigned index)
{
	return index < calls->services ? calls->service[index] : NULL;
}
