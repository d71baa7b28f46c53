// The page says everything without this; with it, findings can be searched and filtered.
"use strict";
(() => {
  const form = document.getElementById("filter");
  const { words, kind, rule } = form.elements;
  const files = [...document.querySelectorAll("details.file")];
  const parts = files.map((file) => [file, [...file.querySelectorAll("ul.findings > li")]]);
  const total = parts.reduce((sum, [, findings]) => sum + findings.length, 0);

  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const [file, findings] of parts) {
      const path = file.dataset.path.toLowerCase();
      let inFile = 0;
      for (const finding of findings) {
        const text = path + " " + finding.textContent.toLowerCase();
        finding.hidden =
          (kind.value !== "" && finding.dataset.kind !== kind.value) ||
          (rule.value !== "" && finding.dataset.rule !== rule.value) ||
          !wanted.every((word) => text.includes(word));
        if (!finding.hidden) inFile += 1;
      }
      file.hidden = inFile === 0;
      left += inFile;
    }
    form.elements.count.value = left + " of " + total;
  };

  // A line in a closed file cannot be scrolled to.
  const open = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const file = target && target.closest("details.file");
    if (!file) return;
    file.open = true;
    file.hidden = false;
    target.scrollIntoView({ block: "center" });
  };

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const link of document.querySelectorAll("a[data-rule]")) {
    link.addEventListener("click", () => {
      rule.value = link.dataset.rule;
      filter();
    });
  }
  window.addEventListener("hashchange", open);
  form.hidden = false;
  filter();
  open();
})();
