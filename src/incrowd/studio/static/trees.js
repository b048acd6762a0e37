// Editing hierarchies: choosing in a tree and among intervals, with mouse, keyboard or touch; the server does the rest.
"use strict";
(() => {
  const $ = (selector, inside = document) => inside.querySelector(selector);
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const tree = () => $("#tree");
  const chosen = new Set(), folded = new Map();  // ids of nodes; whether somebody has opened or closed one
  let renaming = false, current = "", known = new Set(), interval = "", column = "";

  // A tree

  const items = () => all("[role=treeitem]", tree()).filter((item) => item.offsetParent !== null);
  const fold = (item, open) => { item.setAttribute("aria-expanded", open); folded.set(item.id, open); };
  const focus = (item) => {
    if (!item) return;
    for (const other of all("[role=treeitem][tabindex='0']", tree())) other.tabIndex = -1;
    item.tabIndex = 0;
    current = item.id;
    item.focus({ preventScroll: true });
    $(".node", item).scrollIntoView({ block: "nearest" });
  };
  const choose = (item, on = !chosen.has(item.id)) => {
    if (!item.dataset.node) return;
    on ? chosen.add(item.id) : chosen.delete(item.id);
    show();
  };
  const clear = () => { chosen.clear(); show(); };

  // What is chosen, in the tree, as text, and in the form.
  const show = () => {
    const picked = [];
    for (const item of all("[role=treeitem]", tree())) {
      const on = chosen.has(item.id) && Boolean(item.dataset.node);
      item.setAttribute("aria-selected", on);
      if (on) picked.push(item);
    }
    const place = $("#chosen-nodes"), status = $("#chosen");
    if (!place || !status) return;
    place.replaceChildren(...picked.map((item) => Object.assign(document.createElement("input"), { type: "hidden", name: "nodes", value: item.dataset.node })));
    const names = picked.slice(0, 4).map((item) => $(".label", item).textContent);
    if (picked.length) status.textContent = `${picked.length} selected: ${names.join(", ")}${picked.length > 4 ? ", …" : ""}`;
    else status.innerHTML = status.dataset.nothing;
    const group = picked.length === 1 && "group" in picked[0].dataset;
    for (const button of all("[data-needs]")) button.disabled = button.dataset.needs === "group" ? !group : !picked.length;
  };

  const keys = (event) => {
    const item = event.target.closest?.("[role=treeitem]");
    if (!item || !tree()?.contains(item) || event.target !== item || event.altKey || event.metaKey) return;
    const listed = items(), place = listed.indexOf(item), open = item.getAttribute("aria-expanded");
    const to = (next) => { if (event.shiftKey && next) { choose(item, true); choose(next, true); } focus(next); };
    const acts = {
      ArrowDown: () => to(listed[place + 1]),
      ArrowUp: () => to(listed[place - 1]),
      ArrowRight: () => open === "false" ? fold(item, true) : open === "true" && focus($("[role=treeitem]", item)),
      ArrowLeft: () => open === "true" ? fold(item, false) : focus(item.parentElement.closest("[role=treeitem]")),
      Home: () => focus(listed[0]),
      End: () => focus(listed.at(-1)),
      " ": () => choose(item),
      Enter: () => choose(item),
      F2: () => { if (!("group" in item.dataset)) return; clear(); choose(item, true); const field = $("#node-name"); field.value = $(".label", item).textContent; field.select(); renaming = true; },
      Escape: clear,
    };
    if (!acts[event.key] || event.ctrlKey) return;
    event.preventDefault();
    acts[event.key]();
  };

  // Enter in the field of the name groups, and after F2 it renames.
  const named = (event) => {
    if (event.target.id !== "node-name" || event.key !== "Enter" || !renaming) return;
    event.preventDefault();
    renaming = false;
    $("#tree-form button[value=rename]").click();
  };
  document.addEventListener("focusout", (event) => { if (event.target.id === "node-name") renaming = false; });

  const pointed = (event) => {
    const node = event.target.closest?.(".tree .node");
    if (!node) return;
    const item = node.closest("[role=treeitem]");
    if (event.target.closest(".twist") || !item.dataset.node) { if (item.hasAttribute("aria-expanded")) fold(item, item.getAttribute("aria-expanded") !== "true"); }
    else choose(item);
    focus(item);
  };

  // Dragging is a shortcut for choosing and moving.
  document.addEventListener("dragstart", (event) => {
    const item = event.target.closest?.(".tree .node")?.closest("[role=treeitem]");
    if (!item) return;
    if (!chosen.has(item.id)) { chosen.clear(); choose(item, true); }
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", "");
  });
  const over = (event) => event.target.closest?.(".tree .node.group");
  document.addEventListener("dragover", (event) => {
    all(".tree .over").forEach((node) => node.classList.remove("over"));
    if (over(event)) { event.preventDefault(); over(event).classList.add("over"); }
  });
  document.addEventListener("drop", (event) => {
    const node = over(event), target = $("#node-target"), button = $("#tree-form button[value=move]");
    if (!node || !chosen.size) return;
    event.preventDefault();
    target.value = node.closest("[role=treeitem]").dataset.node;
    if (target.value && button) button.click();
  });

  const find = (text) => {
    const wanted = text.trim().toLowerCase();
    for (const item of all("[role=treeitem]", tree()).reverse()) {  // from the bottom up
      const own = item.dataset.node && $(".label", item).textContent.toLowerCase().includes(wanted);
      const below = Boolean($(":scope > [role=group] > [role=treeitem]:not([hidden])", item));
      item.hidden = Boolean(wanted) && !own && !below;
      if (wanted && below) item.setAttribute("aria-expanded", true);
    }
  };

  // Intervals

  const pick = (place, move = true) => {
    interval = place?.id ?? "";
    for (const each of all("#levels .interval")) {
      each.setAttribute("aria-pressed", each === place);
      if (place) each.setAttribute("tabindex", each === place ? "0" : "-1");
    }
    if (!place) return;
    const { level, low, high, label, records } = place.dataset, count = all(`#levels [data-level="${level}"]`).length;
    $("#cut-level").value = level;
    $("#cut-interval").value = place.dataset.interval;
    $("#cut-chosen").textContent = `Selected on level ${Number(level) + 1}: ${label}, ${records} records`;
    $("[data-cut=previous]").disabled = low === "";
    $("[data-cut=next]").disabled = high === "";
    $("[data-cut=level]").disabled = count < 1;
    if (move && place.getBoundingClientRect) place.focus({ preventScroll: true });
  };
  const along = (event) => {
    const place = event.target.closest?.("#levels .interval");
    if (!place) return;
    const { level, interval: number } = place.dataset;
    const at = (row, column) => $(`#i${row}-${column}`);
    const above = (row) => { const box = place.getBoundingClientRect(), middle = box.x + box.width / 2; return all(`#levels [data-level="${row}"]`).find((each) => each.getBoundingClientRect().right >= middle); };
    const acts = {
      ArrowRight: () => at(level, Number(number) + 1),
      ArrowLeft: () => at(level, Number(number) - 1),
      ArrowDown: () => above(Number(level) + 1),
      ArrowUp: () => above(Number(level) - 1),
      Home: () => at(level, 0),
      End: () => all(`#levels [data-level="${level}"]`).at(-1),
      " ": () => place,
    };
    if (event.key === "Enter") { event.preventDefault(); pick(place); $("#cut-value").focus(); return; }
    if (!acts[event.key]) return;
    event.preventDefault();
    const next = acts[event.key]();
    if (next) { event.key === " " ? pick(next) : next.focus(); pick(next); }
  };
  // Names that do not fit into their interval are not shown; pointing at it shows them.
  const fit = () => {
    const shown = all("#levels .interval").map((each) => [$("text", each), $("rect", each).getBoundingClientRect().width]);
    for (const [text, room] of shown) text.setAttribute("visibility", text.getComputedTextLength() + 4 > room ? "hidden" : "visible");
  };
  window.addEventListener("resize", fit);

  // Where somebody clicks into the picture there could be a bound: the roundest number near it.
  const propose = (event) => {
    const picture = event.target.closest?.("#histogram"), field = $("#cut-value");
    if (!picture || !field) return;
    const box = picture.getBoundingClientRect(), share = (event.clientX - box.x) / box.width;
    const knots = JSON.parse($("#intervals").dataset.knots);
    const after = Math.max(1, knots.findIndex(([place]) => place >= share)), [x0, v0] = knots[after - 1], [x1, v1] = knots[after];
    const value = v0 + (v1 - v0) * (share - x0) / (x1 - x0), near = Math.abs(v1 - v0) / (x1 - x0) / box.width * 3;
    const step = 10 ** Math.floor(Math.log10(Math.max(near, 1e-12)));
    const round = [5, 2, 1].map((digit) => digit * step).find((each) => each <= near) ?? step;
    const whole = knots.every(([, number]) => Number.isInteger(number)) && round < 1 ? 1 : round;
    field.value = Number((Math.round(value / whole) * whole).toPrecision(12));
    const line = $("#cut-line");
    line.setAttribute("x1", share * 100); line.setAttribute("x2", share * 100); line.setAttribute("visibility", "visible");
    field.focus();
  };

  // Files

  const bring = async (input) => {
    const file = input.files[0], problem = $("#import-problem");
    input.value = "";
    if (!file) return;
    const headers = { "content-type": "application/octet-stream", "x-studio-key": document.body.dataset.key, "x-place": input.dataset.place, "x-file-name": encodeURIComponent(file.name) };
    let answer = null;
    try { answer = await fetch("/hierarchies/upload", { method: "POST", headers, body: file }); } catch { /* handled below */ }
    const text = answer ? await answer.text() : "the studio does not answer";
    problem.hidden = Boolean(answer?.ok);
    problem.textContent = answer?.ok ? "" : `The file was not taken: ${text}`;
    if (answer?.ok) htmx.ajax("GET", "/" + $("#studio").dataset.screen, { target: "#studio", swap: "outerMorph" });
  };

  // After every change of the page: what was open stays open, what is new can be seen.
  const restore = () => {
    const name = $("#column-title")?.textContent ?? "", status = $("#chosen");
    if (name !== column) { chosen.clear(); folded.clear(); known = new Set(); current = interval = ""; column = name; }
    if (status && !status.dataset.nothing) status.dataset.nothing = status.innerHTML;
    if (tree()) {
      const listed = all("[role=treeitem]", tree()), fresh = known.size ? listed.filter((item) => !known.has(item.id) && item.dataset.node) : [];
      for (const item of listed) if (folded.has(item.id) && item.hasAttribute("aria-expanded")) item.setAttribute("aria-expanded", folded.get(item.id));
      if (fresh.length || listed.length !== known.size) chosen.clear();
      for (const item of fresh) { for (let up = item.parentElement.closest("[role=treeitem]"); up; up = up.parentElement.closest("[role=treeitem]")) fold(up, true); item.classList.add("fresh"); }
      known = new Set(listed.map((item) => item.id));
      const stop = listed.find((item) => item.id === (fresh[0]?.id ?? current)) ?? listed[0];
      for (const item of listed) item.tabIndex = item === stop ? 0 : -1;
      if (fresh.length) { $(".node", fresh[0]).scrollIntoView({ block: "nearest" }); if ($("#node-name")) $("#node-name").value = ""; }
      const wrong = $("[role=alert]", tree());
      for (let up = wrong?.closest("[role=treeitem]")?.parentElement.closest("[role=treeitem]"); up; up = up.parentElement.closest("[role=treeitem]")) fold(up, true);
      wrong?.scrollIntoView({ block: "nearest" });
      show();
      if ($("#find")?.value) find($("#find").value);
    }
    fit();
    const here = $(".picker [aria-current]"), list = here?.closest("ul");
    if (list) { list.scrollTop = here.offsetTop - list.clientHeight / 2; list.scrollLeft = here.offsetLeft - list.clientWidth / 2; }
    if ($("#levels") && interval) pick($("#" + interval), false);
  };

  document.addEventListener("keydown", (event) => { named(event); keys(event); along(event); });
  document.addEventListener("click", (event) => {
    pointed(event); propose(event);
    const place = event.target.closest?.("#levels .interval");
    if (place) pick(place);
    if (event.target.id === "choose-none") clear();
  });
  document.addEventListener("input", (event) => { if (event.target.id === "find") find(event.target.value); });
  document.addEventListener("change", (event) => { if (event.target.id === "hierarchy-file") bring(event.target); });
  document.addEventListener("htmx:after:swap", restore);
  restore();
})();
