"""Figures that move, in a browser: they show what `solutions` compute, by mouse, by keyboard, and without scripts."""

import json
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from book.calculator import OPTIMIZERS, PRECISIONS, PRESETS
from book.model_sizes import MODELS, Config, count
from solutions import embedding_backward, embedding_forward, one_hot, table_cost

LOOKUP, BACKWARD, CALCULATOR = FIGURES = (
    "chapters/01_lookup",
    "chapters/03_backward",
    "chapters/10_counting",
)
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture
def visit(browser: Browser, site: Path) -> Iterator[Callable[..., Page]]:
    """``visit(name)`` opens a page of the site from its folder; a script's error fails the test."""
    errors: list[object] = []
    contexts = []

    def visit(name: str, **options: object) -> Page:
        contexts.append(browser.new_context(**{"viewport": WIDE, "reduced_motion": "reduce", **options}))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: errors.append(error))
        page.goto((site / f"{name}.html").as_uri())
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not errors


def live(page: Page) -> Locator:
    return page.locator(".book-moving-live")


def numbers_of(page: Page) -> dict:
    """What the build put into the page for the script."""
    return json.loads(live(page).get_attribute("data-numbers"))


def shown(table: Locator) -> list[list[str]]:
    """The texts of the cells that can be seen, without labels, with a plain minus sign."""
    return table.evaluate(
        """table => [...table.tBodies[0].rows]
        .filter(row => getComputedStyle(row.cells[1]).visibility === "visible")
        .map(row => [...row.cells].slice(1).map(cell => cell.textContent.replace("\u2212", "-")))"""
    )


def floats(cells: list[list[str]], width: int) -> np.ndarray:
    return np.array(cells, dtype=np.float64).reshape(-1, width)


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the target has the focus."""
    for _ in range(400):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("Tab does not lead there")


# A gather and a one-hot product


def compare_lookup(page: Page, chosen: list[int]) -> None:
    numbers = numbers_of(page)
    E, ids = np.array(numbers["E"]), np.array(numbers["ids"])[chosen].astype(np.int64)
    V, d = E.shape
    if live(page).get_by_role("checkbox").is_checked():
        E[numbers["unread"]] = np.nan
    table, gathered, selection, multiplied = live(page).locator("table").all()
    S = one_hot(ids, V)
    rows = shown(table)
    np.testing.assert_array_equal(floats([row[:-1] for row in rows], d), E)
    assert [row[-1] for row in rows] == [f"{k} ×" if k else "" for k in np.bincount(ids, minlength=V)]
    np.testing.assert_array_equal(floats(shown(gathered), d), embedding_forward(E, ids))
    np.testing.assert_array_equal(floats(shown(selection), V), S)
    np.testing.assert_array_equal(floats(shown(multiplied), d), S @ E)
    told = live(page).get_by_role("status").inner_text()
    assert f"ids = {ids.tolist()}." in told
    assert f"shape {S.shape[0], d}" in told
    assert ("the same numbers" in told) == np.array_equal(embedding_forward(E, ids), S @ E)
    assert live(page).locator("section > p").all_inner_texts() == [
        f"{len(ids) * d} numbers copied",
        f"{S.size * d} multiplications, {int((S == 0).sum()) * d} of them by 0",
    ]


def test_every_choice_of_tokens_is_read_as_the_solutions_read_it(visit):
    page = visit(LOOKUP)
    tokens = live(page).get_by_role("button").all()
    chosen = {n for n, token in enumerate(tokens) if token.get_attribute("aria-pressed") == "true"}
    assert chosen
    compare_lookup(page, sorted(chosen))
    for k in range(1, 2 ** len(tokens)):  # Gray's code: each choice is one press from the one before
        n = (k & -k).bit_length() - 1
        tokens[n].click()
        chosen ^= {n}
        compare_lookup(page, sorted(chosen))


def test_a_row_that_no_one_reads_spoils_the_product_only(visit):
    page = visit(LOOKUP)
    live(page).get_by_role("checkbox").check()
    compare_lookup(page, [0, 1, 2])
    assert "12 of 12 numbers are nan" in live(page).get_by_role("status").inner_text()
    live(page).get_by_role("checkbox").uncheck()
    compare_lookup(page, [0, 1, 2])


def test_tokens_by_keyboard(visit):
    page = visit(LOOKUP)
    tab_to(page, live(page).get_by_role("button", name="the id 0", exact=True).nth(1))
    page.keyboard.press("Enter")
    compare_lookup(page, [0, 1, 2, 3])
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    compare_lookup(page, [0, 1, 2, 3, 4])
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert live(page).get_by_role("checkbox").is_checked()
    compare_lookup(page, [0, 1, 2, 3, 4])


# A backward pass


def compare_backward(page: Page, ids: tuple[int, ...], steps: int, way: str) -> None:
    numbers = numbers_of(page)
    G, V = np.array(numbers["G"]), numbers["V"]
    arrived = np.array(ids)[:steps]
    if way == "add":
        want = embedding_backward(arrived, G[:steps], V)
    else:
        want = np.zeros((V, G.shape[1]))
        want[arrived] += G[:steps]
    upstream, gradient = live(page).locator("table").all()
    np.testing.assert_array_equal(floats(shown(gradient), G.shape[1]), want)
    rows = shown(upstream)
    np.testing.assert_array_equal(floats([row[:-1] for row in rows], G.shape[1]), G)
    lost = [n for n in range(steps) if way == "trap" and ids[n] in ids[n + 1 : steps]]
    assert [row[-1] for row in rows] == [
        "waits" if n >= steps else "✗ lost" if n in lost else f"→ grad[{ids[n]}]" for n in range(len(ids))
    ]
    told = live(page).get_by_role("status").inner_text().replace("−", "-")
    if steps:
        row = ", ".join(f"{x:g}" for x in want[ids[steps - 1]])
        assert f"position {steps - 1} has id {ids[steps - 1]}" in told
        assert f"it becomes [{row}]" in told
    assert ("Lost" in told) == bool(lost)


@pytest.mark.parametrize("ids", [(2, 0, 2), (1, 1, 1), (3, 1, 0), (0, 3, 3), (3, 3, 2)])
def test_every_step_is_that_of_the_solutions_and_of_numpy(visit, ids):
    page = visit(BACKWARD)
    for menu, i in zip(live(page).get_by_role("combobox").all(), ids, strict=True):
        menu.select_option(str(i))
    for way in ("trap", "add"):
        live(page).locator(f"[value={way}]").check()
        live(page).get_by_role("button", name="Start over").click()
        for steps in range(len(ids) + 1):
            compare_backward(page, ids, steps, way)
            live(page).get_by_role("button", name="Next step").click(force=True)  # without effect after the last step
        compare_backward(page, ids, len(ids), way)


def test_the_switch_and_the_ids_change_the_result_at_once(visit):
    page = visit(BACKWARD)
    G = np.array(numbers_of(page)["G"])
    assert G.shape == (3, 3)
    for _ in range(3):
        live(page).get_by_role("button", name="Next step").click()
    for way in ("add", "trap", "add", "trap"):
        live(page).locator(f"[value={way}]").check()
        compare_backward(page, (2, 0, 2), 3, way)
    live(page).get_by_label("id at position 0").select_option("1")
    compare_backward(page, (1, 0, 2), 3, "trap")


def test_a_backward_pass_by_keyboard(visit):
    page = visit(BACKWARD)
    tab_to(page, live(page).locator("[value=add]"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")  # the first position's id, 2, becomes 1
    tab_to(page, live(page).get_by_role("button", name="Next step"))
    for steps in range(1, 4):
        page.keyboard.press("Enter")
        compare_backward(page, (1, 0, 2), steps, "trap")
    page.keyboard.press("Enter")
    compare_backward(page, (1, 0, 2), 3, "trap")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    compare_backward(page, (1, 0, 2), 0, "trap")


#: Counts how often the page is told to move something.
COUNT_FLIGHTS = """() => {
    window.flights = 0;
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (...path) {
        window.flights += 1;
        return animate.apply(this, path);
    };
}"""


@pytest.mark.parametrize("motion, expected", [("no-preference", 3), ("reduce", 0)])
def test_rows_fly_only_for_readers_who_have_nothing_against_it(visit, motion, expected):
    page = visit(BACKWARD, reduced_motion=motion)
    page.evaluate(COUNT_FLIGHTS)
    for steps in (1, 2, 3):
        live(page).get_by_role("button", name="Next step").click()
        expect(live(page).get_by_role("status")).to_contain_text(f"Step {steps} of 3")
        compare_backward(page, (2, 0, 2), steps, "add")
    assert page.evaluate("window.flights") == expected
    expect(live(page).locator(".book-flying")).to_have_count(0)


def test_a_press_in_flight_lets_the_row_arrive(visit):
    page = visit(BACKWARD, reduced_motion="no-preference")
    for _ in range(3):
        live(page).get_by_role("button", name="Next step").click()
    live(page).locator("[value=trap]").check()
    compare_backward(page, (2, 0, 2), 3, "trap")
    expect(live(page).locator(".book-flying")).to_have_count(0)


# The memory bill

#: The script waits 250 ms for the reader's next key.
PAUSE = 350


def rounded(number: int, unit: int) -> str:
    return f"{(Decimal(number) / unit).quantize(Decimal('0.001'), ROUND_HALF_UP):,}"


def compare_bill(page: Page, tables: int, rest: int, precision: str = "float32", optimizer: str = "Adam") -> None:
    weight, gradient, master, moment = PRECISIONS[precision]
    moments = OPTIMIZERS[optimizer]
    kinds = [weight, 0, 0, 0] if moments is None else [weight, gradient, master, moments * moment]
    columns = [tables, rest, tables + rest]
    want = [[rounded(number, 10**6) for number in columns]]
    for each in [*kinds, sum(kinds)]:
        want.append([rounded(each * number, 10**9) if each else "–" for number in columns])
    assert shown(live(page).locator("table")) == want
    lines = live(page).locator("output span").all_inner_texts()
    assert lines[0].startswith(f"{tables:,} parameters in ")
    assert lines[1].startswith(f"{sum(kinds) * tables:,} bytes, {sum(kinds)} a parameter: ")
    assert lines[2].startswith(f"{100 * tables / (tables + rest):.2f} % of a model of {tables + rest:,} parameters")
    for bar, parts in zip(live(page).locator(".book-bar").all(), ([tables, rest], kinds), strict=True):
        shares = [100 * number / sum(parts) for number in parts]
        drawn = bar.evaluate("bar => [...bar.children].map(part => part.getBoundingClientRect().width)")
        np.testing.assert_allclose(100 * np.array(drawn) / sum(drawn), shares, atol=0.1)
        names = [part.get_attribute("data-name") for part in bar.locator("span").all()]
        assert bar.get_attribute("aria-label") == ", ".join(
            f"{name} {share:.2f} %" for name, share in zip(names, shares, strict=True)
        )


@pytest.mark.parametrize("name", MODELS)
def test_presets_are_billed_as_counted(visit, name):
    page = visit(CALCULATOR)
    live(page).get_by_label("Sizes of").select_option(name)
    parts = count(MODELS[name])
    c = PRESETS[name]
    tables, in_bytes = table_cost(c.V, c.d, c.tied)
    assert tables == parts["token table"] + parts["output table"]
    compare_bill(page, tables, sum(parts.values()) - tables)
    assert f"{in_bytes:,} bytes" in live(page).locator("output").inner_text()
    assert f"the rest as in {name}" in live(page).locator("output").inner_text()


def test_every_precision_and_optimizer(visit):
    page = visit(CALCULATOR)
    tables, _ = table_cost(50_257, 768, True)
    for precision, optimizer in product(PRECISIONS, OPTIMIZERS):
        live(page).get_by_label("Precision").select_option(precision)
        live(page).get_by_label("Optimizer").select_option(optimizer)
        page.wait_for_timeout(PAUSE)
        compare_bill(page, tables, 124_439_808 - tables, precision, optimizer)
        assert live(page).get_by_label("Sizes of").input_value() == "GPT-2 small"


def test_sizes_of_ones_own_by_keyboard(visit):
    page = visit(CALCULATOR)

    def write(label: str, text: str) -> None:
        tab_to(page, live(page).get_by_label(label))
        page.keyboard.press("Control+A")
        page.keyboard.type(text)
        page.wait_for_timeout(PAUSE)

    live(page).get_by_label("Sizes of").select_option("Llama 3 8B")
    rest = PRESETS["Llama 3 8B"].rest
    write("Vocabulary size V", "1,000")
    compare_bill(page, table_cost(1_000, 4_096, False)[0], rest)
    assert live(page).get_by_label("Sizes of").input_value() == ""
    write("Factor m", "128")
    compare_bill(page, table_cost(1_000, 4_096, False, 128)[0], rest)
    tab_to(page, live(page).get_by_label("Output tied"))
    page.keyboard.press("Space")
    page.wait_for_timeout(PAUSE)
    compare_bill(page, table_cost(1_000, 4_096, True, 128)[0], rest)
    write("Blocks L", "2")  # no longer Llama's: built like GPT-2
    like_gpt2 = count(Config(V=0, d=4_096, L=2, hidden=4 * 4_096, heads=1, positions=1_024))
    compare_bill(page, table_cost(1_000, 4_096, True, 128)[0], sum(like_gpt2.values()))
    assert "built like GPT-2" in live(page).locator("output").inner_text()


def test_what_is_no_number_is_named_and_no_bill_is_shown(visit):
    page = visit(CALCULATOR)
    live(page).get_by_label("Width d").fill("many")
    expect(live(page).locator("output")).to_have_text("d must be a whole number, 1 or more")
    expect(live(page).get_by_label("Width d")).to_have_attribute("aria-invalid", "true")
    expect(live(page).locator(".book-bill")).to_be_hidden()
    live(page).get_by_label("Width d").fill("768")
    expect(live(page).locator(".book-bill")).to_be_visible()
    tables, _ = table_cost(50_257, 768, True)
    compare_bill(page, tables, 124_439_808 - tables)


# All of them


@pytest.mark.parametrize("figure", FIGURES)
def test_without_scripts_and_in_print_a_still_figure_and_a_sentence_stand_there(visit, figure):
    without = visit(figure, java_script_enabled=False)
    printed = visit(figure)
    expect(printed.locator(".book-moving-still")).to_be_hidden()
    expect(live(printed)).to_be_visible()
    printed.emulate_media(media="print")
    for page in (without, printed):
        still = page.locator(".book-moving-still")
        expect(live(page)).to_be_hidden()
        expect(still.get_by_role("img")).to_be_visible()
        assert len(still.get_by_role("img").get_attribute("aria-label")) > 50
        expect(still.get_by_text("Where scripts run")).to_be_visible()


@pytest.mark.parametrize("width", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("figure", FIGURES)
def test_nothing_jumps_when_the_script_starts_or_the_reader_acts(visit, browser, site, figure, width):
    context = browser.new_context(viewport=width)
    page = context.new_page()
    held = []
    page.route("**/_static/*", lambda route: held.append(route) if is_ours(route.request.url) else route.continue_())
    page.goto((site / f"{figure}.html").as_uri(), wait_until="commit")
    expect(live(page)).to_be_visible()
    while not held:
        page.wait_for_timeout(50)
    page.wait_for_timeout(300)
    height = height_of(page)
    assert live(page).get_attribute("hidden") is not None, "the script has not run"
    for route in held:
        route.continue_()
    expect(live(page)).not_to_have_attribute("hidden", "")
    assert height_of(page) == height
    if figure != CALCULATOR:  # whose answer has more lines for some sizes
        for button in live(page).get_by_role("button").all():
            button.click()
            assert height_of(page) == height
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()


def height_of(page: Page) -> int:
    return page.evaluate("document.documentElement.scrollHeight")


def is_ours(url: str) -> bool:
    return any(f"/{name}.js" in url for name in ("lookup", "backward", "calculator"))


def test_a_bill_longer_than_the_screen_scrolls_inside_its_box(visit):
    page = visit(CALCULATOR, viewport=PHONE)
    live(page).get_by_label("Vocabulary size V").fill("9" * 25)
    expect(live(page).locator("output")).to_contain_text("9,999,999")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
