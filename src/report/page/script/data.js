// SPDX-License-Identifier: Apache-2.0
// The data of a trace's page, see page_internal.h, and the commands that give them in a terminal.

async function load() {
	D = await unpacked();
	D.tables = (D.tables && D.tables[0]) || {};
	D.instances = D.instances || [];
	D.threads = D.threads || [];
	D.entities.forEach(add_entity);
	find_twins();
	// Paths and callbacks of one name are one entity, and the page has the one with the worst, which comes first.
	for (const chain of D.chains)
		if (entities[chain.entity] && !entities[chain.entity].chain)
			Object.assign(entities[chain.entity], { chain, error: chain.error });
	for (const instance of D.instances)
		entities[instance.entity].instance = entities[instance.entity].instance || instance;
	for (const calls of D.calls || [])
		Object.assign(entities[calls.entity], { error: calls.error, chain: { calls, steps: [], segments: calls.segments, worst: calls.worst.map(call => [...call.slice(0, 3), ...call.slice(7)]) } });
	for (const { entity, error, segments, worst } of D.goals || []) {
		const goals = worst.map(([begin, total, id, uuid, status, client, server, sent, received, handled, startup, ...parts], i) =>
			({ rank: i + 1, begin, total, id, uuid, status, client, server, sent, received, handled, startup, parts }));
		Object.assign(entities[entity], { error, goals, chain: { calls: {}, steps: [], segments, worst: goals.map(goal => [goal.begin, goal.total, goal.id, ...goal.parts]) } });
	}
	D.executors = D.executors || [];
	for (const executor of D.executors) {
		// What `kymo why` says of them: time on the way is not a wait for the executor.
		executor.waits = executor.waits.filter(wait => wait_blocked(wait) > 0).sort((a, b) => wait_blocked(b) - wait_blocked(a));
		executor.waits.forEach(wait => {
			const held = wait.parts.filter(part => part.kind === 'queued').map(part => part.thread);
			wait.rows = [...new Set(wait.hops.filter(hop => !hop.topic).map(hop => hop.thread).concat(held, executor.threads))].slice(0, 16);
		});
	}
	D.fired = D.instances.find(instance => instance.fired);
	// Error: how wrong latencies may be that compare the clocks of two hosts.
	for (const [entity, rate_hz, error] of D.topics || [])
		Object.assign(entities[entity], { rate_hz, error: error || undefined });
	for (const [entity, symbol] of D.symbols || [])
		entities[entity].symbol = symbol;
	for (const series of D.series)
		spread(series);
	for (const gaps of D.gaps || [])
		entities[gaps.entity].gap = gaps.gap;
	for (const heat of D.heat)
		entities[heat.entity].heat = heat;
}

// Entities of one name: of processes of one name that run at the same time (`processes`: which), or of others.
function find_twins() {
	for (const [entity, process] of D.twins || [])
		entities[entity].processes = [...new Set(entities[entity].processes || []).add(process)];
	for (const twins of byName.values())
		for (const entity of twins)
			if (entity.of && twins.some(other => other !== entity && other.label === entity.label))
				entity.told = entity.label + ' (' + entity.of + ')';
	for (const entity of entities)
		entity.label = entity.told || entity.label;
}

// Of more than two of one name, in processes of one name, the worst, which says of how many.
function worst_of_alike(rows, of) {
	const groups = new Map(), key = entity => entity.name + (entity.kind === 'chain' ? '' : '\n' + (entity.of || '').replace(/ #\d+$/, ''));
	for (const entity of rows)
		if (!groups.get(key(entity))?.push(entity))
			groups.set(key(entity), [entity]);
	return [...groups.values()].flatMap(alike => {
		const worst = alike.reduce((a, b) => ((of(b) || {}).max || 0) > ((of(a) || {}).max || 0) ? b : a);
		return alike.length > 2 ? { ...worst, label: worst.label + ', the worst of ' + alike.length } : alike;
	});
}

// "driver 4711" of one of several, else "driver".
function process_of(entity) {
	return entity.processes ? entity.processes.map(index => D.provenance.processes[index]).map(process => process.name + ' ' + process.pid).join(', ') : entity.of || '';
}

// Is it of this process? Processes that are not told apart have the same name.
function is_of_process(entity, process) {
	return entity.processes ? entity.processes.some(index => D.provenance.processes[index].pid === process.pid && (D.provenance.processes[index].host || '') === (process.host || ''))
		: !entity.of || entity.of === process.process;
}

// Processes that are told apart, as "pid host".
function twin_processes() {
	D.told_apart = D.told_apart || new Set((D.twins || []).map(pair => D.provenance.processes[pair[1]]).map(process => process.pid + ' ' + (process.host || '')));
	return D.told_apart;
}

// The callback that held up @entity.
function culprit_of(entity, culprit) {
	const all = byName.get('callback\n' + culprit.by) || [], held = (D.held || []).filter(pair => pair[0] === entity.index).map(pair => entities[pair[1]]);
	return all.length < 2 ? all[0] : held.find(other => other.name === culprit.by) || all.find(other => other.of === entity.of);
}

// Columns as {column, count, min, max}, of `joined` columns each.
function spread(series) {
	let at = 0;
	series.cells = series.at.map((step, i) => {
		at += step;
		return { at: at, count: series.count[i],
			 min: series.min ? series.min[i] : 0, max: series.max ? series.max[i] : 0 };
	});
	series.width = D.columns.width * series.joined;
	series.origin = D.columns.origin;
	const entity = entities[series.entity];
	if (!entity)
		return;
	entity.series = entity.series || {};
	// Callbacks of the same name are one entity, and the page has the series of the one with the worst.
	entity.series[series.what] = series;
	if (series.what === 'runs')
		entity.parts = series.of || 1;
}

function of_kind(kind, startup) {
	return (byKind[kind] || []).filter(entity => startup || !entity.startup);
}

// ---- commands ----

// Of a page of --begin and --end: only what begins between them.
function inside(column) {
	return D.window ? ' AND ' + column + ' BETWEEN ' + D.window[0] + ' AND ' + D.window[1] : '';
}

// A summary cannot be asked.
function query(sql) {
	return D.is_summary ? '' : 'kymo query ' + D.operand + (D.clock_option || '') + ' ' + shell(sql);
}

function command(verb, words) {
	return D.is_summary ? '' : ['kymo', verb, D.operand, words].filter(Boolean).join(' ');
}

function query_button(sql) {
	return copy_button('copy as kymo query', query(sql));
}
