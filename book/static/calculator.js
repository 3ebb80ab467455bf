// The calculator of chapter 10. All sizes are BigInt, so every whole number below is exact, however large.
// tests/test_calculator.py compares them with the exercise `table_cost`.
"use strict";

// What a reader typed, as a BigInt from `least` on; null if it is no such whole number. 50,257 and 50 257 are fine.
function wholeNumber(text, least) {
  const digits = text.replace(/[\s,_]/g, "");
  if (!/^[0-9]{1,30}$/.test(digits)) return null;
  const number = BigInt(digits);
  return number < BigInt(least) ? null : number;
}

// Parameters of the token tables; m is null or the factor's width.
function tableParameters({ V, d, tied, m }) {
  const table = m === null ? V * d : V * m + m * d;
  return tied ? table : 2n * table;
}

// Parameters of everything but the token tables, if it is built like GPT-2: L blocks, the norm after them, and a table
// of 1,024 positions.
function restCost(d, L) {
  return L * (12n * d * d + 13n * d) + 2n * d + 1024n * d;
}

// 1234567 as 1,234,567.
function grouped(number) {
  return number.toString().replace(/\B(?=([0-9]{3})+$)/g, ",");
}

// The fraction over/under, rounded to so many digits after the point. No float is involved.
function decimal(over, under, digits) {
  const scaled = (2n * over * 10n ** BigInt(digits) + under) / (2n * under);
  const text = scaled.toString().padStart(digits + 1, "0");
  const whole = text.slice(0, text.length - digits);
  return whole.replace(/\B(?=([0-9]{3})+$)/g, ",") + "." + text.slice(text.length - digits);
}

// Bytes of each kind that one parameter takes. `bytes` has those of the weight, its gradient, its master copy, and of one
// moment; `moments` is how many the optimizer keeps, or null if nothing is trained.
function bytesOfKinds([weight, gradient, master, moment], moments) {
  return moments === null ? [weight, 0n, 0n, 0n] : [weight, gradient, master, moments * moment];
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0n);
}

// The lines that the calculator shows. `of` says what the rest is.
function answer(sizes, rest, of, kinds) {
  const parameters = tableParameters(sizes);
  const all = parameters + rest;
  const bytes = parameters * sum(kinds);
  const lines = [
    `${grouped(parameters)} parameters in ${sizes.tied ? "one table" : "two tables"}`,
    `${grouped(bytes)} bytes, ${sum(kinds)} a parameter: ${decimal(bytes, 10n ** 9n, 3)} GB, ` +
      `${decimal(bytes, 2n ** 30n, 3)} GiB`,
    `${decimal(100n * parameters, all, 2)} % of a model of ${grouped(all)} parameters, ${of}`,
  ];
  if (sizes.m !== null) {
    const full = tableParameters({ ...sizes, m: null });
    lines.push(
      parameters < full
        ? `factorized: ${decimal(full, parameters, 1)} times smaller than ${grouped(full)}`
        : `factorized: not smaller than ${grouped(full)}; m is too large`,
    );
  }
  return lines;
}

function start(root) {
  const form = root.querySelector("form");
  const field = (name) => form.elements.namedItem(name);
  const chosen = (name) => field(name).selectedOptions[0];
  const least = { V: 1, d: 1, L: 0, m: 1 };
  const [parameterBar, byteBar] = form.querySelectorAll(".book-bar");
  const bill = [...form.querySelector("table").tBodies[0].rows];
  let model = chosen("model"); // the last one chosen; its blocks count as long as d and L are its own

  // Segments in proportion. A narrow one has no room for its name; the table has the same fills.
  function draw(bar, numbers) {
    const shares = numbers.map((number) => decimal(100n * number, sum(numbers), 2));
    const named = [...bar.children].map((segment, k) => `${segment.dataset.name} ${shares[k]} %`);
    bar.setAttribute("aria-label", named.join(", "));
    [...bar.children].forEach((segment, k) => {
      segment.style.flexGrow = shares[k];
      segment.textContent = Number(shares[k]) < 20 ? "" : named[k];
    });
  }

  function showAnswer(sizes) {
    const { d, l, rest: published } = model.dataset;
    const known = published && sizes.d === BigInt(d) && sizes.L === BigInt(l);
    const rest = known ? BigInt(published) : restCost(sizes.d, sizes.L);
    const { moments } = chosen("optimizer").dataset;
    const bytes = chosen("precision").dataset.bytes.split(" ").map(BigInt);
    const kinds = bytesOfKinds(bytes, moments === "" ? null : BigInt(moments));
    const tables = tableParameters(sizes);

    draw(parameterBar, [tables, rest]);
    draw(byteBar, kinds);
    [tables, rest, tables + rest].forEach((parameters, column) => {
      const cells = [decimal(parameters, 10n ** 6n, 3)];
      for (const kind of [...kinds, sum(kinds)]) cells.push(kind ? decimal(kind * parameters, 10n ** 9n, 3) : "–");
      bill.forEach((row, k) => (row.cells[column + 1].textContent = cells[k]));
    });
    return answer(sizes, rest, known ? `the rest as in ${model.value}` : "the rest built like GPT-2", kinds);
  }

  function show() {
    const sizes = { tied: field("tied").checked };
    const wrong = [];
    for (const name of Object.keys(least)) {
      const text = field(name).value;
      const none = name === "m" && text.trim() === "";
      sizes[name] = none ? null : wholeNumber(text, least[name]);
      const bad = sizes[name] === null && !none;
      field(name).setAttribute("aria-invalid", String(bad));
      if (bad) wrong.push(`${name} must be a whole number, ${least[name]} or more`);
    }
    form.classList.toggle("book-wrong", wrong.length > 0);
    const lines = wrong.length ? wrong : showAnswer(sizes);
    form.querySelector("output").replaceChildren(
      ...lines.map((line) => {
        const span = document.createElement("span");
        span.textContent = line;
        return span;
      }),
    );
  }

  field("model").addEventListener("change", () => {
    if (field("model").value === "") return; // "sizes of your own"
    model = chosen("model");
    for (const name of Object.keys(least)) field(name).value = model.dataset[name.toLowerCase()];
    field("tied").checked = model.dataset.tied === "true";
    show();
  });
  let waiting; // a screen reader should not read the result of every key
  form.addEventListener("input", (event) => {
    if (event.target === field("model")) return;
    if (!["precision", "optimizer"].includes(event.target.name)) field("model").value = "";
    clearTimeout(waiting);
    waiting = setTimeout(show, 250);
  });
  show();
  root.querySelector(".book-moving-still").hidden = true;
  root.querySelector(".book-moving-live").hidden = false;
}

if (typeof document !== "undefined") {
  document.querySelectorAll('[data-script="calculator.js"]').forEach(start);
}
