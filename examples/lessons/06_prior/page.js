// Untrained networks with 64 heads of width 32 on two tokens, drawn by this script; the reader changes only
// the scales of their weights. The distribution for infinitely many heads is from the run.

const heads = 64, width = 32, count = 100, channels = [0, 1, 2];
/// Tokens of the input s: smooth curves in three channels.
const tokensOf = (s) => [0, 3].map((i) => channels.map((c) => Math.SQRT2 * Math.cos(s * data.frequencies[i + c] + data.phases[i + c])));

/// Output of a network: the mean over both positions of the sum over heads of attention. A head has the
/// logits x·B·xᵀ with B = QᵀK, and its values times output weights are x·u with u = VᵀO.
function output(network, width, tokens, qk, vo) {
  let sum = 0;
  for (const {b, u} of network) {
    const values = tokens.map((token) => channels.reduce((all, c) => all + token[c] * u[c], 0));
    for (const query of tokens) {
      const [one, other] = tokens.map((key) => qk / (3 * Math.sqrt(width)) *
        channels.reduce((all, c) => all + query[c] * channels.reduce((row, e) => row + b[3 * c + e] * key[e], 0), 0));
      const weight = 1 / (1 + Math.exp(other - one));  // softmax of two
      sum += (weight * values[0] + (1 - weight) * values[1]) / 2;
    }
  }
  return vo * sum / Math.sqrt(3 * width * network.length);
}

/// Draws a head: its B, a sum over its width, and its u, standard normal numbers times the length of the
/// output weights o.
function head(random) {
  const {normal} = random, size = length(width, random);
  const [queries, keys] = [0, 1].map(() => Array.from({length: width}, () => channels.map(normal)));
  const b = channels.flatMap((c) => channels.map((e) => queries.reduce((sum, query, w) => sum + query[c] * keys[w][e], 0)));
  return {b, u: channels.map(() => size * normal())};
}

const drawn = [];  // the networks drawn so far, one set per press of the button
function networks(again) {
  const random = {normal: normals(30 + again), uniform: uniforms(60 + again)};
  return drawn[again] ??= Array.from({length: count}, () => Array.from({length: heads}, () => head(random)));
}

const probability = (f) => 1 / (1 + Math.exp(-f)), sure = Math.log(19);  // 95% : 5%
const line = Array.from({length: 81}, (_, i) => i / 20 - 2), places = Array.from({length: 20}, (_, i) => (i + 0.5) / 20);

/// Share of logits from N(0, variance) that give one class more than 95%, by Simpson's rule.
function shareSure(variance) {
  const n = 400, step = sure / n, inside = Array.from({length: n + 1}, (_, i) => (i % n === 0 ? 1 : i % 2 ? 4 : 2) * normalDensity(i * step, variance));
  return 1 - 2 * step / 3 * inside.reduce((sum, each) => sum + each, 0);
}

page({
  predict: {
    question: "In a network without training, σ is the scale of value and output weights. Which share of such networks gives one class more than 95%, for σ = 1, 2 and 20?",
    answers: ["about 5% at each: they know nothing", "0%, 4%, 84%", "84%, 4%, 0%"],
    right: 1,
    because: "The logit is σ times what it is at 1, so its variance grows as σ². The scale of queries and keys says how often the class changes along s, and hardly how sure a network is.",
  },
  controls: [
    {name: "vo", label: "σ of values, outputs", values: [0.5, 1, 2, 3, 5, 10, 20, 50], at: 1},
    {name: "qk", label: "σ of queries, keys", values: data.kernels.map(([qk]) => qk), at: 2},
    {name: "again", press: "draw other networks"},
  ],
  panels: [
    {title: "Six of the networks", x: {label: "s", from: -2, to: 2}, y: {label: "P(y = 1)", from: 0, to: 1}},
    {title: "A hundred networks at s = 0", x: {label: "P(y = 1)", from: 0, to: 1}, y: {label: "density", from: 0, to: 6}},
    {title: "Sure: more than 95% for a class", x: {label: "σ of values, outputs", from: 0.4, to: 60, log: true}, y: {label: "share of networks", from: 0, to: 1}},
  ],
  draw({vo, qk, again, committed}, [curves, histogram, share], {kernels, shares}) {
    const all = networks(again), variance = kernels.find(([scale]) => scale === qk)[1];
    all.slice(0, 6).forEach((network, i) => curves.line(`network ${i + 1}`, line.map((s) => [s, probability(output(network, width, tokensOf(s), qk, vo))]), i));
    const here = all.map((network) => output(network, width, tokensOf(0), qk, vo)), sized = 1 / places.length;
    histogram.columns("networks", places.map((p) => [p, here.filter((f) => Math.abs(probability(f) - p) <= sized / 2).length / (count * sized), sized]), 0);
    histogram.line("infinitely many heads", places.map((p) => [p, normalDensity(Math.log(p / (1 - p)), vo * vo * variance) / (p * (1 - p))]), 1);
    if (committed) share.line("infinitely many heads", Array.from({length: 61}, (_, i) => 0.4 * 150 ** (i / 60)).map((scale) => [scale, shareSure(scale * scale * variance)]), 1);
    if (committed && qk === 4) share.errors("4000 networks of the run", shares, 2);
    share.dots("the hundred here", [[vo, here.filter((f) => Math.abs(f) > sure).length / count]], 5, 9);
  },
  says({vo, qk, again}, {kernels}) {
    const [, zero, both, quarter] = kernels.find(([scale]) => scale === qk), angle = Math.acos(Math.min(1, both / Math.sqrt(zero * quarter)));
    const changed = networks(again).filter((network) => output(network, width, tokensOf(0), qk, vo) * output(network, width, tokensOf(0.25), qk, vo) < 0).length;
    return `From s = 0 to ¼ the class changes in ${changed} of 100 networks; by the law of infinitely many heads in ${(100 * angle / Math.PI).toFixed(1)}, at any σ of values and outputs.`;
  },
  functions: {output, shareSure},
});
