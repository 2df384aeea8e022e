// Times WPILib's own DataLog classes, for `cargo xtask bench wire`.
//
//   official_bench scan FILE     iterates over every record
//   official_bench decode FILE   decodes every record into one vector a field
//   official_bench write FILE    makes the synthetic log with the official writer
//
// Built against the headers and library of the robotpy-native-wpiutil wheel. Prints seconds, then a count.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

#include <wpi/DataLogReader.h>
#include <wpi/DataLogWriter.h>
#include <wpi/MemoryBuffer.h>

namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

wpi::log::DataLogReader Open(const char* path) {
  auto buffer = wpi::MemoryBuffer::GetFile(path);
  if (!buffer) {
    std::fprintf(stderr, "official_bench: cannot open %s\n", path);
    std::exit(1);
  }
  return wpi::log::DataLogReader{std::move(*buffer)};
}

int Scan(const char* path) {
  auto start = Clock::now();
  auto reader = Open(path);
  size_t records = 0;
  int64_t sum = 0;
  for (auto&& record : reader) {
    ++records;
    sum += record.GetTimestamp() + record.GetEntry();
  }
  double seconds = SecondsSince(start);
  std::printf("%.6f %zu %lld\n", seconds, records, static_cast<long long>(sum));
  return 0;
}

enum class Kind { kDouble, kInt, kBool, kDoubleArray, kPose, kString, kRaw };

struct Column {
  Kind kind;
  std::vector<int64_t> times;
  std::vector<double> doubles;
  std::vector<int64_t> ints;
  std::vector<bool> bools;
  std::vector<size_t> ends;
  std::vector<std::string> strings;
};

Kind KindOf(std::string_view type) {
  if (type == "double") return Kind::kDouble;
  if (type == "int64") return Kind::kInt;
  if (type == "boolean") return Kind::kBool;
  if (type == "double[]") return Kind::kDoubleArray;
  if (type == "struct:Pose2d") return Kind::kPose;
  if (type == "string") return Kind::kString;
  return Kind::kRaw;
}

int Decode(const char* path) {
  auto start = Clock::now();
  auto reader = Open(path);
  std::unordered_map<int, Column> columns;
  std::vector<double> scratch;
  size_t values = 0;
  for (auto&& record : reader) {
    if (record.IsControl()) {
      wpi::log::StartRecordData data;
      if (record.IsStart() && record.GetStartData(&data)) {
        columns[data.entry].kind = KindOf(data.type);
      }
      continue;
    }
    auto found = columns.find(record.GetEntry());
    if (found == columns.end()) continue;
    Column& column = found->second;
    bool ok = true;
    switch (column.kind) {
      case Kind::kDouble: {
        double value;
        if ((ok = record.GetDouble(&value))) column.doubles.push_back(value);
        break;
      }
      case Kind::kInt: {
        int64_t value;
        if ((ok = record.GetInteger(&value))) column.ints.push_back(value);
        break;
      }
      case Kind::kBool: {
        bool value;
        if ((ok = record.GetBoolean(&value))) column.bools.push_back(value);
        break;
      }
      case Kind::kDoubleArray:
        if ((ok = record.GetDoubleArray(&scratch))) {
          column.doubles.insert(column.doubles.end(), scratch.begin(), scratch.end());
          column.ends.push_back(column.doubles.size());
        }
        break;
      case Kind::kPose: {
        auto raw = record.GetRaw();
        if ((ok = raw.size() == 24)) {
          double value[3];
          std::memcpy(value, raw.data(), sizeof(value));
          column.doubles.insert(column.doubles.end(), value, value + 3);
        }
        break;
      }
      case Kind::kString: {
        std::string_view value;
        if ((ok = record.GetString(&value))) column.strings.emplace_back(value);
        break;
      }
      case Kind::kRaw:
        break;
    }
    if (ok) {
      column.times.push_back(record.GetTimestamp());
      values += column.kind != Kind::kRaw;
    }
  }
  double seconds = SecondsSince(start);
  std::printf("%.6f %zu\n", seconds, values);
  return 0;
}

int Write(const char* path, int ticks) {
  auto start = Clock::now();
  size_t records = 0;
  {
    std::error_code error;
    wpi::log::DataLogWriter log{path, error};
    if (error) {
      std::fprintf(stderr, "official_bench: cannot write %s\n", path);
      return 1;
    }
    std::vector<int> doubles, ints, bools, arrays, poses, strings;
    auto begin = [&](std::vector<int>& into, int count, const char* name, const char* type) {
      for (int i = 0; i < count; ++i) {
        into.push_back(log.Start(std::string{name} + "/" + std::to_string(i), type, "", 1));
        ++records;
      }
    };
    begin(doubles, 160, "Double", "double");
    begin(ints, 30, "Int", "int64");
    begin(bools, 30, "Boolean", "boolean");
    begin(arrays, 20, "Array", "double[]");
    begin(poses, 8, "Pose", "struct:Pose2d");
    begin(strings, 12, "Text", "string");
    log.AddSchema("struct:Translation2d", "structschema", "double x;double y", 1);
    log.AddSchema("struct:Rotation2d", "structschema", "double value", 1);
    log.AddSchema("struct:Pose2d", "structschema",
                  "Translation2d translation;Rotation2d rotation", 1);
    records += 6;
    for (int tick = 0; tick < ticks; ++tick) {
      int64_t now = 20000LL * (tick + 1);
      double value = tick * 0.001;
      for (int id : doubles) log.AppendDouble(id, value, now);
      for (int id : ints) log.AppendInteger(id, tick, now);
      records += doubles.size() + ints.size();
      if (tick % 5 == 0) {
        for (int id : bools) log.AppendBoolean(id, tick % 2 == 0, now);
        records += bools.size();
      }
      if (tick % 2 == 0) {
        double four[4] = {value, value + 1, value + 2, value + 3};
        for (int id : arrays) log.AppendDoubleArray(id, four, now);
        records += arrays.size();
      }
      double pose[3] = {value, -value, 0.5};
      for (int id : poses) {
        log.AppendRaw(id, {reinterpret_cast<const uint8_t*>(pose), sizeof(pose)}, now);
      }
      records += poses.size();
      if (tick % 8 < 5) {
        for (int id : strings) log.AppendString(id, "a line of text as a robot prints it", now);
        records += strings.size();
      }
      // As the writer asks: it keeps everything in memory until it is flushed.
      if (tick % 100 == 99) log.Flush();
    }
    log.Flush();
  }
  double seconds = SecondsSince(start);
  std::printf("%.6f %zu\n", seconds, records);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view what = argc > 2 ? argv[1] : "";
  if (what == "scan") return Scan(argv[2]);
  if (what == "decode") return Decode(argv[2]);
  if (what == "write" && argc > 3) return Write(argv[2], std::atoi(argv[3]));
  std::fprintf(stderr, "usage: official_bench scan|decode FILE, official_bench write FILE TICKS\n");
  return 2;
}
