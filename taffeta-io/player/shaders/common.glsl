precision highp float;
precision highp int;
precision highp sampler2DShadow;

uniform vec2 uScreen;   // size of the picture, pixels
uniform float uSample;  // number of the picture in a refinement, 0 while moving

const float PI = 3.14159265;

vec3 toLinear(vec3 c) {
  return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c));
}

vec3 toDisplay(vec3 c) {
  return mix(c * 12.92, 1.055 * pow(max(c, 0.0), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}

// Noise with neighbouring pixels far apart, different in every refined picture.
float grain() {
  vec2 p = gl_FragCoord.xy + 5.588238 * mod(uSample, 64.0);
  return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715))));
}

// The backdrop, in linear light: pale, a little brighter behind the middle.
vec3 backdrop() {
  vec2 p = gl_FragCoord.xy / uScreen;
  float glow = smoothstep(0.95, 0.1, length((p - vec2(0.5, 0.56)) * vec2(1.0, 1.15)));
  return toLinear(mix(vec3(0.872, 0.880, 0.890), vec3(0.972, 0.972, 0.968), glow));
}

// Half a grey level of noise hides the steps in smooth gradients.
vec4 finish(vec3 linearColour) {
  return vec4(toDisplay(linearColour) + (grain() - 0.5) / 255.0, 1.0);
}
