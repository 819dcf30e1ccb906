// A column that becomes known late: one context is half filled by then, another one begins after it and does not know it, a third one does.
// Usage: late FILE CONTAINER
#include <basketry.hpp>

#include <cstdio>

int main(int argc, char **argv)
{
    try {
        using basketry::column;
        if (argc != 3) {
            return 2;
        }
        basketry::writer out(argv[1], "order=tasks, overwrite=true, container=" + std::string(argv[2]));
        const auto table = out.add_table("Events", {column::of<int>("number")});
        int number = 0;
        bool bit = true;
        std::vector<float> list;
        const auto fill = [&](basketry::context &context) {
            for (int i = 0; i < 100; ++i) {
                list.assign(static_cast<std::size_t>(number % 3), 0.5F);
                context.fill();
                ++number;
            }
        };
        auto first = out.fill_task(table, 0);
        first.bind(0, &number);
        fill(first);
        const std::size_t late = out.add_columns(table, {column::of<bool>("bit"), column::of<std::vector<float>>("list")});
        first.bind(late, &bit);
        fill(first);
        first.finish();
        auto second = out.fill_task(table, 1);
        second.bind(0, &number);
        fill(second);
        second.finish();
        auto third = out.fill_task(table, 2);
        third.bind(0, &number);
        third.bind(late, &bit);
        third.bind(late + 1, &list);
        fill(third);
        third.finish();
        out.finish();
        return 0;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
