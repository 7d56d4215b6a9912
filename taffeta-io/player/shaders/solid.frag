uniform vec3 uFront;               // linear
in vec3 vPosition;
in vec3 vNormal;
in vec2 vPattern;
out vec4 oColour;

void main() {
  vec3 n = normalize(vNormal);
  vec3 eye = normalize(uEye - vPosition);
  // A faint checker shows how the body turns.
  float check = sin(vPattern.x) * sin(vPattern.y);
  float w = fwidth(check) + 1e-4;
  float dark = smoothstep(-w, w, check) * (1.0 - smoothstep(0.4, 1.2, w));
  vec3 albedo = uFront * (1.0 - 0.10 * dark);

  float facing = dot(n, uKeyDir);
  float key = facing > 0.0 ? keyLight(vPosition, n) : 0.0;
  float sky = skyLight(vPosition, n);
  float up = n.y * 0.5 + 0.5;
  vec3 ambient = SKY * up * mix(0.4, 1.0, sky) + GROUND * (1.0 - up) * mix(0.7, 1.0, sky);
  vec3 colour = albedo * (KEY * max(facing, 0.0) * key / PI * 1.15 + ambient * 0.8 + FILL * max(dot(n, eye), 0.0));
  vec3 h = normalize(eye + uKeyDir);
  colour += KEY * 0.06 * pow(max(dot(n, h), 0.0), 40.0) * key;
  float grazing = 1.0 - max(dot(n, eye), 0.0);
  colour += ambient * 0.12 * pow(grazing, 4.0);
  oColour = finish(soften(colour));
}
