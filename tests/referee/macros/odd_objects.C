// Odd but legal: objects of many classes, names that are empty, long or hold / ; and *, trees without branches or
// entries, user info of all kinds, one name for several classes, lists as one key and as many.

void make() {
  const int seed = 0;
  TFile f("odd.root", "RECREATE", "", 101);
  auto t=[&](const char*n,int k,const char*b="x"){ TTree*t=new TTree(n,n); static float x; t->Branch(b,&x,(std::string(b)+"/F").c_str()); for(int i=0;i<k;i++){x=i+seed;t->Fill();} return t;};
  auto a=t("main",100); a->BuildIndex("x"); a->SetAlias("y","x*x"); a->AddFriend("fr","friend.root"); a->GetUserInfo()->Add(new TParameter<double>("lumi",2.5)); a->GetUserInfo()->Add(new TObjString("s")); 
  { auto l=new TClonesArray("TNamed",3); new((*l)[0])TNamed("a","b"); new((*l)[1])TNamed("c","d"); l->SetName("clones"); a->GetUserInfo()->Add(l); }
  { auto h=new TH2F("h2","",3,0,3,3,0,3); h->SetDirectory(nullptr); h->Fill(1,1); a->GetUserInfo()->Add(h);} 
  { auto m=new TMap; m->SetName("map"); m->Add(new TObjString("k"),new TObjString("v")); a->GetUserInfo()->Add(m);} 
  a->GetUserInfo()->Add(new TF1("f1u","sin(x)",0,1)); a->GetUserInfo()->Add(new TMacro("macu","t")); a->GetUserInfo()->Add(new TGraph(2));


  a->GetUserInfo()->Add(new TEntryList("elu","elu"));
  a->Write();
  TTree nob("nobranch","no branches"); nob.Write();
  t("noentries",0)->Write();
  TTree ent("entriesonly","entries but no branch"); ent.SetEntries(7); ent.Write();
  t("",5)->Write("");
  t("sl/ash",5)->Write("sl/ash"); t("semi;3",5)->Write("semi;3"); t("st*ar",5)->Write("st*ar"); t("sp ace",6)->Write(); 
  std::string lng(3000,'n'); t(lng.c_str(),4)->Write();
  TNamed("renamed inside","t").Write("key name"); TNamed("","empty").Write("");
  TNamed("slash/name","s").Write("slash/name"); TNamed("semi;1","s").Write("semi;1"); TNamed("a*","s").Write("a*");
  TNamed(lng.c_str(),"x").Write();
  TNamed("two","1").Write("two"); TObjString("2").Write("two"); TH1F h("two","3",2,0,2); h.Write("two"); TNamed("two","4").Write("two");
  TChain c("main"); c.Add("x.root"); c.Write("chain");
  TMacro mac("mac","title"); mac.AddLine("int x;"); mac.Write(); TObjString("str").Write("str"); TParameter<int>("par",seed).Write(); TFormula("form","x*x").Write(); TF1("f1","x+[0]",0,1).Write();
  TGraph g(3); g.SetPoint(0,1,2); g.Write("g"); 
  TList l; l.Add(new TObjString("e1")); l.Add(new TNamed("e2","")); l.Write("single",TObject::kSingleKey); l.Write("many");
  TList lt; lt.Add(t("inlist",50)); lt.Add(new TObjString("z")); lt.Write("treelist",TObject::kSingleKey);
  TCanvas cv("cv","cv"); g.Draw("AP"); cv.Write();
  TMap m; m.Add(new TObjString("k"),new TObjString("v")); m.Write("map",TObject::kSingleKey);
  TClonesArray ca("TNamed",2); new(ca[0])TNamed("a","b"); ca.Write("clones",TObject::kSingleKey);
  std::vector<int> v{1,2,3}; f.WriteObject(&v,"vec"); std::string s("std"); f.WriteObject(&s,"stdstring"); std::map<std::string,double> sm{{"a",1}}; f.WriteObject(&sm,"stdmap");
  auto d=f.mkdir("d1"); d->cd(); auto e=d->mkdir("d2","title of d2"); e->cd(); t("deep",9)->Write(); e->mkdir("emptydir"); TH1D hd("hd","",2,0,2); hd.Fill(0.5); hd.Write(); 
  f.cd(); f.mkdir("dup"); TNamed("dup","object like dir").Write("dup");
  f.cd(); f.Close();
  // Objects shared by user info, lists and the file would be deleted twice.
  _exit(0);
}
