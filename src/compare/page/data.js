// SPDX-License-Identifier: Apache-2.0
// The data of a comparison's page, see compare_page.c: metrics as `kymo diff --format json --values` has them, with words and limits.

let metrics = [];
let facts = {};

function entity_key(row) {
	return row.kind + '\n' + row.name + '\n' + (row.of || '');
}

async function load() {
	D = await unpacked();
	facts = D.tables[0];
	const known = new Map();
	metrics = facts.metrics.map((row, i) => {
		const words = D.rows[i], key = entity_key(row);
		if (!known.has(key))
			known.set(key, add_entity({ kind: row.kind, name: row.name, of: row.of || '', label: words.label, ask: words.ask, metrics: [], values: [], distributions: {} }));
		const metric = { ...row, words, entity: known.get(key) };
		metric.entity.metrics.push(metric);
		return metric;
	});
	for (const value of facts.values)
		known.get(entity_key(value)).values.push(value);
	for (const row of facts.distributions) {
		const of = known.get(entity_key(row)).distributions;
		of[row.distribution] = of[row.distribution] || { base: [], new: [] };
		of[row.distribution][row.side].push(row);
	}
}

function of_verdict(verdict) {
	return metrics.filter(metric => metric.verdict === verdict);
}

// ---- commands ----

function sides() {
	const words = side => side.paths.map(shell).join(' ');
	return D.base.paths.length + D.new.paths.length === 2 ? words(D.base) + ' ' + words(D.new) : words(D.base) + ' -- ' + words(D.new);
}

function diff_button(entity) {
	return copy_button('copy as kymo diff', 'kymo diff' + (facts.paired ? ' --paired' : '') + (entity ? ' --only ' + shell(entity.name) : '') + ' --format json --values ' + sides());
}

// Why it took so long in the newest run, if that is a trace.
function why_button(entity) {
	const path = D.new.paths[D.new.paths.length - 1];
	return entity.ask && path && !path.endsWith('.summary') ? copy_button('copy as kymo why', 'kymo why ' + shell(path) + ' ' + shell(entity.ask)) : null;
}
