/* SPDX-License-Identifier: Apache-2.0 */
/* See kept_copy.h. */
#include "cli/input/kept_copy.h"

#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/input/kept.h"

#define BUFFER_BYTES (64u << 10)

static ssize_t copy_write(void *cookie, const char *bytes, size_t size)
{
	struct kept_copy *copy = cookie;

	copy->is_cut |= size > KEPT_ONE_MOST - copy->size ||
			!ARRAY_FIT(copy->text, copy->size + size, copy->room);
	if (!copy->is_cut) {
		memcpy(copy->text + copy->size, bytes, size);
		copy->size += size;
	}
	/* Who closes the stream is to see an error of stdout. */
	return fwrite(bytes, 1, size, stdout) == size && fflush(stdout) == 0 ? (ssize_t)size : 0;
}

FILE *kept_copy_open(struct kept_copy *copy)
{
	static const cookie_io_functions_t functions = { .write = copy_write };

	*copy = (struct kept_copy){ 0 };
	copy->stream = fopencookie(copy, "w", functions);
	if (!copy->stream)
		return stdout;
	/* On a terminal a row is to be there before the progress is drawn again. */
	(void)setvbuf(copy->stream, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFFER_BYTES);
	return copy->stream;
}

bool kept_copy_close(struct kept_copy *copy)
{
	return copy->stream && fclose(copy->stream) == 0 && !copy->is_cut;
}
