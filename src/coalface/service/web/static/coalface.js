// Keyboard control, drafts and lease renewal for plain HTML forms. Without this script every page works by mouse.
"use strict";

const RENEW_EVERY = 120000; // milliseconds; a lease lasts 600 seconds
const RESEND_AFTER = 5000; // milliseconds
let shownAt = 0;
let busy = false;
let touched = false; // the annotator has done something since the last renewal; an idle page renews no lease
let refreshTimer = 0;
let resendTimer = 0;

const main = () => document.getElementById("main");
const form = () => document.getElementById("answer");
const extras = () => [...document.querySelectorAll("fieldset.extra")];
const labelOf = (row) => row.querySelector("[name^=label-]").value;
const rows = () => [...document.querySelectorAll("fieldset.row")].filter(labelOf); // an extra row counts once it has a label
const say = (text) => { document.getElementById("status").textContent = text; };

// ---- rows -------------------------------------------------------------------------------------------------------

const radios = (row) => [...row.querySelectorAll("input[type=radio]")];
const numberOf = (row) => row.querySelector("input[type=text]");
const isFilled = (row) => (numberOf(row) ? numberOf(row).value.trim() !== "" : radios(row).some((radio) => radio.checked));
const current = () => document.querySelector("fieldset.row.current");

function goTo(row) {
  rows().forEach((other) => other.classList.toggle("current", other === row));
  const place = row ? numberOf(row) || radios(row).find((radio) => radio.checked) || radios(row)[0]
    : document.getElementById("send");
  if (place) place.focus({ preventScroll: false });
}

function fill(row, value) {
  if (!numberOf(row) && !radios(row).some((radio) => radio.value === value)) return;
  put(row, value);
  keepDraft();
  const all = rows();
  goTo(all.slice(all.indexOf(row) + 1).find((other) => !isFilled(other)) || all.find((other) => !isFilled(other)));
}

function clearLast() {
  const filled = rows().filter(isFilled);
  const row = filled[filled.length - 1];
  if (!row) return false;
  put(row, "");
  if (extras().includes(row)) row.querySelector("select").value = "";
  keepDraft();
  goTo(row);
  return true;
}

// A row for a label that was not asked: the empty one, or a copy of it with the next number.
function extraRow() {
  let row = extras().find((one) => !labelOf(one));
  if (!row) {
    const last = extras().at(-1);
    if (!last) return null;
    row = last.cloneNode(true);
    const place = document.querySelectorAll("fieldset.row").length;
    for (const one of row.querySelectorAll("[name]")) {
      one.name = one.name.replace(/-[0-9]+$/, "-" + place);
      if (one.type === "radio") one.checked = false;
      else one.value = "";
    }
    last.after(row);
  }
  document.querySelector("details.more").open = true;
  return row;
}

// ---- drafts -----------------------------------------------------------------------------------------------------

const draftName = () => form() && form().dataset.draft && "coalface " + form().dataset.draft;
const costOf = (row) => (numberOf(row) ? numberOf(row).value : radios(row).find((radio) => radio.checked)?.value) || "";

// A draft is a list of [label, cost], one per filled row, and of ["", note].
function keepDraft() {
  if (!draftName()) return;
  const values = rows().map((row) => [labelOf(row), costOf(row)]).filter(([, cost]) => cost);
  values.push(["", form().elements.note.value]);
  try { localStorage.setItem(draftName(), JSON.stringify(values)); } catch { /* the page works without drafts */ }
}

function dropDraft(name) {
  try { if (name) localStorage.removeItem(name); } catch { /* the page works without drafts */ }
}

function restoreDraft() {
  let values = [];
  try { values = JSON.parse(localStorage.getItem(draftName()) || "[]"); } catch { /* a draft that cannot be read is ignored */ }
  for (const [label, value] of values) {
    if (label) put(rowOf(label), value);
    else form().elements.note.value = value;
  }
}

function rowOf(label) {
  const row = rows().find((one) => labelOf(one) === label);
  if (row) return row;
  const extra = extraRow();
  if (extra) extra.querySelector("select").value = label;
  return extra && labelOf(extra) ? extra : null;
}

function put(row, value) {
  if (!row) return;
  if (numberOf(row)) numberOf(row).value = value;
  radios(row).forEach((radio) => { radio.checked = radio.value === value; });
}

// ---- sending ----------------------------------------------------------------------------------------------------

async function post(action, fields, draft, whenUnreachable) {
  if (busy) return;
  busy = true;
  clearTimeout(resendTimer);
  say("");
  const received = await fetch(action, { method: "POST", body: new URLSearchParams(fields), credentials: "same-origin" })
    .then(async (reply) => ({ reply, text: await reply.text() })).catch(() => null);
  busy = false;
  if (!received) { whenUnreachable(); return; }
  const { reply, text } = received;
  if (new URL(reply.url).pathname === "/login") location.assign("/login");
  else if (reply.ok) { dropDraft(draft); show(text); }
  else {
    const wrong = new DOMParser().parseFromString(text, "text/html").querySelector(".wrong");
    say("Not sent: " + (wrong?.textContent || reply.statusText) + " Your answer is kept in this browser.");
  }
}

function send(button) {
  const open = rows().find((row) => !isFilled(row));
  if (open) { say("A row is empty. Choose a cost, or press Space if you can't tell."); goTo(open); return; }
  form().elements.seconds.value = ((performance.now() - shownAt) / 1000).toFixed(2);
  post(form().action, new FormData(form(), button), draftName(), () => {
    say("Not sent (server unreachable). Your answer is kept in this browser and will be sent again.");
    resendTimer = setTimeout(() => send(button), RESEND_AFTER);
  });
}

function undo() {
  if (clearLast()) return;
  post("/undo", [["csrf", form().elements.csrf.value]], null, () => say("Not undone (server unreachable). Try again later."));
}

function show(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const open = [...document.querySelectorAll("details")].map((one) => one.className + one.open);
  main().replaceWith(document.adoptNode(page.getElementById("main")));
  document.querySelectorAll("details.recent").forEach((one) => { one.open = open.includes(one.className + "true"); });
  begin();
}

async function refresh() {
  let text = "";
  try {
    const answer = await fetch(location.pathname, { credentials: "same-origin" });
    if (new URL(answer.url).pathname !== location.pathname) { location.assign(answer.url); return; }
    if (answer.ok) text = await answer.text();
  } catch { /* the server is unreachable */ }
  if (text && !busy) show(text);
  else refreshTimer = setTimeout(refresh, 5000);
}

// ---- keys -------------------------------------------------------------------------------------------------------

const typing = (place) => place.matches?.("textarea, select, input[type=text], input[type=search], input[type=password]");
const pressing = (place) => place.matches?.("button, a, summary");

function choose(digit) {
  const labels = [...document.querySelectorAll("[data-label]:not([hidden])")];
  if (labels.length) { if (digit > 0) labels[digit - 1]?.click(); return; }
  const row = current() || rows()[0];
  const levels = row && !numberOf(row) ? radios(row).filter((radio) => radio.value !== "?") : [];
  if (levels[digit]) fill(row, levels[digit].value);
}

function cantTell(row) {
  if (row) fill(row, "?");
  else document.getElementById("unsure")?.click();
}

const KEYS = {
  u: undo,
  h: () => document.getElementById("help-text")?.showModal(),
  n: () => { const note = document.querySelector("details.note"); if (note) { note.open = true; note.querySelector("textarea").focus(); } },
  "+": () => extraRow()?.querySelector("select").focus(),
  "/": () => document.getElementById("search")?.focus(),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !form() || document.querySelector("dialog[open]")) return;
  const place = event.target;
  const row = place.closest?.("fieldset.row");
  let act = null;
  if (event.key === "Escape" && typing(place)) act = () => place.blur();
  else if (event.key === "Enter" && !pressing(place) && place.tagName !== "TEXTAREA" && rows().length) {
    const next = row && numberOf(row) && rows().find((other) => !isFilled(other));
    act = next && next !== row ? () => goTo(next) : () => send(document.getElementById("send"));
  } else if (event.key === " " && row && numberOf(row) === place) act = () => cantTell(row);
  else if (typing(place) && !(place === (row && numberOf(row)) && /^[unh+]$/i.test(event.key))) return; // numbers contain none of these letters
  else if (event.key === " " && !pressing(place)) act = () => cantTell(current() || rows()[0]);
  else if (/^[0-9]$/.test(event.key)) act = () => choose(Number(event.key));
  else act = KEYS[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  if (!event.repeat) act();
}

// ---- start ------------------------------------------------------------------------------------------------------

function begin() {
  shownAt = performance.now();
  clearTimeout(refreshTimer);
  if (main().dataset.refresh) refreshTimer = setTimeout(refresh, 1000 * Number(main().dataset.refresh));
  if (draftName()) restoreDraft();
  if (rows().length) goTo(rows().find((row) => !isFilled(row)));
}

function search(text) {
  let key = 0;
  for (const button of document.querySelectorAll("[data-label]")) {
    button.hidden = !button.value.toLowerCase().includes(text.trim().toLowerCase());
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
  else if (event.target.closest("#answer")) keepDraft();
});
document.addEventListener("change", (event) => {
  const row = event.target.closest("fieldset.row");
  if (event.target.tagName === "SELECT" && labelOf(row)) { extraRow(); goTo(row); }
  if (row && event.target.type === "radio") goTo(rows().find((other) => !isFilled(other)) || row);
});
document.addEventListener("focusin", (event) => {
  const row = event.target.closest("fieldset.row");
  if (row) rows().forEach((other) => other.classList.toggle("current", other === row));
});
document.addEventListener("click", (event) => {
  if (event.target.closest("#help")) KEYS.h();
  const unsure = event.target.closest("[data-unsure]");
  if (unsure) cantTell(unsure.closest("fieldset.row"));
});
document.addEventListener("submit", (event) => {
  if (event.target !== form()) return;
  event.preventDefault();
  if (event.submitter && event.submitter.id === "undo") undo();
  else send(event.submitter);
});
for (const kind of ["keydown", "pointerdown", "scroll"]) document.addEventListener(kind, () => { touched = true; }, { passive: true });
setInterval(renew, RENEW_EVERY);
begin();
