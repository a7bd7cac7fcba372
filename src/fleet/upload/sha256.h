/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4), of data in pieces:
 *
 *   struct sha256 hash;
 *   sha256_begin(&hash);
 *   sha256_add(&hash, data, size);
 *   sha256_end(&hash, text);
 *
 * Context of all functions: wait-free.
 */
#ifndef KYMO_FLEET_SHA256_H
#define KYMO_FLEET_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_TEXT 65 /* hexadecimal digits with the NUL */

struct sha256 {
	uint32_t state[8];
	uint64_t bytes;          /* so far */
	unsigned char block[64]; /* the bytes that do not fill one yet */
};

void sha256_begin(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t size);

/** sha256_end() - the result as lower case digits; @hash cannot be used again. */
void sha256_end(struct sha256 *hash, char text[SHA256_TEXT]);

#endif
