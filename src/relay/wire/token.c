/* SPDX-License-Identifier: Apache-2.0 */
/* The token of a connection. See token.h. */
#include "relay/wire/token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_file(const char *path, int fd, struct kymo_err *err)
{
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read the token file %s: %s", path, strerror(errno));
	if (S_ISREG(stat.st_mode) && (stat.st_mode & (S_IRWXG | S_IRWXO)))
		return err_set(err, KYMO_EXIT_INPUT, "cannot use the token file %s: others than its owner can read or write it; "
			       "run chmod 600 %s", path, path);
	return 0;
}

static int read_all(int fd, struct token *token)
{
	size_t used = 0;
	ssize_t got;

	while (used < sizeof(token->bytes) &&
	       (got = read(fd, token->bytes + used, sizeof(token->bytes) - used))) {
		if (got < 0 && errno != EINTR)
			return -1;
		used += got > 0 ? (size_t)got : 0;
	}
	while (used && (token->bytes[used - 1] == '\n' || token->bytes[used - 1] == '\r'))
		used--;
	token->size = used;
	return 0;
}

int token_read(const char *path, struct token *token, struct kymo_err *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read the token file %s: %s", path, strerror(errno));
	rc = check_file(path, fd, err);
	if (rc == 0 && read_all(fd, token) < 0)
		rc = err_set(err, KYMO_EXIT_INPUT, "cannot read the token file %s: %s", path, strerror(errno));
	(void)close(fd);
	if (rc == 0 && (token->size < TOKEN_MIN || token->size == TOKEN_MAX))
		rc = err_set(err, KYMO_EXIT_INPUT, "cannot use the token in %s: it must have at least %u and fewer than %u bytes; "
			     "openssl rand -hex 32 prints a good one", path, TOKEN_MIN, TOKEN_MAX);
	return rc;
}

void token_greet(const struct token *token, struct wire_out *out)
{
	wire_put_greeting(out, &(struct wire_greeting){ WIRE_GREETING, (uint32_t)token->size });
	wire_add_bytes(out, token->bytes, token->size);
}

static bool is_equal(const struct token *wanted, const uint8_t *bytes, size_t size)
{
	volatile uint8_t different = wanted->size != size;

	for (size_t i = 0; i < wanted->size; i++)
		different |= (uint8_t)(wanted->bytes[i] ^ bytes[size > i ? i : 0]);
	return !different;
}

static enum token_result refuse(struct wire_out *reply, struct kymo_err *err, const char *why)
{
	wire_put_greeting_reply(reply,
				&(struct wire_greeting_reply){ WIRE_GREETING, WIRE_REFUSED });
	(void)err_set(err, KYMO_EXIT_INPUT, "%s", why);
	return TOKEN_REFUSED;
}

/* Whether @bytes, as far as they have arrived, begin like a greeting. */
static bool may_be_greeting(const uint8_t *bytes, size_t size)
{
	const uint8_t magic[4] = { 'K', 'Y', 'M', 'O' };

	return memcmp(bytes, magic, size < sizeof(magic) ? size : sizeof(magic)) == 0;
}

enum token_result token_check(const struct token *wanted, const uint8_t *bytes, size_t size,
			      size_t *used, struct wire_out *reply, struct kymo_err *err)
{
	struct wire_in in = { .at = bytes, .end = bytes + size };
	struct wire_greeting greeting;
	const uint8_t *token;

	*used = 0;
	if (!may_be_greeting(bytes, size)) {
		if (!wanted->size)
			return TOKEN_WELCOME;
		return refuse(reply, err, "it sent no token, and this relay requires one (--token-file)");
	}
	if (!wire_get_greeting(&in, &greeting))
		return TOKEN_WAIT;
	if (!greeting.size || greeting.size >= TOKEN_MAX)
		return refuse(reply, err, "the size of its token is invalid");
	token = wire_bytes(&in, greeting.size);
	if (!token)
		return TOKEN_WAIT;
	if (wanted->size && !is_equal(wanted, token, greeting.size))
		return refuse(reply, err, "its token is not this relay's token");
	wire_put_greeting_reply(reply,
				&(struct wire_greeting_reply){ WIRE_GREETING, WIRE_WELCOME });
	*used = WIRE_SIZE_greeting + greeting.size;
	return TOKEN_WELCOME;
}

enum token_result token_answer(const uint8_t *bytes, size_t size, size_t *used,
			       struct kymo_err *err)
{
	struct wire_in in = { .at = bytes, .end = bytes + size };
	struct wire_greeting_reply reply;

	*used = 0;
	if (may_be_greeting(bytes, size) && !wire_get_greeting_reply(&in, &reply))
		return TOKEN_WAIT;
	if (!may_be_greeting(bytes, size))
		(void)err_set(err, KYMO_EXIT_INPUT, "it does not understand tokens; only kymo relay does");
	else if (reply.status != WIRE_WELCOME)
		(void)err_set(err, KYMO_EXIT_INPUT, "it refused the token; both sides need the same one (--token-file)");
	else
		*used = WIRE_SIZE_greeting_reply;
	return *used ? TOKEN_WELCOME : TOKEN_REFUSED;
}
