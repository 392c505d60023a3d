"""Frame times of the viewer in Chromium: scrolling and hovering in a long text, and the time to the first picture.

A page of `headscope view` is opened in headless Chromium without a GPU, on a random BERT of 2 layers with 12 heads that
reads 4,096 tokens. Real gestures scroll and point; the page counts the time between its frames. Wanted: 50 frames a
second or better, that is 95% of frames within 20 ms.

    python -m benchmarks.viewer_frames                  # 4,096 tokens
    python -m benchmarks.viewer_frames --tokens 2048 --layers 12
"""

import argparse
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from platform import machine

import numpy as np
import torch
import uvicorn
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from starlette.concurrency import run_in_threadpool
from transformers import BertConfig, BertModel

from headscope import load, wrap
from headscope.viewer.server import Call, application
from headscope.viewer.serving import listening
from headscope.viewer.session import ViewSession

CHROMIUM = "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"
WIDTH, HEIGHT = 1280, 800
WORDS = "the old keeper saw a ship turn away from every rock near our quiet harbour before night fell".split()
COUNT = """window.frames_ = []; let last = 0; const count = (now) => {
    if (last) frames_.push(now - last); last = now; window.frame_ = requestAnimationFrame(count); };
    window.frame_ = requestAnimationFrame(count);"""
READY = "return !document.querySelector('[aria-busy=true]') && !!document.querySelector('.view-place canvas')"


def session_of(tokens: int, layers: int) -> ViewSession:
    """A random model of `layers` layers with 12 heads that reads `tokens` tokens."""
    tokenizer = load("minilm", device="cpu").tokenizer
    tokenizer.model_max_length = tokens
    torch.manual_seed(0)
    config = BertConfig(hidden_size=96, num_hidden_layers=layers, num_attention_heads=12, intermediate_size=96)
    config.max_position_embeddings, config.initializer_range = tokens, 0.3
    network = BertModel(config)
    network.set_attn_implementation("eager")
    return ViewSession((wrap(network.eval(), tokenizer, "random"),), seconds=600)


@contextmanager
def served(session: ViewSession, call: Call = run_in_threadpool) -> Iterator[str]:
    """The address of the page while the block runs; for `call` see `application`."""
    with listening(0) as socket:
        server = uvicorn.Server(uvicorn.Config(application(session, call), log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
        thread.start()
        yield f"http://127.0.0.1:{socket.getsockname()[1]}/"
        server.should_exit = True
        thread.join()


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """A window of 1280 x 800."""
    options = webdriver.ChromeOptions()
    for argument in CHROMIUM.split():
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium") or ""
    window = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    screen = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    yield window
    window.quit()


def centre(window: webdriver.Chrome) -> dict[str, float]:
    """The middle of the picture, in the window."""
    return window.execute_script(
        "const canvas = document.querySelector('.view-place .scroll-canvas'); canvas.scrollIntoView({block: 'center'});"
        "const box = canvas.getBoundingClientRect(); return {x: box.x + box.width / 2, y: box.y + box.height / 2};"
    )


def scroll(window: webdriver.Chrome) -> None:
    """Scroll by a gesture of 6,000 pixels there and back."""
    middle = centre(window)
    for distance in (-6000, 6000):
        gesture = {**middle, "yDistance": distance, "speed": 2400}
        window.execute_cdp_cmd("Input.synthesizeScrollGesture", gesture)


def hover(window: webdriver.Chrome) -> None:
    """Move the pointer over the picture in 300 steps, about 4 ms apart."""
    middle = centre(window)
    for step in range(300):
        x, y = middle["x"] + 150 * np.sin(step / 20), middle["y"] + 120 * np.cos(step / 13)
        window.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": float(x), "y": float(y)})


def frames(window: webdriver.Chrome, act: Callable[[webdriver.Chrome], None]) -> dict[str, float]:
    """Milliseconds between the frames while `act` runs. Returns: quantiles, frames a second, share in 20 ms."""
    window.execute_script(COUNT)
    act(window)
    times = np.array(window.execute_script("cancelAnimationFrame(frame_); return frames_"))
    return {
        "frames": len(times),
        "median_ms": round(float(np.median(times)), 1),
        "p95_ms": round(float(np.quantile(times, 0.95)), 1),
        "longest_ms": round(float(times.max()), 1),
        "per_second": round(1000 * len(times) / float(times.sum()), 1),
        "within_20_ms": round(float((times <= 20).mean()), 3),
    }


def opened(window: webdriver.Chrome, address: str) -> float:
    """Open a state of the page. Returns: seconds until its picture is there."""
    start = time.perf_counter()
    window.get("about:blank")
    window.get(address)
    while not window.execute_script(READY):
        time.sleep(0.02)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=4096, help="length of the text, in tokens")
    parser.add_argument("--layers", type=int, default=2, help="layers of the model, of 12 heads each")
    given = parser.parse_args()
    tokens = given.tokens
    session = session_of(tokens, given.layers)
    text = " ".join(np.random.default_rng(0).choice(WORDS, tokens))
    start = time.perf_counter()
    session.text(text)
    seconds = round(time.perf_counter() - start, 2)
    print(
        json.dumps(
            {
                "machine": machine(),
                "cores": os.cpu_count(),
                "tokens": tokens,
                "layers": given.layers,
                "model_s": seconds,
            }
        )
    )
    views = {"heat map, fit": "v=map&h=2-3", "heat map, 8 px": "v=map&h=2-3&z=8", "lines": "v=lines&h=2-3,1-4"}
    with served(session) as address, chromium() as window:
        for name, state in views.items():
            seconds = opened(window, f"{address}#t={text.replace(' ', '+')}&{state}")
            sent = window.execute_script(
                "return performance.getEntriesByType('resource').reduce((sum, each) => sum + each.transferSize, 0)"
            )
            print(json.dumps({"view": name, "first_picture_s": round(seconds, 2), "sent_mb": round(sent / 1e6, 2)}))
            time.sleep(1)
            if name != "heat map, fit":
                print(json.dumps({"view": name, "act": "scroll"} | frames(window, scroll)))
            print(json.dumps({"view": name, "act": "hover"} | frames(window, hover)))


if __name__ == "__main__":
    main()
