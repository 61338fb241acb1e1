// Loops that gain by wider registers; included once for each instruction set, see copy.cpp.

// Channels side by side become planes.
template <class T, int channels>
void split_pixels(T* out, int64_t plane, const T* in, int64_t pixels) {
    for (int64_t x = 0; x < pixels; ++x) {
        for (int c = 0; c < channels; ++c) out[c * plane + x] = in[x * channels + c];
    }
}

// Planes become channels side by side.
template <class T, int channels>
void join_planes(T* out, const T* in, int64_t plane, int64_t pixels) {
    for (int64_t x = 0; x < pixels; ++x) {
        for (int c = 0; c < channels; ++c) out[x * channels + c] = in[c * plane + x];
    }
}

// Every second, third… element.
template <class T, int step>
void thin(T* out, const T* in, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = in[i * step];
}

template <class T>
constexpr CopyLoops<T> copy_loops{split_pixels<T, 3>, split_pixels<T, 4>, join_planes<T, 3>, thin<T, 2>, thin<T, 3>};
