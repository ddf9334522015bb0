// A dialog to find a label by its name: for the right one, or to add another label's cost.
"use strict";

let picked = null; // what to do with the label
const options = () => [...document.querySelectorAll("[data-pick]:not([hidden])")];
const active = () => document.querySelector("[data-pick][aria-selected=true]");
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase(); // é is found by e

function pick(title, act, among) {
  const dialog = byId("picker");
  if (!dialog) return;
  picked = act;
  byId("picker-title").textContent = title;
  byId("pick").value = "";
  for (const one of document.querySelectorAll("[data-pick]")) one.classList.toggle("out", Boolean(among) && !among.includes(one.dataset.pick));
  narrow("");
  dialog.showModal();
  byId("pick").focus();
}

function narrow(text) {
  for (const one of document.querySelectorAll("[data-pick]")) {
    one.hidden = one.classList.contains("out") || !plain(one.dataset.pick).includes(plain(text.trim()));
  }
  byId("pick-none").hidden = options().length > 0;
  activate(options()[0]);
}

function activate(option) {
  document.querySelectorAll("[data-pick]").forEach((one) => one.setAttribute("aria-selected", String(one === option)));
  byId("pick").setAttribute("aria-activedescendant", option ? option.id : "");
  option?.scrollIntoView({ block: "nearest" });
}

function choosePicked(option) {
  if (!option) return;
  byId("picker").close();
  picked?.(option.dataset.pick);
}

const findRight = () => pick("Which one is right?", (label) => rightOne(rowOf(label)));
const addLabel = () => {
  const names = [...(extras()[0]?.querySelectorAll("option") || [])].map((one) => one.value);
  if (names.length) pick("Add the cost of another label", (label) => goTo(rowOf(label)), names);
};

document.addEventListener("keydown", (event) => {
  if (event.target.id !== "pick") return;
  if (["ArrowDown", "ArrowUp", "Enter", "Escape"].includes(event.key)) event.stopImmediatePropagation(); // it is no key of the page as well
  const all = options(), place = all.indexOf(active());
  if (event.key === "ArrowDown") activate(all[Math.min(place + 1, all.length - 1)]);
  else if (event.key === "ArrowUp") activate(all[Math.max(place - 1, 0)]);
  else if (event.key === "Enter") choosePicked(active());
  else if (event.key === "Escape") byId("picker").close();
  else return;
  event.preventDefault();
});
