"use strict";
// For pages that are served: says that something is running, and keeps what is shown up to date.
(() => {
  const part = document.getElementById("live");
  const page = decodeURIComponent(location.pathname);
  const link = document.createElement("a");
  link.href = "/live.html";
  link.id = "running";
  link.hidden = true;
  if (!part) document.querySelector("main").prepend(link);
  let written;

  async function look() {
    try {
      const state = await (await fetch(`/live.json?page=${encodeURIComponent(page)}`)).json();
      link.hidden = !state.running;
      link.textContent = `Running now: ${state.finished} of ${state.total} repetitions`;
      if (part) {
        const text = await (await fetch(location.pathname)).text();
        const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("live");
        const busy = part.contains(document.activeElement) || !getSelection().isCollapsed;
        if (fresh && !busy && fresh.innerHTML !== part.innerHTML) part.replaceChildren(...fresh.childNodes);
      } else if (written !== undefined && state.written !== written) {
        location.reload();
      }
      written = state.written;
    } catch { // the server has ended
      link.hidden = true;
    }
    setTimeout(look, 3000);
  }
  look();
})();
