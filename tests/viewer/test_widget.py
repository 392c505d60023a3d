"""Views in a notebook: the widget, and the frame that stays without a kernel and a network."""

import base64
import json
import time
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import headscope
from headscope.errors import HeadscopeError
from headscope.viewer.tiles import unpack
from headscope.viewer.view_state import ViewState, parse_state
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer
from support.viewer_page import picture, settled

EVIL = "The <img src=x onerror=document.title=1> \"cat' </script> slept."
# A front end of widgets, as far as `render` uses it.
FRONT_END = """<!doctype html><meta charset="utf-8"><body>
<script type="application/json" id="views">VIEWS</script>
<script type="module">
const views = JSON.parse(document.getElementById("views").textContent);
window.models = [];
const modules = {};
for (const { esm, css, ...fields } of views) {
  const style = document.createElement("style");
  style.textContent = css;
  const el = document.createElement("div");
  const frame = document.createElement("iframe");
  frame.id = fields.frame;
  document.body.append(frame, style, el);
  const listeners = {};
  const model = {
    fields, el, get: (name) => fields[name],
    set: (name, value) => { fields[name] = value; },
    sent: [], send: (message) => { model.sent.push(message); },
    hear: (content, buffers) => listeners["msg:custom"](content, buffers.map(
      (each) => new DataView(Uint8Array.from(atob(each), (letter) => letter.charCodeAt(0)).buffer))),
    save_changes: () => {}, off: () => {},
    on: (event, act) => { listeners[event] = act; },
    change: (state) => { fields.state = state; listeners["change:state"](); },
  };
  window.models.push(model);
  modules[esm] ??= await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
  model.remove = modules[esm].default.render({ model, el });
}
</script>"""


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(tiny_bert(), tiny_tokenizer())


def front_end(views: list, page: Path) -> Path:
    """A page that shows widgets as a notebook does."""
    fields = ("data", "state", "height", "frame", "live")
    shown = [{name: getattr(view, name) for name in fields} | {"esm": view._esm, "css": view._css} for view in views]
    content = json.dumps(shown).replace("<", "\\u003c")
    page.write_text(FRONT_END.replace("VIEWS", content), encoding="utf-8")
    return page


def test_several_widgets_in_one_page_keep_their_state(model: headscope.Model, browser: Chrome, tmp_path: Path) -> None:
    result = headscope.profile(model, ["The cat slept.", "It rained."])
    views = [
        headscope.show(model, EVIL, results=result, state="v=map&h=2-3"),
        headscope.show(result, state="h=1-2,3-1", height=300),
    ]
    browser.get_log("browser")
    browser.get(front_end(views, tmp_path / "notebook.html").as_uri())
    titles = ".headscope .pane h2"
    WebDriverWait(browser, 20).until(lambda window: len(window.find_elements(By.CSS_SELECTOR, titles)) == 2)
    WebDriverWait(browser, 20).until_not(lambda window: window.find_elements(By.CSS_SELECTOR, "[aria-busy]"))
    heads = [element.text for element in browser.find_elements(By.CSS_SELECTOR, titles)]
    assert heads[0].startswith("Head 2-3") and heads[1].split() == ["Heads", "1-2", "3-1"]
    assert "<img src=x" in browser.find_element(By.TAG_NAME, "body").text and browser.title != "1"
    browser.find_elements(By.CSS_SELECTOR, ".headscope [role=tab]")[0].click()
    assert browser.execute_script("return models.map((each) => each.fields.state)") == ["h=2-3", "h=1-2,3-1"]
    browser.execute_script("models[1].change('v=card&h=2-2')")
    assert browser.find_elements(By.CSS_SELECTOR, titles)[1].text.startswith("Head 2-2")
    assert not any(frame.is_displayed() for frame in browser.find_elements(By.TAG_NAME, "iframe"))
    browser.execute_script("models[0].remove()")
    assert len(browser.find_elements(By.CSS_SELECTOR, titles)) == 1
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def answer_messages(browser: Chrome, view: Any) -> None:
    """Be the kernel: pass the messages of the page to the widget, and its answers to the page, until none is left."""
    sent: list[tuple[dict, list[bytes]]] = []
    view.send = lambda content, buffers=None: sent.append((content, buffers or []))
    quiet = 0
    while quiet < 5:
        time.sleep(0.05)
        messages = browser.execute_script("return models[0].sent.splice(0)")
        quiet = 0 if messages else quiet + 1
        for message in messages:
            view._handle_custom_msg(message, [])
            content, buffers = sent.pop()
            encoded = [base64.b64encode(buffer).decode() for buffer in buffers]
            browser.execute_script("models[0].hear(...arguments)", content, encoded)


def test_a_text_typed_in_a_widget_is_read_by_the_kernel(
    model: headscope.Model, browser: Chrome, tmp_path: Path
) -> None:
    view = headscope.show(model, "The cat slept.", state="v=map&h=2-3")
    browser.get_log("browser")
    browser.get(front_end([view], tmp_path / "notebook.html").as_uri())
    settled(browser)
    assert browser.find_elements(By.CSS_SELECTOR, ".headscope .text-form") == []  # no kernel has answered yet
    answer_messages(browser, view)
    before = picture(browser)
    browser.find_element(By.CSS_SELECTOR, ".headscope textarea").clear()
    browser.find_element(By.CSS_SELECTOR, ".headscope textarea").send_keys("A dog ran.", Keys.ENTER)
    answer_messages(browser, view)
    assert picture(browser) != before and "t=A+dog+ran." in browser.execute_script("return models[0].fields.state")
    browser.find_element(By.CSS_SELECTOR, ".headscope [data-value=try]").click()
    browser.find_element(By.CSS_SELECTOR, ".headscope .try-form .primary").click()
    answer_messages(browser, view)
    captions = [element.text for element in browser.find_elements(By.CSS_SELECTOR, ".headscope .answer caption")]
    assert captions == ["all heads", "without these heads"]
    assert browser.get_log("browser") == []


def test_a_kernel_answers_by_the_paths_of_the_server(model: headscope.Model) -> None:
    view: Any = headscope.show(model, EVIL)
    assert view.live and not headscope.show(headscope.profile(model, ["It rained."])).live
    sent: list[tuple[dict, list[bytes]]] = []
    view.send = lambda content, buffers: sent.append((content, buffers))

    def asked(path: Any, body: Any = None) -> tuple[dict, list[bytes]]:
        view._handle_custom_msg({"request": "x/1", "path": path, "body": body}, [])
        content, buffers = sent.pop()
        assert content.pop("request") == "x/1"
        return content, buffers

    text = asked("api/text", {"first": "A dog ran.", "second": None})[0]["content"]
    tile = f"api/tile/{text['id']}/1/2/0/0/0?model=0"
    assert text["tokens"][:3] == ["[CLS]", "a", "dog"] and unpack(asked(tile)[1][0]).levels.shape == (6, 6)
    assert asked("api/corpus/sample?page=0")[0]["content"][0]["first"]
    assert asked(tile.replace("/1/2/", "/1/9/"))[0]["status"] == 404
    assert asked("api/text", {"first": " "}) == ({"status": 400, "error": "the text is empty; write a sentence"}, [])
    for wrong in (None, 7, "api/" * 500, "api/tile/../x"):
        assert "\n" not in asked(wrong)[0]["error"]


def test_frame_holds_the_page_as_text(model: headscope.Model) -> None:
    html = headscope.show(model, EVIL, static=True)._repr_html_()
    assert html.count("<") == 2 and 'sandbox="allow-scripts allow-downloads"' in html  # the frame, opened and closed
    assert unescape(html).count("<img src=x") == 0 and "\\u003cimg src=x" in html


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("no-such-model", "It rained."), "model 'no-such-model'"),
        (("", "It rained."), "model"),
        ((7, "It rained."), "model: a int is no model"),
    ],
)
def test_a_wrong_model_is_one_line(given: tuple, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(HeadscopeError, match=line):
        headscope.show(*given)


def test_wrong_results_are_one_line(model: headscope.Model) -> None:
    result = headscope.profile(model, ["The cat slept."])
    other = result.assign_attrs(model="another")
    with pytest.raises(HeadscopeError, match="no result is about model 'in memory', but about another"):
        headscope.show(model, "It rained.", results=other)
    with pytest.raises(HeadscopeError, match="a result shows its own typical input"):
        headscope.show(result, "It rained.")
    with pytest.raises(HeadscopeError, match="the text is empty"):
        headscope.show(model, "")


def test_a_view_opens_in_a_state(model: headscope.Model) -> None:
    opened = headscope.show(model, "The cat slept.", view="map", heads=["1-2"], state={"view": "card", "unit": "words"})
    assert parse_state(opened.state) == ViewState("map", ((1, 2),), True)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"view": "maps"}, "there is no view 'maps'; did you mean 'map'"),
        ({"heads": ["2"]}, "'2' is no head; write layer and head"),
        ({"heads": [(2, 9)]}, "is no head; write layer and head"),
        ({"state": {"headz": ["1-2"]}}, "there is no field 'headz'; did you mean 'heads'"),
        ({"state": "heads=1-2"}, "there is no field 'heads'; write h= for it"),
    ],
)
def test_a_wrong_state_is_refused_before_a_model_is_loaded(given: dict, line: str) -> None:
    with pytest.raises(HeadscopeError, match=line):
        headscope.show("no-such-model", "The cat slept.", **given)


def test_a_head_that_is_not_there_is_refused(model: headscope.Model) -> None:
    for head, line in (("1-9", "layer 1 has 4 heads"), ("9-1", "the model has 3 layers")):
        with pytest.raises(HeadscopeError, match=f"there is no head {head}: {line}$"):
            headscope.show(model, "The cat slept.", heads=[head])


def test_pages_and_pictures_are_saved_from_python(model: headscope.Model, tmp_path: Path) -> None:
    for name, start in (("view.html", b"<!doctype"), ("view.svg", b"<svg"), ("view.PDF", b"%PDF")):
        path = headscope.export_page(tmp_path / name, model, "The cat slept.", state="v=map&h=1-2")
        assert path.read_bytes().startswith(start)
    with pytest.raises(HeadscopeError, match="format 'gif' is unknown"):
        headscope.export_page(tmp_path / "view.gif", model, "The cat slept.")


def test_a_notebook_of_nbconvert_needs_no_network(
    browser: Chrome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(headscope.__file__).parents[1]))
    save_tiny(tmp_path / "model")
    cells = [
        "import headscope\nresult = headscope.profile('model', ['The cat slept.', 'It rained.'])\nresult",
        "headscope.plot(result, 'entropy')",
        f"headscope.show('model', {EVIL!r}, results=result, state='v=map&h=2-3')",
        "headscope.show(result)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    from nbconvert import HTMLExporter  # its import takes a second, which both processes of the tests would wait

    page = tmp_path / "notebook.html"
    page.write_text(HTMLExporter().from_notebook_node(notebook)[0], encoding="utf-8")
    browser.get(page.as_uri())
    assert len(browser.find_elements(By.CSS_SELECTOR, ".headscope-result .hs-atlas img")) == 12
    frames = browser.find_elements(By.TAG_NAME, "iframe")
    assert len(frames) == 2
    for frame, head in zip(frames, ("Head 2-3", "Head "), strict=True):
        browser.switch_to.frame(frame)
        WebDriverWait(browser, 20).until(lambda window: window.find_elements(By.CSS_SELECTOR, ".view-place canvas"))
        assert browser.find_element(By.CSS_SELECTOR, ".pane h2").text.startswith(head)
        browser.find_elements(By.CSS_SELECTOR, "[role=tab]")[0].click()  # the new state has no address to go to
        assert browser.find_element(By.CSS_SELECTOR, "[role=tab][aria-selected=true]").text == "Lines"
        browser.switch_to.default_content()
    lines = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert all("ERR_" in line for line in lines), lines  # nbconvert's own scripts come from a network
