// Jobs that were killed in the middle: 0 is the end of a whole job, which closes its file. The values follow from the
// entry's number alone. Baskets fill up between flushes at different times; two branches have members of equal names.
#include <sys/wait.h>
#include <signal.h>

void one(int stop) {
  if (fork() == 0) {
    auto file = new TFile(Form("killed%d.root", stop), "RECREATE", "", 101);
    auto folder = file->mkdir("folder"); folder->cd();
    TNamed("note", "written first").Write();
    auto tree = new TTree("tree", "killed"); tree->SetAutoFlush(200); tree->SetAutoSave(1000);
    int i, n; double x; float v[100]; std::vector<float> list; std::string text; char word[30];
    TLorentzVector p; TAttMarker q, r;
    tree->Branch("i", &i, "i/I", 1000); tree->Branch("x", &x, "x/D", 3000);
    tree->Branch("n", &n, "n/I", 700); tree->Branch("v", v, "v[n]/F", 2000);
    tree->Branch("list", &list, 1500, 99); tree->Branch("text", &text); tree->Branch("word", word, "word/C", 1200);
    tree->Branch("p", &p, 1100, 99); tree->Branch("q", &q, 600, 99);
    tree->Branch("r", &r, 600, 99);
    for (i = 0; i < 5000; i++) {
      x = i * 0.5; n = i / 200 % 40 + i % 3;
      for (int j = 0; j < n; j++) v[j] = i + j;
      list.assign(i % 7, i); text.assign(i % 11, 'a' + i % 26); snprintf(word, 30, "%.*d", 1 + i / 400, i);
      p.SetPxPyPzE(i, 1, 2, 3 * i); q.SetMarkerSize(i); q.SetMarkerStyle(i % 50); r.SetMarkerSize(-i); r.SetMarkerStyle(i % 51);
      tree->Fill();
      if (i + 1 == stop) kill(getpid(), SIGKILL);
    }
    tree->Write("", TObject::kOverwrite); file->Close();
    _exit(0);
  }
  int status; wait(&status);
}
void make() { for (int stop : {0, 900, 1000, 1201, 1999, 3777, 4999}) one(stop); }
