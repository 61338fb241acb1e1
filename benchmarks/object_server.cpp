// An S3-compatible server on 127.0.0.1 that takes little processor time from the contestants: one thread, epoll,
// objects in memory. It answers GET with ranges, HEAD and ListObjectsV2; signatures are not checked. object_server
// FOLDER BUCKET LATENCY_SECONDS BYTES_PER_SECOND_OF_A_CONNECTION Prints its port. GET /counts-of-this-server returns
// what was counted, and its processor time, and counts from zero.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
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
#include <filesystem>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

constexpr size_t max_head = 1 << 16;
constexpr size_t page = 1000;            // keys in one answer of a listing, the limit of S3
constexpr double burst_seconds = 0.005;  // of the bandwidth; the rest of a body follows in steps of this length
constexpr std::string_view counts_path = "/counts-of-this-server";

struct Object {
    const char* data;
    size_t size;
    std::string tag;
};

struct Counts {
    long get = 0, head = 0, list = 0, sent = 0, connections = 0;
};

struct Connection {
    int fd = -1;
    unsigned generation = 0;  // a timer of a former connection with the same descriptor is recognized by it
    std::string input, request, head, text;
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

std::string decoded(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size()) {
            out += static_cast<char>(std::strtol(std::string(text.substr(i + 1, 2)).c_str(), nullptr, 16));
            i += 2;
        } else {
            out += text[i] == '+' ? ' ' : text[i];
        }
    }
    return out;
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
    return out;
}

class Server {
   public:
    Server(const std::string& folder, std::string bucket, double latency, double bandwidth)
        : bucket_(std::move(bucket)), latency_(latency), bandwidth_(bandwidth) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
            if (entry.is_regular_file()) add(std::filesystem::relative(entry.path(), folder).string(), entry.path());
        }
        std::sort(keys_.begin(), keys_.end());
    }

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
    void add(const std::string& key, const std::filesystem::path& path) {
        const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat found{};
        if (fd < 0 || fstat(fd, &found)) std::exit(1);
        const auto size = static_cast<size_t>(found.st_size);
        void* data = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0) : nullptr;
        if (data == MAP_FAILED) std::exit(1);
        close(fd);
        const size_t hash = std::hash<std::string_view>{}(std::string_view(static_cast<const char*>(data), size));
        objects_["/" + bucket_ + "/" + key] = {static_cast<const char*>(data), size,
                                               "\"" + std::to_string(hash) + "\""};
        keys_.push_back(key);
    }

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
        char buffer[1 << 14];
        while (true) {
            const ssize_t count = read(one.fd, buffer, sizeof buffer);
            if (count == 0 || (count < 0 && errno != EAGAIN)) return drop(one);
            if (count < 0) break;
            one.input.append(buffer, static_cast<size_t>(count));
            if (one.input.size() > max_head) return drop(one);
            if (count < static_cast<ssize_t>(sizeof buffer)) break;
        }
        next(one);
    }

    // Starts on the next request, if all of it has arrived and the one before is done.
    void next(Connection& one) {
        const size_t end = one.input.find("\r\n\r\n");
        if (one.busy || end == std::string::npos) return;
        one.request = one.input.substr(0, end + 2);
        one.input.erase(0, end + 4);
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
        const std::string path = decoded(target.substr(0, mark));
        const std::string query = mark == std::string::npos ? "" : target.substr(mark + 1);
        if (path == counts_path) return send_text(one, "200 OK", counted());
        if (query.find("list-type=2") != std::string::npos) {
            ++counts_.list;
            return send_text(one, "200 OK", listing(query));
        }
        if (path == "/" + bucket_ || path == "/" + bucket_ + "/") return send_text(one, "200 OK", "");
        send_object(one, path, method == "HEAD");
    }

    void send_object(Connection& one, const std::string& path, bool is_head) {
        ++(is_head ? counts_.head : counts_.get);
        const auto found = objects_.find(path);
        if (found == objects_.end()) {
            return send_text(one, "404 Not Found", is_head ? "" : "<Error><Code>NoSuchKey</Code></Error>");
        }
        const Object& object = found->second;
        size_t begin = 0, end = object.size;
        const bool is_part = read_range(one.request, object.size, begin, end);
        if (begin > end) return send_text(one, "416 Range Not Satisfiable", "");
        one.head = is_part ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 200 OK\r\n";
        if (is_part) {
            one.head += "Content-Range: bytes " + std::to_string(begin) + "-" + std::to_string(end - 1) + "/" +
                        std::to_string(object.size) + "\r\n";
        }
        one.head +=
            "ETag: " + object.tag + "\r\nAccept-Ranges: bytes\r\nLast-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\n" +
            "Content-Type: application/octet-stream\r\nContent-Length: " + std::to_string(end - begin) + "\r\n\r\n";
        one.body = object.data + begin;
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

    void send_text(Connection& one, const char* status, std::string text) {
        one.text = std::move(text);
        one.head = std::string("HTTP/1.1 ") + status +
                   "\r\nContent-Type: application/xml\r\nContent-Length: " + std::to_string(one.text.size()) +
                   "\r\n\r\n";
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
                      R"({"GET": %ld, "HEAD": %ld, "LIST": %ld, "sent": %ld, "connections": %ld, "processor": %.4f})",
                      counts_.get, counts_.head, counts_.list, counts_.sent, counts_.connections, now - spent_);
        counts_ = {};
        spent_ = now;
        return text;
    }

    std::string listing(const std::string& query) {
        std::map<std::string, std::string> given;
        for (size_t start = 0; start < query.size();) {
            const size_t end = std::min(query.find('&', start), query.size());
            const std::string pair = query.substr(start, end - start);
            const size_t sign = std::min(pair.find('='), pair.size());
            given[pair.substr(0, sign)] = decoded(sign < pair.size() ? pair.substr(sign + 1) : "");
            start = end + 1;
        }
        const std::string &prefix = given["prefix"], &delimiter = given["delimiter"];
        const std::string& after = given[given["continuation-token"].empty() ? "start-after" : "continuation-token"];
        std::string entries, last;
        size_t count = 0;
        bool is_cut = false;
        for (auto key = std::lower_bound(keys_.begin(), keys_.end(), prefix); key != keys_.end(); ++key) {
            if (!key->starts_with(prefix)) break;
            const size_t end = delimiter.empty() ? std::string::npos : key->find(delimiter, prefix.size());
            const std::string name = end == std::string::npos ? *key : key->substr(0, end + delimiter.size());
            if (name <= after || name == last) continue;
            if (count++ == page) {
                is_cut = true;
                break;
            }
            last = name;
            entries += end == std::string::npos ? file_entry(name)
                                                : "<CommonPrefixes><Prefix>" + name + "</Prefix></CommonPrefixes>";
        }
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ListBucketResult "
               "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>" +
               bucket_ + "</Name><Prefix>" + prefix + "</Prefix><KeyCount>" + std::to_string(std::min(count, page)) +
               "</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>" + (is_cut ? "true" : "false") + "</IsTruncated>" +
               (is_cut ? "<NextContinuationToken>" + last + "</NextContinuationToken>" : "") + entries +
               "</ListBucketResult>";
    }

    std::string file_entry(const std::string& key) {
        const Object& object = objects_["/" + bucket_ + "/" + key];
        return "<Contents><Key>" + key + "</Key><LastModified>2023-11-14T22:13:20.000Z</LastModified><ETag>&quot;" +
               object.tag.substr(1, object.tag.size() - 2) + "&quot;</ETag><Size>" + std::to_string(object.size) +
               "</Size><StorageClass>STANDARD</StorageClass></Contents>";
    }

    std::string bucket_;
    double latency_, bandwidth_, spent_ = 0;
    int epoll_ = -1;
    Counts counts_;
    std::vector<std::string> keys_;
    std::unordered_map<std::string, Object> objects_;
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
