// Chains that follow the gradient of x²/2 with noise, by three rules. Their stationary variance is measured
// by this script; the curves are the formulas of the run, the dots the variances that the run measured.

/// Langevin's step with noise drawn from N(0, 1).
function langevin(x, gradient, step, noise) { return x - step * gradient + Math.sqrt(2 * step) * noise; }

/// A step of RMSprop: the new x and the new running mean of squared gradients.
function rmsprop([x, squares], gradient, step) {
  const mean = 0.995 * squares + 0.005 * gradient * gradient;
  return [x - step * gradient / (Math.sqrt(mean) + 1e-8), mean];
}

const rules = {langevin: "Langevin", batches: "Langevin, gradients of batches", through: "noise through RMSprop"};
const chains = 400, {items, rows} = data;
let run = {of: ""};

/// One step of all chains.
function advance({states, normal, uniform}, {rule, step, batch}) {
  for (const [i, [x, squares]] of states.entries()) {
    let gradient = x;  // the gradient of a batch is x minus the mean of its items
    if (rule === "batches") for (let j = 0; j < batch; j++) gradient -= items[Math.floor(items.length * uniform())] / batch;
    states[i] = rule === "through"
      ? rmsprop([x, squares], gradient + Math.sqrt(2 / step) * normal(), step)
      : [langevin(x, gradient, step, normal()), 0];
  }
}

/// The chains: 400 new steps after a change of the controls, 50 more for each step of the player. The
/// variance is that of the last 50 steps. RMSprop's running mean begins at the value to which it converges,
/// about 2/step, that of the noise.
function chainsOf(state) {
  const {rule, step, batch, more} = state, of = `${rule} ${step} ${batch}`, normal = normals(5);
  if (run.of !== of)
    run = {of, normal, uniform: uniforms(6), more: more - 8, at: 0, states: Array.from({length: chains}, () => [normal(), 2 / step])};
  for (; run.more < more; run.more++) {
    run.variance = 0;
    for (let t = 0; t < 50; t++, run.at++) {
      advance(run, state);
      run.variance += run.states.reduce((sum, [x]) => sum + x * x, 0) / (50 * chains);
    }
  }
  return run;
}

page({
  predict: {
    question: "Three rules are to sample N(0, 1). You make the step eight times smaller. Whose variance comes nearer to 1?",
    answers: ["that of all three", "that of Langevin's steps, with exact gradients and with batches", "that of Langevin's steps with exact gradients alone"],
    right: 1,
    because: "A batch's error is multiplied by the step, and the sampler's own noise by its square root: the error vanishes beside it. Noise that RMSprop divides by its own size has the wrong place, and less is left the smaller the step.",
  },
  controls: [
    {name: "rule", label: "rule", choices: rules},
    {name: "step", label: "step", values: [0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8], at: 6},
    {name: "batch", label: "items per batch", values: [1, 2, 5, 10, 20], at: 3},
    {name: "more", run: "50 more steps"},
  ],
  panels: [
    {title: "Where 400 chains are", x: {label: "x", from: -6, to: 6}, y: {label: "density", from: 0, to: 1.5}},
    {title: "Variance at rest against the step", x: {label: "step", from: 0.01, to: 1, log: true},
     y: {label: "variance", from: 0.05, to: 20, log: true}},
  ],
  draw(state, [places, rest]) {
    const {states, variance} = chainsOf(state), width = 0.25;
    const count = (centre) => states.filter(([x]) => Math.abs(x - centre) <= width / 2).length;
    places.columns("chains", Array.from({length: 48}, (_, i) => (i + 0.5) * width - 6)
      .map((centre) => [centre, count(centre) / (chains * width), width]), 0);
    places.line("N(0, 1)", Array.from({length: 97}, (_, i) => [i / 8 - 6, normalDensity(i / 8 - 6)]), 1);
    if (!state.committed) return;
    const curve = (at) => rows.slice(1).map((row) => [row[0], at(row)]);
    rest.line("N(0, 1)", curve(() => 1), 1);
    rest.line("Langevin", curve((row) => row[1]), 0);
    rest.line(`batches of ${state.batch}`, curve((row) => row[1] + (row[2] - row[1]) * 10 / state.batch), 2);  // affine in 1/batch
    rest.line("noise through RMSprop", curve((row) => row[3]), 3);
    for (const [i, name] of ["Langevin", "batches of 10", "noise through RMSprop"].entries())
      rest.dots(`${name}, in the run`, rows.filter((row) => row.length > 4).map((row) => [row[0], row[4 + i]]), [0, 2, 3][i], 4);
    rest.dots("the chains here", [[state.step, variance]], 5, 9);
  },
  says: (state) => `${rules[state.rule]}, step ${state.step}: after ${run.at} steps the variance is ${run.variance.toPrecision(3)}; it should be 1.`,
  functions: {langevin, rmsprop: (x, gradients, step) => gradients.reduce((state, gradient) => rmsprop(state, gradient, step), [x, 0])[0]},
});
