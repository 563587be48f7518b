// The grid of the step Check, and how a page goes on when what was typed or chosen is stored. Arrows move, typing or
// Enter edits, and what is typed is sent when its cell is left. While an answer is awaited, other cells are edited on;
// what is typed into them is kept, and sent when it has come.
"use strict";

let at = "";  // the ID of the cell that is chosen
let typing = null;  // the field in it, while a person types
let isInGrid = false;  // where the focus was before the page changed
const unsent = new Map();  // the texts of cells that are not sent yet, by the ID of the cell
let underWay = null;  // the same of those that are being sent
let requests = 0;  // that have no answer yet
let next = null;  // what was pressed meanwhile: it is done when all is stored
let isPressed = false;  // a button of the mouse: no answer must replace what is being pressed
let isStale = false;  // the page does not show the last answer, or its form may have been used without one
let toSay = "";  // also after the next answer

function isBusy() {
  return requests > 0 || underWay !== null || unsent.size > 0;
}

function textOf(cell) {  // of which the page may only show some characters by their numbers
  return cell.dataset.text ?? cell.textContent;
}

function setText(cell, text) {
  cell.textContent = text;
  delete cell.dataset.text;
}

function say(text) {
  const said = document.getElementById("said"), notice = document.createElement("p");
  notice.className = "notice";
  notice.textContent = text;
  said.replaceChildren(notice);
}

function chosenCell() {
  return document.getElementById(at);
}

function choose(cell) {
  if (!cell) return;
  if (cell.tagName === "TH") return cell.querySelector("a").focus();
  for (const other of document.querySelectorAll("#grid td[tabindex='0']")) other.tabIndex = -1;
  cell.tabIndex = 0;
  at = cell.id;
  cell.focus();
  cell.scrollIntoView({block: "nearest", inline: "nearest"});
}

function explain(cell) {  // what is wrong with it, and what the file has, in the line below
  const said = document.getElementById("reason"), [, row] = cell.id.match(/r(\d+)c/);
  const name = cell.dataset.column.replace(" ", `${row} `);  // C E-mail: C20 E-mail
  const cut = cell.scrollWidth > cell.clientWidth ? textOf(cell) : "";
  const why = cell.dataset.why || cell.parentElement.dataset.why || cut;
  const isCorrected = cell.dataset.old !== undefined;
  const was = isCorrected ? ` ${said.dataset.was} ${cell.dataset.old || said.dataset.blank}.` : "";
  said.textContent = why || was ? `${name}: ${why}${was}` : "";
  for (const id of ["cell-back", "cells-same"]) document.getElementById(id).hidden = !isCorrected;
}

function move(cell, rows, columns) {
  const row = cell.closest("tbody").rows[cell.parentElement.sectionRowIndex + rows];
  choose((row && row.cells[cell.cellIndex + columns]) || cell);
}

function edit(cell, text, start = text.length, end = start) {
  if (isDone(cell)) return;
  next = null;  // who types on does not go on
  choose(cell);
  typing = document.createElement("textarea");
  typing.rows = 1;
  typing.setAttribute("aria-label", document.getElementById("reason").textContent || cell.dataset.column);
  typing.shown = [textOf(cell), cell.textContent];
  cell.replaceChildren(typing);
  typing.value = text;
  typing.defaultValue = typing.shown[0];
  typing.focus();
  typing.setSelectionRange(start, end);
}

function endEdit(isKept) {
  if (!typing) return;
  const field = typing, cell = field.parentElement, isChanged = isKept && field.value !== field.defaultValue;
  typing = null;
  cell.textContent = field.shown[1];
  if (isChanged) sendLater(cell, field.value);
}

function isDone(cell) {  // in the service: a correction would not be sent
  return cell.parentElement.dataset.done !== undefined;
}

function sendLater(cell, text) {
  setText(cell, text);
  unsent.set(cell.id, text);
  setTimeout(sendUnsent);
}

function sendUnsent() {
  if (isPressed || requests) return;
  if (isStale) {
    isStale = false;
    showAgain();
    return;
  }
  if (underWay || !unsent.size || !document.getElementById("cells")) return;
  underWay = new Map(unsent);
  unsent.clear();
  post(document.getElementById("cells").getAttribute("hx-post"), Object.fromEntries(underWay));
}

function post(address, values) {
  htmx.ajax("POST", address, {source: "#cells", target: "#page", values})?.catch(() => {});  // see the events below
}

function keepTyped() {
  isInGrid = Boolean(document.activeElement.closest("#grid"));
  typed = typing && [typing.parentElement.id, typing.value, typing.selectionStart, typing.selectionEnd];
  typing = null;
}
let typed = null;

function putBackTyped() {
  underWay = null;
  for (const [id, text] of unsent) if (document.getElementById(id)) setText(document.getElementById(id), text);
  const [id, ...where] = typed || [];
  if (document.getElementById(id)) edit(document.getElementById(id), ...where);
  else if (isInGrid) choose(chosenCell() || document.querySelector("#grid td"));
  [typed, isInGrid] = [null, false];
}

const MOVES = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};

document.addEventListener("keydown", (event) => {
  const cell = event.target.closest("#grid :is(td, tbody th)"), {key} = event;
  if (!cell || event.isComposing || event.keyCode === 229) return;  // the key is one of an input method
  if (cell.tagName === "TH" && !MOVES[key]) return;
  if (typing && key === "Enter" && event.shiftKey) return;  // a line break
  const goes = typing ? {Enter: [1, 0], Tab: [0, event.shiftKey ? -1 : 1], Escape: [0, 0]}[key] : MOVES[key];
  if (goes) {
    endEdit(key !== "Escape");
    move(cell, ...goes);
  } else if (typing || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  } else if (key === "Enter" || key === "F2") {
    edit(cell, textOf(cell));
  } else if (key === "Delete" || key === "Backspace") {
    if (!isDone(cell)) sendLater(cell, "");
  } else {
    if (key.length === 1) edit(cell, "");  // the key itself is typed into the field
    return;
  }
  event.preventDefault();
});
let isSecondTap = false;  // a finger has no double click
document.addEventListener("pointerdown", ({target, pointerType}) => {
  isSecondTap = pointerType === "touch" && target === document.activeElement;
});
document.addEventListener("dblclick", ({target}) => {
  if (target.matches("#grid td")) edit(target, textOf(target));
});
document.addEventListener("click", (event) => {
  const {target} = event;
  if (target.matches("#grid td")) isSecondTap ? edit(target, textOf(target)) : choose(target);
  if (target.id === "cell-back") sendLater(chosenCell(), chosenCell().dataset.old);
  const same = () => {
    const [, row, column] = at.match(/r(\d+)c(\d+)/);
    underWay = new Map();
    post(document.getElementById("cells").dataset.same, {row, column});
  };
  if (target.id === "cells-same") isBusy() ? next = same : same();
  if (target.matches(".fix button") && isBusy()) {
    event.preventDefault();
    next = () => document.querySelector(".fix button")?.click();
  }
  if (target.id === "cell-back" || target.id === "cells-same") choose(chosenCell());
  const main = target.closest(".actions .main"), link = target.closest("#page a[href]:not([hx-get])");
  const forms = main ? [...document.querySelectorAll(".matches :is(.choices, [hx-trigger=change])")] : [];
  const chosen = forms.find((form) => fieldsOf(form).some(isChosen));
  const isHidden = main && choices.size > 0 && /[?&](q|show)=/.test(location.search);  // by a search
  if (!(main || link) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (!(isBusy() || isStale || chosen || isHidden)) return;
  event.preventDefault();  // what was typed or chosen is stored first
  next = main ? () => document.querySelector(".actions .main")?.click() : () => location.assign(link.href);
  if (chosen && !isBusy()) {
    htmx.trigger(chosen, chosen.matches(".choices") ? "submit" : "change");
  } else if (isHidden && !isBusy()) {
    history.replaceState(null, "", location.pathname);
    showAgain();
  }
  sendUnsent();
});
for (const [name, is] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]]) {
  document.addEventListener(name, () => {
    isPressed = is;
    setTimeout(sendUnsent);
  }, true);
}
addEventListener("beforeunload", (event) => {
  if (unsent.size || underWay || (typing && typing.value !== typing.defaultValue)) event.preventDefault();
});
document.addEventListener("focusin", ({target}) => {
  if (!target.matches("#grid td")) return;
  at = target.id;
  explain(target);
});
document.addEventListener("focusout", ({target}) => { if (target === typing) endEdit(true); });
document.addEventListener("copy", (event) => {
  if (!event.target.matches("#grid td")) return;
  const text = textOf(event.target);
  event.clipboardData.setData("text/plain", /[\t\n"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  event.preventDefault();
});
document.addEventListener("paste", (event) => {  // cells of a spreadsheet: lines, with tabs between columns
  const first = event.target;
  if (!first.matches("#grid td")) return;
  const lines = pastedCells(event.clipboardData.getData("text/plain").replaceAll("\r\n", "\n"));
  let done = 0;
  lines.forEach((line, down) => line.forEach((text, right) => {
    const row = first.closest("tbody").rows[first.parentElement.sectionRowIndex + down];
    const cell = row && row.cells[first.cellIndex + right];
    if (!cell || isDone(cell)) return;
    sendLater(cell, text);
    done += 1;
  }));
  const all = lines.flat().length;
  const words = document.getElementById("reason").dataset.pasted;
  if (done < all) say(toSay = words.replace("{done}", done).replace("{all}", all));
  event.preventDefault();
});

function pastedCells(text) {  // a cell in quotes may have tabs and line breaks
  const lines = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"(?=[\t\n]|$)|([^\t\n]*))(\t|\n|$)/g)) {
    lines.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "") break;
    if (end === "\n") lines.push([]);
  }
  return lines.at(-1).join("") === "" && lines.length > 1 ? lines.slice(0, -1) : lines;
}

// An answer to a form that another answer has replaced is heard by nobody: then the page is shown again.
document.addEventListener("htmx:beforeSend", ({detail: {xhr, elt}}) => {
  requests += 1;
  if (elt.tagName === "FORM") elt.sentValues = fieldsOf(elt).map(valueOf);
  xhr.addEventListener("loadend", () => {
    requests -= 1;
    setTimeout(() => { if (!requests && !swapped.has(xhr) && !elt.isConnected) showAgain(); });
  });
});
for (const failed of ["htmx:sendError", "htmx:responseError"]) {
  document.addEventListener(failed, ({detail: {xhr}}) => {
    const isRefused = xhr.status >= 400 && xhr.status < 500;  // it would be refused again
    for (const [id, text] of (isRefused ? null : underWay) || []) if (!unsent.has(id)) unsent.set(id, text);
    [underWay, next, isStale] = [null, null, true];
    say(document.body.dataset.failed);
    setTimeout(sendUnsent, 5000);
  });
}
