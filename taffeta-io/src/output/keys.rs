//! A bounded number of frames, evenly spaced, from a recording of unknown length.

/// One kept frame.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    /// Number of the frame.
    pub index: u32,
    /// Simulated time, s.
    pub time: f64,
    /// Positions of all vertices, m.
    pub positions: Vec<[f32; 3]>,
}

/// Keeps every frame until there are `limit`, then every second of those, and so on; and always the last one.
///
/// The spacing is even but for the step to the last frame, and between half the limit and all of it is used.
#[derive(Debug)]
pub(crate) struct Keys {
    limit: usize,
    stride: u64,
    seen: u64,
    kept: Vec<Key>,
    last: Option<Key>,
}

impl Keys {
    /// At most `limit` frames (two at least) besides the last.
    pub fn new(limit: usize) -> Keys {
        Keys { limit: limit.max(2), stride: 1, seen: 0, kept: Vec::new(), last: None }
    }

    /// The time of the newest frame, s.
    pub fn latest_time(&self) -> Option<f64> {
        // `last` is empty whenever the newest frame was kept.
        self.last.as_ref().or(self.kept.last()).map(|key| key.time)
    }

    /// Takes the next frame.
    pub fn push(&mut self, index: u32, time: f64, positions: &[[f32; 3]]) {
        if self.seen.is_multiple_of(self.stride) && self.kept.len() == self.limit {
            let mut position = 0;
            self.kept.retain(|_| {
                position += 1;
                position % 2 == 1
            });
            self.stride *= 2;
        }
        let keep = self.seen.is_multiple_of(self.stride);
        self.seen += 1;
        // The old last frame's memory serves the new one.
        let mut buffer = self.last.take().map(|key| key.positions).unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(positions);
        let key = Key { index, time, positions: buffer };
        if keep {
            self.kept.push(key);
        } else {
            self.last = Some(key);
        }
    }

    /// The kept frames in order, the last one of all included.
    pub fn into_keys(mut self) -> Vec<Key> {
        self.kept.extend(self.last);
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(limit: usize, frames: u32) -> Vec<u32> {
        let mut keys = Keys::new(limit);
        for index in 0..frames {
            keys.push(index, f64::from(index), &[]);
            assert_eq!(keys.latest_time(), Some(f64::from(index)));
        }
        keys.into_keys().iter().map(|key| key.index).collect()
    }

    #[test]
    fn short_recordings_are_kept_whole() {
        assert!(indices(4, 0).is_empty());
        assert_eq!(indices(4, 4), [0, 1, 2, 3]);
    }

    #[test]
    fn long_ones_are_thinned_evenly_and_keep_both_ends() {
        assert_eq!(indices(4, 5), [0, 2, 4]);
        assert_eq!(indices(4, 8), [0, 2, 4, 6, 7]);
        assert_eq!(indices(4, 11), [0, 4, 8, 10]);
        for frames in 1..300 {
            let kept = indices(10, frames);
            assert!(kept.len() <= 11 && kept.len() >= 5.min(frames as usize));
            assert_eq!((kept[0], *kept.last().unwrap()), (0, frames - 1));
        }
        assert_eq!(indices(2, 9).last(), Some(&8));
    }
}
