#include "absl/strings/str_cat.h"
#include "client/blazectl/render/render.h"
#include "client/blazectl/table.h"
#include "client/blazectl/text.h"

namespace blazed::blazectl {
namespace {

// Silent where the store was opened as it had been left.
std::string Opening(const v1::StoreOpening& opening, const Screen& screen) {
  std::string text;
  if (!opening.detail().empty()) {
    absl::StrAppend(&text, "        ", screen.Paint(Clean(opening.state()), Ink::kBad),
                    " at this start: ", Clean(opening.detail()), "\n");
  }
  if (opening.migrated_from() > 0) {
    absl::StrAppend(&text, "        brought from schema version ", opening.migrated_from(),
                    " to this one at this start\n");
  }
  return text;
}

std::string Rows(const v1::GetStatusReply& status) {
  std::string text;
  if (status.store_read_only_since_unix_ns() > 0) {
    absl::StrAppend(&text, "        ", Counted(status.rows_waiting(), "row"), " waiting\n");
  }
  if (status.rows_dropped() > 0) {
    absl::StrAppend(&text, "        ", Counted(status.rows_dropped(), "row"),
                    " dropped since the start, because too many waited for the disk\n");
  }
  return text;
}

std::string Store(const v1::GetStatusReply& status, const Screen& screen) {
  const bool well = status.store_state() == "ok";
  std::string text = absl::StrCat(
      "store   ", screen.Paint(Clean(status.store_state()), well ? Ink::kGood : Ink::kBad), "  ",
      Clean(status.store_path()), "  ", BytesText(status.store_bytes()), ", SQLite ",
      Clean(status.sqlite_version()), "\n");
  if (!status.store_detail().empty()) {
    absl::StrAppend(&text, "        ", Clean(status.store_detail()), "\n");
  }
  return text + Opening(status.store_opening(), screen) + Rows(status);
}

// What exploring took of the job's budget.
std::string Explored(const v1::SessionStatus& session) {
  if (session.budget_allowed_ns() == 0) return "-";
  return absl::StrCat(DurationText(static_cast<double>(session.budget_spent_ns())), " of ",
                      DurationText(static_cast<double>(session.budget_allowed_ns())));
}

// What pairs showed of the best of many looks better than it is until it is replicated.
std::string Saving(const v1::SessionStatus& session) {
  if (session.gain() == 0) return "-";
  const bool final = session.phase() == "settled" || session.phase() == "served";
  return absl::StrCat(PercentText(session.gain()), final ? "" : " provisional");
}

// Why a session waits, stands or cannot resolve more.
std::string Notes(const v1::GetStatusReply& status) {
  std::string text;
  for (const v1::SessionStatus& session : status.sessions()) {
    if (session.note().empty()) continue;
    absl::StrAppend(&text, text.empty() ? "\n" : "", "session ", session.session(), ": ",
                    Clean(session.note()), "\n");
  }
  return text;
}

Table Sessions(const v1::GetStatusReply& status) {
  Table table({{"session", Align::kRight, Stretch::kRigid, 0},
               {"job", Align::kLeft, Stretch::kElastic, 0},
               {"workload", Align::kLeft, Stretch::kElastic, 6},
               {"phase", Align::kLeft, Stretch::kRigid, 0},
               {"candidates", Align::kRight, Stretch::kRigid, 5},
               {"dropped", Align::kRight, Stretch::kRigid, 4},
               {"pairs", Align::kRight, Stretch::kRigid, 3},
               {"saves", Align::kRight, Stretch::kRigid, 7},
               {"explored", Align::kRight, Stretch::kRigid, 6},
               {"attached", Align::kRight, Stretch::kRigid, 3},
               {"host", Align::kLeft, Stretch::kElastic, 1},
               {"user", Align::kRight, Stretch::kRigid, 1},
               {"pid", Align::kRight, Stretch::kRigid, 2}});
  for (const v1::SessionStatus& session : status.sessions()) {
    table.Add(
        {{absl::StrCat(session.session())},
         {session.job()},
         {session.workload_name().empty() ? ShortHex(session.workload()) : session.workload_name()},
         {session.phase()},
         {absl::StrCat(session.candidates())},
         {absl::StrCat(session.dropped())},
         {absl::StrCat(session.search_pairs())},
         {Saving(session), session.gain() > 0 ? Ink::kGood : Ink::kPlain},
         {Explored(session)},
         {DurationText(static_cast<double>(session.attached_ns()))},
         {session.host_name()},
         {absl::StrCat(session.uid())},
         {absl::StrCat(session.pid())}});
  }
  return table;
}

}  // namespace

std::string RenderStatus(const v1::GetStatusReply& status, const Screen& screen) {
  std::string text = absl::StrCat(
      screen.Paint(
          absl::StrCat("blazed ", Clean(status.version()), " (", Clean(status.commit()), ")"),
          Ink::kTitle),
      "  up ", DurationText(static_cast<double>(status.uptime_ns())), ", start ",
      status.daemon_epoch(), " of this store, ", BytesText(status.rss_bytes()), " resident\n",
      Store(status, screen));
  if (status.sessions().empty()) return text + "no session is attached\n";
  absl::StrAppend(&text, Counted(static_cast<uint64_t>(status.sessions_size()), "session"),
                  " attached\n\n", Sessions(status).Render(screen), Notes(status));
  return text;
}

}  // namespace blazed::blazectl
