// JSON for C++17 and newer, as far as reports need it: a value, made of a text by parse(), and its text again. Header only, for itself.
//
// It takes what RFC 8259 allows, and nothing else. Arrays and objects lie at most 128 deep, so that no text exhausts the stack.
#ifndef BASKETRY_JSON_HPP
#define BASKETRY_JSON_HPP

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace basketry {
namespace json {

/// What is wrong with a text, or with a value that is asked for something that it is not.
class error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct member;

/// Null, true or false, a number, a text, an array or an object.
class value {
public:
    using array = std::vector<value>;
    using object = std::vector<member>;

    value() = default;
    value(bool given) : held_(given) {}
    value(std::int64_t given) : held_(given) {}
    value(std::uint64_t given)
    {
        // A number has one form, so that equal numbers are equal.
        if (given <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            held_ = static_cast<std::int64_t>(given);
        } else {
            held_ = given;
        }
    }
    value(double given) : held_(given) {}
    value(std::string given) : held_(std::move(given)) {}
    value(const char *given) : held_(std::string(given)) {}
    value(array given) : held_(std::move(given)) {}
    value(object given) : held_(std::move(given)) {}

    bool is_null() const noexcept { return std::holds_alternative<std::monostate>(held_); }
    bool is_bool() const noexcept { return std::holds_alternative<bool>(held_); }
    /// Whether it is a number without a fraction and an exponent.
    bool is_whole() const noexcept
    {
        return std::holds_alternative<std::int64_t>(held_) || std::holds_alternative<std::uint64_t>(held_);
    }
    bool is_number() const noexcept { return is_whole() || std::holds_alternative<double>(held_); }
    bool is_text() const noexcept { return std::holds_alternative<std::string>(held_); }
    bool is_array() const noexcept { return std::holds_alternative<array>(held_); }
    bool is_object() const noexcept { return std::holds_alternative<object>(held_); }

    /// True or false; throws for anything else, as all of these do.
    bool as_bool() const { return as<bool>("true or false"); }
    const std::string &as_text() const { return as<std::string>("a text"); }
    const array &as_array() const { return as<array>("an array"); }
    const object &as_object() const { return as<object>("an object"); }

    /// A number without a fraction that is not negative.
    std::uint64_t as_unsigned() const
    {
        if (const auto *large = std::get_if<std::uint64_t>(&held_)) {
            return *large;
        }
        const std::int64_t number = as<std::int64_t>("a whole number");
        if (number < 0) {
            throw error("a number is negative");
        }
        return static_cast<std::uint64_t>(number);
    }

    /// A number without a fraction.
    std::int64_t as_signed() const { return as<std::int64_t>("a whole number of 64 bits"); }

    /// Any number; one that is not finite is a text in JSON.
    double as_double() const
    {
        if (const auto *name = std::get_if<std::string>(&held_)) {
            using limits = std::numeric_limits<double>;
            if (*name == "NaN") {
                return limits::quiet_NaN();
            }
            if (*name == "Infinity" || *name == "-Infinity") {
                return name->front() == '-' ? -limits::infinity() : limits::infinity();
            }
        }
        if (const auto *whole = std::get_if<std::int64_t>(&held_)) {
            return static_cast<double>(*whole);
        }
        if (const auto *large = std::get_if<std::uint64_t>(&held_)) {
            return static_cast<double>(*large);
        }
        return as<double>("a number");
    }

    /// A member of an object; null if it has none of that name.
    inline const value *find(std::string_view name) const;

    /// The text, without spaces.
    inline std::string text() const;

    /// Equal numbers are those of one form: 1 and 1.0 differ. Objects are equal whatever the order of their members.
    inline bool operator==(const value &other) const;
    bool operator!=(const value &other) const { return !(*this == other); }

private:
    template <typename T>
    const T &as(const char *what) const
    {
        if (const auto *found = std::get_if<T>(&held_)) {
            return *found;
        }
        throw error(std::string("a value is not ") + what);
    }

    inline void write(std::string &into) const;

    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, array, object> held_;
};

/// A member of an object.
struct member {
    std::string name;
    value content;
};

namespace detail {

inline void quote(const std::string &text, std::string &into)
{
    into += '"';
    for (const char one : text) {
        const auto byte = static_cast<unsigned char>(one);
        if (one == '"' || one == '\\') {
            into += '\\';
            into += one;
        } else if (byte < 0x20) {
            static constexpr char digits[] = "0123456789abcdef";
            into += "\\u00";
            into += digits[byte >> 4];
            into += digits[byte & 15];
        } else {
            into += one;
        }
    }
    into += '"';
}

class parser {
public:
    explicit parser(std::string_view text) : text_(text) {}

    value whole()
    {
        value made = one(0);
        space();
        if (at_ != text_.size()) {
            fail("something follows the value");
        }
        return made;
    }

private:
    static constexpr int deepest = 128;

    [[noreturn]] void fail(const std::string &why) const { throw error("byte " + std::to_string(at_) + " of the JSON: " + why); }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool is_digit() const { return peek() >= '0' && peek() <= '9'; }

    bool take(char wanted)
    {
        if (at_ < text_.size() && text_[at_] == wanted) {
            ++at_;
            return true;
        }
        return false;
    }

    void space()
    {
        while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') {
            ++at_;
        }
    }

    void word(std::string_view wanted)
    {
        if (text_.substr(at_, wanted.size()) != wanted) {
            fail("no value begins so");
        }
        at_ += wanted.size();
    }

    value one(int depth)
    {
        if (depth > deepest) {
            fail("the values lie too deep");
        }
        space();
        switch (peek()) {
        case '{': return object(depth);
        case '[': return array(depth);
        case '"': return value(string());
        case 't': word("true"); return value(true);
        case 'f': word("false"); return value(false);
        case 'n': word("null"); return value();
        default: return number();
        }
    }

    value object(int depth)
    {
        value::object made;
        ++at_;
        space();
        if (take('}')) {
            return value(std::move(made));
        }
        do {
            space();
            if (peek() != '"') {
                fail("a member has no name");
            }
            std::string name = string();
            space();
            if (!take(':')) {
                fail("a member has no colon");
            }
            value content = one(depth + 1);
            made.push_back(member{std::move(name), std::move(content)});
            space();
        } while (take(','));
        if (!take('}')) {
            fail("an object does not end");
        }
        return value(std::move(made));
    }

    value array(int depth)
    {
        value::array made;
        ++at_;
        space();
        if (take(']')) {
            return value(std::move(made));
        }
        do {
            made.push_back(one(depth + 1));
            space();
        } while (take(','));
        if (!take(']')) {
            fail("an array does not end");
        }
        return value(std::move(made));
    }

    std::uint32_t four_digits()
    {
        std::uint32_t code = 0;
        for (int i = 0; i < 4; ++i) {
            const char digit = peek();
            std::uint32_t part = 0;
            if (digit >= '0' && digit <= '9') {
                part = static_cast<std::uint32_t>(digit - '0');
            } else if (digit >= 'a' && digit <= 'f') {
                part = static_cast<std::uint32_t>(digit - 'a') + 10;
            } else if (digit >= 'A' && digit <= 'F') {
                part = static_cast<std::uint32_t>(digit - 'A') + 10;
            } else {
                fail("\\u has no four digits");
            }
            code = code << 4 | part;
            ++at_;
        }
        return code;
    }

    /// A character beyond 16 bits is written as two halves.
    std::uint32_t character()
    {
        const std::uint32_t first = four_digits();
        if (first < 0xd800 || first > 0xdfff) {
            return first;
        }
        if (first > 0xdbff || !take('\\') || !take('u')) {
            fail("half a character");
        }
        const std::uint32_t second = four_digits();
        if (second < 0xdc00 || second > 0xdfff) {
            fail("half a character");
        }
        return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    }

    static void encode(std::uint32_t code, std::string &into)
    {
        const auto rest = [&](int shift) { into += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
        if (code < 0x80) {
            into += static_cast<char>(code);
        } else if (code < 0x800) {
            into += static_cast<char>(0xc0 | code >> 6);
            rest(0);
        } else if (code < 0x10000) {
            into += static_cast<char>(0xe0 | code >> 12);
            rest(6);
            rest(0);
        } else {
            into += static_cast<char>(0xf0 | code >> 18);
            rest(12);
            rest(6);
            rest(0);
        }
    }

    std::string string()
    {
        std::string made;
        ++at_;
        while (true) {
            if (at_ >= text_.size()) {
                fail("a text does not end");
            }
            const char next = text_[at_++];
            if (next == '"') {
                return made;
            }
            if (static_cast<unsigned char>(next) < 0x20) {
                --at_;
                fail("a control character in a text");
            }
            if (next != '\\') {
                made += next;
                continue;
            }
            const char escaped = peek();
            ++at_;
            switch (escaped) {
            case '"': made += '"'; break;
            case '\\': made += '\\'; break;
            case '/': made += '/'; break;
            case 'b': made += '\b'; break;
            case 'f': made += '\f'; break;
            case 'n': made += '\n'; break;
            case 'r': made += '\r'; break;
            case 't': made += '\t'; break;
            case 'u': encode(character(), made); break;
            default: --at_; fail("no character is written so");
            }
        }
    }

    void digits()
    {
        if (!is_digit()) {
            fail("a digit is missing");
        }
        while (is_digit()) {
            ++at_;
        }
    }

    value number()
    {
        const std::size_t begin = at_;
        const bool negative = take('-');
        if (!negative && !is_digit()) {
            fail(at_ < text_.size() ? "no value begins so" : "a value is missing");
        }
        const std::size_t first = at_;
        if (!take('0')) {
            digits();
        }
        const bool is_minus_zero = negative && text_[first] == '0';
        bool is_whole = true;
        if (take('.')) {
            is_whole = false;
            digits();
        }
        if (take('e') || take('E')) {
            is_whole = false;
            if (!take('-')) {
                take('+');
            }
            digits();
        }
        const std::string_view written = text_.substr(begin, at_ - begin);
        if (is_whole && !is_minus_zero) {
            std::int64_t small = 0;
            if (read(written, small)) {
                return value(small);
            }
            std::uint64_t large = 0;
            if (read(written, large)) {
                return value(large);
            }
        }
        return value(decimal(written));
    }

    template <typename T>
    static bool read(std::string_view written, T &into)
    {
        const auto done = std::from_chars(written.data(), written.data() + written.size(), into);
        return done.ec == std::errc() && done.ptr == written.data() + written.size();
    }

    /// In the locale of C, whatever the program's is.
    double decimal(std::string_view written) const
    {
        std::istringstream from{std::string(written)};
        from.imbue(std::locale::classic());
        double made = 0;
        if (!(from >> made)) {
            fail("a number is too large");
        }
        return made;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

} // namespace detail

/// The value of a text. Throws json::error with the byte where it is wrong.
inline value parse(std::string_view text) { return detail::parser(text).whole(); }

inline const value *value::find(std::string_view name) const
{
    for (const member &one : as_object()) {
        if (one.name == name) {
            return &one.content;
        }
    }
    return nullptr;
}

inline void value::write(std::string &into) const
{
    if (is_null()) {
        into += "null";
    } else if (is_bool()) {
        into += as_bool() ? "true" : "false";
    } else if (const auto *whole = std::get_if<std::int64_t>(&held_)) {
        into += std::to_string(*whole);
    } else if (const auto *large = std::get_if<std::uint64_t>(&held_)) {
        into += std::to_string(*large);
    } else if (const auto *decimal = std::get_if<double>(&held_)) {
        std::ostringstream written;
        written.imbue(std::locale::classic());
        written.precision(std::numeric_limits<double>::max_digits10);
        written << *decimal;
        const std::string made = written.str();
        // JSON has no infinities; and a fraction stays one.
        const bool is_finite = *decimal - *decimal == 0;
        into += !is_finite ? "null" : made.find_first_of(".e") == std::string::npos ? made + ".0" : made;
    } else if (is_text()) {
        detail::quote(as_text(), into);
    } else if (is_array()) {
        const char *before = "[";
        for (const value &one : as_array()) {
            into += before;
            one.write(into);
            before = ",";
        }
        into += as_array().empty() ? "[]" : "]";
    } else {
        const char *before = "{";
        for (const member &one : as_object()) {
            into += before;
            detail::quote(one.name, into);
            into += ':';
            one.content.write(into);
            before = ",";
        }
        into += as_object().empty() ? "{}" : "}";
    }
}

inline std::string value::text() const
{
    std::string made;
    write(made);
    return made;
}

inline bool operator==(const member &one, const member &other) { return one.name == other.name && one.content == other.content; }

inline bool value::operator==(const value &other) const
{
    if (!is_object() || !other.is_object()) {
        return held_ == other.held_;
    }
    if (as_object().size() != other.as_object().size()) {
        return false;
    }
    for (const member &one : as_object()) {
        const value *found = other.find(one.name);
        if (found == nullptr || *found != one.content) {
            return false;
        }
    }
    return true;
}

} // namespace json
} // namespace basketry

#endif // BASKETRY_JSON_HPP
