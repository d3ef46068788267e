// The page: the script of a study calls page({...}) once. What it draws stands in the run's data, or
// is computed by functions that check() holds against the library's values.

const data = JSON.parse(document.getElementById("data").textContent);
let described = null;  // the page's description, its state and what is drawn: for tests, too

/// {controls, panels, draw(state, panels, data), says(state, data), predict, drag, functions}:
/// `controls` and `panels` in the order in which they stand; drag: {name, panel, points} are points
/// of a panel that the reader moves, and state[name]; draw fills the panels, which are empty, and
/// leaves out what answers the prediction until state.committed; says gives the sentence below them;
/// functions are those that the data's checks name.
function page(description) {
  const state = {committed: false}, panels = description.panels.map((panel) => new Panel(panel));
  described = {...description, state, drawn: panels};
  const says = element("p", {class: "says", role: "status"});
  const numbers = element("details", {}, element("summary", {}, "What is drawn, as a table"));
  const turned = () => {
    for (const control of controls.children) control.refresh?.();
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
  const makers = {values: slider, choices: choice, press: button, texts: finder, run: steps};
  const controls = element("fieldset", {class: "controls"}, ...description.controls.map((control) =>
    makers[Object.keys(makers).find((key) => key in control)](state, turned, control)));
  const parts = [controls, element("div", {class: "panels"}, ...panels.map((panel) => panel.figure)), says, numbers,
                 element("footer", {}, `Made by Ladon: examples/run ${data.program} --page FILE`)];
  const {predict, drag} = description;
  if (drag) state[drag.name] = drag.points.map((point) => [...point]);
  const open = () => {
    state.committed = true;
    controls.disabled = false;
    if (drag) panels[drag.panel].drag(drag.name, state[drag.name], turned);
    turned();
  };
  if (predict) {
    controls.disabled = true;
    parts.unshift(prediction(predict, open));
  }
  document.querySelector("main").append(...parts);
  if (predict) turned();
  else open();
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

/// `count` numbers that stand in the data in thousandths, without the zeros at their end.
function thousandths(row, count) { return Array.from({length: count}, (_, i) => (row[i] ?? 0) / 1000); }
