// Holds the GIL in a thread that Python may not know, such as a worker of the engine.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <mutex>
#include <new>

#include "core/platform/system.h"

namespace pixelmill {

// Python locks its list of threads while it adds one, which needs no GIL. A fork at that moment leaves the lock closed
// in the child, where CPython before 3.12 waits for it forever. So no fork happens meanwhile. The module makes the
// mutex when it is imported: the first worker to need it may be in a destructor, where an allocation must not fail.
inline std::mutex& adding_thread() {
    static auto* mutex = [] {
        static auto* made = new std::mutex;  // lives as long as the process: threads may outlast static objects
        at_fork([] { made->lock(); }, [] { made->unlock(); }, [] { made->unlock(); });
        return made;
    }();
    return *mutex;
}

class HeldGil {
   public:
    // Throws std::bad_alloc when there is no memory to make the thread known to Python.
    HeldGil() {
        if (PyGILState_GetThisThreadState() != nullptr) {
            state_ = PyGILState_Ensure();
            return;
        }
        {
            const std::lock_guard lock(adding_thread());
            added_ = PyThreadState_New(PyInterpreterState_Main());
        }
        if (added_ == nullptr) throw std::bad_alloc();
        PyEval_RestoreThread(added_);
    }
    HeldGil(const HeldGil&) = delete;
    HeldGil& operator=(const HeldGil&) = delete;
    ~HeldGil() {
        if (added_ == nullptr) {
            PyGILState_Release(state_);
            return;
        }
        PyThreadState_Clear(added_);
        PyThreadState_DeleteCurrent();  // locks the list while it holds the GIL, without which there is no fork
    }

   private:
    PyThreadState* added_ = nullptr;
    PyGILState_STATE state_{};
};

// Calls `release` with the GIL, for a destructor that gives up Python objects in whatever thread it runs. The objects
// stay where Python has ended, or has no memory for the thread.
template <class Release>
void release_with_gil(Release release) noexcept {
    if (!nanobind::is_alive()) return;
    try {
        const HeldGil gil;
        release();
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): a leak is better than the end of the process
    }
}

}  // namespace pixelmill
