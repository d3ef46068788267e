// Training in closed form, by the eigenvectors of the tangent kernel at the four training inputs, and the
// posterior for comparison. If only the last layer learns, its tangent kernel is the covariance of the
// prior, and the distribution of networks at the end of training is the posterior.

const {line, k, layers, networks} = data, inputs = [-3, -1, 1, 3];

/// How much each target adds to the output at each input of the plotted line after t steps: the matrix
/// S = Θ*·Σ v (1 − exp(−ηλt/N))/λ vᵀ over eigenvalues λ and eigenvectors v of Θ, with learning rate η.
function response(which, t) {
  const {rate, values, vectors, cross} = layers[which];
  const grown = values.map((value) => (1 - Math.exp(-rate * value * t / 4)) / value);
  const inner = inputs.map((_, i) => inputs.map((_, j) => grown.reduce((sum, each, e) => sum + each * vectors[i][e] * vectors[j][e], 0)));
  return cross.map((row) => inner.map((column) => dot(row, column)));  // inner is symmetric
}

/// [mean, variance] over all initializations at each input of the line. Before training the networks have
/// the covariance K, so f − S·f(X) has the covariance K** − 2·S·K*ᵀ + S·K·Sᵀ.
function ensemble(which, t, targets) {
  return response(which, t).map((s, i) =>
    [dot(s, targets), data.variances[i] - 2 * dot(s, data.cross[i]) + dot(s, k.map((row) => dot(row, s)))]);
}

const times = [0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 300, 500, 1000];
const end = 1e300, at = line.indexOf(-2.5);
const deviation = (variance) => Math.sqrt(Math.max(0, variance));
const around = (x, [mean, variance]) => [x, mean - deviation(variance), mean + deviation(variance)];

page({
  predict: {
    question: "Many wide layers are trained to the end on four targets, without noise. Look at an input between. Is their mean the exact posterior's mean, and their spread its standard deviation?",
    answers: ["both: to train from random weights is to draw from the posterior", "the mean is; the spread is smaller", "neither, as a rule: another mean, and a spread that is at least the posterior's"],
    right: 2,
    because: "Both are linear in the targets, but by the tangent kernel Θ in one case and by the covariance K in the other. S = Θ*Θ⁻¹ makes the variance larger by (S − B)K(S − B)ᵀ, B = K*K⁻¹. Let the last layer learn alone: its Θ is K.",
  },
  controls: [
    {name: "step", label: "step", values: times, at: 3, play: true},
    {name: "which", label: "what learns", choices: {all: "all layers", last: "the last layer"}},
  ],
  drag: {name: "targets", panel: 0, points: inputs.map((s, i) => [s, data.targets[i]])},
  panels: [
    {title: "Functions, ± standard deviation", x: {label: "input s", from: -4, to: 4}, y: {label: "f(s)", from: -2.5, to: 2.5}, height: 400},
    {title: "The output at s = −2.5", x: {label: "step", from: 1, to: 1300, log: true}, y: {label: "f(−2.5)", from: -1, to: 2}, height: 400},
  ],
  draw({step, which, targets, committed}, [functions, course]) {
    const y = targets.map(([, target]) => target), trained = ensemble(which, step, y), posterior = ensemble("last", end, y);
    const ours = which === "all" && y.every((target, i) => target === data.targets[i]);  // the run's networks learned these
    functions.band("posterior", posterior.map((each, i) => around(line[i], each)), 2);
    functions.line("posterior's mean", posterior.map(([mean], i) => [line[i], mean]), 2);
    functions.band("trained", trained.map((each, i) => around(line[i], each)), 0);
    functions.line("trained, mean", trained.map(([mean], i) => [line[i], mean]), 0);
    if (ours && step <= 100) functions.dots("20 networks of the run", networks[step].map((f) => [-2.5, f]), 3, 3);
    functions.dots("targets: drag them", targets, 1, 8);
    if (!committed) return;
    const later = times.slice(1), over = later.map((t) => ensemble(which, t, y)[at]);
    course.band("posterior", [1, 1000].map((t) => around(t, posterior[at])), 2);
    course.band("trained", over.map((each, i) => around(later[i], each)), 0);
    course.line("trained, mean", over.map(([mean], i) => [later[i], mean]), 0);
    if (ours) for (const n of networks[0].keys()) course.pieces("20 networks of the run", [later.filter((t) => t <= 100).map((t) => [t, networks[t][n]])], 3);
    course.dots("now", [[Math.max(1, step), trained[at][0]]], 5, 9);
  },
  says({step, which, targets}) {
    const y = targets.map(([, target]) => target), [[mean, variance], [exact, least]] = [ensemble(which, step, y)[at], ensemble("last", end, y)[at]];
    return `At s = −2.5 after ${step} steps: ${mean.toFixed(3)} ± ${deviation(variance).toFixed(3)}; the posterior: ${exact.toFixed(3)} ± ${deviation(least).toFixed(3)}.`;
  },
  functions: {ensemble},
});
