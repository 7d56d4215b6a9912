// ---- The player: time, controls, and the picture on the screen -----------------------------------

const $ = (id) => document.getElementById(id);
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const TOGGLES = ["strain", "wire", "shadows", "floor"];
const REFINEMENTS = 48;

class Player {
  constructor() {
    this.frame = 0;
    this.playing = false;
    this.speed = 1;
    this.loop = true;
    this.look = { strain: false, wire: false, shadows: true, floor: true, taps: 16 };
    this.phase = 0;      // of the time to the next frame
    this.sample = 0;     // pictures in the current refinement
    this.dirty = true;
    this.slow = false;
    this.draws = [];     // times of the last second's drawings
    this.options = new URLSearchParams(location.hash.slice(1));
  }

  async load() {
    const recording = (this.recording = new Recording());
    const { about } = recording;
    if (typeof DecompressionStream === "undefined") throw new Error("This browser is too old to unpack the recording.");
    const number = (name, otherwise) => (this.options.has(name) ? Number(this.options.get(name)) : otherwise);
    const autoplay = number("play", 1) !== 0 && about.frames > 1;
    await recording.loadMesh();
    await recording.loadFrames(async () => {
      if (!this.renderer) {
        this.begin();
        this.applyOptions(number);
        if (autoplay && !this.options.has("frame")) this.play();
      }
      const share = recording.frames.length / about.frames;
      $("loading").firstElementChild.style.width = `${share * 100}%`;
      $("scrub").style.setProperty("--loaded", `${share * 100}%`);
    });
    $("loading").className = "done";
    this.renderer.strain.chooseRange();
    this.renderer.strainFrame = -1;
    this.showRange();
    if (this.options.has("frame")) {
      this.seek(number("frame", 0));
      if (autoplay) this.play();
    }
    await new Promise((drawn) => (this.onDrawn = drawn));
  }

  // Called once the first frames are there.
  begin() {
    const { recording } = this;
    const bounds = wholeBounds(recording);
    const canvas = $("view");
    this.camera = new Camera(bounds);
    this.renderer = new Renderer(canvas, recording, bounds);
    this.renderer.strain.chooseRange();
    this.attachControls();
    attachPointers(canvas, this.camera, () => (this.dirty = true));
    canvas.addEventListener("webglcontextlost", (e) => {
      e.preventDefault();
      this.renderer = null;
      fail("The graphics context was lost.\nReload the page to go on.");
    });
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
    requestAnimationFrame((now) => this.tick(now));
  }

  applyOptions(number) {
    for (const name of TOGGLES) this.look[name] = number(name, this.look[name] ? 1 : 0) !== 0;
    if (!this.recording.about.edges) this.look.strain = false;
    this.loop = number("loop", 1) !== 0;
    if (SPEEDS.includes(number("speed", 1))) this.speed = number("speed", 1);
    const view = (this.options.get("view") || "").split(",").map(Number);
    if (view.length === 3 && view.every(Number.isFinite)) {
      Object.assign(this.camera.wanted, { yaw: (view[0] * Math.PI) / 180, pitch: (view[1] * Math.PI) / 180 });
      this.camera.fit(false);
      this.camera.zoom(1 / view[2]);
      this.camera.now = { ...this.camera.wanted };
    }
    if (number("ui", 1) === 0) document.body.className = "bare";
    this.resize();
    this.showState();
  }

  resize() {
    if (!this.renderer) return;
    const canvas = $("view");
    const ratio = Math.min(window.devicePixelRatio || 1, this.slow && this.playing ? 1 : 2);
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    this.renderer.resize(width, height);
    // Keep the scene clear of the title and the controls.
    const bare = document.body.className === "bare";
    const rect = (e) => e.getBoundingClientRect();
    const h = canvas.clientHeight || 1;
    const top = bare ? 0.06 : clamp(rect(document.querySelector("header")).bottom / h, 0.06, 0.2);
    const lowest = Math.min(rect(document.querySelector("footer")).top, canvas.clientWidth <= 860 ? rect($("tools")).top : h);
    const bottom = bare ? 0.08 : clamp(1 - lowest / h + 0.02, 0.08, 0.3);
    this.camera.setWindow(width, height, { top, bottom, side: 0.06 });
    this.dirty = true;
  }

  // ---- Time

  get last() { return this.recording.frames.length - 1; }

  play() {
    if (this.recording.about.frames < 2) return;
    if (!this.loop && this.frame >= this.last) this.seek(0);
    this.playing = true;
    this.phase = 0;
    this.showState();
  }

  pause() {
    this.playing = false;
    this.draws = [];
    this.resize();
    this.showState();
  }

  toggle() { this.playing ? this.pause() : this.play(); }

  seek(n) {
    const to = clamp(Math.round(n) || 0, 0, this.last);
    if (to !== this.frame) {
      this.frame = to;
      this.dirty = true;
    }
    this.phase = 0;
    this.showTime();
  }

  step(n) {
    this.pause();
    this.seek(this.frame + n);
  }

  advance(seconds) {
    this.phase += seconds * (this.recording.about.fps || 60) * this.speed;
    const whole = Math.floor(this.phase);
    if (whole < 1) return;
    this.phase -= whole;
    let next = this.frame + whole;
    const { about, frames } = this.recording;
    if (next >= frames.length) {
      if (frames.length < about.frames) next = this.last;   // still loading
      else if (this.loop) next %= frames.length;
      else {
        next = this.last;
        this.pause();
      }
    }
    if (next !== this.frame) {
      this.frame = next;
      this.dirty = true;
      this.showTime();
    }
  }

  tick(now) {
    if (!this.renderer) return;
    requestAnimationFrame((t) => this.tick(t));
    const seconds = clamp((now - (this.then ?? now)) / 1000, 0, 0.25);
    this.then = now;
    if (this.playing) this.advance(seconds);
    if (this.camera.advance(seconds)) this.dirty = true;
    if (this.dirty) {
      this.dirty = false;
      this.sample = 0;
      this.refiningUntil = performance.now() + 4000;
      this.draw();
      if (this.playing) this.measure(now);
    } else if (!this.playing && this.renderer.canRefine && this.sample < REFINEMENTS && performance.now() < this.refiningUntil) {
      this.draw();
    }
  }

  draw() {
    const { renderer, look } = this;
    renderer.setFrame(this.frame, look.strain);
    renderer.draw(this.camera, { ...look, taps: this.slow && this.playing ? 8 : look.taps }, this.sample++);
    if (look.strain && this.sample === 1) this.showExtremes();
    this.onDrawn?.();
    this.onDrawn = null;
  }

  // Counts drawings, and draws more coarsely where the machine cannot keep up.
  measure(now) {
    this.draws.push(now);
    while (this.draws[0] < now - 1000) this.draws.shift();
    const span = now - this.draws[0];
    if (span > 400 && now - (this.rateShown || 0) > 250) {
      const rate = ((this.draws.length - 1) / span) * 1000;
      $("rate").textContent = `${rate.toFixed(0)} fps`;
      this.rateShown = now;
      const wanted = Math.min((this.recording.about.fps || 60) * this.speed, 30);
      if (!this.slow && this.draws.length > 8 && rate < wanted * 0.75) {
        this.slow = true;
        this.resize();
      }
    }
  }

  // ---- Controls

  attachControls() {
    const { about } = this.recording;
    $("scrub").max = about.frames - 1;
    $("scrub").addEventListener("input", (e) => {
      const wanted = e.target.valueAsNumber;   // pausing moves the slider to the current frame
      this.pause();
      this.seek(wanted);
    });
    for (const s of SPEEDS) $("speed").add(new Option(`${s}×`, s));
    $("speed").addEventListener("change", (e) => this.setSpeed(Number(e.target.value)));
    this.actions = {
      play: () => this.toggle(),
      loop: () => (this.loop = !this.loop),
      reset: () => { this.camera.reset(); this.dirty = true; },
      save: () => this.save(),
      help: () => ($("card").hidden = !$("card").hidden),
      figures: () => ($("values").hidden = !$("values").hidden),
    };
    for (const name of TOGGLES) {
      this.actions[name] = () => {
        if (name === "strain" && !about.edges) return;
        this.look[name] = !this.look[name];
        this.dirty = true;
      };
    }
    for (const [name, action] of Object.entries(this.actions)) {
      $(name).addEventListener("click", (e) => {
        action();
        this.showState();
        if (e.detail > 0) $(name).blur();   // keys go on working after a click
      });
    }
    $("strain").disabled = !about.edges;
    $("figures").hidden = !about.metrics.length;
    $("values").append(...about.metrics.flatMap((name) => {
      const dt = document.createElement("dt");
      dt.textContent = name.replaceAll("_", " ");
      return [dt, document.createElement("dd")];
    }));
    $("ramp").style.background = `linear-gradient(90deg, ${STRAIN_COLOURS.join(", ")})`;
    $("facts").textContent = this.facts();
    window.addEventListener("keydown", (e) => this.key(e));
    $("card").addEventListener("click", () => { $("card").hidden = true; this.showState(); });
  }

  facts() {
    const { about } = this.recording;
    const count = (n) => n.toLocaleString("en");
    const lines = [
      `${count(about.vertices)} vertices, ${count(about.triangles)} triangles, ${count(about.frames)} frames at ${+about.fps.toFixed(3)} per second.`,
      `Positions are kept to ${(about.step * 5e5).toPrecision(2)} µm.`,
    ];
    if (about.colliders.some((b) => b.kind === "plane")) {
      const { cell } = this.renderer;
      lines.push(`Grid lines every ${+(cell / 5).toPrecision(3)} m and ${+cell.toPrecision(3)} m.`);
    }
    return lines.join("\n");
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const focus = e.target.closest?.("button, select");
    if (focus && [" ", "Enter"].includes(e.key)) return;
    if (focus?.tagName === "SELECT" && e.key.startsWith("Arrow")) return;
    const named = {
      " ": "play", l: "loop", r: "reset", p: "save", h: "help", "?": "help", i: "figures",
      s: "strain", w: "wire", d: "shadows", f: "floor",
    }[e.key.toLowerCase()];
    const far = e.shiftKey ? 10 : 1;
    const other = {
      ArrowLeft: () => this.step(-far),
      ArrowRight: () => this.step(far),
      Home: () => this.step(-Infinity),
      End: () => this.step(Infinity),
      "[": () => this.changeSpeed(-1),
      "]": () => this.changeSpeed(1),
      Escape: () => ($("card").hidden = true),
    }[e.key];
    const action = named ? this.actions[named] : other;
    if (!action || (named && e.repeat)) return;
    e.preventDefault();
    action();
    this.showState();
  }

  setSpeed(speed) {
    this.speed = speed;
    this.phase = 0;
    this.showState();
  }

  changeSpeed(by) {
    this.setSpeed(SPEEDS[clamp(SPEEDS.indexOf(this.speed) + by, 0, SPEEDS.length - 1)]);
  }

  showState() {
    for (const name of TOGGLES) $(name).setAttribute("aria-pressed", this.look[name]);
    $("loop").setAttribute("aria-pressed", this.loop);
    $("help").setAttribute("aria-pressed", !$("card").hidden);
    $("figures").setAttribute("aria-pressed", !$("values").hidden);
    $("play-icon").setAttribute("d", this.playing ? "M7 5h3.5v14H7zM13.5 5H17v14h-3.5z" : "M8 5v14l11.5-7z");
    $("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    $("speed").value = this.speed;
    $("legend").hidden = !this.look.strain;
    if (!this.playing) $("rate").textContent = "paused";
    this.showTime();
  }

  showTime() {
    const { about, times, metrics } = this.recording;
    const last = about.frames - 1;
    $("scrub").value = this.frame;
    $("scrub").style.setProperty("--done", `${last > 0 ? (this.frame / last) * 100 : 0}%`);
    const small = document.createElement("small");
    small.textContent = `  ${this.frame} / ${last}`;
    $("clock").replaceChildren(`${times[this.frame].toFixed(2)} s`, small);
    if (!$("values").hidden) {
      [...$("values").querySelectorAll("dd")].forEach((dd, i) => {
        const x = metrics[this.frame][i];
        dd.textContent = Number.isFinite(x) ? String(+x.toPrecision(4)) : "–";
      });
    }
  }

  // ---- Strain legend

  tickTexts() {
    const { range } = this.renderer.strain;
    return [-1, 0, 1].map((k) => percent(k * range, 0));
  }

  showRange() {
    const texts = this.tickTexts();
    [...$("ticks").children].forEach((span, i) => (span.textContent = texts[i]));
    this.dirty = true;
  }

  showExtremes() {
    const { least, most } = this.renderer.strain;
    $("extremes").textContent = `Single edges ${percent(least, 2)} to ${percent(most, 2)}`;
    if (!$("ticks").firstElementChild.textContent) this.showRange();
  }

  // ---- Saving the picture, with the legend where there is one

  save() {
    const canvas = $("view");
    const picture = document.createElement("canvas");
    picture.width = canvas.width;
    picture.height = canvas.height;
    const pen = picture.getContext("2d");
    this.renderer.show();
    pen.drawImage(canvas, 0, 0);
    if (this.look.strain) this.paintLegend(pen, canvas.width / canvas.clientWidth);
    picture.toBlob((blob) => {
      const link = document.createElement("a");
      const name = this.recording.about.title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "cloth";
      link.download = `${name}-${String(this.frame).padStart(4, "0")}.png`;
      link.href = URL.createObjectURL(blob);
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  paintLegend(pen, ratio) {
    pen.scale(ratio, ratio);
    const w = 220, x = pen.canvas.width / ratio - w - 30, y = 34;
    const fill = pen.createLinearGradient(x, 0, x + w, 0);
    STRAIN_COLOURS.forEach((c, i) => fill.addColorStop(i / 4, c));
    pen.fillStyle = fill;
    pen.fillRect(x, y, w, 11);
    pen.fillStyle = "#22262b";
    pen.font = "600 13px system-ui, sans-serif";
    pen.fillText("Stretch", x, y - 8);
    pen.font = "12px system-ui, sans-serif";
    this.tickTexts().forEach((text, i) => {
      pen.textAlign = i === 0 ? "left" : i === 2 ? "right" : "center";
      pen.fillText(text, x + (w * i) / 2, y + 26);
    });
  }
}

function percent(x, digits) {
  const value = x * 100;
  const text = digits ? Math.abs(value).toFixed(digits) : String(+Math.abs(value).toPrecision(3));
  const sign = Number(text) === 0 ? "" : value > 0 ? "+" : "−";
  return `${sign}${text} %`;
}

function fail(text) {
  $("message").textContent = text;
  $("message").hidden = false;
  $("loading").className = "done";
}

{
  const player = new Player();
  const ready = player.load().catch((error) => {
    fail(error.message === "no WebGL2"
      ? "This page draws with WebGL 2, which this browser or its graphics driver does not offer.\nTry another browser, or turn on hardware acceleration."
      : `The recording cannot be shown.\n${error.message}`);
    throw error;
  });
  ready.catch(() => {});
  window.taffeta = {
    ready: ready.then(() => true),
    get frame() { return player.frame; },
    get frames() { return player.recording.about.frames; },
    get playing() { return player.playing; },
    get drawnFrames() { return player.renderer?.drawn ?? 0; },
    play: () => player.play(),
    pause: () => player.pause(),
    seek: (n) => player.seek(n),
    positions: () => player.recording.frames[player.frame],
  };
  window.taffeta.ready.catch(() => {});
}
