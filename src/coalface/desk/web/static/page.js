// The parts of the page, and messages. Without scripts every page works as plain HTML forms.
"use strict";

const main = () => document.getElementById("main");
const form = () => document.getElementById("answer");
const byId = (id) => document.getElementById(id);
const say = (text) => { byId("status").textContent = text; };
// For screen readers only; the same text again is not a change.
const announce = (text) => { if (byId("announce").textContent !== text) byId("announce").textContent = text; };

// Settings of this browser; the page works without them.
function remember(name, value) {
  try { localStorage.setItem("coalface " + name, value); } catch { /* nothing is remembered */ }
}

function recall(name) {
  try { return localStorage.getItem("coalface " + name); } catch { return null; }
}

// ---- the example ------------------------------------------------------------------------------------------------

const exampleText = () => document.querySelector(".example .text");
const placeName = () => "coalface place " + main().dataset.example;

// A long text stays where the annotator left it, also after a reload and when rows are added.
function keepPlace() {
  try { if (exampleText()) sessionStorage.setItem(placeName(), String(exampleText().scrollTop)); } catch { /* starts at the top */ }
}

function restorePlace() {
  let top = null;
  try { top = sessionStorage.getItem(placeName()); } catch { /* starts at the top */ }
  if (exampleText() && top) exampleText().scrollTop = Number(top);
}

const ZOOMS = ["fit", "double", "fourfold"];

function zoom() {
  const shown = document.querySelector(".example img"), larger = byId("larger");
  if (!shown || !larger) return;
  const image = larger.querySelector("img");
  image.src = shown.src;
  image.alt = shown.alt;
  image.className = ZOOMS[0];
  larger.showModal();
}

function zoomOn(image) {
  image.className = ZOOMS[(ZOOMS.indexOf(image.className) + 1) % ZOOMS.length];
}
