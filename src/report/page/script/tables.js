// SPDX-License-Identifier: Apache-2.0
// Pages of the tables of the report, and where the page comes from.

const table_titles = {
	executors: 'Executors', 'executor-view': 'Executors and their callback groups', waits: 'The worst waits',
	'callback-cpu': 'CPU of callbacks', 'node-cpu': 'CPU of nodes', 'process-cpu': 'CPU of processes', preemptions: 'What ran instead of a callback',
	realtime: 'What real-time code must not do, and did', 'node-costs': 'Allocations, lock waits and page faults of nodes', 'process-costs': 'The same of processes',
	hosts: 'How the clocks of the hosts compare', loss: 'Lost events', counters: 'Counters', instants: 'Instants', utilisation: 'Utilisation',
	'service-calls': 'Calls, seen from the service or the client', lifecycle: 'Lifecycle', communications: 'Publishers and subscriptions',
};

function report_column(key, rows) {
	const title = (key === 'ns' ? 'time' : key.replace(/_ns$/, '')).replaceAll('_', ' '), number = rows.some(row => typeof row[key] === 'number');
	if (/(^|_)ns$/.test(key) && number && rows.every(row => !(Math.abs(row[key]) > 1e17)))
		return ns_column(key, title, row => row[key]);
	if (number)
		return { key, title, number: true, value: row => row[key], cell: row => el('td', { class: 'n', 'data-v': row[key] },
			row[key] === null ? '–' : /(^|_)[pt]id$/.test(key) ? String(row[key]) : key === 'percent' ? percent_text(row[key] / 100) : row[key] % 1 ? row[key].toPrecision(4) : count_text(row[key])) };
	const is_word = rows.every(row => String(row[key] ?? '').length <= 14);
	return { key, title, value: row => row[key], cell: row => is_word ? el('td', { class: 'word' }, visible(String(row[key] ?? ''))) : el('td', { class: 'namecell' }, name_of(String(row[key] ?? ''), 70)) };
}

// Addresses, and times since 1970, are for programs.
function report_table(name) {
	const rows = D.tables[name];
	if (!Array.isArray(rows) || !rows.length)
		return null;
	const is_told = rows.every(row => String(row.process ?? '').endsWith('(' + row.pid + ')'));
	const keys = Object.keys(rows[0]).filter(key => !(key === 'pid' && is_told) && rows.some(row => row[key] !== null && row[key] !== '' && row[key] !== 0) &&
		!rows.some(row => typeof row[key] === 'string' && /^0x[0-9a-f]+$/.test(row[key])) && !(/(^|_)ns$/.test(key) && rows.some(row => Math.abs(row[key]) > 1e17)) && !/exact|deviation/.test(key));
	// Of very many columns, those that say the least.
	const shown = keys.length > 16 ? keys.filter(key => !/_(min_ns|mean_ns|p99_ns|count)$/.test(key)) : keys;
	return table(shown.map(key => report_column(key, rows)), rows, { most: 40, label: table_titles[name] || name });
}

function table_panels(names) {
	return names.map(name => {
		const shown = report_table(name);
		return shown && panel(table_titles[name] || name, copy_button('copy as kymo report', command('report', '--section ' + name)), shown);
	}).filter(Boolean);
}

function tables_page(title, text, names, none) {
	const panels = table_panels(names);
	return [banner(), panels.length ? null : panel(el('h2', {}, title), null, empty(none)), panels.length ? panel(el('h2', {}, title), null, el('p', { class: 'dim' }, text)) : null, ...panels];
}

function about_page() {
	const p = D.provenance, words = { host: 'host', cpu: 'CPU', cpus: 'CPUs', governor: 'governor', kernel: 'kernel', os: 'system', rmw: 'RMW', kymo: 'recorded by kymo', made_by: 'page made by', command: 'page made with', rules: 'recorded only', snapshot: 'snapshot', clock: 'clock of the simulation' };
	const began = new Date(Number(BigInt(D.origin_ns) / 1000000n));
	return [banner(), panel(el('h2', {}, 'Where this page comes from'), null, el('dl', {},
			el('dt', {}, 'trace'), el('dd', {}, p.traces.map(name => el('code', {}, name_of(name, 300)))),
			D.events ? [el('dt', {}, 'began'), el('dd', {}, began.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' }))] : null,
			el('dt', {}, 'events'), el('dd', {}, count_text(D.events) + ', lost ' + count_text(D.lost_events) + (D.lost_packets ? ' and ' + count_text(D.lost_packets) + ' packets' : '') + (D.damaged ? ', damaged in ' + D.damaged + ' places' : '')),
			Object.keys(words).filter(key => p[key]).map(key => [el('dt', {}, words[key]), el('dd', {}, key === 'command' ? el('code', {}, p[key]) : name_of(p[key], 400))]))),
		panel('Processes', null, table([name_column('process', process => process.name), { key: 'pid', title: 'pid', number: true, value: process => process.pid, cell: process => String(process.pid) },
			{ key: 'host', title: 'host', value: process => process.host || '', cell: process => name_of(process.host || '', 40) }, { key: 'rmw', title: 'RMW', value: process => process.rmw || '', cell: process => process.rmw || '' },
			{ key: 'tracetools', title: 'tracetools', value: process => process.tracetools || '', cell: process => [process.tracetools || '', ' ', process.distribution || ''] },
			count_column('events', 'ROS 2 events', process => process.events)].filter(column => p.processes.some(process => column.value(process))), p.processes, { most: 60, sort: 'events', label: 'processes' })),
		...table_panels(['loss', 'hosts']),
		D.is_summary ? null : panel('Commands', null, el('p', { class: 'dim' }, 'What this page shows, in a terminal:'), el('p', {}, [command('report', '--all'), command('why', ''), command('flow', ''), command('open', '')].map(text =>
			el('span', {}, el('code', {}, text), ' ', copy_button('copy', text), el('br')))))];
}
