// SPDX-License-Identifier: Apache-2.0
// The views of a trace's page, and their order.

const sections = [
	['', 'Overview', overview, () => null], ['chains', 'Chains', chains_page, () => of_kind('chain').length],
	['graph', 'Graph', () => [banner(), graph_panel(el('h2', {}, 'Graph'))], () => D.graph.nodes.length],
	['topics', 'Topics', topics_page, () => of_kind('topic').length], ['callbacks', 'Callbacks', callbacks_page, () => of_kind('callback').length],
	['timers', 'Timers', timers_page, () => of_kind('timer').length], ['spans', 'Loops and spans', spans_page, () => of_kind('loop').length + of_kind('span').length],
	['flame', 'Flame graph', () => flame_page({}), () => (D.flames || []).length ? null : 0],
	['executors', 'Executors', executors_page, () => (byKind.executor || []).length],
	['cpus', 'CPUs', cpus_page, () => D.cpus || (D.tables['callback-cpu'] || []).length ? null : 0],
	['realtime', 'Real time', () => tables_page('Real time', 'What a loop must not do: allocate, wait for a lock, have a page fault.', ['realtime', 'node-costs', 'process-costs'],
		'The trace has no allocations, lock waits or page faults; record with --malloc or --kernel to see them.'),
		() => (D.tables['node-costs'] || []).length + (D.tables.realtime || []).length],
	['services', 'Services', services_page, () => (byKind.service || []).length + (D.tables['service-calls'] || []).length ? (byKind.service || []).length || null : 0],
	['actions', 'Actions', actions_page, () => (byKind.action || []).length],
	['about', 'Provenance', about_page, () => null],
];

const hidden_views = { findings: findings_page, flame: flame_page };
const entity_pages = { chain: chain_page, callback: callback_page, topic: topic_page, timer: timer_page, loop: span_page, span: span_page, executor: executor_page, service: service_page, action: action_page };
const instance_pages = { chain: chain_instance, executor: executor_instance, service: call_instance, action: goal_instance };
const home = { chain: 'chains', callback: 'callbacks', topic: 'topics', timer: 'timers', loop: 'spans', span: 'spans', executor: 'executors', service: 'services', action: 'actions', findings: '' };

function entity_view(entity, rank) {
	if (rank)
		return (instance_pages[entity.kind] || callback_instance)(entity, rank);
	const [head, ...rest] = entity_pages[entity.kind](entity);
	return [head, entity_budgets(entity), ...rest];
}

function page_name() {
	return D.name || D.trace;
}

function page_facts() {
	return [[ns_text(total_ns() > 1 ? total_ns() : 0), count_text(D.events) + ' events', D.incomplete ? null : 'none lost'].filter(Boolean).join(' · '),
		D.incomplete ? [' · ', el('span', { class: 'bad' }, 'incomplete')] : null];
}

begin();
