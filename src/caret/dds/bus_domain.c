/* SPDX-License-Identifier: Apache-2.0 */
/* Domains, counted. See bus_domain.h. */
#include "caret/dds/bus_domain.h"

#include <pthread.h>
#include <stdlib.h>

#include "caret/agent/agent.h"
#include "caret/agent/discovery.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint32_t number;
	dds_entity_t entity;
	unsigned users;
} domains[AGENT_DOMAINS_MAX];

/*
 * Nodes of one host find each other without multicast by the ports of participant indexes 0 to 32.
 * If all are taken, an agent goes without one as long as there is multicast: all but nodes with
 * LOCALHOST still find it.
 */
static dds_entity_t create(uint32_t number, void (*say)(void *context, const char *text),
			   void *context)
{
	const char *uri = getenv("CYCLONEDDS_URI");
	char *config;
	const enum discovery_range range = discovery_read(&config, say, context);
	dds_entity_t entity;

	if (!config)
		return DDS_RETCODE_OUT_OF_RESOURCES;
	if (range == DISCOVERY_OFF && say)
		say(context, "ROS_AUTOMATIC_DISCOVERY_RANGE is OFF: no other program can be found, "
			     "or finds this one");
	entity = dds_create_domain(number, config);
	free(config);
	if (entity < 0 && range == DISCOVERY_SUBNET)
		entity = dds_create_domain(number, uri ? uri : "");
	return entity;
}

dds_return_t bus_domain_open(uint32_t number, void (*say)(void *context, const char *text),
			     void *context)
{
	dds_return_t rc = DDS_RETCODE_OUT_OF_RESOURCES;
	unsigned at = AGENT_DOMAINS_MAX;

	(void)pthread_mutex_lock(&lock);
	for (unsigned i = AGENT_DOMAINS_MAX; i-- > 0;) {
		if (domains[i].users && domains[i].number == number) {
			at = i;
			break;
		}
		if (!domains[i].users)
			at = i;
	}
	if (at < AGENT_DOMAINS_MAX && domains[at].users) {
		domains[at].users++;
		rc = DDS_RETCODE_OK;
	} else if (at < AGENT_DOMAINS_MAX) {
		rc = domains[at].entity = create(number, say, context);
		domains[at].number = number;
		domains[at].users = rc >= 0;
	}
	(void)pthread_mutex_unlock(&lock);
	return rc < 0 ? rc : DDS_RETCODE_OK;
}

void bus_domain_close(uint32_t number)
{
	(void)pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < AGENT_DOMAINS_MAX; i++)
		if (domains[i].users && domains[i].number == number && --domains[i].users == 0)
			(void)dds_delete(domains[i].entity);
	(void)pthread_mutex_unlock(&lock);
}
