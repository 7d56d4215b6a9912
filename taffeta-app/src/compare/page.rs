//! A comparison as one page that needs no network.

use taffeta_io::output::{Frame, shapes};
use taffeta_io::plot::{Axis, Curve, Figure, Panel, QUANTITIES, Quantity, Style, significant};

use super::entrant::Entrant;
use super::precision::{Line, Point};
use super::race::Race;
use super::{Comparison, words};
use crate::fault::Fault;
use crate::html::escaped;
use crate::report::plural;

const PAGE: &str = include_str!("page.html");
/// Width of the figures, px.
const WIDTH: f64 = 1040.0;

/// The whole page.
pub fn page(comparison: &Comparison, entrants: &[Entrant]) -> Result<String, Fault> {
    let Comparison { title, scene, races, reference, horizon, .. } = comparison;
    let names: Vec<&str> = races.iter().map(|race| race.name.as_str()).collect();
    let about = format!(
        "Scene <code>{}</code>: {} vertices, {} triangles, frames of {} s; {} substeps of {} iterations where a method does not \
         say otherwise. Measured on {}; processor time on {} thread{}.",
        escaped(scene),
        comparison.vertices,
        comparison.triangles,
        significant(comparison.dt as f64, 3),
        comparison.substeps,
        comparison.iterations,
        escaped(&comparison.machine),
        comparison.threads,
        if comparison.threads == 1 { "" } else { "s" },
    );
    let sure = match reference.uncertainty() {
        Some(gap) => format!(
            "The fine reference differs from the one with half of its substeps by {}; below that (shaded) total errors are not \
             certain.",
            significant(gap.rms, 2)
        ),
        None => "The fine reference was not made, so there are no total errors.".into(),
    };
    let precision = format!(
        "Error for the work it takes. Error: root mean square distance of all vertices, over the first {horizon} frames ({} s), \
         from those of <code>{}</code> at the same times, over the size of the cloth ({} m, its diagonal at rest). Left, the \
         reference has the same substeps, and iterations grow along each line: how well are the equations of one step solved? \
         Right, the reference has {} substeps, and substeps grow: how near is the motion to the true one? {sure} Further on, \
         small differences grow by themselves, whatever the method.",
        significant(*horizon as f64 * comparison.dt as f64, 2),
        escaped(&reference.name),
        significant(reference.size, 3),
        reference.fine,
    );
    let (views, scripts) = views(comparison)?;
    let parts = [
        ("{{title}}", format!("{}: {}", escaped(title), escaped(&names.join(", ")))),
        ("{{heading}}", escaped(title)),
        ("{{about}}", about),
        ("{{precision}}", work_precision(comparison, entrants).svg()),
        ("{{precision-note}}", precision),
        ("{{curves}}", curves(races).svg()),
        ("{{table}}", table(comparison)),
        ("{{troubles}}", troubles(comparison)),
        ("{{views}}", views),
        ("{{scripts}}", scripts),
    ];
    // One pass over the template: what is put in is not searched again.
    let mut page = String::new();
    let mut rest = PAGE;
    while let Some(at) = rest.find("{{") {
        let end = rest[at..].find("}}").map_or(rest.len(), |end| at + end + 2);
        let part = parts.iter().find(|(mark, _)| *mark == &rest[at..end]);
        page += &rest[..at];
        page += part.map_or(&rest[at..end], |(_, text)| text);
        rest = &rest[end..];
    }
    Ok(page + rest)
}

fn work_precision(comparison: &Comparison, entrants: &[Entrant]) -> Figure {
    let Comparison { lines, reference, substeps, iterations, .. } = comparison;
    let curve = |line: &Line, points: &[Point]| {
        let tip = |p: &Point| {
            format!(
                "{}, {} × {}: {} ms, error {}, at worst {}",
                line.name,
                plural(p.substeps as usize, "substep"),
                plural(p.iterations as usize, "iteration"),
                significant(p.ms, 3),
                significant(p.error.rms, 2),
                significant(p.error.max, 2)
            )
        };
        Curve {
            tips: points.iter().map(tip).collect(),
            ..Curve::line(
                &line.name,
                Style(comparison.style(entrants, line)),
                points.iter().map(|p| [p.ms, p.error.rms]).collect(),
            )
        }
    };
    let panel = |title: String, curves: Vec<Curve>| {
        Panel::new(
            title,
            Axis::log("processor time of a frame, ms"),
            Axis::log("error / size of the cloth"),
            curves,
        )
    };
    let solver = lines.iter().map(|line| curve(line, &line.solver)).collect();
    let total = lines.iter().map(|line| curve(line, &line.total)).collect();
    let mut panels = vec![
        panel(format!("Solver error: {}, more iterations", plural(*substeps as usize, "substep")), solver),
        panel(format!("Total error: {}, more substeps", plural(*iterations as usize, "iteration")), total),
    ];
    let floor = reference.uncertainty().filter(|gap| gap.rms > 0.0);
    panels[1].floor = floor.map(|gap| (gap.rms, "below what the reference is sure of".to_string()));
    Figure {
        panels,
        columns: 2,
        width: WIDTH,
        height: 300.0,
        legend: lines
            .iter()
            .map(|line| (line.name.clone(), Style(comparison.style(entrants, line))))
            .collect(),
        ..Figure::default()
    }
}

fn curves(races: &[Race]) -> Figure {
    let panel = |quantity: &Quantity| {
        let curve = |(k, race): (usize, &Race)| {
            let start = if quantity.from_start { race.figure(0, quantity.metric) } else { 0.0 };
            let value = |row: usize| (race.figure(row, quantity.metric) - start) * quantity.factor;
            let first = usize::from(!quantity.shows_start());
            let points = (first..race.rows.len()).map(|row| [race.rows[row].0 as f64, value(row)]);
            Curve::line(&race.name, Style(k), points.collect())
        };
        let y = if quantity.log { Axis::log(quantity.label) } else { Axis::linear(quantity.label) };
        let curves = races.iter().enumerate().filter(|(_, race)| race.ran).map(curve).collect();
        Panel::new(quantity.title, Axis::linear("frame"), y, curves)
    };
    Figure {
        panels: QUANTITIES.iter().map(panel).collect(),
        columns: 2,
        width: WIDTH,
        height: 210.0,
        legend: races.iter().enumerate().map(|(k, race)| (race.name.clone(), Style(k))).collect(),
        ..Figure::default()
    }
}

fn table(comparison: &Comparison) -> String {
    let cells = |tag: &str, cells: &[String]| -> String {
        cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect()
    };
    let mut text = format!("<tr>{}</tr>\n", cells("th", &words::HEADER.map(String::from)));
    for (k, race) in comparison.races.iter().enumerate() {
        let row = words::row(comparison, race);
        let failed = if race.failure.is_some() { " class=\"failed\"" } else { "" };
        let key = format!("<td><i style=\"background:{}\"></i>{}</td>", Style(k).color(), escaped(&row[0]));
        text += &format!("<tr{failed}>{key}{}</tr>\n", cells("td", &row[1..]));
    }
    text
}

fn troubles(comparison: &Comparison) -> String {
    let items: String =
        words::troubles(comparison).iter().map(|why| format!("<li>{}</li>\n", escaped(why))).collect();
    if items.is_empty() { items } else { format!("<ul class=\"troubles\">\n{items}</ul>\n") }
}

/// The canvases of the final shapes, and the scripts that draw them.
fn views(comparison: &Comparison) -> Result<(String, String), Fault> {
    let Some(clip) = &comparison.clip else {
        return Ok(("<p>No method could begin.</p>".into(), String::new()));
    };
    let shown: Vec<(usize, &Race)> =
        comparison.races.iter().enumerate().filter(|(_, race)| race.ran).collect();
    let frames: Vec<Frame<'_>> = (shown.iter())
        .map(|(_, race)| Frame {
            index: race.rows.len().saturating_sub(1) as u32,
            time: 0.0,
            positions: &race.shape,
            colliders: &race.poses,
            metrics: &[],
        })
        .collect();
    let figure = |(at, (k, race)): (usize, &(usize, &Race))| {
        let frame = race.rows.len().saturating_sub(1);
        let when = if race.failure.is_some() {
            format!("last good frame, {frame}")
        } else {
            format!("frame {frame}")
        };
        format!(
            "<figure><canvas data-shape=\"{at}\" aria-label=\"Final shape of {name}\"></canvas><figcaption>\
             <i style=\"background:{}\"></i>{name} <small>{when}; max strain {} %</small></figcaption></figure>\n",
            Style(*k).color(),
            significant(100.0 * race.last("strain_max"), 3),
            name = escaped(&race.name),
        )
    };
    let views = shown.iter().enumerate().map(figure).collect();
    Ok((views, shapes(clip, &frames).map_err(Fault::failed)?))
}
