/* SPDX-License-Identifier: Apache-2.0 */
/* Options of verbs that connect to a relay: which certificate is trusted, and the token. */
#ifndef KYMO_CLI_ACCESS_OPTIONS_H
#define KYMO_CLI_ACCESS_OPTIONS_H

#include "base/opt.h"
#include "relay/wire/tls.h"
#include "relay/wire/token.h"
#include "relay/wire/url.h"

struct access_wishes {
	const char *ca, *pin, *token_file;
};

/* The same, read and checked: for struct link_options. */
struct access {
	struct tls_context *tls;	/* NULL: none */
	struct token token;
};

/* Rows for the table of options; @type has a member `struct access_wishes @member`. */
#define ACCESS_OPTS(type, member)								\
	{ "tls-ca", 0, OPT_TEXT, offsetof(type, member.ca), "FILE",				\
	  "with nets://: trust relays whose certificate is signed by one in FILE (default: by one that the system trusts)", NULL }, \
	{ "tls-pin", 0, OPT_TEXT, offsetof(type, member.pin), "SHA256",				\
	  "with nets://: trust the relay whose certificate has this fingerprint, which the relay prints", NULL },	\
	{ "token-file", 0, OPT_TEXT, offsetof(type, member.token_file), "FILE",			\
	  "send the relay the token in FILE", NULL }

/**
 * access_wish() - read and check the options, for a connection to @url
 * @access: filled; to be freed with access_free(), also after a failure
 *
 * Return: 0; -1 with @err. Context: reads files.
 */
int access_wish(const struct access_wishes *wishes, const struct url *url, struct access *access,
		struct kymo_err *err);
void access_free(struct access *access);

#endif
