// make_ntuple FIELDS CLUSTERS ENTRIES OUT: so many fields, of which a tenth are lists, in so many clusters.
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <cstdlib>
#include <string>
#include <vector>

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const int fields = atoi(argv[1]), clusters = atoi(argv[2]), entries = atoi(argv[3]);
  auto model = ROOT::RNTupleModel::Create();
  std::vector<std::shared_ptr<int>> numbers;
  std::vector<std::shared_ptr<std::vector<float>>> lists;
  for (int i = 0; i < fields; i++) {
    if (i % 10) numbers.push_back(model->MakeField<int>("f" + std::to_string(i)));
    else lists.push_back(model->MakeField<std::vector<float>>("f" + std::to_string(i)));
  }
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", argv[4]);
  for (int entry = 0; entry < entries; entry++) {
    for (auto &number : numbers) *number = rand() % 1000;
    for (auto &list : lists) list->assign(rand() % 3, rand() % 100);
    writer->Fill();
    if (entry % (entries / clusters) == entries / clusters - 1) writer->CommitCluster();
  }
}
