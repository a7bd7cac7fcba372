/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of rmw_cyclonedds as the robot needs for clients and services, with rmw's names. Jazzy's
 * tracetools has no tracepoints there: kymo catches these functions.
 *
 * A request carries the gid of its client and a number, a response carries them back, and each
 * client hears the responses of all.
 *
 * Context of all functions: may allocate (DDS); a client or service is used by one thread at a
 * time.
 */
#ifndef MINI_RMW_H
#define MINI_RMW_H

#include <dds/dds.h>
#include <stdbool.h>
#include <stdint.h>

#define RMW_GID_BYTES 24 /* Jazzy's tracetools reads as many; a DDS GUID has 16 */
#define RMW_RET_OK 0

/* Stands for rmw_publisher_t, rmw_client_t and their like. */
struct rmw_object {
	const char *implementation; /* the identifier comes first */
	uint8_t gid[RMW_GID_BYTES];
	dds_entity_t reader, writer; /* of a client or service */
	uint64_t client;             /* of a client: its gid in a request */
	int64_t number;              /* of a client: of its last request */
};

extern const char rmw_implementation[];

/* The first member of each request and response. */
struct rmw_mark {
	uint64_t client;
	int64_t number;
};

/* rmw_request_id_t, rmw_service_info_t */
struct rmw_request_id {
	uint8_t writer_guid[16];
	int64_t sequence_number;
};
struct rmw_service_info {
	int64_t source_timestamp, received_timestamp;
	struct rmw_request_id request_id;
};

/** rmw_create_client() - @client has its reader and writer; find out its gid. Return: @client, or
 * NULL. */
struct rmw_object *rmw_create_client(struct rmw_object *client);

/** rmw_send_request() - mark @request, and write it; @number is set. Return: RMW_RET_OK, or an
 * error of DDS. */
int rmw_send_request(struct rmw_object *client, void *request, int64_t *number);

/** rmw_take_request() - @taken is false if there was none. Return: RMW_RET_OK, or an error of DDS.
 */
int rmw_take_request(const struct rmw_object *service, struct rmw_service_info *info, void *request,
		     bool *taken);

/** rmw_send_response() - mark @response with @id, and write it. Return: RMW_RET_OK, or an error of
 * DDS. */
int rmw_send_response(const struct rmw_object *service, const struct rmw_request_id *id,
		      void *response);

/** rmw_take_response() - @taken is false if there was none, or it was another client's. Return:
 * RMW_RET_OK, or an error of DDS. */
int rmw_take_response(const struct rmw_object *client, struct rmw_service_info *info,
		      void *response, bool *taken);

#endif
