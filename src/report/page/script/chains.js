// SPDX-License-Identifier: Apache-2.0
// Chains: the table, one chain, and one of its worst arrivals.

const mostly_words = { run_ns: 'running', wait_ns: 'waiting', way_ns: 'transport', publish_ns: 'publishing', kept_ns: 'being kept', take_ns: 'taking', awaited_ns: 'awaiting' };

function mostly(chain) {
	let best = 'run_ns';
	for (const key in mostly_words)
		if ((chain[key] || 0) > (chain[best] || 0))
			best = key;
	return mostly_words[best];
}

// The worst of a distribution may be start-up, which findings and pictures leave out: then it has the worst after it, too.
function steady(distribution) {
	return distribution && distribution.steady;
}

function steady_number(distribution) {
	return steady(distribution) ? ['worst after start-up', ns_text(distribution.steady), distribution.steady] : null;
}

function steady_note(rows, of) {
	return rows.some(row => steady(of(row))) ? '* start-up: findings and the pictures of the worst leave it out' : null;
}

function worst_column(of, error) {
	const column = ns_column('max', 'worst', row => of(row) && of(row).max, null, error);
	return { ...column, cell: row => {
		const cell = column.cell(row);
		if (steady(of(row)))
			cell.prepend(el('abbr', { title: 'start-up; afterwards at most ' + ns_text(of(row).steady) }, '*'));
		return cell;
	} };
}

function latency_columns(of) {
	const error = row => row.error;
	return [ns_column('p50', 'usually', row => of(row) && of(row).p50, 'the median', error),
		ns_column('p99', 'p99', row => of(row) && of(row).p99, null, error), worst_column(of, error)];
}

function chains_table(chains, most, is_short) {
	const columns = [name_column('chain', chain => chain.label, address), count_column('runs', 'arrived', chain => chain.runs || 0),
		...latency_columns(chain => chain.latency), { key: 'mostly', title: 'mostly', value: mostly, cell: chain => mostly(chain) }];
	if (!is_short)
		columns.push(...spark_column(chains), range_column(chains, chain => chain.latency));
	return table(columns, chains, { most, sort: 'max', go: address, label: 'chains', note: steady_note(chains, chain => chain.latency) });
}

function chains_page() {
	const chains = of_kind('chain').filter(chain => chain.latency);
	return [banner(), panel(el('h2', {}, 'Chains'), chains.length ? copy_button('copy as kymo flow', command('flow', '')) : null,
		chains.length ? [el('p', { class: 'dim' }, 'A chain is the way of a message from callback to callback. Which reaction is late?'), chains_table(chains, 100)]
			: empty('No message of the trace led from one callback to another.'))];
}

function chain_steps(entity) {
	return el('p', { class: 'crumbs' }, entity.chain.steps.map((step, i) => [i ? (step.link ? ' ⇝ ' : ' → ') : '',
		entities[step.entity] ? el('a', { href: address(entities[step.entity]) }, name_of(step.name, 60)) : name_of(step.name, 60)]));
}

function segments_table(entity) {
	const chain = entity.chain, all = chain.segments.reduce((sum, segment) => sum + segment.sum, 0) || 1;
	return table([{ key: 'name', title: 'segment', value: segment => segment_name(chain, segment), cell: segment => el('td', { class: 'namecell' },
			el('i', { class: 'swatch bg-' + swatch_of(segment.what) }), name_of(segment_name(chain, segment), 70)) },
		ns_column('p50', 'usually', segment => segment.p50), ns_column('p99', 'p99', segment => segment.p99),
		ns_column('max', 'worst', segment => segment.max), share_column('share', 'of the time', segment => segment.sum / all)],
		chain.segments.filter(segment => segment.sum), { most: 40, label: 'segments' });
}

function chain_page(entity) {
	const instance = entity.instance;
	return [panel(el('h2', {}, name_of(entity.label, 300)), [chain_command(entity, 'flow'), chain_command(entity, 'why')],
			entity.chain ? chain_steps(entity) : null,
			numbers([['arrived', count_text(entity.runs || 0), entity.runs || 0], ['usually', within_text(entity.latency.p50, entity.error), entity.latency.p50],
				['p90', within_text(entity.latency.p90, entity.error), entity.latency.p90], ['p99', within_text(entity.latency.p99, entity.error), entity.latency.p99],
				['worst', within_text(entity.latency.max, entity.error), entity.latency.max], steady_number(entity.latency),
				entity.chain && entity.chain.error ? ['clocks may be wrong by', ns_text(entity.chain.error)] : null])),
		entity.chain ? el('div', { class: 'cols' }, panel('', null, dist_chart('Latency', entity.latency, chain_command(entity, 'flow'), entity.error, limit_of(entity, 'latency')), worst_over_time(entity)),
			panel('', null, segments_chart(entity), over_time('Latency, shortest to longest', (entity.series || {}).latency, 'arrivals', null))) : panel('', null, dist_chart('Latency', entity.latency)),
		instance ? instance_panel(entity, instance, true) : null,
		entity.chain ? panel('Segments', null, segments_table(entity)) : null, ...summary_panels(entity)];
}

// ---- of a summary: segments and the worst, in its words ----

function part_name(part) {
	return (part.who || '') + ', ' + (segment_words[part.what] || [0, part.what])[1] + (part.by ? (part.what === 'waited_for' ? ' for ' : ' to ') + part.by : '');
}

function part_column(title) {
	return { key: 'name', title, value: part_name, cell: part => el('td', { class: 'namecell' }, el('i', { class: 'swatch bg-' + swatch_of(part.what) }), name_of(part_name(part), 80)) };
}

function summary_segments(entity) {
	const all = entity.segments.reduce((sum, segment) => sum + segment.sum, 0) || 1;
	return table([part_column('segment'), ns_column('p50', 'usually', segment => segment.p50), ns_column('p90', 'p90', segment => segment.p90), ns_column('p99', 'p99', segment => segment.p99),
		share_column('share', 'of the time', segment => segment.sum / all)], entity.segments, { most: 40, label: 'segments' });
}

function summary_panels(entity) {
	if (!D.is_summary)
		return [];
	return [entity.segments ? panel('Where the time went', null, summary_segments(entity)) : null,
		entity.worst && entity.worst.length ? el('div', { class: 'cols' }, entity.worst.map((one, i) => panel((i ? 'No. ' + (i + 1) : 'The worst' + after_startup(entity)) + ': ' + ns_text(one.ns) + ' at ' + at_text(one.begin), null,
			one.parts.length ? table([part_column('part'), ns_column('ns', 'time', part => part.ns), ns_column('usual', 'usually', part => part.usual)], one.parts, { label: 'parts of No. ' + (i + 1) }) : empty('Its parts are not known.')))) : null];
}

// One of the worst arrivals: with its threads if it is the worst of all, else part by part.
function chain_instance(entity, rank) {
	const chain = entity.chain, arrival = chain && chain.worst[rank - 1];
	if (!arrival)
		return [panel('Not in the page', null, empty('The page has the ' + (chain ? chain.worst.length : 0) + ' worst arrivals of this chain.'))];
	const walk = el('p', { class: 'crumbs' }, entity_link(entity, 200), ' · No. ' + rank + ' of the ' + chain.worst.length + ' worst' + after_startup(entity) + ' ',
		rank > 1 && el('a', { href: address(entity, rank - 1), rel: 'prev' }, '← the one before'), rank > 1 ? ' · ' : ' ',
		rank < chain.worst.length && el('a', { href: address(entity, rank + 1), rel: 'next' }, 'next →'));
	if (rank === 1 && entity.instance && entity.instance.begin === arrival[0])
		return [walk, instance_panel(entity, entity.instance)];
	let since = 0;
	const rows = chain.segments.map((segment, i) => {
		since += arrival[3 + i];
		return { segment, ns: arrival[3 + i], kind: segment.what, begin: since - arrival[3 + i] };
	}).filter(row => row.ns > 0);
	return [walk, panel(el('h2', {}, ns_text(arrival[1]), el('span', { class: 'dim' }, ' at ' + at_text(arrival[0]))),
		[copy_button('copy as kymo why', 'kymo why ' + D.operand + ' --message ' + arrival[2]),
		 copy_button('open in Perfetto here', command('open', '--at ' + at_text(arrival[0]).replace(' ', '')))],
		table([{ key: 'name', title: 'segment', value: row => segment_name(chain, row.segment), cell: row => el('td', { class: 'namecell' },
				el('i', { class: 'swatch bg-' + swatch_of(row.segment.what) }), name_of(segment_name(chain, row.segment), 80)) },
			ns_column('ns', 'time', row => row.ns), ns_column('p50', 'usually', row => row.segment.p50),
			ns_column('more', 'above', row => Math.max(0, row.ns - row.segment.p50)),
			{ key: 'when', title: 'when', value: row => row.begin, cell: row => part_bar({ begin: 0, ns: arrival[1] }, row) }], rows, { most: 60, label: 'segments of this arrival' }))];
}
