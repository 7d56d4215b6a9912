// The ground is the backdrop itself, darkened by shadow and grid: it fades out without an edge.
uniform vec2 uMiddle;              // of the scene, in the plane
uniform float uReach;              // m
uniform float uCell;               // m; 0 without a grid
in vec3 vPosition;
in vec3 vNormal;
in vec3 vLocal;
out vec4 oColour;

float lines(vec2 p, float cell, float width) {
  vec2 q = p / cell;
  vec2 w = max(fwidth(q), 1e-6);
  vec2 d = abs(fract(q - 0.5) - 0.5) / w;
  vec2 a = (1.0 - smoothstep(width - 0.5, width + 0.5, d)) * (1.0 - smoothstep(0.15, 0.5, w));
  return max(a.x, a.y);
}

void main() {
  vec3 n = normalize(vNormal);
  if (dot(n, uEye - vPosition) <= 0.0) discard;
  float r = length(vLocal.xz);
  vec2 plane = uMiddle + vLocal.xz * uReach;
  float near = 1.0 - smoothstep(0.25, 1.0, r);
  if (near <= 0.0) discard;

  float key = keyLight(vPosition, n);
  float sky = skyLight(vPosition, n);
  // Away from the scene there is nothing to shadow.
  float fade = 1.0 - smoothstep(0.5, 0.95, r);
  float shade = mix(1.0, 0.64, (1.0 - key) * fade) * mix(1.0, 0.58, (1.0 - sky) * fade);
  vec3 tint = pow(vec3(shade), vec3(1.06, 1.0, 0.93));
  vec3 colour = backdrop() * tint * (1.0 + 0.03 * near);
  if (uCell > 0.0) {
    float grid = max(lines(plane, uCell, 0.8) * 0.11, lines(plane, uCell * 0.2, 0.5) * 0.04);
    colour *= 1.0 - grid * near * near;
  }
  oColour = finish(colour);
}
