// The interactive range picture: a slider over a recorded run, one bar per label. No library, no network.
(function () {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const LEFT = 92, RIGHT = 44, TOP = 30, ROW = 44;

  function element(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function start(box, run) {
    let width = 640;  // in units of 1 pixel, so that the text is never small
    const x = (cost) => LEFT + cost * (width - LEFT - RIGHT);
    const height = TOP + ROW * run.labels.length + 34;
    const picture = element("svg", { role: "img" });
    const slider = box.querySelector("input"), select = box.querySelector("select");
    const said = box.querySelector("output"), play = box.querySelector("button");
    const place = box.querySelector(".ranges-picture");
    place.append(picture);
    slider.max = run.steps.length - 1;
    run.examples.forEach((name, i) => select.add(new Option(name, i)));
    let timer = null;

    function kind(step, example, label, guaranteed) {
      if (step.mask[example][label]) return "asked";
      return step.lowest[example][label] > guaranteed ? "out" : "sure";
    }

    function draw() {
      const step = run.steps[slider.value], example = Number(select.value);
      const guaranteed = Math.min(...step.highest[example]);
      width = Math.max(300, Math.min(place.clientWidth, 640));
      picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
      picture.replaceChildren();
      for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
        picture.append(element("line", { x1: x(tick), x2: x(tick), y1: TOP, y2: height - 28, class: "grid-line" }));
        picture.append(element("text", { x: x(tick), y: height - 8, "text-anchor": "middle" }, tick));
      }
      run.labels.forEach((label, k) => {
        const y = TOP + ROW * k + ROW / 2, low = step.lowest[example][k], high = step.highest[example][k];
        const group = element("g", { class: "range-" + kind(step, example, k, guaranteed) });
        group.append(element("text", { x: LEFT - 10, y: y + 5, "text-anchor": "end" }, label));
        group.append(element("rect", { x: x(low), y: y - 9, width: Math.max(2, x(high) - x(low)), height: 18, rx: 4 }));
        group.append(element("circle", { cx: x(step.predicted[example][k]), cy: y, r: 5 }));
        if (step.mask[example][k]) {
          group.append(element("text", { x: Math.min(x(high) + 8, width - 30), y: y + 5, class: "ask" }, "ask"));
        }
        picture.append(group);
      });
      picture.append(element("line", {
        x1: x(guaranteed), x2: x(guaranteed), y1: TOP - 6, y2: height - 28, class: "guaranteed" }));
      picture.append(element("text", {
        x: Math.max(LEFT, Math.min(x(guaranteed), width - 60)), y: TOP - 12, "text-anchor": "middle" }, "guaranteed cost"));
      const count = step.mask[example].filter(Boolean).length;
      const text = `After ${step.learned} tickets and ${step.asked} answers, the learner would ask for ` +
        `${count} of ${run.labels.length} costs of this ticket.`;
      said.textContent = text;
      picture.setAttribute("aria-label", text);
    }

    function stop() {
      clearInterval(timer);
      timer = null;
      play.textContent = "Play";
    }

    play.addEventListener("click", () => {
      if (timer) return stop();
      if (slider.value === slider.max) slider.value = 0;
      play.textContent = "Pause";
      timer = setInterval(() => {
        slider.value = Number(slider.value) + 1;
        draw();
        if (slider.value === slider.max) stop();
      }, 600);
    });
    slider.addEventListener("input", () => { stop(); draw(); });
    select.addEventListener("change", draw);
    window.addEventListener("resize", draw);
    draw();
  }

  document.addEventListener("DOMContentLoaded", () => {
    const box = document.getElementById("coalface-ranges");
    if (box && window.coalfaceRanges) start(box, window.coalfaceRanges);
  });
})();
