//! One table of types and of their names on both wires.

use std::fmt;

/// What a topic or a log entry holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DataType {
    /// True or false.
    Boolean,
    /// A signed 64-bit integer: `int` in NetworkTables, `int64` in a log file.
    Int,
    /// A 32-bit float.
    Float,
    /// A 64-bit float.
    Double,
    /// UTF-8 text.
    String,
    /// UTF-8 text that is JSON.
    Json,
    /// Booleans.
    BooleanArray,
    /// Signed 64-bit integers.
    IntArray,
    /// 32-bit floats.
    FloatArray,
    /// 64-bit floats.
    DoubleArray,
    /// Texts.
    StringArray,
    /// Bytes of no declared meaning.
    Raw,
    /// Bytes whose meaning is this type name: `struct:Pose2d`, `proto:…`, `msgpack`, `structschema`, anything unknown.
    Other(Box<str>),
}

/// How a value is carried, whatever its type is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// One boolean.
    Boolean,
    /// One 64-bit integer.
    Int,
    /// One 32-bit float.
    Float,
    /// One 64-bit float.
    Double,
    /// One text.
    String,
    /// Bytes.
    Raw,
    /// Booleans.
    BooleanArray,
    /// 64-bit integers.
    IntArray,
    /// 32-bit floats.
    FloatArray,
    /// 64-bit floats.
    DoubleArray,
    /// Texts.
    StringArray,
}

/// (type, name in NetworkTables, name in a log file). Types outside this table are called alike on both.
const NAMES: [(DataType, &str, &str); 12] = [
    (DataType::Boolean, "boolean", "boolean"),
    (DataType::Int, "int", "int64"),
    (DataType::Float, "float", "float"),
    (DataType::Double, "double", "double"),
    (DataType::String, "string", "string"),
    (DataType::Json, "json", "json"),
    (DataType::BooleanArray, "boolean[]", "boolean[]"),
    (DataType::IntArray, "int[]", "int64[]"),
    (DataType::FloatArray, "float[]", "float[]"),
    (DataType::DoubleArray, "double[]", "double[]"),
    (DataType::StringArray, "string[]", "string[]"),
    (DataType::Raw, "raw", "raw"),
];

impl DataType {
    /// The type that NetworkTables calls `name`; an unknown name is bytes with that name.
    #[must_use]
    pub fn from_nt(name: &str) -> Self {
        NAMES
            .iter()
            .find(|(_, nt, _)| *nt == name)
            .map_or_else(|| Self::Other(name.into()), |(t, _, _)| t.clone())
    }

    /// The type that a log file calls `name`. Old captures say `int` for `int64`; both are read.
    #[must_use]
    pub fn from_log(name: &str) -> Self {
        NAMES
            .iter()
            .find(|(_, nt, log)| *log == name || *nt == name)
            .map_or_else(|| Self::Other(name.into()), |(t, _, _)| t.clone())
    }

    /// The name in NetworkTables.
    #[must_use]
    pub fn nt_name(&self) -> &str {
        match self {
            Self::Other(name) => name,
            known => NAMES.iter().find(|(t, _, _)| t == known).map_or("raw", |(_, nt, _)| nt),
        }
    }

    /// The name in a log file.
    #[must_use]
    pub fn log_name(&self) -> &str {
        match self {
            Self::Other(name) => name,
            known => NAMES.iter().find(|(t, _, _)| t == known).map_or("raw", |(_, _, log)| log),
        }
    }

    /// How its values are carried.
    #[must_use]
    pub fn family(&self) -> Family {
        match self {
            Self::Boolean => Family::Boolean,
            Self::Int => Family::Int,
            Self::Float => Family::Float,
            Self::Double => Family::Double,
            Self::String | Self::Json => Family::String,
            Self::BooleanArray => Family::BooleanArray,
            Self::IntArray => Family::IntArray,
            Self::FloatArray => Family::FloatArray,
            Self::DoubleArray => Family::DoubleArray,
            Self::StringArray => Family::StringArray,
            Self::Raw | Self::Other(_) => Family::Raw,
        }
    }

    /// The type `struct:<name>`.
    #[must_use]
    pub fn structure(name: &str) -> Self {
        Self::Other(format!("struct:{name}").into())
    }

    /// The type `struct:<name>[]`.
    #[must_use]
    pub fn structure_array(name: &str) -> Self {
        Self::Other(format!("struct:{name}[]").into())
    }

    /// For `struct:Pose2d` and `struct:Pose2d[]`: the struct's name and whether it is an array.
    #[must_use]
    pub fn struct_name(&self) -> Option<(&str, bool)> {
        let Self::Other(name) = self else { return None };
        let name = name.strip_prefix("struct:")?;
        Some(name.strip_suffix("[]").map_or((name, false), |one| (one, true)))
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.nt_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_wires_agree_but_for_int() {
        for (kind, nt, log) in &NAMES {
            assert_eq!(DataType::from_nt(nt), *kind);
            assert_eq!(DataType::from_log(log), *kind);
            assert_eq!(kind.nt_name(), *nt);
            assert_eq!(kind.log_name(), *log);
        }
        assert_eq!(DataType::from_log("int"), DataType::Int);
        assert_eq!(DataType::from_nt("int64").family(), Family::Raw);
        assert_eq!(DataType::structure_array("Pose2d").struct_name(), Some(("Pose2d", true)));
    }
}
