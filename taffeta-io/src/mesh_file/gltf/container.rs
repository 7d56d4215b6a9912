//! Where the bytes of a glTF are: the chunks of a `.glb`, and buffers inside and beside the file.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use gltf_json::Root;

use super::{Fault, excerpt};

/// The most bytes read from other files, so that naming one many times does not fill the memory.
const MOST_EXTERNAL: usize = 2 << 30;

/// Splits a `.glb` into its JSON and its binary chunk; anything else is taken for JSON alone.
pub(super) fn split(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), Fault> {
    if !bytes.starts_with(b"glTF") {
        return Ok((bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes), None));
    }
    let wrong = |problem: String| Fault::element("header", problem);
    let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let (Some(version), Some(length)) = (word(4), word(8)) else {
        return Err(wrong(format!("the file has {} bytes; a .glb has at least 12", bytes.len())));
    };
    if version != 2 {
        return Err(wrong(format!("this is glTF version {version}; only 2 is read, so export as glTF 2.0")));
    }
    let whole = bytes.get(12..length as usize).ok_or_else(|| {
        wrong(format!("it claims {length} bytes, but the file has {}; it is cut off or damaged", bytes.len()))
    })?;
    let (kind, json, rest) = chunk(whole).ok_or_else(|| wrong("the first chunk is cut off".into()))?;
    if kind != *b"JSON" {
        return Err(wrong("the first chunk is not JSON".into()));
    }
    if rest.is_empty() {
        return Ok((json, Some(&[])));
    }
    let (kind, binary, _) = chunk(rest).ok_or_else(|| wrong("the second chunk is cut off".into()))?;
    // Chunks of other kinds are to be ignored.
    Ok((json, Some(if kind == *b"BIN\0" { binary } else { &[] })))
}

/// The kind and the content of the first chunk, and what comes after.
fn chunk(bytes: &[u8]) -> Option<([u8; 4], &[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (kind, rest) = rest.split_first_chunk()?;
    let (content, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((*kind, content, rest))
}

/// The buffers of a document, each read when first asked for.
pub(super) struct Buffers<'a> {
    root: &'a Root,
    binary: Option<&'a [u8]>,
    folder: Option<&'a Path>,
    loaded: HashMap<usize, Rc<[u8]>>,
    /// Bytes read from other files.
    external: usize,
}

impl<'a> Buffers<'a> {
    pub fn new(root: &'a Root, binary: Option<&'a [u8]>, folder: Option<&'a Path>) -> Buffers<'a> {
        Buffers { root, binary, folder, loaded: HashMap::new(), external: 0 }
    }

    /// Bytes read from other files so far.
    pub fn external(&self) -> usize {
        self.external
    }

    /// The bytes of a buffer.
    pub fn get(&mut self, number: usize) -> Result<Rc<[u8]>, String> {
        if let Some(bytes) = self.loaded.get(&number) {
            return Ok(bytes.clone());
        }
        let bytes = self.load(number).map_err(|problem| format!("buffer {number}: {problem}"))?;
        self.loaded.insert(number, bytes.clone());
        Ok(bytes)
    }

    fn load(&mut self, number: usize) -> Result<Rc<[u8]>, String> {
        let Some(buffer) = self.root.buffers.get(number) else {
            return Err(format!("it does not exist; the file has {}", self.root.buffers.len()));
        };
        let length = usize::try_from(buffer.byte_length.0).unwrap_or(usize::MAX);
        let bytes: Rc<[u8]> = match (&buffer.uri, self.binary) {
            (Some(uri), _) if uri.starts_with("data:") => decode(uri)?.into(),
            (Some(uri), _) => self.read(uri, length)?.into(),
            (None, Some(binary)) if number == 0 => binary.into(),
            (None, _) => {
                return Err("it has no uri, and only the first buffer of a .glb may be without".into());
            }
        };
        if bytes.len() < length {
            return Err(format!("it should have {length} bytes, but has {}", bytes.len()));
        }
        Ok(bytes)
    }

    /// Reads up to `length` bytes of the file a relative URI names.
    fn read(&mut self, uri: &str, length: usize) -> Result<Vec<u8>, String> {
        let name = excerpt(uri);
        let relative = PathBuf::from(unescape(uri).ok_or_else(|| format!("the uri '{name}' is not valid"))?);
        let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir | Component::ParentDir);
        if uri.contains("://") || !relative.components().all(inside) {
            return Err(format!("'{name}' is not a file name relative to this file, or data:"));
        }
        let path = self.folder.unwrap_or(Path::new("")).join(relative);
        let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
        let size = path.metadata().map_err(failed)?;
        if !size.is_file() {
            return Err(format!("{} is not a file", path.display()));
        }
        self.external =
            self.external.saturating_add(length.min(usize::try_from(size.len()).unwrap_or(usize::MAX)));
        if self.external > MOST_EXTERNAL {
            return Err(format!(
                "with it the buffers have more than {MOST_EXTERNAL} bytes, the most that is read"
            ));
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(failed)?;
        file.take(length as u64).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }
}

/// The content of a base64 `data:` URI.
fn decode(uri: &str) -> Result<Vec<u8>, String> {
    let Some((_, text)) = uri.split_once(";base64,") else {
        return Err(format!(
            "the uri '{}' is not base64, as in data:application/octet-stream;base64,…",
            excerpt(uri)
        ));
    };
    // Some writers leave out the padding.
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&STANDARD, config)
        .decode(text)
        .map_err(|error| format!("its base64 is damaged: {error}"))
}

/// A URI with its `%20` and the like as characters.
fn unescape(uri: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match (byte, digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
            (b'%', Some(escaped)) => {
                bytes.push(escaped);
                rest = &rest[2..];
            }
            // A bare percent sign is wrong in a URI, but clear enough.
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_unescaped() {
        assert_eq!(unescape("my%20cloth.bin").as_deref(), Some("my cloth.bin"));
        assert_eq!(unescape("100%.bin").as_deref(), Some("100%.bin"));
        assert_eq!(unescape("caf%C3%A9").as_deref(), Some("café"));
        assert_eq!(unescape("%ff"), None);
    }

    #[test]
    fn data_is_decoded_with_and_without_padding() {
        for uri in ["data:;base64,AAE=", "data:;base64,AAE"] {
            assert_eq!(decode(uri).unwrap(), [0, 1]);
        }
        assert!(decode("data:;base64,A*").unwrap_err().contains("damaged"));
        assert!(decode("data:text/plain,hello").unwrap_err().contains("not base64"));
    }

    #[test]
    fn a_header_that_lies_is_refused() {
        let problem = |bytes: &[u8]| split(bytes).unwrap_err().problem;
        assert!(problem(b"glTF").contains("at least 12"));
        assert!(problem(b"glTF\x01\0\0\0\x0c\0\0\0").contains("version 1"));
        assert!(problem(b"glTF\x02\0\0\0\0\0\0\0").contains("claims 0 bytes"));
        assert!(problem(b"glTF\x02\0\0\0\xff\xff\xff\xff").contains("cut off"));
        assert!(problem(b"glTF\x02\0\0\0\x14\0\0\0\xff\xff\xff\xffJSON").contains("first chunk"));
    }
}
