#include "executor.h"

namespace pixelmill {

Executor::~Executor() {
    if (pool_.pool != nullptr) pool_.pool->stop();
}

std::shared_ptr<Batch> Executor::submit(std::shared_ptr<const Program> program, Limits limits,
                                        std::vector<Batch::Sample> samples, std::shared_ptr<const void> inputs) {
    const auto pool = WorkerPool::ensure(pool_, threads_);
    auto batch =
        std::make_shared<Batch>(std::move(program), limits, std::move(samples), std::move(inputs), pool->buffers());
    if (batch->size() > 0 && !batch->defer()) pool->add(batch);
    return batch;
}

bool Executor::wait(const std::shared_ptr<Batch>& batch, double seconds) {
    if (batch->claim()) {
        try {
            const auto pool = WorkerPool::ensure(pool_, threads_);
            pool->run_quick(*batch);
            if (batch->left() > 0) pool->add(batch);  // it was not quick this time
        } catch (...) {  // out of memory or threads: without an owner, the batch would never be finished
            batch->unclaim();
            throw;
        }
    }
    return batch->wait(seconds);
}

}  // namespace pixelmill
