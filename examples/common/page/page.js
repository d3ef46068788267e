// The page: the script of a study calls page({...}) once. It draws the data of the run, and values of
// functions that check() compares with values computed by the library.

const data = JSON.parse(document.getElementById("data").textContent);
let described = null;  // the page's description, its state and its panels; tests read it

/// Builds the page from {controls, panels, draw(state, panels, data), says(state, data), predict, drag,
/// functions}. `controls` and `panels` are listed in their order on the page. drag: {name, panel,
/// points} are points of a panel that the reader can move, available as state[name]. draw() fills the
/// panels, which are empty when it is called; until state.committed is true it must not show the answer
/// to `predict`. says() returns the sentence below the panels. `functions` are those that the "checks"
/// of the data name.
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

/// The largest difference between values of the page's functions and those of the library, divided by
/// the latter's magnitude if that is above 1. A check is {function, arguments, value}.
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

/// `count` numbers from a row that the data give in thousandths, without the zeros at its end.
function thousandths(row, count) { return Array.from({length: count}, (_, i) => (row[i] ?? 0) / 1000); }
