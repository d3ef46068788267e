// A window [[rows, columns], [strides], offset] on a strip of 12 numbers, x of 3 rows and 4 columns.

const memory = 12, {windows} = data;

/// The position in memory of each element of a window, in row-major order.
function placesOf([rows, columns], [down, across], offset) {
  return Array.from({length: rows * columns}, (_, n) =>
    offset + Math.floor(n / columns) * down + (n % columns) * across);
}

/// 1 if the elements are next to each other in memory, in row-major order, as in a new tensor; else 0.
function rowMajor(shape, strides) {
  return Number(placesOf(shape, strides, 0).every((place, n) => place === n));
}

/// The gradient of each position in memory if element n = 1, 2, … of the window has the gradient n: the
/// sum over all elements that read the position.
function gradientOf(shape, strides, offset) {
  const sums = Array(memory).fill(0);
  placesOf(shape, strides, offset).forEach((place, n) => { sums[place] += n + 1; });
  return sums;
}

const isInside = (place) => place >= 0 && place < memory;
const counted = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
const numbers = (n) => Array.from({length: n}, (_, i) => String(i));
const from = (low, high) => Array.from({length: high - low + 1}, (_, i) => low + i);
const windowOf = ({shape, down, across, offset}) => [shape, [down, across], offset];
const goalOf = ({goal}) => windows.find(([name]) => name === goal);

page({
  predict: {
    question: "x is a matrix of 3 rows and 4 columns. Which of these copy elements: transpose(x), every second column, x read from its end, its first row three times?",
    answers: ["the transposed and the flipped one, 12 each", "the repeated row alone, 12 or 8", "none of them"],
    right: 2,
    because: "Each is a shape, two strides and an offset on the same 12 places. A negative stride reads backwards, and a stride of 0 reads a place again: the repeated row needs 4 places. Its gradient is a sum over the 3 elements that read each.",
  },
  controls: [
    {name: "goal", label: "make it", choices: Object.fromEntries(windows.map(([name]) => [name, name]))},
    {name: "shape", label: "rows × columns", values: [[3, 2], [3, 4], [4, 3]], at: 1, say: (shape) => shape.join(" × ")},
    {name: "down", label: "stride of rows", values: from(-5, 5), at: 9},
    {name: "across", label: "stride of columns", values: from(-5, 5), at: 6},
    {name: "offset", label: "offset", values: from(0, 11)},
  ],
  panels: [
    {title: "When each place is read", x: {label: "place in memory", from: -3, to: 14}, y: {label: "element of the window, from 1", from: 0, to: 13}},
    {title: "The window: the place each element reads", x: columnNames("column", [""]), y: rowNames("row", [""])},
    {title: "Gradient: element n hands back n", x: {label: "place in memory", from: -3, to: 14}, y: {label: "sum that arrives", from: 0, to: 20}},
  ],
  draw(state, [reading, matrix, gradient]) {
    const own = windowOf(state), [[rows, columns]] = own, places = placesOf(...own), [name, goal] = goalOf(state);
    reading.band("memory of x", [[-0.5, 0, 13], [11.5, 0, 13]], 5);
    reading.dots(name, placesOf(...goal).map((place, n) => [place, n + 1]), 11, 9);
    reading.dots("your window", places.map((place, n) => [place, n + 1]), 0, 5);
    Object.assign(matrix, {x: columnNames("column", numbers(columns)), y: rowNames("row", numbers(rows))});
    gradient.y.to = 20;
    if (places.every(isInside)) gradient.y.to = 4 + 4 * Math.ceil(Math.max(...gradientOf(...own)) / 4);
    for (const panel of [matrix, gradient]) panel.clear();
    matrix.cells("place", numbers(rows).map((_, i) => places.slice(i * columns, (i + 1) * columns)), memory, true);
    if (!places.every(isInside)) return;
    gradient.columns("gradient at a place", gradientOf(...own).map((sum, place) => [place, sum, 0.8]), 0);
  },
  says(state) {
    const own = windowOf(state), places = placesOf(...own), [name, goal] = goalOf(state), there = placesOf(...goal);
    const outside = places.filter((place) => !isInside(place)).length, right = places.filter((place, n) => place === there[n]).length;
    const is = String(own[0]) === String(goal[0]) && right === there.length;
    return (outside ? `${counted(outside, "element")} would lie outside of x's memory: Ladon makes no such window. `
      : `${counted(places.length, "element")} at ${counted(new Set(places).size, "place")}, none copied; ${rowMajor(...own) ? "they stand one after the other" : "contiguous() would copy them all"}. `) +
      (is ? `It is ${name}: strides (${own[1].map(shown).join(", ")}), offset ${own[2]}.` : `${right} of the ${there.length} elements of ${name} are read in their turn.`);
  },
  functions: {placesOf, rowMajor, gradientOf},
});
