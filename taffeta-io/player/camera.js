// ---- The camera and how pointers move it ---------------------------------------------------------

const HALF_VIEW = Math.tan((15 * Math.PI) / 180);

class Camera {
  // Starts with all boxes of the bounds in view.
  constructor(bounds) {
    this.middle = bounds.middle;
    this.radius = bounds.radius;
    this.points = bounds.boxes.flatMap(({ low, high }) => corners(low, high));
    this.aspect = 1;
    this.touched = false;
    this.wanted = { yaw: 0.62, pitch: 0.36, distance: 1, target: [0, 0, 0] };
    this.now = { ...this.wanted };
  }

  axes({ yaw, pitch }) {
    const back = [Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch), Math.cos(yaw) * Math.cos(pitch)];
    const right = [Math.cos(yaw), 0, -Math.sin(yaw)];
    return { back, right, up: cross(back, right) };
  }

  // Where the scene sits inside the window, leaving room for the controls (fractions of its size).
  setWindow(width, height, margins) {
    this.aspect = width / height;
    this.margins = margins;
    if (!this.touched) this.fit(true);
  }

  reset() {
    Object.assign(this.wanted, { yaw: 0.62, pitch: 0.36 });
    this.touched = false;
    this.fit(false);
  }

  // Moves back until every corner of the boxes is inside the margins.
  fit(atOnce) {
    const { back, right, up } = this.axes(this.wanted);
    const { top, bottom, side } = this.margins;
    const halfY = HALF_VIEW * (1 - top - bottom), halfX = HALF_VIEW * this.aspect * (1 - 2 * side);
    let middle = this.middle;
    let distance = this.radius;
    // Centre and distance depend on each other; a few rounds settle them.
    for (let round = 0; round < 8; round++) {
      let l = Infinity, r = -Infinity, b = Infinity, t = -Infinity, need = 0;
      for (const point of this.points) {
        const d = sub(point, middle);
        const x = dot(d, right), y = dot(d, up), z = dot(d, back);
        const depth = Math.max(distance - z, 1e-6);
        l = Math.min(l, x / depth); r = Math.max(r, x / depth);
        b = Math.min(b, y / depth); t = Math.max(t, y / depth);
        need = Math.max(need, z + Math.abs(x) / halfX, z + Math.abs(y) / halfY);
      }
      middle = add(middle, add(scale(right, ((l + r) / 2) * distance * 0.8), scale(up, ((b + t) / 2) * distance * 0.8)));
      distance = Math.max(need, this.radius * 0.5);
    }
    // Shift the middle into the free part of the window.
    const target = add(middle, scale(up, (top - bottom) * HALF_VIEW * distance));
    Object.assign(this.wanted, { target, distance });
    if (atOnce) this.now = { ...this.wanted };
  }

  // Glides towards what is wanted; false once there.
  advance(seconds) {
    const { now, wanted } = this;
    const k = 1 - Math.exp(-seconds * 18);
    const gap = Math.abs(wanted.yaw - now.yaw) + Math.abs(wanted.pitch - now.pitch)
      + Math.abs(Math.log(wanted.distance / now.distance))
      + length(sub(wanted.target, now.target)) / wanted.distance;
    if (gap < 4e-4) {
      if (gap > 0) this.now = { ...wanted };
      return gap > 0;
    }
    now.yaw += (wanted.yaw - now.yaw) * k;
    now.pitch += (wanted.pitch - now.pitch) * k;
    now.distance *= (wanted.distance / now.distance) ** k;
    now.target = add(now.target, scale(sub(wanted.target, now.target), k));
    return true;
  }

  matrices(jitter) {
    const { now } = this;
    const { back, right, up } = this.axes(now);
    const eye = add(now.target, scale(back, now.distance));
    const far = now.distance + this.radius * 16 + length(sub(now.target, this.middle));
    const near = Math.max(now.distance - this.radius * 3, now.distance * 0.03);
    const projection = perspective(HALF_VIEW, this.aspect, near, far);
    projection[8] = jitter[0];
    projection[9] = jitter[1];
    return { eye, view: multiply(projection, lookFrom(eye, right, up, back)) };
  }

  orbit(dx, dy) {
    this.touched = true;
    this.wanted.yaw -= dx * 0.0075;
    this.wanted.pitch = clamp(this.wanted.pitch + dy * 0.0075, -1.5, 1.5);
  }

  pan(dx, dy, height) {
    this.touched = true;
    const { right, up } = this.axes(this.wanted);
    const perPixel = (2 * HALF_VIEW * this.wanted.distance) / height;
    this.wanted.target = add(this.wanted.target, add(scale(right, -dx * perPixel), scale(up, dy * perPixel)));
  }

  zoom(factor) {
    this.touched = true;
    this.wanted.distance = clamp(this.wanted.distance * factor, this.radius * 0.02, this.radius * 30);
  }
}

// Left drag or one finger orbits; right, middle or shift drag and two fingers pan; wheel and pinch zoom.
function attachPointers(canvas, camera, changed) {
  const pointers = new Map();
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, gap: Math.max(Math.hypot(a.x - b.x, a.y - b.y), 1) };
  };
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    if (pointers.size < 2) {
      pointers.set(e.pointerId, { x: e.clientX, y: e.clientY, pan: e.button > 0 || e.shiftKey });
    }
  });
  canvas.addEventListener("pointermove", (e) => {
    const p = pointers.get(e.pointerId);
    if (!p) return;
    if (pointers.size === 2) {
      const before = spread();
      Object.assign(p, { x: e.clientX, y: e.clientY });
      const after = spread();
      camera.pan(after.x - before.x, after.y - before.y, canvas.clientHeight);
      camera.zoom(before.gap / after.gap);
    } else {
      const dx = e.clientX - p.x, dy = e.clientY - p.y;
      Object.assign(p, { x: e.clientX, y: e.clientY });
      if (p.pan) camera.pan(dx, dy, canvas.clientHeight);
      else camera.orbit(dx, dy);
    }
    changed();
  });
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
    canvas.addEventListener(name, (e) => pointers.delete(e.pointerId));
  }
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    const pixels = e.deltaY * (e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1);
    camera.zoom(Math.exp(clamp(pixels, -300, 300) * 0.0014));
    changed();
  }, { passive: false });
}

