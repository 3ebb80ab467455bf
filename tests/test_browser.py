"""The site in a browser: phone, tablet and wide screen, light and dark, by keyboard, on paper, without scripts.

A worker of pytest-xdist loads each page once; the tests resize it and change its theme in place.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from pages import PAGES
from playwright.sync_api import Browser, BrowserContext, Page, expect

PHONE, TABLET, DESKTOP = 390, 820, 1440
HEIGHT = 900
#: The rules of WCAG 2.0, 2.1 and 2.2, levels A and AA. `preload` would ask for the style sheets once more.
WCAG = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"],
    "resultTypes": ["violations"],
    "preload": False,
}
#: Milliseconds that each answer takes on its way, as on a phone: the parts of a page come one after the other.
LATENCY = 150
#: The sum of what moved, as the web vitals' Cumulative Layout Shift counts it; 0 when nothing did.
SHIFT = """() => new Promise(done => {
    let sum = 0;
    new PerformanceObserver(list => list.getEntries().forEach(each => { sum += each.value; }))
        .observe({type: "layout-shift", buffered: true});
    setTimeout(() => done(sum), 200);
})"""
#: axe's time goes by the number of elements. Of each kind of token in code one stays, and what is inside a picture
#: with a text in its place is not looked at.
THIN_OUT = """() => {
    const kinds = new Set();
    for (const token of document.querySelectorAll(".highlight span[class]")) {
        const kind = `${token.className} ${token.closest(".cell_input, .cell_output, details")?.className}`;
        if (kinds.has(kind)) token.replaceWith(...token.childNodes);
        kinds.add(kind);
    }
    document.querySelectorAll("svg[role=img]").forEach(picture => picture.replaceChildren());
}"""


@dataclass
class Visit:
    """A page that is open, how far its parts moved as it arrived, and what went wrong since."""

    name: str
    page: Page
    shift: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def show(self, width: int, theme: str = "light") -> None:
        """Resize the window, and let the reader's system be light or dark."""
        self.page.set_viewport_size({"width": width, "height": HEIGHT})
        self.page.emulate_media(color_scheme=theme, media="screen")
        self.page.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)

    def unfold(self, opened: bool = True) -> None:
        """Open all that is folded away, or close it."""
        self.page.evaluate("opened => document.querySelectorAll('details').forEach(each => each.open = opened)", opened)
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")  # observers have run


def open_page(context: BrowserContext, address: str, name: str, slowly: bool = False) -> Visit:
    page = context.new_page()
    visit = Visit(name, page)

    def note(what: str, text: str) -> None:
        visit.wrong.append(f"{what}: {text}")

    page.on("console", lambda message: message.type in ("error", "warning") and note(message.type, message.text))
    page.on("pageerror", lambda error: note("uncaught", str(error)))
    page.on("requestfailed", lambda request: note("no answer", request.url))
    page.on("response", lambda response: response.status >= 400 and note(str(response.status), response.url))
    page.on("request", lambda request: request.url.startswith((address, "data:")) or note("elsewhere", request.url))
    if slowly:
        network = context.new_cdp_session(page)
        network.send("Network.enable")
        network.send("Network.setCacheDisabled", {"cacheDisabled": True})
        unlimited = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
        network.send("Network.emulateNetworkConditions", {**unlimited, "latency": LATENCY})
        page.goto(f"{address}{name}.html")
        network.send("Network.emulateNetworkConditions", {**unlimited, "latency": 0})
        visit.shift = page.evaluate(SHIFT)
    else:
        page.goto(f"{address}{name}.html")
    return visit


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(
        viewport={"width": PHONE, "height": HEIGHT},
        reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"],
    )
    yield context
    context.close()


@pytest.fixture(scope="module", params=[*PAGES, "search"])
def visit(context: BrowserContext, address: str, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """Each page of the table of contents, and the search."""
    visit = open_page(context, address, request.param, slowly=True)
    yield visit
    visit.page.close()


@pytest.fixture
def go(context: BrowserContext, address: str) -> Iterator[Callable[..., Visit]]:
    """``go("chapters/01_lookup")`` opens a page that the test may leave."""
    pages = []

    def go(name: str, **options: bool) -> Visit:
        visit = open_page(context, address, name, **options)
        pages.append(visit.page)
        return visit

    yield go
    for page in pages:
        page.close()


def links(page: Page, selector: str) -> list[str]:
    """Where the links that are shown lead."""
    return page.locator(f"{selector}:visible").evaluate_all("links => links.map(link => link.href.split('#')[0])")


# Every page, loaded once


def test_nothing_moves_as_a_page_arrives(visit: Visit) -> None:
    assert visit.shift == 0


def test_the_page_fits_and_nothing_goes_wrong(visit: Visit) -> None:
    for width in (PHONE, TABLET, DESKTOP):
        for theme in ("light", "dark"):
            visit.show(width, theme)
            visit.unfold()
            needed = visit.page.evaluate("document.documentElement.scrollWidth")
            assert needed <= width, f"scrolls sideways at {width} px, {theme}"
    assert visit.wrong == []


def test_formulas_are_typeset(visit: Visit) -> None:
    visit.unfold()
    flat = visit.page.evaluate(
        """() => [...document.querySelectorAll("math")].filter(formula => {
            const style = getComputedStyle(formula);
            return !formula.getBoundingClientRect().height
                || !style.display.includes("math") || !style.fontFamily.includes("Book Serif");
        }).map(formula => formula.textContent)"""
    )
    assert flat == []
    fonts = visit.page.evaluate("[...document.fonts].filter(f => f.status == 'loaded').map(f => f.family).join()")
    assert "Book Serif" in fonts
    text = visit.page.evaluate(
        """() => {
            const copy = document.querySelector("main").cloneNode(true);
            copy.querySelectorAll("pre, code, math, svg, script, .citation-list").forEach(each => each.remove());
            return copy.textContent;
        }"""
    )
    assert not {"$", "\\"} & set(text), "TeX that nothing typeset"


def test_one_search_box_opens_by_keyboard(visit: Visit) -> None:
    visit.show(DESKTOP)
    boxes = visit.page.locator("input[type=search]:visible")
    if visit.name != "search":
        expect(boxes).to_have_count(0)
        visit.page.keyboard.press("Control+k")
    expect(boxes).to_have_count(1)
    if visit.name != "search":
        expect(boxes).to_be_focused()
        visit.page.keyboard.press("Escape")
        expect(boxes).to_have_count(0)


def test_previous_and_next_follow_the_table_of_contents(visit: Visit, address: str) -> None:
    place = PAGES.index(visit.name) if visit.name in PAGES else None
    before, after = ([], []) if place is None else (PAGES[:place][-1:], PAGES[place + 1 :][:1])
    assert links(visit.page, ".left-prev") == [f"{address}{name}.html" for name in before]
    assert links(visit.page, ".right-next") == [f"{address}{name}.html" for name in after]


def test_tables_of_contents_lead_to_every_page_and_heading(visit: Visit, address: str) -> None:
    visit.show(DESKTOP)
    assert links(visit.page, "nav.bd-docs-nav a") == [f"{address}{name}.html" for name in PAGES]
    headings = visit.page.evaluate(
        """() => [...document.querySelectorAll('article section > :is(h2, h3):not(.book-moving *)')]
            .map(each => each.closest('section').id)"""
    )
    listed = visit.page.evaluate(
        "[...document.querySelectorAll('.bd-toc-nav a')].map(each => decodeURIComponent(each.hash.slice(1)))"
    )
    assert listed == headings


def test_the_table_of_contents_opens_by_keyboard_on_a_phone(visit: Visit) -> None:
    visit.show(PHONE)
    button, sidebar = visit.page.locator(".primary-toggle"), visit.page.locator(".bd-sidebar-primary")
    expect(sidebar).to_be_hidden()
    button.press("Enter")
    expect(sidebar.locator("a").first).to_be_focused()
    box = sidebar.bounding_box()
    assert box is not None
    assert box["x"] == 0
    visit.page.keyboard.press("Escape")
    expect(sidebar).to_be_hidden()
    expect(button).to_be_focused()


def test_what_is_folded_opens_by_keyboard(visit: Visit) -> None:
    visit.unfold(False)
    for part in visit.page.locator("details").all():
        summary, inside = part.locator("> summary"), part.locator("> :not(summary)").first
        expect(inside).to_be_hidden()
        summary.press("Enter")
        expect(inside).to_be_visible()
        summary.press("Enter")
        expect(inside).to_be_hidden()


def test_code_can_be_copied(visit: Visit) -> None:
    visit.show(DESKTOP)
    visit.unfold()
    blocks = visit.page.locator("div.cell_input pre, div.highlight-bash pre, div.highlight-python pre")
    buttons = visit.page.locator("button.copybtn")
    expect(buttons).to_have_count(blocks.count())
    if blocks.count():
        visit.page.bring_to_front()
        buttons.last.press("Enter")
        code = blocks.last.inner_text().rstrip("\n")
        visit.page.wait_for_function("async code => await navigator.clipboard.readText() === code", arg=code)
        assert buttons.last.evaluate("button => getComputedStyle(button).opacity") == "1", "the focus is not seen"


def test_nothing_moves_for_who_wants_that(visit: Visit) -> None:
    visit.show(DESKTOP, "dark")
    visit.unfold(False)
    visit.unfold()
    visit.show(DESKTOP, "light")
    moving = visit.page.evaluate("document.getAnimations().map(each => each.animationName ?? each.transitionProperty)")
    assert moving == []


def test_paper_shows_the_page_without_what_is_around_it(visit: Visit) -> None:
    visit.show(DESKTOP)
    visit.page.emulate_media(media="print")
    around = ".bd-header-article, .bd-sidebar-primary, .bd-sidebar-secondary, .prev-next-area, .copybtn"
    expect(visit.page.locator(f":is({around}):visible")).to_have_count(0)
    expect(visit.page.locator("h1:visible")).to_have_count(1)
    visit.page.emulate_media(media="screen")


def test_axe_finds_no_violation(visit: Visit) -> None:
    # The last of these tests: the page is not whole after it.
    visit.page.evaluate(THIN_OUT)
    visit.page.evaluate(AXE_SCRIPT)
    for width, theme in ((DESKTOP, "light"), (PHONE, "dark")):
        visit.show(width, theme)
        for opened, where in ((True, "html"), (False, "details")):  # folded, nothing else differs
            visit.unfold(opened)
            if visit.page.locator(where).count():
                found = AxeResults(visit.page.evaluate("arguments => axe.run(...arguments)", [where, WCAG]))
                assert found.violations_count == 0, found.generate_report()


# Some pages, which the test may leave


@pytest.mark.parametrize("name", ["intro", "chapters/03_backward", "search"])
def test_nothing_moves_on_a_wide_screen(browser: Browser, address: str, name: str) -> None:
    context = browser.new_context(viewport={"width": DESKTOP, "height": HEIGHT})
    assert open_page(context, address, name, slowly=True).shift == 0
    context.close()


@pytest.mark.parametrize("name", ["intro", "chapters/01_lookup", "search"])
def test_search_finds_padding_idx(go: Callable[..., Visit], address: str, name: str) -> None:
    visit = go(name)
    if name != "search":
        visit.page.keyboard.press("Control+k")
    box = visit.page.locator("input[type=search]:visible")
    box.fill("padding_idx")
    box.press("Enter")
    found = visit.page.locator("#search-results li a")
    expect(found.filter(has_text="The backward pass")).not_to_have_count(0)
    found.filter(has_text="The backward pass").first.click()
    expect(visit.page.locator("article h1")).to_contain_text("The backward pass")
    expect(visit.page.locator("article .highlighted").first).to_have_text("padding_idx")
    assert visit.wrong == []


def test_next_and_previous_lead_there_and_back(go: Callable[..., Visit], address: str) -> None:
    page = go(PAGES[0]).page
    page.locator(".right-next").press("Enter")
    expect(page).to_have_url(f"{address}{PAGES[1]}.html")
    page.locator(".left-prev").press("Enter")
    expect(page).to_have_url(f"{address}{PAGES[0]}.html")


def test_the_switch_of_the_theme_is_kept(go: Callable[..., Visit]) -> None:
    visit = go("notation")
    visit.show(DESKTOP, "light")
    seen = set()
    for _ in range(3):
        visit.page.locator(".theme-switch-button").press("Enter")
        chosen = visit.page.evaluate("[document.documentElement.dataset.mode, document.documentElement.dataset.theme]")
        seen.add(tuple(chosen))
        visit.page.reload()
        kept = visit.page.evaluate("[document.documentElement.dataset.mode, document.documentElement.dataset.theme]")
        assert kept == chosen
    assert seen == {("light", "light"), ("dark", "dark"), ("auto", "light")}


def test_paper_is_light(go: Callable[..., Visit]) -> None:
    visit = go("notation")
    visit.show(DESKTOP, "dark")
    theme = "document.documentElement.dataset.theme"
    visit.page.evaluate(f"addEventListener('beforeprint', () => {{ window.printed = {theme}; }})")
    visit.page.pdf()
    assert visit.page.evaluate("window.printed") == "light"
    assert visit.page.evaluate(theme) == "dark"


@pytest.mark.parametrize("name", PAGES)
def test_the_text_is_there_without_scripts(browser: Browser, address: str, name: str) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": PHONE, "height": HEIGHT})
    visit = open_page(context, address, name)
    shown = "p, h1, h2, ul, ol, .book-math, .cell, .pst-scrollable-table-container"
    parts = f"article section > :is({shown}):not(.book-moving-live *)"
    expect(visit.page.locator(f"{parts}:visible")).to_have_count(visit.page.locator(parts).count())
    for part in visit.page.locator("article details").all():
        part.locator("> summary").press("Enter")
        expect(part.locator("> :not(summary)").first).to_be_visible()
    assert visit.wrong == []
    context.close()
