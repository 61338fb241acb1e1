// The objects of `object_server.cpp`: files of a folder, and what clients upload, in one request or in parts.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace store {

constexpr size_t page = 1000;  // keys in one answer of a listing, the limit of S3

using Query = std::map<std::string, std::string>;

struct Bytes {
    std::shared_ptr<const char[]> data;
    size_t size = 0;
};

struct Object {
    Bytes content;
    std::string tag;
    std::map<int, Bytes> parts;  // of an upload in parts whose content nobody has read yet
};

struct Reply {
    const char* status = "200 OK";
    std::string text = {}, tag = {};
};

inline std::string decoded(std::string_view text) {
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

inline Query parsed(const std::string& query) {
    Query given;
    for (size_t start = 0; start < query.size();) {
        const size_t end = std::min(query.find('&', start), query.size());
        const std::string pair = query.substr(start, end - start);
        const size_t sign = std::min(pair.find('='), pair.size());
        given[pair.substr(0, sign)] = decoded(sign < pair.size() ? pair.substr(sign + 1) : "");
        start = end + 1;
    }
    return given;
}

// Memory for what clients upload, touched before they do: else receiving spends most of its time in page faults.
class Room {
   public:
    explicit Room(size_t size) : left_(size) {
        data_ = static_cast<char*>(
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
        if (data_ == MAP_FAILED) std::exit(1);
    }

    // Returns a piece that stays until the process ends, or ordinary memory if no more is left.
    std::shared_ptr<char[]> take(size_t size) {
        const size_t whole = (size + 63) / 64 * 64;
        if (whole > left_) return std::make_shared_for_overwrite<char[]>(size);
        left_ -= whole;
        return {std::exchange(data_, data_ + whole), [](const char*) {}};
    }

   private:
    char* data_;
    size_t left_;
};

// The objects of one bucket, by key.
class Bucket {
   public:
    Bucket(const std::string& folder, std::string name) : name_(std::move(name)) {
        const auto links = std::filesystem::directory_options::follow_directory_symlink;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, links)) {
            if (!entry.is_regular_file()) continue;
            add(entry.path().lexically_relative(folder).string(), entry.path());
            size_ += entry.file_size();
        }
    }

    const std::string& name() const { return name_; }
    size_t size() const { return size_; }

    const Object* find(const std::string& key) {
        const auto found = objects_.find(key);
        if (found == objects_.end()) return nullptr;
        Object& object = found->second;
        if (!object.parts.empty()) object.content = joined(object);
        object.parts.clear();
        return &object;
    }

    // Answers PUT, POST and DELETE, and GET of the uploads that are open.
    Reply change(const std::string& method, const std::string& key, Query query, Bytes body, bool only_new) {
        if (query.count("uploads") || query.count("uploadId")) return upload(method, key, query, std::move(body));
        if (query.count("delete")) return remove_all(std::string_view(body.data.get(), body.size));
        if (method == "DELETE") {
            objects_.erase(key);
            return {.status = "204 No Content"};
        }
        if (only_new && objects_.count(key)) return {.status = "412 Precondition Failed"};
        return {.tag = put(key, std::move(body))};
    }

    std::string listing(Query given) const {
        const std::string &prefix = given["prefix"], &delimiter = given["delimiter"];
        const std::string& after = given[given["continuation-token"].empty() ? "start-after" : "continuation-token"];
        std::string entries, last;
        size_t count = 0;
        bool is_cut = false;
        for (auto object = objects_.lower_bound(std::max(prefix, after)); object != objects_.end(); ++object) {
            const std::string& key = object->first;
            if (!key.starts_with(prefix)) break;
            const size_t end = delimiter.empty() ? std::string::npos : key.find(delimiter, prefix.size());
            const std::string name = end == std::string::npos ? key : key.substr(0, end + delimiter.size());
            if (name <= after || name == last) continue;
            if (count++ == page) {
                is_cut = true;
                break;
            }
            last = name;
            entries += end == std::string::npos ? file_entry(name, object->second)
                                                : "<CommonPrefixes><Prefix>" + name + "</Prefix></CommonPrefixes>";
        }
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ListBucketResult "
               "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>" +
               name_ + "</Name><Prefix>" + prefix + "</Prefix><KeyCount>" + std::to_string(std::min(count, page)) +
               "</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>" + (is_cut ? "true" : "false") + "</IsTruncated>" +
               (is_cut ? "<NextContinuationToken>" + last + "</NextContinuationToken>" : "") + entries +
               "</ListBucketResult>";
    }

   private:
    struct Upload {
        std::string key;
        std::map<int, Bytes> parts;
    };

    void add(const std::string& key, const std::filesystem::path& path) {
        const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat found{};
        if (fd < 0 || fstat(fd, &found)) std::exit(1);
        const auto size = static_cast<size_t>(found.st_size);
        void* data = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0) : nullptr;
        if (data == MAP_FAILED) std::exit(1);
        close(fd);
        const auto* start = static_cast<const char*>(data);
        const size_t hash = std::hash<std::string_view>{}(std::string_view(start, size));
        // Mapped until the process ends.
        const Bytes content{std::shared_ptr<const char[]>(start, [](const char*) {}), size};
        objects_[key] = {content, "\"" + std::to_string(hash) + "\"", {}};
    }

    std::string put(const std::string& key, Bytes body) {
        Object& object = objects_[key];
        object = {std::move(body), "\"put-" + std::to_string(++puts_) + "\"", {}};  // a hash would count as server time
        return object.tag;
    }

    // Parts are joined when they are read: copying them is not what a client waits for.
    void put_parts(const std::string& key, std::map<int, Bytes> parts) {
        size_t size = 0;
        for (const auto& [number, part] : parts) size += part.size;
        put(key, {nullptr, size});
        objects_[key].parts = std::move(parts);
    }

    Reply remove_all(std::string_view body) {
        std::string gone;
        for (size_t at = body.find("<Key>"); at != std::string_view::npos; at = body.find("<Key>", at + 1)) {
            const std::string key(body.substr(at + 5, body.find("</Key>", at) - at - 5));
            objects_.erase(key);
            gone += "<Deleted><Key>" + key + "</Key></Deleted>";
        }
        return {.text = "<DeleteResult>" + gone + "</DeleteResult>"};
    }

    Reply upload(const std::string& method, const std::string& key, Query& query, Bytes body) {
        if (method == "GET") return {.text = open_uploads(query["prefix"])};
        if (query.count("uploads")) {
            const std::string id = "upload-" + std::to_string(++puts_);
            uploads_[id].key = key;
            return {.text = "<InitiateMultipartUploadResult><UploadId>" + id +
                            "</UploadId></InitiateMultipartUploadResult>"};
        }
        const auto found = uploads_.find(query["uploadId"]);
        if (found == uploads_.end()) return {.status = "404 Not Found"};
        if (method == "PUT") {
            const int part = std::atoi(query["partNumber"].c_str());
            found->second.parts[part] = std::move(body);
            return {.tag = "\"part-" + std::to_string(part) + "\""};
        }
        if (method == "POST") put_parts(key, std::move(found->second.parts));
        uploads_.erase(found);
        if (method == "DELETE") return {.status = "204 No Content"};
        return {.text = "<CompleteMultipartUploadResult><ETag>" + objects_[key].tag +
                        "</ETag></CompleteMultipartUploadResult>"};
    }

    static Bytes joined(const Object& object) {
        auto data = std::make_shared_for_overwrite<char[]>(object.content.size);
        char* end = data.get();
        for (const auto& [number, part] : object.parts) {
            std::memcpy(end, part.data.get(), part.size);
            end += part.size;
        }
        return {std::move(data), object.content.size};
    }

    std::string open_uploads(const std::string& prefix) const {
        std::string found;
        for (const auto& [id, upload] : uploads_) {
            if (!upload.key.starts_with(prefix)) continue;
            found += "<Upload><Key>" + upload.key + "</Key><UploadId>" + id + "</UploadId></Upload>";
        }
        return "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>" + found + "</ListMultipartUploadsResult>";
    }

    static std::string file_entry(const std::string& key, const Object& object) {
        return "<Contents><Key>" + key + "</Key><LastModified>2023-11-14T22:13:20.000Z</LastModified><ETag>&quot;" +
               object.tag.substr(1, object.tag.size() - 2) + "&quot;</ETag><Size>" +
               std::to_string(object.content.size) + "</Size><StorageClass>STANDARD</StorageClass></Contents>";
    }

    std::string name_;
    size_t puts_ = 0, size_ = 0;
    std::map<std::string, Object> objects_;
    std::map<std::string, Upload> uploads_;
};

}  // namespace store
