// SPDX-License-Identifier: Apache-2.0
// The first page: the verdict, and an overview of the pages.

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
		D.damaged ? ' The trace is damaged: `kymo info` lists the places.' : '',
		D.unended ? ' The end of the recording may be missing, and losses are those that the files show.' : '');
}

function finding_picture(entity) {
	const series = entity && spark_series(entity);
	return series && series.cells.length > 2 ? sparkline(series, 30) : null;
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
		ns_text(D.slowest.worst) + ' at worst' + (!slowest.latency ? '.' : slowest.latency.p99 > D.slowest.worst ? ' after start-up.' : ' (p99 ' + ns_text(slowest.latency.p99) + ').'))
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
	const entity = D.fired && entities[D.fired.entity], it = D.provenance.fired;
	if (!D.provenance.snapshot)
		return null;
	return panel(el('h3', {}, 'The flight recorder fired'), null, el('p', {}, D.provenance.snapshot),
		it && el('p', {}, 'It was ' + arrows(it.name) + (it.ns ? ' ' + at_text(it.begin) : '') + ': ' + it.why + '.'),
		entity && el('p', {}, D.fired.begin === it.begin && D.fired.ns === it.ns ? 'See ' : 'It is a part of ', entity_link(entity, 200), ' below.'));
}

function facts() {
	const topics = of_kind('topic'), lost = topics.reduce((sum, topic) => sum + missing(topic), 0);
	return panel('', null, numbers([
		['traced', ns_text(D.end - D.begin || 0), D.end - D.begin || 0], ['events', count_text(D.events), D.events],
		['events lost', count_text(D.lost_events), D.lost_events],
		D.nodes ? ['nodes', count_text(D.nodes), D.nodes] : null,
		byKind.process ? ['processes', count_text(D.provenance.processes.length || byKind.process.length)] : null,
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
	return [banner(), fired(), verdict(), budgets_panel(), expectations_panel(), facts(),
		chains.length ? el('div', { class: 'split' },
			panel(el('h3', {}, el('a', { href: '#/chains' }, 'Chains')), null, chains_table(worst_of_alike(chains, chain => chain.latency), 6, true),
				chain && chain.chain && worst_over_time(chain, 'When the worst of ' + arrows(shortened(chain.label, 60)))),
			chain && panel(el('h3', {}, entity_link(chain, 120)), null, dist_chart('Latency', chain.latency, chain_command(chain, 'flow')),
				chain.chain && segments_chart(chain))) : null,
		worst && worst.instance ? instance_panel(worst, worst.instance, true) : null,
		D.graph.nodes.length && D.graph.nodes.length <= 40 ? graph_panel(el('h3', {}, el('a', { href: '#/graph' }, 'Graph'))) : null,
		loops.length && !of_kind('callback').length ? [panel(el('h3', {}, el('a', { href: '#/spans' }, 'Loops and spans')), null, spans_table(loops, 12)), flame_panel('spans', 0, true)] : null,
		of_kind('callback').length ? null : [flame_panel('functions', 0, true), flame_panel('samples', 0, true)],
		of_kind('callback').length ? el('div', { class: 'cols' },
			panel(el('h3', {}, el('a', { href: '#/callbacks' }, 'Callbacks')), null, callbacks_table(worst_of_alike(of_kind('callback'), callback => callback.duration), 8, true)),
			panel(el('h3', {}, el('a', { href: '#/topics' }, 'Topics')), null, topics_table(of_kind('topic'), 8, true))) : null];
}
