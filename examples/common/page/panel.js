"use strict";
// Panels: drawings with axes. The page shows the values under the pointer, and all values in a table.

/// An HTML element, or an SVG element if its name begins with `svg:`. Attributes of value null are
/// left out.
function element(name, attributes = {}, ...children) {
  const made = name.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4))
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== null) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/// A number as text for readers: four significant digits, and a typographic minus sign.
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

/// Positions of the ticks of an axis {label, from, to, log, names}: 1, 2 and 5 times powers of ten, or
/// powers of ten alone on a logarithmic axis of more than three decades; on an axis with names 0, 1, 2, ….
function ticks({from, to, log, names}) {
  if (names) return [...names.keys()];
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

/// Axes of cells that have names: columns from the left, rows from the top.
function columnNames(label, names) { return {label, names, from: -0.5, to: names.length - 0.5}; }
function rowNames(label, names) { return {label, names, from: names.length - 0.5, to: -0.5}; }

/// Text of a position on an axis: its name, or the number.
function nameOf(axis, value) { return axis.names?.[value] ?? shown(value); }

const usual = {left: 68, right: 14, top: 36, bottom: 56};

/// A drawing with two axes. clear() removes all that was drawn.
class Panel {
  /// x, y: axes; width, height: size in units of the drawing, which is scaled with the page; room: margins
  /// around the axes that differ from the usual ones.
  constructor({title, x, y, width = 460, height = 360, room = {}}) {
    Object.assign(this, {title, x, y, width, height, room: {...usual, ...room}});
    this.svg = element("svg:svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title});
    this.drawing = element("svg:g");
    this.over = element("svg:g");  // handles that the reader drags; clear() does not remove them
    this.svg.append(this.drawing, this.over);
    this.names = element("figcaption", {});
    this.readout = element("p", {class: "readout"}, " ");
    this.figure = element("figure", {}, this.svg, this.names, this.readout);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.point(null));
    this.clear();
  }

  /// Removes all that was drawn, and draws the axes again, since they may have changed.
  clear() {
    this.series = [];
    this.drawing.replaceChildren();
    const {width, height, room} = this, text = (at, of, more = {}) =>
      this.drawing.append(element("svg:text", {x: at[0], y: at[1], ...more}, of));
    const size = ({names}, length) => names ? `font-size: ${Math.min(14, 1.1 * length / names.length)}px` : null;
    const across = size(this.x, width - room.left - room.right), up = size(this.y, height - room.top - room.bottom);
    const long = this.x.names?.some((name) => [...name].length > 2);  // do not fit side by side
    text([width / 2, 20], this.title, {class: "title"});
    for (const place of ticks(this.x)) {
      const at = this.across(place);
      if (!this.x.names) this.drawing.append(gridLine(`M${at} ${room.top}V${height - room.bottom}`));
      const below = height - room.bottom + (long ? 12 : 18);
      text([long ? at + 4 : at, below], nameOf(this.x, place), {style: across,
        ...(long ? {class: "tick end", transform: `rotate(-65 ${at + 4} ${below})`} : {class: "tick middle"})});
    }
    for (const place of ticks(this.y)) {
      const at = this.up(place);
      if (!this.y.names) this.drawing.append(gridLine(`M${room.left} ${at}H${width - room.right}`));
      text([room.left - 6, at + 4], nameOf(this.y, place), {class: "tick end", style: up});
    }
    text([(width + room.left) / 2, height - 10], this.x.label, {class: "label"});
    const middle = (height - room.bottom + room.top) / 2;
    text([14, middle], this.y.label, {class: "label", transform: `rotate(-90 14 ${middle})`});
    const inner = {x: room.left, y: room.top, width: width - room.left - room.right, height: height - room.top - room.bottom};
    this.clip = element("svg:svg", {...inner, viewBox: `${inner.x} ${inner.y} ${inner.width} ${inner.height}`});
    this.drawing.append(this.clip);
    for (const [handle, point] of this.handles ?? []) {
      handle.setAttribute("cx", this.across(point[0]));
      handle.setAttribute("cy", this.up(point[1]));
      handle.setAttribute("aria-valuenow", Number(point[1].toPrecision(4)));
    }
  }

  across(value) { return place(value, this.x, this.room.left, this.width - this.room.right); }
  up(value) { return place(value, this.y, this.height - this.room.bottom, this.room.top); }

  /// A line through points [[x, y], …], named in the legend. A style from 0 to 11 has its colour, dash
  /// and marker; any one of them identifies it.
  line(name, points, style = 0) {
    const d = points.map(([x, y], i) => `${i ? "L" : "M"}${this.across(x)} ${this.up(y)}`).join("");
    this.clip.append(element("svg:path", {class: `line s${style}`, d}));
    this.series.push({name, style, points, as: "line"});
  }
  /// Several lines [[[x, y], …], …] with one name, such as a contour. Neither the table nor the pointer
  /// shows their values.
  pieces(name, all, style = 0) {
    const d = all.map((points) => points.map(([x, y], i) => `${i ? "L" : "M"}${this.across(x)} ${this.up(y)}`).join("")).join("");
    this.clip.append(element("svg:path", {class: `piece s${style}`, d}));
    this.series.push({name, style, points: [], as: "piece"});
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
        width: Math.max(0, this.across(x + width / 2) - left), height: Math.max(0, this.height - this.room.bottom - top)}));
    }
    this.series.push({name, style, points: points.map(([x, y]) => [x, y]), as: "columns"});
  }
  /// A matrix of numbers in [−most, most], as shades; negative numbers in another colour. The axes must
  /// extend from −½ to size − ½, as those of columnNames and rowNames do. written: also write each number
  /// into its cell.
  cells(name, rows, most = 1, written = false) {
    const points = [], shade = (value) => Math.min(1, Math.abs(value) / most) * (written ? 0.5 : 1);
    rows.forEach((row, i) => row.forEach((value, j) => {
      const left = this.across(j - 0.5), top = this.up(i - 0.5), right = this.across(j + 0.5), bottom = this.up(i + 0.5);
      this.clip.append(element("svg:rect", {class: value < 0 ? "cell below" : "cell", x: Math.min(left, right), y: Math.min(top, bottom),
        width: Math.abs(right - left), height: Math.abs(bottom - top), "fill-opacity": shade(value)}));
      if (written) this.clip.append(element("svg:text", {class: "label", x: (left + right) / 2, y: (top + bottom) / 2 + 5}, shown(value)));
      points.push([j, i, value]);
    }));
    this.series.push({name, style: 0, points, as: "cells"});
  }

  /// Lets the reader move points [[x, y], …] up and down, by pointer and by arrow keys; moved() is
  /// called after each move. draw() must draw the points too, since the handles are invisible.
  drag(name, points, moved) {
    this.handles = points.map((point) => [element("svg:circle", {class: "handle", r: 13, tabindex: 0, role: "slider",
      "aria-orientation": "vertical", "aria-label": `${name} at ${this.x.label} ${shown(point[0])}`,
      "aria-valuemin": this.y.from, "aria-valuemax": this.y.to}), point]);
    for (const [handle, point] of this.handles) {
      const move = (y) => { point[1] = Math.min(this.y.to, Math.max(this.y.from, y)); moved(); };
      handle.addEventListener("keydown", (event) => {
        const part = {ArrowUp: 0.01, ArrowDown: -0.01, PageUp: 0.1, PageDown: -0.1}[event.key];
        if (!part) return;
        event.preventDefault();
        move(point[1] + part * (this.y.to - this.y.from));
      });
      // For SVG shapes, touch-action alone does not prevent a finger from scrolling the page.
      handle.addEventListener("touchstart", (event) => { event.preventDefault(); }, {passive: false});
      handle.addEventListener("pointerdown", (event) => { handle.setPointerCapture(event.pointerId); });
      handle.addEventListener("pointermove", (event) => {
        if (!handle.hasPointerCapture(event.pointerId)) return;
        const box = this.svg.getBoundingClientRect(), [low, high] = [this.up(this.y.from), this.up(this.y.to)];
        const at = (event.clientY - box.top) * this.width / box.width;
        move(this.y.from + (at - low) / (high - low) * (this.y.to - this.y.from));
      });
    }
    this.over.replaceChildren(...this.handles.map(([handle]) => handle));
  }

  /// Shows the values of the drawn point that is nearest to the pointer.
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
    const [x, y, third] = [nameOf(this.x, point[0]), nameOf(this.y, point[1]), ...point.slice(2).map(shown)];
    if (as === "band") return `${this.x.label} ${x}: from ${y} to ${third}`;
    if (as === "cells") return `${this.x.label} ${x}, ${this.y.label} ${y}: ${third}`;
    return `${this.x.label} ${x}, ${this.y.label} ${y}${third === undefined ? "" : ` ± ${third}`}`;
  }
}

const gridLine = (d) => element("svg:path", {class: "grid", d});

/// Coordinate in the drawing of a number on an axis, which extends from `low` to `high` there.
function place(value, {from, to, log}, low, high) {
  const part = log ? Math.log(Math.max(value, 1e-300) / from) / Math.log(to / from) : (value - from) / (to - from);
  return Math.round(100 * (low + Math.min(9, Math.max(-9, part)) * (high - low))) / 100;
}

/// Markers of style 0 to 5: circle, square, triangle, diamond, cross, ring; 6 to 11: the same in another
/// colour.
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

/// Legend of a panel: the name of each series beside its line, marker or area.
function legend({series}) {
  const names = new Map();
  for (const {name, style, as} of series) if (as !== "cells") names.set(name, {style, as});
  return [...names].map(([name, {style, as}]) => {
    const key = element("svg:svg", {viewBox: "0 0 26 12", width: 26, height: 12, "aria-hidden": "true"});
    if (as === "line" || as === "piece") key.append(element("svg:path", {class: `${as} s${style}`, d: "M0 6H26"}));
    else if (as === "dots") key.append(marker(style, 13, 6, 5));
    else key.append(element("svg:rect", {class: `${as === "band" ? "band" : "column"} s${style}`, x: 2, y: 1, width: 22, height: 10}));
    return element("span", {}, key, ` ${name}`);
  });
}

/// Table of the values of all panels.
function table(panels) {
  const rows = [element("tr", {}, ...["panel", "series", "across", "up", "± or to"].map((name) => element("th", {}, name)))];
  for (const panel of panels)
    for (const {name, points} of panel.series)
      for (const point of points)
        rows.push(element("tr", {}, ...[panel.title, name, nameOf(panel.x, point[0]), nameOf(panel.y, point[1]),
          point.length > 2 ? shown(point[2]) : ""].map((text) => element("td", {}, text))));
  return element("table", {}, ...rows);
}
