// SPDX-License-Identifier: Apache-2.0
// Services: what the time of calls was spent with, from the request to the response, and then at the client.

function of_service(entity) {
	return 'service_calls WHERE service_name = ' + sql_text(entity.name) + inside('request_ns');
}

function services_table(services) {
	return table([name_column('service', entity => entity.name, address), count_column('runs', 'calls', entity => entity.runs || 0),
		...latency_columns(entity => entity.latency), { key: 'mostly', title: 'mostly', value: service_mostly, cell: service_mostly },
		count_column('unfinished', 'not answered', entity => entity.unfinished || 0, 'the trace has no response that the client received', true), range_column(services, entity => entity.latency)],
		services, { most: 100, sort: 'max', go: address, label: 'services' });
}

function service_mostly(entity) {
	if (!entity.chain)
		return '';
	const most = entity.chain.segments.reduce((a, b) => b.sum > a.sum ? b : a);
	return most.sum ? segment_words[most.what][1] : '';
}

function services_page() {
	const services = of_kind('service', true);
	return [banner(), panel(el('h2', {}, 'Services'), services.length ? query_button('SELECT service_name, count(*) AS calls, count(duration_ns) AS answered, max(duration_ns) AS max_ns FROM service_calls GROUP BY 1 ORDER BY 4 DESC') : null,
			services.length ? [el('p', { class: 'dim' }, 'From when the client sends the request until it receives the response. Where does the time go?'), services_table(services)]
				: empty('The trace has no service call of a client that was recorded.')), ...table_panels(['service-calls', 'lifecycle', 'communications'])];
}

function service_page(entity) {
	const calls = entity.chain && entity.chain.calls, handled = calls && calls.handled, worst = calls ? calls.worst[0] : null;
	return [panel(el('h2', {}, name_of(entity.name, 300)), null,
			calls ? el('p', { class: 'crumbs' }, calls.names.filter(Boolean).map((name, i) => [i ? ', ' : '', name_of(name, 60)])) : null,
			numbers([['calls', count_text(entity.runs || 0), entity.runs || 0], ['not answered', count_text(entity.unfinished || 0), entity.unfinished || 0],
				...(entity.latency ? [['usually', ns_text(entity.latency.p50), entity.latency.p50], ['p99', ns_text(entity.latency.p99), entity.latency.p99], ['worst', ns_text(entity.latency.max), entity.latency.max]] : []),
				calls && calls.error ? ['clocks may be wrong by', ns_text(calls.error)] : null])),
		entity.latency ? el('div', { class: 'cols' }, panel('', null, dist_chart('From request to response', entity.latency, query_button(bins_sql('duration_ns', of_service(entity) + ' AND duration_ns IS NOT NULL')), entity.error, limit_of(entity, 'latency')), calls ? worst_over_time(entity) : null),
			calls ? panel('', null, segments_chart(entity)) : null) : panel('', null, empty('No call of it was answered.')),
		worst ? call_panel(entity, worst, 1, true) : null,
		calls ? panel('Segments', null, segments_table(entity), el('p', { class: 'dim small' }, 'They add up to the time from request to response; handling the response comes after it.')) : null,
		calls ? el('div', { class: 'cols' }, panel('', null, dist_chart('How long the service’s callback ran', calls.served, query_button(bins_sql('callback_duration_ns', of_service(entity) + ' AND client_id IS NOT NULL AND callback_duration_ns IS NOT NULL')))),
			handled ? panel('', null, dist_chart('How long the client handled the response', handled, query_button(bins_sql('response_callback_duration_ns', of_service(entity) + ' AND response_callback_duration_ns IS NOT NULL')))) : null) : null, ...summary_panels(entity)];
}

// ---- one call ----

// What happened when, since the request: [{what, begin, ns}], with what comes after the response.
function call_parts(entity, call) {
	const parts = [];
	let since = 0;
	entity.chain.segments.forEach((segment, i) => {
		parts.push({ what: segment.what, kind: segment.what, begin: since, ns: call[7 + i], p50: segment.p50 });
		since += call[7 + i];
	});
	if (call[6] >= 0)
		parts.push({ what: 'handled', kind: 'handled', begin: since + call[5], ns: call[6], p50: (entity.chain.calls.handled || {}).p50 });
	return parts.filter(part => part.ns > 0);
}

function call_end(call) {
	return call[1] + (call[6] >= 0 ? call[5] + call[6] : 0);
}

// The client above, the service below, and the way between them.
function call_chart(entity, call) {
	const parts = call_parts(entity, call), names = entity.chain.calls.names, rows = [names[call[3]] || 'client', names[call[4]] || 'service'], row = 46, box = 22, top = 8;
	const height = top + 2 * row + 24, bottom = height - 24, is_clients = part => part.what === 'response_wait' || part.what === 'handled';
	return picture(height, 'The call as a time line: ' + parts.map(part => segment_words[part.what][1] + ' ' + ns_text(part.ns)).join(', '), width => {
		const left = width < 640 ? 84 : 168, x = linear(0, call_end(call) || 1, left, width - 8), y = part => top + (is_clients(part) ? 0 : row) + 8;
		const line = (part, from, to) => svg('path', { d: 'M' + x(part.begin) + ' ' + from + 'L' + x(part.begin + part.ns) + ' ' + to, stroke: 'var(--way)', 'stroke-width': 1.8, 'data-tip': segment_words[part.what][1] + ' ' + ns_text(part.ns) });
		return [patterns(), axis_x(x, bottom, time_ticks(0, call_end(call), Math.max(3, width / 160)), ns => ns ? tick_text(ns) : '0', bottom - top),
			rows.map((name, i) => svg('g', {}, svg('text', { x: left - 10, y: top + i * row + 23, 'text-anchor': 'end', 'data-tip': name }, shortened(name, left < 100 ? 10 : 24)),
				svg('line', { class: 'grid', x1: left, x2: width - 8, y1: top + (i + 1) * row, y2: top + (i + 1) * row }))),
			parts.filter(part => /_way$/.test(part.what)).map(part => part.what === 'request_way' ? line(part, top + 8 + box, top + row + 8) : line(part, top + row + 8, top + 8 + box)),
			svg('g', { 'data-walk': '' }, parts.filter(part => !/_way$/.test(part.what)).map((part, i) => {
				const text = segment_words[part.what][1] + ' ' + ns_text(part.ns), wide = Math.max(1.5, x(part.begin + part.ns) - x(part.begin));
				return svg('g', { 'data-tip': text, 'aria-label': text, tabindex: i ? -1 : 0, role: 'img' }, svg('rect', { x: x(part.begin), y: y(part), width: wide, height: box, rx: Math.min(2, wide / 2), fill: fill_of(part.what) }));
			}))];
	});
}

function call_table(entity, call) {
	const whole = { begin: 0, ns: call_end(call) };
	return table([{ key: 'name', title: 'segment', value: part => segment_words[part.what][1], cell: part => el('td', { class: 'namecell' }, el('i', { class: 'swatch bg-' + swatch_of(part.what) }), segment_words[part.what][1]) },
		ns_column('ns', 'time', part => part.ns), ns_column('p50', 'usually', part => part.p50),
		{ key: 'when', title: 'when', value: part => part.begin, cell: part => part_bar(whole, part) }], call_parts(entity, call), { label: 'segments of this call' });
}

function call_panel(entity, call, rank, is_part) {
	const words = [ns_text(call[1]), el('span', { class: 'dim' }, ' at ' + at_text(call[0]))], parts = call_parts(entity, call);
	const longest = parts.filter(part => part.what !== 'handled').sort((a, b) => (b.ns - b.p50) - (a.ns - a.p50))[0];
	return panel(is_part ? el('h3', {}, el('a', { href: address(entity, rank) }, 'The worst call'), ' ', words) : el('h2', {}, words),
		[query_button('SELECT * FROM service_calls WHERE id = ' + call[2]), copy_button('open in Perfetto here', command('open', '--at ' + at_text(call[0]).replace(' ', '')), 'copies the command that opens Perfetto at this call')],
		longest ? el('p', {}, 'It took ' + ns_text(call[1]) + (entity.runs > 1 ? ', usually ' + ns_text(entity.latency.p50) : '') + '. Farthest above the usual: ' + segment_words[longest.what][1] + ', ' + ns_text(longest.ns) + '.') : null,
		figure('', null, call_chart(entity, call), legend(parts.map(part => part.what))), call_table(entity, call));
}

function call_instance(entity, rank) {
	const worst = entity.chain ? entity.chain.calls.worst : [], call = worst[rank - 1];
	if (!call)
		return [panel('Not in the page', null, empty('The page has the ' + worst.length + ' longest calls of this service.'))];
	return [el('p', { class: 'crumbs' }, entity_link(entity, 200), ' · No. ' + rank + ' of the ' + worst.length + ' longest calls ',
			rank > 1 && el('a', { href: address(entity, rank - 1), rel: 'prev' }, '← the one before'), rank > 1 ? ' · ' : ' ',
			rank < worst.length && el('a', { href: address(entity, rank + 1), rel: 'next' }, 'next →')), call_panel(entity, call, rank)];
}
