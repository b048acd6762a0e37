// What pages do by themselves: follow jobs, notice changes of other tabs, upload, copy. No framework besides htmx.
"use strict";
(() => {
  const $ = (selector, inside = document) => inside.querySelector(selector);
  let stream = null, busy = 0, lostSince = 0, newest = 0, asked = 0, acted = 0;
  const ended = new Map(); // jobs that are over; a page that is still on its way may show one as running

  // A screen, or a piece of it, fetched again and put in place.
  const refresh = (path, target = "#studio") => {
    if ($(target)) htmx.ajax("GET", path, { target, swap: "outerMorph" });
  };
  const here = () => "/" + ($("#studio")?.dataset.screen ?? "data");
  const say = (text) => { const place = $("#said"); if (place && text) { place.textContent = text; place.classList.add("on"); clearTimeout(say.later); say.later = setTimeout(() => place.classList.remove("on"), 3500); } };

  // How long a job will take: as fast as it has been since it began to count what it counts now.
  const pace = new Map();
  const left = (job) => {
    if (!job.total || !job.done || job.done >= job.total) return "";
    const key = `${job.job} ${job.total}`, from = pace.get(key);
    if (!from || from.done > job.done) { pace.set(key, { done: job.done, seconds: job.seconds }); return ""; }
    const gone = job.seconds - from.seconds, did = job.done - from.done;
    if (gone < 2 || !did) return "";
    const seconds = Math.ceil(gone * (job.total - job.done) / did);
    return `, about ${seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`} left`;
  };

  // Jobs: every element with data-job shows how far its job is, and asks for data-again when it is over.
  const follow = (job) => {
    if (["done", "failed", "cancelled"].includes(job.state)) { ended.set(String(job.job), job); settle(); return; }
    for (const place of document.querySelectorAll(`[data-job="${job.job}"]`)) {
      const bar = $(".job-bar", place), line = $(".job-line", place), time = $(".job-time", place);
      if (line && job.line) line.textContent = job.line;
      if (time) time.textContent = `${Math.round(job.seconds)} s${left(job)}`;
      const stop = $(".job-stop", place);
      if (stop) stop.hidden = !job.can_stop;
      if (bar) {
        if (job.total) { bar.max = job.total; bar.value = job.done; } else bar.removeAttribute("value");
      }
      const stage = job.stage && $(`[data-stage="${job.stage}"]`, place);
      if (stage) for (const each of stage.parentElement.children) each.classList.toggle("on", each === stage);
      for (const piece of document.querySelectorAll(`[data-points="${job.task}"]`)) { // what is finished of it
        if (job.stage && String(job.done ?? piece.dataset.done) !== piece.dataset.done) { piece.dataset.done = job.done; refresh(piece.dataset.from, "#" + piece.id); }
      }
      place.dispatchEvent(new CustomEvent("studio:progress", { detail: job, bubbles: true }));
    }
  };
  // Whatever came first, the end of a job or the page that shows it: ask again.
  const settle = () => {
    for (const place of document.querySelectorAll("[data-job]")) {
      const job = ended.get(place.dataset.job);
      if (!job) continue;
      place.removeAttribute("data-job");
      if (place.matches(".job")) say(`${job.title}: ${job.state}.`);
      refresh(place.dataset.again, place.dataset.target);
    }
    for (const piece of document.querySelectorAll("[data-again][data-revision]")) { // an answer that came too late
      if (Number(piece.dataset.revision) >= Number($("#studio").dataset.revision)) continue;
      piece.dataset.revision = $("#studio").dataset.revision; // it is asked for once
      refresh(piece.dataset.again, piece.dataset.target);
    }
  };
  setInterval(() => {
    for (const time of document.querySelectorAll("[data-job] .job-time")) time.textContent = time.textContent.replace(/^\d+/, (gone) => Number(gone) + 1);
  }, 1000);

  // Another tab has changed something, or a job has that this screen shows: show it, unless this page is about to anyway.
  const concerns = (task) => !task || $("#studio")?.dataset.follows.split(" ").includes(task);
  const catchUp = () => {
    const page = $("#studio");
    if (!page || busy || newest <= Number(page.dataset.revision)) return; // asked again when it is not busy any more
    const field = document.activeElement?.closest("input[type=text], input:not([type])");
    if (field) field.addEventListener("blur", later, { once: true }); // not while somebody types
    else refresh(here());
  };
  const later = () => { clearTimeout(later.timer); later.timer = setTimeout(catchUp, 350); };

  const listen = () => {
    if (stream || document.hidden) return;
    stream = new EventSource("/events");
    stream.onopen = () => { lostSince = 0; $("#lost").hidden = true; ended.clear(); };
    stream.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.kind === "job") follow(message);
      if (message.start && message.start !== document.body.dataset.start) location.reload(); // it was started again
      if (message.kind === "changed" && concerns(message.task)) { newest = message.revision; later(); }
      if (message.kind === "end") lost();
    };
    stream.onerror = lost;
  };
  const lost = () => {
    lostSince ||= Date.now();
    if (Date.now() - lostSince > 1500) $("#lost").hidden = false;
    silence();
    setTimeout(listen, 1000);
  };
  const silence = () => { stream?.close(); stream = null; };
  document.addEventListener("visibilitychange", () => document.hidden ? silence() : listen());
  window.addEventListener("pagehide", silence);
  window.addEventListener("pageshow", listen);

  document.addEventListener("htmx:config:request", (event) => {
    const { ctx } = event.detail;
    busy += 1;
    document.body.classList.add("busy");
    ctx.asked = asked += 1;
    if (ctx.request.method === "POST" && ctx.swap !== "none") acted = asked;
  });
  // A screen that was asked for before somebody did something does not take the place of what that gave.
  document.addEventListener("htmx:before:swap", (event) => {
    const { ctx } = event.detail;
    if (ctx.request.method === "GET" && ctx.target?.id === "studio" && ctx.asked < acted) event.preventDefault();
  });
  document.addEventListener("htmx:finally:request", () => {
    busy = Math.max(0, busy - 1);
    if (busy) return;
    document.body.classList.remove("busy");
    choose();
    settle();
    later();
  });
  document.addEventListener("htmx:after:swap", (event) => {
    const page = $("#studio"), { sourceElement, response } = event.detail.ctx;
    if (page?.dataset.said) { say(page.dataset.said); page.dataset.said = ""; }
    for (const field of document.querySelectorAll("[data-filter]")) {
      if (field.form === sourceElement && response.status === 200) field.value = ""; // it was for this, and is done
      sift(field);
    }
  });
  // A browser keeps what somebody has chosen, whatever a page says afterwards; what holds is what the page says.
  const choose = () => {
    for (const field of document.querySelectorAll("input[hx-post]")) if (field.checked !== field.defaultChecked) field.checked = field.defaultChecked;
    for (const field of document.querySelectorAll("select[hx-post]")) {
      const place = Math.max(0, [...field.options].findIndex((option) => option.defaultSelected));
      if (field.selectedIndex !== place) field.selectedIndex = place;
    }
  };

  // Uploads go as they are, with a bar; the answer is the screen.
  const upload = (file) => {
    const bar = $("#upload-bar"), request = new XMLHttpRequest();
    bar.hidden = false;
    request.open("POST", "/data/upload");
    request.setRequestHeader("content-type", "application/octet-stream");
    request.setRequestHeader("x-studio-key", document.body.dataset.key);
    request.setRequestHeader("x-file-name", encodeURIComponent(file.name));
    request.upload.onprogress = (event) => { if (event.lengthComputable) { bar.max = event.total; bar.value = event.loaded; } };
    request.onloadend = () => { bar.hidden = true; if (request.status === 200) refresh("/data"); else { say("The file was not taken: " + (request.getResponseHeader("content-type")?.startsWith("text/plain") ? request.responseText : "see above")); if (request.status === 422) showProblem(request.responseText); } };
    request.send(file);
  };
  const showProblem = (html) => {
    const problem = new DOMParser().parseFromString(html, "text/html").querySelector(".problem"), main = $("#screen .head");
    if (problem && main) { $("#screen > .problem")?.remove(); main.after(document.importNode(problem, true)); }
  };
  document.addEventListener("change", (event) => { if (event.target.id === "upload" && event.target.files[0]) upload(event.target.files[0]); });
  document.addEventListener("dragover", (event) => { if (event.target.closest?.("#drop")) event.preventDefault(); });
  document.addEventListener("drop", (event) => { if (event.target.closest?.("#drop")) { event.preventDefault(); if (event.dataTransfer.files[0]) upload(event.dataTransfer.files[0]); } });

  // Show only the columns that are called so, and that have the role or the badges that were chosen.
  const sift = (field) => {
    const list = $(field.dataset.filter), text = field.value.trim().toLowerCase(), which = $("[data-which]")?.value ?? "";
    for (const item of list?.children ?? []) {
      const meant = !which || (which === "look" ? "look" in item.dataset : item.dataset.role === which);
      item.hidden = !meant || (!!text && !$(".called bdi", item).textContent.toLowerCase().includes(text));
    }
  };
  for (const kind of ["input", "change"]) document.addEventListener(kind, (event) => {
    if (event.target.matches?.("[data-filter], [data-which]")) document.querySelectorAll("[data-filter]").forEach(sift);
  });

  // Copy what is shown.
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-copy]");
    if (!button) return;
    navigator.clipboard.writeText($(button.dataset.copy).textContent).then(() => say("Copied."), () => say("The browser does not let pages copy; select the text."));
  });

  // On a narrow screen the way is wider than the page: show where we are.
  const place = $(".way a[aria-current]"), way = $(".way");
  if (place && way.scrollWidth > way.clientWidth) way.scrollLeft = place.offsetLeft - way.clientWidth / 2 + place.offsetWidth / 2;

  listen();
})();
