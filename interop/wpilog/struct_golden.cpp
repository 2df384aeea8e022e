// Makes crates/values/tests/golden/structs.txt: random schemas, random bytes, and what WPILib's DynamicStruct reads.
//
// Built like official_bench.cpp, against the headers and library of the robotpy-native-wpiutil wheel.

#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <wpi/struct/DynamicStruct.h>

namespace {

constexpr const char* kTypes[] = {"bool",  "char",   "int8",   "int16",  "int32", "int64",
                                  "uint8", "uint16", "uint32", "uint64", "float", "double"};
constexpr int kSizes[] = {1, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};

void Show(const wpi::StructDescriptor* desc, std::span<const uint8_t> bytes) {
  wpi::DynamicStruct value{desc, bytes};
  for (auto&& field : desc->GetFields()) {
    if (field.GetType() == wpi::StructFieldType::kChar) {
      std::printf(" t:%s", std::string{value.GetStringField(&field)}.c_str());
      continue;
    }
    for (size_t i = 0; i < field.GetArraySize(); ++i) {
      switch (field.GetType()) {
        case wpi::StructFieldType::kBool:
          std::printf(" %d", static_cast<int>(value.GetBoolField(&field, i)));
          break;
        case wpi::StructFieldType::kFloat: {
          float number = value.GetFloatField(&field, i);
          uint32_t bits;
          std::memcpy(&bits, &number, sizeof(bits));
          std::printf(" f:%08x", bits);
          break;
        }
        case wpi::StructFieldType::kDouble: {
          double number = value.GetDoubleField(&field, i);
          uint64_t bits;
          std::memcpy(&bits, &number, sizeof(bits));
          std::printf(" d:%016llx", static_cast<unsigned long long>(bits));
          break;
        }
        case wpi::StructFieldType::kStruct: {
          auto nested = value.GetStructField(&field, i);
          Show(nested.GetDescriptor(), nested.GetData());
          break;
        }
        default:
          if (field.IsInt()) {
            std::printf(" %lld", static_cast<long long>(value.GetIntField(&field, i)));
          } else {
            std::printf(" %llu", static_cast<unsigned long long>(value.GetUintField(&field, i)));
          }
      }
    }
  }
}

}  // namespace

int main() {
  std::mt19937_64 random(20261130);
  auto pick = [&](int below) { return static_cast<int>(random() % below); };
  for (int turn = 0; turn < 120; ++turn) {
    std::string schema;
    int fields = 1 + pick(8);
    for (int i = 0; i < fields; ++i) {
      if (i > 0) schema += ";";
      std::string name = "f" + std::to_string(i);
      int kind = pick(10);
      if (kind < 4) {
        int type = pick(12);
        schema += std::string{kTypes[type]} + " " + name;
        if (pick(3) == 0 || type == 1) schema += "[" + std::to_string(1 + pick(3)) + "]";
      } else if (kind < 8) {
        int type = 2 + pick(8);
        schema += std::string{kTypes[type]} + " " + name + ":" + std::to_string(1 + pick(kSizes[type] * 8));
      } else if (kind == 8) {
        schema += "bool " + name + ":1";
      } else {
        schema += "In " + name;
        if (pick(2)) schema += "[2]";
      }
    }
    wpi::StructDescriptorDatabase database;
    std::string error;
    database.Add("Out", schema, &error);
    database.Add("In", "int16 a;uint8 b:3;bool c:1", &error);
    auto desc = database.Find("Out");
    if (!desc || !desc->IsValid()) {
      std::fprintf(stderr, "%s: %s\n", schema.c_str(), error.c_str());
      return 1;
    }
    std::vector<uint8_t> bytes(desc->GetSize());
    for (auto& byte : bytes) byte = random();
    for (auto&& field : desc->GetFields()) {
      if (field.GetType() != wpi::StructFieldType::kChar) continue;
      for (size_t i = 0; i < field.GetArraySize(); ++i) bytes[field.GetOffset() + i] = 'a' + pick(26);
    }
    std::printf("%s|%zu|", schema.c_str(), desc->GetSize());
    for (auto byte : bytes) std::printf("%02x", byte);
    std::printf("|");
    Show(desc, bytes);
    std::printf("\n");
  }
  return 0;
}
