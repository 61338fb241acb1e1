// An S3-compatible server on 127.0.0.1 that takes little processor time from the contestants: one thread, epoll,
// objects in memory. It answers GET with ranges, HEAD, ListObjectsV2, PUT, DELETE and uploads in parts; signatures are
// not checked. object_server FOLDER BUCKET LATENCY_SECONDS BYTES_PER_SECOND_OF_A_CONNECTION Prints its port. The limit
// is of what it sends. GET /counts-of-this-server returns what was counted, and its processor time, and counts from
// zero.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "object_server_store.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

constexpr size_t max_head = 1 << 16;
constexpr size_t max_body = 1 << 30;
constexpr double burst_seconds = 0.005;  // of the bandwidth; the rest of a body follows in steps of this length
constexpr std::string_view counts_path = "/counts-of-this-server";

struct Counts {
    long get = 0, head = 0, list = 0, put = 0, sent = 0, received = 0, connections = 0;
};

struct Connection {
    int fd = -1;
    unsigned generation = 0;  // a timer of a former connection with the same descriptor is recognized by it
    std::string input, request, head, text;
    std::shared_ptr<char[]> upload;  // the body of the request
    size_t upload_size = 0, arrived = 0;
    std::shared_ptr<const char[]> kept;  // what `body` belongs to
    const char* body = nullptr;
    size_t length = 0, sent = 0, head_sent = 0;
    bool busy = false, writing = false;
    Time began;
};

struct Timer {
    Time when;
    int fd;
    unsigned generation;
    bool operator>(const Timer& other) const { return when > other.when; }
};

double processor_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](timeval t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
    return out;
}

class Server {
   public:
    Server(const std::string& folder, std::string bucket, double latency, double bandwidth)
        : bucket_(folder, std::move(bucket)), room_(bucket_.size() / 2), latency_(latency), bandwidth_(bandwidth) {}

    void run() {
        const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) || listen(listener, 1024)) std::exit(1);
        getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
        std::printf("%d\n", ntohs(address.sin_port));
        std::fflush(stdout);
        epoll_ = epoll_create1(EPOLL_CLOEXEC);
        epoll_event wanted{.events = EPOLLIN, .data = {.fd = listener}};
        epoll_ctl(epoll_, EPOLL_CTL_ADD, listener, &wanted);
        std::vector<epoll_event> events(256);
        while (true) {
            const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), milliseconds_left());
            for (int i = 0; i < count; ++i) {
                if (events[i].data.fd == listener) {
                    accept_all(listener);
                } else {
                    serve(connections_[events[i].data.fd], events[i].events);
                }
            }
            expire();
        }
    }

   private:
    int milliseconds_left() {
        if (timers_.empty()) return -1;
        const auto left = std::chrono::duration<double, std::milli>(timers_.top().when - Clock::now()).count();
        return left <= 0 ? 0 : static_cast<int>(left) + 1;
    }

    void expire() {
        while (!timers_.empty() && timers_.top().when <= Clock::now()) {
            const Timer due = timers_.top();
            timers_.pop();
            Connection& one = connections_[due.fd];
            if (one.fd != due.fd || one.generation != due.generation) continue;
            if (one.writing) {
                write(one);
            } else {
                answer(one);
            }
        }
    }

    void after(Connection& one, double seconds) {
        const auto pause = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
        timers_.push({Clock::now() + pause, one.fd, one.generation});
    }

    void accept_all(int listener) {
        while (true) {
            const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (fd < 0) return;
            const int on = 1;
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            Connection& one = connections_[fd];
            const unsigned generation = one.generation + 1;
            one = Connection{};
            one.fd = fd;
            one.generation = generation;
            epoll_event wanted{.events = EPOLLIN | EPOLLRDHUP, .data = {.fd = fd}};
            epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &wanted);
            ++counts_.connections;
        }
    }

    void drop(Connection& one) {
        close(one.fd);
        blocked_.erase(one.fd);
        one.fd = -1;
        ++one.generation;
    }

    void serve(Connection& one, unsigned events) {
        if (one.fd < 0) return;
        if (events & (EPOLLHUP | EPOLLERR)) return drop(one);
        if (events & EPOLLOUT) write(one);
        if (one.fd < 0 || !(events & (EPOLLIN | EPOLLRDHUP))) return;
        if (receive(one)) next(one);
    }

    // Reads what has arrived, the body of a request into memory of its own; returns false if the connection has ended.
    bool receive(Connection& one) {
        static char buffer[1 << 16];
        while (true) {
            const bool in_body = one.arrived < one.upload_size;
            char* target = in_body ? one.upload.get() + one.arrived : buffer;
            const size_t room = in_body ? one.upload_size - one.arrived : sizeof buffer;
            const ssize_t count = read(one.fd, target, room);
            if (count == 0 || (count < 0 && errno != EAGAIN)) return drop(one), false;
            if (count < 0) return true;
            if (in_body) {
                one.arrived += static_cast<size_t>(count);
                if (one.arrived == one.upload_size) return true;
            } else {
                one.input.append(buffer, static_cast<size_t>(count));
                if (one.input.size() > max_head + sizeof buffer) return drop(one), false;
                if (!one.busy && one.input.find("\r\n\r\n") != std::string::npos) {
                    if (!begin(one)) return drop(one), false;
                    if (one.arrived == one.upload_size) return true;
                }
            }
            if (static_cast<size_t>(count) < room) return true;
        }
    }

    // Takes the head of the next request, and what has arrived of its body; returns false if it is too long.
    bool begin(Connection& one) {
        if (!one.request.empty()) return true;
        const size_t end = one.input.find("\r\n\r\n");
        one.request = one.input.substr(0, end + 2);
        const std::string headers = lower(one.request);
        const size_t place = headers.find("\r\ncontent-length:");
        one.upload_size = place == std::string::npos ? 0 : std::strtoull(headers.c_str() + place + 17, nullptr, 10);
        if (one.upload_size > max_body) return false;
        one.upload = room_.take(one.upload_size);
        one.arrived = std::min(one.upload_size, one.input.size() - end - 4);
        std::memcpy(one.upload.get(), one.input.data() + end + 4, one.arrived);
        one.input.erase(0, end + 4 + one.arrived);
        return true;
    }

    // Starts on the next request, if all of it has arrived and the one before is done.
    void next(Connection& one) {
        if (one.busy) return;
        if (one.request.empty() && one.input.find("\r\n\r\n") == std::string::npos) return;
        if (!begin(one)) return drop(one);
        if (one.arrived < one.upload_size) return;
        one.busy = true;
        if (latency_ > 0 && one.request.find(counts_path) == std::string::npos) return after(one, latency_);
        answer(one);
    }

    void answer(Connection& one) {
        const size_t space = one.request.find(' ');
        const size_t second = one.request.find(' ', space + 1);
        if (second == std::string::npos) return drop(one);
        const std::string method = one.request.substr(0, space);
        const std::string target = one.request.substr(space + 1, second - space - 1);
        const size_t mark = target.find('?');
        const std::string path = store::decoded(target.substr(0, mark));
        const store::Query query = store::parsed(mark == std::string::npos ? "" : target.substr(mark + 1));
        if (path == counts_path) return send_text(one, {.text = counted()});
        const std::string root = "/" + bucket_.name();
        if (!path.starts_with(root)) return send_text(one, {.status = "404 Not Found"});
        const std::string key = path.size() > root.size() ? path.substr(root.size() + 1) : "";
        if (query.count("list-type")) {
            ++counts_.list;
            return send_text(one, {.text = bucket_.listing(query)});
        }
        if (method == "PUT" || method == "POST" || method == "DELETE" || query.count("uploads")) {
            ++counts_.put;
            counts_.received += static_cast<long>(one.upload_size);
            const bool only_new = lower(one.request).find("\r\nif-none-match: *") != std::string::npos;
            return send_text(one, bucket_.change(method, key, query, {one.upload, one.upload_size}, only_new));
        }
        if (key.empty()) return send_text(one, {});
        send_object(one, key, method == "HEAD");
    }

    void send_object(Connection& one, const std::string& key, bool is_head) {
        ++(is_head ? counts_.head : counts_.get);
        const store::Object* object = bucket_.find(key);
        if (object == nullptr) {
            return send_text(
                one, {.status = "404 Not Found", .text = is_head ? "" : "<Error><Code>NoSuchKey</Code></Error>"});
        }
        const size_t size = object->content.size;
        size_t begin = 0, end = size;
        const bool is_part = read_range(one.request, size, begin, end);
        if (begin > end) return send_text(one, {.status = "416 Range Not Satisfiable"});
        one.head = is_part ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 200 OK\r\n";
        if (is_part) {
            one.head += "Content-Range: bytes " + std::to_string(begin) + "-" + std::to_string(end - 1) + "/" +
                        std::to_string(size) + "\r\n";
        }
        one.head +=
            "ETag: " + object->tag + "\r\nAccept-Ranges: bytes\r\nLast-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\n" +
            "Content-Type: application/octet-stream\r\nContent-Length: " + std::to_string(end - begin) + "\r\n\r\n";
        one.kept = object->content.data;
        one.body = one.kept.get() + begin;
        one.length = is_head ? 0 : end - begin;
        counts_.sent += static_cast<long>(one.length);
        start(one);
    }

    static bool read_range(const std::string& request, size_t size, size_t& begin, size_t& end) {
        const std::string headers = lower(request);
        const size_t place = headers.find("\r\nrange:");
        const size_t sign = place == std::string::npos ? place : headers.find("bytes=", place);
        if (sign == std::string::npos) return false;
        const char* text = headers.c_str() + sign + 6;
        char* rest = nullptr;
        const size_t first = std::strtoull(text, &rest, 10);
        if (*text == '-') {  // the last bytes of the object
            begin = size - std::min<size_t>(size, std::strtoull(text + 1, nullptr, 10));
            return true;
        }
        begin = first;
        if (rest[0] == '-' && std::isdigit(static_cast<unsigned char>(rest[1]))) {
            end = std::min<size_t>(size, std::strtoull(rest + 1, nullptr, 10) + 1);
        }
        return true;
    }

    void send_text(Connection& one, store::Reply reply) {
        one.text = std::move(reply.text);
        one.head = std::string("HTTP/1.1 ") + reply.status + "\r\n" +
                   (reply.tag.empty() ? "" : "ETag: " + reply.tag + "\r\n") +
                   "Content-Type: application/xml\r\nContent-Length: " + std::to_string(one.text.size()) + "\r\n\r\n";
        one.body = one.text.data();
        one.length = one.text.size();
        start(one);
    }

    void start(Connection& one) {
        one.sent = one.head_sent = 0;
        one.writing = true;
        one.began = Clock::now();
        write(one);
    }

    // Writes what the bandwidth and the socket allow by now.
    void write(Connection& one) {
        if (!one.writing) return;
        while (true) {
            size_t allowed = one.length;
            if (bandwidth_ > 0) {
                const double seconds = std::chrono::duration<double>(Clock::now() - one.began).count() + burst_seconds;
                allowed = std::min(allowed, static_cast<size_t>(seconds * bandwidth_));
            }
            iovec parts[2] = {{one.head.data() + one.head_sent, one.head.size() - one.head_sent},
                              {const_cast<char*>(one.body) + one.sent, allowed - one.sent}};
            if (parts[0].iov_len + parts[1].iov_len > 0) {
                const ssize_t count = writev(one.fd, parts, 2);
                if (count < 0 && errno == EAGAIN) return watch(one, true);
                if (count < 0) return drop(one);
                const size_t of_head = std::min(static_cast<size_t>(count), parts[0].iov_len);
                one.head_sent += of_head;
                one.sent += static_cast<size_t>(count) - of_head;
            }
            if (one.head_sent == one.head.size() && one.sent == one.length) break;
            if (one.head_sent == one.head.size() && one.sent == allowed) {
                watch(one, false);
                return after(one, burst_seconds);
            }
        }
        watch(one, false);
        one.busy = one.writing = false;
        one.request.clear();
        one.upload.reset();
        one.kept.reset();
        one.upload_size = one.arrived = 0;
        next(one);
    }

    void watch(Connection& one, bool output) {
        if (output == (blocked_.count(one.fd) > 0)) return;
        if (output) {
            blocked_.insert(one.fd);
        } else {
            blocked_.erase(one.fd);
        }
        epoll_event wanted{.events = EPOLLIN | EPOLLRDHUP | (output ? EPOLLOUT : 0u), .data = {.fd = one.fd}};
        epoll_ctl(epoll_, EPOLL_CTL_MOD, one.fd, &wanted);
    }

    std::string counted() {
        const double now = processor_seconds();
        char text[256];
        std::snprintf(text, sizeof text,
                      R"({"GET": %ld, "HEAD": %ld, "LIST": %ld, "PUT": %ld, "sent": %ld, "received": %ld, )"
                      R"("connections": %ld, "processor": %.4f})",
                      counts_.get, counts_.head, counts_.list, counts_.put, counts_.sent, counts_.received,
                      counts_.connections, now - spent_);
        counts_ = {};
        spent_ = now;
        return text;
    }

    store::Bucket bucket_;
    store::Room room_;
    double latency_, bandwidth_, spent_ = 0;
    int epoll_ = -1;
    Counts counts_;
    std::unordered_map<int, Connection> connections_;
    std::set<int> blocked_;  // connections that wait until their socket takes more
    std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
};

}  // namespace

int main(int count, char** arguments) {
    if (count != 5) return 2;
    std::signal(SIGPIPE, SIG_IGN);
    Server(arguments[1], arguments[2], std::atof(arguments[3]), std::atof(arguments[4])).run();
}
