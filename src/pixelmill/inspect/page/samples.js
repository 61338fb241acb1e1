// The samples of the page, what they are filtered and sorted by, and their images.

const data = JSON.parse(document.getElementById("data").textContent);
const find = (name) => document.getElementById(name);

// Text is set as text, never as markup: names come from the dataset.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = value;
    else if (name === "style") Object.entries(value).forEach(([property, text]) => element.style.setProperty(property, text));
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const plural = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), 3);
  const value = bytes / 1000 ** power;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${["B", "kB", "MB", "GB"][power]}`;
}

data.samples.forEach((sample, place) => {
  const measures = sample.measures;
  sample.place = place;
  sample.pixels = sample.width * sample.height;
  sample.aspect = sample.height ? sample.width / sample.height : null;
  sample.short = Math.min(sample.width, sample.height) || null;
  [sample.brightness, sample.contrast, sample.sharpness, sample.gray] = measures || [null, null, null, 0];
  sample.className = data.classes[sample.class];
  sample.boxClasses = new Set(sample.cells[0].boxes?.map((box) => box[4]));
  const problems = sample.cells.flatMap((cell) => cell.problem || []);
  sample.bad = sample.problem || sample.cells.find((cell) => cell.problem)?.problem || null;
  const boxes = [...sample.boxClasses].map((name) => data.boxNames[name]);
  const texts = [`#${sample.number}`, sample.key, sample.className, ...boxes, ...problems, data.splits[sample.split]];
  sample.text = texts.join("\n").toLowerCase();
});

const FIELDS = {
  place: "Order",
  key: "Name",
  className: "Class",
  pixels: "Size in pixels",
  bytes: "File size",
  aspect: "Aspect ratio",
  brightness: "Brightness",
  contrast: "Contrast",
  sharpness: "Sharpness",
  boxes: "Number of boxes",
  duplicate: "Duplicates",
};

// What is worth a look: name, title, condition, and the condition in words.
const ISSUES = [
  ["damaged", "Damaged", (sample) => sample.bad, "cannot be decoded, or an annotation is wrong"],
  ["duplicates", "Duplicates", (sample) => sample.duplicate, "look like another sample"],
  ["dark", "Dark", (sample) => sample.brightness !== null && sample.brightness < 40, "mean brightness below 40 of 255"],
  ["bright", "Bright", (sample) => sample.brightness > 220, "mean brightness above 220 of 255"],
  ["flat", "Low contrast", (sample) => sample.contrast !== null && sample.contrast < 12, "standard deviation below 12 of 255"],
  ["blurry", "Blurry", (sample) => sample.sharpness !== null && sample.sharpness < 20, "variance of the Laplacian below 20"],
  ["gray", "Grayscale", (sample) => sample.gray, "all channels are equal"],
  ["odd", "Odd shape", (sample) => sample.aspect && (sample.aspect > 3 || sample.aspect < 1 / 3), "more than 3 to 1"],
  ["tiny", "Tiny", (sample) => sample.short && sample.short < 64, "a side below 64 pixels"],
];
const SHOWN = [
  ["all", "Everything", () => true],
  ["sound", "Sound", (sample) => !sample.bad],
  ["boxed", "With boxes", (sample) => sample.boxes],
  ["masked", "With masks", (sample) => sample.mask.length],
  ["bare", "Without boxes", (sample) => !sample.boxes],
];

const state = {
  search: "", class: -1, split: -1, box: -1, show: "all", sort: "place", descending: false, range: null, group: 0,
};
const EMPTY = { search: "", class: -1, split: -1, box: -1, show: "all", range: null, group: 0 };

function matching() {
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  const condition = [...SHOWN, ...ISSUES].find(([name]) => name === state.show)[2];
  const range = state.range;
  return data.samples.filter((sample) => (
    (state.class < 0 || sample.class === state.class)
    && (state.split < 0 || sample.split === state.split)
    && (state.box < 0 || sample.boxClasses.has(state.box))
    && (!state.group || sample.duplicate === state.group)
    && (!range || (sample[range.field] !== null && sample[range.field] >= range.low && sample[range.field] < range.high))
    && condition(sample)
    && words.every((word) => sample.text.includes(word))
  ));
}

const names = new Intl.Collator("en", { numeric: true });

// Samples without a value come last, in either direction; equal ones keep their order.
function sorted(samples) {
  const field = state.sort;
  const sign = state.descending ? -1 : 1;
  const isMissing = (value) => value === null || value === "" || (value === 0 && (field === "pixels" || field === "duplicate"));
  const compare = (one, other) => (typeof one === "string" ? names.compare(one, other) : one - other);
  return samples.slice().sort((one, other) => {
    const [left, right] = [one[field], other[field]];
    if (isMissing(left) || isMissing(right)) return isMissing(left) - isMissing(right) || one.place - other.place;
    return sign * compare(left, right) || one.place - other.place;
  });
}

// Pieces of text with images are read from the page when an image of theirs is first shown; the last few are kept.
const pieces = document.querySelectorAll("script.images");
const texts = new Map();

function address(place, kind) {
  const [piece, start, length] = place;
  const text = texts.get(piece) ?? pieces[piece].textContent;
  texts.delete(piece);
  texts.set(piece, text);
  if (texts.size > 24) texts.delete(texts.keys().next().value);
  return `data:image/${kind};base64,${text.substr(start, length)}`;
}
