// The distribution of an output of H random heads. Its density is the mean of the densities of N(0, s) over
// draws of the variance s, which is itself a mean of H draws of the variance of one head. The draws for one
// head are quantiles of the draws of the run.

/// Density at y: the mean of the densities of N(0, s) over the variances s.
function density(variances, y) { return variances.reduce((sum, s) => sum + normalDensity(y, s), 0) / variances.length; }

/// Probability of outputs beyond ±y.
function beyond(variances, y) { return 2 * variances.reduce((sum, s) => sum + normalTail(y / Math.sqrt(s)), 0) / variances.length; }

/// Draws of s for H heads, by width and H: means of H draws of one head's variance.
const drawn = new Map();
function law(width, heads) {
  const key = `${width} ${heads}`;
  if (!drawn.has(key)) {
    const uniform = uniforms(heads), one = data.variances.find(([w]) => w === width)[1];
    const pick = () => one[Math.floor(one.length * uniform())];
    const variances = heads === 1 ? one : one.map(() => Array.from({length: heads}, pick).reduce((sum, v) => sum + v, 0) / heads);
    const sd = Math.sqrt(variances.reduce((sum, v) => sum + v, 0) / variances.length);
    drawn.set(key, {variances, sd, share: beyond(variances, 3 * sd)});
  }
  return drawn.get(key);
}

const heads = [1, 2, 4, 8, 16, 32, 64], places = Array.from({length: 61}, (_, i) => i / 10);
const {divergences, bins, shares} = data, measured = 8;  // the width of the run's layers

page({
  predict: {
    question: "A random layer has four heads of width 8, and softmax. Is there a formula for the density of its output? And if the width doubles, what becomes of its divergence from infinitely wide heads?",
    answers: ["there is none between one head and infinitely many; it halves", "there is one; it halves", "there is one; it falls to a quarter"],
    right: 2,
    because: "Given logits and output weights the output is Gaussian. Width moves the density by a term of order 1/width, and a divergence is of second order in it.",
  },
  controls: [
    {name: "h", label: "heads H", values: heads, play: true},
    {name: "width", label: "width of a head", values: data.variances.map(([width]) => width), at: 2, say: (width) => width || "∞"},
    {name: "scale", label: "density", choices: {log: "logarithmic", linear: "linear"}},
  ],
  panels: [
    {title: "Density of an output", x: {label: "|output|/standard deviation", from: 0, to: 6}, y: {label: "density", from: 2e-5, to: 1, log: true}, height: 400},
    {title: "Beyond 3 standard deviations", x: {label: "heads H", from: 0.8, to: 80, log: true}, y: {label: "share of outputs", from: 0.001, to: 0.1, log: true}, height: 400},
    {title: "How far from infinite width (one head)", x: {label: "width of a head", from: 1.6, to: 40, log: true}, y: {label: "KL divergence in nats", from: 1e-4, to: 0.2, log: true}, height: 400},
  ],
  draw({h, width, scale, committed}, [shape, tails, far]) {
    Object.assign(shape.y, scale === "log" ? {from: 2e-5, to: 1, log: true} : {from: 0, to: 0.8, log: false});
    shape.clear();
    const {variances, sd, share} = law(width, h);
    shape.line("Gaussian", places.map((y) => [y, normalDensity(y)]), 1);
    if (committed) shape.line("exact law", places.map((y) => [y, sd * density(variances, y * sd)]), 0);
    if (width === measured) shape.errors("10000 layers of the run", bins.filter(([of, , value]) => of === h && value > 0).map(([, ...bin]) => bin), 2);
    tails.line("Gaussian", [[0.8, 0.0027], [80, 0.0027]], 1);
    if (committed) tails.line("exact law at this width", heads.map((each) => [each, law(width, each).share]), 0);
    tails.errors(`layers of the run, width ${measured}`, shares, 2);
    tails.dots("turned to", [[h, share]], 5, 9);
    if (!committed) return;
    far.errors("law at this width to that at ∞", divergences, 0);
    far.line("falling as 1/width²", divergences.map(([n]) => [n, divergences[3][1] * (divergences[3][0] / n) ** 2]), 1);
    far.dots("turned to", divergences.filter(([n]) => n === width).map(([n, value]) => [n, value]), 5, 9);
  },
  says: ({h, width}) => `${h === 1 ? "One head" : `${h} heads`} of ${width ? `width ${width}` : "infinite width"}: ` +
    `${(100 * law(width, h).share).toFixed(2)}% of outputs are beyond 3 standard deviations; 0.27% of a Gaussian's.`,
  functions: {density, beyond},
});
