// ---- Bodies: meshes of the colliders, bounds, colours --------------------------------------------

const PALETTE = ["#b34a34", "#35598f", "#5f8552", "#cf9433", "#77497f", "#2b807c", "#c26f83", "#566577"];
const BODY_COLOUR = "#cdc8bf";
const STRAIN_COLOURS = ["#17478c", "#6ea8d6", "#f3f0ea", "#ec9a57", "#96330e"];
const KEY_DIRECTION = unit([-0.42, 0.86, 0.52]);
const UP = [0, 1, 0];

// A sphere, or a capsule if `half` is not zero: position, normal, checker phase.
function roundMesh(radius, half) {
  const around = 96, rings = 48;
  const vertices = [], indices = [];
  const rows = [];
  for (let i = 0; i <= rings; i++) {
    const a = Math.PI * (0.5 - i / rings);
    rows.push({ a, lift: a >= 0 ? half : -half });
    if (i === rings / 2 && half > 0) rows.push({ a: 0, lift: -half });
  }
  for (const { a, lift } of rows) {
    for (let k = 0; k <= around; k++) {
      const b = (2 * Math.PI * k) / around;
      const n = [Math.cos(a) * Math.sin(b), Math.sin(a), Math.cos(a) * Math.cos(b)];
      const along = 4 * a + (Math.PI * Math.sign(lift) * Math.round((2 * half) / radius)) / 2;
      vertices.push(n[0] * radius, n[1] * radius + lift, n[2] * radius, ...n, 4 * b, along + Math.PI / 2);
    }
  }
  const w = around + 1;
  for (let i = 0; i + 1 < rows.length; i++) {
    for (let k = 0; k < around; k++) {
      const v = i * w + k;
      indices.push(v, v + w, v + 1, v + 1, v + w, v + w + 1);
    }
  }
  return { vertices, indices };
}

function boxMesh(half) {
  const vertices = [], indices = [];
  const cell = Math.max(Math.min(...half), Math.max(...half) / 8);
  // A whole number of cells along every side.
  const phase = (p, k) => (Math.PI * Math.max(1, Math.round((2 * half[k]) / cell)) * (p[k] / half[k] + 1)) / 2;
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-1, 1]) {
      const u = (axis + 1) % 3, v = (axis + 2) % 3;
      const base = vertices.length / 8;
      for (const [a, b] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const p = [0, 0, 0], n = [0, 0, 0];
        p[axis] = side * half[axis];
        p[u] = a * half[u] * side;
        p[v] = b * half[v];
        n[axis] = side;
        vertices.push(...p, ...n, phase(p, u), phase(p, v));
      }
      indices.push(base, base + 1, base + 2, base, base + 2, base + 3);
    }
  }
  return { vertices, indices };
}

const squareMesh = () => ({
  vertices: [[-1, -1], [1, -1], [1, 1], [-1, 1]].flatMap(([x, z]) => [x, 0, z, 0, 1, 0, 0, 0]),
  indices: [0, 2, 1, 0, 3, 2],
});

function bodyMesh(body) {
  switch (body.kind) {
    case "sphere": return roundMesh(body.radius, 0);
    case "capsule": return roundMesh(body.radius, body.half);
    case "box": return boxMesh(body.half);
    case "mesh": return { vertices: [], indices: [] };   // among the parts
    default: return squareMesh();
  }
}

function bodyRadius(body) {
  switch (body.kind) {
    case "sphere": return body.radius;
    case "capsule": return body.radius + body.half;
    case "box": return length(body.half);
    default: return Infinity;
  }
}

const corners = (low, high) => Array.from({ length: 8 }, (_, c) => low.map((x, k) => (c >> k & 1 ? high[k] : x)));

class Bounds {
  constructor(low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity]) {
    this.low = [...low];
    this.high = [...high];
  }

  include(p, r = 0) {
    for (let k = 0; k < 3; k++) {
      this.low[k] = Math.min(this.low[k], p[k] - r);
      this.high[k] = Math.max(this.high[k], p[k] + r);
    }
  }

  includeAll(positions) {
    for (let i = 0; i < positions.length; i += 3) {
      for (let k = 0; k < 3; k++) {
        const x = positions[i + k];
        if (x < this.low[k]) this.low[k] = x;
        if (x > this.high[k]) this.high[k] = x;
      }
    }
  }

  // Bodies much larger than the cloth are scenery and do not count.
  includeBodies(bodies, poses, largest) {
    bodies.forEach((body, i) => {
      if (bodyRadius(body) > largest) return;
      const m = poseMatrix(poses[i]);
      if (body.kind === "capsule") {
        for (const s of [-1, 1]) this.include(transform(m, [0, s * body.half, 0]), body.radius);
      } else if (body.kind === "box") {
        for (const corner of corners(body.half.map((h) => -h), body.half)) this.include(transform(m, corner));
      } else {
        this.include(poses[i], body.radius);
      }
    });
  }

  get middle() { return scale(add(this.low, this.high), 0.5); }
  get radius() { return Math.max(length(sub(this.high, this.low)) / 2, 1e-3); }
}

// Boxes that hold everything worth seeing in the whole recording, and the box around them all.
function wholeBounds({ about, poses }) {
  const boxes = about.boxes.map((b) => new Bounds(b.slice(0, 3), b.slice(3)));
  const whole = new Bounds();
  for (const { low, high } of boxes) {
    whole.include(low);
    whole.include(high);
  }
  if (!boxes.length) whole.include([0, 0, 0], 1);
  const largest = whole.radius * 1.5;
  about.colliders.forEach((body, i) => {
    const low = about.travel[i].slice(0, 3), high = about.travel[i].slice(3);
    const way = length(sub(high, low)), r = bodyRadius(body);
    const bounds = new Bounds();
    if (way < 0.05 * r) {
      bounds.includeBodies([body], [poses[0][i]], largest);
    } else if (r + way <= 2 * largest) {
      bounds.include(low, r);
      bounds.include(high, r);
    }
    if (bounds.low[0] < Infinity) boxes.push(bounds);
  });
  for (const { low, high } of boxes) {
    whole.include(low);
    whole.include(high);
  }
  whole.boxes = boxes.length ? boxes : [whole];
  return whole;
}

// A round length not above x: 1 or 5 times a power of ten.
function roundLength(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return x / power >= 5 ? 5 * power : power;
}

// The lines of a wireframe: every side of a triangle once.
function wireIndices(triangles, vertices) {
  const seen = new Set();
  const out = [];
  for (let t = 0; t < triangles.length; t += 3) {
    for (let k = 0; k < 3; k++) {
      const a = triangles[t + k], b = triangles[t + ((k + 1) % 3)];
      const key = Math.min(a, b) * vertices + Math.max(a, b);
      if (seen.has(key)) continue;
      seen.add(key);
      out.push(a, b);
    }
  }
  return new Uint32Array(out);
}

