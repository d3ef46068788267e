// One layer of attention, from one head to infinitely many. All numbers drawn are the library's own, by
// the module that stands above this script: nothing of them was computed before.

const particles = 20, each = 4;  // networks that repel each other, and steps of theirs per drawing
const [first, second] = [10, 30];  // test places of the random networks: s = −1.5 and 1.5
/// Draws of the exact posterior, fewer where each costs more and tells less.
const drawsOf = {1: 60, 2: 50, 4: 40, 64: 8};
const infinitely = "infinite";

/// Sum of squares over that of another band.
const ratio = (some, other) => dot(some.sd, some.sd) / dot(other.sd, other.sd);
const brief = (number) => shown(Number(number.toPrecision(2)));
const named = (heads) => heads === "1" ? "1 head" : heads === infinitely ? "infinitely many heads" : `${heads} heads`;

/// Mean and standard deviation over functions [[f(s), …], …].
function bandOf(functions) {
  const count = functions.length, mean = functions[0].map((_, p) => functions.reduce((sum, f) => sum + f[p], 0) / count);
  return {mean, sd: mean.map((m, p) => Math.sqrt(functions.reduce((sum, f) => sum + (f[p] - m) ** 2, 0) / (count - 1)))};
}

/// A matrix, row by row, of a list of its numbers.
const rowsOf = (numbers, columns) =>
  Array.from({length: numbers.length / columns}, (_, i) => numbers.slice(columns * i, columns * (i + 1)));

/// What was computed last for arguments that are the same still.
function remembered(compute) {
  let last = {};
  return (...given) => {
    const of = JSON.stringify(given);
    if (last.of !== of) last = {of, value: compute(...given)};
    return last.value;
  };
}

function start(layer) {
  const places = layer.places(), limit = rowsOf(layer.limit(), places.length);
  const belief = [0, 1].map(() => remembered((heads, y) => layer.posterior(heads, y, drawsOf[heads] ?? 0, 1)));
  const cloud = remembered((heads, width, again) =>
    rowsOf(layer.networks(heads, Number.isFinite(width) ? width : 0, 300, first, second, 1 + again), 2));
  let moved = {of: ""}, told = "";

  /// The particles after the steps that were asked for, begun anew with other heads and by the button;
  /// with another method or α they take some at once.
  function particlesOf({heads, steps, again, method, alpha}, y) {
    if (heads === infinitely) return null;
    const of = `${heads} ${again}`, by = `${method} ${alpha}`;
    if (moved.of !== of) {
      layer.begin(Number(heads), particles, 1 + again);
      moved = {of, by, asked: steps, taken: 0};
    }
    const more = each * (moved.by === by ? steps - moved.asked : 1);
    const functions = rowsOf(layer.step(method, alpha, y, more), places.length);
    moved = {of, by, asked: steps, taken: moved.taken + more};
    return {functions, ...bandOf(functions)};
  }

  const reach = 3.5 * Math.sqrt(Math.max(limit[first][first], limit[second][second]));
  page({
    predict: {
      question: `${particles} networks of four heads learn the eight targets, and repel each other (SVGD, α = 1). ` +
        "How far apart do their functions end, beside the exact posterior? (Then choose 4 heads, and play.)",
      answers: ["as far: that is what repulsion is for", "further", "far less: they are too sure"],
      right: 2,
      because: "Each network has 48 weights. SVGD's repulsion of α = 1 is shared among all of them, and leaves few " +
        "particles in many dimensions a small part of the variance. The automatic α gives half of it back, or more.",
    },
    controls: [
      {name: "heads", label: "heads H", choices: {1: 1, 2: 2, 4: 4, 64: 64, [infinitely]: "∞"}},
      {name: "method", label: "particles by", choices: {svgd: "SVGD", wgd: "WGD"}},
      {name: "alpha", label: "repulsion α", values: [0, 0.1, 0.3, 1, 3, 10, -1], at: 3,
       say: (alpha) => alpha < 0 ? "automatic" : shown(alpha)},
      {name: "steps", run: "particles"},
      {name: "again", press: "begin anew"},
      {name: "width", label: "width of a head", values: [1, 4, 16, 64, Infinity], at: 2},
    ],
    drag: {name: "targets", panel: 0, points: layer.training().map((s, i) => [s, layer.targets()[i]])},
    panels: [
      {title: "Drag the targets", x: {label: "s", from: -3, to: 3}, y: {label: "f(s), mean ± 2 sd", from: -1.6, to: 1.6}},
      {title: "How sure: sd of f(s)", x: {label: "s", from: -3, to: 3}, y: {label: "standard deviation", from: 0, to: 0.6}},
      {title: "Random networks before training", x: {label: `f(${shown(places[first])})`, from: -reach, to: reach},
       y: {label: `f(${shown(places[second])})`, from: -reach, to: reach}},
    ],
    draw(state, [bands, sure, random]) {
      const began = performance.now();
      const {heads, width, again, targets} = state, y = targets.map(([, value]) => value), h = heads === infinitely ? 0 : Number(heads);
      const infinite = belief[0](0, y), exact = h ? belief[1](h, y) : infinite, run = particlesOf(state, y);
      const networks = cloud(h, width, again);
      told = (h ? `${named(heads)}: ${brief(ratio(exact, infinite))} times the variance of infinitely many. `
        : "Infinitely many heads are a Gaussian process. ") +
        (run ? `${particles} particles after ${moved.taken} steps: ${brief(ratio(run, exact))} times that of ${named(heads)}. ` : "") +
        `The library took ${Math.round(performance.now() - began)} ms.`;
      const at = (values) => places.map((s, i) => [s, values[i]]), band = (name, {mean, sd}, style) => {
        bands.band(name, places.map((s, i) => [s, mean[i] - 2 * sd[i], mean[i] + 2 * sd[i]]), style);
        bands.line(name, at(mean), style);
        sure.line(name, at(sd), style);
      };
      band("infinitely many heads", infinite, 5);
      if (h) band(`${named(heads)}, exactly`, exact, 0);
      if (run) {
        bands.pieces("particles", run.functions.map(at), 1);
        sure.line("particles", at(run.sd), 1);
      }
      bands.dots("targets", targets, 3, 6);
      random.dots(h ? `${named(heads)} of width ${shown(width)}` : named(heads), networks, 0, 2.5);
      random.line("95% of infinitely many heads", ellipse([first, second].map((i) => [first, second].map((j) => limit[i][j]))), 2);
    },
    says: () => told,
  });
}

/// The module, which stands above, packed: when the page is there, for tests wait for it.
globalThis.started = (async () => {
  const packed = Uint8Array.from(atob(packedModule), (letter) => letter.charCodeAt(0));
  const bytes = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const module = await ladon({wasmBinary: await new Response(bytes).arrayBuffer()});
  start(new module.LiveLayer());
  performance.mark("started");
  return module;
})();
started.catch((error) => document.querySelector("main").append(`This browser cannot run the library: ${error.message}`));
