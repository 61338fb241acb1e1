// Loops over many elements at a time; included once for each instruction set, see reduce.cpp.

// Takes `rows` rows of `lanes` elements, one after the other, into as many accumulators. The number of lanes does not
// depend on the width of registers, so sums of floats are added in the same order at every level.
template <class Rule>
void take_rows(typename Rule::Block* block, const typename Rule::Element* x, int64_t rows, const double* mean) {
    typename Rule::Block local[lanes];
    for (int i = 0; i < lanes; ++i) local[i] = Rule::block_start();
    for (int64_t row = 0; row < rows; ++row, x += lanes) {
        for (int i = 0; i < lanes; ++i) Rule::take(local[i], widened(x[i]), Rule::centered ? mean[i] : 0.0);
    }
    for (int i = 0; i < lanes; ++i) block[i] = local[i];
}
