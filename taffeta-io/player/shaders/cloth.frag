uniform vec3 uFront, uBack;        // linear
uniform bool uStrain;
uniform float uStrainRange;
uniform vec3 uRamp[5];             // as displayed
in vec3 vPosition;
in vec3 vNormal;
in float vStrain;
out vec4 oColour;

vec3 strainColour(float s) {
  float t = clamp(s / uStrainRange, -1.0, 1.0) * 2.0 + 2.0;
  int i = min(int(t), 3);
  return toLinear(mix(uRamp[i], uRamp[i + 1], t - float(i)));
}

void main() {
  vec3 n = normalize(vNormal) * (gl_FrontFacing ? 1.0 : -1.0);
  vec3 eye = normalize(uEye - vPosition);
  vec3 albedo = gl_FrontFacing ? uFront : uBack;
  if (uStrain) albedo = strainColour(vStrain) * (gl_FrontFacing ? 0.80 : 0.72);

  float facing = dot(n, uKeyDir);
  float lightSide = facing >= 0.0 ? 1.0 : -1.0;
  float key = keyLight(vPosition, n * lightSide);
  float sky = skyLight(vPosition, n);

  // Threads let a little light through.
  float direct = max(facing, 0.0) * key;
  float through = max(-facing, 0.0) * key * 0.16;
  float up = n.y * 0.5 + 0.5;
  vec3 ambient = SKY * up * mix(0.38, 1.0, sky) + GROUND * (1.0 - up) * mix(0.7, 1.0, sky);

  vec3 colour = albedo * (KEY * (direct + through) / PI * 1.15 + (ambient * 0.9 + FILL * max(dot(n, eye), 0.0)));
  float grazing = 1.0 - max(dot(n, eye), 0.0);
  colour += (albedo * 0.5 + 0.05) * pow(grazing, 3.5) * (ambient * 0.35 + KEY * 0.16 * key * max(facing, 0.0));
  vec3 h = normalize(eye + uKeyDir);
  colour += KEY * 0.035 * pow(max(dot(n, h), 0.0), 14.0) * key * smoothstep(0.0, 0.25, facing);
  oColour = finish(soften(colour));
}
