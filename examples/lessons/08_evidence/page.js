// Bayes factors of 80 data sets. The reader sees one set after the other, and says which model made it
// before the page shows the answer. The page estimates the Bayes factor of the present set; those of all 80
// sets are from the run.

const {sizes} = data, sources = ["one head", "infinitely many"];

/// All data sets, shuffled.
const order = [0, 1].flatMap((source) => Array.from({length: sets}, (_, set) => ({source, set})));
const uniform = uniforms(17);
for (let i = order.length - 1; i > 0; i--) {
  const j = Math.floor((i + 1) * uniform());
  [order[i], order[j]] = [order[j], order[i]];
}

/// The reader's answers for data sets, in order: {of, said}. A button for each source adds one when it is
/// pressed.
const verdicts = [];
let pressed = [0, 0];
function listen({one, many}) {
  const said = [one, many].findIndex((count, i) => count > pressed[i]);
  pressed = [one, many];
  if (said >= 0) verdicts.push({of: order[verdicts.length % order.length], said});
  return order[verdicts.length % order.length];
}

/// Shares of all data sets for which a claim, made if |ln B| is above c, is right and wrong.
function claims(size, c) {
  return [1, -1].map((sign) =>
    order.filter((of) => sign * (of.source === 0 ? 1 : -1) * factor(of, size) > c).length / order.length);
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
    {name: "n", label: "targets N", values: sizes, at: 2},
    {name: "one", press: "I say: one head"},
    {name: "many", press: "I say: infinitely many"},
    {name: "show", label: "show", choices: {seen: "data sets judged", all: "all 80"}},
    {name: "draws", label: "draws S", values: [10, 30, 100, 300, 1000, 3000, 10000], at: 4},
    {name: "again", press: "draw again"},
  ],
  panels: [
    {title: "The data set to judge", x: {label: "targets", from: 0, to: 25}, y: {label: "ln B: above 0 for one head", ...reach}},
    {title: "Data sets, by their source", x: columnNames("heads of the source", ["1", "∞"]), y: {label: "ln B: above 0 for one head", ...reach}},
    {title: "What claims beyond so many nats get", x: {label: "nats", from: 0, to: 6}, y: {label: "share of 80", from: 0, to: 1}},
  ],
  draw(state, [one, all, shares]) {
    const now = listen(state), size = sizes.indexOf(state.n), lastly = verdicts.at(-1), estimate = estimates(now, state).slice(0, state.n);
    const runs = sizes.slice(0, size + 1).map((n, i) => [n, factor(now, i)]);
    const far = Math.max(2, ...[...runs.map(([, b]) => [b, 0]), ...estimate].map(([b, error]) => Math.ceil(Math.abs(b) + error)));
    [one.y.from, one.y.to] = [-far, far];
    one.clear();
    one.line("no decision", [[0, 0], [25, 0]], 5);
    one.band(`data set ${verdicts.length + 1}: estimate ± standard error`, estimate.map(([b, error], i) => [i + 1, b - error, b + error]), 1);
    one.line("estimate by S draws", estimate.map(([b], i) => [i + 1, b]), 1);
    one.dots("by 60000 draws of the run", runs, 0, 7);
    const seen = state.show === "all" ? order : verdicts.map(({of}) => of);
    all.line("no decision", [[-0.5, 0], [1.5, 0]], 5);
    for (const source of [0, 1])
      all.dots(`from ${sources[source]}`, seen.filter((of) => of.source === source).map((of) => [source + 0.7 * (of.set / sets - 0.5), factor(of, size)]), source, 4);
    if (lastly) all.dots("the last one", [[lastly.of.source + 0.7 * (lastly.of.set / sets - 0.5), factor(lastly.of, size)]], 5, 9);
    if (!state.committed) return;
    for (const [i, name] of ["right", "wrong"].entries()) shares.line(name, thresholds.map((c) => [c, claims(size, c)[i]]), i);
    shares.line("at most wrong on average, 1/B", thresholds.map((c) => [c, Math.exp(-c)]), 2);
  },
  says(state) {
    const {n, draws} = state, right = verdicts.filter(({of, said}) => of.source === said).length, last = verdicts.at(-1);
    const [b, error, worth] = estimates(order[verdicts.length % order.length], state)[n - 1];
    return (last ? `The last one was from ${sources[last.of.source]}: you were ${last.of.source === last.said ? "right" : "wrong"}, as ${right} times of ${verdicts.length}. ` : "") +
      `With ${n} targets, ln B = ${b.toFixed(2)} ± ${error.toFixed(2)}: ${draws} draws, worth ${worth.toFixed(1)} of equal weight${worth < 100 ? ": too few, do not trust it" : ""}.`;
  },
  functions: {givenHead, ofLimit},
});
