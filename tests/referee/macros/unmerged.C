// Two files with objects that ROOT merges and basketry does not, one name for each class, and with names whose classes differ.

#include <TBtree.h>
#include <TFileCollection.h>
#include <TFileInfo.h>
#include <TGraphMultiErrors.h>
#include <TPolyLine.h>
#include <TPolyLine3D.h>
#include <TPolyMarker.h>
#include <TPolyMarker3D.h>
#include <TSelectorScalar.h>

void make() {
  TH1::AddDirectory(false);
  for (int k = 0; k < 2; k++) {
    TFile file(Form("unmerged%d.root", k), "RECREATE", "", 101);
    auto put = [&](TObject *object, const char *name) { object->Write(name, TObject::kSingleKey); };
    double x[] = {0, 1, 2}, y[] = {0, 1.0 * k, 2}, z[] = {1, 2, 3};
    TGraphMultiErrors errors("e", "", 2, 2); put(&errors, "graph_errors");
    TPolyLine line(3, x, y); put(&line, "line"); TPolyLine3D line3(3, x, y, z); put(&line3, "line_3d"); TPolyMarker marker(3, x, y); put(&marker, "marker"); TPolyMarker3D marker3(1); marker3.SetPoint(0, 1, 2, k); put(&marker3, "marker_3d");
    TFileCollection files("files"); files.Add(new TFileInfo(Form("f%d.root", k))); put(&files, "files"); TSelectorScalar scalar("s", k + 1); put(&scalar, "scalar");
    TBtree sorted; sorted.Add(new TObjString("x")); put(&sorted, "sorted"); TNamed named("n", ""); TRefArray references; references.Add(&named); put(&named, "named"); put(&references, "references");
    TChain chain("chain"); chain.Add(Form("part%d.root", k)); put(&chain, "chain");
    TH1F one("h", "", 3, 0, 3); TH1D doubles("h", "", 3, 0, 3); TH2F two("h", "", 3, 0, 3, 3, 0, 3); std::string text = "text";
    if (k) { put(&doubles, "other_type"); put(&two, "other_dimension"); file.WriteObject(&text, "no_object"); put(&one, "folder"); }
    else { put(&one, "other_type"); put(&one, "other_dimension"); put(&one, "no_object"); file.mkdir("folder"); }
  }
}
