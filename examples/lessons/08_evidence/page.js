// Logarithms of Bayes factors of 80 data sets, of the run. The reader sees one after the other, and says
// which model made it, before the page does.

const {sizes, factors} = data, sources = ["one head", "infinitely many"];
const sets = factors[0].length;

/// ln B of a data set: source 0 or 1, its number, and the place of N among the sizes.
function factor({source, set}, size) { return factors[2 * size + source][set]; }

/// All data sets, in an order that tells nothing.
const order = [0, 1].flatMap((source) => Array.from({length: sets}, (_, set) => ({source, set})));
const uniform = uniforms(17);
for (let i = order.length - 1; i > 0; i--) {
  const j = Math.floor((i + 1) * uniform());
  [order[i], order[j]] = [order[j], order[i]];
}

/// What was said of data sets, in turn: {of, size, said}. A press more of a button says its source.
const verdicts = [];
let pressed = [0, 0];
function listen({one, many, n}) {
  const now = [one, many], said = now.findIndex((count, i) => count > pressed[i]);
  pressed = now;
  if (said >= 0) verdicts.push({of: order[verdicts.length % order.length], size: sizes.indexOf(n), said});
  return order[verdicts.length % order.length];
}

/// Shares of all data sets that a claim beyond ±c gets right and wrong.
function claims(size, c) {
  const right = order.filter((of) => (of.source === 0 ? 1 : -1) * factor(of, size) > c).length;
  const wrong = order.filter((of) => (of.source === 0 ? -1 : 1) * factor(of, size) > c).length;
  return [right / order.length, wrong / order.length];
}

const reach = {from: Math.floor(Math.min(...factors.flat())), to: Math.ceil(Math.max(...factors.flat()))};
const thresholds = Array.from({length: 25}, (_, i) => i / 4);

page({
  predict: {
    question: "Of 40 data sets from one head and 40 from infinitely many, for how many is the evidence of the true model the larger one, with 24 targets each, and with 6?",
    answers: ["nearly all with 24, about 70 of 80 with 6", "64 of 80 with 24, 55 with 6", "about 40 of 80 with either"],
    right: 1,
    because: "On average over data sets ln B has the right sign, but it scatters from one to the next. What protects is its size: a wrong factor of 20 (3 nats) or more comes at most once in 20.",
  },
  controls: [
    {name: "n", label: "targets N", values: sizes},
    {name: "one", press: "I say: one head"},
    {name: "many", press: "I say: infinitely many"},
    {name: "show", label: "show", choices: {seen: "data sets judged", all: "all 80"}},
    {name: "c", label: "claim only beyond", values: thresholds.filter((c) => c % 0.5 === 0), say: (c) => `${c} nats`, at: 6},
  ],
  panels: [
    {title: "The data set to judge", x: {label: "targets N", from: 2.5, to: 30, log: true}, y: {label: "ln B: above 0 for one head", ...reach}},
    {title: "Data sets, by their source", x: columnNames("heads of the source", ["1", "∞"]), y: {label: "ln B: above 0 for one head", ...reach}},
    {title: "What claims beyond so many nats get", x: {label: "nats", from: 0, to: 6}, y: {label: "share of 80", from: 0, to: 1}},
  ],
  draw(state, [one, all, shares]) {
    const now = listen(state), size = sizes.indexOf(state.n), lastly = verdicts.at(-1);
    one.line("no decision", [[2.5, 0], [30, 0]], 5);
    one.dots(`data set ${verdicts.length + 1}`, sizes.slice(0, size + 1).map((n, i) => [n, factor(now, i)]), 0, 7);
    const seen = state.show === "all" ? order : verdicts.map(({of}) => of);
    all.line("no decision", [[-0.5, 0], [1.5, 0]], 5);
    for (const source of [0, 1])
      all.dots(`from ${sources[source]}`, seen.filter((of) => of.source === source).map((of) => [source + 0.7 * (of.set / sets - 0.5), factor(of, size)]), source, 4);
    if (lastly) all.dots("the last one", [[lastly.of.source + 0.7 * (lastly.of.set / sets - 0.5), factor(lastly.of, size)]], 5, 9);
    if (!state.committed) return;
    shares.line("right", thresholds.map((c) => [c, claims(size, c)[0]]), 0);
    shares.line("wrong", thresholds.map((c) => [c, claims(size, c)[1]]), 1);
    shares.line("at most wrong on average, 1/B", thresholds.map((c) => [c, Math.exp(-c)]), 2);
    shares.dots("turned to", claims(size, state.c).map((share) => [state.c, share]), 5, 9);
  },
  says({n, c}) {
    const right = verdicts.filter(({of, said}) => of.source === said).length, last = verdicts.at(-1);
    const [yes, no] = claims(sizes.indexOf(n), c).map((share) => Math.round(80 * share));
    return (last ? `The last one was from ${sources[last.of.source]}: you were ${last.of.source === last.said ? "right" : "wrong"}, as ${right} times of ${verdicts.length}. ` : "") +
      `With ${n} targets, claims beyond ${c} nats are right for ${yes} of the 80 data sets and wrong for ${no}.`;
  },
});
