/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Service calls.
 *
 *     client   rmw_send_request(client, seq) ......... rmw_take_response(client, seq) -> callback
 *     service      rmw_take_request(gid, seq) -> callback -> rmw_send_response(gid, seq)
 *
 * The idea: the gid of the client (model_callers.c) and the sequence number identify a call on both
 * sides. A call stays open until its response is
 * received and its callbacks have ended. Only traces of kymo have the client's callback: it is the
 * next thing that happens on the thread that received the response. Some calls never reach that
 * state, so the oldest open call is closed when CALLS_MAX calls are open.
 */
#include "analysis/model/model_internal.h"

#include <string.h>

/* ---- open calls ---- */

static void call_close(struct model *model, struct call *call)
{
	if (map_get(&model->calls, (uint64_t)call->pub.sequence, call->scope) == call)
		map_del(&model->calls, (uint64_t)call->pub.sequence, call->scope);
	if (call->previous)
		call->previous->next = call->next;
	else
		model->oldest_call = call->next;
	if (call->next)
		call->next->previous = call->previous;
	else
		model->newest_call = call->previous;
	model->call_count--;
	if (!call->answered)
		model->facts.unfinished_calls++;
	EMIT(model, call, &call->pub);
	call->pub.id = 0;		/* frames may still refer to this call */
	call->next = model->free_calls;
	model->free_calls = call;
}

static void call_over(struct model *model, struct call *call)
{
	if (call->answered && !call->running && !call->waits && !call->handled)
		call_close(model, call);
}

/*
 * In rclcpp, the client's callback is the next thing that a thread does after it received a
 * response. In rclpy it is a task, usually the next one; if two responses of a client come before,
 * nobody knows to which of them a run belongs. @frame: the run that begins now; NULL: something
 * else does.
 */
static void response_settle(struct model *model, struct thread *thread, struct frame *frame)
{
	struct call *call = thread->response;

	thread->response = NULL;
	if (!call || call->pub.id != thread->response_id)
		return;
	call->waits = false;
	if (frame && frame->callback->pub.kind == MODEL_CALLBACK_CLIENT &&
	    frame->callback->pub.service == call->pub.client &&
	    !thread->response_client->answers_wait) {
		frame->answered = call;
		frame->run.answered = call->pub.id;
		call->handled = true;
		call->pub.response_callback = &frame->callback->pub;
		call->pub.response_instance = frame->run.id;
		call->pub.response_start_ns = frame->run.start_ns;
	}
	call_over(model, call);
}

static struct call *call_new(struct model *model, const struct caller *caller, int64_t sequence)
{
	struct call *call;

	if (model->call_count == CALLS_MAX)
		call_close(model, model->oldest_call);
	call = model->free_calls;
	if (call)
		model->free_calls = call->next;
	else
		call = model_alloc(model, sizeof(*call));
	if (!call)
		return NULL;
	memset(call, 0, sizeof(*call));
	call->scope = caller->number;
	call->pub.id = ++model->last_call;
	call->pub.sequence = sequence;
	call->pub.client = caller->client ? &caller->client->pub : NULL;
	call->pub.gid.size = sizeof(caller->gid);
	memcpy(call->pub.gid.bytes, caller->gid, sizeof(caller->gid));
	call->previous = model->newest_call;
	if (call->previous)
		call->previous->next = call;
	else
		model->oldest_call = call;
	model->newest_call = call;
	model->call_count++;
	if (map_put(&model->calls, (uint64_t)sequence, call->scope, call))
		model->out_of_memory = true;
	return call;
}

static struct call *call_at(struct model *model, const struct caller *caller, int64_t sequence)
{
	struct call *call = map_get(&model->calls, (uint64_t)sequence, caller->number);

	return call ? call : call_new(model, caller, sequence);
}

/* ---- the events of a call ---- */

static void tell(struct model *model, const struct now *now, const struct call *call,
		 enum model_call_event what)
{
	const struct model_call_step step = { what, &call->pub, &now->thread->pub, now->ns };

	EMIT(model, call_step, &step);
}

static void sends_no_more(struct thread *thread)
{
	if (thread->sends.client)
		thread->sends.client->senders--;
	thread->sends.client = NULL;
}

static void on_request_begin(struct model *model, const struct now *now)
{
	ARGS(request_begin, now->event);
	struct service *client = model_handle(model, now->process, HANDLE_RMW_CLIENT,
					      args->rmw_client_handle.u);

	sends_no_more(now->thread);
	if (!client)
		return;
	client->senders++;
	client->sender = now->thread;
	now->thread->sends.client = client;
	now->thread->sends.ns = now->ns;
}

static void request_sent(struct model *model, struct thread *thread, struct service *client,
			 struct call *call, int64_t ns)
{
	const struct frame *frame = model_frame_of(thread);
	const struct now then = { .thread = thread, .ns = ns };

	call->pub.client = &client->pub;
	call->pub.client_thread = &thread->pub;
	call->pub.request_ns = ns;
	if (frame) {
		call->pub.from = &frame->callback->pub;
		call->pub.from_instance = frame->run.id;
	}
	client->last_sent = call->pub.sequence;
	tell(model, &then, call, MODEL_CALL_REQUEST);
}

/*
 * The service has a request of @client that nobody has sent. If one thread is about to send one, it
 * is this. A client whose requests two threads send at once has to wait for their numbers.
 */
static void request_overtook(struct model *model, struct service *client, struct call *call)
{
	struct thread *sender = client ? client->sender : NULL;

	if (call->pub.request_ns || !sender || client->senders != 1 ||
	    sender->sends.client != client || call->pub.sequence <= client->last_sent)
		return;
	client->early = call->pub.sequence;
	request_sent(model, sender, client, call, sender->sends.ns);
}

static void on_rmw_send_request(struct model *model, const struct now *now)
{
	ARGS(rmw_send_request, now->event);
	struct service *client = model_handle(model, now->process, HANDLE_RMW_CLIENT,
					      args->rmw_client_handle.u);
	struct caller *caller = model_caller_of_client(model, client);
	int64_t begin_ns = now->ns;
	struct call *call;

	response_settle(model, now->thread, NULL);
	/*
	 * With Fast DDS, and before tracetools 8.5, the event is recorded after the write: the
	 * service may have received the request earlier.
	 */
	if (client && now->thread->sends.client == client)
		begin_ns = now->thread->sends.ns;
	sends_no_more(now->thread);
	if (client && client->early && client->early == args->sequence_number.i) {
		client->early = 0;
		return;
	}
	call = caller ? call_at(model, caller, args->sequence_number.i) : NULL;
	/* A client whose numbers start again (a new process with an old gid) begins new calls. */
	if (call && call->pub.request_ns) {
		call_close(model, call);
		call = call_new(model, caller, args->sequence_number.i);
	}
	if (!call)
		return;
	request_sent(model, now->thread, client, call, begin_ns);
	call_over(model, call);
}

static void on_rmw_take_request(struct model *model, const struct now *now)
{
	ARGS(rmw_take_request, now->event);
	const struct service *service = model_handle(model, now->process, HANDLE_RMW_SERVICE,
						     args->rmw_service_handle.u);
	struct caller *caller;
	struct call *call;

	now->thread->request = NULL;
	if (!args->taken.u)
		return;
	caller = model_caller_of_gid(model, &args->client_gid);
	call = caller ? call_at(model, caller, args->sequence_number.i) : NULL;
	if (!call)
		return;
	request_overtook(model, caller->client, call);
	call->pub.service = service ? &service->pub : NULL;
	call->pub.service_thread = &now->thread->pub;
	call->pub.request_taken_ns = now->ns;
	now->thread->request = call;
	now->thread->request_id = call->pub.id;
	tell(model, now, call, MODEL_CALL_REQUEST_TAKEN);
}

static void on_rmw_send_response(struct model *model, const struct now *now)
{
	ARGS(rmw_send_response, now->event);
	const struct service *service = model_handle(model, now->process, HANDLE_RMW_SERVICE,
						     args->rmw_service_handle.u);
	struct caller *caller = model_caller_of_gid(model, &args->client_gid);
	struct call *call = caller ? call_at(model, caller, args->sequence_number.i) : NULL;

	if (!call)
		return;
	if (service)
		call->pub.service = &service->pub;
	call->pub.response_ns = now->ns;
	call->pub.source_ns = args->timestamp.i;
	tell(model, now, call, MODEL_CALL_RESPONSE);
	call_over(model, call);
}

static void on_rmw_take_response(struct model *model, const struct now *now)
{
	ARGS(rmw_take_response, now->event);
	struct service *client = model_handle(model, now->process, HANDLE_RMW_CLIENT,
					      args->rmw_client_handle.u);
	struct caller *caller = args->taken.u ? model_caller_of_client(model, client) : NULL;
	struct call *call;

	if (caller && now->thread->response && now->thread->response_client == client)
		client->answers_wait = true;
	response_settle(model, now->thread, NULL); /* it may close the call with this number */
	call = caller ? call_at(model, caller, args->sequence_number.i) : NULL;
	if (!call)
		return;
	call->pub.client = &client->pub;
	call->pub.response_taken_ns = now->ns;
	call->pub.response_thread = &now->thread->pub;
	if (!call->pub.source_ns)
		call->pub.source_ns = args->source_timestamp.i;
	call->answered = true;
	call->waits = true;
	now->thread->response = call;
	now->thread->response_id = call->pub.id;
	now->thread->response_client = client;
	tell(model, now, call, MODEL_CALL_RESPONSE_TAKEN);
}

/* ---- the callbacks that serve it and handle its response ---- */

void model_call_started(struct model *model, struct thread *thread, struct frame *frame)
{
	struct call *call = thread->request;

	frame->call = frame->answered = NULL;
	frame->call_id = frame->run.answered = 0;
	if (frame->coroutine) {
		frame->call = frame->coroutine->call;
		frame->call_id = frame->coroutine->call_id;
	}
	response_settle(model, thread, frame);
	thread->request = NULL;
	if (!call || call->pub.id != thread->request_id || frame->run.is_resumed)
		return;
	if (frame->callback->pub.kind != MODEL_CALLBACK_SERVICE &&
	    frame->callback->pub.kind != MODEL_CALLBACK_UNKNOWN)
		return;
	if (frame->callback->pub.service && call->pub.service &&
	    frame->callback->pub.service != call->pub.service)
		return;
	frame->call = call;
	frame->call_id = call->pub.id;
	call->running = true;
	call->pub.callback = &frame->callback->pub;
	call->pub.instance = frame->run.id;
	call->pub.callback_start_ns = frame->run.start_ns;
}

/* @end_ns: 0: the end is not in the trace. */
void model_call_ended(struct model *model, const struct frame *frame, int64_t end_ns)
{
	struct call *call = frame->call, *answered = frame->answered;

	if (call && call->pub.id == frame->call_id && !frame->run.awaits) {
		call->running = false;
		call->pub.callback_end_ns = end_ns;
		call_over(model, call);
	}
	if (answered && answered->pub.id == frame->run.answered) {
		answered->handled = false;
		answered->pub.response_end_ns = end_ns;
		call_over(model, answered);
	}
}

static void forget_request(struct model *model, struct thread *thread)
{
	response_settle(model, thread, NULL);
	sends_no_more(thread);
	thread->request = NULL;
}

static void close_calls(struct model *model)
{
	while (model->oldest_call)
		call_close(model, model->oldest_call);
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(request_begin),
	ON(rmw_send_request),
	ON(rmw_take_request),
	ON(rmw_send_response),
	ON(rmw_take_response),
};

const struct model_part model_services = { .handlers = handlers,
					   .doubt = forget_request,
					   .finish = close_calls };
