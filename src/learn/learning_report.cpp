#include "learn/learning_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace regraph::learn {

namespace {

using Json = nlohmann::ordered_json;

double mean_of(const std::map<std::string, double>& values) {
  double sum = 0.0;
  for (const auto& [family, value] : values)
    sum += value;
  return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

std::map<std::string, double> share_at(const FamilyCurves& curves, std::size_t place) {
  std::map<std::string, double> result;
  for (const auto& [family, shares] : curves.share)
    result[family] = shares[place];
  return result;
}

std::string told(const PairedDifference& difference) {
  return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}] p {:.3f}", difference.mean, difference.low,
                     difference.high, difference.p);
}

std::string as_xml(const std::string& text) {
  std::string result;
  for (const char one : text) {
    switch (one) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      default:
        result += one;
    }
  }
  return result;
}

struct Comparison {
  std::string what;
  PairedDifference difference;
};

std::vector<Comparison> compare(const LearningReport& report, const FamilyCurves& one,
                                const FamilyCurves& other) {
  std::vector<Comparison> result;
  for (std::size_t place = 0; place < report.at.size(); ++place) {
    result.push_back({fmt::format("share at {}", report.at[place]),
                      paired(share_at(one, place), share_at(other, place))});
  }
  result.push_back({"evaluations to 95 %", paired(one.evaluations_to_95, other.evaluations_to_95)});
  result.push_back({"log-speedup", paired(one.log_speedup, other.log_speedup)});
  return result;
}

}  // namespace

std::string report_text(const LearningReport& report) {
  std::string text = report.title + "\n\n";
  text += fmt::format("{:24}", "search and prior");
  for (const int evaluations : report.at)
    text += fmt::format("{:>8}", fmt::format("at {}", evaluations));
  text += fmt::format("{:>8}{:>10}\n", "to 95 %", "speedup");
  for (const std::string& label : report.labels) {
    const auto curves = report.curves.find(label);
    if (curves == report.curves.end()) continue;
    text += fmt::format("{:24}", label);
    for (std::size_t place = 0; place < report.at.size(); ++place)
      text += fmt::format("{:8.3f}", mean_of(share_at(curves->second, place)));
    text += fmt::format("{:8.1f}{:9.2f}x\n", mean_of(curves->second.evaluations_to_95),
                        std::exp(mean_of(curves->second.log_speedup)));
  }
  text += "\nDifferences over families: mean [95 % by bootstrap] p by Wilcoxon's signed ranks\n";
  for (const auto& [one, other] : report.comparisons) {
    if (!report.curves.contains(one) || !report.curves.contains(other)) continue;
    text += fmt::format("\n{} against {}\n", one, other);
    for (const Comparison& line : compare(report, report.curves.at(one), report.curves.at(other)))
      text += fmt::format("  {:22}{}  ({} families)\n", line.what, told(line.difference),
                          line.difference.families);
  }
  if (!report.rankings.empty()) {
    text += fmt::format("\n{:40}{:>8}{:>8}{:>8}{:>9}{:>10}\n", "ranking of tried edges", "top-1",
                        "top-3", "rank", "states", "families");
  }
  for (const auto& [name, score] : report.rankings) {
    text += fmt::format("{:40}{:8.2f}{:8.2f}{:8.1f}{:9}{:10}\n", name, score.top_one,
                        score.top_three, score.mean_rank, score.groups, score.families);
  }
  for (const std::string& note : report.notes)
    text += "\n" + note;
  return text + (report.notes.empty() ? "" : "\n");
}

std::string report_json(const LearningReport& report) {
  Json json = {{"schema", "regraph-learning/1"}, {"title", report.title},
               {"budget", report.budget},        {"at", report.at},
               {"ways", Json::array()},          {"comparisons", Json::array()},
               {"rankings", Json::array()},      {"notes", report.notes}};
  for (const std::string& label : report.labels) {
    const auto curves = report.curves.find(label);
    if (curves == report.curves.end()) continue;
    const auto shares = report.mean_shares.find(label);
    json["ways"].push_back(
        {{"label", label},
         {"share", curves->second.share},
         {"evaluations_to_95", curves->second.evaluations_to_95},
         {"log_speedup", curves->second.log_speedup},
         {"mean_share",
          shares == report.mean_shares.end() ? std::vector<double>() : shares->second}});
  }
  for (const auto& [one, other] : report.comparisons) {
    if (!report.curves.contains(one) || !report.curves.contains(other)) continue;
    Json entry = {{"one", one}, {"other", other}, {"differences", Json::array()}};
    for (const Comparison& line : compare(report, report.curves.at(one), report.curves.at(other))) {
      entry["differences"].push_back({{"what", line.what},
                                      {"mean", line.difference.mean},
                                      {"low", line.difference.low},
                                      {"high", line.difference.high},
                                      {"p", line.difference.p},
                                      {"families", line.difference.families}});
    }
    json["comparisons"].push_back(std::move(entry));
  }
  for (const auto& [name, score] : report.rankings) {
    json["rankings"].push_back({{"name", name},
                                {"top_1", score.top_one},
                                {"top_3", score.top_three},
                                {"mean_rank", score.mean_rank},
                                {"states", score.groups},
                                {"families", score.families}});
  }
  return json.dump(1) + "\n";
}

std::string report_picture(const LearningReport& report) {
  constexpr int kWidth = 760;
  constexpr int kHeight = 440;
  constexpr int kLeft = 60;
  constexpr int kRight = 560;
  constexpr int kTop = 40;
  constexpr int kBottom = 390;
  // Colours that stay apart for colour-blind readers (Okabe and Ito).
  constexpr std::array kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00",
                                   "#56B4E9", "#000000", "#999999", "#7A5C00", "#5B2A86"};
  const auto x_of = [&](double evaluations) {
    return kLeft + (kRight - kLeft) * (evaluations - 1.0) / std::max(report.budget - 1, 1);
  };
  const auto y_of = [&](double share) { return kBottom - (kBottom - kTop) * share; };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n<text x=\"{}\" y=\"22\" font-size=\"14\">{}</text>\n",
      kWidth, kHeight, kLeft, as_xml(report.title));
  for (int tick = 0; tick <= 5; ++tick) {
    const double share = tick / 5.0;
    svg += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.1f}</text>\n",
        kLeft, kRight, y_of(share), y_of(share), kLeft - 8, y_of(share) + 4, share);
  }
  for (int evaluations = 10; evaluations <= report.budget; evaluations += 10) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                       x_of(evaluations), kBottom + 18, evaluations);
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">evaluations</text>\n",
                     (kLeft + kRight) / 2, kBottom + 36);
  svg += fmt::format(
      "<text x=\"16\" y=\"{}\" transform=\"rotate(-90 16 {})\" "
      "text-anchor=\"middle\">share of the best known log-speedup</text>\n",
      (kTop + kBottom) / 2, (kTop + kBottom) / 2);
  int index = 0;
  for (const std::string& label : report.labels) {
    const auto shares = report.mean_shares.find(label);
    if (shares == report.mean_shares.end()) continue;
    const auto number = static_cast<std::size_t>(index);
    const char* colour = kColours[number % kColours.size()];
    // Where the colours come round again, lines are broken.
    const std::string dashes =
        number < kColours.size()
            ? std::string()
            : fmt::format(" stroke-dasharray=\"{} 3\"",
                          std::max<std::size_t>(9 / (number / kColours.size()), 1));
    std::string points;
    for (std::size_t at = 0; at < shares->second.size(); ++at)
      points += fmt::format("{:.1f},{:.1f} ", x_of(static_cast<double>(at + 1)),
                            y_of(std::clamp(shares->second[at], 0.0, 1.0)));
    const int y = kTop + 12 + 20 * index++;
    svg += fmt::format(
        "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{} points=\"{}\"/>\n"
        "<line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"{}\" "
        "stroke-width=\"2\"{}/><text x=\"{}\" y=\"{}\">{}</text>\n",
        colour, dashes, points, kRight + 16, kRight + 40, y, y, colour, dashes, kRight + 46, y + 4,
        as_xml(label));
  }
  return svg + "</svg>\n";
}

}  // namespace regraph::learn
