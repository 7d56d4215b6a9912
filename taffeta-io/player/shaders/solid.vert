layout(location = 0) in vec3 aPosition;
layout(location = 1) in vec3 aNormal;
layout(location = 2) in vec2 aPattern;
uniform mat4 uView;
uniform mat4 uModel;
out vec3 vPosition;
out vec3 vNormal;
out vec2 vPattern;
out vec3 vLocal;

void main() {
  vec4 p = uModel * vec4(aPosition, 1.0);
  vPosition = p.xyz;
  vNormal = mat3(uModel) * aNormal;
  vPattern = aPattern;
  vLocal = aPosition;
  gl_Position = uView * p;
}
