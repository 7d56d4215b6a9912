//! Whatever is asked for wrongly: exit code 2, one message with what is right, nothing on standard output, nothing
//! written.

mod common;

use std::fs;

use common::{files, run, stderr};

/// A command line, and words its message must have.
const CASES: &[(&str, &[&str])] = &[
    // Names.
    ("run hagn", &["'hagn'", "did you mean 'hang'?"]),
    ("run zzzzzzzzzz", &["there are hang, attach"]),
    ("run missing.toml", &["missing.toml: there is no such file"]),
    ("run hang --method xpdb", &["--method", "did you mean 'xpbd'?"]),
    ("run hang --set simulation.method=xpdb", &["did you mean 'xpbd'?"]),
    ("run hang --set cloth.0.fabric=coton", &["cloth.0.fabric", "did you mean 'cotton'?"]),
    ("run hang --backend gpu", &["not in this build", "cpu"]),
    ("run hang --backend tpu", &["did you mean", "gpu"]),
    ("run hang --simd mmx", &["this machine has scalar"]),
    ("run hang --frmaes 3", &["--frmaes", "--frames"]),
    ("rnu hang", &["rnu", "run"]),
    ("list fabriks", &["fabriks", "fabrics"]),
    ("bench kernel", &["there is no suite 'kernel'", "kernels"]),
    ("bench documents --only nothing", &["--only nothing", "S1 to S5"]),
    ("bench kernels --only S1", &["--only S1", "documents"]),
    ("bench documents --out table.txt", &["table.txt", ".html or .csv"]),
    // Comparisons.
    ("compare hang", &["--methods"]),
    ("compare hagn --methods xpbd --reference xpbd", &["'hagn'", "did you mean 'hang'?"]),
    ("compare hang --methods xpdb --reference xpbd", &["--methods xpdb", "did you mean 'xpbd'?"]),
    (
        "compare hang --methods xpbd,,xpbd --reference xpbd",
        &["--methods", "name is missing", "xpbd,xpbd:iterations=40"],
    ),
    ("compare hang --methods xpbd,xpbd --reference xpbd", &["'xpbd' is listed twice", "xpbd:iterations=40"]),
    ("compare hang --methods xpbd:iterations --reference xpbd", &["--methods xpbd:iterations", "no '='"]),
    (
        "compare hang --methods xpbd:iteration=4 --reference xpbd",
        &["--methods xpbd:iteration=4", "did you mean 'iterations'?"],
    ),
    (
        "compare hang --methods xpbd:substeps=few --reference xpbd",
        &["--methods xpbd:substeps=few", "whole number"],
    ),
    ("compare hang --methods xpbd --reference newtn", &["--reference newtn", "there is no method 'newtn'"]),
    ("compare hang --methods xpbd --reference xpbd --horizon 0", &["--horizon", "1.."]),
    ("compare hang --methods xpbd --reference xpbd --fine 7", &["--fine", "even"]),
    ("compare hang --methods xpbd --reference xpbd --out report.pdf", &["report.pdf", ".html"]),
    (
        "compare hang --methods xpbd --reference xpbd --out gone/report.html",
        &["gone/report.html", "there is no folder"],
    ),
    (
        "compare hang --methods xpbd --reference xpbd --set cloth.0.fabric=coton",
        &["cloth.0.fabric", "did you mean 'cotton'?"],
    ),
    (
        "compare hang --methods xpbd --reference xpbd --set simulation.substeps=0",
        &["simulation.substeps=0", "1 or more"],
    ),
    // Settings.
    ("run hang --set simulation.substep=3", &["--set simulation.substep=3", "did you mean 'substeps'?"]),
    ("run hang --set clth.0.resolution=3", &["did you mean 'cloth'?"]),
    ("run hang --set cloth.9.resolution=3", &["cloth has no item '9'"]),
    ("run hang --set cloth.0.bending=isometrc", &["did you mean 'isometric'?"]),
    ("run hang --set cloth.0.resolution", &["no '='", "PATH=VALUE"]),
    ("run hang --set cloth.0.resolution=0", &["cloth.0.resolution=0", "must be 1"]),
    ("run hang --set cloth.0.pin.0.select.vertices=[99999]", &["no vertex 99999", "0 to 4224"]),
    (
        "run hang --set cloth.0.pin.0.select={box={min=[5,5,5],max=[6,6,6]}}",
        &["cloth.0.pin.0.select", "no vertex lies in"],
    ),
    ("run hang --set simulation.frames=0", &["simulation.frames=0", "1 or more"]),
    ("run hang --set simulation.dt=nan", &["simulation.dt=nan", "above 0 s"]),
    // Numbers.
    ("run hang --dt 0", &["--dt", "above 0"]),
    ("run hang --dt -1", &["--dt", "above 0"]),
    ("run hang --dt nan", &["--dt", "above 0"]),
    ("run hang --dt fast", &["--dt", "number"]),
    ("run hang --substeps 0", &["--substeps", "1.."]),
    ("run hang --iterations 0", &["--iterations", "1.."]),
    ("run hang --frames 0", &["--frames", "1.."]),
    ("run hang --seconds -1", &["--seconds", "above 0"]),
    ("run hang --frames 3 --seconds 1", &["--frames", "--seconds"]),
    ("run hang --threads -1", &["--threads", "-1"]),
    // Files of one's own.
    ("run key.toml", &["key.toml:2:1", "simulation.substep", "did you mean 'substeps'?"]),
    ("run word.toml", &["word.toml:2:9", "collider.0.shape", "did you mean 'sphere'?"]),
    ("run broken.toml", &["broken.toml:3:"]),
    ("run fabric.toml", &["fabric.toml:3:10", "did you mean 'denim'?"]),
    ("run empty.toml", &["empty.toml", "no cloth"]),
    ("run nomesh.toml", &["nomesh.toml:2:8", "cloth.0.mesh", "gone.obj", "no such file"]),
    // Meshes.
    ("run hang --set cloth.0.mesh=nan.obj", &["nan.obj", "vertex 1 is at [NaN"]),
    ("run hang --set cloth.0.mesh=range.obj", &["range.obj:4", "9"]),
    ("run hang --set cloth.0.mesh=flat.obj", &["flat.obj", "triangle 0", "no area"]),
    ("run hang --set cloth.0.mesh=twice.obj", &["twice.obj", "repeats triangle 0"]),
    ("run hang --set cloth.0.mesh=three.obj", &["three.obj", "belongs to 3 triangles"]),
    ("run hang --set cloth.0.mesh=points.obj", &["points.obj", "no faces"]),
    ("run hang --set cloth.0.mesh=mesh.stl", &["mesh.stl", "accepted: .obj"]),
    // Meshes of colliders.
    ("run attach --set collider.0.mesh=cube.obj", &["collider.0.mesh=cube.obj", "shape = \"mesh\""]),
    ("run attach --set collider.0.shape=mesh", &["collider.0.mesh", "is missing"]),
    ("run mesh.toml --set collider.0.mesh=gone.obj", &["gone.obj: there is no such file"]),
    ("run mesh.toml --set collider.0.mesh=points.obj", &["points.obj", "no faces"]),
    ("run mesh.toml --set collider.0.mesh=nan.obj", &["collider.0.mesh=nan.obj", "vertex 1 is at [NaN"]),
    ("run mesh.toml --set collider.0.mesh=flat.obj", &["collider.0.mesh=flat.obj", "no area"]),
    ("run mesh.toml --set collider.0.mesh=three.obj", &["three.obj", "belongs to 3 triangles"]),
    ("run mesh.toml --set collider.0.scale=0", &["collider.0.scale=0", "above 0"]),
    ("run mesh.toml --set collider.0.rate=0", &["collider.0.rate=0", "above 0 frames a second"]),
    ("run mesh.toml --set collider.0.mesh=step_%d.obj", &["frame 1: it is missing"]),
    ("run mesh.toml --set collider.0.mesh=turn_%d.obj", &["turn_1.obj", "only positions may change"]),
    (
        "run mesh.toml --set collider.0.mesh=grow_%d.obj",
        &["grow_1.obj", "4 vertices, but the first frame has 3"],
    ),
    ("run mesh.toml --set collider.0.cache=old.pc2", &["collider.0.cache=old.pc2", "POINTCACHE2"]),
    ("run mesh.toml --set collider.0.cache=old.abc", &["collider.0.cache=old.abc", ".pc2"]),
    ("run attach --set collider.0.cache=old.pc2", &["collider.0.cache=old.pc2", "without a mesh"]),
    ("run mesh.toml --set collider.0.sdf.cell=0.01", &["collider.0.sdf", "the mesh is open"]),
    ("run statue --set collider.0.sdf.cell=0.0001", &["collider.0.sdf.cell=0.0001", "fine enough"]),
    ("run body --set collider.0.sdf.cell=0.01", &["collider.0.sdf", "changes its shape"]),
    ("run attach --set collider.0.sdf.cell=0.01", &["collider.0.sdf", "shape = \"mesh\""]),
    ("run statue --set collider.0.generate.shape=stature", &["did you mean 'statue'?"]),
    ("run statue --set collider.0.generate.vertices=7", &["vertices=7", "1500 to 1000000"]),
    ("run statue --set collider.0.generate.radius=1", &["radius=1", "is not for this shape"]),
    ("run twist --set cloth.0.generate.walk=1", &["cloth.0.generate.walk=1", "colliders only"]),
    (
        "run body --set cloth.0.pin.0.follow=figur",
        &["there is no collider 'figur'", "did you mean 'figure'?"],
    ),
    (
        "run body --set cloth.0.pin.0.motion.accelerate.by=[1,0,0]",
        &["cloth.0.pin.0.motion", "follows a collider"],
    ),
    ("check points.obj", &["points.obj", "no faces"]),
    ("check gone.obj", &["gone.obj: there is no such file"]),
    // Contact.
    (
        "run hang --set simulation.contact.mode=intersection-fre",
        &["simulation.contact.mode=intersection-fre", "did you mean 'intersection-free'?"],
    ),
    (
        "run hang --set simulation.contact.mode=swept-sphere",
        &["simulation.contact.mode=swept-sphere", "swept-spheres"],
    ),
    ("run hang --set simulation.contact.mod=none", &["did you mean 'mode'?"]),
    ("run hang --set simulation.contact.thickness=0", &["simulation.contact.thickness=0", "above 0 m"]),
    ("run hang --set simulation.contact.thickness=-0.01", &["contact.thickness=-0.01", "above 0 m"]),
    ("run hang --set simulation.contact.thickness=nan", &["contact.thickness=nan", "above 0 m"]),
    ("run hang --set simulation.contact.search=bvh", &["contact.search=bvh", "did you mean 'lbvh'?"]),
    (
        "run crossed.toml --set simulation.contact.mode=intersection-free",
        &[
            "simulation.contact.mode=intersection-free",
            "'upright' and 'level' cross at (",
            "simulation.contact.untangle = true",
            "mode = \"predictive\"",
        ],
    ),
    (
        "run swallowed.toml",
        &["swallowed.toml:4:", "cloth.0.position", "'patch' starts inside 'ball'", "move it out"],
    ),
    ("run swallowed.toml --set simulation.contact.mode=none", &["'patch' starts inside 'ball'"]),
    ("run stabbed.toml --set simulation.contact.mode=none", &["'patch' and 'ball' cross at ("]),
    ("bench contact --only nothing", &["--only nothing", "sphere-drape", "newton"]),
    // Outputs.
    ("run hang --out nowhere/a.pc2", &["nowhere/a.pc2", "there is no folder"]),
    ("run hang --out nan.obj/a.pc2", &["nan.obj/a.pc2"]),
    ("run hang --out cloth.gltf", &["cloth.gltf", "did you mean .glb?", ".csv"]),
    ("run hang --out cloth.usda", &["cloth.usda", "accepted: .html"]),
    ("run hang --out cloth", &["no ending"]),
    ("run hang --out new.pc2 --out ./new.pc2", &["new.pc2", "twice"]),
    ("run hang --out a%04d.pc2", &["%04d"]),
];

const FILES: &[(&str, &str)] = &[
    ("key.toml", "[simulation]\nsubstep = 3\n[[cloth]]\n"),
    ("word.toml", "[[collider]]\nshape = \"shpere\"\n[[cloth]]\n"),
    ("broken.toml", "[simulation]\ndt = 0.1\niterations = = 3\n"),
    ("fabric.toml", "title = \"x\"\n[[cloth]]\nfabric = \"denm\"\n"),
    ("empty.toml", "title = \"nothing\"\n"),
    ("nomesh.toml", "[[cloth]]\nmesh = \"gone.obj\"\n"),
    ("nan.obj", "v 0 0 0\nv nan 0 0\nv 0 0 1\nf 1 3 2\n"),
    ("range.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 9\n"),
    ("flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n"),
    ("twice.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\nf 3 2 1\n"),
    ("three.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 1 0\nv 0 -1 0\nf 1 2 3\nf 2 1 4\nf 1 2 5\n"),
    ("points.obj", "v 0 0 0\nv 1 0 0\n"),
    ("mesh.stl", "solid\n"),
    ("cube.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n"),
    ("mesh.toml", "[[cloth]]\nposition = [0, 2, 0]\n[[collider]]\nshape = \"mesh\"\nmesh = \"cube.obj\"\n"),
    (
        "crossed.toml",
        "[[cloth]]\nname = \"upright\"\nresolution = 5\nrotation = [80, 10, 0]\n\
         [[cloth]]\nname = \"level\"\nresolution = 4\n",
    ),
    (
        "swallowed.toml",
        "[[cloth]]\nname = \"patch\"\nsize = 0.2\nposition = [0, 0.05, 0]\nresolution = 4\n\
         [[collider]]\nname = \"ball\"\nshape = \"mesh\"\ngenerate = { shape = \"ball\", radius = 0.5, vertices = 100 }\n",
    ),
    (
        "stabbed.toml",
        "[[cloth]]\nname = \"patch\"\nsize = 2\nresolution = 8\n\
         [[collider]]\nname = \"ball\"\nshape = \"mesh\"\ngenerate = { shape = \"ball\", radius = 0.5, vertices = 100 }\n",
    ),
    ("step_0.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n"),
    ("step_2.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n"),
    ("turn_0.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n"),
    ("turn_1.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n"),
    ("grow_0.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n"),
    ("grow_1.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 1 1\nf 1 3 2\n"),
];

#[test]
fn bad_input_is_refused_with_what_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (name, text) in FILES {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::write(folder.join("old.pc2"), "kept").unwrap();
    let before = files(folder);
    for &(line, words) in CASES {
        // Also when a good output is asked for with it, and with JSON wanted.
        let extra = if line.starts_with("run") { " --out old.pc2 --json" } else { "" };
        for line in [line.to_string(), format!("{line}{extra}")] {
            let output = run(folder, &line);
            let message = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{line}: {message}");
            assert!(output.stdout.is_empty(), "{line} printed something");
            assert!(message.starts_with("error: "), "{line}: {message}");
            assert_eq!(message.matches("error: ").count(), 1, "{line}: {message}");
            for word in words {
                assert!(message.contains(word), "{line} does not say '{word}': {message}");
            }
        }
    }
    assert_eq!(files(folder), before, "something was written");
    assert_eq!(fs::read_to_string(folder.join("old.pc2")).unwrap(), "kept");
}

/// What is offered instead of the refusal works.
#[test]
fn cloth_that_starts_crossed_runs_if_it_is_untangled_or_left_crossed() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        fs::write(folder.path().join(name), text).unwrap();
    }
    for (setting, crossings) in [("untangle=true", Some(0.0)), ("mode=predictive", None), ("mode=none", None)]
    {
        let line = format!("run crossed.toml --frames 3 --json --set simulation.contact.{setting}");
        let output = run(folder.path(), &line);
        assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = json["intersecting_pairs"].as_f64();
        assert!(found.is_some(), "{json}");
        assert!(crossings.is_none() || found == crossings, "{setting}: {found:?} crossings");
    }
}

/// Nothing crosses by default; where that cannot be had, it is said, but once it is known it is not said again.
#[test]
fn a_start_that_crosses_is_mentioned() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let warning = |line: &str| {
        let output = run(folder.path(), line);
        assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
        stderr(&output)
    };
    let said = warning("run crossed.toml --frames 1 --json");
    for words in ["warning: ", "cross at the start", "\"predictive\"", "taffeta check", "untangle = true"] {
        assert!(said.contains(words), "it does not say '{words}': {said}");
    }
    let lines = [
        "run crossed.toml --frames 1 --json -q",
        "run crossed.toml --frames 1 --json --set simulation.contact.mode=predictive",
        "run crossed.toml --frames 1 --json --set simulation.contact.untangle=true",
        "run hang --frames 1 --json",
    ];
    for line in lines {
        assert_eq!(warning(line), "", "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), "run hang --out /proc/a.pc2");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("/proc/a.pc2"), "{}", stderr(&output));
}
