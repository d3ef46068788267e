// Heads of one classifier, epoch by epoch, trained by each method. Matrices stand in the data in
// thousandths. Heads stand in the order of the rules that they look after at the end.

const rules = Math.max(...data.sequences.flat());
const numbered = (count) => Array.from({length: count}, (_, i) => String(i + 1));
const words = {
  plain: "plain: no repulsion", smoothing: "smoothing: svgd without its repulsion", svgd: "svgd: shared gradients, repulsion",
  spos: "spos: svgd and noise", wgd: "wgd: own gradients, repulsion", cosine: "cosine: penalty on likeness of weights",
};
const heads = data.arms[0].order.length, epochs = data.arms[0].epochs.length;
const every = data.arms.flatMap((arm) => arm.epochs);
const toThree = (number) => shown(Number(number.toPrecision(3)));
const armOf = (state) => data.arms.find(({name}) => name === state.arm);

/// Rows of a matrix in the order of an arm's heads.
function ordered(arm, rows, columns) {
  return arm.order.map((head) => thousandths(rows[head], columns));
}

/// The axis around numbers.
function around(label, numbers) {
  const least = Math.min(...numbers), most = Math.max(...numbers), margin = 0.06 * (most - least) || 1;
  return {label, from: least - margin, to: most + margin};
}

/// A figure after the last epoch, of each method.
const reached = (key) => data.arms.map(({name, epochs}) => `${name} ${toThree(epochs.at(-1)[key])}`).join(", ");
const largest = Math.max(...every.flatMap((frame) => frame.rules.flat())) / 1000;

page({
  predict: {
    question: "Repulsion (svgd, spos, wgd) pushes the heads' weights apart all through training. " +
      "How alike do the heads attend then?",
    answers: ["less alike than after plain training: they are farther apart", "about as after plain training",
              "not alike at all: each head at tokens of its own"],
    right: 1,
    because: `Mean distance of two heads' weights at the end: ${reached("distance")}. ` +
      `Mean cosine of their attention maps: ${reached("cosine")}.`,
  },
  controls: [
    {name: "arm", label: "method", choices: Object.fromEntries(data.arms.map(({name}) => [name, words[name] ?? name]))},
    {name: "epoch", label: "epoch", values: [...Array(epochs).keys()], play: true},
    {name: "sequence", label: "test sequence",
     choices: Object.fromEntries(data.sequences.map((_, i) => [i, i + 1]))},
  ],
  panels: [
    {title: "Attention on each rule's token", x: columnNames("rule", numbered(rules)), y: rowNames("head", numbered(heads))},
    {title: "Attention in one test sequence", x: columnNames("", [""]), y: rowNames("head", numbered(heads))},
    {title: "Likeness of the heads' maps", x: columnNames("head", numbered(heads)), y: rowNames("head", numbered(heads))},
    {title: "Weights in their plane of largest spread",
     x: around("first axis", every.flatMap(({places}) => places.map(([x]) => x))),
     y: around("second axis", every.flatMap(({places}) => places.map(([, y]) => y)))},
    {title: "Apart in weights, alike in maps?",
     x: around("mean distance of heads' weights", every.map(({distance}) => distance)),
     y: around("mean cosine of their maps", every.map(({cosine}) => cosine))},
    {title: "Accuracy", x: {label: "epoch", from: 0, to: epochs - 1}, y: {label: "share of right answers", from: 0, to: 1}},
  ],
  draw(state, [right, sequence, likeness, places, apart, accuracy]) {
    const arm = armOf(state), frame = arm.epochs[state.epoch], names = arm.order.map((head) => String(head + 1));
    const key = (rule, i) => (i === 0 ? "?" : rule === 0 ? "·" : String(rule));
    const tokens = data.sequences[state.sequence].map(key);
    right.y = rowNames("head", names);
    right.clear();
    right.cells("attention", ordered(arm, frame.rules, rules), largest);
    Object.assign(sequence, {y: rowNames("head", names),
                             x: columnNames(`tokens: ? looks, 1 to ${rules} are the rules' keys`, tokens)});
    sequence.clear();
    sequence.cells("attention", ordered(arm, frame.looks[state.sequence], tokens.length));
    Object.assign(likeness, {x: columnNames("head", names), y: rowNames("head", names)});
    likeness.clear();
    const alike = ordered(arm, frame.alike, heads);
    likeness.cells("cosine", alike.map((row) => arm.order.map((head) => row[head])));
    const past = arm.epochs.slice(0, state.epoch + 1);
    for (let head = 0; head < heads; head++) {
      places.line(`head ${head + 1}`, past.map((each) => each.places[head]), head % 12);
      places.dots(`head ${head + 1}`, [frame.places[head]], head % 12, 6);
    }
    data.arms.forEach(({name, epochs}, i) => {
      const to = name === arm.name ? past : epochs;
      if (name === arm.name) apart.line(name, past.map(({distance, cosine}) => [distance, cosine]), i % 6);
      apart.dots(name, [[to.at(-1).distance, to.at(-1).cosine]], i % 6, name === arm.name ? 9 : 5);
      accuracy.line(name, to.map((each, epoch) => [epoch, each.accuracy]), i % 6);
    });
    accuracy.dots("here", [[state.epoch, frame.accuracy]], data.arms.indexOf(arm) % 6, 8);
  },
  says(state) {
    const arm = armOf(state), {leading, accuracy, distance, cosine, rules: matrix} = arm.epochs[state.epoch];
    const darkest = Math.max(...matrix.flat()) / 1000, alike = 1 / data.sequences[0].length;
    return `${arm.name}, epoch ${state.epoch}: ${leading} of ${heads} heads attend more to some rule's token than all others ` +
      `do; the most is ${toThree(darkest)} of a head's attention (${toThree(alike)} if it looked at all tokens alike). ` +
      `${toThree(100 * accuracy)}% of the test answers are right. Mean distance of two heads' weights ${toThree(distance)}, ` +
      `mean cosine of their maps ${toThree(cosine)}. The plane of the weights holds ${Math.round(100 * data.share)}% of ` +
      `their variance, over methods and epochs. Seed ${data.seed}, α = ${data.alpha}.`;
  },
});
