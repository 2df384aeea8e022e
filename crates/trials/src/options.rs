//! The words after a trial's name.

use anyhow::{Context, Result, bail};

/// What every trial is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// A short run that shows that the trial works; its aims are judged all the same.
    pub quick: bool,
    /// Seed of everything random; printed.
    pub seed: u64,
    /// How many cuts a torture makes, when it was said.
    pub cuts: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self { quick: false, seed: 1, cuts: None }
    }
}

impl Options {
    /// Reads `--quick`, `--seed S` and `--cuts N`.
    ///
    /// # Errors
    /// A word that is none of these, or a number that is none.
    pub fn parse(words: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut number = || -> Result<u64> {
                let text = words.next().with_context(|| format!("{word} needs a number"))?;
                text.parse().with_context(|| format!("{word}: expected a whole number, found `{text}`"))
            };
            match word.as_str() {
                "--quick" => options.quick = true,
                "--seed" => options.seed = number()?,
                "--cuts" => options.cuts = Some(number()?),
                other => bail!("unexpected argument `{other}`; expected --quick, --seed S or --cuts N"),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options> {
        Options::parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn words_are_read_and_strangers_refused() {
        assert_eq!(parse("").ok(), Some(Options::default()));
        assert_eq!(
            parse("--quick --seed 7 --cuts 300").ok(),
            Some(Options { quick: true, seed: 7, cuts: Some(300) })
        );
        for wrong in ["--cuts", "--cuts many", "--seed -1", "quick"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
