/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients and services. Three things are missing in the tracepoints:
 *
 *   - requests and responses, up to tracetools 8.4. The hooks record what the tracepoints of 8.5
 *     record, with the same names and fields. Where the distribution has the tracepoints, the hooks
 *     record nothing
 *   - when a client begins to send a request, in all versions: rmw_send_request has the number of
 *     the request, so a middleware may report it after the service has taken the request
 *   - the callback of a client, in all versions. Executor::execute_client() takes the response and
 *     then calls the callback. So the callback begins when the response is taken, and ends when
 *     execute_client() returns. It has no address that can be known, so its address in the trace is
 *     the rcl_client_t:
 *
 *       execute_client(client)
 *           rmw_take_response()  ──▶  rmw_take_response, callback_start(rcl_client_t)
 *           handle_response()         the user's code, or the end of a wait for a future
 *       return                   ──▶  callback_end(rcl_client_t)
 *
 * The gid of a client pairs its requests with those that a service takes. The service gets the gid
 * in the request's header; the client does not say it. But while the middleware creates a client,
 * it calls one function that returns the gid: CycloneDDS dds_get_instance_handle() of the writer,
 * Fast DDS DataReader::guid(). A client that existed before kymo was attached has its gid in the
 * header of its first response, or, as rmw_fastrtps does not fill in that header, in its first
 * request (ros2_late.c); rmw_get_gid_for_client() would say another one.
 *
 * Context: as kymo__reserve() for runtime events, kymo__log_reserve() for rmw_client_init.
 */
#include <string.h>

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_late.h"
#include "inside/ros2/ros2_libraries.h"

/* rmw_request_id_t and rmw_service_info_t: the same layout from Humble on. */
struct request_id {
	uint8_t client_gid[16];
	int64_t sequence_number;
};

struct service_info {
	int64_t source_timestamp, received_timestamp;
	struct request_id request;
};

/* The beginning of rmw_client_t and rmw_service_t. */
struct rmw_object {
	const char *implementation_identifier;
};

static __thread struct {
	bool creates, has_gid; /* a client is being created; the middleware told its gid */
	uint8_t gid[16];
	const void *takes; /* rcl_client_t of the execute_client() that has not yet taken a
			      response; NULL: none */
	const void *runs;  /* rcl_client_t whose callback runs; NULL: none */
} here;

static bool distribution_tells(void)
{
	kymo_tracetools_known();
	return kymo_tracetools.version >= KYMO_V(8, 5);
}

/* ---- the gid of a client ---- */

void kymo_client_begins(struct kymo_call *call)
{
	(void)call;
	here.creates = !distribution_tells();
	here.has_gid = false;
}

void kymo_client_made(struct kymo_call *call)
{
	if (here.creates && here.has_gid && call->result)
		kymo_emit_rmw_client_init((const void *)call->result, here.gid);
	here.creates = false;
}

/* The client's gid in a request's header is the instance handle of its writer. */
void kymo_instance_handle_told(struct kymo_call *call)
{
	if (!here.creates || (int32_t)call->result < 0 || !call->first)
		return;
	memset(here.gid, 0, sizeof here.gid);
	memcpy(here.gid, (const void *)call->first, sizeof(uint64_t));
	here.has_gid = true;
}

/* A client has one reader, that of its responses. */
void kymo_reader_guid_told(struct kymo_call *call)
{
	if (!here.creates || !call->result)
		return;
	memcpy(here.gid, (const void *)call->result, sizeof here.gid);
	here.has_gid = true;
}

/* ---- requests and responses ---- */

/* In the header of CycloneDDS, the gid of the client is only the first half. The other half is the
 * receiver's own number. */
static void gid_of(uint8_t gid[16], const struct request_id *request, const void *service)
{
	const struct rmw_object *object = service;

	memcpy(gid, request->client_gid, 16);
	if (object->implementation_identifier &&
	    !strcmp(object->implementation_identifier, "rmw_cyclonedds_cpp"))
		memset(gid + 8, 0, 8);
}

/* rmw_fastrtps_cpp and rmw_fastrtps_dynamic_cpp leave what was in the memory of the header. */
static bool response_has_gid(const void *client)
{
	const struct rmw_object *object = client;

	return !object->implementation_identifier ||
	       strncmp(object->implementation_identifier, "rmw_fastrtps_", 13) != 0;
}

/* Its number is known after the write. By then the service may have served it. */
void kymo_request_begins(struct kymo_call *call)
{
	KYMO_RECORD(request_begin, (const void *)call->self);
	kymo_late_sends((const void *)call->self);
}

void kymo_request_sent(struct kymo_call *call)
{
	const int64_t *number = (const int64_t *)call->second;

	kymo_late_sends(NULL);
	if ((int32_t)call->result == 0 && number && !distribution_tells())
		KYMO_RECORD(rmw_send_request, (const void *)call->self, (const void *)call->first,
		       *number);
}

void kymo_request_taken(struct kymo_call *call)
{
	const struct service_info *info = (const struct service_info *)call->first;
	const bool *taken = (const bool *)call->third;
	uint8_t gid[16] = { 0 };

	if ((int32_t)call->result || !call->self || !info || !taken || distribution_tells())
		return;
	if (*taken)
		gid_of(gid, &info->request, (const void *)call->self);
	KYMO_RECORD(rmw_take_request, (const void *)call->self, (const void *)call->second, gid,
	       *taken ? info->request.sequence_number : 0, *taken);
}

/* Recorded before the write: after the write, the client may already have received the response. */
void kymo_response_sent(struct kymo_call *call)
{
	const struct request_id *request = (const struct request_id *)call->first;
	uint8_t gid[16];

	if (!call->self || !request || distribution_tells())
		return;
	gid_of(gid, request, (const void *)call->self);
	KYMO_RECORD(rmw_send_response, (const void *)call->self, (const void *)call->second, gid,
	       request->sequence_number, 0);
}

void kymo_response_taken(struct kymo_call *call)
{
	const struct service_info *info = (const struct service_info *)call->first;
	const bool *taken = (const bool *)call->third;
	const void *client = here.takes;
	uint8_t gid[16];

	here.takes = NULL;
	if ((int32_t)call->result || !info || !taken)
		return;
	if (*taken && call->self && response_has_gid((const void *)call->self)) {
		gid_of(gid, &info->request, (const void *)call->self);
		kymo_late_response((const void *)call->self, gid);
	}
	if (!distribution_tells())
		KYMO_RECORD(rmw_take_response, (const void *)call->self, (const void *)call->second,
		       *taken ? info->request.sequence_number : 0,
		       *taken ? info->source_timestamp : 0, *taken);
	if (!client || !*taken)
		return;
	KYMO_RECORD(callback_start, client, false);
	here.runs = client;
}

/* ---- the callback of a client ---- */

/* User code in the callback may spin an executor, and so execute another client. */
void kymo_client_executes(struct kymo_call *call)
{
	static void *known;

	call->kept[0] = (uintptr_t)here.takes;
	call->kept[1] = (uintptr_t)here.runs;
	here.takes = NULL;
	here.runs = NULL;
	if (kymo_enable_byte(KYMO_POINT_callback_start))
		here.takes = kymo_handle_of(&known, "_ZN6rclcpp10ClientBase17get_client_handleEv",
					    call->self, call->caller);
}

void kymo_client_executed(struct kymo_call *call)
{
	if (here.runs)
		KYMO_RECORD(callback_end, here.runs);
	here.takes = (const void *)call->kept[0];
	here.runs = (const void *)call->kept[1];
}
