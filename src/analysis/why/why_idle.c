/* SPDX-License-Identifier: Apache-2.0 */
/* Times in which an executor slept because no work was ready; see why_cpu.h. */

#include "analysis/why/why_cpu.h"
#include "analysis/why/why.h"

/* A shorter sleep may be a lock inside the middleware, while a message is ready. */
#define IDLE_MIN_NS 500000
/* Without kernel events: a shorter wait may be a thread that did not get the CPU. */
#define WAIT_MIN_NS 2000000

struct idle {
	const struct why_others *others;
	const struct model_thread *thread;
	int64_t until_ns;
};

static void on_spell(void *context, const struct why_spell *spell)
{
	struct idle *idle = context;

	if (spell->state == WHY_ASLEEP && spell->to_ns - spell->from_ns >= IDLE_MIN_NS &&
	    why_waits(idle->others, idle->thread, spell->from_ns, spell->to_ns))
		idle->until_ns = spell->to_ns;
}

int64_t why_idle_until(const struct why_others *others, const struct why_cpu *cpu,
		       const struct model_thread *thread, int64_t from_ns, int64_t to_ns)
{
	struct idle idle = { others, thread, from_ns };

	if (!cpu)
		return why_waited_until(others, thread, from_ns, to_ns, WAIT_MIN_NS);
	why_spells(cpu, thread, from_ns, to_ns, on_spell, &idle);
	return idle.until_ns;
}
