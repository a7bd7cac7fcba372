/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `kymo serve` accepts of its options and of kymo.yaml; `kymo config check` asks the same
 * rules.
 *
 * Context of all functions: block as the disk does.
 */
#ifndef KYMO_SERVE_RULES_H
#define KYMO_SERVE_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define SERVE_ADDRESS_MAX 64u

struct serve_rules {
	const char *listen;                         /* "127.0.0.1:9465", "[::1]:9465", ":9465" */
	const char *tls_cert, *tls_key, *token_file; /* "": none */
	bool everybody; /* may read, without TLS and token */
	bool count;     /* --count: of the command line */
	bool has_trace;
	int64_t window_ns, sample_ns; /* sample_ns: 0: none */
	uint64_t series, entities, objects;
};

/** serve_rules_check() - call @wrong with each rule that does not hold, and the key of kymo.yaml
 * that it is about. Return: how many. */
unsigned serve_rules_check(const struct serve_rules *rules,
			   void (*wrong)(void *context, const char *key,
					 const struct kymo_err *err),
			   void *context);

/** serve_rules_address() - the numeric address and the port of @listen. Return: 0, or -1 with @err.
 */
int serve_rules_address(const char *listen, char address[SERVE_ADDRESS_MAX], unsigned *port,
			struct kymo_err *err);

#endif
