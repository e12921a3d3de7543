#include "client/blazectl/verbs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/blazectl/connection.h"
#include "client/blazectl/health_call.h"
#include "client/blazectl/queries.h"
#include "client/blazectl/render/render.h"
#include "client/blazectl/text.h"
#include "client/blazectl/to_json.h"
#include "client/blazectl/watch.h"

namespace blazed::blazectl {
namespace {

using Json = nlohmann::ordered_json;

// What every JSON answer starts with.
Json WithSchema(const Json& body) {
  Json whole = {{"schema", 1}};
  whole.update(body);
  return whole;
}

struct Terminal {
  const Options& options;
  Screen screen;
  std::FILE* out;
  std::FILE* err;

  bool json() const { return options.output == Output::kJson; }
  void Print(const std::string& text) const { std::fwrite(text.data(), 1, text.size(), out); }
  void PrintJson(const Json& body) const { Print(Pretty(WithSchema(body))); }
};

// A list reply as {"<name>": rows, "next_page_token": ...}; what was cut off can be seen.
template <typename Reply>
Json ListJson(const char* name, const Reply& reply) {
  Json json = ToJson(reply);
  return Json{{name, json["rows"]}, {"next_page_token", json["next_page_token"]}};
}

template <typename Reply, typename Rendered>
absl::Status Show(const Terminal& terminal, const absl::StatusOr<Reply>& reply, const char* name,
                  Rendered rendered) {
  if (!reply.ok()) return reply.status();
  if (terminal.json()) {
    terminal.PrintJson(ListJson(name, *reply));
  } else {
    terminal.Print(rendered(*reply));
  }
  return absl::OkStatus();
}

absl::Status ShowGraphs(const Terminal& terminal, const Connection& connection,
                        const Selection& selection) {
  const auto workloads = ListWorkloads(connection, selection);
  if (!workloads.ok()) return workloads.status();
  const auto graphs = ListGraphs(connection, selection);
  if (!graphs.ok()) return graphs.status();
  if (terminal.json()) {
    terminal.PrintJson(
        {{"workloads", ToJson(*workloads)["rows"]}, {"graphs", ToJson(*graphs)["rows"]}});
  } else {
    terminal.Print(RenderGraphs(*workloads, *graphs, terminal.screen, absl::Now()));
  }
  return absl::OkStatus();
}

absl::Status ShowList(const Terminal& terminal, const Connection& connection) {
  const auto workload = ResolveWorkload(connection, terminal.options.workload);
  if (!workload.ok()) return workload.status();
  const Selection selection{*workload, terminal.options.limit};
  const Screen& screen = terminal.screen;
  switch (terminal.options.verb) {
    case Verb::kPlans:
      return Show(terminal, ListPlans(connection, selection), "plans",
                  [&](const auto& reply) { return RenderPlans(reply, screen); });
    case Verb::kRaces:
      return Show(terminal, ListRaces(connection, selection), "races",
                  [&](const auto& reply) { return RenderRaces(reply, screen); });
    case Verb::kSettlements:
      return Show(terminal, ListSettlements(connection, selection), "settlements",
                  [&](const auto& reply) { return RenderSettlements(reply, screen, absl::Now()); });
    default:
      return ShowGraphs(terminal, connection, selection);
  }
}

absl::Status ShowStatus(const Terminal& terminal, const Connection& connection) {
  const auto status = GetStatus(connection);
  if (!status.ok()) return status.status();
  if (terminal.json()) {
    terminal.PrintJson(ToJson(*status));
  } else {
    terminal.Print(RenderStatus(*status, terminal.screen));
  }
  return absl::OkStatus();
}

absl::Status ShowExplain(const Terminal& terminal, const Connection& connection) {
  const auto workload = terminal.options.workload.empty()
                            ? NewestWorkload(connection)
                            : ResolveWorkload(connection, terminal.options.workload);
  if (!workload.ok()) return workload.status();
  const auto answer = Explain(connection, *workload, terminal.options.plan);
  if (!answer.ok()) return answer.status();
  if (terminal.json()) {
    terminal.PrintJson(ToJson(*answer));
  } else {
    terminal.Print(RenderExplain(*answer, terminal.screen, absl::Now()));
  }
  return absl::OkStatus();
}

absl::Status ShowReport(const Terminal& terminal, const Connection& connection) {
  const auto report = GetReport(connection, terminal.options.session);
  if (!report.ok()) return report.status();
  const Json json = Json::parse(*report, nullptr, false);
  if (!json.is_object()) {
    return absl::InternalError(
        "the daemon's report is no JSON object; compare the versions of both sides");
  }
  terminal.PrintJson(json);
  return absl::OkStatus();
}

absl::Status ShowWatch(const Terminal& terminal, const Connection& connection) {
  const auto workload = ResolveWorkload(connection, terminal.options.workload);
  if (!workload.ok()) return workload.status();
  WatchOrder order{connection.path(), *workload, terminal.options.after, terminal.options.events,
                   terminal.options.timeout};
  WatchSinks sinks;
  sinks.event = [&](const v1::WatchEvent& event) {
    const std::string line = terminal.json()
                                 ? OneLine(WithSchema(ToJson(event)))
                                 : RenderEvent(event, terminal.screen, absl::LocalTimeZone());
    if (line.empty()) return Sunk::kLeftOut;
    terminal.Print(line);
    const bool written = std::fflush(terminal.out) == 0 && std::ferror(terminal.out) == 0;
    return written ? Sunk::kShown : Sunk::kLost;
  };
  sinks.link = [&](Link link) {
    std::fputs(link == Link::kLost ? "blazectl: the daemon is gone; waiting for it\n"
                                   : "blazectl: the daemon is back\n",
               terminal.err);
  };
  return Watch(order, connection, sinks);
}

// Sets `code` where the answer itself is bad news.
absl::Status ShowHealth(const Terminal& terminal, const Connection& connection, ExitCode* code) {
  const auto serving = CheckHealth(connection, terminal.options.subsystem);
  if (!serving.ok()) return serving.status();
  if (*serving == Serving::kServiceUnknown) {
    return absl::NotFoundError(absl::StrCat("the daemon has no subsystem '",
                                            terminal.options.subsystem,
                                            "'; leave the name out for the daemon as a whole"));
  }
  const char* word = *serving == Serving::kServing      ? "serving"
                     : *serving == Serving::kNotServing ? "not_serving"
                                                        : "unknown";
  if (*serving != Serving::kServing) *code = ExitCode::kUnhealthy;
  if (terminal.json()) {
    terminal.PrintJson({{"subsystem", terminal.options.subsystem}, {"health", word}});
  } else {
    terminal.Print(absl::StrCat(word, "\n"));
  }
  return absl::OkStatus();
}

absl::Status Dispatch(const Terminal& terminal, const Connection& connection, ExitCode* code) {
  switch (terminal.options.verb) {
    case Verb::kStatus:
      return ShowStatus(terminal, connection);
    case Verb::kExplain:
      return ShowExplain(terminal, connection);
    case Verb::kWatch:
      return ShowWatch(terminal, connection);
    case Verb::kHealth:
      return ShowHealth(terminal, connection, code);
    case Verb::kReport:
      return ShowReport(terminal, connection);
    case Verb::kGraphs:
    case Verb::kPlans:
    case Verb::kRaces:
    case Verb::kSettlements:
      return ShowList(terminal, connection);
  }
  return absl::InternalError("no such verb");
}

constexpr absl::Duration kLookAgain = absl::Milliseconds(50);

// With a timeout a socket that is not there yet is waited for, as one that nobody serves yet is.
absl::StatusOr<std::string> AwaitSocket(const Options& options, const Surroundings& surroundings,
                                        absl::Time give_up) {
  while (true) {
    auto path = FindSocket(options.socket, surroundings);
    if (path.ok() || !absl::IsUnavailable(path.status()) || absl::Now() >= give_up) return path;
    absl::SleepFor(kLookAgain);
  }
}

ExitCode Fail(std::FILE* err, const absl::Status& status, ExitCode code) {
  std::fprintf(err, "blazectl: %s\n", Clean(status.message()).c_str());
  return code;
}

}  // namespace

ExitCode RunVerb(const Options& options, const Surroundings& surroundings, std::FILE* out,
                 std::FILE* err) {
  const absl::Time give_up = absl::Now() + options.timeout.value_or(absl::ZeroDuration());
  const auto path = AwaitSocket(options, surroundings, give_up);
  if (!path.ok()) {
    const bool usage = absl::IsInvalidArgument(path.status());
    return Fail(err, path.status(), usage ? ExitCode::kUsage : ExitCode::kUnreachable);
  }
  std::optional<absl::Duration> left = options.timeout;
  if (left) left = std::max(give_up - absl::Now(), absl::ZeroDuration());
  const auto connection = Connection::Open(*path, left);
  if (!connection.ok()) return Fail(err, connection.status(), ExitCodeOf(connection.status()));
  const Terminal terminal{options, RealScreen(options.colour), out, err};
  ExitCode code = ExitCode::kOk;
  const absl::Status shown = Dispatch(terminal, *connection, &code);
  if (!shown.ok()) return Fail(err, shown, ExitCodeOf(shown));
  if (std::fflush(out) != 0 || std::ferror(out) != 0) {
    return Fail(err, absl::DataLossError("cannot write the answer; is the disk full?"),
                ExitCode::kError);
  }
  return code;
}

}  // namespace blazed::blazectl
