/* SPDX-License-Identifier: Apache-2.0 */
/* Locks of a growing trace: what readers see of what a writer gives back, and of one that died. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ctf/format/lock.h"

struct files {
	int writer, reader;
};

static struct files make(void)
{
	char path[] = "/tmp/kymo-lock-XXXXXX";
	struct files files = { mkstemp(path), open(path, O_RDONLY) };

	assert_true(files.writer >= 0 && files.reader >= 0);
	assert_int_equal(unlink(path), 0);
	return files;
}

static void drop(struct files files)
{
	(void)close(files.writer);
	(void)close(files.reader);
}

static void ranges(void **state)
{
	const struct files files = make();

	(void)state;
	assert_int_equal(ctf_lock_all(files.writer, 0), 0);
	assert_int_equal(ctf_lock_test(files.reader, 0, 1), 0);
	assert_int_equal(ctf_lock_test(files.reader, INT64_MAX - 1, 1), 0);
	/* The second packet is there before the first. */
	assert_int_equal(ctf_lock_ready(files.writer, 4096, 4096), 0);
	assert_int_equal(ctf_lock_test(files.reader, 4096, 4096), 1);
	assert_int_equal(ctf_lock_test(files.reader, 4095, 2), 0);
	assert_int_equal(ctf_lock_test(files.reader, 8191, 2), 0);
	assert_int_equal(ctf_lock_ready(files.writer, 0, 4096), 0);
	assert_int_equal(ctf_lock_test(files.reader, 0, 8192), 1);
	assert_int_equal(ctf_lock_wait(files.reader, 0, 8192), 0);
	assert_int_equal(ctf_lock_test(files.writer, 0, 8192), 1);	/* the reader kept none */
	assert_int_equal(ctf_lock_test(files.reader, UINT64_MAX, 1), -EINVAL);
	assert_int_equal(ctf_lock_test(files.reader, 1, INT64_MAX), -EINVAL);
	assert_int_equal(ctf_lock_ready(files.writer, 0, CTF_LOCK_REST), 0);
	assert_int_equal(ctf_lock_test(files.reader, 0, CTF_LOCK_REST), 1);
	drop(files);
	assert_int_equal(ctf_lock_test(-1, 0, 1), -EBADF);
}

/* Another process waits until a range is given back. */
static void waiting(void **state)
{
	const struct files files = make();
	int pipes[2], status;
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(ctf_lock_all(files.writer, 0), 0);
	child = fork();
	if (!child) {
		(void)alarm(300);
		(void)!write(pipes[1], "b", 1);
		_exit(ctf_lock_wait(files.reader, 0, 10) == 0 ? 7 : 8);
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	assert_int_equal(ctf_lock_ready(files.writer, 0, 9), 0);
	assert_int_equal(waitpid(child, &status, WNOHANG), 0);
	assert_int_equal(ctf_lock_ready(files.writer, 9, 1), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
	drop(files);
}

static void points(void **state)
{
	const struct files files = make();
	struct ctf_sync sync = { 9, 9, 9 };

	(void)state;
	assert_int_equal(ctf_sync_read(files.reader, &sync), -EINVAL);
	assert_int_equal(ctf_sync_alive(files.reader), 0);
	assert_int_equal(ctf_sync_begin(files.writer), 0);
	assert_int_equal(ctf_sync_alive(files.reader), 1);
	assert_int_equal(ctf_sync_read(files.reader, &sync), 0);
	assert_int_equal(sync.number, 0);
	assert_int_equal(
		ctf_sync_write(files.writer, &(struct ctf_sync){ 1, 0x0102030405060708, 3 }), 0);
	assert_int_equal(ctf_sync_read(files.reader, &sync), 0);
	assert_true(sync.number == 1 && sync.time == 0x0102030405060708 && sync.streams == 3);
	/* One that reads just now: this point is left out. */
	assert_int_equal(
		fcntl(files.reader, F_OFD_SETLK, &(struct flock){ .l_type = F_RDLCK, .l_len = 32 }),
		0);
	assert_int_equal(ctf_sync_write(files.writer, &(struct ctf_sync){ 2, 5, 3 }), -EAGAIN);
	assert_int_equal(
		fcntl(files.reader, F_OFD_SETLK, &(struct flock){ .l_type = F_UNLCK, .l_len = 32 }),
		0);
	assert_int_equal(pwrite(files.writer, "X", 1, 0), 1);
	assert_int_equal(ctf_sync_read(files.reader, &sync), -EINVAL);
	drop(files);
}

/* With a writer that was killed, its locks go. */
static void death(void **state)
{
	char path[] = "/tmp/kymo-lock-XXXXXX";
	const int reader = mkstemp(path);
	int pipes[2];
	char byte;
	pid_t child;

	(void)state;
	assert_true(reader >= 0);
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (!child) {
		const int writer = open(path, O_RDWR);

		(void)alarm(300);
		if (ctf_sync_begin(writer) == 0 && ctf_lock_all(writer, 40) == 0)
			(void)!write(pipes[1], "b", 1);
		(void)pause();
		_exit(0);
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	assert_int_equal(ctf_sync_alive(reader), 1);
	assert_int_equal(ctf_lock_test(reader, 40, 1), 0);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(ctf_sync_alive(reader), 0);
	assert_int_equal(ctf_lock_test(reader, 40, 1), 1);
	(void)close(reader);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
	(void)unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges),
		cmocka_unit_test(waiting),
		cmocka_unit_test(points),
		cmocka_unit_test(death),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
