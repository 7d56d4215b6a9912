uniform vec4 uFlat;                // as displayed, with the share
out vec4 oColour;

void main() {
  oColour = uFlat;
}
