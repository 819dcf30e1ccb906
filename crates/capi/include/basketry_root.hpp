// basketry::BufferMerger, in place of ROOT::TBufferMerger: include this header instead of ROOT/TBufferMerger.hxx, and change the type. Compiled
// by the user against ROOT; the library links nothing of it.
//
// What is other than with TBufferMerger:
//   - files are merged by basketry, without ROOT's lock: a thread that writes a file blocks others only while the memory of parts is full;
//   - the output appears under its name when close() returns, or the destructor, and not at all after an error;
//   - an output cannot be begun from a TFile, and the options are RECREATE, NEW and CREATE;
//   - histograms are added up in memory and written at the end, as with TBufferMerger; a tree that begins later begins then;
//   - memory is limited: see options::memory, and the order of parts can be that of tasks.
#ifndef BASKETRY_ROOT_HPP
#define BASKETRY_ROOT_HPP

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "Compression.h"
#include "TBuffer.h"
#include "TError.h"
#include "TMemFile.h"
#include "TROOT.h"
#include "TString.h"
#include "TVirtualMutex.h"

#include "basketry.hpp"

namespace basketry {

class BufferMergerFile;

/// Memory of parts that several outputs share: give it to each of them.
class BufferMergerPool {
public:
    /// A pool of so many bytes; 0: 256 MB.
    explicit BufferMergerPool(std::uint64_t memory = 0)
    {
        basketry_error *failed = nullptr;
        pool_.reset(basketry_merger_pool_new(memory, &failed));
        detail::check(pool_ != nullptr, failed);
    }

private:
    friend class BufferMerger;
    detail::owned<basketry_merger_pool, basketry_merger_pool_free> pool_;
};

/// Merges the files that threads fill in memory into one file. The interface is that of ROOT::TBufferMerger.
class BufferMerger {
public:
    /// What TBufferMerger has no place for.
    struct options {
        /// Settings of basketry_merger_options: `memory=100MB, order=tasks, cluster=30MB, compression=zstd:5, join=fill`.
        std::string settings;
        /// A layout in TOML.
        std::string layout;
        /// Memory that is shared with other outputs. It must live as long as the constructor runs.
        const BufferMergerPool *pool = nullptr;
    };

    /// @param name      The output.
    /// @param option    RECREATE, or NEW or CREATE, which fail if it is there.
    /// @param compress  The compression of the files that GetFile gives, and with it of the output.
    explicit BufferMerger(const char *name, Option_t *option = "RECREATE",
                          Int_t compress = ROOT::RCompressionSetting::EDefaults::kUseCompiledDefault)
        : BufferMerger(name, option, compress, options())
    {
    }

    BufferMerger(const char *name, Option_t *option, Int_t compress, const options &more)
        : name_(name), compress_(compress)
    {
        TString asked(option);
        asked.ToUpper();
        if (asked == "UPDATE" || asked == "READ") {
            throw std::invalid_argument("basketry::BufferMerger makes a new file: RECREATE, NEW or CREATE");
        }
        std::string packed = more.settings;
        packed.erase(std::remove(packed.begin(), packed.end(), ' '), packed.end());
        reproducible_ = packed.find("order=tasks") != std::string::npos;
        std::string settings = "overwrite=" + std::string(asked == "NEW" || asked == "CREATE" ? "false" : "true");
        if (!more.settings.empty()) {
            settings += "," + more.settings;
        }
        basketry_merger_options given = detail::zeroed<basketry_merger_options>();
        given.settings = settings.c_str();
        given.layout = detail::given(more.layout);
        basketry_error *failed = nullptr;
        merger_.reset(basketry_merger_new(name, &given, more.pool != nullptr ? more.pool->pool_.get() : nullptr, &failed));
        detail::check(merger_ != nullptr, failed);
    }

    BufferMerger(const BufferMerger &) = delete;
    BufferMerger &operator=(const BufferMerger &) = delete;

    /// Ends the output if close() was not called. An error is told by ROOT's Error(): call close() to have it as an exception.
    virtual ~BufferMerger()
    {
        for (const std::weak_ptr<BufferMergerFile> &file : files_) {
            if (!file.expired()) {
                ::Fatal("basketry::BufferMerger", "it must not end before its files");
            }
        }
        try {
            close();
        } catch (const std::exception &why) {
            ::Error("basketry::BufferMerger", "%s", why.what());
        }
    }

    /// A file to be filled by one thread. Its Write() sends what is in it to the output, and empties it.
    ///
    /// As with TBufferMerger the user must cd() into it, to attach trees and histograms to it, and take care that ROOT does not delete them.
    /// @param task  In the order of tasks, the number of the task whose data it gets: from 0 on, each number once. The task ends with the
    ///              file, or with EndTask().
    inline std::shared_ptr<BufferMergerFile> GetFile(std::uint64_t task = 0);

    /// Ends the output, and waits until it is on disk. The files must have been written. Returns the report as JSON.
    std::string close()
    {
        std::lock_guard<std::mutex> lock(closing_);
        if (closed_) {
            return {};
        }
        closed_ = true;
        char *text = nullptr;
        basketry_error *failed = nullptr;
        detail::check(basketry_merger_finish(merger_.get(), &text, &failed) == 0, failed);
        std::string report(text != nullptr ? text : "");
        basketry_text_free(text);
        return report;
    }

    /// Gives the output up: it will not appear.
    void abandon()
    {
        std::lock_guard<std::mutex> lock(closing_);
        closed_ = true;
        basketry_merger_abandon(merger_.get());
    }

    /// Parts that wait, in bytes: those of all outputs of the pool.
    std::size_t GetBuffered() const { return static_cast<std::size_t>(memory().parts); }
    /// 0 if no part waits.
    std::size_t GetQueueSize() const { return GetBuffered() > 0 ? 1 : 0; }
    /// How the memory is used.
    basketry_merger_use memory() const
    {
        basketry_merger_use used = detail::zeroed<basketry_merger_use>();
        basketry_merger_memory(merger_.get(), &used, nullptr);
        return used;
    }

    /// As in ROOT since 6.32 it has no effect: parts are written as they come. To have the unfinished file made whole at an interval, give
    /// the setting `auto-save=100MB`.
    void SetAutoSave(std::size_t) {}
    std::size_t GetAutoSave() const { return 0; }
    /// Kept, and without effect: records are copied where their compression is as asked for, and compressed anew otherwise.
    void SetMergeOptions(const TString &options) { mergeOptions_ = options; }
    const char *GetMergeOptions() const { return mergeOptions_.Data(); }
    /// Kept, and without effect.
    void SetNotrees(Bool_t notrees = kFALSE) { notrees_ = notrees; }
    Bool_t GetNotrees() const { return notrees_; }
    void SetCompressTemporaryKeys(Bool_t = true) {}
    Bool_t GetCompressTemporaryKeys() const { return false; }

private:
    friend class BufferMergerFile;

    std::string name_;
    Int_t compress_;
    bool reproducible_ = false;
    TString mergeOptions_;
    std::atomic<bool> notrees_{false};
    detail::owned<basketry_merger, basketry_merger_free> merger_;
    std::mutex closing_;
    bool closed_ = false;
    std::mutex filesMutex_;
    std::vector<std::weak_ptr<BufferMergerFile>> files_;
};

/// A file in memory whose Write() sends its content to a BufferMerger, without a copy: its bytes are in a part of the library's.
class BufferMergerFile : public TMemFile {
public:
    ~BufferMergerFile() override
    {
        // The functions below are needed for it.
        Close();
        EndTask();
    }

    using TMemFile::Write;

    /// Writes the objects that are attached to the file, sends the file to the output, and empties it: the trees begin anew. May wait for
    /// memory. Throws basketry::error.
    Int_t Write(const char *name = nullptr, Int_t opt = 0, Int_t bufsize = 0) override
    {
        const Int_t bytes = TMemFile::Write(name, opt, bufsize);
        if ((opt & TObject::kOnlyPrepStep) != 0) {
            return bytes;
        }
        basketry_part_truncate(part_.get(), static_cast<std::size_t>(GetEND()));
        basketry_part *full = part_.release();
        basketry_error *failed = nullptr;
        try {
            begin();
            ResetAfterMerge(nullptr);
        } catch (...) {
            basketry_part_free(full);
            throw;
        }
        detail::check(basketry_merger_add(merger_.merger_.get(), task_, full, &failed) == 0, failed);
        return bytes;
    }

    /// In the order of tasks: says that all of the task is written. The destructor says so as well.
    void EndTask() noexcept
    {
        if (!ended_) {
            ended_ = true;
            basketry_merger_end_task(merger_.merger_.get(), task_, nullptr);
        }
    }

    Long64_t GetSize() const override { return static_cast<Long64_t>(basketry_part_size(part_.get())); }

    Long64_t CopyTo(void *to, Long64_t most) const override
    {
        const Long64_t count = std::min(GetSize(), most);
        return static_cast<Long64_t>(basketry_part_read(part_.get(), 0, to, static_cast<std::size_t>(count)));
    }

    void CopyTo(TBuffer &to) const override
    {
        std::vector<char> all(static_cast<std::size_t>(GetSize()));
        CopyTo(all.data(), GetSize());
        to.WriteLong64(GetSize());
        to.WriteFastArray(all.data(), static_cast<Int_t>(all.size()));
    }

protected:
    Int_t SysOpen(const char *, Int_t, UInt_t) override { return 0; }
    Int_t SysClose(Int_t) override { return 0; }
    Int_t SysSync(Int_t) override { return 0; }

    Int_t SysRead(Int_t, void *into, Int_t length) override
    {
        const std::size_t count = basketry_part_read(part_.get(), position_, into, static_cast<std::size_t>(length));
        position_ += count;
        return static_cast<Int_t>(count);
    }

    Int_t SysWrite(Int_t, const void *from, Int_t length) override
    {
        if (basketry_part_write(part_.get(), position_, from, static_cast<std::size_t>(length)) != 0) {
            errno = ENOMEM;
            return -1;
        }
        position_ += static_cast<std::size_t>(length);
        return length;
    }

    Long64_t SysSeek(Int_t, Long64_t offset, Int_t whence) override
    {
        const Long64_t from = whence == SEEK_CUR ? static_cast<Long64_t>(position_) : whence == SEEK_END ? GetSize() : 0;
        position_ = static_cast<std::size_t>(std::max<Long64_t>(0, from + offset));
        return static_cast<Long64_t>(position_);
    }

    Int_t SysStat(Int_t, Long_t *id, Long64_t *size, Long_t *flags, Long_t *modtime) override
    {
        *id = 0;
        *size = GetSize();
        *flags = 0;
        *modtime = 0;
        return 0;
    }

private:
    friend class BufferMerger;

    // TMemFile's own memory, which only its constructor uses.
    static constexpr Long64_t smallest = 4096;

    BufferMergerFile(BufferMerger &merger, std::uint64_t task)
        : TMemFile(merger.name_.c_str(), "RECREATE", "", merger.compress_, smallest), merger_(merger), task_(task)
    {
        if (merger.reproducible_) {
            // The keys of objects have no dates.
            SetBit(TFile::kReproducible);
        }
        // TMemFile's constructor has begun the file in its own memory: it begins anew in the library's.
        begin();
        ResetAfterMerge(nullptr);
    }

    void begin()
    {
        basketry_error *failed = nullptr;
        part_.reset(basketry_part_new(merger_.merger_.get(), &failed));
        detail::check(part_ != nullptr, failed);
        position_ = 0;
    }

    BufferMerger &merger_;
    std::uint64_t task_;
    detail::owned<basketry_part, basketry_part_free> part_;
    std::size_t position_ = 0;
    bool ended_ = false;
};

inline std::shared_ptr<BufferMergerFile> BufferMerger::GetFile(std::uint64_t task)
{
    std::shared_ptr<BufferMergerFile> file;
    {
        // ROOT's list of files is no list of these: they have the name of the output.
        R__LOCKGUARD(gROOTMutex);
        file.reset(new BufferMergerFile(*this, task));
        gROOT->GetListOfFiles()->Remove(file.get());
    }
    std::lock_guard<std::mutex> lock(filesMutex_);
    files_.push_back(file);
    return file;
}

} // namespace basketry

#endif
