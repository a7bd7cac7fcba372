/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/record/record_users.h"

#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"

/* @text is a name, or a number that need not be in the list of users. */
static int find_user(const char *text, struct session_user *user, struct kymo_err *err)
{
	const struct passwd *entry = getpwnam(text);
	uint64_t number = 0;

	if (!entry && (!text_read_u64(text, &number) || number >= UINT_MAX))
		return err_set(err, KYMO_EXIT_USAGE, "unknown user '%s'; write the user's name, number, or the path of the user's "
			       "runtime directory", text);
	if (!entry)
		entry = getpwuid((uid_t)number);
	user->known = true;
	user->uid = entry ? entry->pw_uid : (uid_t)number;
	user->gid = entry ? entry->pw_gid : (gid_t)number;
	return 0;
}

int record_users(const struct opt_list *users, struct session_options *session,
		 struct kymo_err *err)
{
	static char path[SESSION_USERS_MAX][32];

	if (users->count && geteuid() != 0)
		return err_set(err, KYMO_EXIT_USAGE, "--user requires root: other users can record their own processes only");
	if (users->count > SESSION_USERS_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "too many users: --user may be given %d times", SESSION_USERS_MAX);
	for (unsigned i = 0; i < users->count; i++) {
		struct session_user *user = &session->users[session->user_count++];

		*user = (struct session_user){ .runtime_dir = users->item[i] };
		if (*users->item[i] == '/')
			continue;
		if (find_user(users->item[i], user, err) < 0)
			return -1;
		(void)snprintf(path[i], sizeof path[i], "/dev/shm/kymo-%u", (unsigned)user->uid);
		user->runtime_dir = path[i];
	}
	return 0;
}
