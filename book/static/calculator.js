// The calculator of chapter 10. `tableCost` is the exercise `table_cost`; tests/test_calculator.py compares the two.
// All sizes are BigInt, so every whole number below is exact, however large. This is no ES module, since browsers load
// modules from a server only, and the book is also read from a folder.
"use strict";

// What a reader typed, as a BigInt from `least` on; null if it is no such whole number. 50,257 and 50 257 are fine.
function wholeNumber(text, least) {
  const digits = text.replace(/[\s,_]/g, "");
  if (!/^[0-9]{1,30}$/.test(digits)) return null;
  const number = BigInt(digits);
  return number < BigInt(least) ? null : number;
}

// [parameters, bytes] of the token tables; m is null or the factor's width.
function tableCost(V, d, tied, m) {
  const table = m === null ? V * d : V * m + m * d;
  const parameters = tied ? table : 2n * table;
  return [parameters, 16n * parameters];
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

// The lines that the calculator shows. m is null or a BigInt.
function answer(V, d, L, tied, m) {
  const [parameters, bytes] = tableCost(V, d, tied, m);
  const all = parameters + restCost(d, L);
  const lines = [
    `${grouped(parameters)} parameters in ${tied ? "one table" : "two tables"}`,
    `${grouped(bytes)} bytes in training: ${decimal(bytes, 10n ** 9n, 3)} GB, ${decimal(bytes, 2n ** 30n, 3)} GiB`,
    `${decimal(100n * parameters, all, 2)} % of a GPT-2-style model of ${grouped(all)} parameters`,
  ];
  if (m !== null) {
    const full = tableCost(V, d, tied, null)[0];
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
  const least = { V: 1, d: 1, L: 0, m: 1 };

  function show() {
    const numbers = {};
    const wrong = [];
    for (const name of Object.keys(least)) {
      const text = field(name).value;
      numbers[name] = name === "m" && text.trim() === "" ? null : wholeNumber(text, least[name]);
      const bad = numbers[name] === null && !(name === "m" && text.trim() === "");
      field(name).setAttribute("aria-invalid", String(bad));
      if (bad) wrong.push(`${name} must be a whole number, ${least[name]} or more`);
    }
    const lines = wrong.length ? wrong : answer(numbers.V, numbers.d, numbers.L, field("tied").checked, numbers.m);
    const output = form.querySelector("output");
    output.replaceChildren(
      ...lines.map((line) => {
        const span = document.createElement("span");
        span.textContent = line;
        return span;
      }),
    );
  }

  field("model").addEventListener("change", () => {
    const chosen = field("model").selectedOptions[0].dataset;
    if (!chosen.v) return; // "sizes of your own"
    for (const name of ["V", "d", "L", "m"]) field(name).value = chosen[name.toLowerCase()];
    field("tied").checked = chosen.tied === "true";
    show();
  });
  let waiting; // a screen reader should not read the result of every key
  form.addEventListener("input", (event) => {
    if (event.target === field("model")) return;
    field("model").value = "";
    clearTimeout(waiting);
    waiting = setTimeout(show, 250);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
  form.hidden = false;
  root.querySelector(".book-calculator-without").hidden = true;
  show();
}

if (typeof document !== "undefined") {
  document.querySelectorAll(".book-calculator").forEach(start);
}
