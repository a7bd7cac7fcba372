// SPDX-License-Identifier: Apache-2.0
// The views of a comparison: the verdict, all metrics, each entity, what appeared and vanished, provenance.

function runs_text() {
	const { base_runs: base, new_runs: fresh } = facts;
	return facts.paired ? count_text(base) + ' pairs of runs' : base === fresh ? base + (base === 1 ? ' run a side' : ' runs a side') : base + ' and ' + fresh + ' runs';
}

function headline() {
	const worse = of_verdict('worse').length;
	if (!metrics.length)
		return el('h2', {}, 'Nothing can be compared: no entity is in all runs with enough instances.');
	if (worse)
		return el('h2', {}, el('span', { class: 'bad' }, 'Worse: '), worse + ' of ' + metrics.length + ' metrics.');
	if (facts.base_runs + facts.new_runs === 2)
		return el('h2', {}, 'One run a side does not show what is slower: record 6 of each, in turn.');
	return of_verdict('not known').length ? el('h2', {}, 'Nothing is known to be worse.') : el('h2', { class: 'ok' }, 'Nothing is worse.');
}

function trust() {
	const left = facts.base_runs_left_out + facts.new_runs_left_out;
	return left ? el('div', { class: 'banner', role: 'alert' }, el('strong', {}, 'Left out, because events were lost: '), facts.base_runs_left_out + ' of the base runs, ' + facts.new_runs_left_out + ' of the new ones.') : null;
}

// What "3 x" in a name means.
function alike_line(rows) {
	const row = rows.find(row => row.new_alike > 1);
	return row ? el('p', { class: 'dim small' }, '"' + row.new_alike + ' x" is what happened in all processes of one name; a rate is that of one.') : null;
}

function processes_line(entity) {
	const row = entity.metrics.find(row => row.base_alike !== row.new_alike);
	return row ? el('p', { class: 'dim small' }, 'In ' + row.base_alike + (row.base_alike === 1 ? ' process' : ' processes') + ' before, in ' + row.new_alike + ' now.') : null;
}

function verdict_panel() {
	return panel(headline(), diff_button(null), numbers([[runs_text(), D.base.name + ' → ' + D.new.name],
		...['worse', 'not known', 'better', 'not worse'].map(verdict => [verdict, count_text(of_verdict(verdict).length), of_verdict(verdict).length]),
		facts.appeared.length ? ['new', count_text(facts.appeared.length), facts.appeared.length] : null, facts.gone.length ? ['gone', count_text(facts.gone.length), facts.gone.length] : null]),
		facts.metrics_with_too_few_instances ? el('p', { class: 'dim small' }, 'Too few instances for ' + count_text(facts.metrics_with_too_few_instances) + ' metrics: record longer runs for their p90 and p99.') : null,
		facts.entities_in_some_runs ? el('p', { class: 'dim small' }, 'In some runs of a side only: ' + count_text(facts.entities_in_some_runs) + ' entities.') : null, alike_line(metrics));
}

// Entities that have this verdict, each once, in the order of harm.
function entities_of(verdict) {
	return [...new Set(of_verdict(verdict).map(metric => metric.entity))];
}

function card(entity, verdict) {
	const own = entity.metrics.filter(metric => metric.verdict === verdict), part = own.find(metric => metric.words.part);
	return el('li', { class: verdict === 'worse' ? 'finding first' : 'finding' }, el('span', { class: 'rank', 'aria-hidden': 'true', style: 'color:' + verdict_colour[verdict] }, verdict === 'worse' ? '▲' : '▼'),
		el('p', { class: 'text' }, el('b', {}, verdict === 'worse' ? 'WORSE ' : 'better '), entity.kind + ' ', entity_link(entity, 200)),
		el('div', {}, own.map(metric => el('p', { class: 'facts' }, el('span', {}, metric.metric), el('span', {}, metric.words.base + ' → ' + metric.words.new), el('b', {}, metric.words.change)))),
		part ? el('p', { class: 'small' }, arrows(part.words.part)) : null,
		el('p', { class: 'facts' }, el('a', { href: address(entity) }, 'see it'), why_button(entity)));
}

function cards() {
	const all = [...entities_of('worse').map(entity => [entity, 'worse']), ...entities_of('better').map(entity => [entity, 'better'])];
	return all.length ? el('section', { 'aria-label': 'changes' }, el('ol', { class: 'findings' }, all.slice(0, 8).map(([entity, verdict]) => card(entity, verdict))),
		all.length > 8 ? el('p', { class: 'more' }, el('a', { href: '#/metrics' }, count_text(all.length) + ' changed')) : null) : null;
}

function overview() {
	const changed = metrics.filter(metric => metric.verdict !== 'not worse'), first = entities_of('worse')[0] || entities_of('better')[0] || (changed[0] || {}).entity;
	return [trust(), verdict_panel(), cards(), changed.length ? panel('', null, forest(changed, { title: 'How much it changed', tools: el('a', { href: '#/metrics' }, 'all ' + count_text(metrics.length) + ' metrics') }))
		: metrics.length ? panel('', null, forest(metrics, { title: 'How much it changed', most: 12 })) : null,
		first ? entity_charts(first, el('h3', {}, entity_link(first, 160))) : null, only_panels()];
}

function metrics_table(rows) {
	return table([{ key: 'verdict', title: 'verdict', value: metric => metric.verdict, cell: metric => el('td', { class: metric.verdict === 'worse' ? 'word bad' : 'word' }, verdict_words[metric.verdict]) },
		{ key: 'kind', title: 'is a', value: metric => metric.kind, cell: metric => metric.kind },
		name_column('name', metric => metric.entity.label, metric => address(metric.entity)), { key: 'metric', title: 'metric', value: metric => metric.metric, cell: metric => el('td', { class: 'word' }, metric.metric) },
		...['base', 'new'].map(side => ({ key: side, title: side, number: true, value: metric => metric[side], cell: metric => el('td', { class: 'n', 'data-v': metric[side] }, metric.words[side]) })),
		{ key: 'change', title: 'change', number: true, value: metric => metric.change, cell: metric => el('td', { class: 'n', 'data-v': metric.change }, metric.words.change) },
		{ key: 'more', title: 'more runs', value: metric => metric.words.more || '', cell: metric => metric.words.more || '' }],
		rows, { most: 200, go: metric => address(metric.entity), label: 'metrics' });
}

function metrics_page() {
	return [trust(), panel(el('h2', {}, 'All metrics'), diff_button(null), metrics.length ? metrics_table(metrics) : empty('Nothing can be compared.')),
		metrics.length ? panel('', null, forest(metrics, { title: 'How much it changed' })) : null];
}

function entity_charts(entity, title) {
	const charts = Object.keys(entity.distributions).map(of => overlay_chart(entity, of)).filter(Boolean);
	const segments = entity.metrics.filter(metric => metric.words.segments);
	return [charts.length ? panel(title || '', null, el('div', { class: 'cols' }, charts)) : null,
		segments.length ? panel(charts.length ? '' : title, null, segments.slice(0, title ? 1 : 3).map(segments_figure)) : null];
}

function entity_view(entity) {
	const others = entity.metrics.find(metric => metric.new_others !== null);
	return [trust(), panel(el('h2', {}, entity.kind + ' ', name_of(entity.label, 300)), [why_button(entity), diff_button(entity)], entity.of ? el('p', { class: 'crumbs' }, 'of ' + entity.of) : null,
			forest(entity.metrics, { names: false, title: 'How much it changed' }),
			alike_line(entity.metrics), processes_line(entity),
			others ? el('p', { class: 'dim small' }, 'Other programs took ' + ns_text(others.base_others) + ' → ' + ns_text(others.new_others) + ' beside it.') : null),
		entity_charts(entity), panel('The value of each run', null, el('div', { class: 'cols' }, entity.metrics.map(runs_chart)))];
}

function only_table(rows, labels, label) {
	return table([{ key: 'kind', title: 'is a', value: row => row.kind, cell: row => row.kind }, name_column('name', row => row.label),
		{ key: 'of', title: 'of', value: row => row.of || '', cell: row => name_of(row.of || '', 40) }], rows.map((row, i) => ({ ...row, label: labels[i] })), { most: 60, label });
}

function only_panels() {
	if (!facts.appeared.length && !facts.gone.length)
		return null;
	return el('div', {}, el('div', { class: 'cols' }, facts.appeared.length ? panel('New: in no base run', null, only_table(facts.appeared, D.appeared, 'new')) : null,
		facts.gone.length ? panel('Gone: in no new run', null, only_table(facts.gone, D.gone, 'gone')) : null),
		facts.likely_renamed.length ? panel('Perhaps renamed', null, facts.likely_renamed.map(like => el('p', { class: 'small' }, el('code', {}, name_of(like.new, 200)), ' looks like ', el('code', {}, name_of(like.old, 200)),
			': ' + like.found + ' of ' + like.entities + ' gone entities match, at similar rates. To compare them: ', el('code', {}, '--rename ', name_of(shell(like.old + '=' + like.new), 400))))) : null);
}

function side_panel(side, title, left) {
	const words = { host: 'host', cpu: 'CPU', cpus: 'CPUs', governor: 'governor', kernel: 'kernel', os: 'system', rmw: 'RMW', kymo: 'recorded by kymo' };
	return panel(title, null, el('dl', {}, Object.keys(words).filter(key => side.machine[key]).map(key => [el('dt', {}, words[key]), el('dd', {}, name_of(side.machine[key], 200))]),
			el('dt', {}, 'runs'), el('dd', {}, side.paths.map(path => [el('code', {}, name_of(path, 200)), el('br')]), left ? left + ' left out, because events were lost' : null)),
		table([{ key: 'run', title: 'run', number: true, value: run => run.number, cell: run => String(run.number) }, { key: 'host', title: 'host', value: run => run.host, cell: run => name_of(run.host, 40) },
			ns_column('ns', 'traced', run => run.ns), count_column('events', 'events', run => run.events), count_column('lost', 'lost', run => run.lost, null, true)],
			side.runs.map((run, i) => ({ ...run, number: i + 1 })), { most: 20, label: title }));
}

function about_page() {
	return [trust(), panel(el('h2', {}, 'Where this page comes from'), null, el('dl', {}, el('dt', {}, 'page made by'), el('dd', {}, D.made_by), el('dt', {}, 'page made with'), el('dd', {}, el('code', {}, name_of(D.command, 900))),
			el('dt', {}, 'worse'), el('dd', {}, 'it grew by more than the limit, and the runs prove it'), el('dt', {}, 'better'), el('dd', {}, 'it fell by more than the limit, and the runs prove it'),
			el('dt', {}, 'not worse'), el('dd', {}, 'it did not grow by more than the limit, and the runs prove it'), el('dt', {}, 'not known'), el('dd', {}, 'the runs prove neither'))),
		el('div', { class: 'cols' }, side_panel(D.base, 'Base', facts.base_runs_left_out), side_panel(D.new, 'New', facts.new_runs_left_out))];
}

const sections = [
	['', 'Comparison', overview, () => null], ['metrics', 'All metrics', metrics_page, () => metrics.length],
	['only', 'New and gone', () => [el('h2', {}, 'New and gone'), only_panels()], () => facts.appeared.length + facts.gone.length], ['about', 'Provenance', about_page, () => null],
];
const hidden_views = {};
const entity_pages = { callback: true, chain: true, topic: true, timer: true, service: true, loop: true, span: true };
const home = { callback: 'metrics', chain: 'metrics', topic: 'metrics', timer: 'metrics', service: 'metrics', loop: 'metrics', span: 'metrics' };

function page_name() {
	return D.base.name + ' → ' + D.new.name;
}

function page_facts() {
	return runs_text() + ' · ' + count_text(metrics.length) + ' metrics';
}

begin();
