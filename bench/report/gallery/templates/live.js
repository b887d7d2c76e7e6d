"use strict";
// For pages that are served: says that something is running, and loads a page again when it has changed.
(() => {
  const link = document.createElement("a");
  link.href = "/live.html";
  link.id = "running";
  link.hidden = true;
  if (location.pathname !== link.pathname) document.querySelector("main").prepend(link);
  let version;

  async function look() {
    try {
      const page = encodeURIComponent(decodeURIComponent(location.pathname));
      const state = await (await fetch(`/live.json?page=${page}`)).json();
      link.hidden = !state.running;
      link.textContent = `Running now: ${state.finished} of ${state.total} repetitions`;
      const isBusy = !getSelection().isCollapsed;
      if (version !== undefined && state.version !== version && !isBusy) location.reload();
      version ??= state.version;
    } catch { // the server has ended
      link.hidden = true;
    }
    setTimeout(look, 3000);
  }
  look();
})();
