// ---- Still shapes side by side, with one camera --------------------------------------------------

// One hidden picture is drawn for each shape in turn and copied to the shape's own canvas: a page has room for
// few WebGL contexts, and all shapes share one mesh.

class Shapes {
  constructor(recording) {
    this.recording = recording;
    this.views = [...document.querySelectorAll("canvas[data-shape]")].map((canvas) => ({
      canvas, frame: Number(canvas.dataset.shape), pen: canvas.getContext("2d"),
    }));
    const bounds = wholeBounds(recording);
    this.camera = new Camera(bounds);
    this.renderer = new Renderer(document.createElement("canvas"), recording, bounds);
    this.renderer.strain.chooseRange();
    this.look = { strain: false, wire: false, shadows: true, floor: true, taps: 12 };
    this.samples = 24;   // pictures in the mean that is left standing
    this.refine = -1;    // the view whose picture is being refined
    this.touch();
    for (const { canvas } of this.views) attachPointers(canvas, this.camera, () => this.touch());
    for (const name of ["strain", "wire"]) {
      const button = document.getElementById(`shapes-${name}`);
      button?.addEventListener("click", () => {
        this.look[name] = !this.look[name];
        button.setAttribute("aria-pressed", String(this.look[name]));
        this.touch();
      });
    }
    document.getElementById("shapes-reset")?.addEventListener("click", () => {
      this.camera.reset();
      this.touch();
    });
    const range = document.getElementById("shapes-range");
    if (range) range.textContent = `± ${Number((this.renderer.strain.range * 100).toPrecision(2))} %`;
    const ramp = document.getElementById("shapes-ramp");
    if (ramp) ramp.style.background = `linear-gradient(90deg, ${STRAIN_COLOURS.join(", ")})`;
    new ResizeObserver(() => this.touch()).observe(this.views[0].canvas);
    // A printed page wants finished pictures.
    window.addEventListener("beforeprint", () => this.views.forEach((view) => this.finish(view)));
  }

  touch() {
    this.refine = -1;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    this.waiting = false;
    const seconds = Math.min((now - (this.last ?? now)) / 1000, 0.1) || 1 / 60;
    this.last = now;
    const moving = this.camera.advance(seconds);
    if (moving || this.refine < 0) {
      this.resize();
      this.views.forEach((view) => this.draw(view, 0));
      this.refine = moving ? -1 : 0;
    } else {
      this.finish(this.views[this.refine++]);
    }
    if (this.refine < this.views.length) {
      this.waiting = true;
      requestAnimationFrame((t) => this.tick(t));
    } else {
      this.last = undefined;
    }
  }

  resize() {
    const { canvas } = this.views[0];
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    for (const view of this.views) {
      if (view.canvas.width !== width) view.canvas.width = width;
      if (view.canvas.height !== height) view.canvas.height = height;
    }
    this.renderer.resize(width, height);
    this.camera.setWindow(width, height, { top: 0.05, bottom: 0.07, side: 0.05 });
  }

  draw({ frame, pen, canvas }, sample) {
    this.renderer.setFrame(frame, this.look.strain);
    this.renderer.draw(this.camera, this.look, sample);
    pen.drawImage(this.renderer.canvas, 0, 0, canvas.width, canvas.height);
  }

  // Smooth shadows and edges: the mean of several pictures.
  finish(view) {
    for (let sample = 0; sample < this.samples; sample++) this.draw(view, sample);
  }
}

async function showShapes() {
  const recording = new Recording();
  await recording.loadMesh();
  await recording.loadFrames(async () => {});
  return new Shapes(recording);
}

window.taffeta = {
  ready: showShapes().then((shapes) => {
    window.taffeta.shapes = shapes;
    return true;
  }).catch((error) => {
    const place = document.getElementById("shapes-message");
    if (place) {
      place.textContent = /WebGL2/.test(error.message)
        ? "The shapes need WebGL 2, which this browser does not have; the rest of the page is complete."
        : `The shapes cannot be shown: ${error.message}`;
      place.hidden = false;
    }
    return false;
  }),
};
