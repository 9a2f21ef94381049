"use strict";
// One question at a time. Texts become text nodes, never markup. Answers are kept in the browser under the run until they are saved.
const { run_id, started, strings: t, questions } = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const KEYS = { d: "duplicate", f: "different", p: "protect", s: "skip", 1: "duplicate", 2: "different", 3: "protect", 4: "skip" };
const STORE = `dedup-review:${run_id}:${started}`;
let answers = {}, history = [], at = 0, whole = false;

function remember() {
  try {
    localStorage.setItem(STORE, JSON.stringify({ answers, history }));
    localStorage.setItem("dedup-review:judge", $("judge").value);
  } catch { /* a browser may forbid it; the page works without */ }
}

function recall() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORE)) || {};
    const known = new Set(questions.map((question) => question.key));
    answers = Object.fromEntries(Object.entries(kept.answers || {}).filter(([key]) => known.has(key)));
    history = (kept.history || []).filter((key) => known.has(key));
    $("judge").value = localStorage.getItem("dedup-review:judge") || "";
  } catch { answers = {}; history = []; }
}

function put(element, parts) {
  element.replaceChildren(...parts.map(([tag, text]) => {
    if (!tag) return document.createTextNode(text);
    const node = document.createElement(tag);
    node.textContent = text;
    return node;
  }));
}

function show() {
  const question = questions[at], answered = Object.keys(answers).length;
  $("progress").max = questions.length || 1;
  $("progress").value = answered;
  $("count").textContent = t.count.replace("{at}", Math.min(at + 1, questions.length)).replace("{all}", questions.length).replace("{answered}", answered);
  $("question").hidden = !question;
  $("done").hidden = Boolean(question);
  for (const button of document.querySelectorAll("[data-answer]")) {
    button.disabled = !question;
    button.setAttribute("aria-pressed", String(Boolean(question) && answers[question.key]?.verdict === button.dataset.answer));
  }
  $("whole").setAttribute("aria-pressed", String(whole));
  if (!question) return;
  $("ask").textContent = question.ask;
  $("why").textContent = question.why;
  [["del"], ["ins"]].forEach(([mine], side) => {
    $(`id${side}`).textContent = question.shown_ids[side];
    $(`title${side}`).textContent = question.titles[side];
    const parts = whole ? [["", question.texts[side]]] : question.pieces.filter(([kind]) => !kind || kind === mine);
    put($(`text${side}`), parts);
    $(`text${side}`).scrollTop = 0;
  });
  window.scrollTo(0, 0);
}

function next() {
  const open = (place) => place < questions.length && answers[questions[place].key];
  do at += 1; while (open(at));
  if (at >= questions.length) {
    const first = questions.findIndex((question) => !answers[question.key]);
    at = first < 0 ? questions.length : first;
  }
}

function answer(verdict) {
  const question = questions[at];
  if (!question) return;
  answers[question.key] = { verdict, judged_at: new Date().toISOString() };
  history = history.filter((key) => key !== question.key).concat(question.key);
  next();
  remember();
  show();
}

function undo() {
  const key = history.pop();
  if (!key) return;
  delete answers[key];
  at = questions.findIndex((question) => question.key === key);
  remember();
  show();
}

function move(by) {
  at = Math.max(0, Math.min(questions.length - 1, at + by));
  show();
}

function save() {
  const judged_by = $("judge").value.trim() || null;
  const verdicts = questions.filter((question) => answers[question.key] && answers[question.key].verdict !== "skip").map((question) => ({
    question: question.key, doc_id: question.ids[0], kept_id: question.ids[1], ...answers[question.key],
  }));
  const file = new Blob([JSON.stringify({ format: "dedup-verdicts", version: 1, run_id, judged_by, verdicts }, null, 1)], { type: "application/json" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `verdicts-${run_id}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  remember();
}

document.addEventListener("keydown", (event) => {
  if (event.target === $("judge") || event.ctrlKey || event.metaKey || event.altKey) return;
  // An input method hides the letter; the place of the key tells it.
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.code.replace(/^(Key|Digit)/, "").toLowerCase();
  if (KEYS[key]) answer(KEYS[key]);
  else if (key === "u" || event.key === "Backspace") undo();
  else if (key === "e") save();
  else if (key === "t") { whole = !whole; show(); }
  else if (event.key === "ArrowLeft") move(-1);
  else if (event.key === "ArrowRight") move(1);
  else return;
  event.preventDefault();
});
for (const button of document.querySelectorAll("[data-answer]")) button.addEventListener("click", () => answer(button.dataset.answer));
$("undo").addEventListener("click", undo);
$("back").addEventListener("click", () => move(-1));
$("on").addEventListener("click", () => move(1));
$("whole").addEventListener("click", () => { whole = !whole; show(); });
$("save").addEventListener("click", save);
$("judge").addEventListener("change", remember);
recall();
at = -1;
next();
show();
