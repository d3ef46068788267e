// The exact posterior of one logit g, and gradient ascents on it. A head that copies with strength ρ,
// followed by Gaussian weights, has an evidence in closed form.

const {symbols, noise, weight, overlaps, found} = data;

/// Strength of copying: the attention weight of the right token minus that of each other token.
function strength(g, scale) {
  const right = 1 / (1 + (symbols - 1) * Math.exp(-scale * g));
  return (symbols * right - 1) / (symbols - 1);
}

/// ln p(targets | g) − ln p(targets | 0) of n sequences. `overlap` is |XᵀY|², with a row of X for the token
/// before each position and a row of Y for its target.
function evidence(g, scale, n, overlap) {
  const c = weight ** 2 / (noise * symbols), k = n * symbols ** 2 / (symbols - 1);
  const square = strength(g, scale) ** 2, u = 1 + c * k * square;
  return c * overlap * square / (2 * noise * u) - symbols * (symbols - 1) / 2 * Math.log(u);
}

/// Logarithm of the posterior of g minus that at g = 0. The prior is N(0, 1).
function height(g, {scale, n}) { return evidence(g, scale, n, overlapOf.get(n)) - g * g / 2; }
const overlapOf = new Map(overlaps);

const grid = Array.from({length: 1101}, (_, i) => i / 100 - 3);  // contains nearly all of the posterior

/// The posterior density on the grid, and its probability of ρ > ½.
function posterior(state) {
  const values = grid.map((g) => height(g, state)), most = Math.max(...values);
  const masses = values.map((value) => Math.exp(value - most)), all = masses.reduce((sum, each) => sum + each, 0);
  const copies = masses.reduce((sum, each, i) => sum + (strength(grid[i], state.scale) > 0.5 ? each : 0), 0) / all;
  return {density: grid.map((g, i) => [g, 100 * masses[i] / all]), heights: grid.map((g, i) => [g, values[i]]), copies};
}

/// 100 gradient ascents. If the reader changes the number of sequences, they continue from where they are.
let climbers = {of: ""};
function ascents(state) {
  const of = `${state.start} ${state.scale} ${state.again}`, normal = normals(4 + state.again);
  if (climbers.of !== of) climbers = {of, trace: [], places: Array.from({length: 100}, () => state.start === "prior" ? normal() : 6)};
  const {places, trace} = climbers;
  if (trace.at(-1)?.[0] === state.n) return climbers;
  const slope = (g) => (height(g + 1e-4, state) - height(g - 1e-4, state)) / 2e-4;
  for (const i of places.keys())
    for (let step = 0; step < 300; step++) places[i] += Math.max(-0.2, Math.min(0.2, 0.1 * slope(places[i])));
  trace.push([state.n, places.filter((g) => strength(g, state.scale) > 0.5).length / 100]);
  return climbers;
}

page({
  predict: {
    question: "More and more sequences say that the head copies. How does the peak of its logit come from 0 to 5, and where are a hundred gradient ascents that began at draws of the prior?",
    answers: ["the peak travels, and the ascents go with it", "a second peak grows at 5, and the ascents go over to it", "a second peak grows at 5, and nearly all ascents stay near 0"],
    right: 2,
    because: "ρ rises faster than g (by a term of g², so that the logarithm has one of g³ > 0): far from 0 it pays before it does near 0. Between the peaks is a valley, which an ascent does not cross. Begin at a copying head and go back to few sequences: there it is the copying heads that stay.",
  },
  controls: [
    {name: "n", label: "sequences N", values: overlaps.map(([n]) => n), at: 12, play: true},
    {name: "start", label: "ascents begin at", choices: {prior: "the prior", copy: "a copying head"}},
    {name: "scale", label: "scale s of the logit", values: [0.8, 1.2, 1.6, 2.4, 3.2]},
    {name: "again", press: "begin again"},
  ],
  panels: [
    {title: "Exact posterior of the logit", x: {label: "logit g", from: -3, to: 8}, y: {label: "density", from: 0, to: 1}},
    {title: "What an ascent climbs", x: {label: "logit g", from: -3, to: 8}, y: {label: "ln density, above g = 0", from: -8, to: 4}},
    {title: "Who copies (ρ > ½)", x: {label: "sequences N", from: 0, to: 80}, y: {label: "share", from: -0.04, to: 1.04}},
  ],
  draw(state, [shape, hill, birth]) {
    const {density, heights, copies} = posterior(state), {places, trace} = ascents(state);
    shape.y.to = Math.max(0.5, Math.ceil(4 * Math.max(...density.map(([, value]) => value))) / 4);
    hill.y.to = Math.max(4, ...heights.map(([, value]) => Math.ceil(1.2 * value)));
    for (const panel of [shape, hill]) panel.clear();
    shape.line("posterior", density.filter((_, i) => i % 4 === 0), 0);
    hill.line("posterior", heights.filter((_, i) => i % 4 === 0), 0);
    hill.dots("ascents", places.map((g) => [g, height(g, state)]), 1, 5);
    if (state.committed) birth.line("exact probability", overlaps.map(([n]) => [n, posterior({...state, n}).copies]), 0);
    if (state.committed && state.scale === 0.8) birth.dots("hmc, in the run", found.map(([n, hmc]) => [n, hmc]), 2);
    birth.line("ascents, as N was turned", trace, 1);
    birth.dots("N, turned to", [[state.n, copies]], 5, 9);
  },
  says: (state) => `${state.n} sequences: the head copies with probability ${posterior(state).copies.toFixed(3)}; ${Math.round(100 * ascents(state).trace.at(-1)[1])} of 100 ascents copy.`,
  functions: {evidence},
});
