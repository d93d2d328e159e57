// The theme follows the system until the reader chooses; the page is whole without this.
(function () {
  const root = document.documentElement, button = document.getElementById("theme");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.onclick = () => { root.dataset.theme = dark() ? "light" : "dark"; name(); };
  name();
})();

// Gantt charts zoom and move in time. What is in `g.zoom` is scaled; ticks, labels and flags are drawn anew, so that they keep their shape.
(function () {
  const DAY = 86400, MOST = 1000;
  const KEYS = "plus and minus zoom, left and right arrows move, 0 or Home shows the whole run";
  let scrolled = -1e9; // when the page itself was last scrolled by a wheel

  // Ticks between two times in seconds, with the title of the axis: in the units of the axis that is written into the page, or, where
  // these would need fractions, as hours and minutes after the beginning of a day.
  function ticks(from, to) {
    const span = to - from;
    const unit = span <= 300 && to <= DAY ? 0 : span <= 10800 && to <= DAY ? 1 : span <= 4 * DAY && to <= 10 * DAY ? 2 : 3;
    const [name, length, steps] = UNITS[unit];
    const plain = unit === 0 || span >= 4 * steps[0] * length;
    const all = plain ? steps.map(step => step * length) : UNITS.slice(0, 3).flatMap(([, length, steps]) => steps.map(step => step * length));
    let step = all.find(step => span / step <= (plain ? 12 : 8));
    if (step === undefined || span < 4 * all[0]) {
      const rough = span / 8, decade = 10 ** Math.floor(Math.log10(rough));
      step = [1, 2, 5, 10].map(times => times * decade).find(step => step >= rough * 0.999);
    }
    const base = plain ? 0 : Math.floor(from / DAY) * DAY, list = [];
    const decimals = unit => Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-6));
    const places = plain && step / length >= 0.01 ? [0, 1, 2].find(places => Math.abs(step / length * 10 ** places % 1) < 1e-6) : undefined;
    for (let count = Math.ceil(from / step - 1e-9); count * step <= to + step * 1e-9; count++) {
      const at = count * step;
      list.push([at, plain ? (at / length).toFixed(places ?? decimals(length)).replace("-", "−") : clock(at - base, step)]);
    }
    const form = step % 60 === 0 ? "h:min" : "h:min:s";
    return [list, plain ? `time (${name})` : base ? `time after ${base / DAY} d (${form})` : `time (${form})`];
  }

  // 7:05 or, for steps below a minute, 7:05:30.
  function clock(seconds, step) {
    const digits = step < 1 ? Math.ceil(-Math.log10(step) - 1e-6) : 0, scale = 10 ** digits;
    const whole = Math.round(seconds * scale) / scale, two = (number, digits) => number.toFixed(digits).padStart(digits ? digits + 3 : 2, "0");
    const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
    return `${hours}:${two(minutes, 0)}` + (step % 60 === 0 ? "" : ":" + two(whole - hours * 3600 - minutes * 60, digits));
  }

  // An instant in a run that ends at `to`, as fine as a shown span of time needs.
  const told = (seconds, span, to) =>
    (to > DAY ? `${Math.floor(seconds / DAY)} d ` : "") + clock(to > DAY ? seconds % DAY : seconds, span < 20 ? 0.01 : 1);

  function zoomable(data, number) {
    const svg = data.ownerSVGElement, axis = svg.querySelector(".axis text"), old = svg.querySelector(".ticks text")?.closest(".ticks");
    if (!axis || !old) return;
    const [left, right, from, to, fine] = ["left", "right", "from", "to", "fine"].map(name => +data.dataset[name]);
    const wide = right - left, whole = to - from, title = axis.textContent;
    let [a, b] = [from, to], bars = null, due = false;
    const make = (name, attributes, parent) => {
      const made = document.createElementNS(svg.namespaceURI, name);
      for (const key in attributes) made.setAttribute(key, attributes[key]);
      return parent.appendChild(made);
    };
    const place = time => left + (time - a) / (b - a) * wide;

    const clip = make("clipPath", { id: `shown-${number}` }, svg);
    make("rect", { x: left, y: 0, width: wide, height: svg.viewBox.baseVal.height }, clip);
    const frame = make("g", { "clip-path": `url(#shown-${number})` }, svg);
    data.replaceWith(frame);
    frame.append(data);
    const names = make("g", {}, svg), marks = make("g", {}, svg);
    const flags = [...svg.querySelectorAll(".flag")].map(flag => [flag, +flag.dataset.x]);

    // The boxes of all bars with their jobs, in pixels of the whole run.
    const boxes = () => [...data.querySelectorAll("path > title")].flatMap(({ textContent, parentNode: bar }) => {
      const job = textContent.match(/^job (\d+)/)?.[1], pale = +bar.getAttribute("opacity") < 0.5;
      return [...bar.getAttribute("d").matchAll(/M([-\d.]+) ([-\d.]+)h([\d.]+)v([\d.]+)/g)].map(([, x, y, width, height]) =>
        ({ job, pale, x: x / fine, y: +y, width: width / fine, height: +height }));
    });

    // Labels in the shown parts of boxes, and thin lines between neighbours.
    function label(zoom) {
      names.replaceChildren();
      if (zoom === 1) return;
      const lines = make("path", { class: "s0", "stroke-width": 0.8 }, names);
      let edges = "";
      for (const { job, pale, x, y, width, height } of bars ??= boxes()) {
        const begin = left + (x - left) * zoom - (a - from) / (b - a) * wide;
        const low = Math.max(begin, left), high = Math.min(begin + width * zoom, right), size = height >= 14 ? 12 : 9;
        if (!pale && width * zoom >= 4 && height >= 3 && high > low) edges += `M${low} ${y}h${high - low}v${height}h${low - high}z`;
        if (!job || height < 10.5 || job.length * size * 0.64 + 2 > high - low) continue;
        make("text", { class: pale ? "f1" : "f0", x: (low + high) / 2, y: y + height / 2 + size * 0.36, "font-size": size, "text-anchor": "middle" }, names).textContent = job;
      }
      lines.setAttribute("d", edges);
    }

    function scale(zoom) {
      marks.replaceChildren();
      axis.textContent = title;
      if (zoom === 1) return;
      const [list, words] = ticks(a, b), text = old.querySelector("text"), line = old.querySelector("path");
      axis.textContent = words;
      for (const [time, written] of list) {
        const by = make("g", { transform: `translate(${place(time)} 0)` }, marks);
        const tick = by.appendChild(line.cloneNode()), tag = by.appendChild(text.cloneNode());
        tick.setAttribute("d", line.getAttribute("d").replace(/^M[-\d.]+ ([-\d.]+)L[-\d.]+/, "M0 $1L0"));
        tag.setAttribute("x", 0);
        tag.textContent = written;
      }
    }

    function draw() {
      due = false;
      const zoom = whole / (b - a);
      data.setAttribute("transform", `matrix(${zoom / fine} 0 0 1 ${left * (1 - zoom) - (a - from) / (b - a) * wide} 0)`);
      svg.classList.toggle("zoomed", zoom > 1);
      for (const [flag, x] of flags) {
        const now = place(from + (x - left) / wide * whole);
        flag.setAttribute("transform", `translate(${now - x} 0)`);
        flag.style.display = now < left - 0.5 || now > right + 0.5 ? "none" : "";
      }
      scale(zoom);
      label(zoom);
      output.textContent = zoom > 1 ? `shown: ${told(a, b - a, to)} to ${told(b, b - a, to)}` : "";
    }

    const show = (begin, span) => {
      span = Math.min(Math.max(span, whole / MOST), whole);
      a = Math.min(Math.max(begin, from), to - span);
      b = span === whole ? to : a + span;
      if (!due) requestAnimationFrame(draw);
      due = true;
    };
    const zoom = (by, at = (a + b) / 2) => {
      const span = Math.min(Math.max((b - a) / by, whole / MOST), whole);
      show(at - (at - a) * span / (b - a), span);
    };
    const move = share => show(a + share * (b - a), b - a);
    const reset = () => show(from, whole);
    const pixel = () => svg.viewBox.baseVal.width / svg.getBoundingClientRect().width;
    const time = event => a + ((event.clientX - svg.getBoundingClientRect().left) * pixel() - left) / wide * (b - a);

    // A page that is being scrolled goes on scrolling when the chart comes under the mouse, and zooming out ends at the whole run.
    svg.addEventListener("wheel", event => {
      if (event.timeStamp - scrolled < 300 || event.ctrlKey) return;
      const lines = event.deltaMode ? 30 : 1;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move((event.deltaX || event.deltaY) * lines / 1000);
      else if (event.deltaY > 0 && b - a >= whole) return;
      else zoom(Math.exp(-event.deltaY * lines / 400), time(event));
      event.preventDefault();
    }, { passive: false });
    let held = null;
    svg.addEventListener("pointerdown", event => {
      if (event.button) return;
      held = event.clientX;
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", event => {
      if (held === null || !event.buttons) return void (held = null);
      move((held - event.clientX) * pixel() / wide);
      held = event.clientX;
    });
    svg.addEventListener("dblclick", reset);
    const keys = { ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: reset, Home: reset };
    svg.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      keys[event.key]();
      event.preventDefault();
    });

    svg.classList.add("zoomable");
    svg.setAttribute("tabindex", "0");
    svg.setAttribute("role", "application");
    svg.setAttribute("aria-label", `${svg.getAttribute("aria-label")}. ${KEYS}`);
    const bar = document.createElement("div"), output = document.createElement("output");
    bar.className = "keys";
    for (const [sign, words, act] of [["+", "zoom in", () => zoom(1.5)], ["−", "zoom out", () => zoom(1 / 1.5)], ["whole run", "", reset]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = sign;
      if (words) button.setAttribute("aria-label", words);
      button.onclick = act;
      bar.append(button);
    }
    const hint = document.createElement("span");
    hint.textContent = "Zoom: wheel or + and −. Move: drag or arrows. Whole run: 0 or Home.";
    bar.append(hint, output);
    svg.before(bar);
  }

  document.querySelectorAll("g.zoom").forEach(zoomable);
  addEventListener("wheel", event => { if (!event.defaultPrevented) scrolled = event.timeStamp; }, { passive: true });
})();
