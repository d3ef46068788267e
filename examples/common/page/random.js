// Random numbers, the same for every reader of a page.

/// Generator of uniform numbers in (0, 1) from a seed, so that "draw again" gives the same draws to
/// every reader. Lehmer's generator with the multiplier of Park, Miller and Stockmeyer (1993), whose
/// products are exact in 53 bits.
function uniforms(seed) {
  const modulus = 2 ** 31 - 1;
  let state = 1 + (seed * 7919) % (modulus - 1);
  const next = () => { state = (state * 48271) % modulus; return state / modulus; };
  for (let i = 0; i < 10; i++) next();  // skipped, since they are similar for similar seeds
  return next;
}

/// Density of N(0, variance).
function normalDensity(x, variance = 1) { return Math.exp(-x * x / (2 * variance)) / Math.sqrt(2 * Math.PI * variance); }

/// P(x > z) for x from N(0, 1), by Simpson's rule.
function normalTail(z) {
  const n = 160, step = 8 / n, parts = Array.from({length: n + 1}, (_, i) => i % n === 0 ? 1 : i % 2 ? 4 : 2);
  return step / 3 * parts.reduce((sum, part, i) => sum + part * normalDensity(z + i * step), 0);
}

/// Points on the ellipse that contains 95% of the probability of N(0, k), with a 2 × 2 covariance k.
function ellipse(k) {
  const l = cholesky(k), radius = Math.sqrt(-2 * Math.log(0.05));
  return Array.from({length: 73}, (_, i) => {
    const [a, b] = [Math.cos(i * Math.PI / 36), Math.sin(i * Math.PI / 36)];
    return [radius * l[0][0] * a, radius * (l[1][0] * a + l[1][1] * b)];
  });
}

/// Generator of standard normal numbers, by the method of Box and Muller.
function normals(seed) {
  const uniform = uniforms(seed);
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/// A draw of the length of a vector of n standard normal numbers, without drawing these: the root of
/// twice a Gamma(n/2) number, by the rejection method of Marsaglia and Tsang (2000).
function length(n, {normal, uniform}) {
  if (n === 1) return Math.abs(normal());
  const d = n / 2 - 1 / 3;
  for (;;) {
    const x = normal(), v = (1 + x / Math.sqrt(9 * d)) ** 3;
    if (v > 0 && Math.log(uniform()) < x * x / 2 + d - d * v + d * Math.log(v)) return Math.sqrt(2 * d * v);
  }
}
