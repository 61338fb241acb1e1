/* A plugin of qemu 7.2 that counts the instructions of the program, all threads together, and prints them at the end.
 * Debian has no package with qemu's header, so what is used of its interface (version 1) is declared here. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*translated)(qemu_plugin_id_t id, struct qemu_plugin_tb* tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* tb, void (*run)(unsigned int processor, void* data),
                                          enum qemu_plugin_cb_flags flags, void* data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*ended)(qemu_plugin_id_t id, void* data), void* data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
void qemu_plugin_outs(const char* text);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static _Atomic uint64_t instructions;

static void run(unsigned int processor, void* count) {
    (void)processor;
    atomic_fetch_add_explicit(&instructions, (uintptr_t)count, memory_order_relaxed);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, run, QEMU_PLUGIN_CB_NO_REGS, (void*)(uintptr_t)qemu_plugin_tb_n_insns(tb));
}

static void ended(qemu_plugin_id_t id, void* data) {
    (void)id, (void)data;
    char line[64];
    snprintf(line, sizeof line, "instructions: %" PRIu64 "\n", atomic_load(&instructions));
    qemu_plugin_outs(line);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int argc, char** argv) {
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
