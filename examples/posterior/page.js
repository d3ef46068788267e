// Targets to drag, heads, methods, and when to stop them.

const infinite = prepared(data.limit);
const styleOf = ({heads}) => [0, 2, 4][data.draws.findIndex((each) => each.heads === heads) % 3];
const named = (heads) => heads === 1 ? "1 head" : `${heads} heads`;
const methods = [...new Set(data.runs.map(({method}) => method))];
const early = Math.floor(data.steps / 4);
/// Whether a run of so many steps (0: they do not matter) is the one that was asked for.
const stopsAt = (steps, stop) => steps === 0 || steps === (stop === "early" ? early : data.steps);

let pressed = 0, beliefs = {of: ""}, samplers = data.draws.map(stored);
const unmoved = (targets) => targets.every(([, y], i) => y === data.targets[i]);

/// Puts the run's targets back when the button was pressed, and its draws.
function putBack({targets, back}) {
  if (back === pressed) return;
  pressed = back;
  targets.forEach((target, i) => { target[1] = data.targets[i]; });
  samplers = data.draws.map(stored);
}

/// The exact posteriors under these targets.
function believe(targets) {
  const y = targets.map(([, each]) => each), of = `${pressed}: ${y}`;
  if (beliefs.of !== of)
    beliefs = {of, limit: {mean: means(infinite, y), sd: infinite.variance.map(Math.sqrt)},
               finite: samplers.map((each) => belief(each, y))};
  return beliefs;
}
const chosenOf = ({heads, targets}) => believe(targets).finite.find((each) => each.heads === Number(heads));

/// The chosen method's answer, which it gave to the run's targets alone.
function answer({heads, method, stop, targets}) {
  if (!unmoved(targets)) return undefined;
  return data.runs.find((run) => run.method === method && run.heads === Number(heads) && stopsAt(run.steps, stop));
}

page({
  predict: {
    question: "One target is dragged far up. What does the band of infinitely many heads do?",
    answers: ["it widens: the data are a surprise", "its middle moves, its width stays",
              "it narrows there: more was learnt"],
    right: 1,
    because: "The covariance of a Gaussian process given data depends on places and noise, and on no target's " +
      "value. Finitely many heads do learn from the targets which of their attention maps are likely, and so " +
      "how sure to be: the width of their band changes.",
  },
  controls: [
    {name: "heads", label: "heads H", choices: Object.fromEntries(data.draws.map(({heads}) => [heads, heads]))},
    {name: "back", press: "back to the run's targets"},
    ...methods.length === 0 ? [] : [
      {name: "method", label: "method",
       choices: {none: "none", ...Object.fromEntries(methods.map((name) => [name, words[name] ?? name]))}},
      {name: "stop", label: "its steps", choices: {late: data.steps, early: `${early}: stopped early`}},
    ],
  ],
  drag: {name: "targets", panel: 0, points: data.training.map((s, i) => [s, data.targets[i]])},
  panels: [
    {title: "Drag the targets", x: {label: "s", from: -3, to: 3}, y: {label: "f(s), mean ± 2 sd", from: -1.6, to: 1.6}},
    {title: "How sure: sd of f(s)", x: {label: "s", from: -3, to: 3}, y: {label: "standard deviation", from: 0, to: 0.6}},
    ...methods.length === 0 ? [] : [
      {title: "Variance over the exact one", x: {label: "ratio; exact: 1", from: 0.002, to: 60, log: true},
       y: rowNames("", methods.map((name) => words[name] ?? name)), room: {left: 184}}],
  ],
  draw(state, [bands, sure, ratios], {places: at, ratios: measured}) {
    putBack(state);
    bands.clear();  // the handles, too, may have been put back
    const {targets, method, stop} = state, {limit, finite} = believe(targets);
    const one = chosenOf(state), run = answer(state);
    const band = (name, {mean, sd}, style) => {
      bands.band(name, at.map((s, i) => [s, mean[i] - 2 * sd[i], mean[i] + 2 * sd[i]]), style);
      bands.line(name, at.map((s, i) => [s, mean[i]]), style);
    };
    band("infinitely many heads", limit, 5);
    band(named(one.heads), one, styleOf(one));
    if (run) band(words[method] ?? method, run, 1);
    bands.dots("targets", targets, 3, 6);
    const line = (name, {sd}, style) => sure.line(name, at.map((s, i) => [s, sd[i]]), style);
    finite.forEach((each) => line(named(each.heads), each, styleOf(each)));
    line("infinitely many", limit, 5);
    if (run) line(words[method] ?? method, run, 1);
    if (!ratios) return;
    ratios.title = `Variance over the exact one, ${named(one.heads)}`;
    ratios.clear();
    ratios.line("exact", [[1, -0.5], [1, methods.length - 0.5]], 5);
    for (const [when, style] of [["early", 4], ["late", 0]]) {
      const rows = measured.filter(([name, heads, steps]) =>
        heads === one.heads && stopsAt(steps, when) && methods.includes(name));
      const at_row = ([name, , , value]) => [value, methods.indexOf(name)];
      ratios.pieces(`± one standard error over ${data.data_sets} data sets`, rows.map((row) => {
        const [value, y] = at_row(row), error = row[4] ?? 0;
        return [[value - error, y], [value + error, y]];
      }), style);
      ratios.dots(`${when === "late" ? data.steps : early} steps`, rows.map(at_row), style);
      if (when === stop) ratios.dots("chosen", rows.filter(([name]) => name === method).map(at_row), 5, 10);
    }
  },
  says(state) {
    const {method, stop, targets} = state, one = chosenOf(state), run = answer(state), who = named(one.heads);
    const over = (some, other) => shown(Number((dot(some.sd, some.sd) / dot(other.sd, other.sd)).toPrecision(3)));
    const exact = `${who}: ${over(one, believe(targets).limit)} times the variance of infinitely many, ` +
      `± ${Math.round(100 * one.error)}% (${one.draws} draws of the posterior, worth ${Math.round(one.worth)} ` +
      `of equal weight${one.error > 0.2 ? ": too few, do not trust its band" : ""}).`;
    if (!method || method === "none") return exact;
    if (!unmoved(targets))
      return `${exact} Methods ran on the run's targets alone: press “back to the run's targets”.`;
    const name = words[method] ?? method, steps = stop === "early" ? early : data.steps;
    if (!run) return `${exact} The run has no answer of “${name}” with ${who} and ${steps} steps.`;
    return `${exact} ${name} (${ways[method]}): ${over(run, one)} times the variance of the exact posterior of ` +
      `${who} on these targets${run.steps === 0 ? "" : `, after ${run.steps} steps`}.`;
  },
  functions: {kernel, process},
});
