// What moves particles. The gradient of ln p at a particle is its score; with a rate r all places take
// the steps θ ← θ + r·forces (+ noise), as in the library.

/// ∇ ln p at places [[x, y], …]; the two modes are so far apart.
function scores(density, places, apart) {
  return places.map(([x, y]) => {
    if (density === "gaussian")  // −Σ⁻¹·z, det Σ = 0.56
      return [(-x + 1.2 * y) / 0.56, (1.2 * x - 2 * y) / 0.56];
    if (density === "modes") {  // the right one's share, 1/(1 + e^(−apart·x/σ²)), says where to
      const right = 1 / (1 + Math.exp(-apart * x / 0.36));
      return [(apart * (right - 0.5) - x) / 0.36, -y / 0.36];
    }
    if (density === "ring") {
      const radius = Math.hypot(x, y), inward = (2 - radius) / 0.1225 / radius;
      return [inward * x, inward * y];
    }
    if (density === "banana") {
      const above = (y - 0.5 * x * x + 1) / 0.25;
      return [-x / 1.44 + above * x, -above];
    }
    return [-x / 1.44 - 0.5 + 0.5 * y * y * Math.exp(-x), -y * Math.exp(-x)];  // funnel
  });
}

/// |a − b|².
function squared(a, b) {
  let sum = 0;
  for (let d = 0; d < a.length; d++) sum += (a[d] - b[d]) ** 2;
  return sum;
}

/// h² by the median rule: ½·median(d² of pairs)/ln(M + 1).
function bandwidth(places) {
  const all = places.flatMap((a, i) => places.slice(i + 1).map((b) => squared(a, b)));
  all.sort((a, b) => a - b);
  const middle = (all[(all.length - 1) >> 1] + all[all.length >> 1]) / 2;
  return 0.5 * middle / Math.log(places.length + 1);
}

const titles = {svgd: "svgd", none: "none", spos: "spos", wgd: "wgd", sgld: "sgld"};
/// How a method moves a particle.
const moves = {
  svgd: "svgd (Stein variational gradient descent): each climbs by the mean gradient of those near it, and they repel each other",
  none: "none (gradient ascent): each climbs alone",
  spos: "spos (stochastic particle-optimization sampling): as svgd, with a share b of its own gradient and of noise",
  wgd: "wgd (Wasserstein gradient descent): each climbs by its own gradient, and they repel each other",
  sgld: "sgld (Langevin dynamics): each climbs alone, and noise shakes it",
};

/// Forces of a method: what it adds per unit of rate, without noise. With k_ij = exp(−d²_ij/(2h²)) and
/// the repulsion R_i = Σ_j k_ij·(θ_i − θ_j)/h²: svgd (Σ_j k_ij·s_j + α·R_i)/M; spos that and b·s_i;
/// wgd s_i + α·R_i/Σ_j k_ij. The median rule's h² is multiplied by `wider`.
function forces(method, places, score, {alpha, wider, noise}) {
  if (method === "none" || method === "sgld") return score;
  const h2 = wider * bandwidth(places), m = places.length;
  if (!(h2 > 0)) return score;  // all at one place
  const driving = [], repulsive = [];
  places.forEach((here, i) => {
    const push = here.map(() => 0), shared = here.map(() => 0);
    let density = 0;
    places.forEach((there, j) => {
      const k = Math.exp(-squared(here, there) / (2 * h2));
      density += k;
      for (let d = 0; d < here.length; d++) {
        push[d] += k * (here[d] - there[d]) / h2;
        shared[d] += k * score[j][d] / m;
      }
    });
    const b = method === "spos" ? noise : 0;
    driving.push(method === "wgd" ? score[i] : shared.map((each, d) => each + b * score[i][d]));
    repulsive.push(push.map((each) => alpha * each / (method === "wgd" ? density : m)));
  });
  // The library's bound: repulsion is at most a hundred times as strong as what drives.
  const size = (all) => Math.sqrt(all.flat().reduce((sum, each) => sum + each * each, 0));
  const most = 100 * size(driving), strength = size(repulsive);
  const damping = strength > most ? most / strength : 1;
  return driving.map((force, i) => force.map((each, d) => each + damping * repulsive[i][d]));
}

/// Variance, with divisor M − 1, that SVGD leaves of 1 in D ≥ M − 1 dimensions: equation (1) of lesson 10.
function law(alpha, m, dimension) { return alpha * Math.log(m + 1) / dimension; }

/// The same with noise of weight b and steps of this rate: equation (3) of lesson 10.
function lawWithNoise(alpha, m, dimension, b, rate) {
  const g = b + 1 / (m + 1);
  return (b / (1 - rate * g / 2) + law(alpha, m, dimension) / (m + 1)) / g;
}

/// One step of rate r, with the method's noise.
function moved(method, places, score, rate, options, normal) {
  const b = {spos: options.noise, sgld: 1}[method] ?? 0;
  const kick = () => (b ? Math.sqrt(2 * b * rate) * normal() : 0);
  return forces(method, places, score, options).map((force, i) =>
    force.map((each, d) => places[i][d] + rate * each + kick()));
}

function mean(places) {
  return places[0].map((_, d) => places.reduce((sum, place) => sum + place[d], 0) / places.length);
}

/// Summed over coordinates, with divisor M − 1: of independent draws the target's on average.
function variance(places) {
  const middle = mean(places);
  return places.reduce((sum, place) => sum + squared(place, middle), 0) / (places.length - 1);
}
