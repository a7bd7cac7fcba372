// SPDX-License-Identifier: Apache-2.0
// Executors: who held whom. Around the worst waits of an executor, what its threads ran, as a time line.

function executor_of(entity) {
	return D.executors.find(executor => executor.entity === entity.index);
}

function wait_blocked(wait) {
	return wait.parts.filter(part => part.kind === 'queued').reduce((sum, part) => sum + part.ns, 0);
}

// "/costmap timer 96 ms and 2 more"
function wait_by(wait) {
	const parts = wait.parts.filter(part => part.kind === 'queued').sort((a, b) => b.ns - a.ns);
	return parts.length ? parts[0].callback + (parts.length > 1 ? ' and ' + (parts.length - 1) + ' more' : '') : '';
}

// What a run is to the wait.
function run_role(wait, run) {
	return is_own(wait, run) ? 'waited' : is_culprit(wait, run) ? 'held it up' : '';
}

// The runs as words: what the picture has, for those who cannot see it, and to be sorted.
function wait_runs_table(wait) {
	return table([{ key: 'thread', title: 'thread', value: run => thread_text(run[0]), cell: run => el('td', { class: 'namecell' }, name_of(thread_text(run[0]), 40)) },
		name_column('callback', run => entities[run[1]] ? entities[run[1]].label : 'a callback', run => entities[run[1]] ? address(entities[run[1]]) : '#/callbacks'),
		{ key: 'began', title: 'began', number: true, value: run => run[2], cell: run => el('td', { class: 'n' }, at_text(run[2])) },
		ns_column('ns', 'ran', run => run[3]), { key: 'role', title: '', value: run => run_role(wait, run), cell: run => run_role(wait, run) }],
		wait.runs, { most: 8, sort: 'ns', label: 'runs around this wait' });
}

function wait_sql(wait) {
	const threads = wait.rows.map(index => D.threads[index]).filter(Boolean).map(thread => '(' + thread.pid + ', ' + thread.tid + ')');
	return 'SELECT tid, callback, start_ns, duration_ns FROM callback_instances WHERE depth = 0 AND (pid, tid) IN (VALUES ' + threads.join(', ') + ') AND start_ns < ' + epoch(wait.to) +
		' AND end_ns > ' + epoch(wait.from) + (wait.shortest ? ' AND duration_ns >= ' + wait.shortest : '') + ' ORDER BY start_ns';
}

function wait_legend(wait) {
	return el('p', { class: 'legend' }, [['run', 'the run that waited'], ['wait', 'what it waited for'], ['idle', 'other runs of this executor']].map(([kind, words]) => el('span', {}, el('i', { class: 'bg-' + kind }), words)),
		el('span', {}, el('i', { class: 'line-wait' }), 'ready to run'), wait.preempted && el('span', {}, el('i', { class: 'bg-preempted' }), 'could run, another thread had the CPU'),
		wait.shortest && el('span', {}, 'runs below ' + ns_text(wait.shortest) + ' are left out'));
}

function wait_panel(entity, wait, rank, is_part) {
	const victim = entities[wait.entity], words = [ns_text(wait_blocked(wait)), el('span', { class: 'dim' }, ' at ' + at_text(wait.begin))];
	return panel(is_part ? el('h3', {}, el('a', { href: address(entity, rank) }, rank === 1 ? 'The worst wait' : 'No. ' + rank), ' ', words) : el('h2', {}, words),
		[query_button(wait_sql(wait)), copy_button('open in Perfetto here', command('open', '--at ' + at_text(wait.begin).replace(' ', '')), 'copies the command that opens Perfetto at this wait')],
		el('p', {}, entity_link(victim, 200), ' waited ' + ns_text(wait_blocked(wait)) + ' for ', name_of(wait_by(wait), 200), '.'),
		figure('', null, instance_chart(wait, 'Threads of this executor around the wait; the table below has the runs'), wait_legend(wait)), wait_runs_table(wait));
}

function executors_table(executors) {
	return table([name_column('executor', entity => entity.label, address), { key: 'threads', title: 'threads', number: true, value: entity => executor_of(entity) ? executor_of(entity).threads.length : 0,
			cell: entity => executor_of(entity) && executor_of(entity).threads.length ? String(executor_of(entity).threads.length) : '–' },
		count_column('runs', 'runs', entity => entity.runs || 0), share_column('busy', 'busy', entity => (entity.run_ns || 0) / total_ns()), count_column('waited', 'runs that waited', entity => entity.waited || 0),
		ns_column('waited_ns', 'waited in all', entity => entity.waited_ns || 0),
		ns_column('worst', 'worst wait', entity => Math.max(0, ...(executor_of(entity) || { waits: [] }).waits.map(wait_blocked)) || null)],
		executors, { most: 60, sort: 'waited_ns', go: address, label: 'executors' });
}

// Rows waited, columns were waited for.
function matrix(of) {
	const victims = of_kind('callback').filter(entity => entity.culprits && (!of || of.includes(entity))).sort((a, b) => (b.waited_ns || 0) - (a.waited_ns || 0)).slice(0, 24);
	const sums = new Map();
	victims.forEach(entity => entity.culprits.forEach(culprit => {
		const by = culprit_name(entity, culprit);
		sums.set(by, (sums.get(by) || 0) + culprit.ns);
	}));
	const culprits = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 12).map(([by]) => by);
	if (!victims.length)
		return panel('Who held whom', null, empty('No callback that was ready had to wait for another one.'));
	const most = Math.max(...victims.flatMap(entity => entity.culprits.map(culprit => culprit.ns)));
	const cell = (entity, by) => {
		const all = entity.culprits.filter(culprit => culprit_name(entity, culprit) === by), ns = all.reduce((sum, culprit) => sum + culprit.ns, 0);
		return ns ? el('td', { class: 'n', style: 'background:rgba(var(--heat),' + (0.06 + 0.4 * Math.sqrt(ns / most)).toFixed(3) + ')', 'data-v': ns,
				       'data-tip': entity.label + ' waited ' + ns_text(ns) + ' in all, ' + count_text(all.reduce((sum, culprit) => sum + culprit.count, 0)) + ' times, for ' + by }, ns_text(ns))
			: el('td', { class: 'n dim' }, '·');
	};
	return panel('Who held whom', query_button('SELECT callback, by_callback, held, count(*) AS count, sum(ns) AS ns, max(ns) AS worst_ns FROM blocked_by GROUP BY callback_id, by_callback_id, held ORDER BY ns DESC'),
		el('p', { class: 'dim small' }, 'Rows waited; columns were waited for. Times are sums. They include runs while the message was still on its way, which time lines leave out.'),
		el('div', { class: 'scroll' }, el('table', { class: culprits.length > 8 ? 'many' : null }, el('thead', { class: 'wrapped' }, el('tr', {}, el('th', { scope: 'col' }, 'waited'), culprits.map(by => el('th', { class: 'n', scope: 'col' }, name_of(by, 60))))),
			el('tbody', {}, victims.map(entity => el('tr', {}, el('th', { scope: 'row' }, entity_link(entity, 60)), culprits.map(by => cell(entity, by))))))));
}

// The worst wait of each executor, most waiting first; the others have their own pages.
function executors_page() {
	const executors = of_kind('executor', true), waited = executors.filter(entity => executor_of(entity) && executor_of(entity).waits.length).sort((a, b) => (b.waited_ns || 0) - (a.waited_ns || 0));
	return [banner(), panel(el('h2', {}, 'Executors'), null, executors.length ? [el('p', { class: 'dim' }, 'An executor is one thread, or several threads that share callbacks. Who held whom?'), executors_table(executors)]
			: empty('No executor ran a callback in the trace.')),
		waited.slice(0, 4).map(entity => [el('h3', { class: 'over' }, entity_link(entity, 200)), wait_panel(entity, executor_of(entity).waits[0], 1, true)]),
		matrix(), ...table_panels(['executors', 'waits', 'executor-view', 'utilisation'])];
}

function executor_page(entity) {
	const executor = executor_of(entity) || { threads: [], callbacks: [], waits: [] };
	const callbacks = [...new Set(executor.callbacks)].map(index => entities[index]).filter(other => other && !other.startup);
	return [panel(el('h2', {}, name_of(entity.label, 300)), null,
			executor.threads.length ? el('p', { class: 'crumbs' }, executor.threads.map((thread, i) => [i ? ', ' : '', name_of(thread_text(thread), 60)])) : null,
			numbers([['runs', count_text(entity.runs || 0), entity.runs || 0], ['busy', percent_text((entity.run_ns || 0) / total_ns())],
				['runs that waited', count_text(entity.waited || 0), entity.waited || 0], ['waited in all', ns_text(entity.waited_ns || 0), entity.waited_ns || 0]])),
		executor.waits.length ? executor.waits.map((wait, i) => wait_panel(entity, wait, i + 1, true)) : panel('', null, empty(D.is_summary ? 'A summary has no single waits.' : 'No callback of it had to wait for another one, or only at its start.')),
		D.is_summary || !callbacks.length ? null : matrix(callbacks), callbacks.length ? panel('Its callbacks', null, callbacks_table(callbacks, 40)) : null];
}

function executor_instance(entity, rank) {
	const waits = (executor_of(entity) || { waits: [] }).waits, wait = waits[rank - 1];
	if (!wait)
		return [panel('Not in the page', null, empty('The page has the ' + waits.length + ' worst waits of this executor.'))];
	return [el('p', { class: 'crumbs' }, entity_link(entity, 200), ' · No. ' + rank + ' of its ' + waits.length + ' worst waits ',
			rank > 1 && el('a', { href: address(entity, rank - 1), rel: 'prev' }, '← the one before'), rank > 1 ? ' · ' : ' ',
			rank < waits.length && el('a', { href: address(entity, rank + 1), rel: 'next' }, 'next →')), wait_panel(entity, wait, rank)];
}
