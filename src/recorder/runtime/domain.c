/* SPDX-License-Identifier: Apache-2.0 */
/* Claiming, announcing and inspecting the domain page. */
#include "recorder/runtime/domain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/shared_map.h"
#include "recorder/runtime/alive.h"
#include "recorder/runtime/claim.h"
#include "recorder/runtime/counts_left.h"

static const char domain_name[] = "domain";

static int domain_check(int fd, const struct rundir *dir, struct kymo_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot read %s/%s: %s", dir->path, domain_name, strerror(errno));
	if (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && geteuid() != 0))
		return err_set(err, KYMO_EXIT_FAILED, "%s/%s is not a file of yours; remove it or set "
			       "KYMO_DIR to another directory", dir->path, domain_name);
	if (geteuid() == 0 &&
	    st.st_nlink > 1) /* in another user's directory it may be a link to any file */
		return err_set(err, KYMO_EXIT_FAILED, "%s/%s has a second hard link; remove it", dir->path, domain_name);
	return 0;
}

static int busy(int fd, const struct rundir *dir, struct kymo_err *err)
{
	struct kymo_domain page = { 0 };

	if (pread(fd, &page, sizeof page, 0) != sizeof page)
		page.trace_path[0] = 0;
	page.trace_path[sizeof page.trace_path - 1] = 0;
	return err_set(err, KYMO_EXIT_FAILED, "%s is being recorded already by process %u, into %s%s; end "
		       "that session (kymo stop), or set KYMO_DIR to another directory for this session and "
		       "its programs", dir->path, page.recorder_pid,
		       page.trace_path[0] ? page.trace_path : "a trace that it is still creating",
		       page.state == KYMO_STATE_PREPARE ? ", and is paused (\"kymo resume\" continues it)" : "");
}

/* The page is allocated before it is mapped: a file with a hole on a full tmpfs means SIGBUS for
 * the first who writes to it. */
static struct kymo_domain *map_page(int fd, const struct rundir *dir, struct kymo_err *err)
{
	struct kymo_domain *page;
	int rc;

	do
		rc = posix_fallocate(fd, 0, KYMO_PAGE);
	while (rc == EINTR);
	if (rc) {
		(void)err_set(err, KYMO_EXIT_FAILED, "cannot allocate a page for %s/%s: %s; %s",
			      dir->path, domain_name, strerror(rc),
			      rc == EFBIG ? "raise the limit on file sizes (ulimit -f)"
					  : "free space on that file system, or set KYMO_DIR to a "
					    "directory on another "
					    "one, for the traced programs too");
		return NULL;
	}
	page = shared_map(fd, KYMO_PAGE, true);
	if (!page)
		(void)err_set(err, KYMO_EXIT_FAILED, "cannot map %s/%s: %s", dir->path, domain_name,
			      strerror(errno));
	return page;
}

int domain_claim(struct domain *domain, const struct rundir *dir, struct kymo_err *err)
{
	struct stat owner;
	struct kymo_domain *page;
	int fd, rc;

	fd = openat(dir->fd, domain_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot open %s/%s: %s", dir->path, domain_name,
			       strerror(errno));
	if (domain_check(fd, dir, err) < 0)
		goto fail;
	rc = claim(fd);
	if (rc == -EAGAIN)
		(void)busy(fd, dir, err);
	else if (rc < 0)
		(void)err_set(err, KYMO_EXIT_FAILED, "cannot lock %s/%s: %s", dir->path, domain_name, strerror(-rc));
	if (rc < 0)
		goto fail;
	/* Recording for another user, as root: their processes must be able to read the page. */
	if (geteuid() == 0 && fstat(dir->fd, &owner) == 0 && owner.st_uid != 0 &&
	    fchown(fd, owner.st_uid, owner.st_gid) < 0) {
		(void)err_set(err, KYMO_EXIT_FAILED, "cannot give %s/%s to uid %u: %s", dir->path,
			      domain_name, (unsigned)owner.st_uid, strerror(errno));
		goto fail;
	}
	page = map_page(fd, dir, err);
	if (!page)
		goto fail;
	/* While ours is being created, no process must join the session of a dead recorder, or
	 * mistake it for ours. */
	__atomic_store_n(&page->state, KYMO_STATE_WAIT, __ATOMIC_SEQ_CST);
	__atomic_store_n(&page->recorder_pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
	page->recorder_pid_ns = alive_own_pid_ns();
	(void)counts_left_end(dir); /* also of programs that this recorder does not select */
	*domain = (struct domain){ .fd = fd, .page = page, .kept = { .state = KYMO_STATE_WAIT } };
	domain->kept.recorder_pid = (uint32_t)getpid();
	domain->kept.recorder_pid_ns = page->recorder_pid_ns;
	return 0;
fail:
	claim_release(fd);
	(void)close(fd);
	return -1;
}

/* Copies all of the session but its state. Readers with the old generation see nothing of it. */
static void publish(const struct domain *domain)
{
	const struct kymo_domain *kept = &domain->kept;
	struct kymo_domain *page = domain->page;
	uint32_t odd = __atomic_load_n(&page->generation, __ATOMIC_RELAXED) | 1;

	__atomic_store_n(&page->generation, odd, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	page->abi_version = kept->abi_version;
	page->recorder_pid = kept->recorder_pid;
	page->recorder_pid_ns = kept->recorder_pid_ns;
	page->session_tag = kept->session_tag;
	page->armed = kept->armed;
	memcpy(page->ros_domains, kept->ros_domains, sizeof page->ros_domains);
	page->started_ns = kept->started_ns;
	memcpy(page->trace_path, kept->trace_path, sizeof page->trace_path);
	page->magic = KYMO_DOMAIN_MAGIC;
	__atomic_store_n(&page->generation, domain->generation, __ATOMIC_RELEASE);
	__atomic_store_n(&page->state, kept->state, __ATOMIC_RELEASE);
}

void domain_announce(struct domain *domain, enum kymo_state state, bool armed, uint64_t tag,
		     uint64_t started_ns, const char *trace_path)
{
	const uint32_t odd = __atomic_load_n(&domain->page->generation, __ATOMIC_RELAXED) | 1;
	struct kymo_domain *kept = &domain->kept;

	kept->abi_version = KYMO_ABI_VERSION;
	kept->session_tag = tag;
	kept->armed = armed;
	memset(kept->ros_domains, 0, sizeof kept->ros_domains);
	kept->started_ns = started_ns;
	memset(kept->trace_path, 0, sizeof kept->trace_path);
	(void)snprintf(kept->trace_path, sizeof kept->trace_path, "%s", trace_path);
	kept->state = state;
	domain->generation = odd + 1 ? odd + 1 : 2; /* 0: no session */
	publish(domain);
}

void domain_switch(struct domain *domain, enum kymo_state state)
{
	if (!domain->page)
		return;
	domain->kept.state = state;
	__atomic_store_n(&domain->page->state, state, __ATOMIC_RELEASE);
	if (state != KYMO_STATE_RECORD)
		return;
	domain->kept.armed = 0; /* after the state: in between, it must not look like a pause */
	__atomic_store_n(&domain->page->armed, 0, __ATOMIC_RELEASE);
}

void domain_limit(struct domain *domain, const struct ros_domains *ros)
{
	for (unsigned i = 0; domain->page && i < KYMO_ROS_WORDS; i++) {
		domain->kept.ros_domains[i] = ros->bits[i];
		__atomic_store_n(&domain->page->ros_domains[i], ros->bits[i], __ATOMIC_RELAXED);
	}
}

int domain_mend(struct domain *domain, const struct rundir *dir, struct kymo_err *err)
{
	struct kymo_domain *page;
	struct stat st;

	if (!domain->page || (!shared_map_is_torn(domain->page) && fstat(domain->fd, &st) == 0 &&
			      st.st_size >= KYMO_PAGE))
		return 0;
	page = map_page(domain->fd, dir, err);
	if (!page)
		return -1;
	shared_unmap(domain->page, KYMO_PAGE);
	domain->page = page;
	publish(domain);
	return 1;
}

void domain_release(struct domain *domain)
{
	if (!domain->page)
		return;
	shared_unmap(domain->page, KYMO_PAGE);
	claim_release(domain->fd);
	(void)close(domain->fd);
	domain->page = NULL;
	domain->fd = -1;
}

int domain_inspect(const struct rundir *dir, struct domain_info *info, struct kymo_err *err)
{
	struct kymo_domain page;
	int fd = openat(dir->fd, domain_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	int rc;

	*info = (struct domain_info){ 0 };
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot open %s/%s: %s", dir->path, domain_name,
			       strerror(errno));
	rc = domain_check(fd, dir, err);
	if (rc == 0 && claim_is_taken(fd) &&
	    pread(fd, &page, sizeof page, 0) == sizeof page && page.magic == KYMO_DOMAIN_MAGIC) {
		info->active = true;
		info->layout = page.abi_version;
		info->pid = (int)page.recorder_pid;
		info->elsewhere = page.recorder_pid_ns != alive_own_pid_ns();
		info->generation = page.generation;
		info->state = page.state;
		info->session_tag = page.session_tag;
		info->started_ns = page.started_ns;
		info->armed = page.armed && page.state == KYMO_STATE_PREPARE;
		memcpy(info->ros.bits, page.ros_domains, sizeof info->ros.bits);
		memcpy(info->trace_path, page.trace_path, sizeof info->trace_path);
		info->trace_path[sizeof info->trace_path - 1] = 0;
	}
	(void)close(fd);
	return rc;
}
