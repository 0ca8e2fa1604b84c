for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const rows = [...table.querySelectorAll("tbody tr")];
  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => row.cells[place].dataset.value ?? row.cells[place].textContent.trim();
      const order = (one, other) => {
        const a = value(one), b = value(other);
        if (!a !== !b) return a ? -1 : 1;
        const by = a - b;
        return (Number.isNaN(by) ? a.localeCompare(b) : by) * (down ? -1 : 1);
      };
      body.append(...rows.sort(order));
    });
  });
}
for (const letter of document.querySelectorAll("blockquote.letter")) {
  const button = document.createElement("button"), { copy, copied, text } = letter.dataset;
  button.type = "button";
  button.className = "copy";
  button.textContent = copy;
  const put = (event) => {
    event.clipboardData.setData("text/plain", text);
    event.clipboardData.setData("text/html", letter.innerHTML);
    event.preventDefault();
  };
  button.addEventListener("click", () => {
    // a file has no other clipboard, and some browsers copy nothing where nothing is selected
    getSelection().selectAllChildren(letter);
    document.addEventListener("copy", put, { once: true });
    if (document.execCommand("copy")) button.textContent = copied;
    document.removeEventListener("copy", put);
    getSelection().removeAllRanges();
  });
  letter.before(button);
}
const closeQuotes = (inside) => {
  for (const one of document.querySelectorAll("details[name=quote][open]")) if (!one.contains(inside)) one.open = false;
};
document.addEventListener("click", (event) => {
  closeQuotes(event.target);
  // words that were just selected are to be copied, and open nothing
  if (event.target.closest(".opens>summary") && !getSelection().isCollapsed) event.preventDefault();
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape") closeQuotes(null); });
