/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a recorder over its control socket. See steer_ask.h. */
#include "caret/agent/steer_ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/control/control.h"
#include "recorder/runtime/alive.h"
#include "recorder/runtime/domain.h"

#define ASK_MS		30000		/* a recorder writes all it has before it answers */
#define ASK_TRIES	3000
#define ASK_AGAIN_US	2000

struct json_object *steer_request(const char *what, const struct ros_domains *ros)
{
	struct json_object *request = json_object_new_object();

	json_object_object_add(request, "request", json_object_new_string(what));
	if (ros)
		json_object_object_add(request, "ros_domains", ros_domains_json(ros));
	return request;
}

struct json_object *steer_filter_request(const struct start *start)
{
	struct json_object *request = steer_request("filter", NULL);

	json_object_object_add(request, "do", json_object_new_string("caret"));
	for (unsigned i = 0; i < CARET_LISTS; i++)
		if (start->list[i])
			json_object_object_add(request,
					       filter_caret_variable((enum filter_caret_list)i),
					       json_object_new_string(start->list[i]));
	return request;
}

static bool has_recorder(const struct rundir *dir)
{
	struct domain_info session;

	return domain_inspect(dir, &session, NULL) == 0 && session.active;
}

int steer_ask(const struct rundir *dir, struct json_object *request, bool *stopped,
	      struct kymo_err *err)
{
	struct json_object *reply, *stops = NULL;
	int rc = control_ask(dir, request, ASK_MS, &reply, err);

	for (int i = 0; rc == 1 && i < ASK_TRIES && has_recorder(dir); i++) {
		(void)usleep(ASK_AGAIN_US);
		rc = control_ask(dir, request, ASK_MS, &reply, err);
	}
	if (stopped)
		*stopped = rc == 0 && json_object_object_get_ex(reply, "stopped", &stops) && json_object_get_boolean(stops);
	json_object_put(request);
	json_object_put(reply);
	return rc == 1 ? err_set(err, KYMO_EXIT_FAILED, "no recorder is running in %s any more", dir->path) : rc;
}

char **steer_environment(const char *output)
{
	extern char **environ;
	size_t count = 0;
	char **vector;

	while (environ[count])
		count++;
	vector = calloc(count + 3, sizeof *vector);
	if (!vector)
		return NULL;
	vector[0] = strdup(STEER_OWN_VARIABLE "=1");
	if (!vector[0] || (asprintf(&vector[1], "ROS_TRACE_DIR=%s", output ? output : getenv("ROS_TRACE_DIR") ?: "") < 0)) {
		free(vector[0]);
		free(vector);
		return NULL;
	}
	for (size_t i = 0, at = 2; i < count; i++)
		if (strncmp(environ[i], "ROS_TRACE_DIR=", 14) != 0)
			vector[at++] = environ[i];
	return vector;
}

int steer_began(int pid)
{
	size_t size = 0;
	char *environment = environment_read(pid, &size);
	const bool began = environment_value(environment, size, STEER_OWN_VARIABLE) != NULL;
	const bool known = environment != NULL;

	free(environment);
	return known ? began : -1;
}
