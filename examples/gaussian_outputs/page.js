// Heads and widths to turn. A layer of attention with identity ζ: head h answers G·V·w/√(H·d), with
// logits G = Q·Kᵀ/√d of its queries and keys and with values V, all linear maps of the tokens; so
// with L·Lᵀ = K, the tokens' covariance, each map is L times standard normal numbers.

const tokens = data.covariance.length;
const root = cholesky(data.covariance);

/// E G·K·Gᵀ for logits of covariance K ⊗ K: what infinitely many heads have as covariance.
function limit(k) {
  const squares = k.flat().reduce((sum, each) => sum + each * each, 0);
  return k.map((row) => row.map((each) => each * squares));
}

/// Excess kurtosis of an output of `heads` heads whose keys and values have this width: 3·((1 + ((1 +
/// 2/w)²(1 + 2ρ) − 1)/H) − 1), ρ = tr K⁴/(tr K²)²; 6ρ/H where they are wide.
function kurtosis(k, heads, width) {
  const square = k.map((row) => k.map((other) => row.reduce((sum, each, i) => sum + each * other[i], 0)));
  const trace = square.reduce((sum, row, i) => sum + row[i], 0);
  const rho = square.flat().reduce((sum, each) => sum + each * each, 0) / trace ** 2;
  return 3 * ((1 + 2 / width) ** 2 * (1 + 2 * rho) - 1) / heads;
}

/// L times a vector of standard normal numbers.
function correlated(normal) {
  const z = root.map(normal);
  return root.map((row) => row.reduce((sum, each, i) => sum + each * z[i], 0));
}

/// The answers of one random layer at the first two tokens. Sums over the channels of a head are
/// drawn at once: V·w is |w| times L times normal numbers. So are the logits of two queries, by the
/// triangular root of these queries' 2 × 2 matrix of products (Bartlett's of a Wishart matrix).
function network(heads, width, random) {
  const answer = [0, 0], {normal} = random;
  for (let h = 0; h < heads; h++) {
    const weight = length(width, random), [values, one, other] = [0, 1, 2].map(() => correlated(normal));
    const first = length(width, random), along = normal(), beside = length(width - 1, random);
    for (const i of [0, 1]) {
      const a = root[i][0] * first + root[i][1] * along, b = root[i][1] * beside;
      for (let t = 0; t < tokens; t++)
        answer[i] += (a * one[t] + b * other[t]) * weight * values[t] / (width * Math.sqrt(heads));
    }
  }
  return answer;
}

const sizes = data.kurtosis.map(([heads]) => heads);  // those of the run
const k = limit(data.covariance);
const reach = 4 * Math.sqrt(Math.max(k[0][0], k[1][1]));
const most = 300;  // networks in the cloud
let drawn = {of: "", networks: []};

/// The cloud: begun anew where heads or width change, one network longer with each press.
function cloud({heads, width, more}) {
  const of = `${heads} ${width}`;
  if (drawn.of !== of) drawn = {of, networks: [], random: {normal: normals(1), uniform: uniforms(2)}, pressed: more};
  const wanted = most + more - drawn.pressed;
  while (drawn.networks.length < wanted) drawn.networks.push(network(heads, width, drawn.random));
  return drawn.networks;
}

/// The normal density in units of its standard deviation.
const bell = Array.from({length: 81}, (_, i) => [i / 10 - 4, Math.exp(-((i / 10 - 4) ** 2) / 2) / Math.sqrt(2 * Math.PI)]);

page({
  predict: {
    question: "One head is made wider and wider. Do its answers become Gaussian?",
    answers: ["yes, as everything wide does", "no: what is random in its logits stays random", "only at one token"],
    right: 1,
    because: "The excess kurtosis of one head goes to 6ρ and stays there; that of H heads is 6ρ/H. (ρ, from 0 to 1, " +
      "grows with the likeness of the tokens: with K their covariance, ρ = tr K⁴/(tr K²)².)",
  },
  controls: [
    {name: "heads", label: "heads H", values: sizes, play: true},
    {name: "width", label: "width of a head", values: [2, 4, 8, 16, 32, 64, 128], at: 4},
    {name: "more", press: "one more network"},
  ],
  panels: [
    {title: "Answers at two tokens", x: {label: "first token", from: -reach, to: reach},
     y: {label: "second token", from: -reach, to: reach}, height: 440},
    {title: `Answers at one token, width ${data.head_width}`,
     x: {label: "answer/its standard deviation", from: -4, to: 4}, y: {label: "density", from: 0, to: 0.9}},
    {title: "Tails against heads", x: {label: "heads H", from: 0.8 * Math.min(...sizes), to: 1.25 * Math.max(...sizes), log: true},
     y: {label: "excess kurtosis", from: 0.01, to: 20, log: true}},
  ],
  draw({heads, width, more}, [places, density, tails], {head_width, densities, kurtosis: measured, covariance}) {
    const networks = cloud({heads, width, more});
    places.dots("networks, drawn here", networks, 0, 2.5);
    places.dots("the last one", [networks.at(-1)], 1, 6);
    places.line("95% of infinitely many heads", ellipse([k[0].slice(0, 2), k[1].slice(0, 2)]), 2);
    density.columns(`networks of the run, width ${head_width}`, densities.find((each) => each.heads === heads).points, 0);
    density.line("normal", bell, 2);
    tails.line("law at this width", sizes.map((h) => [h, kurtosis(covariance, h, width)]), 1);
    tails.line("law of wide heads, 6ρ/H", sizes.map((h) => [h, kurtosis(covariance, h, 1e9)]), 2);
    tails.errors(`networks of the run, width ${head_width}`, measured.filter(([, value]) => value > 0), 0);
    tails.dots("heads and width turned to", [[heads, kurtosis(covariance, heads, width)]], 3, 8);
  },
  says: ({heads, width}, {covariance}) =>
    `${heads === 1 ? "One head" : `${heads} heads`} of width ${width}: the excess kurtosis of an answer is ` +
    `${shown(kurtosis(covariance, heads, width))}; of infinitely wide heads ${shown(kurtosis(covariance, heads, 1e9))}; ` +
    "of infinitely many 0.",
  functions: {limit, kurtosis},
});
