// The evidence of one head, estimated by draws of its random matrix, and the evidence of infinitely many
// heads.

const {factors, targets} = data, sets = factors[0].length, noise = 0.05;
const inputs = Array.from({length: 24}, (_, i) => data.inputs.slice(4 * i, 4 * i + 4));

/// Log Bayes factor ln B of a data set, from the run: `source` 0 or 1, its number `set`, and the index
/// `size` of its number of targets N.
function factor({source, set}, size) { return factors[2 * size + source][set]; }

/// Mean over both queries of an input of the attention-weighted tokens, given a head's matrix z: its
/// logits are 4·qᵀzk for query q and key k.
function taken(z, [a, b, c, d]) {
  const toFirst = (p, q) => 1 / (1 + Math.exp(4 * (p * (z[0] * (c - a) + z[1] * (d - b)) + q * (z[2] * (c - a) + z[3] * (d - b)))));
  const share = (toFirst(a, b) + toFirst(c, d)) / 2;
  return [c + share * (a - c), d + share * (b - d)];
}

/// ln p(targets | z) for the first target, the first two, and so on. Given z the outputs are taken()·v,
/// with two independent v ~ N(0, 1). Each target is predicted from the distribution of v given the targets
/// before it, with mean (m, n) and covariance (p, q; q, r).
function givenHead(z, y) {
  let [p, q, r, m, n, sum] = [1, 0, 1, 0, 0, 0];
  return y.map((target, i) => {
    const [a, b] = taken(z, inputs[i]), g = p * a + q * b, h = q * a + r * b;
    const variance = a * g + b * h + noise, error = target - a * m - b * n;
    [m, n] = [m + g * error / variance, n + h * error / variance];
    [p, q, r] = [p - g * g / variance, q - g * h / variance, r - h * h / variance];
    return sum -= (error * error / variance + Math.log(2 * Math.PI * variance)) / 2;
  });
}

/// The same log evidences for infinitely many heads: y = L·u with u ~ N(0, I).
const root = cholesky(data.limit.map((row, i) => row.map((k, j) => k + (i === j ? noise : 0))));
function ofLimit(y) {
  let sum = 0;
  return solved(root, y).map((u, i) => sum -= u * u / 2 + Math.log(root[i][i]) + Math.log(2 * Math.PI) / 2);
}

/// [ln B, its standard error, effective number of draws] for the first target of a data set, the first
/// two, and so on.
let estimated = {of: ""};
function estimates({source, set}, {draws, again}) {
  const of = [source, set, draws, again].join();
  if (estimated.of === of) return estimated.all;
  const normal = normals(8 + again), y = targets[source * sets + set], limit = ofLimit(y);
  const logs = Array.from({length: draws}, () => givenHead([normal(), normal(), normal(), normal()], y));
  const all = y.map((_, n) => {
    const most = logs.reduce((large, each) => Math.max(large, each[n]), -Infinity);
    const [sum, squares] = logs.reduce(([s, t], each) => [s + Math.exp(each[n] - most), t + Math.exp(2 * (each[n] - most))], [0, 0]);
    const worth = sum * sum / squares;
    return [most + Math.log(sum / draws) - limit[n], Math.sqrt((draws / worth - 1) / (draws - 1)), worth];
  });
  estimated = {of, all};
  return all;
}
