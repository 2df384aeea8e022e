/* The preflight of Field Lab's draw for programs in C.
 *
 *     fieldlab_draw_rig *rig = NULL;
 *     fieldlab_draw_check *check = NULL;
 *     fieldlab_draw_verdict *verdict = NULL;
 *     if (fieldlab_draw_rig_shipped("reference", &rig) == 0
 *         && fieldlab_draw_check_strict(rig, joints_rad, 6, carriage_m, &check) == 0
 *         && fieldlab_draw_check_push(check, bytes, length) == 0
 *         && fieldlab_draw_check_finish(check, &verdict) == 0)
 *         puts(fieldlab_draw_verdict_json(verdict));
 *     fieldlab_draw_verdict_free(verdict);
 *     fieldlab_draw_rig_free(rig);
 *
 * Units are metres, radians and seconds. A function that returns int32_t says 0 for done, 1 for a defect of the library, 2 for an
 * input that cannot be used; the text is in fieldlab_draw_last_error. A refused file is not an error: it is a verdict. A verdict of
 * acceptance is no permission to move anything.
 *
 * A handle belongs to one thread at a time, and is freed once. Texts belong to the handle that gave them and are UTF-8.
 * A test holds this page to the library, name by name and type by type. */
#ifndef FIELDLAB_DRAW_H
#define FIELDLAB_DRAW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What fieldlab_draw_abi of a fitting library returns. */
#define FIELDLAB_DRAW_ABI 1
/* Numbers per row of a plan: six joints and the carriage. */
#define FIELDLAB_DRAW_AXES 7

typedef struct fieldlab_draw_rig fieldlab_draw_rig;
typedef struct fieldlab_draw_check fieldlab_draw_check;
typedef struct fieldlab_draw_verdict fieldlab_draw_verdict;

/* The number of this border; it changes when anything below does. */
uint32_t fieldlab_draw_abi(void);
/* The digest of the motion constants that the library was built with, 12 hex digits. */
const char *fieldlab_draw_constants_sha(void);

/* A rig that comes with the library: "reference", "reference-left" or "six-joint". */
int32_t fieldlab_draw_rig_shipped(const char *name, fieldlab_draw_rig **out);
/* A rig from its profile (TOML, schema fieldlab.rig/1) and the files that it names beside it. */
int32_t fieldlab_draw_rig_open(const char *path, fieldlab_draw_rig **out);
void fieldlab_draw_rig_free(fieldlab_draw_rig *rig);

/* Begins a strict check for a rig. joints_rad (6 of them) and carriage_m are where the arm stands; with NULL and 0 joints the
 * file itself is judged and nothing is planned. The rig may be freed afterwards. */
int32_t fieldlab_draw_check_strict(const fieldlab_draw_rig *rig, const double *joints_rad, size_t joint_count, double carriage_m, fieldlab_draw_check **out);
/* Begins a check by the reference planner's own rules and for its own arm: for parity, never for a robot. */
int32_t fieldlab_draw_check_reference(double period_s, const double *joints_rad, size_t joint_count, double carriage_m, fieldlab_draw_check **out);
/* The next bytes of the samples file, in pieces of any size up to 1 GiB. */
int32_t fieldlab_draw_check_push(fieldlab_draw_check *check, const uint8_t *bytes, size_t length);
/* The verdict. The check is used up, except after status 2. */
int32_t fieldlab_draw_check_finish(fieldlab_draw_check *check, fieldlab_draw_verdict **out);
/* Ends a check that will not be finished. */
void fieldlab_draw_check_free(fieldlab_draw_check *check);

/* 1 when nothing speaks against the file, else 0. */
int32_t fieldlab_draw_verdict_accepted(const fieldlab_draw_verdict *verdict);
/* The code of the first thing that speaks against the file; NULL for an accepted one. */
const char *fieldlab_draw_verdict_code(const fieldlab_draw_verdict *verdict);
/* The report as one line of JSON, schema fieldlab.draw-check/1. */
const char *fieldlab_draw_verdict_json(const fieldlab_draw_verdict *verdict);
/* The plan, FIELDLAB_DRAW_AXES numbers per row. Returns how many numbers it has; they are copied when positions has room for all. */
size_t fieldlab_draw_verdict_plan(const fieldlab_draw_verdict *verdict, double *positions, size_t capacity);
void fieldlab_draw_verdict_free(fieldlab_draw_verdict *verdict);

/* This thread's last error, empty when its last call went well. At most capacity bytes are written, the zero at the end among
 * them; returns the length of the whole text. */
size_t fieldlab_draw_last_error(char *buffer, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
