// Page of attention maps: where the heads of a trained model attend in texts of its run. A row of a
// map is the token that attends (the query), a column the token that is attended to (the key); each
// row sums to 1. The data contain the maps in thousandths.

const layers = data.texts[0].layers;

/// The weights of one query on all keys: a row of a map.
function weights(layer, head, query) {
  return thousandths(layer.maps[head][query], layer.keys.length);
}

/// Effective number of keys of a row p: e to the power of its entropy −Σ p·ln p; n for n equal
/// weights.
function spread(row) {
  return Math.exp(-row.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0));
}

/// A head's name: the one given in the data, or else its number.
function headName(head) { return data.heads[head] ?? String(head + 1); }

const layerOf = (state) => data.texts[state.text].layers[state.layer];

/// All heads of those layers whose queries are the same tokens as those of the chosen layer.
function besides(state) {
  const {queries} = layerOf(state), several = layers.length > 1;
  return data.texts[state.text].layers.flatMap((layer) =>
    layer.queries.join("\n") !== queries.join("\n") ? [] : layer.maps.map((_, head) => ({
      layer, head, name: several ? `${layer.name}, ${headName(head)}` : headName(head),
    })));
}

/// A frame around a row of cells.
function frame(panel, name, row, columns) {
  const [left, right, top, bottom] = [-0.45, columns - 0.55, row - 0.45, row + 0.45];
  panel.line(name, [[left, top], [right, top], [right, bottom], [left, bottom], [left, top]], 1);
}

/// Mean spread of each head over all rows of all texts.
function spreads() {
  return layers.flatMap(({maps}, l) => maps.map((_, head) => {
    const rows = data.texts.flatMap((text) =>
      text.layers[l].queries.map((_, i) => spread(weights(text.layers[l], head, i))));
    return rows.reduce((sum, each) => sum + each, 0) / rows.length;
  }));
}

const means = spreads();
const toTwo = (number) => shown(Number(number.toPrecision(2)));
const written = data.texts.some(({layers}) => layers[0].keys.some((key) => [...key].length > 2));
const below = written ? {bottom: 92} : {bottom: 60};  // words are written slanted, characters upright

page({
  predict: {...data.predict, because: `${data.predict.because} In the texts of this page the weights of a token spread ` +
    `over ${toTwo(Math.min(...means))} tokens on average in one head and over ${toTwo(Math.max(...means))} in another ` +
    "(e to the power of their entropy: n where n tokens share them alike)."},
  controls: [
    {name: "text", label: "text", texts: data.texts.map(({text}) => text)},
    {name: "layer", label: "layer",
     choices: Object.fromEntries(layers.map(({name}, i) => [i, name.replace("layer ", "")]))},
    {name: "head", label: "head", values: layers[0].maps.map((_, head) => head), say: headName, play: true},
    {name: "query", label: "token", values: (state) => [...layerOf(state).queries.keys()],
     at: Math.floor(layers[0].queries.length / 2),
     say: (query, state) => `${query + 1}: ${layerOf(state).queries[query]}`, play: true},
  ],
  panels: [
    {title: "One head", x: columnNames("", [""]), y: rowNames("", [""]), height: 470,
     room: {left: written ? 84 : 50, ...below}},
    {title: "All heads, one token", x: columnNames("", [""]), y: rowNames("", [""]), height: 470,
     room: {left: data.heads.length > 0 ? 146 : 104, ...below}},
    {title: "Next token", x: columnNames("", [""]), y: {label: "probability", from: 0, to: 1}, height: 300, room: below},
  ],
  draw(state, [map, heads, next]) {
    const layer = layerOf(state), {text, head, query} = state, all = besides(state);
    const {queries, keys} = layer;
    const looks = layer.predicts === "this" ? "about to be written" : "looks", seen = "is looked at";
    Object.assign(map, {title: `Head ${headName(head)} of ${layer.name}`, x: columnNames(seen, keys),
                        y: rowNames(looks, queries)});
    map.clear();
    map.cells("weight", queries.map((_, i) => weights(layer, head, i)));
    frame(map, `token ${query + 1}: ${queries[query]}`, query, keys.length);
    Object.assign(heads, {title: `All heads at token ${query + 1}: ${queries[query]}`, x: columnNames(seen, keys),
                          y: rowNames("", all.map(({name}) => name))});
    heads.clear();
    heads.cells("weight", all.map((each) => weights(each.layer, each.head, query)));
    frame(heads, "the head chosen", all.findIndex((each) => each.layer === layer && each.head === head), keys.length);
    if (!layer.predicts) {
      next.title = `${layer.name} predicts nothing: the decoder does`;
      next.clear();
      return;
    }
    const {likely, chances, right, chance} = data.texts[text].predicted[query];
    const names = likely.includes(right) ? likely : [...likely, right], translates = layer.predicts === "this";
    Object.assign(next, {title: "What the model expects here",
                         x: columnNames(translates ? "token to be written" : "next token", names)});
    next.clear();
    next.columns("the likeliest tokens", likely.map((_, i) => [i, chances[i], 0.8]), 0);
    next.columns(translates ? "the right translation's token" : "the token that follows in the text",
                 [[names.indexOf(right), chance, 0.5]], 1);
  },
  says(state) {
    const layer = layerOf(state), row = weights(layer, state.head, state.query);
    const most = row.indexOf(Math.max(...row));
    const looking = `Head ${headName(state.head)} of ${layer.name}, at “${layer.queries[state.query]}”, looks most at ` +
      `“${layer.keys[most]}” (${Math.round(100 * row[most])}%); its weights spread over ${toTwo(spread(row))} tokens.`;
    if (!layer.predicts) return looking;
    const {right, chance} = data.texts[state.text].predicted[state.query];
    return `${looking} ${layer.predicts === "this" ? "To be written is" : "Next comes"} “${right}”: the model gives it ` +
      `${toTwo(100 * chance)}%.`;
  },
  functions: {spread},
});
