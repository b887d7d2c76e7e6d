"use strict";
// On pages that `make gallery SERVE=1` serves: says that something is running, and loads a page again when it has changed.
(() => {
  if (!location.protocol.startsWith("http")) return;
  const link = document.createElement("a");
  link.href = "/live.html";
  link.id = "running";
  link.hidden = true;
  if (location.pathname !== link.pathname) document.querySelector("main").prepend(link);
  let version;

  async function look() {
    try {
      const state = await (await fetch(`/live.json?page=${location.pathname}`)).json();
      link.hidden = !state.running;
      link.textContent = `Running now: ${state.finished} of ${state.total} repetitions`;
      if (version !== undefined && state.version !== version && getSelection().isCollapsed) location.reload();
      version ??= state.version;
    } catch (error) {
      link.hidden = true;
      if (error instanceof SyntaxError) return; // another server
    }
    setTimeout(look, 3000);
  }
  look();
})();
