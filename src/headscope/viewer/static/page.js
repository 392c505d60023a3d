/** The page of the server and of an export: its state is the fragment of its address. */

import { mount } from "./main.js";
import { embeddedSource, serverSource } from "./source.js";

const place = document.querySelector(".headscope-view");
const data = document.querySelector("script.headscope-data");
const source = data ? embeddedSource(JSON.parse(data.textContent)) : serverSource();
const fragment = () => location.hash.slice(1);
const viewer = mount(place, source, fragment() || data?.dataset.state, {
  height: Number(data?.dataset.height) || undefined,
  // A page in a frame of a notebook (about:srcdoc) has no address to write to.
  onState: (text) => location.protocol === "about:" || history.replaceState(null, "", `#${text}`),
});
addEventListener("hashchange", () => {
  if (fragment() !== viewer.state()) viewer.setState(fragment());
});
