#![no_main]

#[path = "../bodies/nt_binary.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::run(data));
