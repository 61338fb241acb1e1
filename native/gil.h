// Holds the GIL in a thread that Python may not know, such as a worker of the engine.
#pragma once

#include <Python.h>

#include <mutex>

#include "core/platform/system.h"

namespace pixelmill {

// Python locks its list of threads while it adds one, which needs no GIL. A fork at that moment leaves the lock closed
// in the child, where CPython before 3.12 waits for it forever. So no fork happens meanwhile.
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
    HeldGil() {
        if (PyGILState_GetThisThreadState() == nullptr) {
            const std::lock_guard lock(adding_thread());
            added_ = PyThreadState_New(PyInterpreterState_Main());
        }
        if (added_ != nullptr) {
            PyEval_RestoreThread(added_);
        } else {
            state_ = PyGILState_Ensure();
        }
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

}  // namespace pixelmill
