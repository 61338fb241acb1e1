/* A plugin of qemu 7.2 that counts the instructions of the program, all threads together. With `out=FILE` it writes a line
 * for each run of instructions without a jump: its address and how many instructions of it were run.
 * Debian has no package with qemu's header, so what is used of its interface (version 1) is declared here. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*translated)(qemu_plugin_id_t id, struct qemu_plugin_tb* tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* tb, void (*run)(unsigned int processor, void* data),
                                          enum qemu_plugin_cb_flags flags, void* data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*ended)(qemu_plugin_id_t id, void* data), void* data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb* tb);
void qemu_plugin_outs(const char* text);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

struct run {
    struct run* before;
    uint64_t address, length;
    _Atomic uint64_t times;
};

static struct run* _Atomic runs;
static const char* place;

static void ran(unsigned int processor, void* run) {
    (void)processor;
    atomic_fetch_add_explicit(&((struct run*)run)->times, 1, memory_order_relaxed);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
    (void)id;
    struct run* run = calloc(1, sizeof *run);
    if (run == NULL) abort();
    run->address = qemu_plugin_tb_vaddr(tb);
    run->length = qemu_plugin_tb_n_insns(tb);
    run->before = atomic_load(&runs);
    while (!atomic_compare_exchange_weak(&runs, &run->before, run)) {
    }
    qemu_plugin_register_vcpu_tb_exec_cb(tb, ran, QEMU_PLUGIN_CB_NO_REGS, run);
}

static void ended(qemu_plugin_id_t id, void* data) {
    (void)id, (void)data;
    uint64_t all = 0;
    FILE* file = place ? fopen(place, "w") : NULL;
    for (const struct run* run = atomic_load(&runs); run; run = run->before) {
        const uint64_t instructions = run->length * atomic_load(&run->times);
        all += instructions;
        if (file && instructions) fprintf(file, "%" PRIx64 " %" PRIu64 "\n", run->address, instructions);
    }
    if (file) fclose(file);
    char line[64];
    snprintf(line, sizeof line, "instructions: %" PRIu64 "\n", all);
    qemu_plugin_outs(line);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int argc, char** argv) {
    (void)info;
    for (int i = 0; i < argc; ++i) {
        if (strncmp(argv[i], "out=", 4) == 0) place = strdup(argv[i] + 4);
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
