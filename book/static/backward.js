// Chapter 3: a backward pass, position by position. tests/test_moving_figures.py compares each step with `solutions` and
// with NumPy's fancy indexing. A plain script, as lookup.js is.
"use strict";
{
  // The gradient after so many positions. The trap has read all rows before it writes the first: each was zero.
  function gradient(ids, G, V, steps, trap) {
    const grad = Array.from({ length: V }, () => G[0].map(() => 0));
    for (let n = 0; n < steps; n++) {
      const read = trap ? G[n].map(() => 0) : grad[ids[n]];
      grad[ids[n]] = G[n].map((g, j) => read[j] + g);
    }
    return grad;
  }

  const short = (x) => String(Number(x.toPrecision(6))).replace("-", "−"); // as Python's {:g}
  const list = (row) => `[${row.map(short).join(", ")}]`;

  function start(root) {
    const live = root.querySelector(".book-moving-live");
    const { G, V } = JSON.parse(live.dataset.numbers);
    const N = G.length;
    const menus = [...live.querySelectorAll("select")];
    const [next, again] = live.querySelectorAll("button");
    const [upstream, table] = [...live.querySelectorAll("table")].map((each) => [...each.tBodies[0].rows]);
    let steps = 0; // how many upstream rows have arrived
    let land = null; // ends the flight of a row, if one is in the air

    const trapped = () => live.querySelector("[value=trap]").checked;
    const idsNow = () => menus.map((menu) => Number(menu.value));

    // Whether the row that position n wrote was written over by a later position.
    const lost = (ids, n) => trapped() && ids.slice(n + 1, steps).includes(ids[n]);

    function fill(row, texts, look) {
      [...row.cells].slice(1).forEach((cell, j) => (cell.textContent = texts[j]));
      row.className = look;
    }

    function show() {
      const ids = idsNow();
      const grad = gradient(ids, G, V, steps, trapped());
      upstream.forEach((row, n) => {
        const place = n >= steps ? "waits" : lost(ids, n) ? "✗ lost" : `→ grad[${ids[n]}]`;
        fill(row, [...G[n].map(short), place], n >= steps ? "" : lost(ids, n) ? "book-lost" : `book-fill-${ids[n] % 5}`);
      });
      table.forEach((row, i) => {
        const arrived = ids.slice(0, steps).includes(i);
        fill(row, grad[i].map(short), arrived ? `book-fill-${i % 5}` : "");
      });
      next.setAttribute("aria-disabled", String(steps === N));
      live.querySelector("[role=status]").textContent = told(ids, grad);
    }

    function told(ids, grad) {
      if (steps === 0) return "No upstream row has arrived. All of grad is zero.";
      const n = steps - 1;
      const i = ids[n];
      const before = trapped() ? G[n].map(() => 0) : gradient(ids, G, V, n, false)[i];
      const step =
        `Step ${steps} of ${N}: position ${n} has id ${i}. grad[${i}] ${trapped() ? "was read as" : "is"} ` +
        `${list(before)}; plus ${list(G[n])} it becomes ${list(grad[i])}.`;
      const gone = ids.map((_, k) => k).filter((k) => lost(ids, k));
      if (gone.length) return `${step} Lost, since a later position wrote over it: the row of position ${gone.join(", ")}.`;
      return steps === N ? `${step} No upstream row is lost.` : step;
    }

    // Let upstream row n fly to its row of the table, then call `arrived`.
    function fly(n, arrived) {
      const box = live.getBoundingClientRect();
      const [from, to] = [upstream[n], table[idsNow()[n]]].map((row) => row.cells[1].getBoundingClientRect());
      const ghost = document.createElement("div");
      ghost.className = "book-flying";
      ghost.setAttribute("aria-hidden", "true");
      ghost.textContent = list(G[n]);
      ghost.style.left = `${from.left - box.left}px`;
      ghost.style.top = `${from.top - box.top}px`;
      live.prepend(ghost);
      const path = { transform: `translate(${to.left - from.left}px, ${to.top - from.top}px)` };
      const flight = ghost.animate([{ transform: "none" }, path], { duration: 600, easing: "ease-in-out" });
      land = () => {
        land = null;
        flight.onfinish = null;
        ghost.remove();
        arrived();
      };
      flight.onfinish = land;
    }

    next.addEventListener("click", () => {
      land?.();
      if (steps === N) return;
      const arrived = () => {
        steps += 1;
        show();
      };
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) arrived();
      else fly(steps, arrived);
    });
    again.addEventListener("click", () => {
      land?.();
      steps = 0;
      show();
    });
    live.addEventListener("change", () => {
      land?.();
      show();
    });
    show();
    root.querySelector(".book-moving-still").hidden = true;
    live.hidden = false;
  }

  document.querySelectorAll('[data-script="backward.js"]').forEach(start);
}
