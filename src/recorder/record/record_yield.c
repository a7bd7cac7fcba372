/* SPDX-License-Identifier: Apache-2.0 */
/* A recorder whose recording is only looked at (`kymo top`) makes room for one that keeps it. See
 * record_requests.h. */
#include <poll.h>

#include "base/now.h"
#include "recorder/control/control.h"
#include "recorder/record/record_requests.h"
#include "recorder/runtime/domain.h"

#define ASK_MS 1000
#define ENDS_NS ((int64_t)5000000000)
#define LOOK_MS 5

bool record_yield(const struct record_options *options, struct control_call *call)
{
	struct kymo_err err;

	if (options->yields && !control_is_foreign(call)) {
		control_reply(call, NULL);
		return true;
	}
	(void)err_set(&err, KYMO_EXIT_FAILED,
		      "the recorder keeps its recording and does not make room for another one");
	control_refuse(call, &err);
	return false;
}

static bool is_active(const struct rundir *dir)
{
	struct domain_info info;

	return domain_inspect(dir, &info, NULL) == 0 && info.active;
}

static int ask(const struct rundir *dir)
{
	struct json_object *request = json_object_new_object(), *reply = NULL;
	int rc;

	json_object_object_add(request, "request", json_object_new_string("yield"));
	rc = control_ask(dir, request, ASK_MS, &reply, NULL);
	json_object_put(request);
	json_object_put(reply);
	return rc;
}

void record_ask_to_yield(const char *runtime_dir)
{
	const int64_t until = now_ns() + ENDS_NS;
	struct rundir dir;

	if (rundir_open(&dir, runtime_dir, false, NULL) != 0)
		return;
	if (is_active(&dir) && ask(&dir) == 0)
		while (is_active(&dir) && now_ns() < until)
			(void)poll(NULL, 0, LOOK_MS);
	rundir_close(&dir);
}
