/* SPDX-License-Identifier: Apache-2.0 */
/* A build without the headers of libcurl. */
#include "fleet/push/post.h"

int post_open(struct post **post, const struct post_options *options, struct kymo_err *err)
{
	(void)post;
	(void)options;
	return err_set(err, KYMO_EXIT_FAILED,
		       "this kymo was built without libcurl, which pushing requires; install "
		       "libcurl4-openssl-dev and build it again");
}

void post_close(struct post *post)
{
	(void)post;
}

int post_signs(struct post *post, struct kymo_err *err)
{
	(void)post;
	(void)err;
	return 0;
}

void post_send(struct post *post, const struct post_request *request, struct post_answer *answer)
{
	(void)post;
	(void)request;
	(void)answer;
}
