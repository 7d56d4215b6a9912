//! A figure as the text of an SVG.

use std::fmt::Write;

use super::{Curve, Figure, Panel, Scale, Style};

const INK: &str = "#22262b";
const SOFT: &str = "#6a7078";
const GRID: &str = "#e4e6e9";
/// Room around the plotted part of a panel, px.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const ABOVE: f64 = 30.0;
const BELOW: f64 = 50.0;
/// Height of a line of the legend, px.
const LINE: f64 = 19.0;
/// Length of a curve's sample in a legend, px.
const SAMPLE: f64 = 26.0;
/// Markers on a curve that does not show every point.
const SPARSE: usize = 6;

/// A rectangle, px.
#[derive(Clone, Copy)]
struct Frame {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Figure {
    /// The whole figure as an SVG element that stands alone or within a page.
    pub fn svg(&self) -> String {
        let mut body = String::new();
        let mut top = 8.0;
        for (text, size, color) in [(&self.title, 17.0, INK), (&self.subtitle, 12.0, SOFT)] {
            if !text.is_empty() {
                top += 1.35 * size;
                put_text(&mut body, [8.0, top], text, &format!("font-size=\"{size}\" fill=\"{color}\""));
            }
        }
        top += if top > 8.0 { 12.0 } else { 0.0 };
        top = put_legend(&mut body, &self.legend, [8.0, top], self.width - 16.0);
        let columns = self.columns.max(1);
        let cell = self.width / columns as f64;
        let own = self.legend.is_empty() && self.panels.iter().any(|p| p.curves.len() > 1);
        let above = ABOVE + if own { LINE } else { 0.0 };
        let row = above + self.height + BELOW;
        for (k, panel) in self.panels.iter().enumerate() {
            let (column, line) = (k % columns, k / columns);
            let corner = [column as f64 * cell, top + line as f64 * row];
            let frame = Frame {
                x: corner[0] + LEFT,
                y: corner[1] + above,
                width: cell - LEFT - RIGHT,
                height: self.height,
            };
            put_panel(&mut body, panel, frame, corner, own);
        }
        let height = top + self.panels.len().div_ceil(columns) as f64 * row;
        let width = self.width;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\" font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" \
             font-size=\"12\" fill=\"{INK}\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
        )
    }
}

fn put_panel(out: &mut String, panel: &Panel, frame: Frame, corner: [f64; 2], own_legend: bool) {
    let points =
        || panel.curves.iter().flat_map(|c| c.points.iter()).filter(|p| p[0].is_finite() && p[1].is_finite());
    let floor = panel.floor.iter().map(|f| f.0);
    let x = panel.x.scale(points().map(|p| p[0]));
    let y = panel.y.scale(points().map(|p| p[1]).chain(floor));
    put_text(out, [frame.x, corner[1] + 18.0], &panel.title, "font-weight=\"600\" font-size=\"13\"");
    if own_legend && panel.curves.len() > 1 {
        let names: Vec<_> = panel.curves.iter().map(|c| (c.name.clone(), c.style)).collect();
        put_legend(out, &names, [frame.x, corner[1] + ABOVE - 6.0], frame.width + RIGHT);
    }
    put_axes(out, panel, frame, &x, &y);
    let Frame { x: left, y: top, width, height } = frame;
    if let Some((value, why)) = &panel.floor {
        let depth = (y.place(*value).clamp(0.0, 1.0)) * height;
        let at = top + height - depth;
        let _ = writeln!(
            out,
            "<rect x=\"{left:.1}\" y=\"{at:.1}\" width=\"{width:.1}\" height=\"{depth:.1}\" fill=\"{SOFT}\" \
             fill-opacity=\"0.13\"><title>{}</title></rect>",
            escaped(why)
        );
        let style = format!("font-size=\"11\" fill=\"{SOFT}\"");
        put_text(out, [left + 6.0, (at + 14.0).min(top + height - 5.0)], why, &style);
    }
    if points().next().is_none() {
        let style = format!("text-anchor=\"middle\" fill=\"{SOFT}\"");
        put_text(out, [left + width / 2.0, top + height / 2.0], "not measured by these methods", &style);
    }
    for curve in &panel.curves {
        put_curve(out, curve, frame, &x, &y);
    }
    let _ = writeln!(
        out,
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"none\" \
         stroke=\"{INK}\" stroke-width=\"0.8\"/>"
    );
}

fn put_axes(out: &mut String, panel: &Panel, frame: Frame, x: &Scale, y: &Scale) {
    let Frame { x: left, y: top, width, height } = frame;
    let mut line = |from: [f64; 2], to: [f64; 2], color: &str| {
        let _ = writeln!(
            out,
            "<path d=\"M{:.1},{:.1}L{:.1},{:.1}\" stroke=\"{color}\" stroke-width=\"0.8\"/>",
            from[0], from[1], to[0], to[1]
        );
    };
    let mut labels = Vec::new();
    // Labels that would run into each other are left out; the last one kept ends here.
    let mut free = f64::NEG_INFINITY;
    for tick in x.ticks() {
        let at = left + x.place(tick.value) * width;
        let minor = tick.label.is_empty();
        if !minor {
            line([at, top], [at, top + height], GRID);
        }
        line([at, top + height], [at, top + height - if minor { 3.0 } else { 6.0 }], INK);
        let half = text_width(&tick.label, 12.0) / 2.0;
        if !minor && at - half > free + 4.0 {
            free = at + half;
            labels.push(([at, top + height + 16.0], tick.label, "text-anchor=\"middle\""));
        }
    }
    for tick in y.ticks() {
        let at = top + height - y.place(tick.value) * height;
        let minor = tick.label.is_empty();
        if !minor {
            line([left, at], [left + width, at], GRID);
        }
        line([left, at], [left + if minor { 3.0 } else { 6.0 }, at], INK);
        labels.push(([left - 6.0, at + 4.0], tick.label, "text-anchor=\"end\""));
    }
    for (at, label, style) in labels {
        put_text(out, at, &label, style);
    }
    let middle = [left + width / 2.0, top + height + 35.0];
    put_text(out, middle, &panel.x.label, "text-anchor=\"middle\"");
    let (side, middle) = (left - LEFT + 14.0, top + height / 2.0);
    let turned = format!("text-anchor=\"middle\" transform=\"rotate(-90 {side:.1} {middle:.1})\"");
    put_text(out, [side, middle], &panel.y.label, &turned);
}

fn put_curve(out: &mut String, curve: &Curve, frame: Frame, x: &Scale, y: &Scale) {
    let place = |[u, v]: [f64; 2]| {
        let (a, b) = (x.place(u), y.place(v));
        let known = a.is_finite() && b.is_finite();
        known.then_some([frame.x + a * frame.width, frame.y + (1.0 - b) * frame.height])
    };
    let places: Vec<Option<[f64; 2]>> = curve.points.iter().map(|&p| place(p)).collect();
    let Style(number) = curve.style;
    let (color, dashes) = (curve.style.color(), curve.style.dashes());
    let dashes = if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
    let _ = writeln!(
        out,
        "<g class=\"curve c{number}\"><title>{}</title><path d=\"{}\" fill=\"none\" stroke=\"{color}\" \
         stroke-width=\"1.6\" stroke-linejoin=\"round\"{dashes}/>",
        escaped(&curve.name),
        path(&places)
    );
    if curve.tips.is_empty() {
        // Each curve starts its markers elsewhere, so that they do not hide each other.
        let stride = (places.len() as f64 / SPARSE as f64).max(1.0);
        let shift = stride * (0.15 + 0.7 * (number as f64 * 0.382).fract());
        let wanted = (0..SPARSE).map(|k| (k as f64 * stride + shift) as usize);
        for [u, v] in wanted.filter_map(|i| places.get(i).copied().flatten()) {
            let _ = writeln!(out, "{}/>", curve.style.marker(u, v, 3.0));
        }
    }
    for (place, tip) in places.iter().zip(&curve.tips) {
        if let Some([u, v]) = *place {
            let marker = curve.style.marker(u, v, 3.8);
            let end = &marker[1..marker.find(' ').unwrap_or(marker.len())];
            let _ = writeln!(out, "{marker}><title>{}</title></{end}>", escaped(tip));
        }
    }
    out.push_str("</g>\n");
}

/// The line through the places. Within half a pixel's width only the lowest and the highest are kept, so that a curve of
/// many frames is not longer than can be seen.
fn path(places: &[Option<[f64; 2]>]) -> String {
    let mut d = String::new();
    for run in places.split(Option::is_none) {
        let run: Vec<[f64; 2]> = run.iter().copied().flatten().collect();
        let mut pen = 'M';
        for column in run.chunk_by(|a, b| (2.0 * a[0]).floor() == (2.0 * b[0]).floor()) {
            let mut shown = vec![0];
            if column.len() > 1 {
                let by = |a: &usize, b: &usize| column[*a][1].total_cmp(&column[*b][1]);
                shown.extend((0..column.len()).min_by(by));
                shown.extend((0..column.len()).max_by(by));
                shown.push(column.len() - 1);
                shown.sort_unstable();
                shown.dedup();
            }
            for i in shown {
                let _ = write!(d, "{pen}{:.1},{:.1}", column[i][0], column[i][1]);
                pen = 'L';
            }
        }
        // A figure between two gaps is a dot.
        if run.len() == 1 {
            let _ = write!(d, "l0.1,0");
        }
    }
    d
}

/// Samples and names from `corner` on, in as many lines as the width asks for; where the next thing may begin.
fn put_legend(out: &mut String, names: &[(String, Style)], corner: [f64; 2], width: f64) -> f64 {
    let [mut x, mut y] = corner;
    for (name, style) in names {
        let long = SAMPLE + 8.0 + text_width(name, 12.0) + 20.0;
        if x + long - 20.0 > corner[0] + width && x > corner[0] {
            (x, y) = (corner[0], y + LINE);
        }
        let middle = y + LINE / 2.0;
        let dashes = style.dashes();
        let _ = writeln!(
            out,
            "<path d=\"M{x:.1},{middle:.1}h{SAMPLE}\" stroke=\"{}\" stroke-width=\"1.6\" stroke-dasharray=\"{}\"/>{}/>",
            style.color(),
            if dashes.is_empty() { "none" } else { dashes },
            style.marker(x + SAMPLE / 2.0, middle, 3.4)
        );
        put_text(out, [x + SAMPLE + 8.0, middle + 4.0], name, "");
        x += long;
    }
    if names.is_empty() { y } else { y + LINE + 4.0 }
}

fn put_text(out: &mut String, [x, y]: [f64; 2], text: &str, style: &str) {
    if !text.is_empty() {
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{}</text>", escaped(text));
    }
}

/// About how wide a text is, px; the font itself is not known here.
fn text_width(text: &str, size: f64) -> f64 {
    let part = |c: char| match c {
        'i' | 'l' | 'j' | '.' | ',' | ':' | ';' | '|' | '\'' | ' ' | 't' | 'f' | 'I' | '⁻' => 0.3,
        'm' | 'w' | 'M' | 'W' => 0.85,
        c if c.is_uppercase() => 0.68,
        _ => 0.56,
    };
    text.chars().map(part).sum::<f64>() * size
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::Axis;
    use super::*;

    /// The names of elements in order of opening; panics where one is not closed.
    pub fn elements(text: &str) -> Vec<String> {
        let (mut open, mut all) = (Vec::new(), Vec::new());
        for tag in text.split('<').skip(1) {
            let (tag, rest) = tag.split_once('>').expect("a tag ends");
            assert!(!rest.contains('>') && !rest.contains("& "), "loose characters: {rest}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop().as_deref(), Some(name), "{tag}");
            } else {
                assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
                let name = tag.split([' ', '/']).next().unwrap().to_string();
                all.push(name.clone());
                if !tag.ends_with('/') {
                    open.push(name);
                }
            }
        }
        assert!(open.is_empty(), "{open:?} not closed");
        all
    }

    fn wave(name: &str, k: usize, count: usize) -> Curve {
        let point = |i: usize| [i as f64, (i as f64 * 0.7).sin() + k as f64];
        Curve::line(name, Style(k), (0..count).map(point).collect())
    }

    #[test]
    fn a_figure_is_well_formed_and_says_what_it_shows() {
        let mut points = wave("a < b & \"c\"", 1, 12);
        points.tips = (0..12).map(|i| format!("point {i} <>")).collect();
        points.points[3][1] = f64::NAN;
        let panel = |log: bool| {
            let y = if log { Axis::log("error, m") } else { Axis::from_zero("height, m") };
            let floor = Some((0.05, "not certain".to_string()));
            Panel {
                floor,
                ..Panel::new("P", Axis::linear("frame"), y, vec![wave("w", 0, 50), points.clone()])
            }
        };
        let figure = Figure {
            title: "T & U".into(),
            panels: vec![panel(false), panel(true), panel(false)],
            columns: 2,
            ..Figure::default()
        };
        let svg = figure.svg();
        let names = elements(&svg);
        assert_eq!(names[0], "svg");
        for word in [
            "T &amp; U",
            "frame",
            "error, m",
            "height, m",
            "not certain",
            "a &lt; b &amp; &quot;c&quot;",
            "point 2 &lt;",
        ] {
            assert!(svg.contains(word), "no {word}");
        }
        assert!(!svg.contains("point 3 "), "a missing figure has no marker");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn a_gap_breaks_the_line_and_many_points_are_thinned() {
        let places = |n: usize| {
            (0..n).map(|i| Some([i as f64 * 100.0 / n as f64, (i % 7) as f64])).collect::<Vec<_>>()
        };
        let mut few = places(10);
        few[4] = None;
        assert_eq!(path(&few).matches('M').count(), 2);
        let long = path(&places(100_000));
        assert!(long.matches('L').count() <= 4 * 201, "{}", long.matches('L').count());
        // Peaks are kept.
        let mut peak = places(100_000);
        peak[50_003] = Some([50.003, 99.0]);
        assert!(path(&peak).contains(",99.0"));
    }

    #[test]
    fn nothing_to_show_is_said() {
        let missing = Curve::line("a", Style(0), vec![[0.0, f64::NAN], [1.0, f64::NAN]]);
        let panel = Panel::new("h", Axis::linear("frame"), Axis::log("h"), vec![missing]);
        let svg = Figure { panels: vec![panel], ..Figure::default() }.svg();
        elements(&svg);
        assert!(svg.contains("not measured"));
    }
}
