// A job that died: once after AutoSave (ROOT can recover the file), once before any tree was written.
#include <sys/wait.h>

void one(const char *path, bool save) {
  if (fork() == 0) {
    auto file = new TFile(path, "RECREATE", "", 101);
    auto tree = new TTree("tree", "never closed"); int i = 0; tree->Branch("i", &i, "i/I"); tree->SetAutoFlush(100);
    for (i = 0; i < 1050; i++) { tree->Fill(); if (save && i == 800) tree->AutoSave(); }
    file->Flush();
    _exit(0);
  }
  int status; wait(&status);
}
void make() { one("saved.root", true); one("unsaved.root", false); }