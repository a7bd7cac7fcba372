/* SPDX-License-Identifier: Apache-2.0 */
/* See post.h. */
#include "fleet/push/post.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/array.h"
#include "base/text.h"
#undef curl_easy_setopt
#undef curl_easy_getinfo

#if LIBCURL_VERSION_NUM < 0x074b00 /* the headers are older than the library may be */
#define CURLOPT_AWS_SIGV4 ((CURLoption)(CURLOPTTYPE_OBJECTPOINT + 305))
#endif

#define CONNECT_MS 10000L
#define ANSWER_MS 60000L
#define STALL_S 30L
#define FILE_RATE 10000u        /* bytes a second of a file, on average, at least */
#define ASK_BYTES (1u << 20)
#define SIGNS_VERSION 0x075700u /* 7.87 */

/* What is used of libcurl. Its interface is stable since version 7.16. */
struct curl {
	CURLcode (*global_init)(long flags);
	CURL *(*easy_init)(void);
	void (*easy_reset)(CURL *easy);
	CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
	CURLcode (*easy_perform)(CURL *easy);
	CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
	void (*easy_cleanup)(CURL *easy);
	const char *(*easy_strerror)(CURLcode code);
	struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
	void (*slist_free_all)(struct curl_slist *list);
	curl_version_info_data *(*version_info)(CURLversion age);
};

struct post {
	struct curl curl;
	void *library;
	CURL *easy;
	const struct post_options *options;
	struct post_answer *answer;
	const struct post_request *request;
	uint64_t at; /* of the file: bytes that were read */
};

static int load(struct post *post, struct kymo_err *err)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
		{ "curl_global_init", offsetof(struct curl, global_init) },
		{ "curl_easy_init", offsetof(struct curl, easy_init) },
		{ "curl_easy_reset", offsetof(struct curl, easy_reset) },
		{ "curl_easy_setopt", offsetof(struct curl, easy_setopt) },
		{ "curl_easy_perform", offsetof(struct curl, easy_perform) },
		{ "curl_easy_getinfo", offsetof(struct curl, easy_getinfo) },
		{ "curl_easy_cleanup", offsetof(struct curl, easy_cleanup) },
		{ "curl_easy_strerror", offsetof(struct curl, easy_strerror) },
		{ "curl_slist_append", offsetof(struct curl, slist_append) },
		{ "curl_slist_free_all", offsetof(struct curl, slist_free_all) },
		{ "curl_version_info", offsetof(struct curl, version_info) },
	};

	for (unsigned i = 0; i < COUNT_OF(names) && !post->library; i++)
		post->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!post->library)
		return err_set(err, KYMO_EXIT_FAILED,
			       "pushing requires libcurl: %s; apt install libcurl4", dlerror());
	for (unsigned i = 0; i < COUNT_OF(functions); i++) {
		void *function = dlsym(post->library, functions[i].name);

		if (!function)
			return err_set(err, KYMO_EXIT_FAILED, "libcurl has no %s",
				       functions[i].name);
		memcpy((char *)&post->curl + functions[i].offset, &function, sizeof(function));
	}
	return 0;
}

int post_open(struct post **out, const struct post_options *options, struct kymo_err *err)
{
	struct post *post = calloc(1, sizeof(*post));

	if (!post)
		return err_no_memory(err);
	post->options = options;
	if (load(post, err)) {
		post_close(post);
		return -1;
	}
	if (!post->curl.global_init(CURL_GLOBAL_DEFAULT))
		post->easy = post->curl.easy_init();
	if (!post->easy) {
		post_close(post);
		return err_set(err, KYMO_EXIT_FAILED, "libcurl cannot begin");
	}
	*out = post;
	return 0;
}

void post_close(struct post *post)
{
	if (!post)
		return;
	if (post->easy)
		post->curl.easy_cleanup(post->easy);
	free(post); /* libcurl stays loaded: its TLS library has work to do at the exit */
}

/* Before 7.87, libcurl signed neither files nor headers of its user's. */
int post_signs(struct post *post, struct kymo_err *err)
{
	const curl_version_info_data *info = post->curl.version_info(CURLVERSION_NOW);

	if (info->version_num >= SIGNS_VERSION)
		return 0;
	return err_set(
		err, KYMO_EXIT_FAILED,
		"libcurl %s cannot sign files for S3: install 7.87 or later, or upload into a directory (file:///DIR)",
		info->version);
}

/* ---- one request ---- */

/* The beginning of the answer is kept; one that does not end is not read to the end. */
static size_t on_answer(char *data, size_t one, size_t size, void *context)
{
	struct post_answer *answer = context;
	const size_t room = POST_ANSWER_MAX - answer->size;

	size *= one;
	if (!room)
		return 0;
	memcpy(answer->body + answer->size, data, size < room ? size : room);
	answer->size += size < room ? size : room;
	return size;
}

static size_t on_header(char *data, size_t one, size_t size, void *context)
{
	struct post_answer *answer = context;

	answer->tagged |= size * one > 5 && !strncasecmp(data, "etag:", 5);
	return size * one;
}

/* What became shorter meanwhile ends the request. */
static size_t on_file(char *data, size_t one, size_t size, void *context)
{
	struct post *post = context;
	const uint64_t left = post->request->size - post->at;
	ssize_t got;

	size *= one;
	got = pread(post->request->file, data, size < left ? size : left, (off_t)post->at);
	if (got < 0 || (!got && left))
		return CURL_READFUNC_ABORT;
	post->at += (uint64_t)got;
	return (size_t)got;
}

static int on_seek(void *context, curl_off_t offset, int origin)
{
	if (origin != SEEK_SET)
		return CURL_SEEKFUNC_CANTSEEK;
	((struct post *)context)->at = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

static int on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return atomic_load(((const struct post *)context)->options->stop);
}

/* Return: 0; -1: this libcurl does not know a part of it, and would send the secret. */
static int set_file(struct post *post, const struct post_request *request)
{
	CURLcode (*set)(CURL *, CURLoption, ...) = post->curl.easy_setopt;
	CURL *easy = post->easy;

	post->at = 0;
	(void)set(easy, CURLOPT_UPLOAD, 1L);
	(void)set(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->size);
	(void)set(easy, CURLOPT_READFUNCTION, on_file);
	(void)set(easy, CURLOPT_READDATA, post);
	(void)set(easy, CURLOPT_SEEKFUNCTION, on_seek);
	(void)set(easy, CURLOPT_SEEKDATA, post);
	(void)set(easy, CURLOPT_PATH_AS_IS, 1L);
	/* It asks whether it may send the file, so that a wrong key costs little; but not every
	 * server answers that. */
	(void)set(easy, CURLOPT_EXPECT_100_TIMEOUT_MS, request->size < ASK_BYTES ? 1L : 1000L);
	if (set(easy, CURLOPT_AWS_SIGV4, request->signature))
		return -1;
	(void)set(easy, CURLOPT_USERNAME, request->user);
	(void)set(easy, CURLOPT_PASSWORD, request->secret);
	return 0;
}

static void set_body(struct post *post, const struct post_request *request)
{
	CURLcode (*set)(CURL *, CURLoption, ...) = post->curl.easy_setopt;

	(void)set(post->easy, CURLOPT_POST, 1L);
	(void)set(post->easy, CURLOPT_POSTFIELDS, request->body);
	(void)set(post->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->size);
}

static long time_limit(const struct post_request *request, uint64_t rate)
{
	if (request->signature && (!rate || rate > FILE_RATE))
		rate = FILE_RATE;
	return ANSWER_MS + (rate ? (long)(request->size * 1000 / rate) : 0);
}

static void set_options(struct post *post, const struct post_request *request,
			struct curl_slist *headers)
{
	CURLcode (*set)(CURL *, CURLoption, ...) = post->curl.easy_setopt;
	const struct post_options *options = post->options;
	const uint64_t rate = options->bandwidth;
	CURL *easy = post->easy;
	char host[256];

	(void)set(easy, CURLOPT_URL, request->url);
	(void)set(easy, CURLOPT_NOSIGNAL, 1L);
	(void)set(easy, CURLOPT_HTTPHEADER, headers);
	(void)set(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	(void)set(easy, CURLOPT_TIMEOUT_MS, time_limit(request, rate));
	(void)set(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	(void)set(easy, CURLOPT_LOW_SPEED_TIME, STALL_S);
	if (rate)
		(void)set(easy, CURLOPT_MAX_SEND_SPEED_LARGE, (curl_off_t)rate);
	if (host_is_loopback(host_of_url(request->url, host, sizeof(host))))
		(void)set(easy, CURLOPT_NOPROXY, "*"); /* a proxy is another machine */
	if (*options->ca)
		(void)set(easy, CURLOPT_CAINFO, options->ca);
	if (*options->cert)
		(void)set(easy, CURLOPT_SSLCERT, options->cert);
	if (*options->key)
		(void)set(easy, CURLOPT_SSLKEY, options->key);
	(void)set(easy, CURLOPT_WRITEFUNCTION, on_answer);
	(void)set(easy, CURLOPT_WRITEDATA, post->answer);
	(void)set(easy, CURLOPT_HEADERFUNCTION, on_header);
	(void)set(easy, CURLOPT_HEADERDATA, post->answer);
	(void)set(easy, CURLOPT_NOPROGRESS, 0L);
	(void)set(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
	(void)set(easy, CURLOPT_XFERINFODATA, post);
}

void post_send(struct post *post, const struct post_request *request, struct post_answer *answer)
{
	struct curl_slist *headers = NULL;
	const char *type = NULL;
	CURLcode code = CURLE_OK;

	memset(answer, 0, sizeof(*answer));
	post->answer = answer;
	post->request = request;
	if (!request->signature) /* 7.88 would sign it, and not send it */
		headers = post->curl.slist_append(headers, "Expect:");
	for (unsigned i = 0; i < request->headers; i++)
		headers = post->curl.slist_append(headers, request->header[i]);
	post->curl.easy_reset(post->easy);
	set_options(post, request, headers);
	if (!request->signature)
		set_body(post, request);
	else if (set_file(post, request))
		code = CURLE_UNKNOWN_OPTION;
	if (code == CURLE_OK)
		code = post->curl.easy_perform(post->easy);
	if (code == CURLE_OK) {
		(void)post->curl.easy_getinfo(post->easy, CURLINFO_RESPONSE_CODE, &answer->status);
		(void)post->curl.easy_getinfo(post->easy, CURLINFO_CONTENT_TYPE, &type);
		snprintf(answer->type, sizeof(answer->type), "%s", type ? type : "");
	} else {
		snprintf(answer->why, sizeof(answer->why), "%s",
			 code == CURLE_WRITE_ERROR ? "the answer is too long"
			 : code == CURLE_ABORTED_BY_CALLBACK && request->signature &&
					 !atomic_load(post->options->stop)
				 ? "the file became shorter while it was sent"
				 : post->curl.easy_strerror(code));
	}
	answer->body[answer->size] = 0;
	post->curl.slist_free_all(headers);
}
