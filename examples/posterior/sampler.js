// What the targets say of the latents. Draws of the posterior given some targets are draws given others
// when they are weighed by the ratio of densities; where few of them would count, the targets move in
// steps, after each of which draws are chosen by weight and moved: sequential Monte Carlo, as in the
// library. Draws are in four groups that never meet: where these differ, the draws are too few.

const groups = 4;

/// A draw of latents z, with L of its training places' kernel.
function drawOf(z) {
  const seen = places.slice(0, training).map((place) => features(z, place));
  return {z, l: root(products(seen, seen))};
}

/// Draws of so many heads given the run's targets, as the run's sampler left them.
function stored({heads, latents}) {
  const uniform = uniforms(heads);
  return {heads, targets: data.targets, uniform, normal: normals(heads + 1), draws: latents.map(drawOf)};
}

/// Weights under targets y of draws given others, which sum to 1.
function weigh({draws, targets}, y) {
  const logs = draws.map(({l}) => logDensity(l, y) - logDensity(l, targets));
  const largest = logs.reduce((a, b) => Math.max(a, b)), raw = logs.map((log) => Math.exp(log - largest));
  const sum = raw.reduce((a, b) => a + b);
  return raw.map((each) => each / sum);
}

/// How many equally weighted draws weighted ones are worth.
const worth = (weights) => 1 / dot(weights, weights);

/// One step of elliptical slice sampling (Murray, Adams, MacKay 2010), which leaves the posterior as it
/// is: the draw goes around an ellipse through a draw of the prior, to a place likely enough.
function moved(draw, y, {uniform, normal}) {
  const other = draw.z.map(normal), least = logDensity(draw.l, y) + Math.log(uniform());
  let angle = 2 * Math.PI * uniform(), low = angle - 2 * Math.PI, high = angle;
  for (;;) {
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    const next = drawOf(draw.z.map((each, i) => c * each + s * other[i]));
    if (logDensity(next.l, y) > least) return next;
    if (angle < 0) low = angle; else high = angle;
    angle = low + (high - low) * uniform();
  }
}

/// As many draws as there are, by weight, within each group: draw i is of group i mod 4.
function chosen(draws, weights, uniform) {
  const all = [];
  for (let group = 0; group < groups; group++) {
    const of = [...draws.keys()].filter((i) => i % groups === group);
    const sum = of.reduce((total, i) => total + weights[i], 0), start = uniform();
    let k = 0, reached = weights[of[0]];
    of.forEach((i, n) => {
      while (reached < sum * (n + start) / of.length && k + 1 < of.length) reached += weights[of[++k]];
      all[i] = draws[of[k]];
    });
  }
  return all;
}

/// Leads draws to the targets y: as they are, while half of them count; else by steps of the targets.
function follow(all, y) {
  while (worth(weigh(all, y)) < all.draws.length / 2) {
    const between = (part) => all.targets.map((from, i) => from + part * (y[i] - from));
    let part = 1;
    while (worth(weigh(all, between(part))) < all.draws.length / 2) part /= 2;
    const goal = between(part), kept = chosen(all.draws, weigh(all, goal), all.uniform);
    all.draws = kept.map((draw) => moved(moved(draw, goal, all), goal, all));
    all.targets = goal;
  }
}

/// Mean and standard deviation at the test places of weighted draws.
function mixture(draws, weights, y) {
  const mean = data.places.map(() => 0), square = data.places.map(() => 0);
  const sum = weights.reduce((a, b) => a + b, 0);
  draws.forEach((draw, i) => {
    draw.process ??= prepared(kernel(draw.z));
    means(draw.process, y).forEach((m, p) => {
      mean[p] += weights[i] / sum * m;
      square[p] += weights[i] / sum * (draw.process.variance[p] + m * m);
    });
  });
  return {mean, sd: square.map((each, p) => Math.sqrt(each - mean[p] ** 2))};
}

/// The belief of finitely many heads under targets y, how many draws it is worth, and the standard
/// error of its variance, relative to it, from the four groups.
function belief(all, y) {
  follow(all, y);
  const {heads, draws} = all, weights = weigh(all, y), total = ({sd}) => dot(sd, sd);
  const whole = mixture(draws, weights, y), each = Array.from({length: groups}, (_, group) => {
    const of = [...draws.keys()].filter((i) => i % groups === group);
    return total(mixture(of.map((i) => draws[i]), of.map((i) => weights[i]), y)) / total(whole);
  });
  const mean = each.reduce((a, b) => a + b) / groups;
  const error = Math.sqrt(each.reduce((sum, one) => sum + (one - mean) ** 2, 0) / groups / (groups - 1));
  return {heads, ...whole, draws: draws.length, worth: worth(weights), error};
}
