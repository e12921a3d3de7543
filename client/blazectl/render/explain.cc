#include "absl/strings/str_cat.h"
#include "client/blazectl/enum_text.h"
#include "client/blazectl/render/render.h"
#include "client/blazectl/render/words.h"
#include "client/blazectl/table.h"
#include "client/blazectl/text.h"

namespace blazed::blazectl {
namespace {

// What is in force, in one line.
std::string Headline(const v1::ExplainReply& answer, const Screen& screen) {
  if (!answer.has_settlement())
    return "nothing is settled; the default plan or a provisional champion runs\n";
  const v1::SettlementRow& settlement = answer.settlement();
  if (settlement.kind() == v1::SETTLEMENT_KIND_NO_WINNER) {
    return absl::StrCat(screen.Paint("no winner", Ink::kTitle),
                        ": the search ended, and the default plan stays, ",
                        DurationText(settlement.default_step_ns()), " a step\n");
  }
  std::string text =
      absl::StrCat(screen.Paint(absl::StrCat("settled ", Word(settlement.kind())), Ink::kTitle),
                   ": saves ", screen.Paint(GainText(settlement), Ink::kGood), " of ",
                   DurationText(settlement.default_step_ns()), " a step");
  if (settlement.break_even_steps() > 0) {
    absl::StrAppend(&text, "; the search is paid back after ",
                    StepsText(settlement.break_even_steps()));
  }
  return text + "\n";
}

std::string Conditions(const v1::ExplainReply& answer, const Screen& screen) {
  if (answer.environment().empty()) return "";
  std::string text = screen.Paint("measured under", Ink::kTitle) + "\n";
  size_t width = 0;
  for (const v1::EnvironmentField& field : answer.environment()) {
    width = std::max(width, Columns(field.key()));
  }
  for (const v1::EnvironmentField& field : answer.environment()) {
    absl::StrAppend(&text, "  ", Clean(field.key()),
                    std::string(width - Columns(field.key()) + 2, ' '), Clean(field.value()), "\n");
  }
  return text + "\n";
}

// Without their workload: all are of the one that the headline names.
std::string Plans(const v1::ExplainReply& answer, const Screen& screen) {
  if (answer.plans().empty()) return "";
  v1::ListPlansReply list;
  *list.mutable_rows() = answer.plans();
  return absl::StrCat(screen.Paint("candidates", Ink::kTitle), "\n",
                      RenderPlans(list, screen, WorkloadColumn::kLeftOut), "\n");
}

std::string Kernels(const v1::ExplainReply& answer, const Screen& screen) {
  if (!answer.has_kernels() || answer.kernels().kernels().empty()) return "";
  return absl::StrCat(
      screen.Paint("kernels before (default plan) and after (this plan), of one step each",
                   Ink::kTitle),
      "\n", RenderKernels(answer.kernels(), screen), "\n");
}

std::string Races(const v1::ExplainReply& answer, const Screen& screen) {
  if (answer.races().empty()) return "";
  v1::ListRacesReply list;
  *list.mutable_rows() = answer.races();
  return absl::StrCat(screen.Paint("races", Ink::kTitle), "\n", RenderRaces(list, screen), "\n");
}

}  // namespace

std::string RenderExplain(const v1::ExplainReply& answer, const Screen& screen, absl::Time now) {
  const v1::WorkloadRow& workload = answer.workload();
  std::string text = absl::StrCat(
      screen.Paint(Clean(workload.name()), Ink::kTitle), "  ", ShortHex(workload.fingerprint()),
      "  ", Counted(workload.decisions(), "decision"), "\n", Headline(answer, screen));
  if (answer.has_settlement()) {
    absl::StrAppend(&text, "plan: ",
                    Clean(PlanText(answer.settlement().plan(), answer.settlement().plan_text())),
                    "\n");
    const std::string ago = AgoText(answer.settlement().settled_unix_ns(), now);
    if (!ago.empty()) absl::StrAppend(&text, "settled ", ago, "\n");
  }
  text += "\n";
  for (const std::string& sentence : answer.sentences()) {
    absl::StrAppend(&text, "- ", Clean(sentence), "\n");
  }
  if (!answer.sentences().empty()) text += "\n";
  absl::StrAppend(&text, Kernels(answer, screen), Conditions(answer, screen), Plans(answer, screen),
                  Races(answer, screen));
  while (text.size() > 1 && text[text.size() - 2] == '\n') text.pop_back();
  return text;
}

}  // namespace blazed::blazectl
