use taffeta::scene::*;
use taffeta::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let get = |k: &str, d: f32| {
        a.iter().find_map(|s| s.strip_prefix(&format!("{k}="))).map_or(d, |v| v.parse().unwrap())
    };
    let mut scene = Scene::default();
    let mut c = Cloth { resolution: Pair([64, 64]), ..Cloth::default() };
    c.fabric.0 = FabricTable {
        density: Some(0.2),
        stretch: Some(Pair([2667.0; 2])),
        shear: Some(get("shear", 1000.0)),
        bend: Some(Pair([1e-5; 2])),
        damping: Some(get("damp", 0.5)),
        ..Default::default()
    };
    c.bending = match get("bend", 1.0) as i32 {
        0 => Bending::None,
        1 => Bending::Isometric,
        2 => Bending::Dihedral,
        _ => Bending::Springs,
    };
    if get("tether", 0.0) > 0.0 {
        c.tethers = Some(Tethers { stretch: get("tether", 1.2), nearest: get("near", 2.0) as u32 });
    }
    c.pin.push(Pin {
        select: Select { corners: vec![Corner::LowLow, Corner::HighLow], ..Default::default() },
        ..Default::default()
    });
    scene.cloth.push(c);
    scene.simulation.substeps = get("sub", 20.0) as u32;
    scene.simulation.iterations = get("it", 1.0) as u32;

    scene.simulation.threads = get("threads", 1.0) as u32;
    let mut sim = Simulation::new(&scene).unwrap();
    let frames = get("frames", 600.0) as u32;
    let mut best = f64::MAX;
    let mut worst: f64 = 0.0;
    let mut stages = [0.0f64; 7];
    for f in 0..frames {
        let t = std::time::Instant::now();
        let r = sim.step(1.0 / 60.0);
        best = best.min(t.elapsed().as_secs_f64());
        for (a, b) in stages.iter_mut().zip(r.stages) {
            *a += b.as_secs_f64() * 1e3 / frames as f64;
        }
        if let Some(f) = r.failure {
            println!("{f}");
            break;
        }
        let s = sim.strain();
        worst = worst.max(s.max);
        if f % (frames / 6).max(1) == 0 {
            println!("{f} strain max {:.4} mean {:.4} E {:?}", s.max, s.mean, sim.energies());
        }
    }
    let s = sim.strain();
    println!(
        "final max {:.4} mean {:.5} worst {:.3} best ms {:.3} colors {} stages {:.3?} bottom {:?}",
        s.max,
        s.mean,
        worst,
        best * 1e3,
        sim.colors(),
        stages,
        sim.positions()[64 * 65 + 32]
    );
}
