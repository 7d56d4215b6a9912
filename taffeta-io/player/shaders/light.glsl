// One key light with a shadow whose edge widens with distance, and a sky that is shadowed the same
// way from straight above, which darkens hollows and what lies under the cloth.

uniform vec3 uEye;
uniform vec3 uKeyDir;              // towards the key light
uniform bool uShadows;
uniform int uTaps;
uniform mat4 uKeyMatrix, uSkyMatrix;
uniform vec4 uKeySize, uSkySize;   // width, depth, texel (all m), tangent of the light's radius
uniform sampler2DShadow uKeyTest, uSkyTest;
uniform sampler2D uKeyDepth, uSkyDepth;

const vec3 KEY = vec3(1.0, 0.955, 0.895) * 2.05;
const vec3 SKY = vec3(0.80, 0.90, 1.0) * 0.82;
const vec3 GROUND = vec3(0.93, 0.88, 0.82) * 0.38;

vec2 disc(int i, int n, float turn) {
  float a = 2.39996323 * float(i) + turn;
  return sqrt((float(i) + 0.5) / float(n)) * vec2(cos(a), sin(a));
}

float lit(sampler2DShadow test, sampler2D depth, mat4 matrix, vec4 size, vec3 p, vec3 n, float widest) {
  float turn = grain() * 2.0 * PI;
  // Start a little off the surface, so that it does not shade itself.
  vec3 q = (matrix * vec4(p + n * size.z * 1.6, 1.0)).xyz * 0.5 + 0.5;
  vec2 edge = min(q.xy, 1.0 - q.xy);
  if (min(edge.x, edge.y) <= 0.0) return 1.0;

  float search = widest / size.x;
  float sum = 0.0, hits = 0.0;
  int probes = max(uTaps / 2, 6);
  for (int i = 0; i < probes; i++) {
    vec2 d = disc(i, probes, turn) * search;
    float z = textureLod(depth, q.xy + d, 0.0).r;
    // A surface tilted to the light must not count its own neighbourhood as an obstacle.
    float slack = length(d) * size.x / size.y * 0.7;
    if (z < q.z - 0.0004 - slack * 0.35) { sum += z; hits += 1.0; }
  }
  if (hits < 0.5) {
    return textureLod(test, vec3(q.xy, min(q.z, 1.0) - 0.0004), 0.0);
  }
  float gap = (q.z - sum / hits) * size.y;
  float radius = clamp(gap * size.w, size.z * 1.25, widest);
  // Wider filters need a larger step off the surface.
  vec3 r = (matrix * vec4(p + n * (size.z * 1.6 + radius * 0.35), 1.0)).xyz * 0.5 + 0.5;
  float z = min(r.z, 1.0) - 0.0004;
  float light = 0.0;
  for (int i = 0; i < uTaps; i++) {
    light += textureLod(test, vec3(r.xy + disc(i, uTaps, turn) * radius / size.x, z), 0.0);
  }
  light /= float(uTaps);
  float fade = smoothstep(0.0, 0.06, min(edge.x, edge.y));
  return mix(1.0, light, fade);
}

float keyLight(vec3 p, vec3 n) {
  if (!uShadows) return 1.0;
  return lit(uKeyTest, uKeyDepth, uKeyMatrix, uKeySize, p, n, uKeySize.x * 0.06);
}

float skyLight(vec3 p, vec3 n) {
  if (!uShadows) return 1.0;
  return lit(uSkyTest, uSkyDepth, uSkyMatrix, uSkySize, p, n, uSkySize.x * 0.14);
}

// Ends the highlights softly instead of clipping them.
vec3 soften(vec3 c) {
  vec3 over = max(c - 0.6, 0.0);
  return min(c, 0.6) + 0.4 * (1.0 - exp(-over / 0.4));
}
