"use strict";
// Eyes of the test within a page: what can be turned, whether the drawing changed, what cannot be
// read. It knows the elements that examples/common/page makes; those that it does not know are faults.

const probe = {
  before: [],

  /// All that is drawn: of each panel.
  drawing: () => described.drawn.map(({figure}) => [...figure.querySelectorAll("svg")].map((svg) => svg.innerHTML).join("\n")),
  remember() { this.before = this.drawing(); },
  changedPanels() {
    const now = this.drawing();
    return described.drawn.filter((_, i) => now[i] !== this.before[i]);
  },
  changed() { return this.changedPanels().length > 0; },
  /// Whether control i and the whole drawing of each panel that changed can be seen at once; of a
  /// handle, its own panel.
  together(i) {
    const control = this.controls()[i].elements[0], all = document.querySelector(".controls");
    const panels = this.changedPanels().filter(({svg}) => !control.closest("svg") || svg.contains(control));
    return panels.every(({svg}) => {
      svg.scrollIntoView({block: "end", behavior: "instant"});
      const panel = svg.getBoundingClientRect();
      const covered = !svg.contains(control) && panel.top < all.getBoundingClientRect().bottom - 1;
      return !covered && [panel, control.getBoundingClientRect()].every(({top, bottom}) => top > -1 && bottom < innerHeight + 1);
    });
  },

  // --- controls ---

  /// What a reader turns: {kind, name, elements}. Radio buttons of one name are one control.
  controls() {
    const found = new Map();
    for (const each of document.querySelectorAll("main :is(input, button, select, textarea, [contenteditable], svg [tabindex])")) {
      if (each.closest(".prediction")) continue;
      const kind = {range: "slider", radio: "choice", search: "words", "select-one": "list", button: "button"}[each.type]
        ?? (each.closest("svg") ? "handle" : each.outerHTML);
      const name = each.name || each.getAttribute("aria-label") || each.textContent || kind;
      const key = kind === "choice" ? name : found.size;
      if (!found.has(key)) found.set(key, {kind, name, elements: []});
      found.get(key).elements.push(each);
    }
    return [...found.values()];
  },
  named() { return this.controls().map(({kind, name}) => ({kind, name})); },
  enabled() { return this.controls().map(({elements}) => !elements[0].matches(":disabled")); },

  /// Where to press control i so that it moves, [x, y] in the window: a slider's far half, the
  /// choice after the one that is made.
  place(i) {
    const {kind, elements} = this.controls()[i];
    let element = elements[0], part = 0.5;
    if (kind === "list") this.clearWords();
    if (kind === "choice")
      element = elements[(elements.findIndex((each) => each.checked) + 1) % elements.length].closest("label");
    if (kind === "slider")
      part = 2 * Number(element.value) < Number(element.min) + Number(element.max) ? 0.85 : 0.15;
    return middle(element, part);
  },
  /// Where to drag handle i: toward the middle of its panel.
  goal(i) {
    const [x, y] = this.place(i), box = this.controls()[i].elements[0].ownerSVGElement.getBoundingClientRect();
    return [x, y + (y > box.y + box.height / 2 ? -30 : 30)];
  },
  /// Empties the fields for words: each list holds all then.
  clearWords() {
    for (const field of document.querySelectorAll("main input[type=search]")) {
      field.value = "";
      field.dispatchEvent(new Event("input", {bubbles: true}));
    }
  },
  /// Words that find the last of the list of control i.
  word(i) {
    this.clearWords();
    return this.controls()[i].elements[0].parentElement.querySelector("option:last-child").textContent;
  },
  /// How many choices control i has; makes the one after that which is made.
  choices(i) { return this.controls()[i].elements.length; },
  chooseNext(i) {
    const {elements} = this.controls()[i];
    elements[(elements.findIndex((each) => each.checked) + 1) % elements.length].click();
  },
  /// Stops what plays.
  pause() {
    for (const each of document.querySelectorAll("main button")) if (each.textContent === "pause") each.click();
  },
  /// Which control has the focus; −1: none.
  focused() { return this.controls().findIndex(({elements}) => elements.includes(document.activeElement)); },
  /// The key that moves control i.
  key(i) {
    const {kind, elements: [element]} = this.controls()[i];
    if (kind === "list") this.clearWords();
    if (kind === "button") return " ";
    if (kind === "list" || kind === "handle") return element.selectedIndex === 0 || element.ariaValueNow > 0 ? "ArrowDown" : "ArrowUp";
    return kind === "slider" && element.value === element.max ? "ArrowLeft" : "ArrowRight";
  },
  middle: (selector) => middle(document.querySelector(selector)),
  /// Commits to the first answer and opens it, by no hand.
  commit() {
    document.querySelector(".prediction input").click();
    document.querySelector(".prediction button").click();
    document.querySelector(".prediction details").open = true;
  },
  /// Moves every slider to its end.
  turnFar() {
    for (const input of document.querySelectorAll(".controls input[type=range]")) {
      input.value = input.max;
      input.dispatchEvent(new Event("input", {bubbles: true}));
    }
  },
  /// Where the first thing that panel i draws stands in the window; null where it draws nothing.
  drawn(i) {
    const panel = described.drawn[i];
    panel.svg.scrollIntoView({block: "center", behavior: "instant"});
    const box = panel.svg.getBoundingClientRect(), unit = box.width / panel.width;
    for (const {points} of panel.series)
      for (const [x, y] of points) {
        const at = [box.x + unit * panel.across(x), box.y + unit * panel.up(y)];
        if (at[0] > box.left && at[0] < box.right && at[1] > box.top && at[1] < box.bottom) return at;
      }
    return null;
  },

  // --- what cannot be read ---

  faults(width) {
    return [...this.overflow(width), ...this.texts(), ...this.contrasts()];
  },
  overflow(width) {
    const {scrollWidth} = document.documentElement;
    if (scrollWidth <= width && innerWidth <= width) return [];
    const wide = [...document.querySelectorAll("main *")].filter((each) =>
      !each.closest("svg svg") && each.getBoundingClientRect().right > width + 1);
    return [`wider than ${width}: ${scrollWidth}, by ${wide.slice(0, 3).map((each) => each.outerHTML.slice(0, 120))}`];
  },
  /// Texts of a panel that are cut off, lie on each other, or are small.
  texts() {
    const all = [];
    for (const svg of document.querySelectorAll("figure > svg")) {
      const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim() !== "")
        .map((text) => ({said: text.textContent, text, box: text.getBoundingClientRect()}));
      const of = `${svg.getAttribute("aria-label")}: `;
      const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      for (const {said, text, box} of texts) {
        for (let outer = text.ownerSVGElement; outer; outer = outer.ownerSVGElement) {
          const room = outer.getBoundingClientRect();
          if (box.left < room.left - 1 || box.right > room.right + 1 || box.top < room.top - 1 || box.bottom > room.bottom + 1)
            all.push(`${of}“${said}” is cut off`);
        }
        const size = scale * parseFloat(getComputedStyle(text).fontSize);
        if (size < 10) all.push(`${of}“${said}” is ${size.toFixed(1)} pixels high`);
      }
      texts.forEach((a, i) => texts.slice(i + 1).forEach((b) => {
        if (overlap(corners(a.text), corners(b.text))) all.push(`${of}“${a.said}” lies on “${b.said}”`);
      }));
    }
    return all;
  },
  /// Texts of less contrast than 4.5 (WCAG 2.2, 1.4.3, which exempts what is disabled).
  contrasts() {
    const all = new Set(), walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const element = walk.currentNode.parentElement;
      if (walk.currentNode.data.trim() === "" || element.matches(":disabled, :disabled *") || !element.checkVisibility()) continue;
      const style = getComputedStyle(element), paper = ground(element);
      const ink = over(colour(element.closest("svg") ? style.fill : style.color), paper, opacity(element));
      const [low, high] = [luminance(ink), luminance(paper)].sort((a, b) => a - b);
      const contrast = (high + 0.05) / (low + 0.05);
      if (!(contrast >= 4.5)) all.add(`“${walk.currentNode.data.trim().slice(0, 40)}” has contrast ${contrast.toFixed(2)}`);
    }
    return [...all];
  },

  // --- the table ---

  async openTable() {
    [...document.querySelectorAll("main > details")].at(-1).open = true;
    await new Promise((done) => setTimeout(done, 50));
  },
  /// The table's rows as texts.
  rows: () => [...document.querySelectorAll("table tr")].slice(1)
    .map((row) => [...row.cells].map((cell) => cell.textContent)),
  /// Where the table's numbers and the drawing differ by more than a pixel.
  tableFaults() {
    const all = [], rows = this.rows();
    for (const panel of described.drawn) {
      const next = {line: 0, band: 0, column: 0};
      for (const {name, points, as} of panel.series) {
        const of = rows.splice(0, points.length);
        const places = of.map(([, , x, y], i) =>
          [panel.across(valueOf(x, panel.x, points[i][0])), panel.up(valueOf(y, panel.y, points[i][1]))]);
        const drawn = {
          line: () => coordinates(panel.clip.querySelectorAll("path.line")[next.line++]),
          band: () => coordinates(panel.clip.querySelectorAll("path.band")[next.band++]).slice(0, points.length),
          columns: () => places.map(() => panel.clip.querySelectorAll("rect.column")[next.column++])
            .map((rect) => [Number(rect.getAttribute("x")) + Number(rect.getAttribute("width")) / 2, Number(rect.getAttribute("y"))]),
        }[as]?.() ?? points.map(([x, y]) => [panel.across(x), panel.up(y)]);
        if (of.length !== points.length || drawn.length !== points.length || of.some(([title, series]) => title !== panel.title || series !== name))
          all.push(`${panel.title}, ${name}: ${of.length} rows, ${drawn.length} drawn, ${points.length} points`);
        else
          drawn.forEach(([x, y], i) => {
            if (!(Math.hypot(x - places[i][0], y - places[i][1]) < 1))
              all.push(`${panel.title}, ${name}: row ${of[i].slice(2)} is drawn at ${x}, ${y}`);
          });
      }
    }
    if (rows.length > 0) all.push(`${rows.length} rows of nothing that is drawn`);
    return all;
  },
};

/// Middle of an element in the window, which is scrolled there; or another part of its width.
function middle(element, part = 0.5) {
  element.scrollIntoView({block: "center", behavior: "instant"});
  const box = element.getBoundingClientRect();
  return [box.x + part * box.width, box.y + box.height / 2];
}

/// A number as the table writes it: in figures, or by its name on an axis of names, several of which
/// may be alike.
function valueOf(text, {names}, value) {
  if (names?.[value] !== undefined) return names[value] === text ? value : NaN;
  return Number(text.replaceAll("−", "-").replace("∞", "Infinity"));
}

/// Points of a path of straight lines.
function coordinates(path) {
  return path.getAttribute("d").match(/[-\d.e]+ [-\d.e]+/g).map((pair) => pair.split(" ").map(Number));
}

/// Corners of a text in the window, turned as it is: 15% of its height on either side hold no letter.
function corners(text) {
  const {x, y, width, height} = text.getBBox(), place = text.getScreenCTM(), edge = 0.15 * height;
  return [[x, y + edge], [x + width, y + edge], [x + width, y + height - edge], [x, y + height - edge]]
    .map(([a, b]) => [place.a * a + place.c * b + place.e, place.b * a + place.d * b + place.f]);
}

/// Whether two rectangles overlap by more than a pixel: no side of either has them on its two sides.
function overlap(one, other) {
  return [one, other].every(([first, second, , last]) => [second, last].every((next) => {
    const side = [next[0] - first[0], next[1] - first[1]], length = Math.hypot(...side);
    const [[a, b], [c, d]] = [one, other].map((all) => {
      const along = all.map(([x, y]) => (x * side[0] + y * side[1]) / length);
      return [Math.min(...along), Math.max(...along)];
    });
    return Math.min(b, d) - Math.max(a, c) > 1;
  }));
}

// --- colours ---

/// [red, green, blue, opacity] of a computed colour.
function colour(text) {
  const [red, green, blue, alpha = 1] = /^rgba?\(/.test(text) ? text.match(/[\d.]+/g).map(Number) : [NaN, NaN, NaN];
  return [red, green, blue, alpha];
}

/// A colour of some opacity, over an opaque one.
function over([red, green, blue, alpha], paper, opacity = 1) {
  return [red, green, blue].map((each, i) => alpha * opacity * each + (1 - alpha * opacity) * paper[i]);
}

/// What an element stands on.
function ground(element) {
  if (!element) return colour(getComputedStyle(document.body).backgroundColor);
  const own = colour(getComputedStyle(element).backgroundColor);
  return own[3] === 0 ? ground(element.parentElement) : over(own, ground(element.parentElement));
}

function opacity(element) {
  return element ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1;
}

/// Relative luminance (WCAG 2.2).
function luminance(rgb) {
  const [red, green, blue] = rgb.map((each) => each / 255)
    .map((each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
