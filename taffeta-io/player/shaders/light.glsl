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
const vec3 FILL = vec3(0.95, 0.97, 1.0) * 0.10;   // from the eye, so that nothing is flat
const vec3 GROUND = vec3(0.93, 0.88, 0.82) * 0.38;

vec2 disc(int i, int n, float turn) {
  float a = 2.39996323 * float(i) + turn;
  return sqrt((float(i) + 0.5) / float(n)) * vec2(cos(a), sin(a));
}

float lit(sampler2DShadow test, sampler2D depth, mat4 matrix, vec4 size, vec3 p, vec3 n,
          float narrowest, float widest, float vanish) {
  float turn = grain() * 2.0 * PI;
  // Start off the surface, so that it does not shade itself.
  vec3 q = (matrix * vec4(p + n * narrowest, 1.0)).xyz * 0.5 + 0.5;
  float edge = min(min(q.x, 1.0 - q.x), min(q.y, 1.0 - q.y));
  if (edge <= 0.0) return 1.0;
  // Around the point, compare with the depth of its tangent plane rather than its own.
  vec3 m = normalize(mat3(matrix) * n);
  vec2 slope = m.xy / max(-m.z, 0.3);
  float z = q.z - 0.6 * size.z / size.y;

  // How far away is what stands in the light?
  float sum = 0.0, hits = 0.0;
  int probes = max(uTaps * 2 / 3, 6);
  for (int i = 0; i < probes; i++) {
    vec2 d = disc(i, probes, turn) * widest / size.x;
    float found = textureLod(depth, q.xy + d, 0.0).r;
    if (found < z + dot(slope, d)) {
      sum += found - dot(slope, d);
      hits += 1.0;
    }
  }
  if (hits < 0.5) return 1.0;

  float gap = max(q.z - sum / hits, 0.0) * size.y;
  float radius = clamp(gap * size.w, narrowest, widest) / size.x;
  float light = 0.0;
  for (int i = 0; i < uTaps; i++) {
    vec2 d = disc(i, uTaps, turn) * radius;
    light += textureLod(test, vec3(q.xy + d, min(z + dot(slope, d), 1.0)), 0.0);
  }
  float weight = smoothstep(0.0, 0.06, edge) * (1.0 - smoothstep(0.1 * vanish, vanish, gap));
  return mix(1.0, light / float(uTaps), weight);
}

// Sharp where things touch, soft far away.
float keyLight(vec3 p, vec3 n) {
  if (!uShadows) return 1.0;
  return lit(uKeyTest, uKeyDepth, uKeyMatrix, uKeySize, p, n, uKeySize.z * 1.4, uKeySize.x * 0.06, 1e6);
}

// Never sharp, and gone where what is above is far away: it hides little of the sky.
float skyLight(vec3 p, vec3 n) {
  if (!uShadows) return 1.0;
  // A map seen from above says nothing about walls and undersides.
  float trust = smoothstep(0.0, 0.5, n.y);
  if (trust <= 0.0) return 0.65;
  float seen = lit(uSkyTest, uSkyDepth, uSkyMatrix, uSkySize, p, n, uSkySize.x * 0.005, uSkySize.x * 0.16, uSkySize.x * 0.6);
  return mix(0.65, seen, trust);
}

// Ends the highlights softly instead of clipping them.
vec3 soften(vec3 c) {
  vec3 over = max(c - 0.6, 0.0);
  return min(c, 0.6) + 0.4 * (1.0 - exp(-over / 0.4));
}
