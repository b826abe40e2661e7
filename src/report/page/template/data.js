// The payload as objects: the result, and states that know their parents and children.
const payload = JSON.parse(document.getElementById("data").textContent);
const result = payload.result;
const run = payload.run;

function stepText(step) {
  const parameters = Object.entries(step.parameters ?? {});
  return parameters.length ? `${step.step}(${parameters.map(([name, value]) => `${name}=${value}`).join(", ")})` : step.step;
}

const states = (() => {
  const words = new Set(["step", "verdict", "message", "method", "bottleneck", "launch", "assumptions"]);
  const list = payload.states.map((row, order) => {
    const state = {order, children: [], refused: [], known: [], depth: 0};
    payload.columns.forEach((name, at) => {
      state[name] = words.has(name) ? payload.texts[row[at]] : row[at];
    });
    return state;
  });
  const byId = new Map(list.map((state) => [state.id, state]));
  for (const state of list) {
    const parent = byId.get(state.parent);
    state.base = parent && parent.order < state.order ? parent : null;
    state.parent = state.order === 0 ? null : state.base ?? list[0];
    if (state.parent) {
      state.parent.children.push(state);
      state.depth = state.parent.depth + 1;
    }
  }
  for (const [parent, step, reason] of payload.refused) {
    byId.get(parent)?.refused.push({step: payload.texts[step], reason: payload.texts[reason]});
  }
  for (const [parent, step, child] of payload.known) {
    byId.get(parent)?.known.push({step: payload.texts[step], state: byId.get(child)});
  }
  return list;
})();
const original = states[0] ?? null;

// The states from the original to that one.
function pathTo(state) {
  const path = [];
  for (let at = state; at; at = at.parent) path.unshift(at);
  return path;
}

// A state's source as lines: the changes of its path, one after the other.
function sourceOf(state) {
  const chain = [];
  for (let at = state; at && !at.lines; at = at.base) chain.unshift(at);
  for (const one of chain) {
    const before = one.base ? one.base.lines : [];
    const lines = [];
    let at = 0;
    for (const [start, removed, inserted] of one.source) {
      for (; at < start; ++at) lines.push(before[at]);
      for (const line of inserted) lines.push(payload.lines[line]);
      at += removed;
    }
    for (; at < before.length; ++at) lines.push(before[at]);
    one.lines = lines;
  }
  return state.lines;
}

// The states of the winner's steps, as far as they are there; the original first.
const bestPath = (() => {
  if (!original) return [];
  const path = [original];
  for (const step of result?.best?.steps ?? []) {
    const text = stepText(step);
    const here = path[path.length - 1];
    const next = here.children.find((child) => child.step === text) ?? here.known.find((one) => one.step === text)?.state;
    if (!next) break;
    path.push(next);
  }
  return path;
})();
const bestState = result?.status === "improved" && bestPath.length === result.best.steps.length + 1
  ? bestPath[bestPath.length - 1] : null;
const onBestPath = new Set(bestState ? bestPath : []);
