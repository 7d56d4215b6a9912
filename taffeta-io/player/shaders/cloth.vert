layout(location = 0) in vec3 aPosition;
layout(location = 1) in vec3 aNormal;
layout(location = 2) in float aStrain;
uniform mat4 uView;
out vec3 vPosition;
out vec3 vNormal;
out float vStrain;

void main() {
  vPosition = aPosition;
  vNormal = aNormal;
  vStrain = aStrain;
  gl_Position = uView * vec4(aPosition, 1.0);
}
