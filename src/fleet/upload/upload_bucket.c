/* SPDX-License-Identifier: Apache-2.0 */
/* A file becomes an object of S3: PUT, signed by libcurl; and what its answer means. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "fleet/upload/sha256.h"
#include "fleet/upload/upload_internal.h"

#define PIECE (64u << 10)
#define CODE_MAX 64u

/* ---- the answer ---- */

static const struct {
	const char *code;
	enum upload_result result;
	const char *remedy;
} known[] = {
	{ "SignatureDoesNotMatch", UPLOAD_WRONG,
	  "the secret access key does not belong to this access key; correct it" },
	{ "InvalidAccessKeyId", UPLOAD_WRONG,
	  "the server does not know this access key; correct it" },
	{ "AccessDenied", UPLOAD_WRONG,
	  "this access key may not write there; give it the permission s3:PutObject" },
	{ "ExpiredToken", UPLOAD_WRONG, "the session token has expired; set a new one" },
	{ "InvalidToken", UPLOAD_WRONG, "the session token is not valid; set a new one" },
	{ "NoSuchBucket", UPLOAD_WRONG, "create the bucket, or correct its name in the address" },
	{ "AuthorizationHeaderMalformed", UPLOAD_WRONG,
	  "set the bucket's region: AWS_REGION or upload.region" },
	{ "PermanentRedirect", UPLOAD_WRONG,
	  "write the host of the bucket's own region into the address" },
	{ "TemporaryRedirect", UPLOAD_WRONG,
	  "write the host of the bucket's own region into the address" },
	{ "RequestTimeTooSkewed", UPLOAD_AGAIN,
	  "the clocks of this machine and of the server differ; set them" },
	{ "RequestTimeout", UPLOAD_AGAIN, "" },
	{ "BadDigest", UPLOAD_AGAIN, "" },
	{ "IncompleteBody", UPLOAD_AGAIN, "" },
	{ "XAmzContentSHA256Mismatch", UPLOAD_AGAIN, "the file changed while it was sent" },
	{ "EntityTooLarge", UPLOAD_NEVER, "the file is too large for the server" },
};

/* "<Code>NoSuchBucket</Code>": the word; "": there is none. */
static void read_code(const char *body, char code[CODE_MAX])
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	const char *begin = strstr(body, "<Code>");
	size_t length;

	*code = 0;
	if (!begin)
		return;
	begin += strlen("<Code>");
	length = strspn(begin, letters);
	if (length < CODE_MAX && begin[length] == '<')
		snprintf(code, CODE_MAX, "%.*s", (int)length, begin);
}

/* The beginning of what it said, unless that is a secret it was sent. */
static void quote(const struct upload_place *place, const char *body, char *out, size_t size)
{
	char part[201];

	*out = 0;
	snprintf(part, sizeof(part), "%.200s", body);
	if (*part && !strstr(body, place->secret) &&
	    !(*place->session && strstr(body, place->session)))
		(void)text_clean(out, size, part);
}

static enum upload_result judge(const struct upload_place *place, const struct post_answer *answer,
				struct kymo_err *err)
{
	const int host = (int)strcspn(strstr(place->base, "://") + 3, "/");
	const char *name = strstr(place->base, "://") + 3;
	char code[CODE_MAX], said[801];

	if (!answer->status) {
		(void)err_set(err, KYMO_EXIT_FAILED, "%.*s: %s", host, name, answer->why);
		return UPLOAD_AGAIN;
	}
	if (answer->status >= 200 && answer->status <= 299 && answer->tagged)
		return UPLOAD_SENT;
	if (answer->status >= 200 && answer->status <= 299) { /* such as a hotel's login page */
		(void)err_set(
			err, KYMO_EXIT_FAILED,
			"%.*s: something else than a store of objects answered at this address",
			host, name);
		return UPLOAD_AGAIN;
	}
	read_code(answer->body, code);
	for (unsigned i = 0; i < COUNT_OF(known); i++)
		if (!strcmp(code, known[i].code)) {
			(void)err_set(err, KYMO_EXIT_FAILED, "%.*s answered %ld %s%s%s", host, name,
				      answer->status, code, *known[i].remedy ? ": " : "",
				      known[i].remedy);
			return known[i].result;
		}
	quote(place, answer->body, said, sizeof(said));
	(void)err_set(err, KYMO_EXIT_FAILED, "%.*s answered %ld%s%s", host, name, answer->status,
		      *said ? ": " : "", said);
	if (answer->status == 413)
		return UPLOAD_NEVER;
	return answer->status >= 500 || answer->status == 408 || answer->status == 429
		       ? UPLOAD_AGAIN
		       : UPLOAD_WRONG;
}

/* ---- the request ---- */

/* Return: 0, or -1 with @err. */
static int hash_file(const struct upload_place *place, const struct upload_file *file,
		     char text[SHA256_TEXT], struct kymo_err *err)
{
	unsigned char *piece = malloc(PIECE);
	struct sha256 hash;
	uint64_t at = 0;
	ssize_t got = 1;

	if (!piece)
		return err_no_memory(err);
	sha256_begin(&hash);
	while (at < file->size && got > 0 && !atomic_load(place->options.stop)) {
		const uint64_t left = file->size - at;

		got = pread(file->fd, piece, left < PIECE ? left : PIECE, (off_t)at);
		if (got > 0)
			sha256_add(&hash, piece, (size_t)got);
		at += got > 0 ? (uint64_t)got : 0;
	}
	free(piece);
	sha256_end(&hash, text);
	if (at == file->size)
		return 0;
	return err_set(err, KYMO_EXIT_FAILED, "cannot read %s: %s", file->name,
		       got < 0 ? strerror(errno) : "it became shorter");
}

static const char *type_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	if (dot && !strcmp(dot, ".html"))
		return "Content-Type: text/html; charset=utf-8";
	if (dot && !strcmp(dot, ".json"))
		return "Content-Type: application/json";
	return "Content-Type: application/octet-stream";
}

enum upload_result upload_to_bucket(struct upload_place *place, const struct upload_file *file,
				    struct kymo_err *err)
{
	char url[4 * UPLOAD_PLACE_MAX + 3 * UPLOAD_KEY_MAX], key[3 * UPLOAD_KEY_MAX + 4],
		hash[SHA256_TEXT], digest[SHA256_TEXT + 32], session[UPLOAD_SESSION_MAX + 32];
	struct post_request request = { .url = url,
					.size = file->size,
					.signature = place->signature,
					.user = place->user,
					.secret = place->secret,
					.file = file->fd };
	struct post_answer answer;
	enum upload_result result;

	if (strlen(place->path) + 1 + strlen(file->key) > UPLOAD_KEY_MAX ||
	    !upload_encode(key, sizeof(key), file->key)) {
		(void)err_set(err, KYMO_EXIT_FAILED, "the name %.100s... is too long for S3",
			      file->key);
		return UPLOAD_GONE;
	}
	snprintf(url, sizeof(url), "%s/%s", place->base, key);
	if (hash_file(place, file, hash, err))
		return UPLOAD_AGAIN;
	snprintf(digest, sizeof(digest), "x-amz-content-sha256: %s", hash);
	request.header[request.headers++] = digest;
	request.header[request.headers++] = type_of(file->key);
	snprintf(session, sizeof(session), "x-amz-security-token: %s", place->session);
	if (*place->session)
		request.header[request.headers++] = session;
	post_send(place->post, &request, &answer);
	explicit_bzero(session, sizeof(session));
	result = judge(place, &answer, err);
	return result;
}
