// SPDX-License-Identifier: Apache-2.0
// What --expect demands, and whether it happened: the rows of the report's section validation.

const verdict_words = { FAILED: 'broken', NOT_MEASURED: 'could not be judged', PASS: 'held' };

function expected() {
	const order = Object.keys(verdict_words);
	return (D.tables.validation || []).filter(row => verdict_words[row.result]).sort((a, b) => order.indexOf(a.result) - order.indexOf(b.result));
}

// The callback or topic that a verdict is about.
function expected_entity(row) {
	const names = row.what === 'topic frequency' ? ['topic\n' + row.source] : ['callback\n' + row.object + ' timer ' + row.source, 'callback\n' + row.object + ' ' + row.source];
	return names.flatMap(name => byName.get(name) || [])[0];
}

// The most that a run of a callback may take, in ns.
function budget_of(entity) {
	const row = expected().find(other => other.what === 'callback latency' && expected_entity(other) === entity);
	return row ? Math.round(row.upper * 1e6) : limit_of(entity, 'duration');
}

function with_unit(value, row) {
	return value === null || value === undefined ? '–' : parseFloat(value.toPrecision(4)) + ' ' + row.unit;
}

function budget_text(row) {
	return row.upper ? 'at most ' + with_unit(row.upper, row) : row.lower ? with_unit(row.expected, row) + ', at least ' + with_unit(row.lower, row) : with_unit(row.expected, row);
}

function measured_column(key, title, hint, value, text) {
	return { key, title, number: true, hint, value, cell: row => el('td', { class: 'n', 'data-v': value(row) }, value(row) === null ? '–' : text(value(row), row)) };
}

function expectations_panel() {
	const rows = expected(), none = (D.tables.validation || []).filter(row => row.result === 'OUT_OF_SCOPE').length;
	if (!D.tables.validation)
		return null;
	const counts = Object.keys(verdict_words).map(result => [rows.filter(row => row.result === result).length, verdict_words[result]]).filter(count => count[0]);
	return panel('Expectations: ' + (counts.map(([count, words]) => count_text(count) + ' ' + words).join(', ') || 'none'), null,
		rows.length ? table([{ key: 'verdict', title: 'verdict', value: row => verdict_words[row.result], cell: row => el('td', { class: row.result === 'PASS' ? 'word' : 'word bad' }, verdict_words[row.result]) },
			{ key: 'of', title: 'of', value: row => row.object || row.source || '', cell: row => {
				const entity = expected_entity(row), name = name_of(row.object || row.source || '', 60);
				return el('td', { class: 'namecell' }, entity ? el('a', { href: address(entity) }, name) : name);
			} },
			{ key: 'what', title: 'what', value: row => row.what, cell: row => el('td', { class: 'word' }, row.what) },
			{ key: 'source', title: 'topic, period or case', value: row => row.source || '', cell: row => name_of(row.source || '', 40) },
			{ key: 'budget', title: 'budget', value: row => row.expected, number: true, cell: row => el('td', { class: 'n', 'data-v': row.expected }, budget_text(row)) },
			measured_column('mean', 'mean', null, row => row.mean, with_unit),
			measured_column('outside', 'outside', 'share of the values that do not keep the budget', row => row.mean === null ? null : (row.ratio_lower || 0) + (row.ratio_upper || 0), percent_text),
			measured_column('burst', 'in a row', 'so many of these one after the other', row => Math.max(row.burst_lower, row.burst_upper), count_text),
			measured_column('count', 'values', null, row => row.count, count_text)], rows, { most: 40, label: 'expectations' })
			: empty('The file of --expect expects nothing.'),
		none ? el('p', { class: 'dim small' }, count_text(none) + (none === 1 ? ' callback has' : ' callbacks have') + ' no expectation.') : null);
}
