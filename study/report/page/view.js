/* view.js - what is chosen: a case, the mapping that is shown, the one it is compared with. */

const state = { case: 0, shown: null, other: null, metric: null, scale: 'linear', order: 'rank' };
const capital = text => text[0].toUpperCase() + text.slice(1);

/* What is ranked, as words: "time", or the metric. */
const resultName = one => one.column === 'time_s' ? 'time' : one.column;

/* Everything that the parts of the page draw from. */
function currentView () {
  const one = report.cases[state.case], mappings = one.mappings;
  const find = name => mappings.find(mapping => mapping.name === name);
  return {
    one, mappings, trace: report.traces[one.trace], machine: report.machines[one.machine],
    best: mappings[0], worst: mappings[mappings.length - 1], first: one.default ? find(one.default) : undefined,
    shown: find(state.shown), other: find(state.other),
    unit: unitOf(one.column), result: resultName(one),
  };
}

/* "best", "default", "worst" of a mapping, in words; there may be several or none. */
function rolesOf (view, mapping) {
  const roles = [];
  if (view.mappings.length < 2) return roles;
  if (mapping === view.best) roles.push('best');
  if (mapping === view.first) roles.push('default');
  if (mapping === view.worst) roles.push('worst');
  return roles;
}

/* The layout of links is the same for all mappings of a machine. */
function layoutOf (machine) {
  if (!machine.kind) return null;
  machine.layout ||= machine.kind === 'torus' ? torusLayout(machine) : fabricLayout(machine);
  return machine.layout;
}

/* What a case starts with: its best mapping beside the default, or the worst. */
function resetChoice () {
  const { mappings, default: initial } = report.cases[state.case];
  const names = mappings.map(mapping => mapping.name), last = names[names.length - 1];
  state.shown = names[0] ?? null;
  state.other = names.includes(initial) && initial !== state.shown ? initial : last ?? null;
}

const detailed = mapping => mapping.links || mapping.ranks || mapping.places;

/* A hidden section takes no part of a row of two. */
function showSection (id, wanted) {
  const section = byId(id), pair = section.parentElement;
  section.hidden = !wanted;
  if (pair.classList.contains('pair')) {
    const left = [...pair.children].filter(child => !child.hidden);
    left.forEach(child => child.classList.toggle('alone', left.length === 1));
  }
  return wanted;
}
