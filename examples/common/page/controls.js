// Controls: what a reader turns. Each is made of (state, turned, its description): state[name] holds
// its value, and turned() is called after each move.

/// {name, label, values, at, say}: a slider over `values`, at first at index `at`; say(value) is
/// what stands beside it. With play: true it can run by itself. Where other controls decide what
/// there is, values is a function of the state, refreshed whenever something was turned.
function slider(state, turned, {name, label, values, at = 0, say = shown, play = false}) {
  const all = () => typeof values === "function" ? values(state) : values;
  const input = element("input", {type: "range", min: 0, max: all().length - 1, step: 1, value: at, name});
  const output = element("output", {});
  const refresh = () => {
    input.max = all().length - 1;  // the place stays below it
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

/// {name, run: label}: time without an end, to play, pause and step; state[name] counts the steps.
function steps(state, turned, {name, run}) {
  state[name] = 0;
  const next = () => { state[name] += 1; turned(); };
  return element("div", {class: "playable"}, element("span", {}, run), ...player(next, () => false, 40));
}

/// Buttons that call step() by time, until ended(), or once each. Whoever asked for little motion has
/// the step alone.
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

/// {name, label, texts}: one of many texts, whose number is the state. What is typed leaves those in
/// the list that hold most of the typed words.
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
    const verdict = said === right ? `You said “${answers[said]}”, and it is so.`
      : `You said “${answers[said]}”. It is: “${answers[right]}”.`;
    form.append(element("div", {role: "status"}, "Now turn it, and see. ",
      element("details", {}, element("summary", {}, "The answer"), `${verdict} ${because}`)));
    open();
  });
  return form;
}
