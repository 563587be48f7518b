// What a page does beyond htmx: copied commands, progress of a run, the focus after an error.
"use strict";

function prepare(part) {
  for (const button of part.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", () => {
      navigator.clipboard.writeText(button.previousElementSibling.textContent);
      document.getElementById("said").textContent = button.dataset.copied;
    });
  }
  for (const file of part.querySelectorAll("input[type=file][data-most]")) file.addEventListener("change", () => {
    const tooLarge = file.files.length && file.files[0].size > Number(file.dataset.most);
    file.setCustomValidity(tooLarge ? file.dataset.tooLarge : "");
    if (file.reportValidity() && file.files.length) file.form.requestSubmit();  // a drop opens the file
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
    htmx.ajax("GET", location.pathname + location.search, page);  // the focus stays
  });
}

const kept = new Map();  // what of the page is open, and where it is scrolled to, while the page is changed in place

function keep() {
  for (const part of document.querySelectorAll("[data-keep]")) kept.set(part.id, [part.open, part.scrollTop]);
}

function putBack() {
  for (const part of document.querySelectorAll("[data-keep]")) {
    const [open, top] = kept.get(part.id) || [part.open, part.scrollTop];
    if (part.tagName === "DETAILS") part.open = open;
    part.scrollTop = top;
    const mark = part.querySelector("mark");
    if (mark && part.tagName === "PRE") part.scrollTop = mark.offsetTop - part.offsetTop - part.clientHeight / 3;
  }
}

// A cell of the grid is sent when it is left, one after the other. What is typed into another one meanwhile is put back
// when the answer has changed the page, and then sent itself.
const sent = new Map();  // the texts of cells that are being sent, by their id
let typed = [];

function isTyped(cell) {
  return cell.value !== (sent.has(cell.id) ? sent.get(cell.id) : cell.defaultValue);
}

function sendTyped(cell) {
  setTimeout(() => { if (cell.isConnected && isTyped(cell)) htmx.trigger(cell, "change"); });
}

function typedCells() {
  return [...document.querySelectorAll("#rows td input[type=text]")].filter(isTyped);
}

function keepTyped() {
  typed = typedCells().map((cell) => [cell.id, cell.value, cell.selectionStart, cell.selectionEnd]);
}

function putBackTyped() {
  sent.clear();
  for (const [id, text, start, end] of typed) {
    const cell = document.getElementById(id);
    if (!cell) continue;
    cell.value = text;
    if (cell === document.activeElement) cell.setSelectionRange(start, end);
  }
  typed = [];
}

// Choices of other forms that were not sent yet are put back, too.
const choices = new Map();

function choiceFields() {
  return [...document.querySelectorAll("main form[hx-post]:not([hx-trigger]) :is(select, input:not([type=hidden]))")];
}

function isTick(field) {
  return ["checkbox", "radio"].includes(field.type);
}

function isChosen(field) {
  if (isTick(field)) return field.checked !== field.defaultChecked;
  if (field.tagName !== "SELECT") return field.value !== field.defaultValue;
  return field.selectedIndex !== Math.max(0, [...field.options].findIndex((one) => one.defaultSelected));
}

function keyOf(field) {  // the question, what the form does, the text, and which of equal fields it is
  const hidden = [...field.form.querySelectorAll("[type=hidden]:not([name=token], [name=text])")].map((one) => one.value);
  const text = field.closest("li")?.querySelector("[name=text]")?.value;
  const equal = [...field.form.elements].filter((one) => one.name === field.name);
  return JSON.stringify([hidden, field.name, isTick(field) ? field.value : text ?? equal.indexOf(field)]);
}

function keepChoices(sentForm) {
  choices.clear();
  for (const field of choiceFields()) {
    if (field.form !== sentForm && isChosen(field)) choices.set(keyOf(field), isTick(field) ? field.checked : field.value);
  }
}

function putBackChoices() {
  for (const field of choices.size ? choiceFields() : []) {
    const value = choices.get(keyOf(field));
    if (value === undefined) continue;
    if (isTick(field)) field.checked = value;
    else if (field.tagName !== "SELECT" || [...field.options].some((one) => one.value === value)) field.value = value;
  }
}

document.addEventListener("htmx:beforeRequest", ({detail: {elt}}) => {
  if (elt.matches("#rows td input")) sent.set(elt.id, elt.value);
});
for (const failed of ["htmx:sendError", "htmx:responseError"]) {  // it is sent again when it is left
  document.addEventListener(failed, ({detail: {elt}}) => sent.delete(elt.id));
}
document.addEventListener("focusout", ({target}) => { if (target.matches("#rows td input")) sendTyped(target); });
document.addEventListener("keydown", ({key, target}) => {
  if (key === "Escape" && target.matches("#rows td input")) target.value = target.defaultValue;
});

document.addEventListener("htmx:beforeSwap", ({detail: {requestConfig}}) => {
  keep();
  keepTyped();
  keepChoices(requestConfig?.elt);
});
document.addEventListener("DOMContentLoaded", () => { putBack(); prepare(document); });
document.addEventListener("htmx:afterSwap", (event) => {
  putBack();
  putBackTyped();
  putBackChoices();
  prepare(event.target.isConnected ? event.target : document);
});
document.addEventListener("htmx:afterSettle", () => {  // from now on, the new cells can be sent
  typedCells().filter((cell) => cell !== document.activeElement).forEach(sendTyped);
  const changed = document.querySelector("[data-changed] summary");
  if (changed && document.activeElement === document.body) changed.focus();  // what was focused is gone
});
