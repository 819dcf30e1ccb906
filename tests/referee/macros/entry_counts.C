// Trees whose branches hold fewer or more entries than the tree: switched off for a while, filled in part, filled too often.
const int kEntries = 60;

struct Content {
   int a = 0, b = 0, n = 0, late = 0;
   float f[3], x[4];
   std::vector<float> v;
   std::string s;
   TNamed o;

   void Set(int i, int base)
   {
      a = base + i;
      b = -a;
      n = i % 4;
      for (int k = 0; k < 3; ++k) f[k] = a + 0.25f * k;
      for (int k = 0; k < n; ++k) x[k] = a + 0.5f * k;
      v.assign(i % 3, a);
      s = "text " + std::to_string(a);
      o.SetNameTitle(s.c_str(), "title");
      late = a + 7;
   }
};

// A file with `t`, of which the branches in `off` are switched off for the entries from `from` to `to`. What comes after is
// done with all of them full.
void write(const std::string &name, int base, std::vector<std::string> off, int from, int to,
           std::function<void(TTree &, Content &)> after = {})
{
   TFile file((name + ".root").c_str(), "RECREATE");
   TTree tree("t", name.c_str());
   Content now;
   const int basket = 256;
   tree.Branch("a", &now.a, "a/I", basket);
   tree.Branch("b", &now.b, "b/I", basket);
   tree.Branch("f", now.f, "f[3]/F", basket);
   tree.Branch("n", &now.n, "n/I", basket);
   tree.Branch("x", now.x, "x[n]/F", basket);
   tree.Branch("v", &now.v, basket);
   tree.Branch("s", &now.s, basket);
   if (off == std::vector<std::string>{"o"}) tree.Branch("o", &now.o, basket, 0);
   for (int i = 0; i < kEntries; ++i) {
      for (auto &branch : off) tree.SetBranchStatus(branch.c_str(), i < from || i >= to);
      now.Set(i, base);
      tree.Fill();
   }
   tree.SetBranchStatus("*", true);
   if (after) after(tree, now);
   tree.Write();
}

void make()
{
   std::vector<std::string> some = {"b", "f", "x", "v", "s"};
   write("whole", 5000, {}, 0, 0);
   write("early", 1000, some, 40, kEntries);
   write("late", 2000, some, 0, 20);
   write("middle", 3000, some, 20, 40);
   write("objects", 4400, {"o"}, 40, kEntries);
   write("objects_whole", 4500, {"o"}, 0, 0);
   // ROOT switches a counter off with what it counts. Branches that are filled later may differ from their counter.
   auto count = [](TTree &tree, Content &now, int counted, int counter, int base) {
      auto *x2 = tree.Branch("x2", now.x, "x2[n]/F", 256);
      auto *m = tree.Branch("m", &now.n, "m/I", 256);
      auto *y = tree.Branch("y", now.x, "y[m]/F", 256);
      for (int i = 0; i < kEntries; ++i) {
         now.Set(i, base);
         if (i < counted) x2->Fill();
         if (i < counter) m->Fill();
         y->Fill();
      }
   };
   for (auto [name, counted, counter, base] : {std::tuple{"counted", 40, kEntries, 4000}, {"counter", kEntries, 40, 4100},
                                                {"counted_whole", kEntries, kEntries, 4200}})
      write(name, base, {}, 0, 0, [=](TTree &tree, Content &now) { count(tree, now, counted, counter, base); });
   auto fill = [](TTree &tree, Content &now, int entries, int base) {
      auto *branch = tree.Branch("late", &now.late, "late/I", 256);
      for (int i = 0; i < entries; ++i) {
         now.Set(i, base);
         branch->Fill();
      }
   };
   write("added", 6000, {}, 0, 0, [&](TTree &tree, Content &now) { fill(tree, now, kEntries, 6000); });
   write("part", 7000, {}, 0, 0, [&](TTree &tree, Content &now) { fill(tree, now, 40, 7000); });
   write("never", 8000, {}, 0, 0, [&](TTree &tree, Content &now) { fill(tree, now, 0, 8000); });
   write("longer", 9000, {}, 0, 0, [](TTree &tree, Content &now) {
      for (int i = 0; i < 10; ++i) {
         now.Set(kEntries + i, 9000);
         for (auto branch : {"b", "v"}) tree.GetBranch(branch)->Fill();
      }
   });
   write("beyond", 9500, {}, 0, 0, [](TTree &tree, Content &) { tree.SetEntries(1000); });
   write("far_beyond", 9500, {}, 0, 0, [](TTree &tree, Content &) { tree.SetEntries(1LL << 40); });
}
