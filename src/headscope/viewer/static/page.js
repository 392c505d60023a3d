/** The page of the server and of an export: its state is the fragment of its address. */

import { followAddress, readAddress, writeAddress } from "./address.js";
import { mount } from "./main.js";
import { embeddedSource, serverSource } from "./source.js";

const data = document.querySelector("script.headscope-data");
const source = data ? embeddedSource(JSON.parse(data.textContent)) : serverSource();
const viewer = mount(document.querySelector(".headscope-view"), source, readAddress() || data?.dataset.state, {
  height: Number(data?.dataset.height) || undefined,
  onState: writeAddress,
});
followAddress((fragment) => { if (fragment !== viewer.state()) viewer.setState(fragment); });
