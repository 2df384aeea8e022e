//! The border: the only place with pointers. Every function checks them, and hands safe values on.
#![allow(
    unsafe_code,
    reason = "C hands over pointers, and only unsafe code can follow one; each block says what makes it sound"
)]
#![allow(unreachable_pub, reason = "C reaches these by name")]

use std::ffi::{CStr, c_char};
use std::ptr;
use std::slice;

use fieldlab_draw::constants::generated;
use fieldlab_draw::profile::{AXES, JOINTS};

use crate::error::{guarded, last};
use crate::verdict::{Check, Rig, Verdict};

/// Longest piece of a file that is taken at once, bytes: more is a length that was never meant.
const MOST_PIECE_BYTES: usize = 1 << 30;

/// `fieldlab_draw_abi` in the header.
#[unsafe(no_mangle)]
pub extern "C" fn fieldlab_draw_abi() -> u32 {
    1
}

/// `fieldlab_draw_constants_sha` in the header.
#[unsafe(no_mangle)]
pub extern "C" fn fieldlab_draw_constants_sha() -> *const c_char {
    const SHA: &str = generated::SHA;
    static TEXT: [u8; SHA.len() + 1] = {
        let mut out = [0; SHA.len() + 1];
        let mut k = 0;
        while k < SHA.len() {
            out[k] = SHA.as_bytes()[k];
            k += 1;
        }
        out
    };
    TEXT.as_ptr().cast()
}

/// `fieldlab_draw_rig_shipped` in the header.
///
/// # Safety
/// `name` is null or a text that ends with a zero byte; `out` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fieldlab_draw_rig_shipped(name: *const c_char, out: *mut *mut Rig) -> i32 {
    // SAFETY: the caller keeps this function's own conditions, which are the helpers'.
    guarded(|| unsafe { give(out, || Rig::shipped(text("name", name)?)) })
}

/// `fieldlab_draw_rig_open` in the header.
///
/// # Safety
/// `path` is null or a text that ends with a zero byte; `out` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fieldlab_draw_rig_open(path: *const c_char, out: *mut *mut Rig) -> i32 {
    // SAFETY: the caller keeps this function's own conditions, which are the helpers'.
    guarded(|| unsafe { give(out, || Rig::open(text("path", path)?)) })
}

/// `fieldlab_draw_rig_free` in the header.
///
/// # Safety
/// `rig` is null or came from this library and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fieldlab_draw_rig_free(rig: *mut Rig) {
    // SAFETY: the caller says that the handle is ours and still whole.
    unsafe { take_back(rig) }
}

/// `fieldlab_draw_check_strict` in the header.
///
/// # Safety
/// `rig` is null or a live handle; `joints_rad` is null or holds `joint_count` numbers; `out` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fieldlab_draw_check_strict(
    rig: *const Rig,
    joints_rad: *const f64,
    joint_count: usize,
    carriage_m: f64,
    out: *mut *mut Check,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller keeps this function's own conditions, which are the helpers'.
        unsafe {
            give(out, || {
                let rig = rig.as_ref().ok_or("rig is null")?;
                let start = match joints_rad.is_null() && joint_count == 0 {
                    true => None,
                    false => Some((joints(joints_rad, joint_count)?, carriage_m)),
                };
                Check::strict(rig, start)
            })
        }
    })
}

/// `fieldlab_draw_check_reference` in the header.
///
/// # Safety
/// `joints_rad` is null or holds `joint_count` numbers; `out` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fieldlab_draw_check_reference(
    period_s: f64,
    joints_rad: *const f64,
    joint_count: usize,
    carriage_m: f64,
    out: *mut *mut Check,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller keeps this function's own conditions, which are the helpers'.
        unsafe { give(out, || Check::reference(period_s, joints(joints_rad, joint_count)?, carriage_m)) }
    })
}

/// `fieldlab_draw_check_push` in the header.
///
/// # Safety
/// `check` is null or a live handle that no other thread uses now; `bytes` is null or holds `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fieldlab_draw_check_push(check: *mut Check, bytes: *const u8, length: usize) -> i32 {
    guarded(|| {
        if length > MOST_PIECE_BYTES {
            return Err(format!("a piece of {length} bytes, at most {MOST_PIECE_BYTES} are taken at once"));
        }
        if bytes.is_null() && length > 0 {
            return Err("bytes is null".to_owned());
        }
        // SAFETY: null or a live handle that is ours alone, by the caller's word.
        let check = unsafe { check.as_mut() }.ok_or("check is null")?;
        if length > 0 {
            // SAFETY: not null, and `length` bytes long by the caller's word; the piece is read before we return.
            check.push(unsafe { slice::from_raw_parts(bytes, length) });
        }
        Ok(())
    })
}

/// `fieldlab_draw_check_finish` in the header.
///
/// # Safety
/// `check` is null or a live handle, which is consumed unless status 2 is returned; `out` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fieldlab_draw_check_finish(check: *mut Check, out: *mut *mut Verdict) -> i32 {
    guarded(|| {
        if check.is_null() {
            return Err("check is null".to_owned());
        }
        if out.is_null() {
            return Err("out is null".to_owned());
        }
        // SAFETY: not null, ours and whole by the caller's word; `out` may be written.
        unsafe {
            *out = ptr::null_mut();
            let check = Box::from_raw(check);
            *out = Box::into_raw(Box::new(check.finish()));
        }
        Ok(())
    })
}

/// `fieldlab_draw_check_free` in the header.
///
/// # Safety
/// `check` is null or came from this library and was neither finished nor freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fieldlab_draw_check_free(check: *mut Check) {
    // SAFETY: the caller says that the handle is ours and still whole.
    unsafe { take_back(check) }
}

/// `fieldlab_draw_verdict_accepted` in the header.
///
/// # Safety
/// `verdict` is null or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fieldlab_draw_verdict_accepted(verdict: *const Verdict) -> i32 {
    // SAFETY: null or a live handle, by the caller's word.
    i32::from(unsafe { verdict.as_ref() }.is_some_and(|verdict| verdict.accepted))
}

/// `fieldlab_draw_verdict_code` in the header.
///
/// # Safety
/// `verdict` is null or a live handle; the text lives as long as it does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fieldlab_draw_verdict_code(verdict: *const Verdict) -> *const c_char {
    // SAFETY: null or a live handle, by the caller's word.
    let code = unsafe { verdict.as_ref() }.and_then(|verdict| verdict.code.as_ref());
    code.map_or(ptr::null(), |code| code.as_ptr())
}

/// `fieldlab_draw_verdict_json` in the header.
///
/// # Safety
/// `verdict` is null or a live handle; the text lives as long as it does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fieldlab_draw_verdict_json(verdict: *const Verdict) -> *const c_char {
    // SAFETY: null or a live handle, by the caller's word.
    unsafe { verdict.as_ref() }.map_or(ptr::null(), |verdict| verdict.json.as_ptr())
}

/// `fieldlab_draw_verdict_plan` in the header.
///
/// # Safety
/// `verdict` is null or a live handle; `positions` is null or has room for `capacity` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fieldlab_draw_verdict_plan(
    verdict: *const Verdict,
    positions: *mut f64,
    capacity: usize,
) -> usize {
    // SAFETY: null or a live handle, by the caller's word.
    let Some(verdict) = (unsafe { verdict.as_ref() }) else { return 0 };
    let needed = verdict.positions.len() * AXES;
    if !positions.is_null() && capacity >= needed && needed > 0 {
        // SAFETY: not null, with room for all that is written by the caller's word, and no part of ours.
        unsafe { ptr::copy_nonoverlapping(verdict.positions.as_ptr().cast::<f64>(), positions, needed) };
    }
    needed
}

/// `fieldlab_draw_verdict_free` in the header.
///
/// # Safety
/// `verdict` is null or came from this library and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fieldlab_draw_verdict_free(verdict: *mut Verdict) {
    // SAFETY: the caller says that the handle is ours and still whole.
    unsafe { take_back(verdict) }
}

/// `fieldlab_draw_last_error` in the header.
///
/// # Safety
/// `buffer` is null or has room for `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fieldlab_draw_last_error(buffer: *mut c_char, capacity: usize) -> usize {
    let text = last();
    if !buffer.is_null() && capacity > 0 {
        let count = text.len().min(capacity - 1);
        // SAFETY: not null, with room for `count` bytes and the zero after them by the caller's word.
        unsafe {
            ptr::copy_nonoverlapping(text.as_ptr().cast::<c_char>(), buffer, count);
            *buffer.add(count) = 0;
        }
    }
    text.len()
}

/// Makes a thing and hands it out; `out` is null when it could not be made.
///
/// # Safety
/// `out` is null or may be written.
unsafe fn give<T>(out: *mut *mut T, make: impl FnOnce() -> Result<T, String>) -> Result<(), String> {
    if out.is_null() {
        return Err("out is null".to_owned());
    }
    // SAFETY: not null and writable by the caller's word.
    unsafe { *out = ptr::null_mut() };
    let made = Box::into_raw(Box::new(make()?));
    // SAFETY: as above.
    unsafe { *out = made };
    Ok(())
}

/// Frees a handle; null is nothing. Dropping what stands behind them runs no code that could panic.
///
/// # Safety
/// `handle` is null or came from [`give`] for the same type and was not taken back.
unsafe fn take_back<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: made by `Box::into_raw` and still whole, by the caller's word.
        drop(unsafe { Box::from_raw(handle) });
    }
}

/// A text of the caller's.
///
/// # Safety
/// `pointer` is null or a text that ends with a zero byte and outlives the call.
unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<&'a str, String> {
    if pointer.is_null() {
        return Err(format!("{name} is null"));
    }
    // SAFETY: not null, and it ends with a zero byte by the caller's word.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| format!("{name} is not UTF-8"))
}

/// Six joints.
///
/// # Safety
/// `pointer` is null or holds `count` numbers.
unsafe fn joints(pointer: *const f64, count: usize) -> Result<[f64; JOINTS], String> {
    if pointer.is_null() || count != JOINTS {
        return Err(format!("joints_rad: expected {JOINTS} numbers, found {count} at {pointer:?}"));
    }
    // SAFETY: not null, and `count` numbers long by the caller's word.
    let values = unsafe { slice::from_raw_parts(pointer, count) };
    values.try_into().map_err(|_| "joints_rad: another count".to_owned())
}

#[cfg(test)]
mod tests;
