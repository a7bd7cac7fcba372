// SPDX-License-Identifier: Apache-2.0
// Timers, loops and spans.

function timers_table(timers) {
	return table([name_column('timer', timer => timer.label, address), ns_column('period', 'period', timer => timer.period_ns), count_column('runs', 'starts', timer => timer.runs || 0),
		...latency_columns(timer => timer.wait), count_column('late', 'half a period late', timer => timer.late || 0), count_column('overrun', 'a period late', timer => timer.overrun || 0, null, true),
		range_column(timers, timer => timer.wait), { key: 'clock', title: '', value: timer => timer.other_clock ? 1 : 0, cell: timer => timer.other_clock ? 'of a simulation’s clock' : '' }],
		timers, { most: 200, sort: 'max', go: address, label: 'timers', note: steady_note(timers, timer => timer.wait) });
}

function timers_page() {
	const timers = of_kind('timer');
	return [banner(), panel(el('h2', {}, 'Timers'), null, timers.length ? [el('p', { class: 'dim' }, 'How late each start was: from when the timer was due. Is the period kept?'), timers_table(timers)] : empty('No timer ran in the trace.'))];
}

function timer_page(entity) {
	const series = entity.series || {}, callback = (byName.get('callback\n' + entity.name) || []).find(other => other.of === entity.of);
	const from = 'callback_waits WHERE ' + of_callback(entity) + inside('until_ns');
	return [panel(el('h2', {}, name_of(entity.label, 300)), entity.ask ? copy_button('copy as kymo why', command('why', shell(entity.ask))) : null,
			el('p', { class: 'crumbs' }, 'period ' + ns_text(entity.period_ns), callback ? [' · ', el('a', { href: address(callback) }, 'its callback')] : '', entity.other_clock ? ' · it follows the clock of a simulation, so it is not judged' : ''),
			numbers([['starts', count_text(entity.runs || 0), entity.runs || 0], entity.wait ? ['usually late by', ns_text(entity.wait.p50), entity.wait.p50] : null, entity.wait ? ['p99', ns_text(entity.wait.p99), entity.wait.p99] : null,
				entity.wait ? ['worst', ns_text(entity.wait.max), entity.wait.max] : null, steady_number(entity.wait), ['half a period late', count_text(entity.late || 0), entity.late || 0], ['a period late', count_text(entity.overrun || 0), entity.overrun || 0]])),
		el('div', { class: 'cols' }, entity.wait && panel('', null, dist_chart('How late it began', entity.wait, query_button(bins_sql('wait_ns', from)), undefined, limit_of(entity, 'late'))),
			entity.period && panel('', null, dist_chart('From start to start', entity.period)),
			series.late && panel('', null, over_time('How late it began', series.late, 'starts', null))), ...summary_panels(entity)];
}

function spans_table(spans, most) {
	const of = span => span.kind === 'loop' ? span.latency : span.duration;
	return table([name_column('name', span => span.label, address), { key: 'kind', title: 'is', value: span => span.kind, cell: span => span.kind === 'loop' ? 'a loop: how late it woke' : 'a span: how long' },
		count_column('runs', 'count', span => span.runs || 0), ...latency_columns(of), count_column('missed', 'missed', span => span.missed || 0, 'deadlines', true),
		{ key: 'of', title: 'process', value: process_of, cell: span => name_of(process_of(span), 30) }, range_column(spans, of)],
		spans, { most, sort: 'max', go: address, label: 'loops and spans' });
}

function spans_page() {
	const all = of_kind('loop').concat(of_kind('span'));
	return [banner(), panel(el('h2', {}, 'Loops and spans'), null, all.length ? spans_table(all, 200) : empty('The trace has no loops and spans; programs emit them with kymo.h.')),
		...table_panels(['counters', 'instants'])];
}

function span_page(entity) {
	const series = entity.series || {}, [category, ...rest] = entity.name.split(':'), name = rest.join(':');
	const where = 'category = ' + sql_text(category) + ' AND name = ' + sql_text(name) + process_sql(entity) + inside('begin_ns'), is_loop = entity.kind === 'loop';
	const d = is_loop ? entity.latency : entity.duration;
	return [panel(el('h2', {}, name_of(entity.label, 300)), entity.ask ? copy_button('copy as kymo why', command('why', shell(entity.ask))) : null,
			el('p', { class: 'crumbs' }, (is_loop ? 'a loop' : 'a span') + (entity.of ? ' of process ' + process_of(entity) : '')),
			numbers([[is_loop ? 'cycles' : 'spans', count_text(entity.runs || 0), entity.runs || 0], d ? ['usually', ns_text(d.p50), d.p50] : null, d ? ['p99', ns_text(d.p99), d.p99] : null, d ? ['worst', ns_text(d.max), d.max] : null,
				is_loop ? ['deadlines missed', count_text(entity.missed || 0), entity.missed || 0] : null, entity.overrun ? ['ended in the next cycle', count_text(entity.overrun)] : null, entity.unfinished ? ['unfinished', count_text(entity.unfinished)] : null])),
		el('div', { class: 'cols' }, is_loop && entity.latency && panel('', null, dist_chart('How late it woke', entity.latency, query_button(bins_sql('latency_ns', 'loop_cycles WHERE ' + where)), undefined, limit_of(entity, 'wake-up'))),
			entity.duration && panel('', null, dist_chart(is_loop ? 'How long a cycle took' : 'How long it took', entity.duration,
				query_button(is_loop ? bins_sql('busy_ns', 'loop_cycles WHERE ' + where + ' AND busy_ns IS NOT NULL') : bins_sql('duration_ns', 'spans WHERE ' + where + ' AND duration_ns IS NOT NULL')), undefined, limit_of(entity, 'duration'))),
			is_loop && entity.period && panel('', null, dist_chart('From due to due', entity.period)),
			series.spans && panel('', null, over_time('How long it took', series.spans, 'spans', query_button(columns_sql('duration_ns', 'begin_ns', 'spans WHERE ' + where + ' AND duration_ns IS NOT NULL', series.spans))))), ...summary_panels(entity)];
}
