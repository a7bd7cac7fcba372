/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256: values that sha256sum prints, and pieces of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "fleet/upload/sha256.h"

static void known(void **state)
{
	static const struct {
		size_t size;
		const char *want;
	} cases[] = {
		{ 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ 1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d" },
		{ 55, "576a1bf8d4478657e6dc4af9398544765c2a92cde28478b019235cfed315fc09" },
		{ 56, "9b20501dfd1d99161c257950f3444f3e49230c351c5c8e0943ef369f85f5205d" },
		{ 63, "30b345906b493f06f69444b6521113511c242f30e29840462950035043682f1e" },
		{ 64, "d8bc63b4fc1156e5e7d95a418b9bf54cd3174bedbc2db40f74895349b229b3c0" },
		{ 65, "1ee23b0fbcaecc1aff4a9e8f1645f35ab2c8e13609cd73b68df8b5e3f63ce073" },
		{ 119, "7a6589821178918ca8d9edaba5abfc1e9b2669564f4469b66885379c1530b2c8" },
		{ 120, "655250427d56b1b0eeb8497d21428704273458a01772d6881b65c0abac0f8a98" },
		{ 128, "54c9eb041badfd7064645067b107661fed6113197ce2dd066ba69618abd3732f" },
		{ 1000, "89f4ff56a25dd1db06a4ce6033603775d705fb96f30f8693733fef602a1ca532" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		for (size_t piece = 1; piece < 200; piece += 9) {
			unsigned char data[1000];
			struct sha256 hash;
			char text[SHA256_TEXT];

			for (size_t j = 0; j < sizeof(data); j++)
				data[j] = (unsigned char)(j * 7);
			sha256_begin(&hash);
			for (size_t at = 0; at < cases[i].size; at += piece)
				sha256_add(&hash, data + at,
					   at + piece < cases[i].size ? piece : cases[i].size - at);
			sha256_end(&hash, text);
			assert_string_equal(text, cases[i].want);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(known) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
