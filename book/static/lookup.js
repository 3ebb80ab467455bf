// Chapter 1: a gather and a one-hot product, of the tokens that the reader chooses. tests/test_moving_figures.py compares
// both with `solutions`. Like the other scripts here, this is no ES module, since browsers load modules from a server
// only, and the book is also read from a folder.
"use strict";
{
  const gather = (E, ids) => ids.map((i) => [...E[i]]);

  const oneHot = (ids, V) => ids.map((i) => Array.from({ length: V }, (_, k) => (k === i ? 1 : 0)));

  const product = (S, E) =>
    S.map((row) => E[0].map((_, j) => row.reduce((sum, factor, k) => sum + factor * E[k][j], 0)));

  const decimals = (x) => (Number.isNaN(x) ? "nan" : x.toFixed(2).replace("-", "−"));

  function fill(row, texts, look) {
    [...row.cells].slice(1).forEach((cell, j) => (cell.textContent = texts[j] ?? ""));
    row.className = look;
  }

  function start(root) {
    const live = root.querySelector(".book-moving-live");
    const { E: table, ids: sentence, unread } = JSON.parse(live.dataset.numbers);
    const [V, d] = [table.length, table[0].length];
    const tokens = [...live.querySelectorAll("button")];
    const nan = live.querySelector("input");
    const [rowsE, rowsH, rowsS, rowsSE] = [...live.querySelectorAll("table")].map((each) => [...each.tBodies[0].rows]);
    const [copies, multiplications] = live.querySelectorAll("section > p");

    // All that comes from one row of the table has the same fill. The ids beside the rows say so too.
    const colour = (i) => `book-fill-${[...new Set(sentence)].indexOf(i) % 5}`;

    // There is a row for each token of the sentence. Those in use come first; the others keep their place, unseen.
    function fillResult(rows, ids, matrix, text) {
      rows.forEach((row, n) => {
        const used = n < ids.length;
        row.cells[0].textContent = used ? `id ${ids[n]}` : "";
        fill(row, used ? matrix[n].map(text) : [], used ? colour(ids[n]) : "book-unused");
      });
    }

    function show() {
      const ids = sentence.filter((_, n) => tokens[n].getAttribute("aria-pressed") === "true");
      const N = ids.length;
      const E = table.map((row, i) => (nan.checked && i === unread ? row.map(() => NaN) : row));
      const H = gather(E, ids);
      const S = oneHot(ids, V);
      const SE = product(S, E);

      rowsE.forEach((row, i) => {
        const reads = ids.filter((id) => id === i).length;
        fill(row, [...E[i].map(decimals), reads ? `${reads} ×` : ""], reads ? colour(i) : "");
      });
      fillResult(rowsH, ids, H, decimals);
      fillResult(rowsS, ids, S, String);
      rowsS.forEach((row, n) => [...row.cells].forEach((cell, k) => cell.classList.toggle("book-one", k === ids[n] + 1)));
      fillResult(rowsSE, ids, SE, decimals);
      copies.textContent = `${N * d} numbers copied`;
      multiplications.textContent = `${N * V * d} multiplications, ${N * (V - 1) * d} of them by 0`;

      const same = H.flat().every((x, k) => x === SE.flat()[k]);
      const spoiled = SE.flat().filter(Number.isNaN).length;
      live.querySelector("[role=status]").textContent =
        `ids = [${ids.join(", ")}]. Both results have shape (${N}, ${d}). ` +
        (same
          ? "They hold the same numbers."
          : `In the product ${spoiled} of ${N * d} numbers are nan: 0 times nan is nan. The gather did not read ` +
            `row ${unread}.`);
    }

    for (const token of tokens) {
      token.addEventListener("click", () => {
        token.setAttribute("aria-pressed", String(token.getAttribute("aria-pressed") !== "true"));
        show();
      });
    }
    nan.addEventListener("change", show);
    show();
    root.querySelector(".book-moving-still").hidden = true;
    live.hidden = false;
  }

  document.querySelectorAll('[data-script="lookup.js"]').forEach(start);
}
