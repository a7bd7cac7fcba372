// SPDX-License-Identifier: Apache-2.0
// Callbacks: the table, and one of them.

function busy(callback) {
	return callback.duration ? callback.duration.sum / total_ns() : 0;
}

function callbacks_table(callbacks, most, is_short) {
	const columns = [name_column('callback', callback => callback.label, address), count_column('runs', 'runs', callback => callback.runs || 0),
		...latency_columns(callback => callback.duration), share_column('busy', 'busy', busy)];
	if (!is_short)
		columns.push(ns_column('waited', 'waited in all', callback => callback.waited_ns || 0, 'for other callbacks'),
			count_column('unfinished', 'unfinished', callback => callback.unfinished || 0, 'runs without an end in the trace', true),
			{ key: 'of', title: 'process', value: process_of, cell: callback => name_of(process_of(callback), 30) },
			...spark_column(callbacks), range_column(callbacks, callback => callback.duration));
	return table(columns, callbacks, { most, sort: 'max', go: address, label: 'callbacks', note: steady_note(callbacks, callback => callback.duration) });
}

function callbacks_page() {
	const callbacks = of_kind('callback'), hidden = of_kind('callback', true).length - callbacks.length;
	return [banner(), panel(el('h2', {}, 'Callbacks'), callbacks.length ? query_button('SELECT callback, count(*) AS runs, max(duration_ns) AS max_ns, sum(duration_ns) AS sum_ns ' +
		'FROM callback_instances GROUP BY callback_id ORDER BY max_ns DESC') : null,
		callbacks.length ? [el('p', { class: 'dim' }, 'Who burns time, and who waits?'), callbacks_table(callbacks, 200)] : empty('No callback ran in the trace.'),
		hidden ? el('p', { class: 'dim small' }, hidden + ' callbacks of the start of nodes are not listed; search finds their topics.') : null)];
}

function of_callback(entity) {
	return 'callback = ' + sql_text(entity.name) + process_sql(entity);
}

// Of several entities of one name, the processes of this one.
function process_sql(entity) {
	const are = (entity.processes || []).map(index => D.provenance.processes[index]).map(process =>
		'name = ' + sql_text(process.name) + ' AND pid = ' + process.pid + (process.host ? ' AND host = ' + sql_text(process.host) : ''));
	if ((byName.get(entity.kind + '\n' + entity.name) || []).length < 2)
		return '';
	return ' AND process_id IN (SELECT id FROM processes WHERE ' + (are.join(' OR ') || 'name = ' + sql_text(entity.of || '')) + ')';
}

function columns_sql(column, time, from, series) {
	return 'SELECT (' + time + ' - ' + epoch(series.origin) + ') / ' + series.width + ' AS column, count(*) AS count, min(' + column +
		') AS min_ns, max(' + column + ') AS max_ns FROM ' + from + ' GROUP BY 1 ORDER BY 1';
}

// Nanoseconds since 1970 of a time in the page: more digits than numbers have.
function epoch(ns) {
	return String(BigInt(D.origin_ns) + BigInt(Math.round(ns)));
}

function culprits_table(entity) {
	if (!entity.culprits)
		return empty('No run of it waited for another callback.');
	return table([name_column('waited for', culprit => culprit_name(entity, culprit), culprit => {
			const by = culprit_of(entity, culprit);
			return by ? address(by) : null;
		}),
		{ key: 'held', title: 'which held', value: culprit => culprit.group ? 'its callback group' : 'its executor',
		  cell: culprit => (culprit.group ? 'its callback group' : 'its executor') + (culprit.assumed ? ' (assumed)' : '') },
		count_column('count', 'times', culprit => culprit.count), ns_column('ns', 'in all', culprit => culprit.ns),
		ns_column('worst', 'worst', culprit => culprit.worst)], entity.culprits, { sort: 'ns', label: 'waited for' });
}

function culprit_name(entity, culprit) {
	return (culprit_of(entity, culprit) || { label: culprit.by }).label;
}

// Who waited for it.
function victims(entity) {
	return of_kind('callback', true).flatMap(other => (other.culprits || []).filter(culprit => culprit.by === entity.name && culprit_of(other, culprit) === entity)
		.map(culprit => ({ other, culprit })));
}

function victims_table(entity) {
	const rows = victims(entity);
	return rows.length ? table([name_column('callback', row => row.other.label, row => address(row.other)), count_column('count', 'times', row => row.culprit.count),
		ns_column('ns', 'in all', row => row.culprit.ns), ns_column('worst', 'worst', row => row.culprit.worst)], rows, { sort: 'ns', label: 'waited for it' }) : null;
}

function callback_page(entity) {
	const from = 'callback_instances WHERE ' + of_callback(entity) + inside('start_ns'), series = entity.series || {};
	const timer = (byName.get('timer\n' + entity.name) || []).find(other => other.of === entity.of);
	const chains = of_kind('chain').filter(chain => chain.chain && chain.chain.steps.some(step => step.entity === entity.index));
	const waiting = victims_table(entity);
	return [panel(el('h2', {}, name_of(entity.label, 300)), entity.ask ? copy_button('copy as kymo why', command('why', shell(entity.ask))) : null,
			el('p', { class: 'crumbs' }, entity.of ? 'process ' + process_of(entity) : '', entity.symbol ? [' · ', el('code', {}, shortened(entity.symbol, 200))] : '',
				timer ? [' · ', el('a', { href: address(timer) }, 'as a timer')] : ''),
			numbers([['runs', count_text(entity.runs || 0), entity.runs || 0], entity.duration ? ['usually', ns_text(entity.duration.p50), entity.duration.p50] : null,
				entity.duration ? ['p99', ns_text(entity.duration.p99), entity.duration.p99] : null, entity.duration ? ['worst', ns_text(entity.duration.max), entity.duration.max] : null, steady_number(entity.duration),
				['busy', percent_text(busy(entity))], entity.waited ? ['runs that waited', count_text(entity.waited)] : null,
				entity.waited_ns ? ['waited in all', ns_text(entity.waited_ns), entity.waited_ns] : null, entity.unfinished ? ['unfinished', count_text(entity.unfinished)] : null])),
		el('div', { class: 'cols' },
			panel('', null, dist_chart('How long it ran', entity.duration, query_button(bins_sql('duration_ns', from)), undefined, budget_of(entity))),
			series.runs && panel('', null, over_time('How long it ran', series.runs, 'runs', entity.parts === 1 ? query_button(columns_sql('duration_ns', 'start_ns', from, series.runs)) : null))),
		entity.instance ? instance_panel(entity, entity.instance, true) : null,
		cpu_panel(entity),
		el('div', { class: 'cols' },
			entity.latency && panel('', null, dist_chart(entity.period_ns ? 'From when it was due until it returned' : 'From the publish call until it returned', entity.latency)),
			panel('What it waited for', null, culprits_table(entity)), waiting && panel('What waited for it', null, waiting),
			chains.length ? panel('Chains through it', null, chains_table(chains, 10, true)) : null), ...summary_panels(entity)];
}

// With the kernel's events: of all its time, how much it had a CPU, was preempted, and so on.
function cpu_panel(entity) {
	const of = (D.tables['callback-cpu'] || []).find(other => other.node + ' ' + (other.kind === 'timer' ? 'timer ' : '') + other.source === entity.name &&
		(!entity.processes || entity.processes.some(index => D.provenance.processes[index].pid === other.pid)));
	if (!of)
		return null;
	const parts = [['cpu_ns', 'run', 'on a CPU'], ['preempted_ns', 'preempted', 'preempted'], ['waiting_ns', 'wait', 'waiting for a CPU'], ['blocked_ns', 'kept', 'blocked'], ['unknown_ns', 'idle', 'not known']]
		.map(([key, kind, words]) => ({ kind, words, ns: of[key] || 0 })).filter(part => part.ns > 0), all = parts.reduce((sum, part) => sum + part.ns, 0) || 1;
	const chart = picture(30, 'Where the time of its runs went: ' + parts.map(part => part.words + ' ' + percent_text(part.ns / all)).join(', '), width => {
		let left = 0;
		return [patterns(), parts.map(part => {
			const wide = Math.max(1, part.ns / all * width);
			left += wide;
			return svg('rect', { x: left - wide, y: 4, width: wide, height: 22, fill: part.kind === 'wait' ? 'url(#hatch)' : part.kind === 'preempted' ? 'url(#cut)' : 'var(--' + part.kind + ')', 'data-tip': part.words + ' ' + ns_text(part.ns) + ' (' + percent_text(part.ns / all) + ')' });
		})];
	});
	return panel('Where the time of its runs went', copy_button('copy as kymo report', command('report', '--section callback-cpu')), figure('', null, chart,
		el('p', { class: 'legend' }, parts.map(part => el('span', {}, el('i', { class: 'bg-' + part.kind }), part.words + ' ' + ns_text(part.ns) + ' (' + percent_text(part.ns / all) + ')')))));
}

function callback_instance(entity) {
	return [el('p', { class: 'crumbs' }, entity_link(entity, 200), ' · the worst run'),
		entity.instance ? instance_panel(entity, entity.instance) : panel('Not in the page', null, empty('The page has no picture of this run; kymo why has it.'))];
}
