/* SPDX-License-Identifier: Apache-2.0 */
/* A part of libmini_rcl.so: the functions of mini_rmw.h. */
#include "mini_rmw.h"

#include <string.h>

const char rmw_implementation[] = "rmw_cyclonedds_cpp";

struct rmw_object *rmw_create_client(struct rmw_object *client)
{
	dds_instance_handle_t handle;

	if (dds_get_instance_handle(client->writer, &handle) < 0)
		return NULL;
	client->client = handle;
	return client;
}

static int as_result(dds_return_t written)
{
	return written < 0 ? (int)written : RMW_RET_OK;
}

int rmw_send_request(struct rmw_object *client, void *request, int64_t *number)
{
	*number = ++client->number;
	*(struct rmw_mark *)request = (struct rmw_mark){ client->client, *number };
	return as_result(dds_write(client->writer, request));
}

static int take(const struct rmw_object *object, struct rmw_service_info *info, void *message,
		bool *taken)
{
	const struct rmw_mark *mark = message;
	void *into[1] = { message };
	dds_sample_info_t sample;
	dds_return_t count = dds_take(object->reader, into, &sample, 1, 1);

	*taken = count == 1 && sample.valid_data;
	if (!*taken)
		return as_result(count);
	*info = (struct rmw_service_info){ .source_timestamp = sample.source_timestamp,
					   .request_id.sequence_number = mark->number };
	memcpy(info->request_id.writer_guid, &mark->client, sizeof(mark->client));
	return RMW_RET_OK;
}

int rmw_take_request(const struct rmw_object *service, struct rmw_service_info *info, void *request,
		     bool *taken)
{
	return take(service, info, request, taken);
}

int rmw_send_response(const struct rmw_object *service, const struct rmw_request_id *id,
		      void *response)
{
	struct rmw_mark *mark = response;

	memcpy(&mark->client, id->writer_guid, sizeof(mark->client));
	mark->number = id->sequence_number;
	return as_result(dds_write(service->writer, response));
}

int rmw_take_response(const struct rmw_object *client, struct rmw_service_info *info,
		      void *response, bool *taken)
{
	const struct rmw_mark *mark = response;
	int result = take(client, info, response, taken);

	*taken = *taken && mark->client == client->client;
	return result;
}
