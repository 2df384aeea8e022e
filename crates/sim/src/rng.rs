//! The only source of chance: small, seeded, split by name.

/// Random numbers from a seed: xoshiro256++ (Blackman and Vigna 2019), its state filled by SplitMix64.
///
/// Every component draws from its own stream, made by [`Rng::stream`] from the run's seed and the component's name, so
/// that one draw more in the gyro does not change the battery.
///
/// ```
/// use fieldlab_sim::Rng;
/// let mut a = Rng::stream(7, "gyro");
/// let mut b = Rng::stream(7, "gyro");
/// assert_eq!(a.next_u64(), b.next_u64());
/// assert_ne!(a.next_u64(), Rng::stream(7, "tape").next_u64());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// The stream of `seed` itself.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut splitter = SplitMix64(seed);
        Self { state: std::array::from_fn(|_| splitter.next()) }
    }

    /// The stream that `seed` gives to the component called `name`.
    #[must_use]
    pub fn stream(seed: u64, name: &str) -> Self {
        // FNV-1a: the name only has to move the seed somewhere else; SplitMix64 does the mixing.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        Self::new(seed ^ hash)
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform in `0 ..< 1`, 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// Uniform in `low ..< high`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A whole number in `0 ..< count`; 0 when `count` is 0.
    pub fn below(&mut self, count: u64) -> u64 {
        // The bias of a plain remainder is below 2^-40 for every count used here.
        if count == 0 { 0 } else { self.next_u64() % count }
    }

    /// Whether an event of probability `p` happens.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// A normal deviate of mean 0 and standard deviation 1 (Box and Muller 1958, the cosine half).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_gives_the_published_sequence() {
        // The first outputs for seed 1234567, as published with the reference implementation.
        let mut s = SplitMix64(1_234_567);
        assert_eq!(s.next(), 6_457_827_717_110_365_317);
        assert_eq!(s.next(), 3_203_168_211_198_807_973);
        assert_eq!(s.next(), 9_817_491_932_198_370_423);
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut rng = Rng::new(1);
        let n = 200_000;
        let (mut mean, mut square) = (0.0, 0.0);
        for _ in 0..n {
            let z = rng.normal();
            mean += z / f64::from(n);
            square += z * z / f64::from(n);
        }
        // Four standard errors.
        assert!(mean.abs() < 4.0 / f64::from(n).sqrt(), "{mean}");
        assert!((square - 1.0).abs() < 4.0 * (2.0 / f64::from(n)).sqrt(), "{square}");
        assert!((0..1000).all(|_| (2.0..3.0).contains(&rng.uniform(2.0, 3.0))));
        assert_eq!(rng.below(0), 0);
    }
}
