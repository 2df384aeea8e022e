#![no_main]

#[path = "../bodies/draw_profile.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::run(data));
