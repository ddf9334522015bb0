// The rows of a question. Rows for follow-up labels come with the page and appear when the answers so far call for them.
"use strict";

const labelOf = (row) => row.querySelector("[name^=label-]").value;
const extras = () => [...document.querySelectorAll("fieldset.extra")];
const rows = () => [...document.querySelectorAll("fieldset.row:not([hidden])")].filter(labelOf); // an extra row counts once it has a label
const radios = (row) => [...row.querySelectorAll("input[type=radio]")];
const levels = (row) => radios(row).filter((radio) => radio.value !== "?");
const numberOf = (row) => row.querySelector("input[type=text]");
const costOf = (row) => (numberOf(row) ? numberOf(row).value.trim() : radios(row).find((radio) => radio.checked)?.value) || "";
const isFilled = (row) => costOf(row) !== "";
const empty = () => rows().find((row) => !isFilled(row));
const current = () => document.querySelector("fieldset.row.current:not([hidden])");
const least = () => (form().dataset.floor);
const greatest = () => (form().dataset.ceiling);

function mark(row) {
  document.querySelectorAll("fieldset.row").forEach((other) => other.classList.toggle("current", other === row));
}

function goTo(row) {
  mark(row);
  const place = row ? numberOf(row) || radios(row).find((radio) => radio.checked) || radios(row)[0] : byId("send");
  if (place) place.focus();
  if (row) row.scrollIntoView({ block: "nearest" });
}

function put(row, value) {
  if (!row) return;
  if (numberOf(row)) numberOf(row).value = value;
  radios(row).forEach((radio) => { radio.checked = radio.value === value; });
}

// The value that a row has for the least or the greatest cost of the scale.
function end(row, cost) {
  const found = levels(row).find((radio) => Number(radio.value) === Number(cost));
  return found ? found.value : numberOf(row) ? cost : (Number(cost) === Number(least()) ? levels(row)[0] : levels(row).at(-1)).value;
}

// ---- follow-up rows ---------------------------------------------------------------------------------------------

const later = () => [...document.querySelectorAll("fieldset.later")];

// A cost as the server compares costs: a share of the scale, in 32 bits.
function share(cost) {
  const floor = Number(least()), ceiling = Number(greatest());
  return Math.fround((Number(cost) - floor) / (ceiling - floor));
}

function known(row) {
  const cost = costOf(row);
  return cost === "" || cost === "?" || !Number.isFinite(Number(cost)) ? Infinity : share(cost);
}

// Show the follow-up rows that the rule asks for, one after the other; the new one, if there is one.
function reveal() {
  if (!form() || !later().length) return;
  const extra = extras().filter((row) => labelOf(row) && isFilled(row));
  const base = rows().filter((row) => !row.matches(".later, .extra"));
  let lowest = Math.min(Infinity, ...[...base, ...extra].map(known));
  let settled = base.every(isFilled);
  for (const row of later()) {
    const wanted = settled && lowest > Number(row.dataset.needless) && !extra.some((one) => labelOf(one) === labelOf(row));
    if (wanted && row.hidden) announce("Next label: " + labelOf(row));
    if (!wanted) put(row, "");
    row.hidden = row.disabled = !wanted;
    if (wanted) { settled = isFilled(row); lowest = Math.min(lowest, known(row)); }
  }
}

// ---- filling ----------------------------------------------------------------------------------------------------

function fill(row, value) {
  if (!numberOf(row) && !radios(row).some((radio) => radio.value === value)) return;
  put(row, value);
  goOn(row);
}

// After a row: to the next empty one or, after the last, to sending.
function goOn(row) {
  reveal();
  keepDraft();
  const all = rows();
  const next = all.slice(all.indexOf(row) + 1).find((other) => !isFilled(other)) || empty();
  if (next) goTo(next);
  else finish(all.length);
}

function clearLast() {
  const row = rows().filter(isFilled).at(-1);
  if (!row) return false;
  put(row, "");
  if (row.matches(".extra")) row.querySelector("select").value = "";
  reveal();
  keepDraft();
  goTo(row.hidden ? empty() : row);
  return true;
}

// One label is right and costs the least; all other rows cost the most.
function rightOne(row) {
  if (!row || !labelOf(row)) return;
  for (const other of rows()) put(other, end(other, other === row ? least() : greatest()));
  goOn(row);
}

function othersWrong() {
  const open = rows().filter((row) => !isFilled(row));
  for (const row of open) put(row, end(row, greatest()));
  if (open.length) goOn(open.at(-1));
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

function rowOf(label) {
  const row = rows().find((one) => labelOf(one) === label);
  if (row) return row;
  const extra = extraRow();
  if (extra) extra.querySelector("select").value = label;
  return extra && labelOf(extra) ? extra : null;
}
