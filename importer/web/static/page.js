// What a page does beyond htmx: copied commands, progress of a run, the focus after an error, and what was chosen.
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
  events.addEventListener("error", () => {  // the browser asks again; what it gets replaces this
    if (!live.isConnected) return events.close();
    document.title = title;
    live.innerHTML = `<p class="error"></p>`;
    live.firstChild.textContent = live.dataset.lost;
  });
  events.addEventListener("over", () => {
    events.close();
    document.title = title;
    showAgain();
  });
}

function showAgain() {  // in place: the focus stays
  const page = {target: "#page", select: "#page", swap: "outerHTML"};
  htmx.ajax("GET", location.pathname + location.search, page)?.catch(() => {});  // see the events below
}

const kept = new Map();  // what of the page is open, and where it is scrolled to, while the page is changed in place

function keep() {
  for (const part of document.querySelectorAll("[data-keep]")) {
    kept.set(part.id, [part.open, part.scrollTop, part.scrollLeft]);
  }
}

function putBack() {
  for (const part of document.querySelectorAll("[data-keep]")) {
    const [open, top, left] = kept.get(part.id) || [part.open, part.scrollTop, part.scrollLeft];
    if (part.tagName === "DETAILS") part.open = open;
    [part.scrollTop, part.scrollLeft] = [top, left];
    const mark = part.querySelector("mark");
    if (mark && part.tagName === "PRE") part.scrollTop = mark.offsetTop - part.offsetTop - part.clientHeight / 3;
  }
}

// Choices of other forms that were not sent yet are put back, too.
const choices = new Map();
const swapped = new WeakSet();  // the requests whose answer has changed the page

function choiceFields() {
  return [...document.querySelectorAll("main form[hx-post]")].flatMap(fieldsOf);
}

function fieldsOf(form) {
  return [...form.querySelectorAll("select, input:not([type=hidden])")];
}

function valueOf(field) {
  return isTick(field) ? field.checked : field.value;
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
  const which = isTick(field) ? field.value : text ?? equal.indexOf(field);
  return JSON.stringify([field.form.getAttribute("hx-trigger"), hidden, field.name, which]);
}

function keepChoices(sentForm) {
  for (const field of choiceFields()) {
    choices.delete(keyOf(field));
    const at = field.form === sentForm ? fieldsOf(sentForm).indexOf(field) : -1;
    const wasSent = at >= 0 && sentForm.sentValues?.[at] === valueOf(field);
    if (!wasSent && isChosen(field)) choices.set(keyOf(field), valueOf(field));
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

document.addEventListener("htmx:beforeSwap", ({detail}) => {
  if (!detail.shouldSwap) return;
  swapped.add(detail.xhr);
  if (isPressed) {  // the page is shown again afterwards
    [detail.shouldSwap, isStale, underWay] = [false, true, null];
    return;
  }
  keep();
  keepTyped();
  keepChoices(detail.requestConfig?.elt);
});
document.addEventListener("DOMContentLoaded", () => { putBack(); prepare(document); });
document.addEventListener("htmx:afterSwap", (event) => {
  putBack();
  putBackTyped();
  putBackChoices();
  prepare(event.target.isConnected ? event.target : document);
});
document.addEventListener("htmx:afterSettle", () => {  // from now on, cells can be sent again
  sendUnsent();
  const waiting = choiceFields().find((field) => field.form.matches("[hx-trigger=change]") && isChosen(field));
  if (waiting && !requests) htmx.trigger(waiting, "change");  // it was chosen while another answer was awaited
  if (toSay) say(toSay);
  toSay = "";
  const goOn = next;
  if (goOn && !isBusy()) {
    next = null;
    goOn();
  }
  const changed = document.querySelector("[data-changed] summary");
  if (changed && document.activeElement === document.body) changed.focus();  // what was focused is gone
});

// A choice that its own button has not sent yet is not lost by the main button without a word.
document.addEventListener("submit", (event) => {
  const left = event.target.matches("[data-unused]") && choiceFields().find((field) => isChosen(field) && !field.form.role);
  if (!left) return;
  event.preventDefault();
  if (left.closest("details")) left.closest("details").open = true;
  left.setCustomValidity(event.target.dataset.unused);
  left.reportValidity();
  for (const end of ["input", "blur"]) left.addEventListener(end, () => left.setCustomValidity(""), {once: true});
});
