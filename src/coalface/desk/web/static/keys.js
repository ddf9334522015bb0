// Keys, and what starts when a page is shown. Letters are keys only while no field has the focus.
"use strict";

const RENEW_EVERY = 120000; // milliseconds; a lease lasts 600 seconds
let touched = false; // the annotator has done something since the last renewal; an idle page renews no lease

const typing = (place) => place.matches?.("textarea, select, input:not([type=radio], [type=checkbox])");
const pressing = (place) => place.matches?.("button, a, summary, input[type=checkbox]");
const ARROWS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 };

function choose(digit) {
  const labels = [...document.querySelectorAll("[data-label]:not([hidden])")];
  if (labels.length) { if (digit > 0) labels[digit - 1]?.click(); return; }
  const row = current() || rows()[0];
  const level = row && levels(row)[digit];
  if (level) fill(row, level.value);
}

function cantTell(row) {
  if (row) fill(row, "?");
  else byId("unsure")?.click();
}

function openNote() {
  const note = document.querySelector("details.note");
  if (note) { note.open = true; byId("note").focus(); }
}

function flag() {
  if (!byId("flag")) return;
  byId("flag").checked = true;
  openNote();
  keepDraft();
}

function toggleGuidelines() {
  const shown = document.querySelector("details.guidelines");
  if (shown) shown.open = !shown.open;
}

function openHelp() {
  const help = byId("help-text");
  if (!help) return;
  if (byId("sending")) byId("sending").value = recall("sending") || "one";
  help.showModal();
  byId("help-title").focus(); // the first field, which a dialog focuses, is below its top
}

const KEYS = {
  a: othersWrong, c: () => cantTell(current() || rows()[0]), f: flag, g: toggleGuidelines, h: openHelp, n: openNote,
  r: () => rightOne(current()), s: skip, u: undo, y: redo, z: zoom, "+": addLabel,
  "/": () => { if (byId("search")) byId("search").focus(); else findRight(); },
};

// Arrows move: left and right within a row, up and down between rows. They choose nothing; Space does.
function move(event, row) {
  const step = ARROWS[event.key];
  const vertical = event.key === "ArrowUp" || event.key === "ArrowDown";
  const all = vertical ? rows() : radios(row);
  const next = all[all.indexOf(vertical ? row : event.target) + step];
  if (!next) return;
  if (!vertical) { next.focus(); return; }
  const place = radios(row).indexOf(event.target);
  mark(next);
  (radios(next)[place] || numberOf(next)).focus();
}

function enter(row) {
  const next = row && numberOf(row) && (reveal(), empty());
  if (next && next !== row) goTo(next);
  else send(byId("send"));
}

function actOf(event) {
  const place = event.target, row = place.closest?.("fieldset.row");
  if (event.key === "Escape" && typing(place)) return () => place.blur();
  if (event.key === "Enter" && place.id === "search") return () => document.querySelector("[data-label]:not([hidden])")?.click();
  if (event.key === "Enter" && !pressing(place) && !place.matches?.("textarea, select") && rows().length) return () => enter(row);
  if (typing(place)) return null;
  if (event.key in ARROWS && place.type === "radio" && row) return () => move(event, row);
  if (event.key === " ") return place.type === "radio" ? () => { place.checked = true; goOn(row); } : null;
  if (/^[0-9]$/.test(event.key)) return () => choose(Number(event.key));
  return KEYS[event.key.toLowerCase()];
}

function pressed(event) {
  if (busy || event.ctrlKey || event.metaKey || event.altKey || !form() || document.querySelector("dialog[open]")) return; // busy: what is sent stays as it is
  const act = actOf(event);
  if (!act) return;
  event.preventDefault();
  if (!event.repeat || event.key in ARROWS) act();
}

// ---- start ------------------------------------------------------------------------------------------------------

function begin() {
  document.documentElement.classList.add("scripts");
  shownAt = performance.now();
  clearTimeout(refreshTimer);
  if (main().dataset.refresh) refreshTimer = setTimeout(refresh, 1000 * Number(main().dataset.refresh));
  if (draftName()) restoreDraft();
  restorePlace();
  exampleText()?.addEventListener("scroll", keepPlace, { passive: true });
  if (rows().length) goTo(empty());
}

function search(text) {
  let key = 0;
  for (const button of document.querySelectorAll("[data-label]")) {
    button.hidden = !plain(button.value).includes(plain(text.trim()));
    button.querySelector("kbd")?.remove();
    if (!button.hidden && key < 9) {
      const shown = document.createElement("kbd");
      shown.textContent = String(++key);
      button.prepend(shown, " ");
    }
  }
}

async function renew() {
  const { lease, csrf } = main().dataset;
  if (!lease || !touched) return;
  touched = false;
  const headers = { "content-type": "application/json", "x-csrf-token": csrf };
  await fetch("/api/v1/leases/" + encodeURIComponent(lease) + ":renew", { method: "POST", headers, body: "{}" }).catch(() => {});
}

document.addEventListener("keydown", pressed);
document.addEventListener("input", (event) => {
  touched = true;
  if (event.target.id === "search") search(event.target.value);
  else if (event.target.id === "pick") narrow(event.target.value);
  else if (event.target.closest("#answer")) { if (numberOf(event.target.closest("fieldset.row") || form()) !== event.target) reveal(); keepDraft(); }
});
document.addEventListener("change", (event) => {
  const row = event.target.closest("fieldset.row");
  if (event.target.id === "sending") remember("sending", event.target.value);
  if (row && event.target.tagName === "SELECT" && labelOf(row)) extraRow(); // the focus stays in the list
  if (row && event.target.type === "radio") goOn(row);
  if (row && event.target === numberOf(row)) reveal();
});
document.addEventListener("focusin", (event) => {
  const row = event.target.closest("fieldset.row");
  if (row) mark(row);
});
document.addEventListener("click", (event) => {
  const at = (selector) => event.target.closest(selector);
  if (at("#help")) openHelp();
  if (at("[data-unsure]")) cantTell(at("fieldset.row"));
  if (at("[data-right]")) rightOne(at("fieldset.row"));
  if (at("[data-pick]")) choosePicked(at("[data-pick]"));
  if (at("[data-close]")) at("dialog").close();
  if (at("#larger img")) zoomOn(event.target);
  if (at("a.zoom") && byId("larger")) { event.preventDefault(); zoom(); }
});
document.addEventListener("submit", (event) => {
  if (event.target.id === "redo") { event.preventDefault(); redo(); return; }
  if (event.target !== form()) return;
  event.preventDefault();
  if (event.submitter?.id === "undo") undo();
  else if (event.submitter?.id === "skip") skip();
  else send(event.submitter);
});
for (const kind of ["keydown", "pointerdown", "scroll"]) document.addEventListener(kind, () => { touched = true; }, { passive: true });
setInterval(renew, RENEW_EVERY);
if (matchMedia("(max-width: 62rem)").matches) document.querySelectorAll("details.guidelines").forEach((one) => { one.open = false; }); // little room
begin();
