// What the theme leaves to do: scrolling boxes by keyboard, and paper in light colours.
"use strict";

// A box that scrolls sideways takes the focus, so that the arrow keys move it. The theme's own script does this for code,
// but not for what was folded away, and not for formulas and tables.
const boxes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
for (const box of document.querySelectorAll("pre, .book-math-scroll, .pst-scrollable-table-container, .cell_output > .output"))
  boxes.observe(box);

// Browsers print no backgrounds: the pale letters of the dark theme would stand on white paper.
let shown;
addEventListener("beforeprint", () => {
  shown = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
addEventListener("afterprint", () => { document.documentElement.dataset.theme = shown; });
