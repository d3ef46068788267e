// One query, eight keys and their values: logits, weights, and the context, their weighted mean.

const keys = 8, values = data.values;

/// Logits of a query with all keys; with `root` divided by the root of the query's width.
function logitsOf(query, rows, root) {
  const by = root ? Math.sqrt(query.length) : 1;
  return rows.map((key) => dot(key, query) / by);
}

/// Attention weights: softmax of the logits divided by the temperature. The largest logit is subtracted,
/// so that nothing overflows. Only the first `seen` keys are attended to; the others have the logit −∞.
function weightsOf(logits, temperature, seen) {
  const masked = logits.map((logit, i) => i < seen ? logit / temperature : -Infinity), most = Math.max(...masked);
  const powers = masked.map((logit) => Math.exp(logit - most)), all = powers.reduce((sum, each) => sum + each, 0);
  return powers.map((each) => each / all);
}

function contextOf(weights, rows) { return rows[0].map((_, c) => weights.reduce((sum, a, i) => sum + a * rows[i][c], 0)); }

/// Draws new logits if the reader changed the width, the root or the draw; else keeps the logits, which
/// the reader may have moved.
let made = "";
function takeLogits({width, root, again, logits}) {
  const of = `${width} ${root} ${again}`;
  if (of === made) return;
  made = of;
  const normal = normals(20 + again), vector = () => Array.from({length: width}, normal);
  const query = vector(), rows = Array.from({length: keys}, vector);
  logitsOf(query, rows, root === "root").forEach((logit, i) => { logits[i][1] = logit; });
}

const now = ({logits, temperature, seen}) => weightsOf(logits.map(([, g]) => g), temperature, seen === "three" ? 3 : keys);

page({
  predict: {
    question: "A query and eight keys have d entries each, draws of N(0, 1). How large is the largest of the eight weights on average?",
    answers: ["near 1/8 at any d: the keys are alike", "about 0.35 at any d with the root √d; without it 0.53 for d = 4 and 0.87 for d = 64", "with the root 0.35 for d = 4 and less for larger d; without it about 0.35"],
    right: 1,
    because: "The product q·k is a sum of d terms of variance 1, so its deviation is √d. Divided by it, logits have the deviation 1 at any width.",
  },
  controls: [
    {name: "width", label: "width d", values: data.widths.map(([d]) => d)},
    {name: "root", label: "logits", choices: {root: "q·k/√d", none: "q·k"}},
    {name: "temperature", label: "temperature T", values: [0.0625, 0.125, 0.25, 0.5, 1, 2, 4, 8, 16], at: 4},
    {name: "seen", label: "the query sees", choices: {all: "all keys", three: "keys 1 to 3"}},
    {name: "again", press: "another query"},
  ],
  drag: {name: "logits", panel: 0, points: Array.from({length: keys}, (_, i) => [i + 1, 0])},
  panels: [
    {title: "Logits: drag them", x: {label: "key", from: 0.4, to: 8.6}, y: {label: "logit", from: -4, to: 4}},
    {title: "Weights", x: {label: "key", from: 0.4, to: 8.6}, y: {label: "weight", from: 0, to: 1}},
    {title: "Values, and their mean", x: {label: "first channel", from: -2.5, to: 2.5}, y: {label: "second channel", from: -2.5, to: 2.5}},
  ],
  draw(state, [given, shares, places]) {
    takeLogits(state);
    const {logits, width, root} = state, reach = Math.max(4, ...logits.map(([, g]) => Math.ceil(1.2 * Math.abs(g))));
    Object.assign(given.y, {from: -reach, to: reach});
    given.clear();
    const weights = now(state), [, withRoot, without] = data.widths.find(([d]) => d === width);
    given.dots("logits", logits, 0, 8);
    shares.columns("weights", weights.map((a, i) => [i + 1, a, 0.7]), 0);
    const largest = root === "root" ? withRoot : without;
    shares.line("the largest, mean of 4000 queries of the run (T = 1, all keys)", [[0.4, largest], [8.6, largest]], 1);
    weights.forEach((a, i) => places.dots("value, larger with more weight", [values[i]], 0, 2.5 + 12 * Math.sqrt(a)));
    places.dots("context", [contextOf(weights, values)], 1, 9);
  },
  says(state) {
    const weights = now(state), most = Math.max(...weights), key = weights.indexOf(most);
    const squares = weights.reduce((sum, a) => sum + a * a, 0), context = contextOf(weights, values);
    return `Key ${key + 1} has the largest weight, ${most.toFixed(3)}; the weights are as spread as ${(1 / squares).toFixed(1)} equal ones, and the context is ` +
      `${Math.hypot(...context.map((each, c) => each - values[key][c])).toFixed(2)} away from that key's value. Slope 1 − Σa²: ${(1 - squares).toFixed(3)}.`;
  },
  functions: {logitsOf, weightsOf, contextOf},
});
