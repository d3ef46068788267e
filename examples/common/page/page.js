"use strict";
// What all pages share: panels, controls, a prediction, a table of what is drawn. The script of a
// study calls page({...}) once; what it draws stands in the run's data, or is computed by functions
// that check() holds against the library's values.

// --- elements ---

/// An HTML element, or one of SVG with `svg:` before its name. Attributes of value null are left out.
function element(name, attributes = {}, ...children) {
  const made = name.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4))
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== null) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/// A number as a reader wants it: four figures, a true minus sign.
function shown(number) {
  if (number === null || Number.isNaN(number)) return "–";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (number === 0) return "0";
  const size = Math.abs(number);
  const text = size >= 1e5 || size < 1e-4 ? number.toExponential(2)
    : Number.isInteger(number) ? String(number)
    : String(Number(number.toPrecision(4)));
  return text.replace("-", "−");
}

// --- panels ---

/// An axis: {label, from, to, log}. Places of round numbers on it: 1, 2, 5 times a power of ten, or
/// powers alone where there are many.
function ticks({from, to, log}) {
  const places = [];
  if (log) {
    const many = Math.log10(to / from) > 3;
    for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power++)
      for (const factor of many ? [1] : [1, 2, 5]) places.push(factor * 10 ** power);
  } else {
    const raw = (to - from) / 5, power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * (1 - 1e-9));
    for (let i = Math.ceil(from / step - 1e-9); i * step <= to + 1e-9 * step; i++)
      places.push(Number((i * step).toPrecision(12)));
  }
  return places.filter((place) => place >= from * (1 - 1e-9) || !log)
               .filter((place) => place <= to + 1e-9 * Math.abs(to));
}

const room = {left: 68, right: 14, top: 36, bottom: 56};

/// A drawing with two axes. What is drawn is forgotten by clear().
class Panel {
  /// x, y: axes; width and height in units of the drawing, which grows with the page.
  constructor({title, x, y, width = 460, height = 360}) {
    Object.assign(this, {title, x, y, width, height});
    this.svg = element("svg:svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title});
    this.names = element("figcaption", {});
    this.readout = element("p", {class: "readout"}, " ");
    this.figure = element("figure", {}, this.svg, this.names, this.readout);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.point(null));
    this.clear();
  }

  /// Empties it, and draws its axes: they may have changed.
  clear() {
    this.series = [];
    this.svg.replaceChildren();
    const {width, height} = this, text = (at, of, more = {}) =>
      this.svg.append(element("svg:text", {x: at[0], y: at[1], ...more}, of));
    text([width / 2, 20], this.title, {class: "title"});
    for (const place of ticks(this.x)) {
      const at = this.across(place);
      this.svg.append(element("svg:path", {class: "grid", d: `M${at} ${room.top}V${height - room.bottom}`}));
      text([at, height - room.bottom + 18], shown(place), {class: "tick middle"});
    }
    for (const place of ticks(this.y)) {
      const at = this.up(place);
      this.svg.append(element("svg:path", {class: "grid", d: `M${room.left} ${at}H${width - room.right}`}));
      text([room.left - 6, at + 4], shown(place), {class: "tick end"});
    }
    text([(width + room.left) / 2, height - 10], this.x.label, {class: "label"});
    const middle = (height - room.bottom + room.top) / 2;
    text([14, middle], this.y.label, {class: "label", transform: `rotate(-90 14 ${middle})`});
    const inner = {x: room.left, y: room.top, width: width - room.left - room.right, height: height - room.top - room.bottom};
    this.clip = element("svg:svg", {...inner, viewBox: `${inner.x} ${inner.y} ${inner.width} ${inner.height}`});
    this.svg.append(this.clip);
  }

  across(value) { return place(value, this.x, room.left, this.width - room.right); }
  up(value) { return place(value, this.y, this.height - room.bottom, room.top); }

  /// Points [[x, y], …] of a thing called `name`, style 0 to 5: colour, dash and marker say the same.
  line(name, points, style = 0) {
    const d = points.map(([x, y], i) => `${i ? "L" : "M"}${this.across(x)} ${this.up(y)}`).join("");
    this.clip.append(element("svg:path", {class: `line s${style}`, d}));
    this.series.push({name, style, points, as: "line"});
  }
  dots(name, points, style = 0, size = 5) {
    for (const [x, y] of points) this.clip.append(marker(style, this.across(x), this.up(y), size));
    this.series.push({name, style, points, as: "dots"});
  }
  /// Dots with bars of ± one standard error: [[x, y, error], …].
  errors(name, points, style = 0) {
    for (const [x, y, error] of points) {
      const low = this.y.log ? Math.max(y - error, this.y.from / 10) : y - error;
      this.clip.append(element("svg:path", {class: `bar s${style}`,
        d: `M${this.across(x)} ${this.up(low)}V${this.up(y + error)}`}));
    }
    this.dots(name, points, style);
  }
  /// The region between two curves: [[x, low, high], …].
  band(name, points, style = 0) {
    const forth = points.map(([x, low]) => `${this.across(x)} ${this.up(low)}`);
    const back = points.map(([x, , high]) => `${this.across(x)} ${this.up(high)}`).reverse();
    this.clip.append(element("svg:path", {class: `band s${style}`, d: `M${[...forth, ...back].join("L")}Z`}));
    this.series.push({name, style, points, as: "band"});
  }
  /// Columns [[x, y, width], …] around x.
  columns(name, points, style = 0) {
    for (const [x, y, width] of points) {
      const left = this.across(x - width / 2), top = this.up(y);
      this.clip.append(element("svg:rect", {class: `column s${style}`, x: left, y: top,
        width: Math.max(0, this.across(x + width / 2) - left), height: Math.max(0, this.height - room.bottom - top)}));
    }
    this.series.push({name, style, points: points.map(([x, y]) => [x, y]), as: "columns"});
  }
  /// A matrix of numbers in [0, most], as shades; rows from top. Axes are to run from −½ to size − ½.
  cells(name, rows, most = 1) {
    const points = [];
    rows.forEach((row, i) => row.forEach((value, j) => {
      const left = this.across(j - 0.5), top = this.up(i - 0.5), right = this.across(j + 0.5), bottom = this.up(i + 0.5);
      this.clip.append(element("svg:rect", {class: "cell", x: Math.min(left, right), y: Math.min(top, bottom),
        width: Math.abs(right - left), height: Math.abs(bottom - top), "fill-opacity": Math.min(1, Math.max(0, value / most))}));
      points.push([j, i, value]);
    }));
    this.series.push({name, style: 0, points, as: "cells"});
  }

  /// Says the exact values of the drawn point that is nearest to the pointer.
  point(event) {
    if (!event) { this.readout.textContent = " "; return; }
    const box = this.svg.getBoundingClientRect(), unit = this.width / box.width;
    const at = [(event.clientX - box.left) * unit, (event.clientY - box.top) * unit];
    let best = null, least = 40;
    for (const {name, points, as} of this.series)
      for (const point of points) {
        const away = Math.hypot(this.across(point[0]) - at[0], this.up(point[1]) - at[1]);
        if (away < least) [least, best] = [away, `${name}: ${this.told(point, as)}`];
      }
    this.readout.textContent = best ?? " ";
  }
  told(point, as) {
    const [x, y, third] = point.map(shown);
    if (as === "band") return `${this.x.label} ${x}: from ${y} to ${third}`;
    if (as === "cells") return `${this.x.label} ${x}, ${this.y.label} ${y}: ${third}`;
    return `${this.x.label} ${x}, ${this.y.label} ${y}${third === undefined ? "" : ` ± ${third}`}`;
  }
}

/// Pixels of a number on an axis.
function place(value, {from, to, log}, low, high) {
  const part = log ? Math.log(Math.max(value, 1e-300) / from) / Math.log(to / from) : (value - from) / (to - from);
  return Math.round(100 * (low + Math.min(9, Math.max(-9, part)) * (high - low))) / 100;
}

/// Markers of style 0 to 5: circle, square, triangle, diamond, cross, ring.
function marker(style, x, y, size) {
  const d = [
    `M${x - size} ${y}a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${size} 0 1 0 ${-2 * size} 0Z`,
    `M${x - size} ${y - size}h${2 * size}v${2 * size}h${-2 * size}Z`,
    `M${x} ${y - size}L${x + size} ${y + size}H${x - size}Z`,
    `M${x} ${y - 1.3 * size}L${x + size} ${y}L${x} ${y + 1.3 * size}L${x - size} ${y}Z`,
    `M${x - size} ${y}h${2 * size}M${x} ${y - size}v${2 * size}`,
    `M${x - size} ${y}a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${size} 0 1 0 ${-2 * size} 0Z`][style % 6];
  return element("svg:path", {class: `dot s${style}`, d});
}

/// Names of a panel's series, each beside its mark.
function legend({series}) {
  const names = new Map();
  for (const {name, style, as} of series) if (as !== "cells") names.set(name, {style, as});
  return [...names].map(([name, {style, as}]) => {
    const key = element("svg:svg", {viewBox: "0 0 26 12", width: 26, height: 12, "aria-hidden": "true"});
    if (as === "line") key.append(element("svg:path", {class: `line s${style}`, d: "M0 6H26"}));
    else if (as === "dots") key.append(marker(style, 13, 6, 5));
    else key.append(element("svg:rect", {class: `${as === "band" ? "band" : "column"} s${style}`, x: 2, y: 1, width: 22, height: 10}));
    return element("span", {}, key, ` ${name}`);
  });
}

/// What the panels draw, in numbers.
function table(panels) {
  const rows = [element("tr", {}, ...["panel", "series", "across", "up", "± or to"].map((name) => element("th", {}, name)))];
  for (const panel of panels)
    for (const {name, points} of panel.series)
      for (const point of points)
        rows.push(element("tr", {}, ...[panel.title, name, ...[0, 1, 2].map((i) => i < point.length ? shown(point[i]) : "")]
          .map((text) => element("td", {}, text))));
  return element("table", {}, ...rows);
}

// --- controls ---

/// {name, label, values, at, say}: a slider over `values`, at first at index `at`; say(value) is
/// what stands beside it. With play: true it can run by itself.
function slider(state, turned, {name, label, values, at = 0, say = shown, play = false}) {
  const input = element("input", {type: "range", min: 0, max: values.length - 1, step: 1, value: at, name});
  const output = element("output", {}, say(values[at]));
  state[name] = values[at];
  const take = () => {
    state[name] = values[Number(input.value)];
    output.textContent = say(state[name]);
    input.setAttribute("aria-valuetext", say(state[name]));
    turned();
  };
  input.addEventListener("input", take);
  const made = element("label", {class: "control"}, element("span", {}, label), input, output);
  return play ? element("div", {class: "playable"}, made, ...player(input, take)) : made;
}

/// Buttons that move a slider by time, or by one step each. Whoever asked for little motion has the
/// step alone.
function player(input, take) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let clock = null;
  const step = () => {
    input.value = Number(input.value) === Number(input.max) ? 0 : Number(input.value) + 1;
    take();
  };
  const pause = () => { clearInterval(clock); clock = null; run.textContent = "play"; };
  const run = element("button", {type: "button"}, "play");
  run.addEventListener("click", () => {
    if (clock) return pause();
    run.textContent = "pause";
    clock = setInterval(() => { step(); if (input.value === input.max) pause(); }, 120);
  });
  const once = element("button", {type: "button"}, "step");
  once.addEventListener("click", () => { if (clock) pause(); step(); });
  return still ? [once] : [run, once];
}

/// {name, label, choices: {value: label}}: one of a few.
function choice(state, turned, {name, label, choices}) {
  const values = Object.keys(choices);
  state[name] = values[0];
  const made = element("fieldset", {class: "control"}, element("legend", {}, label));
  for (const value of values) {
    const input = element("input", {type: "radio", name, value, ...(value === values[0] ? {checked: ""} : {})});
    input.addEventListener("change", () => { state[name] = value; turned(); });
    made.append(element("label", {}, input, ` ${choices[value]}`));
  }
  return made;
}

/// {name, press: label}: a button; state[name] counts how often it was pressed.
function button(state, turned, {name, press}) {
  state[name] = 0;
  const made = element("button", {type: "button", name}, press);
  made.addEventListener("click", () => { state[name] += 1; turned(); });
  return made;
}

/// {question, answers, right, because}: to commit to before anything can be turned.
function prediction({question, answers, right, because}, open) {
  const form = element("form", {class: "prediction"}, element("p", {}, element("strong", {}, "Predict. "), question));
  answers.forEach((answer, i) => form.append(element("label", {},
    element("input", {type: "radio", name: "prediction", value: i, required: ""}), ` ${answer}`)));
  const commit = element("button", {}, "commit");
  form.append(commit);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const said = Number(new FormData(form).get("prediction"));
    for (const input of form.querySelectorAll("input")) input.disabled = true;
    commit.remove();
    form.append(element("p", {role: "status"}, "Now turn it, and see. ", element("details", {},
      element("summary", {}, "The answer"),
      `${said === right ? "As you said" : `Not “${answers[said]}”`}: ${answers[right]}. ${because}`)));
    open();
  });
  return form;
}

// --- the page ---

const data = JSON.parse(document.getElementById("data").textContent);
let described = null;  // the page's description, its state and what is drawn: for tests, too

/// {controls, panels, draw(state, panels, data), says(state, data), predict, functions}:
/// `controls` and `panels` in the order in which they stand; draw fills the panels, which are empty;
/// says gives the sentence below them; functions are those that the data's checks name.
function page(description) {
  const state = {}, panels = description.panels.map((panel) => new Panel(panel));
  described = {...description, state, drawn: panels};
  const says = element("p", {class: "says", role: "status"});
  const numbers = element("details", {}, element("summary", {}, "What is drawn, as a table"));
  const turned = () => {
    for (const panel of panels) panel.clear();
    description.draw(state, panels, data);
    for (const panel of panels) panel.names.replaceChildren(...legend(panel));
    says.textContent = description.says ? description.says(state, data) : "";
    fill();
  };
  const fill = () => {
    numbers.replaceChildren(numbers.firstChild, ...(numbers.open ? [table(panels)] : []));
  };
  numbers.addEventListener("toggle", fill);
  const makers = {values: slider, choices: choice, press: button};
  const controls = element("fieldset", {class: "controls"}, ...description.controls.map((control) =>
    makers[Object.keys(makers).find((key) => key in control)](state, turned, control)));
  const parts = [controls, element("div", {class: "panels"}, ...panels.map((panel) => panel.figure)), says, numbers];
  if (description.predict) {
    controls.disabled = true;
    parts.unshift(prediction(description.predict, () => { controls.disabled = false; }));
  }
  document.querySelector("main").append(...parts);
  turned();
}

/// The largest difference between the page's functions and the library's values, relative to values
/// above 1. A check is {function, arguments, value}.
function check() {
  let largest = 0;
  for (const {function: name, arguments: given, value} of data.checks ?? []) {
    const ours = [described.functions[name](...given)].flat(9), theirs = [value].flat(9);
    if (ours.length !== theirs.length) return Infinity;
    ours.forEach((number, i) => {
      const away = Math.abs(number - theirs[i]) / Math.max(1, Math.abs(theirs[i]));
      largest = Number.isNaN(away) ? Infinity : Math.max(largest, away);
    });
  }
  return largest;
}

/// Uniform numbers in (0, 1) from a seed: "draw again" gives the same draws to every reader. Lehmer's
/// generator with the multiplier of Park, Miller and Stockmeyer (1993), exact in 53 bits.
function uniforms(seed) {
  const modulus = 2 ** 31 - 1;
  let state = 1 + (seed * 7919) % (modulus - 1);
  const next = () => { state = (state * 48271) % modulus; return state / modulus; };
  for (let i = 0; i < 10; i++) next();  // like seeds begin alike
  return next;
}

/// Standard normal numbers, by Box and Muller.
function normals(seed) {
  const uniform = uniforms(seed);
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/// The length of a vector of n standard normal numbers, without drawing these: the root of twice a
/// Gamma(n/2) number, by the rejection of Marsaglia and Tsang (2000).
function length(n, {normal, uniform}) {
  if (n === 1) return Math.abs(normal());
  const d = n / 2 - 1 / 3;
  for (;;) {
    const x = normal(), v = (1 + x / Math.sqrt(9 * d)) ** 3;
    if (v > 0 && Math.log(uniform()) < x * x / 2 + d - d * v + d * Math.log(v)) return Math.sqrt(2 * d * v);
  }
}
