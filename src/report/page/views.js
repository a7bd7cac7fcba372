// SPDX-License-Identifier: Apache-2.0
// The pages: verdict first, then chains, one bad instance, graph, topics, callbacks ...

function missing(entity) {
	return (entity.never_received || 0) + (entity.overwritten || 0);
}

function total_ns() {
	return Math.max(1, (D.end || 0) - (D.begin || 0));
}

// The graph, drawn again when the filter changes.
function graph_panel(title) {
	const place = el('div', {});
	place.draw = () => {
		place.textContent = '';
		place.append(graph_chart());
	};
	tables_shown.add(place);
	place.draw();
	return panel(title, null, place);
}

// ---- verdict ----

function banner() {
	return [D.is_summary ? el('p', { class: 'dim' }, 'This page is of a summary, which has distributions and the worst of each, and no graph, no values over time and no single messages. Those are in the page of the trace: kymo report --html TRACE.') : null, losses()];
}

function losses() {
	if (!D.incomplete)
		return null;
	return el('div', { class: 'banner', role: 'alert' }, el('strong', {}, D.incomplete), ' ', D.doubt || '',
		D.unnamed ? ' Names are missing because the trace does not have the start of these programs.' : '',
		D.damaged ? ' The trace is damaged: `kymo info` lists the places.' : '');
}

function series_of(entity) {
	const all = entity && entity.series || {};
	return all.runs || all.latency || all.late || all.spans;
}

// Chains have no series of their own: the worst over time.
function finding_picture(entity) {
	const series = series_of(entity);
	if (series)
		return sparkline(series, 30);
	if (entity && entity.chain && entity.chain.worst.length > 2) {
		const worst = entity.chain.worst.slice().sort((a, b) => a[0] - b[0]);
		return sparkline({ origin: 0, width: total_ns() / 300, cells: worst.map(arrival => (
			{ at: Math.floor(arrival[0] / (total_ns() / 300)), max: arrival[1] })) }, 30);
	}
	return null;
}

function finding_card(finding, i) {
	const entity = entities[finding.entity];
	const text = !i && finding.cause ? entity.label + ': ' + finding.cause + '.' : finding.text;
	const see = entity && (entity.instance ? address(entity, 1) : address(entity));
	return el('li', { class: i ? 'finding' : 'finding first' }, el('span', { class: 'rank' }, i + 1),
		el('p', { class: 'text' }, name_of(text, 900)), finding_picture(entity),
		el('p', { class: 'facts' }, see && el('a', { href: see }, 'see it'),
			finding.at_text && el('span', {}, 'at ' + finding.at_text),
			finding.times > 1 && el('span', {}, count_text(finding.times) + ' times'),
			finding.command && copy_button('copy command', finding.command)));
}

function nothing() {
	if (D.why_empty && !(D.flames || []).length)
		return panel(el('h2', {}, 'Nothing to show'), null, el('p', {}, D.why_empty));
	const slowest = D.slowest && entities[D.slowest.entity], loop = of_kind('loop').filter(other => other.latency).sort((a, b) => b.latency.max - a.latency.max)[0];
	return panel(el('h2', { class: 'ok' }, 'Nothing stands out.'), null, slowest ? el('p', {}, 'Slowest reaction: ', entity_link(slowest, 200), ', ' +
		ns_text(D.slowest.worst) + ' at worst' + (slowest.latency ? ' (p99 ' + ns_text(slowest.latency.p99) + ').' : '.'))
		: loop ? el('p', {}, 'Latest wake-up: ', entity_link(loop, 200), ', ' + ns_text(loop.latency.max) + ' late at worst (p99 ' + ns_text(loop.latency.p99) + ').') : null);
}

function verdict() {
	const shown = D.findings.filter(finding => finding.kind !== 'trust' || !D.incomplete);
	if (!shown.length)
		return nothing();
	const few = shown.slice(0, 6);
	return el('section', { 'aria-label': 'findings' }, el('ol', { class: 'findings' }, few.map(finding_card)),
		shown.length > few.length && el('p', { class: 'more' }, el('a', { href: '#/findings' }, count_text(shown.length) + ' findings')));
}

// A snapshot of the flight recorder: what fired, and how long that took.
function fired() {
	const entity = D.fired && entities[D.fired.entity];
	if (!D.provenance.snapshot)
		return null;
	return panel(el('h3', {}, 'The flight recorder fired'), null, el('p', {}, D.provenance.snapshot),
		entity && el('p', {}, 'It was ', entity_link(entity, 200), ' ' + at_text(D.fired.begin) + ', which took ' + ns_text(D.fired.ns) + ': see below.'));
}

function facts() {
	const topics = of_kind('topic'), lost = topics.reduce((sum, topic) => sum + missing(topic), 0);
	return panel('', null, numbers([
		['traced', ns_text(D.end - D.begin || 0), D.end - D.begin || 0], ['events', count_text(D.events), D.events],
		['events lost', count_text(D.lost_events), D.lost_events],
		D.nodes ? ['nodes', count_text(D.nodes), D.nodes] : null,
		byKind.process ? ['processes', count_text(byKind.process.length)] : null,
		topics.length ? ['topics', count_text(topics.length)] : null,
		topics.length ? ['messages never received', count_text(lost), lost] : null,
		of_kind('timer').length ? ['timers a period late', count_text(of_kind('timer').filter(timer => timer.overrun && !timer.other_clock).length) + ' of ' + of_kind('timer').length] : null,
	]));
}

function findings_page() {
	return [banner(), D.findings.length ? el('ol', { class: 'findings' }, D.findings.map(finding_card)) : nothing()];
}

function overview() {
	const chains = of_kind('chain').filter(chain => chain.latency);
	const worst = D.fired ? entities[D.fired.entity] : D.findings.map(finding => entities[finding.entity]).find(entity => entity && entity.instance) ||
		entities[(D.instances[0] || {}).entity];
	const chain = chains.slice().sort((a, b) => b.latency.max - a.latency.max)[0];
	const loops = of_kind('loop').concat(of_kind('span'));
	return [banner(), fired(), verdict(), facts(),
		chains.length ? el('div', { class: 'split' },
			panel(el('h3', {}, el('a', { href: '#/chains' }, 'Chains')), null, chains_table(chains, 6, true),
				chain && chain.chain && worst_over_time(chain, 'When the worst of ' + arrows(shortened(chain.label, 60)) + ' were')),
			chain && panel(el('h3', {}, entity_link(chain, 120)), null, dist_chart('Latency', chain.latency, chain_command(chain, 'flow')),
				chain.chain && segments_chart(chain))) : null,
		worst && worst.instance ? instance_panel(worst, worst.instance, true) : null,
		D.graph.nodes.length && D.graph.nodes.length <= 40 ? graph_panel(el('h3', {}, el('a', { href: '#/graph' }, 'Graph'))) : null,
		loops.length && !of_kind('callback').length ? [panel(el('h3', {}, el('a', { href: '#/spans' }, 'Loops and spans')), null, spans_table(loops, 12)), flame_panel('spans', 0, true)] : null,
		of_kind('callback').length ? null : [flame_panel('functions', 0, true), flame_panel('samples', 0, true)],
		of_kind('callback').length ? el('div', { class: 'cols' },
			panel(el('h3', {}, el('a', { href: '#/callbacks' }, 'Callbacks')), null, callbacks_table(of_kind('callback'), 8, true)),
			panel(el('h3', {}, el('a', { href: '#/topics' }, 'Topics')), null, topics_table(of_kind('topic'), 8, true))) : null];
}

// ---- chains ----

const mostly_words = { run_ns: 'running', wait_ns: 'waiting', way_ns: 'transport', publish_ns: 'publishing', kept_ns: 'being kept', take_ns: 'taking' };

function mostly(chain) {
	let best = 'run_ns';
	for (const key in mostly_words)
		if ((chain[key] || 0) > (chain[best] || 0))
			best = key;
	return mostly_words[best];
}

function latency_columns(of) {
	const error = row => row.error;
	return [ns_column('p50', 'usually', row => of(row) && of(row).p50, 'the median', error),
		ns_column('p99', 'p99', row => of(row) && of(row).p99, null, error), ns_column('max', 'worst', row => of(row) && of(row).max, null, error)];
}

function chains_table(chains, most, is_short) {
	const columns = [name_column('chain', chain => chain.label, address), count_column('runs', 'arrived', chain => chain.runs || 0),
		...latency_columns(chain => chain.latency), { key: 'mostly', title: 'mostly', value: mostly, cell: chain => mostly(chain) }];
	if (!is_short)
		columns.push(range_column(chains, chain => chain.latency));
	return table(columns, chains, { most, sort: 'max', go: address, label: 'chains' });
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
				['worst', within_text(entity.latency.max, entity.error), entity.latency.max],
				entity.chain && entity.chain.error ? ['clocks may be wrong by', ns_text(entity.chain.error)] : null])),
		entity.chain ? el('div', { class: 'cols' }, panel('', null, dist_chart('Latency', entity.latency, chain_command(entity, 'flow'), entity.error), worst_over_time(entity)),
			panel('', null, segments_chart(entity))) : panel('', null, dist_chart('Latency', entity.latency)),
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
		entity.worst && entity.worst.length ? el('div', { class: 'cols' }, entity.worst.map((one, i) => panel((i ? 'No. ' + (i + 1) : 'The worst') + ': ' + ns_text(one.ns) + ' at ' + at_text(one.begin), null,
			one.parts.length ? table([part_column('part'), ns_column('ns', 'time', part => part.ns), ns_column('usual', 'usually', part => part.usual)], one.parts, { label: 'parts of No. ' + (i + 1) }) : empty('Its parts are not known.')))) : null];
}

// One of the worst arrivals: with its threads if it is the worst of all, else part by part.
function chain_instance(entity, rank) {
	const chain = entity.chain, arrival = chain && chain.worst[rank - 1];
	if (!arrival)
		return [panel('Not in the page', null, empty('The page has the ' + (chain ? chain.worst.length : 0) + ' worst arrivals of this chain.'))];
	const walk = el('p', { class: 'crumbs' }, entity_link(entity, 200), ' · No. ' + rank + ' of the ' + chain.worst.length + ' worst ',
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

// ---- callbacks ----

function busy(callback) {
	return callback.duration ? callback.duration.sum / total_ns() : 0;
}

function callbacks_table(callbacks, most, is_short) {
	const columns = [name_column('callback', callback => callback.label, address), count_column('runs', 'runs', callback => callback.runs || 0),
		...latency_columns(callback => callback.duration), share_column('busy', 'busy', busy)];
	if (!is_short)
		columns.push(ns_column('waited', 'waited in all', callback => callback.waited_ns || 0, 'for other callbacks'),
			count_column('unfinished', 'unfinished', callback => callback.unfinished || 0, 'runs without an end in the trace', true),
			{ key: 'of', title: 'process', value: callback => callback.of || '', cell: callback => name_of(callback.of || '', 30) },
			range_column(callbacks, callback => callback.duration));
	return table(columns, callbacks, { most, sort: 'max', go: address, label: 'callbacks' });
}

function callbacks_page() {
	const callbacks = of_kind('callback'), hidden = of_kind('callback', true).length - callbacks.length;
	return [banner(), panel(el('h2', {}, 'Callbacks'), callbacks.length ? query_button('SELECT callback, count(*) AS runs, max(duration_ns) AS max_ns, sum(duration_ns) AS sum_ns ' +
		'FROM callback_instances GROUP BY callback_id ORDER BY max_ns DESC') : null,
		callbacks.length ? [el('p', { class: 'dim' }, 'Who burns time, and who waits?'), callbacks_table(callbacks, 200)] : empty('No callback ran in the trace.'),
		hidden ? el('p', { class: 'dim small' }, hidden + ' callbacks of the start of nodes are not listed; search finds their topics.') : null)];
}

function of_callback(entity) {
	const twins = (byName.get(entity.kind + '\n' + entity.name) || []).length > 1;
	return 'callback = ' + sql_text(entity.name) +
		(twins ? ' AND process_id IN (SELECT id FROM processes WHERE name = ' + sql_text(entity.of || '') + ')' : '');
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
	return table([name_column('waited for', culprit => culprit.by, culprit => {
			const by = (byName.get('callback\n' + culprit.by) || [])[0];
			return by ? address(by) : null;
		}),
		{ key: 'held', title: 'which held', value: culprit => culprit.group ? 'its callback group' : 'its executor',
		  cell: culprit => (culprit.group ? 'its callback group' : 'its executor') + (culprit.assumed ? ' (assumed)' : '') },
		count_column('count', 'times', culprit => culprit.count), ns_column('ns', 'in all', culprit => culprit.ns),
		ns_column('worst', 'worst', culprit => culprit.worst)], entity.culprits, { sort: 'ns', label: 'waited for' });
}

// Who waited for it.
function victims(entity) {
	return of_kind('callback', true).flatMap(other => (other.culprits || []).filter(culprit => culprit.by === entity.name)
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
			el('p', { class: 'crumbs' }, entity.of ? 'process ' + entity.of : '', entity.symbol ? [' · ', el('code', {}, shortened(entity.symbol, 200))] : '',
				timer ? [' · ', el('a', { href: address(timer) }, 'as a timer')] : ''),
			numbers([['runs', count_text(entity.runs || 0), entity.runs || 0], entity.duration ? ['usually', ns_text(entity.duration.p50), entity.duration.p50] : null,
				entity.duration ? ['p99', ns_text(entity.duration.p99), entity.duration.p99] : null, entity.duration ? ['worst', ns_text(entity.duration.max), entity.duration.max] : null,
				['busy', percent_text(busy(entity))], entity.waited ? ['runs that waited', count_text(entity.waited)] : null,
				entity.waited_ns ? ['waited in all', ns_text(entity.waited_ns), entity.waited_ns] : null, entity.unfinished ? ['unfinished', count_text(entity.unfinished)] : null])),
		el('div', { class: 'cols' },
			panel('', null, dist_chart('How long it ran', entity.duration, query_button(bins_sql('duration_ns', from)))),
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
	const of = (D.tables['callback-cpu'] || []).find(other => other.node + ' ' + (other.kind === 'timer' ? 'timer ' : '') + other.source === entity.name);
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

// ---- topics ----

function topics_table(topics, most, is_short) {
	const columns = [name_column('topic', topic => topic.name, address), count_column('published', 'published', topic => topic.published || 0),
		...(is_short ? [] : [{ key: 'rate', title: 'Hz', number: true, value: graph_rate, cell: topic => graph_rate(topic) ? graph_rate(topic).toPrecision(4) : '–' }]),
		...latency_columns(topic => topic.latency), count_column('lost', 'never received', missing, 'on the way, or in a queue', true)];
	if (!is_short)
		columns.push(count_column('not_yet', 'before the first', topic => topic.not_yet || 0, 'before the subscription had received anything'),
			range_column(topics, topic => topic.latency));
	return table(columns, topics, { most, sort: is_short ? 'max' : 'max', go: address, label: 'topics' });
}

function topics_page() {
	const topics = of_kind('topic');
	return [banner(), panel(el('h2', {}, 'Topics'), topics.length ? query_button("SELECT topic_name, count(*) AS messages, max(latency_ns) AS max_ns FROM messages WHERE outcome = 'callback' GROUP BY topic_id ORDER BY max_ns DESC") : null,
		topics.length ? [el('p', { class: 'dim' }, 'Latency is from the publish call to the start of the callback. Who is slow, who loses messages?'), topics_table(topics, 200)]
			: empty('The trace has no topics.'))];
}

const loss_words = [['never_sent', 'the publish call sent nothing'], ['never_received', 'on the way, or in the queue of the subscription'],
	['not_yet', 'before the subscription had received its first one'], ['overwritten', 'replaced by a newer one in a queue within the process'],
	['cleared', 'such a queue was emptied']];

function loss_table(topic) {
	const parts = of_kind('subscription', true).filter(other => other.of === topic.name), rows = [];
	for (const entity of parts.length ? parts : [topic])
		for (const [key, words] of loss_words)
			if (entity[key])
				rows.push({ entity, words, count: entity[key] });
	return rows.length ? table([name_column('subscription', row => row.entity.label), { key: 'why', title: 'lost', value: row => row.words, cell: row => row.words },
		count_column('count', 'messages', row => row.count)], rows, { sort: 'count', label: 'lost messages' }) : empty('Every message was received.');
}

function topic_page(entity) {
	const from = "messages WHERE topic_name = " + sql_text(entity.name) + ' AND latency_ns IS NOT NULL' + inside('publish_ns'), series = entity.series || {};
	const ends = key => [...new Set(D.graph[key].filter(end => end[0] === entity.index).map(end => D.graph.nodes[end[1]].name))];
	return [panel(el('h2', {}, name_of(entity.name, 300)), null,
			D.is_summary ? null : el('p', { class: 'crumbs' }, ends('publishers').map((name, i) => [i ? ', ' : '', name_of(name, 60)]), ' → ', ends('subscriptions').map((name, i) => [i ? ', ' : '', name_of(name, 60)])),
			numbers([['published', count_text(entity.published || 0), entity.published || 0], entity.rate_hz ? ['Hz', entity.rate_hz.toPrecision(4)] : null,
				['received', count_text(entity.received || 0), entity.received || 0], ['never received', count_text(missing(entity)), missing(entity)],
				entity.latency ? ['usually', within_text(entity.latency.p50, entity.error), entity.latency.p50] : null, entity.latency ? ['p99', within_text(entity.latency.p99, entity.error), entity.latency.p99] : null,
				entity.latency ? ['worst', within_text(entity.latency.max, entity.error), entity.latency.max] : null,
				entity.error ? ['clocks may be wrong by', ns_text(entity.error)] : null])),
		entity.latency ? el('div', { class: 'cols' }, entity.heat && panel('', null, heat_chart('Latency over time', entity.heat, query_button(heat_sql(from)))),
			panel('', null, dist_chart('Latency', entity.latency, query_button(bins_sql('latency_ns', from)), entity.error))) : panel('', null, empty('No callback received a message of this topic.')),
		el('div', { class: 'cols' }, entity.gap && panel('', null, dist_chart('From one publication to the next', entity.gap, query_button(bins_sql('gap_ns', gaps_sql(entity))))),
			panel('Lost messages', null, loss_table(entity)),
			series.lost && panel('', null, lost_over_time(series.lost)),
			entity.latency && series.latency && panel('', null, over_time('Latency, shortest to longest', series.latency, 'messages', query_button(columns_sql('latency_ns', 'publish_ns', from, series.latency)))))];
}

// A call that publishes on two paths has two rows.
function gaps_sql(entity) {
	return '(SELECT publish_ns - lag(publish_ns) OVER (ORDER BY publish_ns) AS gap_ns FROM (SELECT DISTINCT publication_id, publish_ns FROM publications WHERE topic_name = ' +
		sql_text(entity.name) + inside('publish_ns') + ')) WHERE gap_ns IS NOT NULL';
}

function heat_sql(from) {
	const power = 'CAST(log2(latency_ns) AS INT)';
	return 'SELECT (publish_ns - ' + epoch(D.columns.origin) + ') / ' + D.columns.width * D.columns.heat_joined + ' AS column, 2 * ' + power + ' + (2 * latency_ns >= 3 << ' + power +
		') AS row, count(*) AS count FROM ' + from + ' GROUP BY 1, 2 ORDER BY 1, 2';
}

function lost_over_time(series) {
	const height = 130, bottom = height - frame.bottom, most = Math.max(...series.cells.map(cell => cell.count));
	return figure('When messages were lost', null, picture(height, 'Lost messages over time', width => {
		const [x, axis] = time_axis(width, height), y = linear(0, most, bottom, frame.top);
		return [axis, axis_y(y, frame.left, width - frame.left - frame.right, ticks(0, most, 2).filter(at => at % 1 === 0), count_text), loss_band(x, frame.top, bottom),
			series.cells.map(cell => svg('rect', { x: x(series.origin + cell.at * series.width), y: y(cell.count), width: Math.max(2, x(series.width) - x(0) - 0.5), height: bottom - y(cell.count),
				fill: 'var(--bad)', 'data-tip': at_text(series.origin + cell.at * series.width) + '\n' + count_text(cell.count) + ' lost' }))];
	}));
}

// ---- timers, loops and spans ----

function timers_table(timers) {
	return table([name_column('timer', timer => timer.label, address), ns_column('period', 'period', timer => timer.period_ns), count_column('runs', 'starts', timer => timer.runs || 0),
		...latency_columns(timer => timer.wait), count_column('late', 'half a period late', timer => timer.late || 0), count_column('overrun', 'a period late', timer => timer.overrun || 0, null, true),
		range_column(timers, timer => timer.wait), { key: 'clock', title: '', value: timer => timer.other_clock ? 1 : 0, cell: timer => timer.other_clock ? 'of a simulation’s clock' : '' }],
		timers, { most: 200, sort: 'max', go: address, label: 'timers' });
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
				entity.wait ? ['worst', ns_text(entity.wait.max), entity.wait.max] : null, ['half a period late', count_text(entity.late || 0), entity.late || 0], ['a period late', count_text(entity.overrun || 0), entity.overrun || 0]])),
		el('div', { class: 'cols' }, entity.wait && panel('', null, dist_chart('How late it began', entity.wait, query_button(bins_sql('wait_ns', from)))),
			entity.period && panel('', null, dist_chart('From start to start', entity.period)),
			series.late && panel('', null, over_time('How late it began', series.late, 'starts', null))), ...summary_panels(entity)];
}

function spans_table(spans, most) {
	const of = span => span.kind === 'loop' ? span.latency : span.duration;
	return table([name_column('name', span => span.label, address), { key: 'kind', title: 'is', value: span => span.kind, cell: span => span.kind === 'loop' ? 'a loop: how late it woke' : 'a span: how long' },
		count_column('runs', 'count', span => span.runs || 0), ...latency_columns(of), count_column('missed', 'missed', span => span.missed || 0, 'deadlines', true),
		{ key: 'of', title: 'process', value: span => span.of || '', cell: span => name_of(span.of || '', 30) }, range_column(spans, of)],
		spans, { most, sort: 'max', go: address, label: 'loops and spans' });
}

function spans_page() {
	const all = of_kind('loop').concat(of_kind('span'));
	return [banner(), panel(el('h2', {}, 'Loops and spans'), null, all.length ? spans_table(all, 200) : empty('The trace has no loops and spans; programs emit them with kymo.h.')),
		...table_panels(['counters', 'instants'])];
}

function span_page(entity) {
	const series = entity.series || {}, [category, ...rest] = entity.name.split(':'), name = rest.join(':');
	const where = 'category = ' + sql_text(category) + ' AND name = ' + sql_text(name) + inside('begin_ns'), is_loop = entity.kind === 'loop';
	const d = is_loop ? entity.latency : entity.duration;
	return [panel(el('h2', {}, name_of(entity.label, 300)), entity.ask ? copy_button('copy as kymo why', command('why', shell(entity.ask))) : null,
			el('p', { class: 'crumbs' }, (is_loop ? 'a loop' : 'a span') + (entity.of ? ' of process ' + entity.of : '')),
			numbers([[is_loop ? 'cycles' : 'spans', count_text(entity.runs || 0), entity.runs || 0], d ? ['usually', ns_text(d.p50), d.p50] : null, d ? ['p99', ns_text(d.p99), d.p99] : null, d ? ['worst', ns_text(d.max), d.max] : null,
				is_loop ? ['deadlines missed', count_text(entity.missed || 0), entity.missed || 0] : null, entity.overrun ? ['ended in the next cycle', count_text(entity.overrun)] : null, entity.unfinished ? ['unfinished', count_text(entity.unfinished)] : null])),
		el('div', { class: 'cols' }, is_loop && entity.latency && panel('', null, dist_chart('How late it woke', entity.latency, query_button(bins_sql('latency_ns', 'loop_cycles WHERE ' + where)))),
			entity.duration && panel('', null, dist_chart(is_loop ? 'How long a cycle took' : 'How long it took', entity.duration,
				query_button(is_loop ? bins_sql('busy_ns', 'loop_cycles WHERE ' + where + ' AND busy_ns IS NOT NULL') : bins_sql('duration_ns', 'spans WHERE ' + where + ' AND duration_ns IS NOT NULL')))),
			is_loop && entity.period && panel('', null, dist_chart('From due to due', entity.period)),
			series.spans && panel('', null, over_time('How long it took', series.spans, 'spans', query_button(columns_sql('duration_ns', 'begin_ns', 'spans WHERE ' + where + ' AND duration_ns IS NOT NULL', series.spans))))), ...summary_panels(entity)];
}

// ---- executors, CPUs, real time: tables of the report ----

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
