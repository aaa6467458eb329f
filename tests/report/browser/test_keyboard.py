"""The page is used without a mouse."""

FOCUSED = "document.activeElement"


def press(page, *keys: str) -> None:
    for key in keys:
        page.tab.keyboard.press(key)


def tab_to(page, selector: str) -> None:
    for _ in range(60):
        press(page, "Tab")
        if page.tab.evaluate(f"{FOCUSED}.matches({selector!r})"):
            return
    raise AssertionError(f"{selector} is not reached")


def test_the_first_tab_offers_to_skip_to_the_runs(opened, experiment):
    page = opened(experiment)
    press(page, "Tab")
    link = page.tab.locator("a.skip")
    assert link.bounding_box()["x"] >= 0
    press(page, "Enter")
    assert page.tab.evaluate("location.hash") == "#runs"


def test_the_filter_is_worked_with_keys_alone(opened, experiment):
    page = opened(experiment)
    tab_to(page, ".choice[data-kind=task] summary")
    press(page, "Enter")
    tab_to(page, "input[name=task]")
    press(page, "Space")
    said = page.tab.locator(".filters-said")
    assert said.inner_text().startswith("filtered: ")
    press(page, "Escape")
    assert page.tab.evaluate(f"{FOCUSED}.tagName") == "SUMMARY"
    assert not page.tab.locator(".choice[data-kind=task] fieldset").is_visible()


def test_a_table_is_sorted_with_keys_and_says_so(opened, experiment):
    page = opened(experiment)
    tab_to(page, "#success thead button")
    press(page, "Tab", "Enter", "Enter")
    header = page.tab.locator("#success th[aria-sort]")
    assert header.get_attribute("aria-sort") == "descending"
    cells = "#success tbody tr > :nth-child(2)"
    values = page.tab.eval_on_selector_all(cells, "c => c.map(x => +x.dataset.value)")
    assert values == sorted(values, reverse=True)


def test_what_has_the_focus_is_seen(opened, experiment):
    page = opened(experiment)
    for selector in ("button.theme", ".choice summary", "#agents thead button"):
        tab_to(page, selector)
        style = f"getComputedStyle({FOCUSED})"
        assert page.tab.evaluate(f"{style}.outlineStyle") == "solid"
        assert page.tab.evaluate(f"parseFloat({style}.outlineWidth)") >= 2


def test_a_fold_opens_with_a_key(opened, experiment):
    page = opened(experiment)
    page.tab.locator("#run-1 summary").first.focus()
    press(page, "Enter")
    assert page.tab.locator("#run-1").get_attribute("open") is not None


def test_every_table_sorts_by_every_column(opened, experiment):
    page = opened(experiment)
    sorted_by_all = page.tab.evaluate(
        """() => {
          const plain = "main table:has(tbody tr + tr) thead th:not(:has(button))";
          if (document.querySelector(plain)) return false;
          const buttons = [...document.querySelectorAll("table.sortable thead button")];
          return buttons.length > 30 && buttons.every((button) => {
            button.click();
            return button.closest("th").getAttribute("aria-sort") === "ascending";
          });
        }"""
    )
    assert sorted_by_all
    assert page.complaints == []
