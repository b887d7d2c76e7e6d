"use strict";
// A button beside each command that copies it.
for (const code of document.querySelectorAll("pre > code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy the command");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch { // not allowed here: selected, for the keys of the reader
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
  });
  code.parentElement.before(button);
}
