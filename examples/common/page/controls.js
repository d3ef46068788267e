// Controls of a page: sliders, choices, buttons. Each function makes one from (state, turned, its
// description): state[name] holds the value of the control, and turned() is called after each change.

/// {name, label, values, at, say, play}: a slider over `values`, at first at index `at`; the text
/// say(value) is shown beside it. With play: true it has buttons to move by itself. If the values
/// depend on other controls, `values` is a function of the state, called after each change of a control.
function slider(state, turned, {name, label, values, at = 0, say = shown, play = false}) {
  const all = () => typeof values === "function" ? values(state) : values;
  const input = element("input", {type: "range", min: 0, max: all().length - 1, step: 1, value: at, name});
  const output = element("output", {});
  const refresh = () => {
    input.max = all().length - 1;  // the browser reduces input.value to it
    state[name] = all()[Number(input.value)];
    output.textContent = say(state[name], state);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  const take = () => { refresh(); turned(); };
  input.addEventListener("input", take);
  refresh();
  const labelled = element("label", {class: "control"}, element("span", {}, label), input, output);
  const next = () => {
    input.value = Number(input.value) === Number(input.max) ? 0 : Number(input.value) + 1;
    take();
  };
  const made = play
    ? element("div", {class: "playable"}, labelled, ...player(next, () => input.value === input.max))
    : labelled;
  return Object.assign(made, {refresh});
}

/// {name, run: label}: buttons play, pause and step for a run without an end; state[name] counts its
/// steps.
function steps(state, turned, {name, run}) {
  state[name] = 0;
  const next = () => { state[name] += 1; turned(); };
  return element("div", {class: "playable"}, element("span", {}, run), ...player(next, () => false, 40));
}

/// Two buttons: "play" calls step() every `between` milliseconds until ended() is true, "step" calls
/// it once. Readers whose browser asks for reduced motion get only "step".
function player(step, ended, between = 120) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let clock = null;
  const pause = () => { clearInterval(clock); clock = null; run.textContent = "play"; };
  const run = element("button", {type: "button"}, "play");
  run.addEventListener("click", () => {
    if (clock) return pause();
    run.textContent = "pause";
    clock = setInterval(() => { step(); if (ended()) pause(); }, between);
  });
  const once = element("button", {type: "button"}, "step");
  once.addEventListener("click", () => { if (clock) pause(); step(); });
  return still ? [once] : [run, once];
}

/// {name, label, choices: {value: label}}: radio buttons.
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

/// {name, label, texts}: a list to choose one of many texts; state[name] is its index. Words typed into
/// the search field reduce the list to the texts that contain the most of these words.
function finder(state, turned, {name, label, texts}) {
  const typed = element("input", {type: "search", placeholder: "type words of it", "aria-label": `words of the ${label}`});
  const list = element("select", {name, "aria-label": label});
  const find = () => {
    const words = typed.value.toLowerCase().split(" ").filter((word) => word !== "");
    const found = texts.map((text) => words.filter((word) => text.toLowerCase().includes(word)).length);
    const most = Math.max(...found);
    list.replaceChildren(...[...texts.keys()].filter((i) => found[i] === most)
      .map((i) => element("option", {value: i}, texts[i])));
  };
  const take = () => { state[name] = Number(list.value); turned(); };
  typed.addEventListener("input", () => { find(); take(); });
  list.addEventListener("change", take);
  find();
  state[name] = 0;
  return element("div", {class: "control"}, element("span", {}, label), typed, list);
}

/// {name, press: label}: a button; state[name] counts how often it was pressed.
function button(state, turned, {name, press}) {
  state[name] = 0;
  const made = element("button", {type: "button", name}, press);
  made.addEventListener("click", () => { state[name] += 1; turned(); });
  return made;
}

/// {question, answers, right, because}: a question that the reader must answer before the controls are
/// enabled; open() is called then.
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
    const verdict = said === right ? `You said “${answers[said]}”, and it is so.`
      : `You said “${answers[said]}”. It is: “${answers[right]}”.`;
    form.append(element("div", {role: "status"}, "Now turn it, and see. ",
      element("details", {}, element("summary", {}, "The answer"), `${verdict} ${because}`)));
    open();
  });
  return form;
}
