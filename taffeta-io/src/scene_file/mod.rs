//! Scenes in: the built-in ones by name, others from `.toml` files, with single fields changed on the way.
//!
//! ```
//! let loaded = taffeta_io::scene_file::load("hang", &["cloth.0.resolution=8".into()])?;
//! assert_eq!(loaded.scene.cloth[0].resolution.0, [8, 8]);
//! # Ok::<(), taffeta_io::scene_file::SceneFileError>(())
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use taffeta::error::suggestion;
use taffeta::{BuildError, Scene};

use crate::mesh_file::{Pace, read_mesh, read_surface};

mod builtin;
mod error;
mod message;
mod set;
mod text;

#[cfg(test)]
mod tests;

pub use builtin::{BUILT_IN, BuiltIn};
pub use error::SceneFileError;

use set::Setting;
use text::Text;

/// A scene, ready to be simulated, and where each of its fields was given.
#[derive(Clone, Debug)]
pub struct LoadedScene {
    /// The scene, with the meshes it names.
    pub scene: Scene,
    /// Its name in the list, or the name of its file without the ending.
    pub name: String,
    text: Text,
    settings: Vec<Setting>,
    /// The mesh files that were read, by cloth.
    meshes: Vec<Option<PathBuf>>,
}

/// Reads a scene: the built-in one of that name, or a `.toml` file. Each of `sets` is a `PATH=VALUE` that changes one
/// field, such as `cloth.0.resolution=128`.
///
/// Meshes are looked for beside the scene file; one that is named by a set, or by a built-in scene, in the current
/// folder.
pub fn load(path_or_name: &str, sets: &[String]) -> Result<LoadedScene, SceneFileError> {
    let (name, text, folder) = open(path_or_name)?;
    let mut scene = text.parse()?;
    let settings = sets.iter().map(|argument| Setting::parse(argument)).collect::<Result<Vec<_>, _>>()?;
    if !settings.is_empty() {
        scene = set::apply(&scene, &settings)?;
    }
    let mut loaded = LoadedScene { scene, name, text, settings, meshes: Vec::new() };
    loaded.read_meshes(&folder)?;
    loaded.read_surfaces(&folder)?;
    Ok(loaded)
}

/// The JSON schema of scene files.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Scene).to_value()
}

/// The scene's name, its text, and the folder its meshes are in.
fn open(path_or_name: &str) -> Result<(String, Text, PathBuf), SceneFileError> {
    let path = Path::new(path_or_name);
    if let Some(scene) = BUILT_IN.iter().find(|scene| scene.name == path_or_name) {
        let text = Text::new(format!("scene '{}'", scene.name), scene.text.to_string());
        return Ok((scene.name.to_string(), text, PathBuf::new()));
    }
    let is_toml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
    if !is_toml {
        let names: Vec<&str> = BUILT_IN.iter().map(|scene| scene.name).collect();
        let hint = suggestion(path_or_name, &names);
        return Err(SceneFileError::UnknownScene { name: path_or_name.into(), hint });
    }
    let text = fs::read_to_string(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => SceneFileError::NotFound { path: path.to_path_buf() },
        _ => SceneFileError::Read { path: path.to_path_buf(), source },
    })?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    Ok((name, Text::new(path.display().to_string(), text), folder))
}

impl LoadedScene {
    /// The error of a scene that could not be built, with the line or the argument that gave the field.
    pub fn explain(&self, error: &BuildError) -> SceneFileError {
        let (field, problem) = match error {
            BuildError::Field { field, problem } => (field.as_str(), problem.clone()),
            BuildError::Unknown { field, what, name, known } => {
                let accepted = known.join(", ");
                let hint = suggestion(name, known);
                let list =
                    if hint.contains(&accepted) { String::new() } else { format!(" ({what}s: {accepted})") };
                (field.as_str(), format!("there is no {what} '{name}'; {hint}{list}"))
            }
        };
        let mesh = self.mesh_of(field).map(|path| format!("{}: ", path.display())).unwrap_or_default();
        self.at(field, format!("{mesh}{problem}"))
    }

    /// An error about a field, with the place where the field was given.
    fn at(&self, field: &str, problem: String) -> SceneFileError {
        match set::responsible(&self.settings, field) {
            Some(setting) => setting.wrong(Some(field), problem),
            None => self.text.wrong_field(field, problem),
        }
    }

    fn mesh_of(&self, field: &str) -> Option<&PathBuf> {
        let cloth = field.strip_prefix("cloth.")?.strip_suffix(".mesh")?;
        self.meshes.get(cloth.parse::<usize>().ok()?)?.as_ref()
    }

    /// Where a file that a field names is: beside the scene file, or in the current folder if a set names it.
    fn place(&self, folder: &Path, field: &str, file: &str) -> PathBuf {
        let from_set = set::responsible(&self.settings, field).is_some();
        if from_set { PathBuf::from(file) } else { folder.join(file) }
    }

    fn read_surfaces(&mut self, folder: &Path) -> Result<(), SceneFileError> {
        for i in 0..self.scene.collider.len() {
            let collider = &self.scene.collider[i];
            let field = |name: &str| format!("collider.{i}.{name}");
            let Some(file) = &collider.mesh else {
                if collider.cache.is_some() {
                    let problem = "is given without a mesh; name the mesh that it moves".into();
                    return Err(self.at(&field("cache"), problem));
                }
                continue;
            };
            if !(collider.rate > 0.0 && collider.rate.is_finite()) {
                let problem = format!("is {}; must be above 0 frames a second", collider.rate);
                return Err(self.at(&field("rate"), problem));
            }
            let path = self.place(folder, &field("mesh"), file);
            let cache = collider.cache.as_ref().map(|cache| self.place(folder, &field("cache"), cache));
            let pace = Pace {
                rate: collider.rate,
                repeat: collider.repeat,
                animation: collider.animation.as_deref(),
            };
            let about = if cache.is_some() { field("cache") } else { field("mesh") };
            let surface = read_surface(&path, cache.as_deref(), pace)
                .map_err(|error| self.at(&about, error.to_string()))?;
            self.scene.collider[i].surface = Some(Arc::new(surface));
        }
        Ok(())
    }

    fn read_meshes(&mut self, folder: &Path) -> Result<(), SceneFileError> {
        for i in 0..self.scene.cloth.len() {
            let field = format!("cloth.{i}.mesh");
            let path = self.scene.cloth[i].mesh.as_ref().map(|file| self.place(folder, &field, file));
            if let Some(path) = &path {
                let mesh = read_mesh(path).map_err(|error| self.at(&field, error.to_string()))?;
                self.scene.cloth[i].shape = Some(mesh);
            }
            self.meshes.push(path);
        }
        Ok(())
    }
}
