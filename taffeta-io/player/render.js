// ---- Drawing -------------------------------------------------------------------------------------

const source = (id) => document.getElementById(id).textContent;
const KEY_TEST = 0, SKY_TEST = 1, KEY_DEPTH = 2, SKY_DEPTH = 3, PICTURE = 4;

class Program {
  constructor(gl, vertex, fragments) {
    this.gl = gl;
    this.handle = gl.createProgram();
    const compile = (type, text) => {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, `#version 300 es\n${text}`);
      gl.compileShader(shader);
      gl.attachShader(this.handle, shader);
      return shader;
    };
    const shaders = [
      compile(gl.VERTEX_SHADER, source(vertex)),
      compile(gl.FRAGMENT_SHADER, fragments.map(source).join("\n")),
    ];
    gl.linkProgram(this.handle);
    if (!gl.getProgramParameter(this.handle, gl.LINK_STATUS)) {
      const logs = shaders.map((s) => gl.getShaderInfoLog(s) || "").join("\n");
      throw new Error(`A shader did not compile.\n${logs}${gl.getProgramInfoLog(this.handle)}`);
    }
    this.uniforms = new Map();
    const count = gl.getProgramParameter(this.handle, gl.ACTIVE_UNIFORMS);
    for (let i = 0; i < count; i++) {
      const { name, type } = gl.getActiveUniform(this.handle, i);
      this.uniforms.set(name.replace("[0]", ""), { type, at: gl.getUniformLocation(this.handle, name) });
    }
  }

  // Makes it current and sets the uniforms it has.
  use(values) {
    const { gl } = this;
    gl.useProgram(this.handle);
    for (const [name, value] of Object.entries(values)) {
      const uniform = this.uniforms.get(name);
      if (!uniform) continue;
      switch (uniform.type) {
        case gl.FLOAT: gl.uniform1f(uniform.at, value); break;
        case gl.FLOAT_VEC2: gl.uniform2fv(uniform.at, value); break;
        case gl.FLOAT_VEC3: gl.uniform3fv(uniform.at, value); break;
        case gl.FLOAT_VEC4: gl.uniform4fv(uniform.at, value); break;
        case gl.FLOAT_MAT4: gl.uniformMatrix4fv(uniform.at, false, value); break;
        default: gl.uniform1i(uniform.at, value);
      }
    }
  }
}

// A depth picture from a light far away.
class ShadowMap {
  constructor(gl, size, direction, tangent) {
    Object.assign(this, { gl, size, tangent });
    this.back = direction;
    this.right = unit(cross(Math.abs(direction[1]) > 0.9 ? [0, 0, 1] : UP, direction));
    this.up = cross(direction, this.right);
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, size, size);
    this.target = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.texture, 0);
    gl.drawBuffers([gl.NONE]);
    gl.readBuffer(gl.NONE);
  }

  // Looks at a ball; coarse steps keep the shadow still while the cloth moves.
  aim(middle, radius) {
    const r = 1.1 ** Math.ceil(Math.log(radius * 1.06) / Math.log(1.1));
    const texel = (2 * r) / this.size;
    const snap = (axis) => scale(axis, Math.round(dot(middle, axis) / texel) * texel);
    const centre = add(add(snap(this.right), snap(this.up)), snap(this.back));
    this.matrix = multiply(parallel(r), lookFrom(centre, this.right, this.up, this.back));
    this.measures = [2 * r, 2 * r, texel, this.tangent];
  }

  // Binds the depth twice: once for reading, once for filtered comparing.
  bind(testUnit, depthUnit, compare, plain) {
    const { gl } = this;
    for (const [at, sampler] of [[testUnit, compare], [depthUnit, plain]]) {
      gl.activeTexture(gl.TEXTURE0 + at);
      gl.bindTexture(gl.TEXTURE_2D, this.texture);
      gl.bindSampler(at, sampler);
    }
  }
}

class Renderer {
  constructor(canvas, recording, bounds) {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false, powerPreference: "high-performance" });
    if (!gl) throw new Error("no WebGL2");
    Object.assign(this, { gl, canvas, recording, bounds });
    this.drawn = 0;
    this.cell = roundLength(bounds.radius * 0.8);
    this.canRefine = !!(gl.getExtension("EXT_color_buffer_float") || gl.getExtension("EXT_color_buffer_half_float"));
    this.programs = {
      cloth: new Program(gl, "cloth.vert", ["common", "light", "cloth.frag"]),
      solid: new Program(gl, "solid.vert", ["common", "light", "solid.frag"]),
      floor: new Program(gl, "solid.vert", ["common", "light", "floor.frag"]),
      screen: new Program(gl, "screen.vert", ["common", "screen.frag"]),
      wire: new Program(gl, "cloth.vert", ["common", "wire.frag"]),
      clothFlat: new Program(gl, "cloth.vert", ["common", "flat.frag"]),
      solidFlat: new Program(gl, "solid.vert", ["common", "flat.frag"]),
    };
    this.key = new ShadowMap(gl, 2048, KEY_DIRECTION, 0.075);
    this.sky = new ShadowMap(gl, 1024, UP, 0.8);
    this.compare = this.sampler(gl.LINEAR, { [gl.TEXTURE_COMPARE_MODE]: gl.COMPARE_REF_TO_TEXTURE, [gl.TEXTURE_COMPARE_FUNC]: gl.LEQUAL });
    this.plain = this.sampler(gl.NEAREST, {});
    this.empty = gl.createVertexArray();
    this.makeCloth();
    this.bodies = recording.about.colliders.map((body) => this.makeBody(body));
    if (!recording.about.colliders.some((b) => b.kind === "plane")) this.catcher = this.makeBody({ kind: "plane" });
    this.targets = null;
  }

  sampler(filter, more) {
    const { gl } = this;
    const s = gl.createSampler();
    gl.samplerParameteri(s, gl.TEXTURE_MIN_FILTER, filter);
    gl.samplerParameteri(s, gl.TEXTURE_MAG_FILTER, filter);
    gl.samplerParameteri(s, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.samplerParameteri(s, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    for (const [name, value] of Object.entries(more)) gl.samplerParameteri(s, +name, value);
    return s;
  }

  makeCloth() {
    const { gl, recording } = this;
    this.normals = new Float32Array(recording.vertices * 3);
    this.strain = new Strain(recording);
    const buffer = (location, size) => {
      const b = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, b);
      gl.bufferData(gl.ARRAY_BUFFER, recording.vertices * size * 4, gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(location);
      gl.vertexAttribPointer(location, size, gl.FLOAT, false, 0, 0);
      return b;
    };
    this.clothArray = gl.createVertexArray();
    gl.bindVertexArray(this.clothArray);
    this.buffers = [buffer(0, 3), buffer(1, 3), buffer(2, 1)];
    this.triangleBuffer = gl.createBuffer();
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.triangleBuffer);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, recording.triangles, gl.STATIC_DRAW);
    const parts = recording.about.parts.length ? recording.about.parts : [{ triangles: [0, recording.about.triangles] }];
    this.parts = parts.map(({ triangles: [from, to], solid = false }, i) => {
      const front = linear(solid ? BODY_COLOUR : PALETTE[i % PALETTE.length]);
      const back = solid ? front : front.map((c, k) => c * 0.62 + [0.80, 0.74, 0.66][k] * 0.30);
      return { first: from * 12, count: (to - from) * 3, front, back, solid };
    });
  }

  makeBody(body) {
    const { gl } = this;
    const { vertices, indices } = bodyMesh(body);
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(vertices), gl.STATIC_DRAW);
    for (const [location, size, at] of [[0, 3, 0], [1, 3, 12], [2, 2, 24]]) {
      gl.enableVertexAttribArray(location);
      gl.vertexAttribPointer(location, size, gl.FLOAT, false, 32, at);
    }
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint16Array(indices), gl.STATIC_DRAW);
    return { kind: body.kind, array, count: indices.length };
  }

  resize(width, height) {
    const { gl, canvas } = this;
    if (canvas.width === width && canvas.height === height && this.targets) return;
    canvas.width = width;
    canvas.height = height;
    for (const t of this.targets ? Object.values(this.targets) : []) {
      gl.deleteFramebuffer(t.frame);
      t.textures.forEach((x) => gl.deleteTexture(x));
      t.buffers.forEach((x) => gl.deleteRenderbuffer(x));
    }
    const samples = Math.min(4, gl.getParameter(gl.MAX_SAMPLES));
    const target = (setup) => {
      const t = { frame: gl.createFramebuffer(), textures: [], buffers: [] };
      gl.bindFramebuffer(gl.FRAMEBUFFER, t.frame);
      setup(t);
      return t;
    };
    const texture = (format) => target((t) => {
      const x = gl.createTexture();
      gl.activeTexture(gl.TEXTURE0 + PICTURE);
      gl.bindTexture(gl.TEXTURE_2D, x);
      gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, x, 0);
      t.textures.push(x);
    });
    this.targets = {
      scene: target((t) => {
        for (const [format, at] of [[gl.RGBA8, gl.COLOR_ATTACHMENT0], [gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]]) {
          const b = gl.createRenderbuffer();
          gl.bindRenderbuffer(gl.RENDERBUFFER, b);
          gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, width, height);
          gl.framebufferRenderbuffer(gl.FRAMEBUFFER, at, gl.RENDERBUFFER, b);
          t.buffers.push(b);
        }
      }),
      picture: texture(gl.RGBA8),
      mean: this.canRefine ? texture(gl.RGBA16F) : null,
    };
    if (!this.targets.mean) delete this.targets.mean;
  }

  // Sends a frame to the graphics card.
  setFrame(index, withStrain) {
    const { gl, recording } = this;
    const positions = recording.frames[index];
    if (this.frame !== index) {
      computeNormals(positions, recording.triangles, this.normals);
      this.send(0, positions);
      this.send(1, this.normals);
      this.frame = index;
      this.poses = recording.poses[index].map(poseMatrix);
      const bounds = new Bounds();
      bounds.includeAll(positions);
      bounds.includeBodies(recording.about.colliders, recording.poses[index], bounds.radius * 3);
      this.frameBounds = bounds;
      this.stale = true;
    }
    if (withStrain && this.strainFrame !== index) {
      this.strain.compute(positions);
      this.send(2, this.strain.values);
      this.strainFrame = index;
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, null);
  }

  send(k, data) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[k]);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, data);
  }

  drawShadows() {
    const { gl, programs } = this;
    gl.colorMask(false, false, false, false);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1.5, 3);
    for (const map of [this.key, this.sky]) {
      map.aim(this.frameBounds.middle, this.frameBounds.radius);
      gl.bindFramebuffer(gl.FRAMEBUFFER, map.target);
      gl.viewport(0, 0, map.size, map.size);
      gl.clear(gl.DEPTH_BUFFER_BIT);
      programs.clothFlat.use({ uView: map.matrix, uPull: 0 });
      this.drawCloth();
      for (const [i, body] of this.bodies.entries()) {
        if (body.kind === "plane") continue;
        programs.solidFlat.use({ uView: map.matrix, uModel: this.poses[i] });
        this.drawBody(body);
      }
    }
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.colorMask(true, true, true, true);
    this.stale = false;
  }

  drawCloth(each) {
    const { gl } = this;
    gl.bindVertexArray(this.clothArray);
    for (const part of this.parts) {
      if (each) each(part);
      gl.drawElements(gl.TRIANGLES, part.count, gl.UNSIGNED_INT, part.first);
    }
  }

  drawBody({ array, count }) {
    this.gl.bindVertexArray(array);
    this.gl.drawElements(this.gl.TRIANGLES, count, this.gl.UNSIGNED_SHORT, 0);
  }

  // Draws the scene. Pictures after the first (`sample` > 0) are averaged into a finer one.
  draw(camera, look, sample) {
    const { gl, programs, targets } = this;
    const { width, height } = this.canvas;
    if (this.stale) this.drawShadows();
    const jitter = sample === 0 ? [0, 0] : [(halton(sample, 2) * 2 - 1) / width, (halton(sample, 3) * 2 - 1) / height];
    const { eye, view } = camera.matrices(jitter);
    const common = {
      uView: view, uEye: eye, uScreen: [width, height], uSample: sample, uKeyDir: KEY_DIRECTION,
      uShadows: look.shadows, uTaps: look.taps,
      uKeyMatrix: this.key.matrix, uKeySize: this.key.measures, uKeyTest: KEY_TEST, uKeyDepth: KEY_DEPTH,
      uSkyMatrix: this.sky.matrix, uSkySize: this.sky.measures, uSkyTest: SKY_TEST, uSkyDepth: SKY_DEPTH,
    };
    this.key.bind(KEY_TEST, KEY_DEPTH, this.compare, this.plain);
    this.sky.bind(SKY_TEST, SKY_DEPTH, this.compare, this.plain);
    gl.bindFramebuffer(gl.FRAMEBUFFER, targets.scene.frame);
    gl.viewport(0, 0, width, height);
    gl.clear(gl.DEPTH_BUFFER_BIT);

    gl.disable(gl.DEPTH_TEST);
    programs.screen.use({ ...common, uCopy: 0, uPicture: PICTURE });
    this.drawScreen();
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);

    // Cloth rests a hair's breadth above the bodies: push those back a little.
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1, 4);
    if (look.floor) this.drawFloors(common);
    gl.enable(gl.CULL_FACE);
    programs.solid.use({ ...common, uFront: linear(BODY_COLOUR) });
    for (const [i, body] of this.bodies.entries()) {
      if (body.kind === "plane") continue;
      programs.solid.use({ uModel: this.poses[i] });
      this.drawBody(body);
    }
    gl.disable(gl.CULL_FACE);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    programs.cloth.use({ ...common, uPull: 0, uStrain: look.strain, uStrainRange: this.strain.range || 1, uRamp: STRAIN_COLOURS.flatMap(shown) });
    this.drawCloth(({ front, back, solid }) => programs.cloth.use({ uFront: front, uBack: back, uStrain: look.strain && !solid }));
    if (look.wire) this.drawWire(common, camera);
    this.present(sample);
    this.drawn++;
  }

  drawScreen() {
    this.gl.bindVertexArray(this.empty);
    this.gl.drawArrays(this.gl.TRIANGLES, 0, 3);
  }

  drawFloors(common) {
    const { programs, bounds } = this;
    const reach = bounds.radius * 7;
    const spread = (model, x, z) => {
      const m = new Float32Array(model);
      const at = transform(model, [x, 0, z]);
      for (let k = 0; k < 12; k++) m[k] *= reach;
      m.set(at, 12);
      return m;
    };
    const draw = (body, model, cell) => {
      // The scene's middle in the plane's own coordinates.
      const d = sub(bounds.middle, [model[12], model[13], model[14]]);
      const x = dot(d, [model[0], model[1], model[2]]), z = dot(d, [model[8], model[9], model[10]]);
      programs.floor.use({ ...common, uModel: spread(model, x, z), uMiddle: [x, z], uReach: reach, uCell: cell });
      this.drawBody(body);
    };
    this.bodies.forEach((body, i) => {
      if (body.kind === "plane") draw(body, this.poses[i], this.cell);
    });
    // Without a ground, a shadow below everything still says where things are.
    if (this.catcher) draw(this.catcher, poseMatrix([0, bounds.low[1] - bounds.radius * 0.12, 0, 0, 0, 0, 1]), 0);
  }

  drawWire(common, camera) {
    const { gl, recording } = this;
    if (!this.wire) {
      const lines = wireIndices(recording.triangles, recording.vertices);
      this.wire = { buffer: gl.createBuffer(), count: lines.length };
      gl.bindVertexArray(this.clothArray);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.wire.buffer);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, lines, gl.STATIC_DRAW);
    }
    // Dense meshes get fainter lines, or they would only be dark.
    const side = recording.rest.length ? recording.rest[recording.rest.length >> 1] : this.bounds.radius / 40;
    const pixels = (side / (2 * HALF_VIEW * camera.now.distance)) * this.canvas.height;
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ZERO, gl.ONE);
    this.programs.wire.use({ ...common, uPull: 2e-4, uFlat: [0.07, 0.08, 0.10, clamp(pixels / 22, 0.16, 0.62)] });
    gl.bindVertexArray(this.clothArray);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.wire.buffer);
    gl.drawElements(gl.LINES, this.wire.count, gl.UNSIGNED_INT, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.triangleBuffer);
    gl.disable(gl.BLEND);
  }

  // Resolves the samples, updates the mean and shows it.
  present(sample) {
    const { gl, targets, programs } = this;
    const { width, height } = this.canvas;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, targets.scene.frame);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, targets.picture.frame);
    gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    gl.disable(gl.DEPTH_TEST);
    gl.activeTexture(gl.TEXTURE0 + PICTURE);
    let shownTexture = targets.picture.textures[0];
    if (targets.mean) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, targets.mean.frame);
      gl.bindTexture(gl.TEXTURE_2D, shownTexture);
      if (sample > 0) {
        gl.enable(gl.BLEND);
        gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ZERO, gl.ONE);
      }
      programs.screen.use({ uCopy: 1, uShare: 1 / (sample + 1), uPicture: PICTURE });
      this.drawScreen();
      gl.disable(gl.BLEND);
      shownTexture = targets.mean.textures[0];
    }
    this.shownTexture = shownTexture;
    this.show();
  }

  // Puts the newest picture on the canvas.
  show() {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.activeTexture(gl.TEXTURE0 + PICTURE);
    gl.bindTexture(gl.TEXTURE_2D, this.shownTexture);
    this.programs.screen.use({ uCopy: 1, uShare: 1, uPicture: PICTURE });
    this.drawScreen();
  }
}

// Evenly spread numbers between 0 and 1.
function halton(i, base) {
  let f = 1, r = 0;
  for (; i > 0; i = Math.floor(i / base)) {
    f /= base;
    r += f * (i % base);
  }
  return r;
}

