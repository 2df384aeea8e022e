/* The conformance files of draw, judged from C.
 *
 *     verdicts FOLDER J0 J1 J2 J3 J4 J5 CARRIAGE FILE...
 *
 * Prints one line per file and mode: `file,mode,accepted,code,planned numbers`, and exits with 0. Any misbehaviour of the library
 * itself ends it with 1 and a word on stderr. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fieldlab_draw.h"

static int fail(const char *what) {
    char text[512];
    fieldlab_draw_last_error(text, sizeof text);
    fprintf(stderr, "%s: %s\n", what, text);
    return 1;
}

/* In pieces of 1000 bytes, so that the border between two calls falls anywhere. */
static int judge(fieldlab_draw_check *check, const char *path, const char *file, const char *mode) {
    unsigned char piece[1000];
    size_t count;
    fieldlab_draw_verdict *verdict = NULL;
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        perror(path);
        return 1;
    }
    while ((count = fread(piece, 1, sizeof piece, in)) > 0) {
        if (fieldlab_draw_check_push(check, piece, count) != 0) {
            fclose(in);
            return fail("push");
        }
    }
    fclose(in);
    if (fieldlab_draw_check_finish(check, &verdict) != 0) return fail("finish");
    const char *code = fieldlab_draw_verdict_code(verdict);
    size_t numbers = fieldlab_draw_verdict_plan(verdict, NULL, 0);
    double *plan = malloc((numbers + 1) * sizeof *plan);
    if (plan == NULL || fieldlab_draw_verdict_plan(verdict, plan, numbers) != numbers) return fail("plan");
    double sum = 0;
    for (size_t k = 0; k < numbers; k++) sum += plan[k];
    if (strstr(fieldlab_draw_verdict_json(verdict), "\"hardware_authority\":false") == NULL) return fail("json");
    printf("%s,%s,%d,%s,%zu,%.17g\n", file, mode, fieldlab_draw_verdict_accepted(verdict), code == NULL ? "-" : code, numbers, sum);
    free(plan);
    fieldlab_draw_verdict_free(verdict);
    return 0;
}

int main(int argc, char **argv) {
    double stand[7];
    fieldlab_draw_rig *rig = NULL;
    if (argc < 10 || fieldlab_draw_abi() != FIELDLAB_DRAW_ABI) return fail("usage");
    for (int k = 0; k < 7; k++) stand[k] = strtod(argv[2 + k], NULL);
    if (fieldlab_draw_rig_shipped("nobody", &rig) != 2 || rig != NULL) return fail("an unknown rig");
    if (fieldlab_draw_rig_shipped("reference", &rig) != 0) return fail("rig");
    for (int k = 9; k < argc; k++) {
        char path[4096];
        fieldlab_draw_check *check = NULL;
        snprintf(path, sizeof path, "%s/%s", argv[1], argv[k]);
        if (fieldlab_draw_check_strict(rig, stand, 6, stand[6], &check) != 0) return fail("strict");
        if (judge(check, path, argv[k], "strict") != 0) return 1;
        if (fieldlab_draw_check_reference(0.0025, stand, 6, stand[6], &check) != 0) return fail("reference");
        if (judge(check, path, argv[k], "reference") != 0) return 1;
    }
    fieldlab_draw_rig_free(rig);
    return 0;
}
