// Particles that move while one looks: some in the plane, on a density; and few in D dimensions, on a
// normal distribution, where SVGD takes steps of rate 1, and SPOS, because of its noise, of `rate`.

let plane = {of: ""}, few = {of: ""};
const rate = 0.1;

/// Begins anew where density, method or draw is another; α, bandwidth and noise act on the particles
/// where they are.
function begin({density, method, dimension, again}) {
  const normal = normals(1 + again), {start} = data.targets[density];
  const of = `${density} ${method} ${again}`, of_few = `${dimension} ${again}`;
  if (plane.of !== of)
    plane = {of, normal, gradients: 0, history: [], steps: plane.steps ?? 0,
             places: Array.from({length: data.particles}, () => start.map((at) => at + 0.3 * normal()))};
  if (few.of !== of_few)
    few = {of: of_few, normal, places: Array.from({length: data.few}, () => Array.from({length: dimension}, normal))};
}

/// Takes the steps that were asked for.
function advance(state) {
  begin(state);
  const {density, method, steps, each, ...options} = state;
  const wanted = Math.max(0, steps - plane.steps) * each;
  for (let i = 0; i < wanted; i++) {
    const score = scores(density, plane.places, data.apart);
    if (!(score.flat().reduce((sum, s) => sum + s * s, 0) < 1e20)) break;  // they ran away
    plane.places = moved(method, plane.places, score, data.rate, options, plane.normal);
    plane.gradients += 1;
    const inward = few.places.map((place) => place.map((x) => -x));
    if (method === "spos") few.places = moved("spos", few.places, inward, rate, options, few.normal);
    else if (i < 20) few.places = moved("svgd", few.places, inward, 1, options, null);  // they settle sooner
  }
  plane.steps = steps;
  if (plane.history.at(-1)?.[0] !== plane.gradients || plane.history.length === 0)
    plane.history.push([plane.gradients, variance(plane.places) / data.targets[density].variance]);
  if (plane.history.length > 400) plane.history = plane.history.filter((_, i) => i % 2 === 0);
}

/// Contours stand in the data as x, y, x, y of the ends of straight pieces.
const pieces = (numbers) => Array.from({length: numbers.length / 4}, (_, i) =>
  [numbers.slice(4 * i, 4 * i + 2), numbers.slice(4 * i + 2, 4 * i + 4)]);
const sizes = data.dimensions, most = Math.max(1000, ...sizes);
const named = (dimension) => dimension === 1 ? "1 dimension" : `${dimension} dimensions`;
const noisy = ({method, noise}) => method === "spos" && noise > 0;
const lawOf = (state, dimension) => lawWithNoise(state.alpha, data.few, dimension, noisy(state) ? state.noise : 0, rate);
const brief = (number) => shown(Number(number.toPrecision(2)));

page({
  predict: {
    question: `${data.few} particles repel each other on a normal distribution of variance 1 per coordinate ` +
      "(svgd, α = 1). How much of that variance do they keep in 100 dimensions?",
    answers: ["all of it: they spread until they fit", "about a half", "about a fiftieth"],
    right: 2,
    because: "M particles that are all equally far from each other rest at a variance of α·ln(M + 1)/D, " +
      "which falls as 1/D. Turn the dimension, and play: the large dot goes to the line.",
  },
  controls: [
    {name: "steps", run: "time"},
    {name: "each", label: "gradients per step", values: [1, 5, 20, 100], at: 1},
    {name: "again", press: "draw again"},
    {name: "density", label: "density",
     choices: Object.fromEntries(Object.entries(data.targets).map(([name, {title}]) => [name, title]))},
    {name: "method", label: "method", choices: titles},
    {name: "alpha", label: "repulsion α", values: [0, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100], at: 4},
    {name: "wider", label: "bandwidth h²: median rule ×", values: [0.1, 0.3, 1, 3, 10], at: 2},
    {name: "noise", label: "noise b (spos)", values: [0, 0.01, 0.03, 0.1, 0.3, 1], at: 3},
    {name: "dimension", label: "dimension D", values: [1, 2, 3, 5, 10, 20, 50, 100, 1000], at: 3},
  ],
  panels: [
    {title: "Particles in the plane", x: {label: "x", from: -4.2, to: 4.2}, y: {label: "y", from: -3.4, to: 3.4},
     height: 404},
    {title: "Variance over the density's", x: {label: "gradients per particle", from: 0, to: 200},
     y: {label: "variance ratio", from: 0, to: 1.6}, height: 404},
    {title: `Variance of ${data.few} particles in D dimensions`, height: 404,
     x: {label: "dimension D", from: 0.8, to: 1.3 * most, log: true},
     y: {label: "variance per coordinate", from: 0.001, to: 3, log: true}},
  ],
  draw(state, [places, course, many], {targets, kept, alpha}) {
    advance(state);
    const {window: [left, right, bottom, top], contours} = targets[state.density];
    Object.assign(places.x, {from: left, to: right});
    Object.assign(places.y, {from: bottom, to: top});
    course.x.to = 200 * 2 ** Math.max(0, Math.ceil(Math.log2(plane.gradients / 200)));
    places.clear();
    course.clear();
    places.pieces("50, 80, 95% of the probability", contours.flatMap(pieces), 5);
    const force = forces(state.method, plane.places, scores(state.density, plane.places, data.apart), state);
    const ahead = 4 * state.each * data.rate;
    places.pieces("the way of four steps like the next", plane.places.map((place, i) =>
      [place, place.map((x, d) => x + ahead * force[i][d])]), 1);
    places.dots("particles", plane.places, 0, 4);
    course.line("the density's own", [[0, 1], [course.x.to, 1]], 5);
    course.line(titles[state.method], plane.history, 0);
    const column = (name) => sizes.map((size, i) => [size, kept[name][i]]).filter(([, value]) => value !== null);
    many.line(`law at α = ${shown(state.alpha)}${noisy(state) ? `, b = ${shown(state.noise)}` : ""}, D ≥ M − 1`,
      sizes.concat(data.few - 1, most).filter((size) => size >= data.few - 1).sort((a, b) => a - b)
        .map((size) => [size, lawOf(state, size)]), 1);
    many.dots(`svgd, the run's, α = ${shown(alpha)}`, column("svgd"), 4);
    many.dots("svgd with the α that keeps the variance, the run's", column("automatic"), 2);
    many.dots("svgd with a kernel per coordinate, the run's", column("per_coordinate"), 3, 4);
    many.dots(`${noisy(state) ? "spos" : "svgd"}, moving here`, [[state.dimension, variance(few.places) / state.dimension]], 0, 7);
  },
  says(state, {targets}) {
    const {density, method, dimension} = state;
    const {mean: middle, variance: wide, right} = targets[density], {places, gradients} = plane;
    const away = Math.sqrt(squared(mean(places), middle) / wide);
    const share = places.filter(([x]) => x > 0).length / data.particles;
    const modes = right === null ? ""
      : `, ${shown(share)} of the particles are at the mode on the right (exact: ${brief(right)})`;
    const lawful = dimension >= data.few - 1 ? `; the law says ${brief(lawOf(state, dimension))}` : "";
    return `${moves[method]}. After ${gradients} gradients the mean is off by ${brief(away)} standard ` +
      `deviations, the variance is ${brief(variance(places) / wide)} times the density's${modes}. In ` +
      `${named(dimension)} ${data.few} particles of ${noisy(state) ? "spos" : "svgd"} have a variance of ${brief(variance(few.places) / dimension)} per coordinate${lawful}.`;
  },
  functions: {scores, bandwidth, forces, law},
});
