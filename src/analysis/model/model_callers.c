/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client side of service calls: a client, identified by its gid. Fast DDS records all 16 bytes
 * of the gid, Cyclone DDS only the first 8 and zeros for the others; so two gids are compared by 8
 * bytes if one of them is short.
 */
#include "analysis/model/model_internal.h"

#include <string.h>

static uint64_t first_eight(const uint8_t *bytes)
{
	uint64_t number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

static bool is_short(const uint8_t gid[16])
{
	return !first_eight(gid + 8);
}

static bool same_gid(const uint8_t a[16], const uint8_t b[16])
{
	return memcmp(a, b, is_short(a) || is_short(b) ? 8 : 16) == 0;
}

static struct caller *caller_new(struct model *model, const uint8_t gid[16])
{
	struct caller *caller = model_fact_new(model, sizeof(*caller));

	if (!caller)
		return NULL;
	caller->number = ++model->caller_count;
	memcpy(caller->gid, gid, sizeof(caller->gid));
	caller->next = map_get(&model->callers, first_eight(gid), 0);
	if (map_put(&model->callers, first_eight(gid), 0, caller))
		model->out_of_memory = true;
	return caller;
}

static struct caller *caller_at(struct model *model, const uint8_t gid[16])
{
	struct caller *caller = map_get(&model->callers, first_eight(gid), 0);

	while (caller && !same_gid(caller->gid, gid))
		caller = caller->next;
	return caller ? caller : caller_new(model, gid);
}

/* @client has this gid: all later calls with this gid belong to @client. */
void model_client_gid(struct model *model, const struct gid *told, struct service *client)
{
	uint8_t gid[16] = { 0 };
	struct caller *caller;

	client->pub.gid = told->gid;
	memcpy(gid, told->gid.bytes, told->gid.size < sizeof(gid) ? told->gid.size : sizeof(gid));
	caller = caller_at(model, gid);
	if (caller)
		caller->client = client;
}

struct caller *model_caller_of_gid(struct model *model, const struct kymo_ctf_value *value)
{
	uint8_t gid[16] = { 0 };

	if (!value->present || !value->size)
		return NULL;
	memcpy(gid, value->bytes, value->size < sizeof(gid) ? value->size : sizeof(gid));
	return caller_at(model, gid);
}

struct caller *model_caller_of_client(struct model *model, const struct service *client)
{
	uint8_t gid[16] = { 0 };

	if (!client || !client->pub.gid.size)
		return NULL;
	memcpy(gid, client->pub.gid.bytes,
	       client->pub.gid.size < sizeof(gid) ? client->pub.gid.size : sizeof(gid));
	return caller_at(model, gid);
}
