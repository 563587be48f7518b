// What a page does beyond htmx: copied commands, progress of a run, the focus after an error. Without it all steps work.
"use strict";

function prepare(part) {
  for (const button of part.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      navigator.clipboard.writeText(button.previousElementSibling.textContent);
      document.getElementById("said").textContent = button.dataset.copied;
    });
  }
  const file = part.querySelector("input[type=file][data-most]");
  if (file) file.addEventListener("change", () => {
    const tooLarge = file.files.length && file.files[0].size > Number(file.dataset.most);
    file.setCustomValidity(tooLarge ? file.dataset.tooLarge : "");
    file.reportValidity();
  });
  const problems = part.querySelector("#problems");
  if (problems) problems.focus();
  const live = part.querySelector("[data-events]");
  if (live) follow(live);
}

function follow(live) {
  const title = document.title;
  const events = new EventSource(live.dataset.events);
  events.addEventListener("progress", (event) => {
    const seen = JSON.parse(event.data);
    live.innerHTML = seen.html;  // escaped by the server's template
    document.title = seen.percent === null ? title : `${seen.percent} % - ${title}`;
    const said = document.getElementById("said");
    if (said.textContent !== seen.status) said.textContent = seen.status;
  });
  events.addEventListener("over", () => {
    events.close();
    document.title = title;
    const page = {target: "#page", select: "#page", swap: "outerHTML"};
    if (window.htmx) htmx.ajax("GET", location.pathname + location.search, page);  // the focus stays
    else location.reload();
  });
}

document.addEventListener("DOMContentLoaded", () => prepare(document));
document.addEventListener("htmx:afterSwap", (event) => prepare(event.target.isConnected ? event.target : document));
document.addEventListener("htmx:afterSettle", () => {
  const changed = document.querySelector("[data-changed] summary");
  if (changed && document.activeElement === document.body) changed.focus();  // what was focused is gone
});
