// Drafts: rows that are filled in but not sent survive a reload.
"use strict";

const draftName = () => form() && form().dataset.draft && "coalface " + form().dataset.draft;

// A draft is a list of [label, cost], one per filled row, and of ["", note, flag].
function keepDraft() {
  if (!draftName()) return;
  const values = rows().map((row) => [labelOf(row), costOf(row)]).filter(([, cost]) => cost);
  values.push(["", byId("note").value, byId("flag").checked]);
  try { localStorage.setItem(draftName(), JSON.stringify(values)); } catch { /* the page works without drafts */ }
}

function dropDraft(name) {
  try { if (name) localStorage.removeItem(name); } catch { /* the page works without drafts */ }
}

function restoreDraft() {
  let values = [];
  try { values = JSON.parse(localStorage.getItem(draftName()) || "[]"); } catch { /* a draft that cannot be read is ignored */ }
  for (const [label, value, flag] of values) {
    if (label) { put(rowOf(label), value); reveal(); }
    else { byId("note").value = value; byId("flag").checked = Boolean(flag); }
  }
  if (byId("note").value) document.querySelector("details.note").open = true;
}
