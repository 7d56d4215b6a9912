uniform vec4 uFlat;                // as displayed, with the share
uniform vec3 uEye;
in vec3 vPosition;
in vec3 vNormal;
out vec4 oColour;

void main() {
  // Lines crowd where the surface turns away, so they fade there.
  float facing = abs(dot(normalize(vNormal), normalize(uEye - vPosition)));
  oColour = vec4(uFlat.rgb, uFlat.a * smoothstep(0.02, 0.5, facing));
}
