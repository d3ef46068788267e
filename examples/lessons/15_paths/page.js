// Predictions of a network whose paths have the order parameter U: a Gaussian process with the kernel
// ¼·Σ U_pq·C_pq over pairs of paths. The page has the kernels C of one data set, training chains first.

const {classes, unit, widths} = data, paths = ["same, uniform", "same, random", "random, uniform", "random, random"];
const known = 100, targets = classes.slice(0, known), right = classes.slice(known);
const pairs = paths.flatMap((_, a) => paths.map((_, b) => [a, b])).filter(([a, b]) => a <= b);

/// C of each pair of paths, in multiples of `unit`, unpacked from text: two characters per number, which
/// give number + 2047 in base 64, with the characters from "=" on as digits.
const overlaps = data.overlaps.map((text) => Int16Array.from({length: text.length / 2}, (_, i) =>
  64 * (text.charCodeAt(2 * i) - 61) + text.charCodeAt(2 * i + 1) - 61 - 2047));

/// Predictions for the test chains: k*ᵀ(K + σ²)⁻¹y = (L⁻¹k*)·(L⁻¹y), with the Cholesky factor L.
function predicted(...u) {
  const k = (i, j) => pairs.reduce((sum, [a, b], p) => sum + (a === b ? 1 : 2) * u[a][b] * overlaps[p][known * i + j], 0) * unit / 4;
  const row = (i) => targets.map((_, j) => k(i, j));
  const root = cholesky(targets.map((_, i) => row(i).map((each, j) => each + (i === j ? 0.01 : 0))));
  const weights = solved(root, targets);
  return right.map((_, i) => dot(solved(root, row(known + i)), weights));
}

/// U with one path `by` times as strong, and without the paths through a pruned head.
const pruned = {none: [], "the first random": [2, 3], "the second random": [1, 3], "the first same": [0, 1], "the second uniform": [0, 2]};
function turnedOrder({width, prune, by}) {
  const factor = paths.map((_, path) => pruned[prune].includes(path) ? 0 : path === 0 ? Math.sqrt(by) : 1);
  return widths[width].order.map((row, a) => row.map((each, b) => factor[a] * factor[b] * each));
}

let answered = {of: ""};
function share(state) {
  const of = [state.width, state.prune, state.by].join();
  if (answered.of !== of)
    answered = {of, hits: predicted(...turnedOrder(state)).filter((answer, i) => answer * right[i] > 0).length / right.length};
  return answered.hits;
}

const order = [...widths.keys()].slice(1).concat(0);  // infinite width last
const sizes = order.map((width) => widths[width].n === 0 ? "∞" : String(widths[width].n));
const figure = (column) => order.map((width, i) => [i, ...widths[width].figures[column]]);
const axis = () => columnNames("width N", sizes), at = (width) => order.indexOf(width);

page({
  predict: {
    question: "A path takes one head per layer; one of the four counts equal neighbours, which the answer asks for. Maps are fixed, values and readout have Gaussian priors. Which width answers best?",
    answers: ["the widest", "about 100: wide enough, not too wide", "10, the narrowest here", "all alike, as the maps are fixed"],
    right: 2,
    because: "At infinite width U is the identity whatever the data say, so every path counts alike. Width 10 makes the good path strong, and gives its pair with (random, uniform) a negative entry. Do by hand at infinite width what it learnt: make the good path stronger, or prune the second layer's random head.",
  },
  controls: [
    {name: "width", label: "width N", values: order, at: order.length - 1, say: (width) => sizes[at(width)], play: true},
    {name: "by", label: "good path, by hand", values: [1, 2, 4, 8, 16, 32], say: (by) => `× ${by}`},
    {name: "prune", label: "prune the head", choices: Object.fromEntries(Object.keys(pruned).map((name) => [name, name]))},
  ],
  panels: [
    {title: "Order parameter U", x: columnNames("", paths), y: rowNames("", paths), height: 400, room: {left: 136, bottom: 110}},
    {title: "Entries against width, most likely", x: axis(), y: {label: "entry of U", from: 0.5, to: 100, log: true}, height: 400, room: {bottom: 84}},
    {title: "Right answers", x: axis(), y: {label: "share of test chains", from: 0.5, to: 1}, height: 400, room: {bottom: 84}},
  ],
  draw(state, [matrix, entries, answers]) {
    const u = turnedOrder(state), place = at(state.width);
    matrix.cells("entry of U", u.map((row) => row.map((each) => Number(each.toPrecision(2)))), Math.max(1, ...u.flat().map(Math.abs)), true);
    answers.dots("turned to, this data set", [[place, share(state)]], 5, 9);
    if (!state.committed) return;
    entries.errors("good path (same, uniform)", figure(1), 0);
    entries.errors("path (random, random)", figure(2), 1);
    entries.errors("−N times the entry of good and (random, uniform)", figure(3).map(([i, value, error]) => [i, -value, error]), 2);
    entries.dots("turned to", [[place, u[0][0]]], 5, 9);
    answers.errors("4 data sets of the run, nothing done by hand", figure(0), 0);
  },
  says(state) {
    const u = turnedOrder(state), strongest = Math.max(...u.map((row, i) => row[i])), best = paths[u.findIndex((row, i) => row[i] === strongest)];
    return `Width ${sizes[at(state.width)]}: ${Math.round(100 * share(state))} of 100 test chains are answered rightly. ` +
      (u.every((row, i) => row[i] === strongest) ? "All paths are alike." : `The strongest path is (${best}), ${shown(Number(strongest.toPrecision(3)))} times as strong as the prior has it; the good path's entry with (random, uniform) is ${shown(Number(u[0][2].toPrecision(2)))}.`);
  },
  functions: {predicted},
});
