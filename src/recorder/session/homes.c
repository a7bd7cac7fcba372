/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/session/homes.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/session/session_internal.h"

/*
 * The user whose processes are recorded must own the directory: any user can create one of that
 * name in /dev/shm. If it does not exist yet, it is created for that user, so that the user's
 * programs find the session when they start.
 */
static int open_other(struct rundir *dir, const struct session_user *user, struct kymo_err *err)
{
	struct stat st;

	if (rundir_open(dir, user->runtime_dir, user->known, err) < 0)
		return -1;
	if (dir->fd < 0)
		return err_set(err, KYMO_EXIT_FAILED, "there is no runtime directory %s", user->runtime_dir);
	if (dir->created && fchown(dir->fd, user->uid, user->gid) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot give %s to uid %u: %s", dir->path, (unsigned)user->uid,
			       strerror(errno));
	if (user->known && (fstat(dir->fd, &st) < 0 || st.st_uid != user->uid))
		return err_set(err, KYMO_EXIT_FAILED, "%s does not belong to uid %u, whose processes are to be recorded; remove "
			       "it", dir->path, (unsigned)user->uid);
	return 0;
}

static bool is_open(const struct session *session, const struct rundir *dir)
{
	struct stat one, other;

	for (unsigned i = 0; i < session->home_count; i++)
		if (fstat(dir->fd, &one) == 0 && fstat(session->home[i].dir.fd, &other) == 0 &&
		    one.st_ino == other.st_ino && one.st_dev == other.st_dev)
			return true;
	return false;
}

/* Return: 0: it is open, or was already; -1 with @err. */
static int open_home(struct session *session, const struct session_user *user, struct kymo_err *err)
{
	struct home *home = &session->home[session->home_count];
	int rc;

	home->dir.fd = home->domain.fd = -1;
	rc = user ? open_other(&home->dir, user, err)
		  : rundir_open(&home->dir, session->options.runtime_dir, true, err);
	if (rc == 0 && is_open(session, &home->dir)) {
		rundir_close(&home->dir);
		return 0;
	}
	session->home_count++;
	if (rc == 0 && session_has_domain(session))
		rc = domain_claim(&home->domain, &home->dir, err);
	return rc < 0 ? -1 : 0;
}

int homes_open(struct session *session, struct kymo_err *err)
{
	int rc = open_home(session, NULL, err);

	for (unsigned i = 0; rc == 0 && i < session->options.user_count; i++)
		rc = open_home(session, &session->options.users[i], err);
	return rc;
}

void homes_announce(struct session *session, uint64_t tag)
{
	for (unsigned i = 0; i < session->home_count; i++) {
		struct home *home = &session->home[i];

		if (session_has_domain(session))
			domain_announce(&home->domain, session->state, session->options.armed, tag,
					session->started_ns, session->output);
		home->generation = home->domain.page ? home->domain.generation :
				   (uint32_t)(session->started_ns >> 20) | 2;
	}
}

void homes_switch(struct session *session, enum kymo_state state)
{
	for (unsigned i = 0; i < session->home_count; i++) {
		domain_limit(&session->home[i].domain, &session->ros);
		domain_switch(&session->home[i].domain, state);
	}
}

bool homes_changed(struct session *session)
{
	bool changed = false;
	struct stat st;

	for (unsigned i = 0; i < session->home_count; i++) {
		struct home *home = &session->home[i];

		if (fstat(home->dir.fd, &st) < 0 || (st.st_mtim.tv_sec == home->changed.tv_sec &&
						     st.st_mtim.tv_nsec == home->changed.tv_nsec))
			continue;
		home->changed = st.st_mtim;
		changed = true;
	}
	return changed;
}

void homes_mend(struct session *session)
{
	for (unsigned i = 0; i < session->home_count; i++) {
		struct home *home = &session->home[i];
		struct kymo_err err;
		const int rc = domain_mend(&home->domain, &home->dir, &err);

		if (rc == 0 || home->torn)
			continue;
		home->torn = true;
		if (rc < 0)
			say_text(&session->drain.sayer,
				 "%s/domain was truncated by another process: %s", home->dir.path,
				 err.text);
		else
			say_text(&session->drain.sayer,
				 "%s/domain was truncated by another process, and written again; "
				 "programs that started meanwhile may lack their first events",
				 home->dir.path);
	}
}

void homes_release(struct session *session)
{
	for (unsigned i = 0; i < session->home_count; i++)
		domain_release(&session->home[i].domain);
}

void homes_close(struct session *session)
{
	for (unsigned i = 0; i < session->home_count; i++)
		rundir_close(&session->home[i].dir);
	session->home_count = 0;
}
