/* SPDX-License-Identifier: Apache-2.0 */
/* Who may replace a file that `kymo attach` loads: modes and owners of the file, of the directories
 * of its path, and of those to which symbolic links lead. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/attach_trust.h"

#define OTHER 12345

static char root[] = "/tmp/kymo-trust.XXXXXX", where[PATH_MAX];

static void make_directory(const char *path, mode_t mode)
{
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void make_file(const char *path, mode_t mode)
{
	const int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	(void)close(fd);
}

/* The root directory of a process:  opt/lib/its.so, open/its.so (others may write there), tmp/ (sticky), links. */
static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(root) || chdir(root) || chmod(root, 0755))
		return -1;
	make_directory("opt", 0755);
	make_directory("opt/lib", 0755);
	make_directory("open", 0777);
	make_directory("tmp", 01777);
	make_file("opt/lib/its.so", 0644);
	make_file("opt/lib/others.so", 0666);
	make_file("opt/lib/group.so", 0664);
	make_file("open/its.so", 0644);
	make_file("tmp/its.so", 0644);
	return symlink("/opt/lib", "link") || symlink("../../open", "opt/lib/away") || symlink("/open/its.so", "opt/lib/there.so") ||
	       symlink("loop", "loop") || symlink("/link/its.so", "tmp/two.so");
}

static int teardown(void **state)
{
	static const char *const files[] = { "opt/lib/its.so", "opt/lib/others.so", "opt/lib/group.so", "open/its.so", "tmp/its.so", "link",
					     "opt/lib/away", "opt/lib/there.so", "loop", "tmp/two.so" },
				 *const directories[] = { "opt/lib", "opt", "open", "tmp", "." };

	(void)state;
	for (unsigned i = 0; i < sizeof(files) / sizeof(*files); i++)
		(void)unlink(files[i]);
	for (unsigned i = 0; i + 1 < sizeof(directories) / sizeof(*directories); i++)
		(void)rmdir(directories[i]);
	return rmdir(root);
}

static enum trust_verdict verdict(const char *path)
{
	const struct trust trust = { root, { geteuid(), geteuid() } };

	*where = 0;
	return trust_file(&trust, path, where);
}

static void test_modes(void **state)
{
	(void)state;
	assert_int_equal(verdict("/opt/lib/its.so"), TRUST_OURS);
	assert_int_equal(verdict("/opt/./lib/../lib//its.so"), TRUST_OURS);
	assert_int_equal(verdict("/../../opt/lib/its.so"), TRUST_OURS);
	assert_int_equal(verdict("/tmp/its.so"), TRUST_OURS);
	assert_int_equal(verdict("/opt/lib/group.so"), TRUST_OURS);	/* the group has the number of the owner */
	assert_int_equal(verdict("/opt/lib/others.so"), TRUST_OTHERS);
	assert_string_equal(where, "/opt/lib/others.so");
	assert_int_equal(verdict("/open/its.so"), TRUST_OTHERS);
	assert_string_equal(where, "/open");
	assert_int_equal(chmod(root, 0777), 0);
	assert_int_equal(verdict("/opt/lib/its.so"), TRUST_OTHERS);
	assert_string_equal(where, "/");
	assert_int_equal(chmod(root, 0755), 0);
}

static void test_links(void **state)
{
	(void)state;
	assert_int_equal(verdict("/link/its.so"), TRUST_OURS);
	assert_int_equal(verdict("/tmp/two.so"), TRUST_OURS);
	assert_int_equal(verdict("/opt/lib/there.so"), TRUST_OTHERS);
	assert_string_equal(where, "/open");
	assert_int_equal(verdict("/link/away/its.so"), TRUST_OTHERS);
	assert_string_equal(where, "/open");
}

static void test_errors(void **state)
{
	static char path[2 * PATH_MAX];

	(void)state;
	assert_int_equal(verdict("/opt/lib/none.so"), TRUST_NONE);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(verdict("/opt/lib/its.so/none"), TRUST_NONE);
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(verdict("/loop/its.so"), TRUST_NONE);
	assert_int_equal(errno, ELOOP);
	memset(path, 'a', sizeof(path) - 1);
	*path = '/';
	assert_int_equal(verdict(path), TRUST_NONE);
	assert_int_equal(errno, ENAMETOOLONG);
	path[PATH_MAX - 2] = 0;
	assert_int_equal(verdict(path), TRUST_NONE);
	assert_int_equal(errno, ENAMETOOLONG);
}

static void test_owners(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("skipped in part: not root, so there is no other owner\n");
		return;
	}
	assert_int_equal(chown("opt/lib/its.so", OTHER, 0), 0);
	assert_int_equal(verdict("/opt/lib/its.so"), TRUST_OTHERS);
	assert_string_equal(where, "/opt/lib/its.so");
	assert_int_equal(chown("opt/lib/its.so", 0, OTHER), 0);
	assert_int_equal(verdict("/opt/lib/its.so"), TRUST_OURS);
	assert_int_equal(chmod("opt/lib/its.so", 0664), 0);
	assert_int_equal(verdict("/opt/lib/its.so"), TRUST_OTHERS);
	assert_int_equal(chown("opt", OTHER, 0), 0);
	assert_int_equal(verdict("/link/its.so"), TRUST_OTHERS);
	assert_string_equal(where, "/opt");
	assert_int_equal(chown("opt", 0, 0) | chown("opt/lib/its.so", 0, 0), 0);
	/* Whoever owns a link in a directory with the sticky bit may let it lead elsewhere. */
	assert_int_equal(lchown("tmp/two.so", OTHER, 0), 0);
	assert_int_equal(verdict("/tmp/two.so"), TRUST_OTHERS);
	assert_string_equal(where, "/tmp/two.so");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_owners),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
