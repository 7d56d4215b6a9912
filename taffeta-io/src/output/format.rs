//! The formats results can be written in.

use std::path::Path;

use super::OutputError;
use crate::ending;

/// A format of results, chosen by the ending of the file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A page that plays the recording.
    Html,
    /// glTF 2.0 binary.
    Glb,
    /// PointCache2.
    Pc2,
    /// LightWave motion designer data.
    Mdd,
    /// Wavefront object.
    Obj,
    /// Stanford polygon file.
    Ply,
    /// Metrics as comma-separated values.
    Csv,
    /// Metrics as plots.
    Svg,
}

impl Format {
    /// Every format, in the order to list them in.
    pub const ALL: [Format; 8] = [
        Format::Html,
        Format::Glb,
        Format::Pc2,
        Format::Mdd,
        Format::Obj,
        Format::Ply,
        Format::Csv,
        Format::Svg,
    ];

    /// The format that the ending of `path` asks for, in upper or lower case.
    pub fn of(path: &Path) -> Result<Format, OutputError> {
        let found = ending::of(path);
        Format::ALL.into_iter().find(|format| format.ending() == found).ok_or_else(|| OutputError::Ending {
            path: path.to_path_buf(),
            problem: ending::explain(&found, &Format::ALL.map(Format::ending)),
        })
    }

    /// The common name.
    pub fn name(self) -> &'static str {
        match self {
            Format::Html => "HTML player",
            Format::Glb => "glTF binary",
            Format::Pc2 => "PointCache2",
            Format::Mdd => "LightWave MDD",
            Format::Obj => "Wavefront OBJ",
            Format::Ply => "Stanford PLY",
            Format::Csv => "CSV table",
            Format::Svg => "SVG plots",
        }
    }

    /// The ending of file names, in lower case and without the point.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Html => "html",
            Format::Glb => "glb",
            Format::Pc2 => "pc2",
            Format::Mdd => "mdd",
            Format::Obj => "obj",
            Format::Ply => "ply",
            Format::Csv => "csv",
            Format::Svg => "svg",
        }
    }

    /// One line on what the file holds.
    pub fn description(self) -> &'static str {
        match self {
            Format::Html => "a page that plays the recording in any browser, without a network",
            Format::Glb => "one animated mesh per cloth, with at most 240 morph targets",
            Format::Pc2 => "every vertex of every frame, a cache for Blender, Maya and 3ds Max",
            Format::Mdd => {
                "every vertex of every frame with its time, a cache for LightWave, Blender and others"
            }
            Format::Obj => "the last frame as text, or every frame when the name has %04d",
            Format::Ply => "the last frame as binary, or every frame when the name has %04d",
            Format::Csv => "the metrics, one row per frame; a cell is empty where there is no figure",
            Format::Svg => "the metrics as curves over the frames",
        }
    }

    /// Whether the name may have a place for the frame number, to write one file per frame.
    pub fn takes_frame_numbers(self) -> bool {
        matches!(self, Format::Obj | Format::Ply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_leads_to_its_format_in_either_case() {
        for format in Format::ALL {
            let name = format!("run.1.{}", format.ending());
            assert_eq!(Format::of(Path::new(&name)).unwrap(), format);
            assert_eq!(Format::of(Path::new(&name.to_uppercase())).unwrap(), format);
        }
    }

    #[test]
    fn an_unknown_ending_gets_the_nearest_and_all() {
        let text = Format::of(Path::new("out/cloth.gltf")).unwrap_err().to_string();
        assert!(text.starts_with("out/cloth.gltf: "), "{text}");
        assert!(text.contains("did you mean .glb?") && text.contains(".mdd"), "{text}");
        assert!(Format::of(Path::new("cloth")).unwrap_err().to_string().contains("no ending"));
    }
}
