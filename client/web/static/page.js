// What the page does beyond links and forms, which work without it.
const find = (selector, root = document) => root.querySelector(selector);
const stage = find(".stage"), panel = find("#source");
let cite = null;

const show = async (url) => {
  panel.hidden = false;
  await htmx.ajax("GET", url, { target: panel, swap: "innerHTML" });
  const mark = find("#quote", panel);
  panel.scrollTop = mark ? mark.offsetTop - panel.clientHeight / 3 : 0;
  panel.focus({ preventScroll: true });
};
const openCite = (link) => {
  cite?.removeAttribute("aria-current");
  cite = link;
  cite.setAttribute("aria-current", "true");
  const claim = link.closest(".cites:not(.together)")?.previousElementSibling;
  const id = link.dataset.sentence ?? (claim?.classList.contains("claim") ? claim.id : "");
  const url = new URL(link.href);
  if (id) url.searchParams.set("sentence", id);
  show(url.pathname + url.search);
};
const step = (by) => {
  const all = [...document.querySelectorAll(".paper a.cite, #conversation a.cite")];
  const next = all[cite && all.includes(cite) ? all.indexOf(cite) + by : by > 0 ? 0 : all.length - 1];
  if (!next) return;
  next.scrollIntoView({ block: "center" });
  openCite(next);
};
const close = () => {
  if (!panel || panel.hidden) return false;
  panel.hidden = true;
  cite?.removeAttribute("aria-current");
  cite?.focus({ preventScroll: true });
  return true;
};
const chip = (input) => {
  const shows = find(`[data-shows="${input.name}"]`);
  if (!shows) return;
  const chosen = [...document.querySelectorAll(`[name="${input.name}"]:checked`)];
  shows.textContent = chosen.map((one) => one.dataset.label).join(", ") || shows.dataset.else;
};
const move = (button) => {
  const card = button.closest(".card");
  if (button.dataset.move === "up") card.previousElementSibling?.before(card);
  else if (button.dataset.move === "down") card.nextElementSibling?.after(card);
  else if (card.parentElement.children.length > 1) return card.remove();
  button.focus();
};
const addCard = () => {
  const cards = find("[data-cards]"), card = cards.lastElementChild.cloneNode(true);
  for (const input of card.querySelectorAll("input, textarea")) input.value = "";
  cards.append(card);
  find("[name=title]", card).focus();
};
// Presses what has the key, or moves into it where that is a field of text.
const press = (key) => {
  const hit = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key);
  if (!hit) return false;
  hit.matches("input:not([type=radio])") ? hit.focus() : hit.click();
  return true;
};

const openSentence = (claim) => show(`${stage.dataset.run}/sentence/${encodeURIComponent(claim.id)}`);
// A sentence opens its quotes by key too.
for (const claim of stage ? document.querySelectorAll(".paper .claim:not(:empty)") : []) claim.tabIndex = 0, claim.role = "button";

document.addEventListener("click", (event) => {
  const at = (selector) => event.target.closest?.(selector);
  for (const menu of document.querySelectorAll("details.chip[open]:not(.more)")) if (!menu.contains(event.target)) menu.open = false;
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  let hit;
  if (stage && (hit = at("a.cite, a.work"))) event.preventDefault(), openCite(hit);
  else if (stage && (hit = at("[data-panel]"))) event.preventDefault(), show(hit.pathname);
  else if ((hit = at("[data-step]"))) step(Number(hit.dataset.step));
  else if (at("[data-close]")) close();
  else if ((hit = at("[data-move]"))) move(hit);
  else if (at("[data-add-card]")) addCard();
  else if ((hit = at("[data-clears]"))) for (const input of hit.form.querySelectorAll("[name=answers]")) input.value = "";
  else if ((hit = at("[data-fills]"))) {
    event.preventDefault();
    const box = document.getElementById(hit.dataset.fills);
    box.value = hit.textContent;
    box.focus();
  } else if (stage && (hit = at(".claim")) && getSelection().isCollapsed) openSentence(hit);
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input:not([type=checkbox],[type=radio]), textarea, select");
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target.matches?.("[data-enter]")) {
    event.preventDefault();
    if (event.target.value.trim()) event.target.form.requestSubmit(find("button.primary, button:not([name])", event.target.form));
  } else if (event.key === "Escape") {
    const menu = find("details.chip[open]");
    if (menu) (menu.open = false), find("summary", menu).focus();
    else close();
  } else if (stage && event.key === "Enter" && event.target.matches?.(".claim")) openSentence(event.target);
  else if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  else if (press(event.key)) event.preventDefault();
  else if (event.key === "/") event.preventDefault(), (find("main .box textarea, .talk textarea") ?? find(".runs [type=search]")).focus();
  else if (event.key === "?") find("#help").togglePopover();
  else if (stage && (event.key === "j" || event.key === "k")) step(event.key === "j" ? 1 : -1);
});
// Words that are marked in a text go into the box of a quote that was entered last.
let quote = null;
document.addEventListener("focusin", ({ target }) => { if (target.matches("[data-quote]")) quote = target; });
document.addEventListener("mouseup", (event) => {
  const words = getSelection().toString().trim();
  if (words && quote?.isConnected && event.target.closest?.(".stored")) quote.value = words;
});
document.addEventListener("change", (event) => chip(event.target));
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.dataset.busy) return;
  const button = event.submitter ?? find("button", form);
  setTimeout(() => { button.textContent = form.dataset.busy; button.disabled = true; });
});
document.addEventListener("htmx:after:request", (event) => {
  const form = event.target;
  if (!form.matches?.("form") || !(event.detail.ctx?.response?.status < 400)) return;
  if ("clearsAfter" in form.dataset) find("textarea", form).value = "";
  if ("talks" in form.dataset) close();
});
document.addEventListener("htmx:after:swap", () => {
  const last = find("#conversation")?.lastElementChild;
  if (last?.matches(".turn[tabindex], .trouble") && !last.dataset.seen) {
    last.dataset.seen = "true";
    last.scrollIntoView({ block: "start" });
    last.focus({ preventScroll: true });
  }
});
document.addEventListener("run-changed", () => location.reload());
document.addEventListener("htmx:sse:error", (event) => { if (event.detail.status === 401) location.reload(); });
