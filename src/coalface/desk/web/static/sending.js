// Sending answers, skips and undos, and showing the page that comes back.
"use strict";

const RESEND_AFTER = 5000; // milliseconds
let shownAt = 0;
let busy = false;
let refreshTimer = 0;
let resendTimer = 0;

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
  if (new URL(reply.url).pathname.endsWith("/login")) location.assign(reply.url);
  else if (reply.ok) { dropDraft(draft); show(text); }
  else {
    const wrong = new DOMParser().parseFromString(text, "text/html").querySelector(".wrong");
    say("Not sent: " + (wrong?.textContent || reply.statusText) + " Your answer is kept in this browser.");
  }
}

const unreachable = (what) => () => say(what + " (server unreachable). Try again later.");

function send(button) {
  const open = empty();
  if (open) { say("A row is empty. Choose a cost, or can't tell."); goTo(open); return; }
  if (byId("flag").checked && !byId("note").value.trim()) { say("A flag needs a note. Write what is wrong."); openNote(); return; }
  form().elements.seconds.value = ((performance.now() - shownAt) / 1000).toFixed(2);
  post(form().action, new FormData(form(), button), draftName(), () => {
    say("Not sent (server unreachable). Your answer is kept in this browser and will be sent again.");
    resendTimer = setTimeout(() => send(button), RESEND_AFTER);
  });
}

// After the last row: send, or wait for Enter, as the annotator has set it.
function finish(n) {
  const mode = recall("sending") || "one";
  if (mode === "always" || (mode === "one" && n === 1)) send(byId("send"));
  else goTo(null);
}

function undo() {
  if (clearLast()) return;
  const button = byId("undo");
  if (button) post(button.formAction, [["csrf", form().elements.csrf.value]], null, unreachable("Not undone"));
}

function redo() {
  const again = byId("redo");
  if (again) post(again.action, new FormData(again), null, unreachable("Not sent"));
}

function skip() {
  const button = byId("skip");
  if (!button) return;
  if (byId("flag").checked && !byId("note").value.trim()) { say("A flag needs a note. Write what is wrong."); openNote(); return; }
  post(button.formAction, new FormData(form()), draftName(), unreachable("Not skipped"));
}

function show(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const open = new Map([...document.querySelectorAll("details.recent, details.guidelines")].map((one) => [one.className, one.open]));
  main().replaceWith(document.adoptNode(page.getElementById("main")));
  for (const one of document.querySelectorAll("details.recent, details.guidelines")) one.open = open.get(one.className) ?? one.open;
  begin();
  if (form()) announceQuestion();
}

// What a screen reader says when a question appears without a new page.
function announceQuestion() {
  const heading = main().querySelector("h1")?.textContent || "";
  const about = byId("example")?.textContent.trim().slice(0, 500) || byId("example")?.querySelector("img")?.alt || "";
  const notice = main().querySelector(".notice span")?.textContent || "";
  announce([notice, about && "New example: " + about, heading, rows().map(labelOf).join(", ")].filter(Boolean).join(". "));
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
