/** The view of a cell in a notebook: its data are in the widget; while a kernel answers, it is asked. */

import { kernelSource } from "./kernel_source.js";
import { mount } from "./main.js";
import { embeddedSource } from "./source.js";

/** Show a widget in an element. Returns a function that takes the view away. */
export function showWidget(widget, element) {
  const frame = document.getElementById(widget.get("frame"));
  if (frame) frame.hidden = true; // the same view for a front end without widgets
  element.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab would take the keys of the view
  let viewer = show(embeddedSource(widget.get("data")));
  const kernel = widget.get("live") ? kernelSource(widget) : null;
  kernel?.model().then(() => {
    viewer();
    viewer = show(kernel);
  }, () => {}); // without a kernel the view stays as it is
  const change = () => { if (widget.get("state") !== viewer.state()) viewer.setState(widget.get("state")); };
  widget.on("change:state", change);

  function show(source) {
    return mount(element, source, widget.get("state"), {
      height: widget.get("height"),
      onState: (state) => { widget.set("state", state); widget.save_changes(); },
    });
  }
  return () => {
    widget.off("change:state", change);
    kernel?.stop();
    viewer();
  };
}
