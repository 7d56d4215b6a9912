layout(location = 0) in vec3 aPosition;
layout(location = 1) in vec3 aNormal;
layout(location = 2) in float aStrain;
uniform mat4 uView;
uniform float uPull;                // towards the eye, for lines on the surface
out vec3 vPosition;
out vec3 vNormal;
out float vStrain;

void main() {
  vPosition = aPosition;
  vNormal = aNormal;
  vStrain = aStrain;
  gl_Position = uView * vec4(aPosition, 1.0);
  gl_Position.z -= uPull * gl_Position.w;
}
