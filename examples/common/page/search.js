// Search of the site, without a network. The constant `sections`, which the build of the site writes
// before this script, has the address, the page's title, the heading and the text of each section.

const wanted = document.querySelector("#words");
const found = document.querySelector("#found");

// Rank of a section: for each word, ten if the heading contains it, plus the number of times that the
// text does, up to five. 0 if a word is in neither.
function rank(section, words) {
  const heading = (section[1] + " " + section[2]).toLowerCase(), text = section[3].toLowerCase();
  let sum = 0;
  for (const word of words) {
    const times = Math.min(text.split(word).length - 1, 5) + (heading.includes(word) ? 10 : 0);
    if (times === 0) return 0;
    sum += times;
  }
  return sum;
}

// Part of the text around the first of the words.
function excerpt(text, words) {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const at = Math.max(0, Math.min(...places, text.length) - 60);
  return (at > 0 ? "…" : "") + text.slice(at, at + 200) + "…";
}

function entry([place, page, heading, text], words) {
  const item = document.createElement("li"), link = document.createElement("a");
  link.href = place;
  link.textContent = heading === page ? page : `${page}: ${heading}`;
  item.append(link, document.createElement("br"), excerpt(text, words));
  return item;
}

function search() {
  const words = wanted.value.toLowerCase().split(/\s+/).filter((word) => word.length > 0);
  const ranked = words.length === 0 ? [] : sections
    .map((section) => [rank(section, words), section])
    .filter(([value]) => value > 0)
    .sort((a, b) => b[0] - a[0]);
  document.querySelector("#count").textContent =
    words.length === 0 ? "" : `${ranked.length} sections have all of these words`;
  found.replaceChildren(...ranked.slice(0, 40).map(([, section]) => entry(section, words)));
}

wanted.value = decodeURIComponent(location.hash.slice(1));  // search.html#two%20words
wanted.addEventListener("input", search);
wanted.focus();
search();
