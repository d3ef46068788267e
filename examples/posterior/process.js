// The layer as a Gaussian process. Given its latents, a 3 × 3 matrix B of each head, a layer of H wide
// heads is one, as that of infinitely many heads is: 8 targets need one 8 × 8 matrix solved.

const channels = 3, training = data.training.length;
/// Both tokens of each place, φ₁ and φ₂, and their difference φ₂ − φ₁: training places first.
const places = Array.from({length: data.tokens.length / (2 * channels)}, (_, n) => {
  const [first, second] = [2 * n, 2 * n + 1].map((t) => data.tokens.slice(channels * t, channels * (t + 1)));
  return {first, second, apart: second.map((each, c) => each - first[c])};
});

/// Features of a place, 3 of each head, over √H: the mean of both tokens' answers, which are sums of φ
/// by softmax weights. Logits of query φ are QK·φᵀ·B·φ_j, and of two weights the first is
/// 1/(1 + e^(second logit − first)).
function features(latents, {first, second, apart}) {
  const heads = latents.length / channels ** 2, scale = 1 / Math.sqrt(heads), all = [];
  for (let b = 0; b < latents.length; b += channels ** 2) {
    let [of_first, of_second] = [0, 0];
    for (let r = 0; r < channels; r++) {
      let key = 0;
      for (let c = 0; c < channels; c++) key += latents[b + channels * r + c] * apart[c];
      of_first += first[r] * data.query_key * key;
      of_second += second[r] * data.query_key * key;
    }
    const weight = 0.5 / (1 + Math.exp(of_first)) + 0.5 / (1 + Math.exp(of_second));
    for (let c = 0; c < channels; c++) all.push(scale * (second[c] - weight * apart[c]));
  }
  return all;
}

/// The kernel Σ_h ⟨u_h(n), u_h(m)⟩/H of latents: between training places [N, N], of test places and
/// these [M, N], and the test places' own [M].
function kernel(latents) {
  const all = places.map((place) => features(latents, place));
  const seen = all.slice(0, training), asked = all.slice(training);
  return [products(seen, seen), products(asked, seen), asked.map((u) => dot(u, u))];
}
function products(rows, others) { return rows.map((u) => others.map((v) => dot(u, v))); }

/// L of L·Lᵀ = K + σ².
function root(train) {
  return cholesky(train.map((row, i) => row.map((each, j) => each + (i === j ? data.noise : 0))));
}

/// ln p(y), which is normal with covariance L·Lᵀ.
function logDensity(l, y) {
  const v = solved(l, y);
  return -0.5 * dot(v, v) - l.reduce((sum, row, i) => sum + Math.log(row[i]), 0)
    - 0.5 * y.length * Math.log(2 * Math.PI);
}

/// All that does not depend on the targets: L, L⁻¹·k* of each test place, and its variance.
function prepared([train, cross, own]) {
  const l = root(train), halves = cross.map((row) => solved(l, row));
  return {l, halves, variance: halves.map((half, i) => own[i] - dot(half, half))};
}

/// Means at the test places.
function means({l, halves}, y) {
  const v = solved(l, y);
  return halves.map((half) => dot(half, v));
}

/// Mean, variance and ln p(y) of a Gaussian process.
function process(blocks, y) {
  const given = prepared(blocks);
  return [means(given, y), given.variance, logDensity(given.l, y)];
}
