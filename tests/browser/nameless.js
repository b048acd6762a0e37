// What people can use or should see, and that has no name for those who cannot see it.
() => [...document.querySelectorAll("button, a, input:not([type=hidden]), select, svg[role=img], progress, summary")]
  .filter((node) => node.checkVisibility())
  .filter((node) => !(
    node.getAttribute("aria-label") || node.getAttribute("aria-labelledby") || node.textContent.trim()
    || [...(node.labels ?? [])].some((label) => label.textContent.trim()) || node.querySelector("title")))
  .map((node) => node.outerHTML.slice(0, 120))
