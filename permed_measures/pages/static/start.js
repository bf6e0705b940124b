"use strict";

window.addEventListener("DOMContentLoaded", async () => {
  const data = await unpack(document.getElementById("data").textContent);
  await show(data, data.words);
  document.documentElement.dataset.ready = "";
});
