/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's events of a trace, in a pass of their own: which thread ran on which CPU, which was
 * woken, interrupts. */
#include "export/perfetto/perfetto_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "analysis/system/system_calls.h"
#include "base/array.h"
#include "base/syscalls.h"

#include "analysis/sched/sched.h"

#define CPUS_MAX 4096u			/* of a host; a larger number is invalid */
#define MAX_RT_PRIO 100			/* LTTng subtracts it from a priority */
#define NAME_MAX_BYTES 64u

/* The rows of sched_bind() come first, with its fields first. */
enum {
	SWITCH,
	WAKING,
	WAKEUP_NEW,
	MIGRATE,
	EXIT,
	IRQ_ENTRY,
	IRQ_EXIT,
	SOFTIRQ_ENTRY,
	SOFTIRQ_EXIT,
	CALL,
	RETURN
};
enum { PREV_TID, NEXT_TID, PREV_STATE, NEXT_COMM, PREV_COMM, PREV_PRIO, NEXT_PRIO };
enum { TID, TARGET, PRIO, COMM };
enum { IRQ, RET_OR_NAME };
enum { CALLER, RET };

static const struct kymo_ctf_bind wanted[] = {
	[SWITCH] = { "sched_switch", { "prev_tid", "next_tid", "prev_state", "next_comm", "prev_comm", "prev_prio", "next_prio" } },
	[WAKING] = { "sched_waking", { "tid", "target_cpu", "prio", "comm" } },
	[WAKEUP_NEW] = { "sched_wakeup_new", { "tid", "target_cpu", "prio", "comm" } },
	[MIGRATE] = { "sched_migrate_task", { "tid", "dest_cpu" } },
	[EXIT] = { "sched_process_exit", { "tid" } },
	[IRQ_ENTRY] = { "irq_handler_entry", { "irq", "name" } },
	[IRQ_EXIT] = { "irq_handler_exit", { "irq", "ret" } },
	[SOFTIRQ_ENTRY] = { "irq_softirq_entry", { "vec" } },
	[SOFTIRQ_EXIT] = { "irq_softirq_exit", { "vec" } },
	[CALL] = { "syscall_entry_*", { "tid" } },
	[RETURN] = { "syscall_exit_*", { "tid", "ret" } },
};
#define WANTED (COUNT_OF(wanted))

struct kernel_tracks {
	struct exporter *exporter;
	struct sched *sched;  /* states of threads, as in the tables */
	struct map cpu;       /* (CPU, machine) -> struct pft_cpu */
	struct map of_stream; /* stream + 1 -> the same, for losses */
	struct map calling;   /* (tid, machine) -> number of the system call it is in, + 1 */
	int32_t *call;        /* by class: the number of its system call; -1: none */
	int32_t *machine;     /* by trace; -1: of a host of which nothing else is shown */
};

static bool has_kernel_events(const struct kymo_ctf_reader *reader)
{
	for (unsigned i = 0; i < kymo_ctf_class_count(reader); i++)
		for (unsigned j = 0; j < WANTED; j++)
			if (strcmp(kymo_ctf_class(reader, i)->name, wanted[j].event) == 0)
				return true;
	return false;
}

/* Threads of the kernel's events are on the machine of the processes of their host. */
static int32_t machine_of(const struct exporter *exporter, uint32_t trace)
{
	const char *host = kymo_ctf_trace(exporter->reader, trace)->hostname;
	const struct model_process *process;

	for (unsigned i = 0; (process = model_process(exporter->model, i)); i++)
		if (strcmp(process->hostname, host) == 0)
			return (int32_t)(exporter->options->machine + process->host);
	return model_process(exporter->model, 0) ? -1 : (int32_t)exporter->options->machine;
}

static struct pft_cpu *cpu_of(struct kernel_tracks *kernel, const struct kymo_ctf_event *event)
{
	const int32_t machine = kernel->machine[event->trace];
	struct pft_cpu *cpu;

	if (machine < 0 || event->cpu < 0 || (uint32_t)event->cpu >= CPUS_MAX)
		return NULL;
	cpu = map_get(&kernel->cpu, (uint32_t)event->cpu, (uint32_t)machine);
	if (cpu)
		return cpu;
	cpu = pft_cpu(kernel->exporter->pft, (uint32_t)machine, (uint32_t)event->cpu,
		      export_time(kernel->exporter, event->ns));
	if (!cpu || map_put(&kernel->cpu, (uint32_t)event->cpu, (uint32_t)machine, cpu) ||
	    map_put(&kernel->of_stream, event->stream + 1ull, 0, cpu)) {
		kernel->exporter->out_of_memory = true;
		(void)map_del(&kernel->cpu, (uint32_t)event->cpu, (uint32_t)machine);
		pft_cpu_close(cpu);
		return NULL;
	}
	return cpu;
}

static const char *text_of(const struct kymo_ctf_value *value, char *out, size_t room)
{
	size_t size = value->present && value->bytes ? strnlen(value->bytes, value->size) : 0;

	if (size > room - 1)
		size = room - 1;
	memcpy(out, size ? value->bytes : "", size);
	memset(out + size, 0, room - size);
	for (size_t i = 0; i < size; i++)		/* the format requires UTF-8 */
		if ((unsigned char)out[i] >= 0x80)
			out[i] = '?';
	return out;
}

static int32_t prio_of(const struct kymo_ctf_value *value)
{
	return value->present ? (int32_t)value->i + MAX_RT_PRIO : 0;
}

/* A thread that was woken while it was about to sleep is ready. Readers ignore a wake-up of a
 * running thread. */
static bool stays_ready(const struct kernel_tracks *kernel, const struct kymo_ctf_event *event)
{
	return sched_state_of(kernel->sched, sched_trace_host(kernel->sched, event->trace),
			      (int32_t)event->value[PREV_TID].i) == SCHED_WAITING;
}

static void on_switch(const struct kernel_tracks *kernel, struct pft_cpu *cpu,
		      const struct kymo_ctf_event *event, int64_t ns)
{
	const struct kymo_ctf_value *value = event->value;
	struct pft_switch change = {
		.ns = ns,
		.prev_tid = (int32_t)value[PREV_TID].i,
		.next_tid = (int32_t)value[NEXT_TID].i,
		.prev_prio = prio_of(&value[PREV_PRIO]),
		.next_prio = prio_of(&value[NEXT_PRIO]),
		.prev_state = value[PREV_STATE].present && !stays_ready(kernel, event)
				      ? value[PREV_STATE].i
				      : 0,
	};

	(void)text_of(&value[PREV_COMM], change.prev_name, PFT_COMM);
	(void)text_of(&value[NEXT_COMM], change.next_name, PFT_COMM);
	pft_cpu_switch(cpu, &change);
}

/*
 * A slice for each system call, on the track of its thread. The format has numbers of system calls,
 * so a name becomes this machine's number; a name without one is left out. A return without a call
 * is left out, too, and a call without a return ends where the next call begins.
 */
static void on_call(struct kernel_tracks *kernel, struct pft_cpu *cpu,
		    const struct kymo_ctf_event *event, int64_t ns)
{
	const uint32_t machine = (uint32_t)kernel->machine[event->trace];
	const int32_t tid =
		event->value[CALLER].present ? (int32_t)event->value[CALLER].i : event->vtid;
	const int32_t number = kernel->call[event->class->index];
	const uint32_t in =
		tid > 0 ? (uint32_t)(uintptr_t)map_get(&kernel->calling, (uint32_t)tid, machine)
			: 0;

	if (tid <= 0 || number < 0 || (event->bound == RETURN && in != (uint32_t)number + 1))
		return;
	if (in)
		pft_cpu_syscall(cpu, ns, tid, false, in - 1,
				event->value[RET].present ? event->value[RET].i : 0);
	if (event->bound == RETURN) {
		(void)map_del(&kernel->calling, (uint32_t)tid, machine);
		return;
	}
	pft_cpu_syscall(cpu, ns, tid, true, (uint32_t)number, 0);
	if (map_put(&kernel->calling, (uint32_t)tid, machine, (void *)((uintptr_t)number + 1)))
		kernel->exporter->out_of_memory = true;
}

static void put_event(struct kernel_tracks *kernel, const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *value = event->value;
	struct pft_cpu *cpu =
		event->bound == MIGRATE || event->bound == EXIT ? NULL : cpu_of(kernel, event);
	int64_t ns = export_time(kernel->exporter, event->ns);
	char text[NAME_MAX_BYTES];

	switch (event->bound) {
	case SWITCH:
		if (value[PREV_TID].present && value[NEXT_TID].present)
			on_switch(kernel, cpu, event, ns);
		break;
	case WAKING:
	case WAKEUP_NEW:
		if (value[TID].present)
			pft_cpu_waking(cpu, ns, (int32_t)value[TID].i,
				       text_of(&value[COMM], text, PFT_COMM), prio_of(&value[PRIO]),
				       value[TARGET].present ? (int32_t)value[TARGET].i
							     : event->cpu);
		break;
	case MIGRATE:
	case EXIT:
		break;		/* readers ignore them */
	case IRQ_ENTRY:
		pft_cpu_irq_entry(cpu, ns, (int32_t)value[IRQ].i,
				  text_of(&value[RET_OR_NAME], text, sizeof(text)));
		break;
	case IRQ_EXIT:
		pft_cpu_irq_exit(cpu, ns, (int32_t)value[IRQ].i, (int32_t)value[RET_OR_NAME].i);
		break;
	case CALL:
	case RETURN:
		if (cpu)
			on_call(kernel, cpu, event, ns);
		break;
	default:
		pft_cpu_softirq(cpu, ns, event->bound == SOFTIRQ_ENTRY, (uint32_t)value[IRQ].u);
	}
}

static int32_t number_of(const struct kymo_ctf_event_class *class)
{
	static const char *const prefixes[] = { "syscall_entry_", "syscall_exit_" };

	for (unsigned i = 0; i < 2; i++)
		if (strncmp(class->name, prefixes[i], strlen(prefixes[i])) == 0)
			return (int32_t)syscall_number(class->name + strlen(prefixes[i]));
	return -1;
}

static int find_calls(struct kernel_tracks *kernel)
{
	const struct kymo_ctf_reader *reader = kernel->exporter->reader;

	kernel->call = calloc(kymo_ctf_class_count(reader) + 1, sizeof(*kernel->call));
	for (unsigned i = 0; kernel->call && i < kymo_ctf_class_count(reader); i++)
		kernel->call[i] = number_of(kymo_ctf_class(reader, i));
	return kernel->call ? 0 : -1;
}

static int read_all(struct kernel_tracks *kernel, struct kymo_err *err)
{
	struct exporter *exporter = kernel->exporter;
	const bool calls = calls_are_there(exporter->reader);
	struct utsname here;
	struct kymo_ctf_event event;
	int more;

	(void)uname(&here);
	for (unsigned i = 0; i < kymo_ctf_trace_count(exporter->reader); i++) {
		const char *release = kymo_ctf_trace(exporter->reader, i)->kernel_release;

		kernel->machine[i] = machine_of(exporter, i);
		if (kernel->machine[i] >= 0 && *release)
			pft_kernel(exporter->pft, (uint32_t)kernel->machine[i], release,
				   calls ? here.machine : NULL);
	}
	if (kymo_ctf_bind(exporter->reader, wanted, WANTED, err))
		return -1;
	while ((more = kymo_ctf_next(exporter->reader, &event, err)) > 0) {
		if ((event.bound == KYMO_CTF_LOSS || (event.bound >= 0 && event.bound <= EXIT)) &&
		    sched_event(kernel->sched, &event, 0)) {
			exporter->out_of_memory = true;
			return 0;
		}
		if (event.bound == KYMO_CTF_LOSS)
			pft_cpu_loss(map_get(&kernel->of_stream, event.stream + 1ull, 0));
		else if (event.bound >= 0 && export_in_window(exporter, event.ns))
			put_event(kernel, &event);
		if (pft_failed(exporter->pft))
			return 0;		/* pft_close() tells */
	}
	return more;
}

int export_kernel(struct exporter *exporter, struct kymo_err *err)
{
	static const struct sched_listener nobody = { 0 };
	struct kernel_tracks kernel = { .exporter = exporter };
	const struct map_slot *slot;
	int rc;

	/* Chrome's JSON cannot express it, and a CPU's time means nothing on a simulation's
	 * clock. */
	if (exporter->options->chrome || exporter->options->simulation ||
	    !has_kernel_events(exporter->reader))
		return 0;
	kernel.machine = calloc(kymo_ctf_trace_count(exporter->reader), sizeof(*kernel.machine));
	if (!kernel.machine || find_calls(&kernel) ||
	    sched_create(&kernel.sched, exporter->reader, &nobody, NULL))
		exporter->out_of_memory = true;
	rc = exporter->out_of_memory ? -1 : read_all(&kernel, err);
	for (size_t at = 0; (slot = map_next(&kernel.cpu, &at));)
		pft_cpu_close(slot->value);
	map_free(&kernel.cpu);
	map_free(&kernel.of_stream);
	map_free(&kernel.calling);
	free(kernel.call);
	sched_destroy(kernel.sched);
	free(kernel.machine);
	return exporter->out_of_memory ? err_no_memory(err) : rc;
}
