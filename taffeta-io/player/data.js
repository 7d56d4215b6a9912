// ---- Unpacking: see output/html/coding.rs for the format -----------------------------------------

async function unpack(element) {
  const text = element.textContent;
  element.remove();
  let bytes;
  if (Uint8Array.fromBase64) {
    bytes = Uint8Array.fromBase64(text);
  } else {
    const raw = atob(text);
    bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const whole = new Response(stream).arrayBuffer();
  return new Uint8Array(await whole.catch(() => { throw new Error("Its packed data is damaged."); }));
}

class Recording {
  constructor() {
    this.about = JSON.parse(document.getElementById("about").textContent);
    this.vertices = this.about.vertices;
    this.frames = [];   // one Float32Array of positions each
    this.poses = [];
    this.times = [];
    this.metrics = [];
  }

  async loadMesh() {
    const bytes = await unpack(document.querySelector("script.mesh"));
    let at = 0;
    const ints = (n) => {
      const out = new Int32Array(n);
      let last = 0;
      for (let i = 0; i < n; i++) {
        const p = at + i;
        const z = bytes[p] | (bytes[p + n] << 8) | (bytes[p + 2 * n] << 16) | (bytes[p + 3 * n] << 24);
        last = (last + ((z >>> 1) ^ -(z & 1))) | 0;
        out[i] = last;
      }
      at += 4 * n;
      return out;
    };
    const columns = (count, n) => {
      const parts = Array.from({ length: count }, () => ints(n));
      const out = new Uint32Array(count * n);
      for (let i = 0; i < n; i++) for (let k = 0; k < count; k++) out[i * count + k] = parts[k][i];
      return out;
    };
    this.triangles = columns(3, this.about.triangles);
    this.edges = columns(2, this.about.edges);
    this.rest = new Float32Array(ints(this.about.edges).buffer);
    this.table = Array.from({ length: 3 }, () => ints(this.vertices).map((back, v) => v - back));

    const n = this.vertices;
    this.last = [0, 1, 2].map(() => new Int32Array(n));
    this.older = [0, 1, 2].map(() => new Int32Array(n));
    this.remains = new Int32Array(n + 1);
  }

  // Unpacks the frames block by block, calling `progress` after each.
  async loadFrames(progress) {
    for (const element of document.querySelectorAll("script.frames")) {
      const bytes = await unpack(element);
      const view = new DataView(bytes.buffer);
      let at = 0;
      while (at < bytes.length) at = this.readFrame(bytes, view, at);
      await progress();
      await new Promise((next) => setTimeout(next));
    }
    this.last = this.older = this.remains = this.table = null;
  }

  readFrame(bytes, view, at) {
    const n = this.vertices;
    const { step } = this.about;
    const time = Math.floor(bytes[at] / 3), space = bytes[at] % 3;
    const planes = bytes[at + 1];
    at += 2;
    const [ta, tb, tc] = this.table;
    const rest = this.remains;
    const positions = new Float32Array(3 * n);
    for (let c = 0; c < 3; c++) {
      const last = this.last[c], older = this.older[c];
      const p0 = at + c * n, p1 = p0 + 3 * n, p2 = p1 + 3 * n, p3 = p2 + 3 * n;
      for (let v = 0; v < n; v++) {
        let z = bytes[p0 + v];
        if (planes > 1) z |= bytes[p1 + v] << 8;
        if (planes > 2) z |= bytes[p2 + v] << 16;
        if (planes > 3) z |= bytes[p3 + v] << 24;
        let r = (z >>> 1) ^ -(z & 1);
        if (space === 1) r = (r + rest[ta[v]]) | 0;
        else if (space === 2) r = (r + rest[ta[v]] + rest[tb[v]] - rest[tc[v]]) | 0;
        rest[v] = r;
        const l = last[v];
        const q = time === 0 ? r : time === 1 ? (r + l) | 0 : (r + 2 * l - older[v]) | 0;
        older[v] = l;
        last[v] = q;
        positions[3 * v + c] = q * step;
      }
    }
    at += planes * 3 * n;
    const floats = (count) => {
      const out = new Float32Array(count);
      for (let i = 0; i < count; i++, at += 4) out[i] = view.getFloat32(at, true);
      return out;
    };
    this.frames.push(positions);
    this.times.push(floats(1)[0]);
    this.poses.push(this.about.colliders.map(() => floats(7)));
    this.metrics.push(floats(this.about.metrics.length));
    return at;
  }
}

// ---- What is derived from the positions of a frame -----------------------------------------------

// Smooth normals, weighted by area.
function computeNormals(positions, triangles, out) {
  out.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
    const ax = positions[a], ay = positions[a + 1], az = positions[a + 2];
    const ux = positions[b] - ax, uy = positions[b + 1] - ay, uz = positions[b + 2] - az;
    const vx = positions[c] - ax, vy = positions[c + 1] - ay, vz = positions[c + 2] - az;
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    out[a] += x; out[a + 1] += y; out[a + 2] += z;
    out[b] += x; out[b + 1] += y; out[b + 2] += z;
    out[c] += x; out[c + 1] += y; out[c + 2] += z;
  }
  for (let i = 0; i < out.length; i += 3) {
    const x = out[i], y = out[i + 1], z = out[i + 2];
    const s = 1 / (Math.sqrt(x * x + y * y + z * z) || 1);
    out[i] = x * s; out[i + 1] = y * s; out[i + 2] = z * s;
  }
}

// Strain of every vertex: the mean over its edges, weighted by their rest lengths.
class Strain {
  constructor(recording) {
    this.recording = recording;
    this.values = new Float32Array(recording.vertices);
    this.weights = new Float32Array(recording.vertices);
    const { edges, rest } = recording;
    for (let e = 0; e < rest.length; e++) {
      this.weights[edges[2 * e]] += rest[e];
      this.weights[edges[2 * e + 1]] += rest[e];
    }
    this.most = this.least = 0;   // of single edges
  }

  compute(positions) {
    const { edges, rest } = this.recording;
    const { values, weights } = this;
    values.fill(0);
    let most = -1, least = Infinity;
    for (let e = 0; e < rest.length; e++) {
      const i = edges[2 * e], j = edges[2 * e + 1];
      const x = positions[3 * i] - positions[3 * j];
      const y = positions[3 * i + 1] - positions[3 * j + 1];
      const z = positions[3 * i + 2] - positions[3 * j + 2];
      const change = Math.sqrt(x * x + y * y + z * z) - rest[e];
      values[i] += change;
      values[j] += change;
      const s = change / rest[e];
      if (s > most) most = s;
      if (s < least) least = s;
    }
    for (let v = 0; v < values.length; v++) values[v] = weights[v] > 0 ? values[v] / weights[v] : 0;
    this.most = most;
    this.least = least;
  }

  // A round range that holds nearly all strains of the recording.
  chooseRange() {
    const { frames } = this.recording;
    const found = [];
    const stride = Math.max(1, Math.floor(this.values.length / 2000));
    for (let k = 1; k <= 12; k++) {
      this.compute(frames[Math.round(((frames.length - 1) * k) / 12)]);
      for (let v = 0; v < this.values.length; v += stride) found.push(Math.abs(this.values[v]));
    }
    found.sort((a, b) => a - b);
    const wanted = Math.max(found[Math.floor(found.length * 0.985)] || 0, 0.004);
    const power = 10 ** Math.floor(Math.log10(wanted));
    this.range = [1, 2, 5, 10].map((m) => m * power).find((r) => r >= wanted * 0.999);
  }
}

