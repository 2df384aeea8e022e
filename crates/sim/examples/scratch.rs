#![allow(clippy::all, missing_docs)]
use fieldlab_sim::rehearsal::*;
use fieldlab_robot::driver_station::DriverPanel;
struct Show(String);
impl Stage for Show {
    fn progress(&mut self, p: &Progress) -> Vec<Deed> {
        let line = format!("{} {} | {} | {} en={} run={}", p.state, p.procedure, p.step, p.prompt, p.enabled, p.running);
        if line != self.0 { println!("{:9.2} {:.2}V {:.2} {line}", p.now.as_secs(), p.battery_volts, p.done); self.0 = line; }
        Vec::new()
    }
}
fn main() {
    let seed: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let scope = std::env::args().nth(2).unwrap();
    let dir = std::env::args().nth(3).unwrap();
    std::fs::remove_dir_all(&dir).ok();
    let mut config = RehearsalConfig::new(seed, &dir);
    if scope == "short" { config.scope = Scope::Short; }
    if let Some(f) = std::env::args().nth(4) { config.faults = fieldlab_sim::faults::parse(&std::fs::read(f).unwrap()).unwrap(); }
    let t = std::time::Instant::now();
    let r = run_on(&config, &DriverPanel::new(), &mut Show(String::new()));
    println!("{r:#?} in {:?}", t.elapsed());
}
