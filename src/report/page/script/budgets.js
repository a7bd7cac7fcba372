// SPDX-License-Identifier: Apache-2.0
// What --check demands, and whether it is kept: the rows of kymo check.

const budget_words = ['violated', 'not known', 'not judged', 'kept'];

function budgets() {
	return D.tables.budgets || [];
}

// What a budget is about; those of losses are about no entity.
function budget_entity(row) {
	const kinds = row.kind === 'real-time' ? ['callback', 'span', 'loop'] : [row.kind];
	const all = kinds.flatMap(kind => byName.get(kind + '\n' + row.name) || []);
	return all.find(entity => !row.of || entity.of === row.of);
}

// The least of the limits in ns that a distribution has: "duration", "latency".
function limit_of(entity, metric) {
	const limits = budgets().filter(row => row.metric === metric && row.unit === 'ns' && row.limit !== null && budget_entity(row) === entity).map(row => row.limit);
	return limits.length ? Math.min(...limits) : undefined;
}

function budget_value(row, value) {
	if (value === null || value === undefined)
		return '–';
	if (row.unit === 'share')
		return percent_text(value);
	return row.unit === 'ns' ? ns_text(Math.round(value)) : row.unit === 'per_second' ? parseFloat(value.toPrecision(4)) + ' Hz' : count_text(Math.round(value));
}

function budget_column(key, title, hint) {
	return { key, title, number: true, hint, value: row => row[key], cell: row => el('td', { class: 'n', 'data-v': row[key] }, budget_value(row, row[key])) };
}

function budgets_table(rows, most) {
	const columns = [{ key: 'verdict', title: 'verdict', value: row => row.verdict, cell: row => el('td', { class: row.verdict === 'violated' ? 'word bad' : 'word' }, row.verdict) },
		{ key: 'of', title: 'of', value: row => row.name || row.kind, cell: row => {
			const entity = budget_entity(row), name = name_of(entity ? entity.label : row.name || row.kind, 60);
			return el('td', { class: 'namecell' }, entity && entity_pages[entity.kind] ? el('a', { href: address(entity) }, name) : name);
		} },
		{ key: 'budget', title: 'budget', value: row => row.budget, cell: row => el('td', { class: 'word' }, row.budget) },
		budget_column('value', 'value'), budget_column('bound', 'surely', 'what the quantile is surely within: not known if that is beyond the limit'),
		count_column('count', 'values', row => row.count || null),
		{ key: 'why', title: '', value: row => row.why || '', cell: row => el('td', {}, row.why ? name_of(row.why, 160) : '') },
		{ key: 'line', title: 'line', number: true, hint: D.tables.file, value: row => row.line, cell: row => el('td', { class: 'n' }, row.line) }];
	return table(rows.some(row => row.why) ? columns : columns.filter(column => column.key !== 'why'), rows, { most, label: 'budgets' });
}

function budgets_panel() {
	const rows = budgets(), counts = budget_words.map(word => [rows.filter(row => row.verdict === word).length, word]).filter(count => count[0]);
	if (!D.tables.budgets)
		return null;
	return panel('Budgets: ' + (counts.map(([count, words]) => count_text(count) + ' ' + words).join(', ') || 'none'), copy_button('copy as kymo check', command('check', '-c ' + shell(D.tables.file))),
		budgets_table(rows, 12), el('p', { class: 'dim small' }, 'From ' + visible(D.tables.file) + '. A quantile is kept only if what it is surely within is also within the limit.'));
}

// Of one entity.
function entity_budgets(entity) {
	const rows = budgets().filter(row => budget_entity(row) === entity);
	return rows.length ? panel('Budgets', null, budgets_table(rows, 12)) : null;
}
