use std::ffi::CString;

use super::*;

const W1: [f64; 6] = [
    0.173_762_112_856,
    1.544_403_791_428,
    0.826_848_268_509,
    -0.061_226_826_161,
    0.121_118_485_928,
    1.642_061_471_939,
];

fn last_error() -> String {
    let mut buffer = [0 as c_char; 256];
    // SAFETY: the buffer is as long as is said.
    let length = unsafe { fieldlab_draw_last_error(buffer.as_mut_ptr(), buffer.len()) };
    let text: Vec<u8> = buffer.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect();
    assert!(text.len() <= length);
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn null_and_impossible_lengths_are_said_and_change_nothing() {
    let name = CString::new("reference").unwrap_or_default();
    let wrong = CString::new("no such rig").unwrap_or_default();
    let (mut rig, mut check, mut verdict) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: every pointer is null or points to a live local.
    unsafe {
        assert_eq!(fieldlab_draw_rig_shipped(ptr::null(), &raw mut rig), 2);
        assert_eq!(last_error(), "name is null");
        assert_eq!(fieldlab_draw_rig_shipped(name.as_ptr(), ptr::null_mut()), 2);
        assert_eq!(last_error(), "out is null");
        assert_eq!(fieldlab_draw_rig_shipped(wrong.as_ptr(), &raw mut rig), 2);
        assert!(last_error().contains("reference-left") && rig.is_null());
        assert_eq!(fieldlab_draw_rig_open(wrong.as_ptr(), &raw mut rig), 2);
        assert_eq!(fieldlab_draw_rig_shipped(c"\xff".as_ptr(), &raw mut rig), 2);
        assert_eq!(last_error(), "name is not UTF-8");
        assert_eq!(fieldlab_draw_check_strict(rig, W1.as_ptr(), 6, 0.002, &raw mut check), 2);
        assert_eq!(last_error(), "rig is null");
        assert_eq!(fieldlab_draw_rig_shipped(name.as_ptr(), &raw mut rig), 0);
        assert_eq!(last_error(), "");
        assert_eq!(fieldlab_draw_check_strict(rig, W1.as_ptr(), 5, 0.002, &raw mut check), 2);
        assert_eq!(fieldlab_draw_check_strict(rig, ptr::null(), 6, 0.002, &raw mut check), 2);
        assert_eq!(fieldlab_draw_check_strict(rig, W1.as_ptr(), 6, f64::NAN, &raw mut check), 2);
        assert_eq!(fieldlab_draw_check_reference(0.0, W1.as_ptr(), 6, 0.002, &raw mut check), 2);
        assert!(check.is_null());
        assert_eq!(fieldlab_draw_check_strict(rig, ptr::null(), 0, 0.0, &raw mut check), 0);
        assert_eq!(fieldlab_draw_check_push(check, ptr::null(), 1), 2);
        assert_eq!(fieldlab_draw_check_push(check, W1.as_ptr().cast(), usize::MAX), 2);
        assert_eq!(fieldlab_draw_check_push(ptr::null_mut(), W1.as_ptr().cast(), 1), 2);
        assert_eq!(fieldlab_draw_check_push(check, ptr::null(), 0), 0);
        assert_eq!(fieldlab_draw_check_finish(check, ptr::null_mut()), 2);
        assert_eq!(fieldlab_draw_check_finish(ptr::null_mut(), &raw mut verdict), 2);
        assert_eq!(fieldlab_draw_check_finish(check, &raw mut verdict), 0);
        // An empty file is no drawing.
        assert_eq!(fieldlab_draw_verdict_accepted(verdict), 0);
        assert_eq!(CStr::from_ptr(fieldlab_draw_verdict_code(verdict)).to_str(), Ok("columns"));
        assert_eq!(fieldlab_draw_verdict_plan(verdict, ptr::null_mut(), 0), 0);
        assert!(fieldlab_draw_verdict_json(ptr::null()).is_null());
        assert!(fieldlab_draw_verdict_code(ptr::null()).is_null());
        assert_eq!(fieldlab_draw_verdict_accepted(ptr::null()), 0);
        fieldlab_draw_verdict_free(verdict);
        fieldlab_draw_verdict_free(ptr::null_mut());
        fieldlab_draw_check_free(ptr::null_mut());
        fieldlab_draw_rig_free(rig);
        fieldlab_draw_rig_free(ptr::null_mut());
        assert_eq!(CStr::from_ptr(fieldlab_draw_constants_sha()).to_str(), Ok(generated::SHA));
    }
}

#[test]
fn a_short_buffer_gets_the_front_of_the_error_and_its_end() {
    // SAFETY: every pointer is null or points to a live local of the length that is said.
    unsafe {
        assert_eq!(fieldlab_draw_rig_open(ptr::null(), ptr::null_mut()), 2);
        let mut buffer = [1 as c_char; 5];
        assert_eq!(fieldlab_draw_last_error(buffer.as_mut_ptr(), 4), "out is null".len());
        assert_eq!(buffer.map(|c| c as u8), [b'o', b'u', b't', 0, 1]);
        assert_eq!(fieldlab_draw_last_error(ptr::null_mut(), 4), "out is null".len());
    }
}
