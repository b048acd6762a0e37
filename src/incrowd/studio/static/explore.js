// Compare: a point of the picture does what the button of its row does, and shows which one that is.
"use strict";
(() => {
  const $ = (selector) => document.querySelector(selector);
  const row = (element) => element.closest?.("[data-row]")?.dataset.row ?? element.closest?.("#settings tbody tr")?.id.slice(4);
  const light = (event) => {
    const number = row(event.target);
    for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
    if (number === undefined) return;
    for (const each of document.querySelectorAll(`[data-row="${number}"], #row-${number}`)) each.classList.add("lit");
  };
  document.addEventListener("pointerover", light);
  document.addEventListener("focusin", light);
  document.addEventListener("click", (event) => { const point = event.target.closest?.(".point"); if (point) $(`#take-${point.dataset.row}`)?.click(); });
  document.addEventListener("keydown", (event) => {
    if (!event.target.matches?.(".point") || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    $(`#take-${event.target.dataset.row}`)?.click();
  });
})();

// The slider through the steps of a search: what it points at is fetched, and of several answers the last one counts.
(() => {
  let wanted = null, busy = false, at = { search: "", place: "" };  // where somebody has put it
  const slider = () => document.querySelector("#step-slider");
  const announce = (input) => {
    const steps = JSON.parse(input.dataset.steps);
    input.setAttribute("aria-valuetext", `step ${steps[input.value]} of ${steps.at(-1)}`);
  };
  const show = async () => {
    if (busy || wanted === null) return;
    const place = wanted;
    wanted = null;
    busy = true;
    try { await htmx.ajax("GET", `/release/step/${place}`, { target: "#step", swap: "outerMorph" }); } finally { busy = false; show(); }
  };
  document.addEventListener("input", (event) => {
    if (event.target.id !== "step-slider") return;
    at = { search: event.target.dataset.search, place: event.target.value };
    announce(event.target);
    wanted = at.place;
    show();
  });
  // The screen was shown anew: the slider stays where it was put, unless it is about another search or release.
  document.addEventListener("htmx:after:swap", () => {
    const input = slider();
    if (!input || busy) return;
    const place = at.search === input.dataset.search ? at.place : input.getAttribute("value");
    if (input.value !== place) input.value = place;
    announce(input);
    if (document.querySelector("#step")?.dataset.stop !== place) { wanted = place; show(); }
  });
})();
