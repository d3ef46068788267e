// Six arms that answered the same questions: differences between arms, and three standard errors of each
// difference.

const {arms, studies} = data, errors = ["over questions", "over seeds", "over training sets"];

/// For each study, whether the arms' answers are right (1) or wrong (0): [arm][seed][question].
const answers = studies.map(({hits, fold}) => hits.map((all) =>
  [0, 1, 2].map((seed) => [...all.slice(seed * fold.length, (seed + 1) * fold.length)].map(Number))));

const mean = (values) => values.reduce((sum, each) => sum + each, 0) / values.length;
function standardError(values) {
  const middle = mean(values), squares = values.reduce((sum, each) => sum + (each - middle) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1) / values.length);
}

/// Difference arm − base, its standard errors over questions, over seeds and over training sets, and the
/// p value by the first of these errors; from the first `seeds` seeds and the questions of the first
/// `folds` folds.
function contrast(study, arm, base, seeds, folds) {
  const fold = [...studies[study].fold], [ours, theirs] = [arm, base].map((a) => answers[study][a].slice(0, seeds));
  const questionsOf = Array.from({length: folds}, (_, f) => [...fold.keys()].filter((q) => Number(fold[q]) === f));
  const away = (s, q) => ours[s][q] - theirs[s][q];
  const ofQuestion = questionsOf.flat().map((q) => mean(ours.map((_, s) => away(s, q))));
  const ofSeed = ours.map((_, s) => mean(questionsOf.flat().map((q) => away(s, q))));
  const ofFit = ours.flatMap((_, s) => questionsOf.map((asked) => mean(asked.map((q) => away(s, q)))));
  const ratio = mean(questionsOf.map(({length}) => length / (fold.length - length)));  // tested over trained on
  const difference = mean(ofQuestion), error = standardError(ofQuestion);
  return [difference, error, standardError(ofSeed), standardError(ofFit) * Math.sqrt(1 + ofFit.length * ratio),
          error > 0 ? 2 * normalTail(Math.abs(difference) / error) : 1];
}

const bases = ["plain", "svgd 0", "start 2"], seen = new Set();
const points = (share) => (100 * share).toFixed(1).replace("-", "−");
const chosen = ({arm, base, seeds, folds}, study) => contrast(study, arms.indexOf(arm), arms.indexOf(base), seeds, folds);
const errorOf = (all, error) => 100 * all[1 + errors.indexOf(error)];

page({
  predict: {
    question: "The arm svgd 0.01 answers more questions rightly than plain gradients, with p far below 0.05. Is it the repulsion of its hops?",
    answers: ["yes: repulsion is what SVGD adds", "yes, as repulsion makes the matrix W_s2 larger", "hardly: an arm without repulsion has most of it"],
    right: 2,
    because: "svgd 0 averages gradients, does not repel, and has most of the gain. start 2 has a matrix as large as svgd 1's without SVGD, and is far above it. And the error over questions asks nothing about other words: go through the studies with start 4 − plain.",
  },
  controls: [
    {name: "arm", label: "arm", choices: Object.fromEntries(["svgd 0.01", ...arms.filter((arm) => arm !== "svgd 0.01" && arm !== "plain")].map((arm) => [arm, arm]))},
    {name: "base", label: "less", choices: Object.fromEntries(bases.map((base) => [base, base]))},
    {name: "error", label: "error", choices: Object.fromEntries(errors.map((error) => [error, error]))},
    {name: "folds", label: "folds", values: [1, 2, 3, 4, 5], at: 4},
    {name: "seeds", label: "seeds", values: [2, 3], at: 1},
    {name: "study", label: "study", values: [...studies.keys()], say: (study) => study + 1, play: true},
  ],
  panels: [
    {title: "Gain and size, of all arms", x: {label: "size of W_s2 over that of plain", from: 0.8, to: 5, log: true}, y: {label: "points over plain", from: -12, to: 12}},
    {title: "Three errors of one difference", x: columnNames("", ["questions", "seeds", "training sets"]), y: {label: "arm − base, in points", from: -12, to: 12}, room: {bottom: 92}},
    {title: "Other words and questions", x: {label: "study", from: 0.5, to: studies.length + 0.5}, y: {label: "arm − base, in points", from: -12, to: 12}},
  ],
  draw(state, [sizes, three, others]) {
    const {arm, base, error, study, seeds, folds, committed} = state, all = chosen(state, study), {sizes: rms} = studies[study];
    const place = (a) => { const gain = contrast(study, a, 0, seeds, folds); return [rms[a] / rms[0], 100 * gain[0], errorOf(gain, error)]; };
    sizes.line("as plain", [[0.8, 0], [5, 0]], 5);
    sizes.errors("plain, start × 2, × 4", (committed ? [0, 1, 2] : [0]).map(place), 0);
    sizes.errors("svgd, α = 0, 0.01, 1", (committed ? [3, 4, 5] : [4]).map(place), 1);
    sizes.dots("chosen", [arms.indexOf(arm), arms.indexOf(base)].map((a) => place(a).slice(0, 2)), 5, 10);
    three.line("no difference", [[-0.5, 0], [2.5, 0]], 5);
    three.errors(`${arm} − ${base}, ± standard error`, errors.map((_, i) => [i, 100 * all[0], 100 * all[1 + i]]), 0);
    if (!committed) return;
    seen.add(study);
    others.line("no difference", [[0.5, 0], [studies.length + 0.5, 0]], 5);
    others.errors(`studies seen, ± error ${error}`, [...seen].map((s) => [s + 1, 100 * chosen(state, s)[0], errorOf(chosen(state, s), error)]), 0);
    others.dots("this one", [[study + 1, 100 * all[0]]], 5, 10);
  },
  says(state) {
    const {arm, base, error, study} = state, all = chosen(state, study), among = [...seen].map((s) => chosen(state, s));
    const beyond = (sign) => among.filter((each) => 100 * sign * each[0] > 1.96 * errorOf(each, error)).length;
    return `Study ${study + 1}: ${arm} − ${base} is ${points(all[0])} points, ± ${points(all[1])} over questions (p ${all[4] < 0.0001 ? "< 0.0001" : `= ${all[4].toFixed(4)}`}), ± ${points(all[2])} over seeds and ± ${points(all[3])} over training sets. ` +
      `Of ${seen.size || 1} ${seen.size > 1 ? "studies" : "study"} seen, the difference is above 0 by 1.96 errors ${error} in ${beyond(1)} and below it in ${beyond(-1)}.`;
  },
  functions: {contrast},
});
