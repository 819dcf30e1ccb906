// The JSON of reports. Usage: json FILE: for each line of the file prints its value again, or what is wrong with it behind "error".
#include <basketry_json.hpp>

#include <clocale>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

#define HOLDS(condition) \
    do { \
        if (!(condition)) { \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            return 1; \
        } \
    } while (0)

namespace {

bool fails(const std::string &text, const std::string &why)
{
    try {
        basketry::json::parse(text);
        return false;
    } catch (const basketry::json::error &error) {
        return std::string(error.what()).find(why) != std::string::npos;
    }
}

/// Whether a call throws.
template <typename Call>
bool refuses(Call &&call)
{
    try {
        call();
        return false;
    } catch (const basketry::json::error &) {
        return true;
    }
}

} // namespace

int main(int argc, char **argv)
{
    using basketry::json::parse;
    // The program's locale says nothing.
    for (const char *locale : {"de_DE.UTF-8", "fr_FR.UTF-8"}) {
        std::setlocale(LC_ALL, locale);
    }
    const auto all = parse(R"( {"a": [1, -2, 18446744073709551615, 0.5, 1e2, -0, null], "b": {"c": true}, "d": "\u00e9\ud83d\ude00\n\/"} )");
    const auto &numbers = all.find("a")->as_array();
    HOLDS(numbers[0].as_unsigned() == 1 && numbers[1].as_signed() == -2);
    HOLDS(numbers[2].as_unsigned() == 18446744073709551615U && refuses([&] { numbers[2].as_signed(); }));
    HOLDS(refuses([&] { numbers[1].as_unsigned(); }) && refuses([&] { numbers[3].as_signed(); }));
    HOLDS(numbers[3].as_double() == 0.5 && numbers[4].as_double() == 100 && !numbers[4].is_whole());
    HOLDS(numbers[0].as_double() == 1 && numbers[2].as_double() == 18446744073709551616.0 && 1 / numbers[5].as_double() < 0);
    HOLDS(numbers[6].is_null() && refuses([&] { numbers[6].as_text(); }) && refuses([&] { all.as_array(); }));
    const auto odd = parse(R"(["NaN", "Infinity", "-Infinity", "inf"])");
    const auto &texts = odd.as_array();
    HOLDS(texts[0].as_double() != texts[0].as_double() && texts[1].as_double() > 1e308 && texts[2].as_double() < -1e308);
    HOLDS(refuses([&] { texts[3].as_double(); }));
    HOLDS(all.find("b")->find("c")->as_bool() && all.find("none") == nullptr && refuses([&] { numbers[0].find("a"); }));
    HOLDS(all.find("d")->as_text() == "\xc3\xa9\xf0\x9f\x98\x80\n/");
    HOLDS(parse(R"({"x": 1, "y": 2})") == parse(R"({"y": 2, "x": 1})") && parse(R"({"x": 1})") != parse(R"({"x": 2})"));
    HOLDS(parse("[[1]]") == parse("[ [ 1 ] ]") && parse("[1]") != parse("[1, 1]"));

    HOLDS(fails("", "missing") && fails("[1,]", "no value begins so") && fails("[1 2]", "does not end"));
    HOLDS(fails("{\"a\" 1}", "no colon") && fails("{a: 1}", "no name") && fails("1 1", "follows"));
    HOLDS(fails("01", "follows") && fails("-", "digit") && fails("1.", "digit") && fails("1e+", "digit") && fails("+1", "begins"));
    HOLDS(fails("\"a", "does not end") && fails("\"\\x\"", "no character") && fails("\"\\u12g4\"", "four digits"));
    HOLDS(fails("\"\\ud83d\"", "half") && fails("\"\\ude00\"", "half") && fails("\"\\ud83d\\u0041\"", "half"));
    HOLDS(fails(std::string("\"\n\""), "control") && fails("NaN", "begins") && fails("tru", "begins") && fails("1e999", "too large"));
    HOLDS(fails(std::string("[1]\0", 4), "follows") && fails("[", "missing") && fails("\"\\", "no character"));
    // A million brackets exhaust no stack.
    HOLDS(fails(std::string(1000000, '['), "too deep") && fails(std::string(129, '[') + std::string(129, ']'), "too deep") == false);
    HOLDS(fails(std::string(130, '[') + std::string(130, ']'), "too deep"));

    std::ifstream lines(argc > 1 ? argv[1] : "/dev/null");
    for (std::string line; std::getline(lines, line);) {
        try {
            const auto value = parse(line);
            if (parse(value.text()) != value) {
                std::cout << "another value: " << value.text() << "\n";
            } else {
                std::cout << value.text() << "\n";
            }
        } catch (const basketry::json::error &error) {
            std::cout << "error " << error.what() << "\n";
        }
    }
    return 0;
}
