// What has the focus is called; of a radio button, its group.
() => {
  const node = document.activeElement;
  const group = node.type === "radio" ? node.closest("[role=radiogroup]") : node;
  return group.getAttribute("aria-label") || node.textContent.trim();
}
