uniform bool uCopy;
uniform float uShare;              // how much of a new picture enters the mean
uniform sampler2D uPicture;
in vec2 vUv;
out vec4 oColour;

void main() {
  oColour = uCopy ? vec4(texture(uPicture, vUv).rgb, uShare) : finish(backdrop());
}
