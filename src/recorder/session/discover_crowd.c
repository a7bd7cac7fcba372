/* SPDX-License-Identifier: Apache-2.0 */
/* Are there descriptors left for the region of one more process? */
#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"
#include "ctf/write/writer.h"
#include "recorder/session/session_internal.h"

void session_crowd(struct session *session)
{
	session->crowded = true;
	if (session->told_crowded || session->ending)
		return;
	session->told_crowded = true;
	say_text(
		&session->drain.sayer,
		"too many open files: some processes are recorded only when others have ended; raise "
		"the limit on open files (ulimit -n)");
}

static bool has_few_descriptors(const struct session *session)
{
	const int fd = fcntl(session->home[0].dir.fd, F_DUPFD_CLOEXEC, 0);
	const bool few = fd < 0 || fds_exceed(fd, 7);

	if (fd >= 0)
		(void)close(fd);
	return few;
}

bool session_is_crowded(const struct session *session)
{
	bool others = false, few;

	for (unsigned i = 0; i < session->process_count && !others; i++)
		others = !session->process[i]->finished;
	if (!others || session->ending)
		return false;
	do
		few = has_few_descriptors(session);
	while (few && ctf_writer_yield());
	return few;
}
