"""The conformance files of draw, judged from Python through the C border.

    verdicts.py LIBRARY FOLDER J0 J1 J2 J3 J4 J5 CARRIAGE FILE...

Prints one line per file and mode: `file,mode,accepted,code,planned numbers`. Needs the standard library only.
"""

import ctypes as c
import json
import os
import sys


def library(path):
    lib = c.CDLL(path)
    handle, doubles = c.c_void_p, c.POINTER(c.c_double)
    out = c.POINTER(c.c_void_p)
    for name, result, arguments in [
        ("abi", c.c_uint32, []),
        ("rig_shipped", c.c_int32, [c.c_char_p, out]),
        ("rig_free", None, [handle]),
        ("check_strict", c.c_int32, [handle, doubles, c.c_size_t, c.c_double, out]),
        ("check_reference", c.c_int32, [c.c_double, doubles, c.c_size_t, c.c_double, out]),
        ("check_push", c.c_int32, [handle, c.c_char_p, c.c_size_t]),
        ("check_finish", c.c_int32, [handle, out]),
        ("verdict_accepted", c.c_int32, [handle]),
        ("verdict_code", c.c_char_p, [handle]),
        ("verdict_json", c.c_char_p, [handle]),
        ("verdict_plan", c.c_size_t, [handle, doubles, c.c_size_t]),
        ("verdict_free", None, [handle]),
        ("last_error", c.c_size_t, [c.c_char_p, c.c_size_t]),
    ]:
        function = getattr(lib, "fieldlab_draw_" + name)
        function.restype, function.argtypes = result, arguments
    return lib


def main(path, folder, *words):
    lib = library(path)
    stand, files = [float(word) for word in words[:7]], words[7:]

    def done(status):
        if status != 0:
            text = c.create_string_buffer(512)
            lib.fieldlab_draw_last_error(text, len(text))
            sys.exit(f"status {status}: {text.value.decode()}")

    if lib.fieldlab_draw_abi() != 1:
        sys.exit("another border")
    rig, joints = c.c_void_p(), (c.c_double * 6)(*stand[:6])
    if lib.fieldlab_draw_rig_shipped(None, c.byref(rig)) != 2:
        sys.exit("null was taken for a name")
    done(lib.fieldlab_draw_rig_shipped(b"reference", c.byref(rig)))
    for file in files:
        with open(os.path.join(folder, file), "rb") as source:
            content = source.read()
        for mode in ("strict", "reference"):
            check, verdict = c.c_void_p(), c.c_void_p()
            if mode == "strict":
                done(lib.fieldlab_draw_check_strict(rig, joints, 6, stand[6], c.byref(check)))
            else:
                done(lib.fieldlab_draw_check_reference(0.0025, joints, 6, stand[6], c.byref(check)))
            done(lib.fieldlab_draw_check_push(check, content, len(content)))
            done(lib.fieldlab_draw_check_finish(check, c.byref(verdict)))
            report = json.loads(lib.fieldlab_draw_verdict_json(verdict))
            accepted = lib.fieldlab_draw_verdict_accepted(verdict)
            if report["accepted"] != bool(accepted) or report["mode"] != mode or report["hardware_authority"] is not False:
                sys.exit(f"{file}: the report contradicts the verdict")
            code = lib.fieldlab_draw_verdict_code(verdict)
            numbers = lib.fieldlab_draw_verdict_plan(verdict, None, 0)
            plan = (c.c_double * max(numbers, 1))()
            lib.fieldlab_draw_verdict_plan(verdict, plan, numbers)
            total = 0.0
            for value in plan[:numbers]:
                total += value
            print(f"{file},{mode},{accepted},{code.decode() if code else '-'},{numbers},{total:.17g}")
            lib.fieldlab_draw_verdict_free(verdict)
    lib.fieldlab_draw_rig_free(rig)


if __name__ == "__main__":
    main(*sys.argv[1:])
