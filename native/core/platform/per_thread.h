// PER_THREAD(Type, name): one object for each thread, made at first use and destroyed when the thread ends.
//
// It is thread_local, but for GCC on Windows: there the memory of such objects is freed before their destructors run.
// Windows itself calls a function for each thread that ends, so the object is kept by it.
#pragma once

#if defined(__MINGW32__)

namespace pixelmill {

// Of system_windows.cpp: a pointer for each thread, and who gets it when the thread ends.
unsigned long new_thread_slot(void (*destroy)(void*));
void* thread_value(unsigned long slot);
void set_thread_value(unsigned long slot, void* value);

template <class T>
class PerThread {
   public:
    T& get() {
        auto* kept = static_cast<T*>(thread_value(slot_));
        if (kept == nullptr) set_thread_value(slot_, kept = new T());
        return *kept;
    }

   private:
    const unsigned long slot_ = new_thread_slot([](void* kept) { delete static_cast<T*>(kept); });
};

}  // namespace pixelmill

#define PER_THREAD(Type, name)                        \
    static ::pixelmill::PerThread<Type> name##_slot_; \
    Type& name = name##_slot_.get()
#else
#define PER_THREAD(Type, name) thread_local Type name
#endif
